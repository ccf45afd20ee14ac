//! Candidates of a search that no pass over all pairs finds: the lists of an index of vectors, or pairs, of a file (`--candidates`), and of very many
//! items those of an index over the proxy.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use landmark_core::oracle::{Oracle, OracleError, Pair};
use landmark_data::npy;
use landmark_harness::config::TextsFormat;
use landmark_harness::invocation::UsageError;
use landmark_harness::items::OwnItems;
use landmark_harness::table_file::TableFile;
use landmark_neighbors::nearest::{Candidates, NeighborError};
use landmark_report::amounts::count;
use landmark_tasks::neighbors::{ApproximateParams, Neighbor, SignedVectors, approximate_lists};
use miette::{Report, Result};
use ndarray::{Array1, Ix2};

/// The candidates of n items in a file: an array of indices (.npy, a row an item, −1 for none, as FAISS answers), or a table of pairs with the columns
/// `first` and `second`.
pub(crate) fn read(path: &Path, n: usize, items: Option<&OwnItems>) -> Result<Candidates> {
    let is_array = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npy"));
    let candidates = if is_array {
        Candidates::of_lists(n, lists(path, n)?)
    } else {
        Candidates::of_pairs(n, &pairs(path, n, items)?)
    };
    candidates.map_err(|error| refused(path, error.to_string().trim_start_matches("cannot use the candidates: ")))
}

/// Items from which on an index over the proxies finds the candidates: a pass over all pairs of 10⁶ items takes hours.
const INDEXED_FROM: usize = 200_000;

/// Items whose lists of an index are compared with exact ones.
const CHECKED: usize = 200;

/// Share of the proxy's nearest that candidates are to hold, and the largest share of the clusters that is searched for it.
const RECALL: f64 = 0.95;
const MAX_SHARE: f64 = 1.0 / 16.0;

/// Of more items a smaller share is searched, so that the time grows with n^1.5.
fn max_share(n: usize) -> f64 {
    MAX_SHARE * f64::min(1.0, (INDEXED_FROM as f64 / n as f64).sqrt())
}

/// True if an index over these proxies takes the place of a pass over all pairs.
pub(crate) fn are_indexed(n: usize, proxies: &[Arc<dyn Oracle>]) -> bool {
    n >= INDEXED_FROM && !proxies.is_empty() && proxies.iter().all(|proxy| proxy.vectors().is_some())
}

/// Candidates by an index over the vectors of each proxy, and a line on what share of the proxy's own nearest they hold. A proxy without vectors adds none.
pub(crate) fn indexed(
    proxies: &[Arc<dyn Oracle>],
    width: usize,
    seed: u64,
) -> Result<(Candidates, String), NeighborError> {
    let n = proxies.first().map_or(0, |proxy| proxy.len());
    let (each, mut text) = (width.min(n.saturating_sub(1)), String::new());
    let wide = each * proxies.len();
    // end to end: lists of their own would fragment the heap; what is not filled is the item itself, which is no candidate
    let mut lists: Vec<u32> = (0..n as u32).flat_map(|item| std::iter::repeat_n(item, wide)).collect();
    let ones = |proxy: &Arc<dyn Oracle>| Array1::ones(proxy.vectors().map_or(0, |vectors| vectors.ncols()));
    let signatures: Vec<Array1<f64>> = proxies.iter().map(ones).collect();
    for (number, (proxy, signature)) in proxies.iter().zip(&signatures).enumerate() {
        let Some(vectors) = proxy.vectors() else { continue };
        let signed = SignedVectors { vectors, signature, scattered: None };
        let params = ApproximateParams { recall: RECALL, max_share: max_share(n), checked: CHECKED, seed };
        let take = |item: usize, list: Vec<Neighbor>| {
            let own = &mut lists[item * wide + number * each..][..each];
            // the number of an item fits
            own.iter_mut().zip(list).for_each(|(own, near)| *own = near.item as u32);
        };
        // an oracle has refused vectors that are not finite
        let recall = approximate_lists(signed, width, params, |_| {}, take).map_err(|error| {
            NeighborError::Oracle(OracleError::Failed {
                what: "an index of the proxy".to_owned(),
                source: Box::new(error),
            })
        })?;
        if let Some(recall) = recall {
            text += &format!(
                "searched an index of the proxy instead of all pairs: it finds {:.3} of the proxy's {width} nearest, measured at {} items\n",
                recall.mean,
                count(recall.checked as u64)
            );
        }
    }
    let of_item = |item: usize| lists[item * wide..][..wide].iter().map(|&other| other as usize).collect();
    Ok((Candidates::of_lists(n, (0..n).map(of_item))?, text))
}

