//! Columns of a table in files: Parquet, or text with one separator.
//!
//! Parquet is written without compression, and holds no time and no machine: the same columns give the same bytes. Every cell but those of vectors may
//! be empty. A column of vectors is a list of f64 a row.

use std::borrow::Cow;
use std::fs::File;
use std::io::Write;
use std::sync::Arc;

use ndarray::ArrayView2;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::record::Field;
use parquet::schema::parser::parse_message_type;
use serde_json::{Map, Value as Json};

#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    name: &'static str,
    cells: Cells,
}

#[derive(Debug, Clone, PartialEq)]
enum Cells {
    Text(Vec<Option<String>>),
    Count(Vec<Option<u64>>),
    Number(Vec<Option<f64>>),
    Flag(Vec<Option<bool>>),
    /// Rows of one width, one after the other.
    Vectors {
        width: usize,
        rows: usize,
        values: Vec<f64>,
    },
}

impl Column {
    pub fn text<T: Into<String>>(name: &'static str, cells: impl IntoIterator<Item = Option<T>>) -> Self {
        Self { name, cells: Cells::Text(cells.into_iter().map(|cell| cell.map(Into::into)).collect()) }
    }

    pub fn count(name: &'static str, cells: impl IntoIterator<Item = Option<u64>>) -> Self {
        Self { name, cells: Cells::Count(cells.into_iter().collect()) }
    }

    pub fn number(name: &'static str, cells: impl IntoIterator<Item = Option<f64>>) -> Self {
        Self { name, cells: Cells::Number(cells.into_iter().collect()) }
    }

    pub fn flag(name: &'static str, cells: impl IntoIterator<Item = Option<bool>>) -> Self {
        Self { name, cells: Cells::Flag(cells.into_iter().collect()) }
    }

    /// The rows of a matrix, for Parquet alone.
    pub fn vectors(name: &'static str, vectors: ArrayView2<'_, f64>) -> Self {
        let (rows, width) = vectors.dim();
        Self { name, cells: Cells::Vectors { width, rows, values: vectors.iter().copied().collect() } }
    }

    fn rows(&self) -> usize {
        match &self.cells {
            Cells::Text(cells) => cells.len(),
            Cells::Count(cells) => cells.len(),
            Cells::Number(cells) => cells.len(),
            Cells::Flag(cells) => cells.len(),
            Cells::Vectors { rows, .. } => *rows,
        }
    }

    fn schema(&self) -> String {
        let name = self.name;
        match &self.cells {
            Cells::Text(_) => format!("OPTIONAL BYTE_ARRAY {name} (STRING);"),
            Cells::Count(_) => format!("OPTIONAL INT64 {name} (INTEGER(64,false));"),
            Cells::Number(_) => format!("OPTIONAL DOUBLE {name};"),
            Cells::Flag(_) => format!("OPTIONAL BOOLEAN {name};"),
            Cells::Vectors { .. } => {
                format!("REQUIRED GROUP {name} (LIST) {{ REPEATED GROUP list {{ REQUIRED DOUBLE element; }} }}")
            }
        }
    }

    fn write(self, out: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        match self.cells {
            Cells::Text(cells) => {
                let bytes = cells.into_iter().map(|cell| cell.map(|text| ByteArray::from(text.into_bytes())));
                write_cells::<ByteArrayType>(out, bytes.collect())
            }
            // Parquet keeps an unsigned number in the bits of a signed one
            Cells::Count(cells) => {
                let bits = cells.into_iter().map(|cell| cell.map(u64::cast_signed));
                write_cells::<Int64Type>(out, bits.collect())
            }
            Cells::Number(cells) => write_cells::<DoubleType>(out, cells),
            Cells::Flag(cells) => write_cells::<BoolType>(out, cells),
            Cells::Vectors { width: 0, rows, .. } => {
                out.typed::<DoubleType>().write_batch(&[], Some(&vec![0; rows]), Some(&vec![0; rows])).map(|_| ())
            }
            Cells::Vectors { width, values, .. } => {
                // a level of 0 begins a row
                let repeated: Vec<i16> = (0..values.len()).map(|k| i16::from(k % width > 0)).collect();
                let defined = vec![1; values.len()];
                out.typed::<DoubleType>().write_batch(&values, Some(&defined), Some(&repeated)).map(|_| ())
            }
        }
    }

    /// Text of a cell; nothing where it is empty.
    fn cell(&self, row: usize) -> Cow<'_, str> {
        match &self.cells {
            Cells::Text(cells) => cells[row].as_deref().unwrap_or_default().into(),
            Cells::Count(cells) => cells[row].map(|count| count.to_string()).unwrap_or_default().into(),
            Cells::Number(cells) => cells[row].map(|number| format!("{number:?}")).unwrap_or_default().into(),
            Cells::Flag(cells) => cells[row].map(|flag| flag.to_string()).unwrap_or_default().into(),
            Cells::Vectors { .. } => "".into(),
        }
    }
}

