//! Vectors of the items for other programs, in the order of the items: float32, but float64 in Parquet.
//!
//! ```text
//! K̃(i, j) = ⟨query_i, item_j⟩,  item = a row of Z,  query = the same with the columns of negative sign turned
//! ```
//! so an index by inner product (FAISS `IndexFlatIP`, usearch `ip`) of the items, asked with the queries, ranks as K̃ does. Rows are not scaled to length
//! 1: where all signs are + that would give the cosine in the space of K̃. Entries that no vector holds (scattered ones) stay behind. Cost: 4nr bytes a copy.

use std::collections::HashMap;
use std::fs;
use std::io::{BufWriter, Error, Write};
use std::path::{Path, PathBuf};

use landmark_data::npy;
use landmark_report::amounts::count;
use landmark_report::columns::{Column, write_parquet};
use ndarray::{Array2, ArrayView2, Axis, s};
use serde_json::{Value as Json, json};

use crate::factors::Factors;

const ROWS_PER_GROUP: usize = 1 << 14;
/// The folder of the module in a sentence-transformers folder.
const MODULE: &str = "0_StaticEmbedding";
/// The word of all texts that are no items.
const UNKNOWN: &str = "[unknown text]";

/// A form that others read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `items.npy` and, for an indefinite K̃, `queries.npy`: what FAISS and usearch add and search.
    Npy,
    /// `items.parquet`, one row an item: id, text, vector (f64), and for an indefinite K̃ the vector as a query.
    Parquet,
    /// A folder that `SentenceTransformer(folder)` loads: it gives each text of an item its vector.
    SentenceTransformers,
    /// `items.csv` for a spreadsheet: id, text and a column a number, in which no cell is a formula.
    Spreadsheet,
}

/// Reason why vectors could not be exported.
#[derive(Debug, thiserror::Error)]
#[error("`{}` can't be written: {source}", path.display())]
pub struct ExportError {
    path: PathBuf,
    source: Error,
}

fn at<E: Into<Box<dyn std::error::Error + Send + Sync>>>(path: &Path) -> impl FnOnce(E) -> ExportError {
    let path = path.to_owned();
    move |error| ExportError { path, source: Error::other(error) }
}

/// What is exported: factors with the ids of their rows, and texts where there are any.
#[derive(Debug, Clone, Copy)]
pub struct Export<'a> {
    pub factors: &'a Factors,
    /// Ids, one a row.
    pub ids: &'a [String],
    /// Texts, one a row, or none.
    pub texts: Option<&'a [String]>,
}

/// What an export wrote.
#[derive(Debug)]
pub struct Exported {
    /// A sentence on the vectors and their files.
    pub text: String,
    /// Files, in the order of the text.
    pub files: Vec<PathBuf>,
    /// The content of `export.json`.
    pub facts: Json,
}

