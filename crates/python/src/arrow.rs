//! Arrow columns and tables by the PyCapsule protocol: texts and rows of numbers in, tables of found pairs out.
//!
//! What lends an array (`__arrow_c_array__`) or a stream of them (`__arrow_c_stream__`) is read, whichever library made it; structures and
//! their ownership are those of the `arrow-array` crate.
//!
//! Cost: texts become Python's, as a score wants them; numbers are copied once.

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator,
    make_array,
};
use arrow_schema::DataType;
use ndarray::Array2;
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi::c_str;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods, PyList, PyString};
use std::ffi::CStr;
use std::sync::Arc;

use crate::errors::value;

const SCHEMA: &CStr = c_str!("arrow_schema");
const ARRAY: &CStr = c_str!("arrow_array");
const STREAM: &CStr = c_str!("arrow_array_stream");

/// Items of an Arrow array or stream: a list of texts, or an n × d array of numbers.
///
/// A column of lists of numbers has a row each; a table has its one column, or one number a column.
///
/// # Errors
/// Nulls, lists of different lengths, and columns of anything else, by name.
#[pyfunction]
pub(crate) fn arrow_items<'py>(source: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = source.py();
    let (kind, chunks) = chunks(source)?;
    let mut rows = 0;
    if is_text(&kind) {
        let texts = PyList::empty(py);
        for chunk in &chunks {
            add_texts(&texts, only_column(chunk)?.as_ref(), rows)?;
            rows += chunk.len();
        }
        return Ok(texts.into_any());
    }
    let (mut numbers, mut width) = (Vec::new(), None);
    for chunk in &chunks {
        let (more, wide) = rows_of_numbers(chunk.as_ref(), rows)?;
        rows += chunk.len();
        match width {
            Some(width) if !chunk.is_empty() && width != wide => return Err(lengths(rows - chunk.len(), width, wide)),
            None if !chunk.is_empty() => width = Some(wide),
            _ => {}
        }
        numbers.extend(more);
    }
    let shaped = Array2::from_shape_vec((rows, width.unwrap_or(0)), numbers).map_err(|error| value(&error))?;
    Ok(shaped.into_pyarray(py).into_any())
}

/// An Arrow stream (a capsule) of one table: columns of `int64`, `float64` or `bool`, all of one length.
#[pyfunction]
pub(crate) fn arrow_table<'py>(
    py: Python<'py>,
    names: Vec<String>,
    columns: Vec<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let columns = names.into_iter().zip(columns).map(|(name, column)| Ok((name, lent(&column)?)));
    let columns: Vec<(String, ArrayRef)> = columns.collect::<PyResult<_>>()?;
    let table = RecordBatch::try_from_iter(columns).map_err(|error| value(&error))?;
    let schema = table.schema();
    let stream = FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new([Ok(table)], schema)));
    PyCapsule::new_with_value(py, stream, STREAM)
}

fn lent(column: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    if let Ok(items) = column.extract::<PyReadonlyArray1<'_, i64>>() {
        return Ok(Arc::new(Int64Array::from_iter_values(items.as_array().iter().copied())));
    }
    if let Ok(scores) = column.extract::<PyReadonlyArray1<'_, f64>>() {
        return Ok(Arc::new(Float64Array::from_iter_values(scores.as_array().iter().copied())));
    }
    let flags: PyReadonlyArray1<'_, bool> = column.extract()?;
    Ok(Arc::new(BooleanArray::from(flags.as_array().to_vec())))
}

// --- what is lent

/// Type and chunks of what an object lends.
fn chunks(source: &Bound<'_, PyAny>) -> PyResult<(DataType, Vec<ArrayRef>)> {
    if source.hasattr("__arrow_c_stream__")? {
        let capsule = source.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
        let at = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
        // SAFETY: a capsule of this name holds such a structure, and whoever takes it leaves a released one behind
        return streamed(unsafe { FFI_ArrowArrayStream::from_raw(at.as_ptr()) });
    }
    let both = source.call_method0("__arrow_c_array__")?;
    let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) = both.extract()?;
    let schema = schema.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
    let array = array.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
    // SAFETY: as above
    let (schema, array) =
        unsafe { (FFI_ArrowSchema::from_raw(schema.as_ptr()), FFI_ArrowArray::from_raw(array.as_ptr())) };
    let kind = DataType::try_from(&schema).map_err(|error| value(&error))?;
    Ok((kind.clone(), vec![made(array, kind)?]))
}

