//! The samples of a run as an Apache Parquet file with one row per sample, for DuckDB, pandas, Spark and others.
//!
//! Texts are encoded with a dictionary and numbers by their differences; all columns are compressed with Zstandard. Unknown
//! values are null, never 0. For example, a JTL file contains no intended starts and may lack columns.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use busyhour_results::{ReadSettings, RecordReading, Results, ResultsInput, run_start_ms};
use busyhour_sample::{GroupName, Labels, RunNames, Sample, SampleFlags, SampleKind};
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, TimeUnit, Type as Physical, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType as Stored, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type};

use crate::ExportError;
use crate::csv_seconds::kind;
use crate::exported_samples::ExportedSamples;

/// Maximum number of rows of a row group; the same as that of DuckDB's own row groups.
const GROUP_ROWS: usize = 122_880;

/// Total bytes of distinct texts after which a row group is closed, because its rows are kept in memory.
const GROUP_TEXT: usize = 16 << 20;

/// Writes samples to a Parquet file. `inputs` is a run directory or result files; `reading` selects a part of their samples.
/// `create` opens the file after the inputs were checked, and `target` is its name in messages. `name` is the name of the run in
/// the metadata of the file.
///
/// Samples of all kinds become rows, including sub-results and samples before the measured part of a run; the columns `kind` and
/// `warmup` identify them. Memory is bounded by the rows and texts of a row group.
///
/// # Errors
/// If the samples cannot be read, or the file cannot be written.
pub fn export_parquet<W: Write + Send>(
    inputs: &[ResultsInput],
    reading: &RecordReading,
    create: impl FnOnce() -> io::Result<W>,
    name: &str,
    target: &str,
) -> Result<ExportedSamples, ExportError> {
    export_grouped(inputs, reading, create, name, target, GROUP_ROWS)
}

fn export_grouped<W: Write + Send>(
    inputs: &[ResultsInput],
    reading: &RecordReading,
    create: impl FnOnce() -> io::Result<W>,
    name: &str,
    target: &str,
    group_rows: usize,
) -> Result<ExportedSamples, ExportError> {
    let wrong = |error| ExportError::Io { target: target.to_owned(), source: cause(error) };
    let facts = Facts::look(inputs, &reading.read)?;
    let start_ms = reading.window_s.map(|_| run_start_ms(inputs, &reading.read)).transpose()?;
    let results = open(inputs, &ReadSettings { start_ms, ..reading.read.clone() })?;
    let window = reading.window_s.map(|window| results.instants(window));
    let origin_ns = results.wall_anchor_ms().saturating_mul(1_000_000);
    let labels = results.labels().clone();
    let writer = create().map_err(|source| ExportError::Io { target: target.to_owned(), source })?;
    let mut file = SamplesFile::new(writer, facts, labels, origin_ns, name, group_rows).map_err(wrong)?;
    let mut failure = None;
    let mut row = |sample: &Sample<'_>| {
        let counts = window.is_none_or(|(from, to)| (from..to).contains(&sample.times.start));
        if counts && failure.is_none() {
            failure = file.sample(sample).err();
        }
    };
    let found = results.read(&mut row, &mut |_| {})?.inputs;
    match failure {
        Some(error) => Err(wrong(error)),
        None => Ok(ExportedSamples { rows: file.finish().map_err(wrong)?, found }),
    }
}

fn open(inputs: &[ResultsInput], read: &ReadSettings) -> Result<Results, ExportError> {
    let settings = ReadSettings { all_columns: true, ..read.clone() };
    Ok(Results::open(ResultsInput::try_clone_all(inputs)?, &settings)?)
}