impl Export<'_> {
    /// Writes one form into a folder, which is made if it is missing.
    pub fn write(&self, form: Form, folder: &Path) -> Result<Exported, ExportError> {
        let module = folder.join(MODULE);
        let made = if form == Form::SentenceTransformers { &module } else { folder };
        fs::create_dir_all(made).map_err(at(made))?;
        match form {
            Form::Npy => self.npy(folder),
            Form::Parquet => self.parquet(folder),
            Form::SentenceTransformers => self.sentence_transformers(folder),
            Form::Spreadsheet => self.spreadsheet(folder),
        }
    }

    /// True where some column counts negatively.
    fn is_indefinite(&self) -> bool {
        self.factors.signature.iter().any(|&sign| sign < 0.0)
    }

    fn items(&self) -> Array2<f32> {
        // a number beyond float32 becomes infinite, which `norms` shows
        self.factors.vectors.mapv(|value| value as f32)
    }

    fn queries(&self) -> Array2<f32> {
        (&self.factors.vectors * &self.factors.signature).mapv(|value| value as f32)
    }

    /// What whoever reads the vectors must know.
    fn facts(&self, items: ArrayView2<'_, f32>) -> Json {
        let mut norms: Vec<f64> = items.rows().into_iter().map(norm).collect();
        norms.sort_by(f64::total_cmp);
        let middle = norms.get(norms.len() / 2).copied().unwrap_or(0.0);
        json!({
            "rows": items.nrows(),
            "columns": items.ncols(),
            "dtype": "float32",
            "order": "C",
            "metric": "inner product",
            "indefinite": self.is_indefinite(),
            "unit_length": false,
            "norms": { "least": norms.first().copied().unwrap_or(0.0), "median": middle, "most": norms.last().copied().unwrap_or(0.0) },
            "scattered_entries_left_out": self.factors.info.scattered,
            "method": self.factors.info.method,
            "oracle": self.factors.info.oracle,
        })
    }

    fn npy(&self, folder: &Path) -> Result<Exported, ExportError> {
        let items = self.items();
        let path = folder.join("items.npy");
        npy::write(&path, &items).map_err(at(&path))?;
        let mut words_on_files = "`items.npy`".to_owned();
        let mut files = vec![path];
        let queries = folder.join("queries.npy");
        if self.is_indefinite() {
            npy::write(&queries, &self.queries()).map_err(at(&queries))?;
            words_on_files += " to add, `queries.npy` to ask with (K̃ is indefinite)";
            files.push(queries);
        } else if queries.exists() {
            fs::remove_file(&queries).map_err(at(&queries))?;
        }
        write_lines(&folder.join("ids.txt"), self.ids)?;
        let facts = self.facts(items.view());
        write_json(&folder.join("export.json"), &facts)?;
        files.extend(["ids.txt", "export.json"].map(|name| folder.join(name)));
        let text = format!("{} in `{}`: {words_on_files}, `ids.txt`, `export.json`", words(&facts), folder.display());
        Ok(Exported { text, files, facts })
    }

    fn spreadsheet(&self, folder: &Path) -> Result<Exported, ExportError> {
        let items = self.items();
        let path = folder.join("items.csv");
        let mut out = BufWriter::new(fs::File::create(&path).map_err(at(&path))?);
        // by this mark spreadsheets know UTF-8
        out.write_all("\u{feff}".as_bytes()).map_err(at(&path))?;
        let mut writer = csv::Writer::from_writer(out);
        let mut guarded = 0_u64;
        let mut cell = |text: &str| {
            let safe = guard(text);
            guarded += u64::from(safe.len() > text.len());
            safe
        };
        let mut head = vec!["id".to_owned()];
        head.extend(self.texts.map(|_| "text".to_owned()));
        head.extend((1..=items.ncols()).map(|column| format!("v{column}")));
        writer.write_record(&head).map_err(at(&path))?;
        for (row, vector) in items.rows().into_iter().enumerate() {
            let mut record = vec![cell(&self.ids[row])];
            record.extend(self.texts.map(|texts| cell(&texts[row])));
            // a number may begin with a sign
            record.extend(vector.iter().map(f32::to_string));
            writer.write_record(&record).map_err(at(&path))?;
        }
        writer.flush().map_err(at(&path))?;
        let facts = self.facts(items.view());
        write_json(&folder.join("export.json"), &facts)?;
        let note = match guarded {
            0 => String::new(),
            some => format!("; {} cells that a spreadsheet would compute begin with an apostrophe", count(some)),
        };
        let text = format!("{} in `{}`{note}", words(&facts), path.display());
        Ok(Exported { text, files: vec![path, folder.join("export.json")], facts })
    }

    fn parquet(&self, folder: &Path) -> Result<Exported, ExportError> {
        let path = folder.join("items.parquet");
        let Factors { vectors, signature, .. } = self.factors;
        let queries = self.is_indefinite().then(|| vectors * signature);
        let group = |first: usize| {
            let rows = first..(first + ROWS_PER_GROUP).min(vectors.nrows());
            let mut columns = vec![Column::text("id", self.ids[rows.clone()].iter().map(Some))];
            columns.extend(self.texts.map(|texts| Column::text("text", texts[rows.clone()].iter().map(Some))));
            columns.push(Column::vectors("vector", vectors.slice(s![rows.clone(), ..])));
            columns.extend(queries.as_ref().map(|queries| Column::vectors("query", queries.slice(s![rows, ..]))));
            columns
        };
        let out = BufWriter::new(fs::File::create(&path).map_err(at(&path))?);
        write_parquet(out, (0..vectors.nrows()).step_by(ROWS_PER_GROUP).map(group)).map_err(at(&path))?;
        let mut facts = self.facts(self.items().view());
        facts["dtype"] = json!("float64");
        write_json(&folder.join("export.json"), &facts)?;
        let query = if queries.is_some() { ", query (K̃ is indefinite: ask with these)" } else { "" };
        let text = if self.texts.is_some() { ", text" } else { "" };
        let text = format!("{} in `{}`: id{text}, vector{query}", words(&facts), path.display());
        Ok(Exported { text, files: vec![path, folder.join("export.json")], facts })
    }

    /// A vocabulary whose words are whole texts, over the positive columns: one space has no negative squares.
    fn sentence_transformers(&self, folder: &Path) -> Result<Exported, ExportError> {
        let Factors { vectors, signature, .. } = self.factors;
        let positive: Vec<usize> = (0..signature.len()).filter(|&column| signature[column] > 0.0).collect();
        let kept = vectors.select(Axis(1), &positive);
        let squares = |matrix: &Array2<f64>| matrix.iter().map(|value| value * value).sum::<f64>();
        let lost = 1.0 - squares(&kept) / squares(vectors).max(f64::MIN_POSITIVE);
        let items = kept.mapv(|value| value as f32);
        let texts = self.texts.unwrap_or(self.ids);
        let mut vocabulary: HashMap<&str, usize> = HashMap::with_capacity(texts.len());
        let mut ordered = serde_json::Map::new();
        for (row, text) in texts.iter().enumerate() {
            // of two items with one text the first counts
            if !vocabulary.contains_key(text.as_str()) {
                vocabulary.insert(text, row);
                ordered.insert(text.clone(), json!(row));
            }
        }
        let repeated = texts.len() - vocabulary.len();
        let unknown = unused(&vocabulary);
        ordered.insert(unknown.clone(), json!(texts.len()));
        let module = folder.join(MODULE);
        write_weights(&module.join("model.safetensors"), items.view())?;
        let tokenizer = json!({
            "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
            "pre_tokenizer": null, "post_processor": null, "decoder": null,
            "model": { "type": "WordLevel", "vocab": ordered, "unk_token": unknown },
        });
        write_json(&module.join("tokenizer.json"), &tokenizer)?;
        let modules = json!([{
            "idx": 0, "name": "0", "path": MODULE, "type": "sentence_transformers.models.StaticEmbedding"
        }]);
        write_json(&folder.join("modules.json"), &modules)?;
        let settings = json!({ "prompts": {}, "default_prompt_name": null, "similarity_fn_name": "dot" });
        write_json(&folder.join("config_sentence_transformers.json"), &settings)?;
        let mut facts = self.facts(items.view());
        facts["negative_columns_left_out"] = json!(signature.len() - positive.len());
        facts["share_of_squared_length_left_out"] = json!(lost);
        facts["repeated_texts"] = json!(repeated);
        write_json(&folder.join("export.json"), &facts)?;
        write_lines(&folder.join("ids.txt"), self.ids)?;
        let mut text = format!(
            "{} in `{}`: `SentenceTransformer` loads it, texts of items get their vectors",
            words(&facts),
            folder.display()
        );
        if positive.len() < signature.len() {
            let columns = signature.len() - positive.len();
            text +=
                &format!("; {columns} negative columns with {:.1} % of the squared length are left out", 100.0 * lost);
        }
        if repeated > 0 {
            text += &format!("; {} texts are repeated, and the first of each counts", count(repeated as u64));
        }
        let module_files = ["model.safetensors", "tokenizer.json"].map(|name| module.join(name));
        let files = ["modules.json", "config_sentence_transformers.json", "export.json", "ids.txt"];
        let files = module_files.into_iter().chain(files.map(|name| folder.join(name))).collect();
        Ok(Exported { text, files, facts })
    }
}