/// Type and chunks of a stream: of a table, or of one column in chunks (which `ArrowArrayStreamReader` refuses).
fn streamed(mut stream: FFI_ArrowArrayStream) -> PyResult<(DataType, Vec<ArrayRef>)> {
    let (Some(get_schema), Some(get_next)) = (stream.get_schema(), stream.get_next()) else {
        return Err(PyValueError::new_err("the Arrow stream is released already: it can be read once"));
    };
    let mut schema = FFI_ArrowSchema::empty();
    // SAFETY: the stream is whole, and both are ours for the call
    let code = unsafe { get_schema(&raw mut stream, &raw mut schema) };
    check(&mut stream, code)?;
    let kind = DataType::try_from(&schema).map_err(|error| value(&error))?;
    let mut chunks = Vec::new();
    loop {
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: as above
        let code = unsafe { get_next(&raw mut stream, &raw mut array) };
        check(&mut stream, code)?;
        if array.is_released() {
            return Ok((kind, chunks));
        }
        chunks.push(made(array, kind.clone())?);
    }
}

/// The error of a stream that answered a code other than 0.
fn check(stream: &mut FFI_ArrowArrayStream, code: i32) -> PyResult<()> {
    if code == 0 {
        return Ok(());
    }
    // SAFETY: asked right after the call that failed, as the interface wants it; the text is the stream's until its next call
    let why = stream.get_last_error().map(|last_error| unsafe { last_error(stream) }).filter(|why| !why.is_null());
    // SAFETY: a text that ends in 0, by the interface
    let why = why.map(|why| unsafe { CStr::from_ptr(why) }.to_string_lossy().into_owned());
    let why = why.unwrap_or_else(|| format!("code {code}"));
    Err(PyValueError::new_err(format!("the Arrow stream could not be read: {why}")))
}

fn made(array: FFI_ArrowArray, kind: DataType) -> PyResult<ArrayRef> {
    // SAFETY: array and type come from one lender
    let data = unsafe { from_ffi_and_data_type(array, kind) };
    Ok(make_array(data.map_err(|error| value(&error))?))
}

// --- what is in it

fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, value) => is_text(value),
        DataType::Struct(fields) if fields.len() == 1 => is_text(fields[0].data_type()),
        _ => false,
    }
}

/// The column of a table of one, a column as it is.
fn only_column(array: &ArrayRef) -> PyResult<ArrayRef> {
    match array.as_struct_opt() {
        Some(table) => {
            complete(array.as_ref(), 0)?;
            only_column(table.column(0))
        }
        None => Ok(Arc::clone(array)),
    }
}

fn complete(array: &dyn Array, first: usize) -> PyResult<()> {
    let Some(nulls) = array.logical_nulls().filter(|nulls| nulls.null_count() > 0) else { return Ok(()) };
    let row = first + (0..nulls.len()).find(|&row| nulls.is_null(row)).unwrap_or(0);
    Err(PyValueError::new_err(format!("row {row} is null: drop it, or fill it, before items are numbered")))
}

fn add_texts(out: &Bound<'_, PyList>, array: &dyn Array, first: usize) -> PyResult<()> {
    complete(array, first)?;
    let py = out.py();
    let add = |texts: &mut dyn Iterator<Item = Option<&str>>| {
        texts.flatten().try_for_each(|text| out.append(PyString::new(py, text)))
    };
    match array.data_type() {
        DataType::Utf8 => add(&mut array.as_string::<i32>().iter()),
        DataType::LargeUtf8 => add(&mut array.as_string::<i64>().iter()),
        DataType::Utf8View => add(&mut array.as_string_view().iter()),
        _ => {
            let dictionary = array.as_any_dictionary();
            let words = PyList::empty(py);
            add_texts(&words, dictionary.values().as_ref(), 0)?;
            dictionary.normalized_keys().into_iter().try_for_each(|key| out.append(words.get_item(key)?))
        }
    }
}

