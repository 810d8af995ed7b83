//! Tables in Apache Parquet files: columns with values of one type, written in row groups.
//!
//! Texts are encoded with a dictionary and whole numbers by their differences; all columns are compressed with Zstandard. Unknown
//! values are null, never 0.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, LogicalType, Repetition, TimeUnit, Type as Physical, ZstdLevel};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType as Stored, DoubleType, Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type};

/// Maximum number of rows of a row group; the same as that of DuckDB's own row groups.
pub(crate) const GROUP_ROWS: usize = 122_880;

/// Total bytes of distinct texts after which a row group is closed, because its rows are kept in memory.
const GROUP_TEXT: usize = 16 << 20;

/// A column: name, content, and whether values may be unknown.
pub(crate) type ColumnSpec = (String, Content, bool);

/// Extracts the system's error, if there is one.
pub(crate) fn cause(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

/// The type of the values of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    Text,
    Flag,
    /// Whole numbers up to 2^31.
    Count,
    /// Whole numbers up to 2^63; durations are in ns.
    Number,
    /// A point in time, in ns since 1970.
    Instant,
    /// A number with a fraction.
    Real,
}

/// The value of a row in a column; `None` is written as null.
pub(crate) enum Cell<'s> {
    Text(Option<&'s str>),
    Flag(bool),
    Count(Option<u32>),
    Number(Option<u64>),
    Instant(Option<i64>),
    Real(f64),
}

/// The values of a column in the row group that is being filled.
enum Values {
    Text(Vec<ByteArray>),
    Flag(Vec<bool>),
    Count(Vec<i32>),
    Number(Vec<i64>),
    Real(Vec<f64>),
}

struct Column {
    values: Values,
    /// For a column whose values may be unknown: 1 for each row with a value, 0 for each row without.
    levels: Option<Vec<i16>>,
}

impl Column {
    fn new(content: Content, optional: bool) -> Column {
        let values = match content {
            Content::Text => Values::Text(Vec::new()),
            Content::Flag => Values::Flag(Vec::new()),
            Content::Count => Values::Count(Vec::new()),
            Content::Number | Content::Instant => Values::Number(Vec::new()),
            Content::Real => Values::Real(Vec::new()),
        };
        Column { values, levels: optional.then(Vec::new) }
    }

    fn push(&mut self, cell: Cell<'_>, texts: &mut Texts) {
        let known = match (&mut self.values, cell) {
            (Values::Text(values), Cell::Text(Some(text))) => {
                values.push(texts.shared(text));
                true
            }
            (Values::Flag(values), Cell::Flag(flag)) => {
                values.push(flag);
                true
            }
            (Values::Count(values), Cell::Count(Some(count))) => {
                values.push(i32::try_from(count).unwrap_or(i32::MAX));
                true
            }
            (Values::Number(values), Cell::Number(Some(number))) => {
                values.push(i64::try_from(number).unwrap_or(i64::MAX));
                true
            }
            (Values::Number(values), Cell::Instant(Some(at))) => {
                values.push(at);
                true
            }
            (Values::Real(values), Cell::Real(value)) => {
                values.push(value);
                true
            }
            _ => false,
        };
        if let Some(levels) = &mut self.levels {
            levels.push(i16::from(known));
        }
    }

    /// Writes the column into a row group and empties it.
    fn write<W: Write + Send>(
        &mut self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), ParquetError> {
        let levels = self.levels.as_deref();
        match &mut self.values {
            Values::Text(values) => put::<ByteArrayType, W>(group, values, levels)?,
            Values::Flag(values) => put::<BoolType, W>(group, values, levels)?,
            Values::Count(values) => put::<Int32Type, W>(group, values, levels)?,
            Values::Number(values) => put::<Int64Type, W>(group, values, levels)?,
            Values::Real(values) => put::<DoubleType, W>(group, values, levels)?,
        }
        if let Some(levels) = &mut self.levels {
            levels.clear();
        }
        Ok(())
    }
}

