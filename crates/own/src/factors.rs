//! The factors of a matrix in files: what a run of `own_data` leaves, and what `project`, `topk`, `mine`, `cluster` and `classify` read.
//!
//! ```text
//! runs/<name>/factors/vectors.npy          Z, n × r, f64: K̃ = Z · diag(signature) · Zᵀ
//!                        signature.npy        r numbers, +1 or −1, the positive ones first
//!                        projector.npy        t × r: similarities of a new item to the landmarks → its row of Z
//!                        scattered_pairs.npy, scattered_scores.npy    pairs evaluated in addition to the columns, m × 2 items and m scores:
//!                                             K̃ is their score there
//!                        factors.safetensors  the same
//!                        factors.parquet      one row an item: id, vector
//!                        factors.json         method, landmarks, identity, error estimate
//! ```
//!
//! The folder is written next to its place and moved there whole. Cost: the bytes of Z for each form, streamed.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use landmark_core::approximation::ScatteredEntries;
use landmark_data::npy;
use landmark_report::columns::{self, Column};
use ndarray::{Array, Array1, Array2, ArrayView2, Axis, Dimension};
use serde::{Deserialize, Serialize};
use serde_json::json;

use landmark_harness::config::FactorFormat;
use landmark_harness::sweep::kept::INFO;
use landmark_harness::whole_folder;

/// Rows of a Parquet row group.
const ROWS_PER_GROUP: usize = 1 << 14;