fn refused(path: &Path, reason: &str) -> Report {
    let help = "give one row per item, in the order of the items: a .npy array of item numbers, or a table of pairs with the columns `first` and `second`";
    UsageError::new(format!("cannot use the candidates `{}`: {reason}", path.display()), Some(help.to_owned())).into()
}

fn lists(path: &Path, n: usize) -> Result<Vec<Vec<usize>>> {
    let read = npy::read(path).map_err(|error| refused(path, &error.to_string()))?;
    if !read.are_whole {
        return Err(refused(path, "it holds real numbers (expected whole numbers, as int64 or int32)"));
    }
    let read = read.values.into_dimensionality::<Ix2>().map_err(|_| refused(path, "it is no matrix"))?;
    let item = |row: usize, value: f64| match value {
        -1.0 => Ok(None),
        0.0.. => Ok(Some(value as usize)),
        _ => Err(refused(path, &format!("row {row} names item {value} (expected -1 to {})", n.saturating_sub(1)))),
    };
    let list = |(row, values): (usize, ndarray::ArrayView1<'_, f64>)| {
        values.iter().filter_map(|&value| item(row, value).transpose()).collect::<Result<Vec<usize>>>()
    };
    read.rows().into_iter().enumerate().map(list).collect()
}

/// Pairs by the ids of the items, or by their numbers where they have none.
fn pairs(path: &Path, n: usize, items: Option<&OwnItems>) -> Result<Vec<Pair>> {
    let layout = TextsFormat::of(path).filter(|layout| !matches!(layout, TextsFormat::Txt | TextsFormat::Folder));
    let layout = layout.ok_or_else(|| refused(path, "its extension names no format"))?;
    let table = TableFile { path, layout, delimiter: None }.read(&["first", "second"]).map_err(UsageError::of)?;
    let numbers: Vec<String> = if items.is_none() { (0..n).map(|item| item.to_string()).collect() } else { Vec::new() };
    let ids = items.map_or(&numbers, |items| &items.ids);
    let item_of: HashMap<&str, usize> = ids.iter().enumerate().map(|(item, id)| (id.as_str(), item)).collect();
    let item = |column: usize, at: usize| {
        let name = table.columns[column][at].as_deref().unwrap_or_default().trim();
        let known = item_of.get(name).copied();
        known.ok_or_else(|| refused(path, &format!("row {} names `{name}`, which is no item", table.rows[at])))
    };
    (0..table.rows.len()).map(|at| Ok((item(0, at)?, item(1, at)?))).collect()
}

#[cfg(test)]
mod tests {
    use landmark_core::oracle::{EmbeddingProxy, block_of};
    use ndarray::{Array2, array};
    use ndarray_npy::write_npy;

    use super::*;

    fn message(path: &Path, n: usize) -> String {
        read(path, n, None).unwrap_err().chain().map(ToString::to_string).collect::<Vec<_>>().join(": ")
    }

    #[test]
    fn an_index_over_the_proxy_finds_most_of_its_nearest_and_states_how_many() {
        let vectors = Array2::from_shape_fn((1500, 8), |(i, k)| ((i * (k + 3) * 7919) as f64 * 0.37).sin());
        let proxy: Arc<dyn Oracle> = Arc::new(EmbeddingProxy::cosine(vectors).unwrap());
        assert!(!are_indexed(1500, &[Arc::clone(&proxy)]) && are_indexed(INDEXED_FROM, &[Arc::clone(&proxy)]));
        let (found, text) = indexed(&[Arc::clone(&proxy)], 20, 7).unwrap();
        let all: Vec<usize> = (0..1500).collect();
        let near = block_of(proxy.as_ref(), &all, &all).unwrap();
        let exact = all.iter().map(|&i| {
            let mut others: Vec<usize> = all.iter().copied().filter(|&j| j != i).collect();
            others.sort_by(|&a, &b| near[[i, b]].total_cmp(&near[[i, a]]));
            others.truncate(20);
            others
        });
        let exact = Candidates::of_lists(1500, exact).unwrap();
        assert!(found.share_of(&exact) > 0.9, "{}", found.share_of(&exact));
        let stated: f64 = text.split_once("it finds ").unwrap().1.split_once(' ').unwrap().0.parse().unwrap();
        assert!((stated - found.share_of(&exact)).abs() < 0.05, "{text}");
    }

