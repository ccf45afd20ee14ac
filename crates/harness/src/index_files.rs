//! The index of `experiment: search` in files: what it is made of as safetensors, what describes it as JSON.
//!
//! `index.safetensors` holds `popularity` (n), `scores` and `residual` (n × a) and, with a proxy, `anchor_proxy` (a × a) and `item_vectors` (n × d) or
//! `item_matrix` (n × n), all f64, little endian. `index.json` is written last, and the folder moved into place as a whole.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use landmark_neighbors::search::{HubnessLink, Index, IndexParams, IndexParts, ItemProxy, ItemProxyParts, SearchError};
use ndarray::{Array2, ArrayView2, Axis};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::whole_folder;

/// The folder of the index, in that of the results.
pub const INDEX: &str = "index";
const INFO: &str = "index.json";
const TENSORS: &str = "index.safetensors";

/// Facts of an index, for a listing and for checks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexInfo {
    pub version: u32,
    pub items: usize,
    /// Rows of the file of past queries that are anchors, from 0.
    pub anchors: Vec<usize>,
    /// Identity of the score over items and past queries.
    pub oracle: String,
    /// Digest of the items' ids and texts.
    pub texts: String,
    /// Digest of the anchors' ids and texts.
    pub anchor_texts: String,
    /// γ of exp(−γd), where the score is a distance.
    pub gamma: Option<f64>,
    /// Name that the user's program gave itself, where one scored.
    pub scorer: Option<String>,
    pub params: IndexParams,
    pub link: HubnessLink,
    /// The key of the job that made it.
    pub job: String,
    /// Hash of the configuration that made it.
    pub config: String,
}

/// Why an index could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    #[error("could not {action} `{}`: {source}", path.display())]
    File {
        /// `write`, `read` or `move`.
        action: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("there is no index in `{}`; run the configuration first", .0.display())]
    Missing(PathBuf),
    /// A file that is not what it should be.
    #[error("`{}` is damaged ({reason}); run the configuration again with `--force`; it reuses stored scores", path.display())]
    Damaged { path: PathBuf, reason: String },
}

/// Writes an index in place of the one that was there.
pub fn write(folder: &Path, info: &IndexInfo, parts: &IndexParts) -> Result<(), IndexError> {
    let part = whole_folder::part_of(folder);
    fs::create_dir_all(&part).map_err(file("write", &part))?;
    let written = write_files(&part, info, parts)
        .and_then(|()| whole_folder::replace(&part, folder).map_err(file("replace", folder)));
    if written.is_err() {
        // a half-written index is of no use; that it may be gone already is no news
        let _ = fs::remove_dir_all(&part);
    }
    written
}

fn write_files(folder: &Path, info: &IndexInfo, parts: &IndexParts) -> Result<(), IndexError> {
    let hubness = parts.hubness.view().insert_axis(Axis(0));
    let mut tensors =
        vec![("popularity", hubness), ("scores", parts.scores.view()), ("residual", parts.residual.view())];
    tensors.extend(parts.anchor_proxy.as_ref().map(|proxy| ("anchor_proxy", proxy.view())));
    tensors.extend(parts.item_proxy.as_ref().map(|proxy| match proxy.parts() {
        ItemProxyParts::Vectors(vectors) => ("item_vectors", vectors),
        ItemProxyParts::Matrix(matrix) => ("item_matrix", matrix),
    }));
    let path = folder.join(TENSORS);
    write_tensors(&path, &tensors).map_err(file("write", &path))?;
    let path = folder.join(INFO);
    let text = serde_json::to_string_pretty(info).map_err(std::io::Error::from);
    text.and_then(|text| fs::write(&path, text + "\n")).map_err(file("write", &path))
}