/// A cell that no spreadsheet takes for a formula: an apostrophe goes before one that begins as a formula does, blanks before it or not.
fn guard(cell: &str) -> String {
    let begins = cell.trim_start().starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    if begins || cell.starts_with(['\t', '\r', '\n']) { format!("'{cell}") } else { cell.to_owned() }
}

/// A word that no text is.
fn unused(texts: &HashMap<&str, usize>) -> String {
    let mut word = UNKNOWN.to_owned();
    while texts.contains_key(word.as_str()) {
        word.push('_');
    }
    word
}

fn norm(row: ndarray::ArrayView1<'_, f32>) -> f64 {
    row.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt()
}

/// `300 × 87 float32, norms 0.12 to 1.01 (not scaled to 1)`.
fn words(facts: &Json) -> String {
    let norm = |which: &str| facts["norms"][which].as_f64().unwrap_or(f64::NAN);
    format!(
        "{} × {} {}, norms {:.3} to {:.3}, median {:.3}, not scaled to 1,",
        count(facts["rows"].as_u64().unwrap_or(0)),
        facts["columns"],
        facts["dtype"].as_str().unwrap_or_default(),
        norm("least"),
        norm("most"),
        norm("median")
    )
}

fn write_json(path: &Path, value: &Json) -> Result<(), ExportError> {
    let text = serde_json::to_string_pretty(value).map_err(at(path))?;
    fs::write(path, text + "\n").map_err(at(path))
}