const VECTORS: &str = "vectors.npy";
const SIGNATURE: &str = "signature.npy";
const PROJECTOR: &str = "projector.npy";
const SCATTERED_PAIRS: &str = "scattered_pairs.npy";
const SCATTERED_SCORES: &str = "scattered_scores.npy";

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FactorInfo {
    pub version: u32,
    pub items: usize,
    /// Columns r of Z.
    pub columns: usize,
    /// Label of the method in the tables.
    pub method: String,
    /// s, the landmarks of the fit.
    pub rank: usize,
    /// T: items whose columns were evaluated, in the order of the projector's rows.
    pub landmarks: Vec<usize>,
    /// Their contents, where the items have contents, so that they can be kept when the list grows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub landmark_contents: Vec<String>,
    /// Identity of the oracle, 64 hexadecimal digits.
    pub oracle: String,
    /// Digest of ids and texts, where the items are the user's own texts.
    pub texts: Option<String>,
    /// γ, where the score is exp(−γ·d).
    pub gamma: Option<f64>,
    /// Similarity of an item to itself and to its equals, if the score function states it and sees nothing of an item but its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagonal: Option<f64>,
    /// Relative error ‖K − K̃‖_F / ‖K‖_F as far as it is known, K̃ = Z · diag(signature) · Zᵀ as the files have it.
    pub error: Option<FactorError>,
    /// The same where the known entries, which have no low rank and are in no file, are put back; `None` where that is the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_with_known: Option<FactorError>,
    /// Pairs evaluated in addition to the columns, in files of their own.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub scattered: usize,
    /// True where a proxy takes part: new items then need its scores as well.
    pub proxy: bool,
    /// True where a budget ended the fit before the rank or the error that was asked for.
    pub cut_short: bool,
    /// Pairs that got the score of `oracle.failed_pairs`, where that is allowed.
    pub failed_pairs: u64,
    /// The key of the job that made them: a run whose job has another must make them again.
    #[serde(default)]
    pub job: Option<String>,
    /// Name that the user's program gave itself, where one scored.
    #[serde(default)]
    pub scorer: Option<String>,
    /// Hash of the configuration that made them, as `landmark check --print` prints it.
    #[serde(default)]
    pub config: Option<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde hands over a reference
fn is_zero(count: &usize) -> bool {
    *count == 0
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FactorError {
    /// The estimate; exact where all of K was read.
    pub relative: f64,
    pub lower: Option<f64>,
    pub upper: Option<f64>,
}

#[derive(Debug, Clone)]
pub struct Factors {
    pub info: FactorInfo,
    /// Z, n × r.
    pub vectors: Array2<f64>,
    /// Signs of its columns, length r.
    pub signature: Array1<f64>,
    /// t × r, where new items can be embedded.
    pub projector: Option<Array2<f64>>,
    /// Pairs whose score is exact.
    pub scattered: Option<ScatteredEntries>,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FactorsError {
    #[error("could not {action} `{}`: {source}", path.display())]
    File {
        /// `write`, `read` or `move`.
        action: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("there are no factors in `{}`; run the configuration first", .0.display())]
    Missing(PathBuf),
    #[error("`{}` is damaged ({reason}); run the configuration again with `--force`; it reuses stored scores", path.display())]
    Damaged { path: PathBuf, reason: String },
    #[error("could not encode `{}`: {reason}", path.display())]
    Parquet { path: PathBuf, reason: String },
}

impl Factors {
    /// Writes all files; `ids` name the rows.
    pub fn write(&self, folder: &Path, ids: Option<&[String]>, formats: &[FactorFormat]) -> Result<(), FactorsError> {
        let part = whole_folder::part_of(folder);
        fs::create_dir_all(&part).map_err(file("write", &part))?;
        let written = self
            .write_files(&part, ids, formats)
            .and_then(|()| whole_folder::replace(&part, folder).map_err(file("replace", folder)));
        if written.is_err() {
            // half-written factors are of no use; that they may be gone already is no news
            let _ = fs::remove_dir_all(&part);
        }
        written
    }

    fn write_files(&self, folder: &Path, ids: Option<&[String]>, formats: &[FactorFormat]) -> Result<(), FactorsError> {
        for format in formats {
            match format {
                FactorFormat::Npy => self.write_numpy(folder)?,
                FactorFormat::Safetensors => {
                    let path = folder.join("factors.safetensors");
                    self.write_safetensors(&path).map_err(file("write", &path))?;
                }
                FactorFormat::Parquet => write_parquet(&folder.join("factors.parquet"), self.vectors.view(), ids)?,
            }
        }
        let path = folder.join(INFO);
        let text = serde_json::to_string_pretty(&self.info).map_err(std::io::Error::from);
        text.and_then(|text| fs::write(&path, text + "\n")).map_err(file("write", &path))
    }

    fn write_numpy(&self, folder: &Path) -> Result<(), FactorsError> {
        write_array(&folder.join(VECTORS), &self.vectors)?;
        write_array(&folder.join(SIGNATURE), &self.signature)?;
        if let Some(projector) = &self.projector {
            write_array(&folder.join(PROJECTOR), projector)?;
        }
        if let Some((pairs, scores)) = self.scattered_arrays() {
            write_array(&folder.join(SCATTERED_PAIRS), &pairs)?;
            write_array(&folder.join(SCATTERED_SCORES), &scores)?;
        }
        Ok(())
    }

    /// Items (m × 2) and scores (m) of the scattered entries, where there are any.
    fn scattered_arrays(&self) -> Option<(Array2<u64>, Array1<f64>)> {
        let entries = self.scattered.as_ref().filter(|entries| !entries.is_empty())?;
        let mut pairs = Array2::zeros((entries.len(), 2));
        let mut scores = Array1::zeros(entries.len());
        for (k, (i, j, score)) in entries.pairs().enumerate() {
            (pairs[[k, 0]], pairs[[k, 1]], scores[k]) = (i as u64, j as u64, score);
        }
        Some((pairs, scores))
    }

    /// Written by hand, 8 bytes of length, a JSON header and the numbers: the library wants all bytes in memory a second time.
    fn write_safetensors(&self, path: &Path) -> std::io::Result<()> {
        let signature = self.signature.view().insert_axis(Axis(0));
        let mut tensors = vec![("vectors", self.vectors.view(), vec![self.vectors.nrows(), self.vectors.ncols()])];
        tensors.push(("signature", signature, vec![signature.ncols()]));
        if let Some(projector) = &self.projector {
            tensors.push(("projector", projector.view(), vec![projector.nrows(), projector.ncols()]));
        }
        let scattered = self.scattered_arrays();
        // items as numbers like all others: exact below 2^53
        let pairs = scattered.as_ref().map(|(pairs, _)| pairs.mapv(|item| item as f64));
        if let (Some(pairs), Some((_, scores))) = (&pairs, &scattered) {
            tensors.push(("scattered_pairs", pairs.view(), vec![pairs.nrows(), 2]));
            tensors.push(("scattered_scores", scores.view().insert_axis(Axis(0)), vec![scores.len()]));
        }
        let mut header = serde_json::Map::new();
        let info = serde_json::to_string(&self.info)?;
        header.insert("__metadata__".to_owned(), json!({ "landmark": info }));
        let mut offset = 0;
        for (name, values, shape) in &tensors {
            let end = offset + 8 * values.len();
            header.insert((*name).to_owned(), json!({ "dtype": "F64", "shape": shape, "data_offsets": [offset, end] }));
            offset = end;
        }
        let mut text = serde_json::Value::Object(header).to_string();
        // numbers begin at a multiple of 8
        text += &" ".repeat(text.len().next_multiple_of(8) - text.len());
        let mut out = BufWriter::with_capacity(1 << 20, fs::File::create(path)?);
        out.write_all(&(text.len() as u64).to_le_bytes())?;
        out.write_all(text.as_bytes())?;
        for (_, values, _) in &tensors {
            for value in values {
                out.write_all(&value.to_le_bytes())?;
            }
        }
        out.flush()
    }

    /// Metadata of the factors in a folder, if there are any that can be read.
    pub fn peek(folder: &Path) -> Option<FactorInfo> {
        serde_json::from_str(&fs::read_to_string(whole_folder::to_read(folder).join(INFO)).ok()?).ok()
    }

    /// True where the numbers of a folder are as long as `info` states; nothing is read.
    pub fn are_whole(folder: &Path, info: &FactorInfo) -> bool {
        // a NumPy header takes 64 bytes at least
        let holds = |name: &str, numbers: usize| {
            fs::metadata(folder.join(name)).is_ok_and(|file| file.len() >= 64 + 8 * numbers as u64)
        };
        let pairs = info.scattered;
        let has_pairs = pairs == 0 || holds(SCATTERED_PAIRS, 2 * pairs) && holds(SCATTERED_SCORES, pairs);
        holds(VECTORS, info.items * info.columns) && holds(SIGNATURE, info.columns) && has_pairs
    }

    /// Reads the factors of a folder.
    pub fn read(folder: &Path) -> Result<Self, FactorsError> {
        let folder = &*whole_folder::to_read(folder);
        let path = folder.join(INFO);
        if !path.exists() {
            return Err(FactorsError::Missing(folder.to_owned()));
        }
        let damaged = |path: &Path, reason: String| FactorsError::Damaged { path: path.to_owned(), reason };
        let text = fs::read_to_string(&path).map_err(file("read", &path))?;
        let info: FactorInfo = serde_json::from_str(&text).map_err(|error| damaged(&path, error.to_string()))?;
        let vectors_path = folder.join(VECTORS);
        let vectors: Array2<f64> = read_array(&vectors_path)?;
        let signature_path = folder.join(SIGNATURE);
        let signature: Array1<f64> = read_array(&signature_path)?;
        let projector_path = folder.join(PROJECTOR);
        let projector: Option<Array2<f64>> = match projector_path.exists() {
            true => Some(read_array(&projector_path)?),
            false => None,
        };
        if vectors.dim() != (info.items, info.columns) || signature.len() != info.columns {
            let reason = format!(
                "it is {} × {} with {} signs (expected {} × {} from `{INFO}`)",
                vectors.nrows(),
                vectors.ncols(),
                signature.len(),
                info.items,
                info.columns
            );
            return Err(damaged(&vectors_path, reason));
        }
        let scattered = match info.scattered {
            0 => None,
            pairs => Some(read_scattered(folder, info.items, pairs)?),
        };
        Ok(Self { info, vectors, signature, projector, scattered })
    }
}

fn write_array<T: npy::Number, D: Dimension>(path: &Path, array: &Array<T, D>) -> Result<(), FactorsError> {
    npy::write(path, array).map_err(file("write", path))
}

fn read_array<D: Dimension>(path: &Path) -> Result<Array<f64, D>, FactorsError> {
    let damaged = |reason: String| FactorsError::Damaged { path: path.to_owned(), reason };
    let array = npy::read(path).map_err(|error| damaged(error.to_string()))?;
    array.values.into_dimensionality().map_err(|error| damaged(error.to_string()))
}

/// Scattered entries of n items, as many as are wanted.
fn read_scattered(folder: &Path, n: usize, wanted: usize) -> Result<ScatteredEntries, FactorsError> {
    let (pairs_path, scores_path) = (folder.join(SCATTERED_PAIRS), folder.join(SCATTERED_SCORES));
    let damaged = |path: &Path, reason: String| FactorsError::Damaged { path: path.to_owned(), reason };
    let pairs: Array2<f64> = read_array(&pairs_path)?;
    let scores: Array1<f64> = read_array(&scores_path)?;
    if pairs.dim() != (wanted, 2) || scores.len() != wanted {
        let reason =
            format!("it has {} rows and {} scores (expected {wanted} from `{INFO}`)", pairs.nrows(), scores.len());
        return Err(damaged(&pairs_path, reason));
    }
    let mut seen = std::collections::HashSet::new();
    let mut items = Vec::with_capacity(wanted);
    for pair in pairs.rows() {
        let item =
            |k: usize| ((0.0..n as f64).contains(&pair[k]) && pair[k].fract() == 0.0).then_some(pair[k] as usize);
        match (item(0), item(1)) {
            (Some(i), Some(j)) if i < j && seen.insert((i, j)) => items.push((i, j)),
            _ => {
                let reason = format!("({}, {}) is no new pair of two of {n} items", pair[0], pair[1]);
                return Err(damaged(&pairs_path, reason));
            }
        }
    }
    Ok(ScatteredEntries::new(n, &items, &scores.to_vec()))
}

/// One row an item: id and vector, in row groups.
pub fn write_parquet(path: &Path, vectors: ArrayView2<'_, f64>, ids: Option<&[String]>) -> Result<(), FactorsError> {
    let out = fs::File::create(path).map_err(file("write", path))?;
    let group = |(group, rows): (usize, ArrayView2<'_, f64>)| {
        let id = |row: usize| ids.and_then(|ids| ids.get(row)).map_or_else(|| row.to_string(), String::clone);
        let first = group * ROWS_PER_GROUP;
        let ids = (first..first + rows.nrows()).map(|row| Some(id(row)));
        vec![Column::text("id", ids), Column::vectors("vector", rows)]
    };
    let groups = vectors.axis_chunks_iter(Axis(0), ROWS_PER_GROUP).enumerate().map(group);
    columns::write_parquet(out, groups)
        .map_err(|error| FactorsError::Parquet { path: path.to_owned(), reason: error.to_string() })
}

fn file(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> FactorsError {
    let path = path.to_owned();
    move |source| FactorsError::File { action, path, source }
}

#[cfg(test)]
mod tests {
    use ndarray::array;
    use parquet::file::reader::{FileReader, SerializedFileReader};

    use super::*;

    fn factors() -> Factors {
        let info = FactorInfo {
            items: 3,
            columns: 2,
            landmarks: vec![2, 0],
            error: Some(FactorError { relative: 0.1, lower: Some(0.05), upper: Some(0.2) }),
            ..FactorInfo::default()
        };
        let (vectors, signature) = (array![[1.0, 2.0], [0.1, -4.0], [5.0, 6.0]], array![1.0, -1.0]);
        Factors { info, vectors, signature, projector: Some(array![[1.0, 0.0], [0.5, 2.0]]), scattered: None }
    }

    #[test]
    fn what_was_written_is_read_and_a_second_writing_replaces_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("factors");
        let mut factors = factors();
        for rank in [2, 3] {
            factors.info.rank = rank;
            factors.write(&place, None, &[FactorFormat::Npy]).unwrap();
        }
        let read = Factors::read(&place).unwrap();
        assert_eq!((&read.info, &read.vectors, &read.projector), (&factors.info, &factors.vectors, &factors.projector));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left next to it");
        let error = Factors::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("there are no factors") && error.contains("run the configuration first"), "{error}");
    }

    #[test]
    fn safetensors_hold_the_same_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.safetensors");
        factors().write_safetensors(&path).unwrap();
        let bytes = fs::read(&path).unwrap();
        let length = usize::try_from(u64::from_le_bytes(bytes[..8].try_into().unwrap())).unwrap();
        assert_eq!(length % 8, 0);
        let header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
        assert_eq!(header["vectors"]["shape"], json!([3, 2]));
        let offsets: Vec<usize> = serde_json::from_value(header["projector"]["data_offsets"].clone()).unwrap();
        let numbers: Vec<f64> = bytes[8 + length..][offsets[0]..offsets[1]]
            .chunks(8)
            .map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()))
            .collect();
        assert_eq!(numbers, [1.0, 0.0, 0.5, 2.0]);
        assert_eq!(bytes.len(), 8 + length + offsets[1]);
    }

    #[test]
    fn parquet_has_a_row_an_item_with_its_id() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.parquet");
        let ids = ["a", "b", "c"].map(str::to_owned);
        write_parquet(&path, factors().vectors.view(), Some(&ids)).unwrap();
        let reader = SerializedFileReader::new(fs::File::open(&path).unwrap()).unwrap();
        let rows: Vec<String> = reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
        let second = "{id: \"b\", vector: [0.1, -4E0]}";
        assert_eq!(rows, ["{id: \"a\", vector: [1.0, 2.0]}", second, "{id: \"c\", vector: [5.0, 6.0]}"]);
    }

    #[test]
    fn factors_that_do_not_fit_together_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("factors");
        factors().write(&place, None, &[FactorFormat::Npy]).unwrap();
        npy::write(&place.join(VECTORS), &Array2::<f64>::zeros((2, 2))).unwrap();
        let error = Factors::read(&place).unwrap_err().to_string();
        assert!(error.contains("2 × 2") && error.contains("3 × 2"), "{error}");
    }

    #[test]
    fn no_room_is_made_for_what_a_header_promises_and_the_file_has_not() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("factors");
        for (name, shape, promised) in [(VECTORS, "(3, 2)", "(100000, 200000)"), (SIGNATURE, "(2,)", "(20000000000,)")]
        {
            factors().write(&place, None, &[FactorFormat::Npy]).unwrap();
            let bytes = fs::read(place.join(name)).unwrap();
            let header = String::from_utf8_lossy(&bytes[10..128]).replace(shape, promised);
            let broken = [&bytes[..10], &header.as_bytes()[..118], &bytes[128..]].concat();
            fs::write(place.join(name), broken).unwrap();
            let error = Factors::read(&place).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains("wanted are 160000000000"), "{error}");
        }
    }
}