    #[test]
    fn two_proxies_bring_the_candidates_of_each() {
        let proxy = |factor: usize| -> Arc<dyn Oracle> {
            let vectors = Array2::from_shape_fn((400, 6), |(i, k)| ((i * (k + factor) * 7919) as f64 * 0.37).sin());
            Arc::new(EmbeddingProxy::cosine(vectors).unwrap())
        };
        let (one, other) = (proxy(3), proxy(8));
        let of = |proxies: &[Arc<dyn Oracle>]| indexed(proxies, 12, 7).unwrap().0;
        let both = of(&[Arc::clone(&one), Arc::clone(&other)]);
        let alone = [of(&[one]), of(&[other])];
        assert!(alone.iter().all(|alone| both.share_of(alone) == 1.0));
        assert!(alone[0].share_of(&both) < 0.7 && alone[0].share_of(&alone[1]) < 0.5);
    }

    #[test]
    fn of_more_items_a_smaller_share_of_the_clusters_is_searched() {
        assert!(max_share(INDEXED_FROM) == MAX_SHARE && max_share(1000) == MAX_SHARE);
        assert!((max_share(4 * INDEXED_FROM) - MAX_SHARE / 2.0).abs() < 1e-15);
    }

    #[test]
    fn lists_of_faiss_and_pairs_of_a_table_are_the_same_candidates() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        write_npy(at("wide.npy"), &array![[0_i64, 1, -1], [1, 0, 2], [2, 1, -1]]).unwrap();
        write_npy(at("narrow.npy"), &array![[0_i32, 1, -1], [1, 0, 2], [2, 1, -1]]).unwrap();
        std::fs::write(at("pairs.tsv"), "first\tsecond\nb\ta\nb\tc\n").unwrap();
        std::fs::write(at("numbers.csv"), "first,second\n1,0\n1,2\n").unwrap();
        let named = OwnItems { ids: ["a", "b", "c"].map(str::to_owned).to_vec(), ..OwnItems::default() };
        let wanted = Candidates::of_lists(3, [vec![1], vec![0, 2], vec![1]]).unwrap();
        for (name, items) in
            [("wide.npy", None), ("narrow.npy", None), ("pairs.tsv", Some(&named)), ("numbers.csv", None)]
        {
            assert_eq!(read(&at(name), 3, items).unwrap(), wanted, "{name}");
        }
    }

    #[test]
    fn a_file_of_other_items_is_refused_by_its_name_and_row() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        write_npy(at("beyond.npy"), &array![[1_i64], [7], [0]]).unwrap();
        write_npy(at("below.npy"), &array![[1_i64], [-2], [0]]).unwrap();
        write_npy(at("self.npy"), &array![[0_i64], [1], [2]]).unwrap();
        write_npy(at("real.npy"), &array![[0.0], [1.0], [2.0]]).unwrap();
        std::fs::write(at("pairs.tsv"), "first\tsecond\n0\t1\n0\tnine\n").unwrap();
        std::fs::write(at("lists.txt"), "0 1\n").unwrap();
        for (name, words) in [
            ("beyond.npy", "row 1 names item 7 (expected 0 to 2)"),
            ("below.npy", "row 1 names item -2 (expected -1 to 2)"),
            ("self.npy", "no item has another item as its candidate"),
            ("real.npy", "expected whole numbers"),
            ("pairs.tsv", "row 2 names `nine`, which is no item"),
            ("lists.txt", "names no format"),
            ("missing.npy", "cannot use the candidates"),
        ] {
            let seen = message(&at(name), 3);
            assert!(seen.contains(words) && seen.contains(name), "{seen}");
        }
        assert!(message(&at("beyond.npy"), 4).contains("there are 3 rows (expected 4"));
    }
}
