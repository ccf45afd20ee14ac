//! Times average linkage and scoring for `scripts/peers/coref.py`: writes the distances it clustered and the labels it found, and
//! prints one JSON object.
//!
//! ```text
//! time_coref FOLDER ITEMS THRESHOLD MENTIONS CLUSTERS
//! ```

use std::path::PathBuf;
use std::time::Instant;

use landmark_core::stream::stream;
use landmark_tasks::coreference::{CondensedDistances, Linkage, Singletons, score_coreference};
use rand::Rng;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, items, threshold, mentions, clusters] = &arguments[..] else {
        return Err("usage: time_coref FOLDER ITEMS THRESHOLD MENTIONS CLUSTERS".into());
    };
    let (folder, items) = (PathBuf::from(folder), items.parse::<usize>()?);
    let values = distances(items);
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    std::fs::write(folder.join("distances.f64"), bytes)?;
    let condensed = CondensedDistances::new(items, values)?;
    let start = Instant::now();
    let dendrogram = condensed.link(Linkage::Average);
    let labels = dendrogram.cut_below(threshold.parse()?);
    let linkage = start.elapsed().as_secs_f64();
    let bytes: Vec<u8> = labels.iter().flat_map(|&label| (label as u64).to_le_bytes()).collect();
    std::fs::write(folder.join("labels.u64"), bytes)?;
    let (mentions, clusters) = (mentions.parse()?, clusters.parse()?);
    let mut scoring = Vec::new();
    for moved in [0.05, 0.3, 1.0] {
        let (key, response) = partitions(mentions, clusters, moved);
        let start = Instant::now();
        let scores = score_coreference(&[(&key[..], &response[..])], Singletons::Keep)?;
        let seconds = start.elapsed().as_secs_f64();
        scoring.push(format!(r#"{{"moved": {moved}, "seconds": {seconds}, "conll": {}}}"#, scores.conll));
    }
    #[allow(clippy::print_stdout)] // the point of this program
    {
        println!(r#"{{"linkage_seconds": {linkage}, "scoring": [{}]}}"#, scoring.join(", "));
    }
    Ok(())
}

/// Mentions of items / 8 clusters: near within, far across, with noise.
fn distances(items: usize) -> Vec<f64> {
    let rng = &mut stream(2022, "synthetic", "time_coref", 0);
    let cluster: Vec<usize> = (0..items).map(|_| rng.gen_range(0..(items / 8).max(1))).collect();
    let mut values = Vec::with_capacity(items * items.saturating_sub(1) / 2);
    for i in 0..items {
        for j in i + 1..items {
            values.push(if cluster[i] == cluster[j] { rng.gen_range(0.0..0.6) } else { rng.gen_range(0.4..1.0) });
        }
    }
    values
}

type Partition = Vec<Vec<usize>>;

fn partitions(mentions: usize, clusters: usize, moved: f64) -> (Partition, Partition) {
    let rng = &mut stream(2022, "synthetic", "time_coref", 1);
    let (mut key, mut response) = (vec![Vec::new(); clusters], vec![Vec::new(); clusters]);
    for mention in 0..mentions {
        let cluster = rng.gen_range(0..clusters);
        key[cluster].push(mention);
        response[if rng.gen_bool(moved) { rng.gen_range(0..clusters) } else { cluster }].push(mention);
    }
    (key, response)
}
