//! The index of a search: `index.safetensors` next to a description that is whole.

#![no_main]

use std::fs;

use landmark_fuzz::{folder, seed, with_file};
use landmark_harness::index_files::{self, IndexInfo};
use landmark_neighbors::search::{Anchors, Index, IndexParams, ItemProxy};
use libfuzzer_sys::fuzz_target;
use ndarray::{Array2, s};

fn begin() {
    let scores = Array2::from_shape_fn((12, 12), |(i, j)| ((i * j) as f64).sin());
    let proxy = ItemProxy::cosine(Array2::from_shape_fn((9, 4), |(i, j)| ((i + 3 * j) as f64).cos())).expect("rows");
    let (left, right) = (scores.slice(s![..9, 9..]), scores.slice(s![9.., 9..]));
    let anchors = Anchors { scores: left, proxy: Some((left, right)) };
    let index = Index::build(anchors, Some(proxy), IndexParams::default()).expect("an index");
    let info = IndexInfo {
        version: 1,
        items: 9,
        anchors: vec![4, 0, 2],
        oracle: "00".into(),
        texts: "01".into(),
        anchor_texts: "02".into(),
        gamma: None,
        scorer: None,
        params: index.parts().params,
        link: index.parts().link.clone(),
        job: "j".into(),
        config: "c".into(),
    };
    let folder = folder().join("index");
    index_files::write(&folder, &info, index.parts()).expect("the scratch folder");
    seed(vec![fs::read(folder.join("index.safetensors")).expect("the index")]);
}

fuzz_target!(init: begin(), |bytes: &[u8]| {
    with_file("index/index.safetensors", bytes, |path| {
        let folder = path.parent().unwrap_or(path);
        index_files::read(folder).map(drop).map_err(|error| error.to_string())
    });
});