/// Extracts the system's error, if there is one.
fn cause(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

/// Facts about all samples that are needed before the first row is written. They require a separate pass over the samples.
#[derive(Default)]
struct Facts {
    names: RunNames,
    /// Whether the input contains no intended starts, so that response times equal service times.
    one_clock: bool,
    measured: Measured,
}

/// Whether each value was measured. A JTL column that is missing or contains only zeros was not measured.
#[derive(Default)]
struct Measured {
    connect: bool,
    latency: bool,
    idle: bool,
    bytes: bool,
    sent_bytes: bool,
    users_group: bool,
    users_all: bool,
}

impl Facts {
    fn look(inputs: &[ResultsInput], read: &ReadSettings) -> Result<Facts, ExportError> {
        let results = open(inputs, read)?;
        let one_clock = results.one_clock();
        if !one_clock && results.tick_ns() > 1 {
            return Err(ExportError::Settings(
                "result files and run directories cannot be written to the same Parquet file, because only run directories \
                 contain intended starts; export them to separate files"
                    .into(),
            ));
        }
        let mut measured = Measured::default();
        let mut look = |sample: &Sample<'_>| {
            measured.connect |= sample.times.connect_ns > 0;
            measured.latency |= sample.times.latency_ns > 0;
            measured.idle |= sample.times.idle_ns > 0;
            measured.bytes |= sample.sizes.bytes() > 0;
            measured.sent_bytes |= sample.sizes.sent_bytes > 0;
            measured.users_group |= sample.users.group > 0;
            measured.users_all |= sample.users.all > 0;
        };
        // The names of the groups of a JTL file are known only after all rows have been read.
        let names = results.read(&mut look, &mut |_| {})?.names;
        if !one_clock {
            // A run directory contains all values.
            measured = Measured {
                connect: true,
                latency: true,
                idle: true,
                bytes: true,
                sent_bytes: true,
                users_group: true,
                users_all: true,
            };
        }
        Ok(Facts { names, one_clock, measured })
    }
}

/// The type of the values of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    Text,
    Flag,
    /// Whole numbers up to 2^31.
    Count,
    /// Whole numbers up to 2^63; durations are in ns.
    Number,
    /// A point in time, in ns since 1970.
    Instant,
}

/// The columns, without those for the plan's variables, which follow them: name, content, and whether values may be unknown.
const COLUMNS: [(&str, Content, bool); 26] = [
    ("label", Content::Text, false),
    ("kind", Content::Text, false),
    ("thread_group", Content::Text, true),
    ("user_number", Content::Count, true),
    ("intended_at", Content::Instant, true),
    ("started_at", Content::Instant, false),
    ("ended_at", Content::Instant, false),
    ("response_ns", Content::Number, true),
    ("service_ns", Content::Number, false),
    ("connect_ns", Content::Number, true),
    ("latency_ns", Content::Number, true),
    ("idle_ns", Content::Number, true),
    ("success", Content::Flag, false),
    ("code", Content::Text, true),
    ("message", Content::Text, true),
    ("failure_message", Content::Text, true),
    ("url", Content::Text, true),
    ("data_type", Content::Text, true),
    ("encoding", Content::Text, true),
    ("bytes", Content::Number, true),
    ("sent_bytes", Content::Number, true),
    ("users_group", Content::Count, true),
    ("users_all", Content::Count, true),
    ("samples", Content::Count, false),
    ("errors", Content::Count, false),
    ("warmup", Content::Flag, false),
];

/// The value of a row in a column; `None` is written as null.
enum Cell<'s> {
    Text(Option<&'s str>),
    Flag(bool),
    Count(Option<u32>),
    Number(Option<u64>),
    Instant(Option<i64>),
}

/// The values of a column in the row group that is being filled.
enum Values {
    Text(Vec<ByteArray>),
    Flag(Vec<bool>),
    Count(Vec<i32>),
    Number(Vec<i64>),
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
struct SamplesFile<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    facts: Facts,
    labels: Labels,
    /// The names of groups as in thread names: `Shop 1`.
    groups: Vec<String>,
    origin_ns: i64,
    columns: Vec<Column>,
    texts: Texts,
    rows: usize,
    group_rows: usize,
    written: u64,
}