/// One a line; what would break a line is written as JSON does.
fn write_lines(path: &Path, lines: &[String]) -> Result<(), ExportError> {
    let line = |line: &String| line.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r") + "\n";
    fs::write(path, lines.iter().map(line).collect::<String>()).map_err(at(path))
}

/// `embedding.weight`, the items and a row of zeros for every other text.
fn write_weights(path: &Path, items: ArrayView2<'_, f32>) -> Result<(), ExportError> {
    let (rows, columns) = (items.nrows() + 1, items.ncols());
    let bytes = 4 * rows * columns;
    let tensor = json!({ "dtype": "F32", "shape": [rows, columns], "data_offsets": [0, bytes] });
    let mut header = json!({ "embedding.weight": tensor }).to_string();
    // numbers begin at a multiple of 8
    header += &" ".repeat(header.len().next_multiple_of(8) - header.len());
    let write = || -> std::io::Result<()> {
        let mut out = BufWriter::with_capacity(1 << 20, fs::File::create(path)?);
        out.write_all(&(header.len() as u64).to_le_bytes())?;
        out.write_all(header.as_bytes())?;
        for value in items.iter().chain(&vec![0.0; columns]) {
            out.write_all(&value.to_le_bytes())?;
        }
        out.flush()
    };
    write().map_err(at(path))
}

#[cfg(test)]
mod tests {
    use ndarray::array;
    use ndarray_npy::read_npy;
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    use parquet::record::{ListAccessor as _, RowAccessor as _};

    use super::*;
    use crate::factors::FactorInfo;

    fn factors(signature: [f64; 2]) -> Factors {
        let info: FactorInfo = serde_json::from_value(json!({
            "version": 1, "items": 3, "columns": 2, "method": "nystrom", "rank": 2, "landmarks": [0, 1], "oracle": "00", "texts": null,
            "gamma": null, "error": null, "proxy": false, "cut_short": false, "failed_pairs": 0,
        }))
        .unwrap();
        let vectors = array![[1.0, 0.5], [0.25, -2.0], [3.0, 4.0]];
        Factors { info, vectors, signature: signature.to_vec().into(), projector: None, scattered: None }
    }

    fn names(words: [&str; 3]) -> Vec<String> {
        words.map(str::to_owned).to_vec()
    }

    #[test]
    fn queries_times_items_are_the_approximated_matrix() {
        let folder = tempfile::tempdir().unwrap();
        let factors = factors([1.0, -1.0]);
        let ids = names(["a", "b\nc", "d"]);
        let written = Export { factors: &factors, ids: &ids, texts: None }.write(Form::Npy, folder.path()).unwrap();
        assert!(
            written.text.contains("3 × 2 float32, norms 1.118 to 5.000, median 2.016, not scaled to 1"),
            "{}",
            written.text
        );
        let read = |name: &str| read_npy::<_, Array2<f32>>(folder.path().join(name)).unwrap();
        let product = read("queries.npy").dot(&read("items.npy").t()).mapv(f64::from);
        let wanted = (&factors.vectors * &factors.signature).dot(&factors.vectors.t());
        // all of these numbers are exact in float32
        assert_eq!(product, wanted);
        // the header states float32 in C order
        let bytes = fs::read(folder.path().join("items.npy")).unwrap();
        let header = String::from_utf8_lossy(&bytes[..128]).into_owned();
        assert!(header.contains("'<f4'") && header.contains("'fortran_order': False"), "{header}");
        assert_eq!(fs::read_to_string(folder.path().join("ids.txt")).unwrap(), "a\nb\\nc\nd\n");
        // of a definite one items alone are left
        let definite = self::factors([1.0, 1.0]);
        Export { factors: &definite, ids: &ids, texts: None }.write(Form::Npy, folder.path()).unwrap();
        assert!(!folder.path().join("queries.npy").exists());
    }