fn write_cells<T: DataType>(
    out: &mut SerializedColumnWriter<'_>,
    cells: Vec<Option<T::T>>,
) -> Result<(), ParquetError> {
    let defined: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    let values: Vec<T::T> = cells.into_iter().flatten().collect();
    out.typed::<T>().write_batch(&values, Some(&defined), None).map(|_| ())
}

/// Writes groups of rows, each with the columns of the first, as Parquet.
pub fn write_parquet(
    out: impl Write + Send,
    groups: impl IntoIterator<Item = Vec<Column>>,
) -> Result<(), ParquetError> {
    let mut groups = groups.into_iter().peekable();
    let Some(first) = groups.peek() else { return Ok(()) };
    let fields: String = first.iter().map(Column::schema).collect();
    let schema = Arc::new(parse_message_type(&format!("message rows {{ {fields} }}"))?);
    // numbers of a vector hardly repeat
    let has_vectors = first.iter().any(|column| matches!(column.cells, Cells::Vectors { .. }));
    let properties = WriterProperties::builder().set_dictionary_enabled(!has_vectors).build();
    let mut file = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
    for columns in groups {
        let mut group = file.next_row_group()?;
        for column in columns {
            let Some(mut out) = group.next_column()? else { break };
            column.write(&mut out)?;
            out.close()?;
        }
        group.close()?;
    }
    file.close().map(|_| ())
}

/// The rows of a Parquet file, by the names of its columns; texts, numbers and flags alone.
pub fn read_parquet(file: File) -> Result<Vec<Map<String, Json>>, ParquetError> {
    let reader = SerializedFileReader::new(file)?;
    let cell = |(name, field): (&String, &Field)| {
        let value = match field {
            Field::Null => Json::Null,
            Field::Bool(flag) => Json::from(*flag),
            Field::Str(text) => Json::from(text.as_str()),
            Field::Int(number) => Json::from(*number),
            Field::Long(number) => Json::from(*number),
            Field::UInt(number) => Json::from(*number),
            Field::ULong(number) => Json::from(*number),
            Field::Double(number) => Json::from(*number),
            other => return Err(ParquetError::General(format!("the column `{name}` holds {other}"))),
        };
        Ok((name.clone(), value))
    };
    reader.get_row_iter(None)?.map(|row| row?.get_column_iter().map(cell).collect()).collect()
}

/// Writes a header and the rows with a separator between cells, which are quoted where they must be.
pub fn write_separated(out: impl Write, separator: u8, columns: &[Column]) -> std::io::Result<()> {
    let mut out = csv::WriterBuilder::new().delimiter(separator).from_writer(out);
    out.write_record(columns.iter().map(|column| column.name))?;
    for row in 0..columns.first().map_or(0, Column::rows) {
        out.write_record(columns.iter().map(|column| column.cell(row).into_owned()))?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    fn columns() -> Vec<Column> {
        vec![
            Column::text("name", [Some("a, \"b\""), None]),
            Column::count("count", [Some(u64::MAX), Some(2)]),
            Column::number("number", [Some(1.0), Some(1e-7)]),
            Column::flag("flag", [None, Some(true)]),
        ]
    }

    #[test]
    fn parquet_holds_every_kind_of_cell_in_groups_of_rows() {
        let vectors = array![[1.0, -2.0], [0.5, 1e-300]];
        let group = || [columns(), vec![Column::vectors("vector", vectors.view())]].concat();
        let mut bytes = Vec::new();
        write_parquet(&mut bytes, [group(), group()]).unwrap();
        let mut again = Vec::new();
        write_parquet(&mut again, [group(), group()]).unwrap();
        assert_eq!(bytes, again);
        let path = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&path, bytes).unwrap();
        let reader = SerializedFileReader::new(path.reopen().unwrap()).unwrap();
        assert_eq!(reader.num_row_groups(), 2);
        let rows: Vec<String> = reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
        let first = "{name: \"a, \"b\"\", count: 18446744073709551615, number: 1.0, flag: null, vector: [1.0, -2E0]}";
        let second = "{name: null, count: 2, number: 0.0000001, flag: true, vector: [0.5, 1E-300]}";
        assert_eq!(rows, [first, second, first, second]);
    }

    #[test]
    fn separated_cells_are_quoted_where_they_must_be() {
        for (separator, wanted) in [
            (b',', "name,count,number,flag\n\"a, \"\"b\"\"\",18446744073709551615,1.0,\n,2,1e-7,true\n"),
            (b'\t', "name\tcount\tnumber\tflag\n\"a, \"\"b\"\"\"\t18446744073709551615\t1.0\t\n\t2\t1e-7\ttrue\n"),
        ] {
            let mut bytes = Vec::new();
            write_separated(&mut bytes, separator, &columns()).unwrap();
            assert_eq!(String::from_utf8(bytes).unwrap(), wanted);
        }
    }
}