impl<W: Write + Send> SamplesFile<W> {
    /// Creates the file; `origin_ns` is time zero of the samples, in ns since 1970.
    fn new(
        writer: W,
        facts: Facts,
        labels: Labels,
        origin_ns: i64,
        name: &str,
        group_rows: usize,
    ) -> Result<SamplesFile<W>, ParquetError> {
        let variables =
            facts.names.variables.iter().map(|name| (format!("variable_{name}"), Content::Text, true));
        let columns: Vec<(String, Content, bool)> = COLUMNS
            .iter()
            .map(|(name, content, optional)| ((*name).to_owned(), *content, *optional))
            .chain(variables)
            .collect();
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_created_by(concat!("busyhour version ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_key_value_metadata(Some(vec![KeyValue::new("busyhour.run".to_owned(), name.to_owned())]));
        for (name, content, _) in &columns {
            if matches!(content, Content::Number | Content::Instant | Content::Count) {
                let path = || ColumnPath::from(name.as_str());
                properties = properties
                    .set_column_dictionary_enabled(path(), false)
                    .set_column_encoding(path(), Encoding::DELTA_BINARY_PACKED);
            }
        }
        let writer =
            SerializedFileWriter::new(writer, Arc::new(schema(&columns)?), Arc::new(properties.build()))?;
        let group = |group: &GroupName| match group.number {
            0 => group.name.clone(),
            number => format!("{} {number}", group.name),
        };
        Ok(SamplesFile {
            writer,
            groups: facts.names.groups.iter().map(group).collect(),
            facts,
            labels,
            origin_ns,
            columns: columns.iter().map(|(_, content, optional)| Column::new(*content, *optional)).collect(),
            texts: Texts::default(),
            rows: 0,
            group_rows,
            written: 0,
        })
    }

    fn sample(&mut self, sample: &Sample<'_>) -> Result<(), ParquetError> {
        let label = self.labels.name(sample.label);
        let group = self.groups.get(sample.group as usize);
        let at = |ns: u64| Some(self.origin_ns.saturating_add_unsigned(ns));
        let (two_clocks, measured) = (!self.facts.one_clock, &self.facts.measured);
        let text = |text| Cell::Text(Some(text).filter(|text: &&str| !text.is_empty()));
        let number = |known: bool, number: u64| Cell::Number(known.then_some(number));
        let count = |known: bool, count: u32| Cell::Count(known.then_some(count));
        let cells = [
            Cell::Text(Some(&*label)),
            Cell::Text(Some(kind(SampleKind::of(sample.flags)))),
            Cell::Text(group.map(String::as_str)),
            count(group.is_some() && sample.user > 0, sample.user),
            Cell::Instant(at(sample.times.intended.0).filter(|_| two_clocks)),
            Cell::Instant(at(sample.times.start.0)),
            Cell::Instant(at(sample.times.end.0)),
            number(two_clocks, sample.response_ns()),
            number(true, sample.service_ns()),
            number(measured.connect, sample.times.connect_ns),
            number(measured.latency, sample.times.latency_ns),
            number(measured.idle, sample.times.idle_ns),
            Cell::Flag(sample.outcome.success),
            text(sample.outcome.code),
            text(sample.outcome.message),
            text(sample.failure_message),
            text(sample.url),
            text(sample.content.data_type.as_str()),
            text(sample.content.encoding),
            number(measured.bytes, sample.sizes.bytes()),
            number(measured.sent_bytes, sample.sizes.sent_bytes),
            count(measured.users_group, sample.users.group),
            count(measured.users_all, sample.users.all),
            count(true, sample.sample_count),
            count(true, sample.error_count),
            Cell::Flag(sample.flags.contains(SampleFlags::WARMUP)),
        ];
        // If the row of a JTL file is too short, the values of its last variables are unknown.
        let variables =
            (0..self.columns.len() - COLUMNS.len()).map(|at| Cell::Text(sample.variables.get(at).copied()));
        for (column, cell) in self.columns.iter_mut().zip(cells.into_iter().chain(variables)) {
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
    fn finish(mut self) -> Result<u64, ParquetError> {
        self.close_group()?;
        self.writer.close()?;
        Ok(self.written)
    }
}

fn schema(columns: &[(String, Content, bool)]) -> Result<Type, ParquetError> {
    let fields = columns.iter().map(|(name, content, optional)| {
        let (physical, logical) = match content {
            Content::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Content::Flag => (Physical::BOOLEAN, None),
            Content::Count => (Physical::INT32, None),
            Content::Number => (Physical::INT64, None),
            Content::Instant => (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::NANOS))),
        };
        let repetition = if *optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let field = Type::primitive_type_builder(name, physical);
        field.with_logical_type(logical).with_repetition(repetition).build().map(Arc::new)
    });
    Type::group_type_builder("sample").with_fields(fields.collect::<Result<_, _>>()?).build()
}

#[cfg(test)]
mod tests;