/// 8 bytes of length, a JSON header padded to a multiple of 8, and the numbers.
fn write_tensors(path: &Path, tensors: &[(&str, ArrayView2<'_, f64>)]) -> std::io::Result<()> {
    let (mut header, mut offset) = (serde_json::Map::new(), 0);
    for (name, values) in tensors {
        let end = offset + 8 * values.len();
        let shape = [values.nrows(), values.ncols()];
        header.insert((*name).to_owned(), json!({ "dtype": "F64", "shape": shape, "data_offsets": [offset, end] }));
        offset = end;
    }
    let mut text = serde_json::Value::Object(header).to_string();
    text += &" ".repeat(text.len().next_multiple_of(8) - text.len());
    let mut out = BufWriter::with_capacity(1 << 20, fs::File::create(path)?);
    out.write_all(&(text.len() as u64).to_le_bytes())?;
    out.write_all(text.as_bytes())?;
    for value in tensors.iter().flat_map(|(_, values)| values) {
        out.write_all(&value.to_le_bytes())?;
    }
    out.flush()
}

/// Facts of the index in a folder, if there is one that can be read.
pub fn peek(folder: &Path) -> Option<IndexInfo> {
    let folder = &*whole_folder::to_read(folder);
    let info = serde_json::from_str(&fs::read_to_string(folder.join(INFO)).ok()?).ok()?;
    folder.join(TENSORS).exists().then_some(info)
}

/// Reads the index of a folder.
pub fn read(folder: &Path) -> Result<(IndexInfo, Index), IndexError> {
    let folder = &*whole_folder::to_read(folder);
    let path = folder.join(INFO);
    if !path.exists() {
        return Err(IndexError::Missing(folder.to_owned()));
    }
    let damaged = |path: &Path, reason: String| IndexError::Damaged { path: path.to_owned(), reason };
    let text = fs::read_to_string(&path).map_err(file("read", &path))?;
    let info: IndexInfo = serde_json::from_str(&text).map_err(|error| damaged(&path, error.to_string()))?;
    let path = folder.join(TENSORS);
    let bytes = fs::read(&path).map_err(file("read", &path))?;
    let mut tensors =
        read_tensors(&bytes).ok_or_else(|| damaged(&path, "its header does not fit its numbers".into()))?;
    let mut take = |name: &str| tensors.remove(name);
    let (Some(hubness), Some(scores), Some(residual)) = (take("popularity"), take("scores"), take("residual")) else {
        return Err(damaged(&path, "`popularity`, `scores` or `residual` is missing".into()));
    };
    let item_proxy = match (take("item_vectors"), take("item_matrix")) {
        (Some(vectors), _) => Some(ItemProxy::unit_vectors(vectors)),
        (None, matrix) => matrix.map(ItemProxy::matrix),
    };
    let item_proxy = item_proxy.transpose().map_err(|error| damaged(&path, error.to_string()))?;
    let parts = IndexParts {
        params: info.params,
        link: info.link.clone(),
        hubness: hubness.into_iter().collect(),
        scores,
        residual,
        anchor_proxy: take("anchor_proxy"),
        item_proxy,
    };
    if parts.residual.dim() != (info.items, info.anchors.len()) {
        let (n, a) = parts.residual.dim();
        let (items, anchors) = (info.items, info.anchors.len());
        return Err(damaged(&path, format!("it is {n} × {a}, but `{INFO}` states {items} × {anchors}")));
    }
    let index = Index::from_parts(parts).map_err(|error: SearchError| damaged(&path, error.to_string()))?;
    Ok((info, index))
}

fn read_tensors(bytes: &[u8]) -> Option<BTreeMap<String, Array2<f64>>> {
    let length = usize::try_from(u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?)).ok()?;
    let numbers = 8_usize.checked_add(length)?;
    let header: BTreeMap<String, serde_json::Value> = serde_json::from_slice(bytes.get(8..numbers)?).ok()?;
    let bytes = &bytes[numbers..];
    let tensor = |(name, tensor): (String, serde_json::Value)| {
        let [rows, cols]: [usize; 2] = serde_json::from_value(tensor.get("shape")?.clone()).ok()?;
        let [from, to]: [usize; 2] = serde_json::from_value(tensor.get("data_offsets")?.clone()).ok()?;
        let values = bytes.get(from..to)?.chunks_exact(8).map(|bytes| bytes.try_into().map(f64::from_le_bytes));
        let values: Vec<f64> = values.collect::<Result<_, _>>().ok()?;
        Some((name, Array2::from_shape_vec((rows, cols), values).ok()?))
    };
    header.into_iter().map(tensor).collect()
}

fn file(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> IndexError {
    let path = path.to_owned();
    move |source| IndexError::File { action, path, source }
}

#[cfg(test)]
mod tests {
    use landmark_neighbors::search::Anchors;
    use ndarray::s;

    use super::*;

    fn made(proxy: Option<ItemProxy>) -> (IndexInfo, Index) {
        let scores = Array2::from_shape_fn((12, 12), |(i, j)| ((i * j) as f64).sin());
        let anchors = Anchors {
            scores: scores.slice(s![..9, 9..]),
            proxy: proxy.is_some().then(|| (scores.slice(s![..9, 9..]), scores.slice(s![9.., 9..]))),
        };
        let index = Index::build(anchors, proxy, IndexParams::default()).unwrap();
        let info = IndexInfo {
            version: 1,
            items: 9,
            anchors: vec![4, 0, 2],
            oracle: "00".into(),
            texts: "01".into(),
            anchor_texts: "02".into(),
            gamma: Some(0.5),
            scorer: None,
            params: index.parts().params,
            link: index.parts().link.clone(),
            job: "j".into(),
            config: "c".into(),
        };
        (info, index)
    }

    #[test]
    fn an_index_is_read_as_it_was_written_and_a_second_writing_replaces_the_first() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("index");
        let matrix = Array2::from_shape_fn((9, 9), |(i, j)| if i == j { 1.0 } else { 0.1 });
        let vectors = Array2::from_shape_fn((9, 4), |(i, j)| ((i + 3 * j) as f64).cos());
        for proxy in [None, Some(ItemProxy::matrix(matrix).unwrap()), Some(ItemProxy::cosine(vectors).unwrap())] {
            let (info, index) = made(proxy);
            write(&folder, &info, index.parts()).unwrap();
            let (read_info, read_index) = read(&folder).unwrap();
            assert_eq!((&read_info, read_index.parts()), (&info, index.parts()));
            assert_eq!(peek(&folder), Some(info));
        }
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1, "nothing is left next to it");
    }
}