fn put<T: Stored, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &mut Vec<T::T>,
    levels: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("the file has fewer columns than its rows".into()));
    };
    column.typed::<T>().write_batch(values, levels, None)?;
    column.close()?;
    values.clear();
    Ok(())
}

/// The texts of a row group; each distinct text is stored once.
#[derive(Default)]
struct Texts {
    known: HashMap<Box<str>, ByteArray>,
    bytes: usize,
}

impl Texts {
    fn shared(&mut self, text: &str) -> ByteArray {
        if let Some(known) = self.known.get(text) {
            return known.clone();
        }
        let shared = ByteArray::from(text);
        self.known.insert(text.into(), shared.clone());
        self.bytes += text.len();
        shared
    }
}

/// A file that is being written.
pub(crate) struct ParquetTable<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    columns: Vec<Column>,
    texts: Texts,
    rows: usize,
    group_rows: usize,
    written: u64,
}

impl<W: Write + Send> ParquetTable<W> {
    /// Creates the file. `row_name` is the name of a row in the schema, `run` that of the run in the metadata.
    pub(crate) fn new(
        writer: W,
        row_name: &str,
        columns: &[ColumnSpec],
        run: &str,
        group_rows: usize,
    ) -> Result<ParquetTable<W>, ParquetError> {
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_created_by(concat!("busyhour version ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_key_value_metadata(Some(vec![KeyValue::new("busyhour.run".to_owned(), run.to_owned())]));
        for (name, content, _) in columns {
            if matches!(content, Content::Number | Content::Instant | Content::Count) {
                let path = || ColumnPath::from(name.as_str());
                properties = properties
                    .set_column_dictionary_enabled(path(), false)
                    .set_column_encoding(path(), Encoding::DELTA_BINARY_PACKED);
            }
        }
        let schema = Arc::new(schema(row_name, columns)?);
        Ok(ParquetTable {
            writer: SerializedFileWriter::new(writer, schema, Arc::new(properties.build()))?,
            columns: columns.iter().map(|(_, content, optional)| Column::new(*content, *optional)).collect(),
            texts: Texts::default(),
            rows: 0,
            group_rows,
            written: 0,
        })
    }

    /// Number of columns.
    pub(crate) fn columns(&self) -> usize {
        self.columns.len()
    }

    /// Adds a row with a cell per column.
    pub(crate) fn row<'s>(&mut self, cells: impl IntoIterator<Item = Cell<'s>>) -> Result<(), ParquetError> {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.push(cell, &mut self.texts);
        }
        self.rows += 1;
        if self.rows >= self.group_rows || self.texts.bytes >= GROUP_TEXT {
            self.close_group()
        } else {
            Ok(())
        }
    }

    fn close_group(&mut self) -> Result<(), ParquetError> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        for column in &mut self.columns {
            column.write(&mut group)?;
        }
        group.close()?;
        self.written += self.rows as u64;
        (self.rows, self.texts) = (0, Texts::default());
        Ok(())
    }

    /// Writes the last row group and the end of the file; returns the number of rows.
    pub(crate) fn finish(mut self) -> Result<u64, ParquetError> {
        self.close_group()?;
        self.writer.close()?;
        Ok(self.written)
    }
}

fn schema(name: &str, columns: &[ColumnSpec]) -> Result<Type, ParquetError> {
    let fields = columns.iter().map(|(name, content, optional)| {
        let (physical, logical) = match content {
            Content::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Content::Flag => (Physical::BOOLEAN, None),
            Content::Count => (Physical::INT32, None),
            Content::Number => (Physical::INT64, None),
            Content::Real => (Physical::DOUBLE, None),
            Content::Instant => (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::NANOS))),
        };
        let repetition = if *optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let field = Type::primitive_type_builder(name, physical);
        field.with_logical_type(logical).with_repetition(repetition).build().map(Arc::new)
    });
    Type::group_type_builder(name).with_fields(fields.collect::<Result<_, _>>()?).build()
}
