//! Word vectors as a NumPy matrix (V × d, f16, f32 or f64, C order) with a vocabulary of V lines next to it.

use std::path::Path;

use half::f16;

use super::binary::read_up_to;
use super::{Gathered, Slot, Wanted, file_name};
use crate::error::DataError;
use crate::lines::Lines;
use crate::npy::{self, Dtype, Header};
use crate::unpack::{check_promise, open};

pub(super) fn read(path: &Path, vocabulary: &Path, wanted: &Wanted<'_>) -> Result<Gathered, DataError> {
    let words = read_vocabulary(vocabulary)?;
    let mut reader = open(path)?;
    let header = npy::read_header(path, &mut reader)?;
    if header.fortran_order {
        return Err(DataError::UnsupportedArray {
            path: path.to_owned(),
            seen: "a matrix in Fortran order".into(),
            wanted: "C order, one word after the other (`numpy.ascontiguousarray`)",
        });
    }
    if matches!(header.dtype, Dtype::Whole { .. }) {
        return Err(DataError::UnsupportedArray {
            path: path.to_owned(),
            seen: "whole numbers".into(),
            wanted: "`<f2`, `<f4` or `<f8` (float16, 32 or 64)",
        });
    }
    if words.len() != header.rows {
        return Err(DataError::CountMismatch {
            path: vocabulary.to_owned(),
            what: "words",
            seen: words.len(),
            wanted: header.rows,
            reference: format!("of rows of `{}`", file_name(path)),
        });
    }
    check_promise(path, "row 0", Header { rows: 1, ..header }.bytes())?;
    let mut gathered = Gathered::new(header.cols);
    let mut bytes = vec![0; header.cols * header.dtype.size()];
    for (row, word) in words.into_iter().enumerate() {
        let length = read_up_to(&mut reader, &mut bytes).map_err(DataError::io(path))?;
        if length < bytes.len() {
            return Err(DataError::Truncated {
                path: path.to_owned(),
                at: format!("row {row} of {}", header.rows),
                seen: length as u64,
                wanted: bytes.len() as u64,
            });
        }
        if let Some(slot) = gathered.slot(&word, wanted) {
            fill_row(&mut gathered, slot, &bytes, header.dtype);
        }
    }
    Ok(gathered)
}

/// One word a line, or a word, a tab and anything.
fn read_vocabulary(path: &Path) -> Result<Vec<String>, DataError> {
    let mut lines = Lines::open(path)?;
    let mut words = Vec::new();
    while let Some((_, line)) = lines.next_line()? {
        words.push(line.split('\t').next().unwrap_or_default().to_owned());
    }
    Ok(words)
}

fn fill_row(gathered: &mut Gathered, slot: Slot, bytes: &[u8], dtype: Dtype) {
    match dtype {
        Dtype::F16 => gathered.fill(slot, bytes.chunks_exact(2).map(|b| f16::from_le_bytes([b[0], b[1]]).to_f32())),
        Dtype::F32 => gathered.fill(slot, bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
        Dtype::F64 => {
            let narrow = |b: &[u8]| f64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]) as f32;
            gathered.fill(slot, bytes.chunks_exact(8).map(narrow));
        }
        // refused with the header
        Dtype::Whole { .. } => {}
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::super::{VectorFiles, VectorFormat, WordVectors};
    use super::*;
    use crate::test_files::file;

    fn load(npy: &[u8], vocabulary: Option<&str>) -> Result<WordVectors, DataError> {
        let (_folder, path) = file("mine.npy", npy);
        let words = vocabulary.map(|text| file("mine.vocab.tsv", text));
        let vocabulary = words.as_ref().map(|(_, path)| path.clone());
        WordVectors::read(&VectorFiles { vocabulary, ..VectorFiles::new(VectorFormat::Npy, path) }, &|word| {
            word != "skipped"
        })
    }

    fn matrix(dtype: &str, bytes: Vec<u8>) -> Vec<u8> {
        npy::encode(&format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': (3, 2), }}\n"), &bytes)
    }

    const VALUES: [f32; 6] = [1.0, -0.5, 9.0, 9.0, 0.25, 2.0]; // exact in half precision

    #[test]
    fn all_three_precisions_give_the_same_vectors() {
        let half = VALUES.iter().flat_map(|&value| f16::from_f32(value).to_le_bytes()).collect();
        let single = VALUES.iter().flat_map(|value| value.to_le_bytes()).collect();
        let double = VALUES.iter().flat_map(|&value| f64::from(value).to_le_bytes()).collect();
        for npy in [matrix("<f2", half), matrix("<f4", single), matrix("<f8", double)] {
            let vectors = load(&npy, Some("moon\t12\nskipped\t7\nsoup\t3\n")).unwrap();
            assert_eq!(vectors.words(), ["moon", "soup"]);
            assert_eq!(vectors.vectors(), array![[1.0, -0.5], [0.25, 2.0]]);
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let bytes: Vec<u8> = VALUES.iter().flat_map(|value| value.to_le_bytes()).collect();
        let words = Some("a\nb\nc\n");
        for (npy, vocabulary, wanted) in [
            (matrix("<f4", bytes.clone()), None, "need a vocabulary"),
            (
                matrix("<f4", bytes.clone()),
                Some("a\nb\n"),
                "has 2 words; wanted are 3, the number of rows of `mine.npy`",
            ),
            (matrix("<f4", bytes[..21].to_vec()), words, "truncated at row 2 of 3: 5 bytes are left, wanted are 8"),
            (matrix("<f4", f32::NAN.to_le_bytes().repeat(6)), words, "component 0 of the vector of `a` is NaN"),
            (matrix("<f8", f64::MAX.to_le_bytes().repeat(6)), words, "component 0 of the vector of `a` is inf"),
            (
                npy::encode("{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2), }", &bytes),
                words,
                "a matrix in Fortran order",
            ),
        ] {
            let message = load(&npy, vocabulary).unwrap_err().to_string();
            assert!(message.contains(wanted), "{message}");
        }
    }
}