    #[test]
    fn no_cell_of_a_spreadsheet_is_a_formula() {
        let folder = tempfile::tempdir().unwrap();
        let factors = factors([1.0, -1.0]);
        let (ids, texts) = (names(["=1+1", "-b", "c"]), names(["@SUM(A1)", " +2", "a = b, \"c\""]));
        let export = Export { factors: &factors, ids: &ids, texts: Some(&texts) };
        let written = export.write(Form::Spreadsheet, folder.path()).unwrap().text;
        assert!(written.contains("4 cells"), "{written}");
        let wanted = "\u{feff}id,text,v1,v2\n'=1+1,'@SUM(A1),1,0.5\n'-b,' +2,0.25,-2\nc,\"a = b, \"\"c\"\"\",3,4\n";
        assert_eq!(fs::read_to_string(folder.path().join("items.csv")).unwrap(), wanted);
    }

    #[test]
    fn parquet_holds_ids_texts_and_vectors() {
        let folder = tempfile::tempdir().unwrap();
        let (factors, ids, texts) = (factors([1.0, -1.0]), names(["a", "b", "c"]), names(["x", "y", "z"]));
        Export { factors: &factors, ids: &ids, texts: Some(&texts) }.write(Form::Parquet, folder.path()).unwrap();
        let file = fs::File::open(folder.path().join("items.parquet")).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        let heads: Vec<&str> = rows[1].get_column_iter().map(|(head, _)| head.as_str()).collect();
        assert_eq!((rows.len(), heads), (3, vec!["id", "text", "vector", "query"]));
        let text = |column: usize| rows[1].get_string(column).unwrap().as_str();
        let numbers = |column: usize| {
            let list = rows[1].get_list(column).unwrap();
            [0, 1].map(|place| list.get_double(place).unwrap())
        };
        assert_eq!((text(0), text(1), numbers(2), numbers(3)), ("b", "y", [0.25, -2.0], [0.25, 2.0]));
    }

    #[test]
    fn a_sentence_transformers_folder_maps_each_text_to_its_row() {
        let folder = tempfile::tempdir().unwrap();
        let (factors, ids) = (factors([1.0, -1.0]), names(["a", "b", "c"]));
        let texts = names(["one", "two", "one"]);
        let export = Export { factors: &factors, ids: &ids, texts: Some(&texts) };
        let written = export.write(Form::SentenceTransformers, folder.path()).unwrap();
        assert!(
            written.text.contains("1 negative columns with 66.8 % of the squared length are left out"),
            "{}",
            written.text
        );
        assert!(written.text.contains("1 texts are repeated"), "{}", written.text);
        let read = |name: &str| -> Json {
            serde_json::from_str(&fs::read_to_string(folder.path().join(name)).unwrap()).unwrap()
        };
        let model = &read("0_StaticEmbedding/tokenizer.json")["model"];
        assert_eq!((&model["vocab"]["two"], &model["vocab"]["one"]), (&json!(1), &json!(0)));
        assert_eq!(model["vocab"][model["unk_token"].as_str().unwrap()], 3);
        let bytes = fs::read(folder.path().join("0_StaticEmbedding/model.safetensors")).unwrap();
        let length = usize::try_from(u64::from_le_bytes(bytes[..8].try_into().unwrap())).unwrap();
        let header: Json = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
        assert_eq!(header["embedding.weight"]["shape"], json!([4, 1]));
        let numbers: Vec<f32> =
            bytes[8 + length..].chunks(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect();
        assert_eq!(numbers, [1.0, 0.25, 3.0, 0.0]);
        assert_eq!(read("modules.json")[0]["path"], MODULE);
    }
}