/// Numbers row by row, and how many a row has.
fn rows_of_numbers(array: &dyn Array, first: usize) -> PyResult<(Vec<f64>, usize)> {
    complete(array, first)?;
    if let Some(numbers) = numbers(array) {
        return Ok((numbers, 1));
    }
    if let Some(table) = array.as_struct_opt() {
        if let [column] = table.columns() {
            return rows_of_numbers(column.as_ref(), first);
        }
        return columns_of_numbers(table, first);
    }
    let lists = (0..array.len()).map(|row| {
        let list = if let Some(lists) = array.as_fixed_size_list_opt() {
            lists.value(row)
        } else if let Some(lists) = array.as_list_opt::<i32>() {
            lists.value(row)
        } else {
            array.as_list_opt::<i64>().ok_or_else(|| unreadable(array.data_type()))?.value(row)
        };
        complete(list.as_ref(), 0)
            .map_err(|_| PyValueError::new_err(format!("row {} has a null in it", first + row)))?;
        numbers(list.as_ref()).ok_or_else(|| unreadable(array.data_type()))
    });
    let (mut all, mut width) = (Vec::new(), 0);
    for (row, list) in lists.enumerate() {
        let list = list?;
        if row == 0 {
            width = list.len();
        } else if list.len() != width {
            return Err(lengths(first + row, width, list.len()));
        }
        all.extend(list);
    }
    if array.is_empty() && !is_list(array.data_type()) {
        return Err(unreadable(array.data_type()));
    }
    Ok((all, width))
}

fn columns_of_numbers(table: &arrow_array::StructArray, first: usize) -> PyResult<(Vec<f64>, usize)> {
    let mut out = Array2::zeros((table.len(), table.num_columns()));
    for (place, (column, name)) in table.columns().iter().zip(table.column_names()).enumerate() {
        let refused = || {
            let message = format!(
                "column `{name}` of {} has {}: hand over the one column that has the items, or columns of numbers alone",
                table.num_columns(),
                column.data_type()
            );
            PyTypeError::new_err(message)
        };
        complete(column.as_ref(), first)?;
        out.column_mut(place).assign(&ndarray::Array1::from(numbers(column.as_ref()).ok_or_else(refused)?));
    }
    Ok((out.into_raw_vec_and_offset().0, table.num_columns()))
}

fn is_list(kind: &DataType) -> bool {
    matches!(kind, DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..))
}

fn unreadable(kind: &DataType) -> PyErr {
    let message = format!("a column of {kind} is no column of items: texts, numbers, or lists of numbers are");
    PyTypeError::new_err(message)
}

fn lengths(row: usize, wanted: usize, seen: usize) -> PyErr {
    PyValueError::new_err(format!("row {row} has {seen} numbers, and those before it have {wanted}"))
}

/// Values of a column of numbers; `None` for another.
fn numbers(array: &dyn Array) -> Option<Vec<f64>> {
    fn read<T: ArrowPrimitiveType>(array: &dyn Array, number: impl Fn(T::Native) -> f64) -> Vec<f64> {
        array.as_primitive::<T>().values().iter().map(|&value| number(value)).collect()
    }
    Some(match array.data_type() {
        DataType::Boolean => array.as_boolean().values().iter().map(|flag| f64::from(u8::from(flag))).collect(),
        DataType::Int8 => read::<Int8Type>(array, f64::from),
        DataType::Int16 => read::<Int16Type>(array, f64::from),
        DataType::Int32 => read::<Int32Type>(array, f64::from),
        // as NumPy's float64 has them: whole numbers from 2⁵³ on are rounded
        DataType::Int64 => read::<Int64Type>(array, |value| value as f64),
        DataType::UInt8 => read::<UInt8Type>(array, f64::from),
        DataType::UInt16 => read::<UInt16Type>(array, f64::from),
        DataType::UInt32 => read::<UInt32Type>(array, f64::from),
        DataType::UInt64 => read::<UInt64Type>(array, |value| value as f64),
        DataType::Float32 => read::<Float32Type>(array, f64::from),
        DataType::Float64 => read::<Float64Type>(array, |value| value),
        _ => return None,
    })
}
