//! The samples of a run as an Apache Parquet file with one row per sample, for DuckDB, pandas, Spark and others.
//!
//! Unknown values are null. For example, a JTL file contains no intended starts and may lack columns.

use std::io::{self, Write};

use busyhour_results::{ReadSettings, RecordReading, Results, ResultsInput, run_start_ms};
use busyhour_sample::{GroupName, Labels, RunNames, Sample, SampleFlags, SampleKind};
use parquet::errors::ParquetError;

use crate::ExportError;
use crate::csv_seconds::kind;
use crate::exported_samples::ExportedSamples;
use crate::parquet_columns::{Cell, ColumnSpec, Content, GROUP_ROWS, ParquetTable, cause};

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

/// Facts about all samples that are needed before the first row is written. They require a separate pass over the samples.
#[derive(Default)]
struct Facts {
    names: RunNames,
    /// Whether the input contains no intended starts, so that response times equal service times.
    only_actual_starts: bool,
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
        let only_actual_starts = results.only_actual_starts();
        if !only_actual_starts && results.tick_ns() > 1 {
            return Err(ExportError::Settings(
                "result files and run directories cannot be written to the same Parquet file, because only run directories \
                 contain intended starts; export them to separate files"
                    .into(),
            ));
        }
        let mut measured = Measured::default();
        let mut add_sample = |sample: &Sample<'_>| {
            measured.connect |= sample.times.connect_ns > 0;
            measured.latency |= sample.times.latency_ns > 0;
            measured.idle |= sample.times.idle_ns > 0;
            measured.bytes |= sample.sizes.bytes() > 0;
            measured.sent_bytes |= sample.sizes.sent_bytes > 0;
            measured.users_group |= sample.users.group > 0;
            measured.users_all |= sample.users.all > 0;
        };
        // The names of the groups of a JTL file are known only after all rows have been read.
        let names = results.read(&mut add_sample, &mut |_| {})?.names;
        if !only_actual_starts {
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
        Ok(Facts { names, only_actual_starts, measured })
    }
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

/// A file that is being written.
struct SamplesFile<W: Write + Send> {
    table: ParquetTable<W>,
    facts: Facts,
    labels: Labels,
    /// The names of groups as in thread names: `Shop 1`.
    groups: Vec<String>,
    origin_ns: i64,
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
        let columns: Vec<ColumnSpec> = COLUMNS
            .iter()
            .map(|(name, content, optional)| ((*name).to_owned(), *content, *optional))
            .chain(variables)
            .collect();
        let group = |group: &GroupName| match group.number {
            0 => group.name.clone(),
            number => format!("{} {number}", group.name),
        };
        Ok(SamplesFile {
            table: ParquetTable::new(writer, "sample", &columns, name, group_rows)?,
            groups: facts.names.groups.iter().map(group).collect(),
            facts,
            labels,
            origin_ns,
        })
    }

    fn sample(&mut self, sample: &Sample<'_>) -> Result<(), ParquetError> {
        let label = self.labels.name(sample.label);
        let group = self.groups.get(sample.group as usize);
        let at = |ns: u64| Some(self.origin_ns.saturating_add_unsigned(ns));
        let (two_clocks, measured) = (!self.facts.only_actual_starts, &self.facts.measured);
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
            (0..self.table.columns() - COLUMNS.len()).map(|at| Cell::Text(sample.variables.get(at).copied()));
        self.table.row(cells.into_iter().chain(variables))
    }

    /// Writes the end of the file; returns the number of rows.
    fn finish(self) -> Result<u64, ParquetError> {
        self.table.finish()
    }
}

#[cfg(test)]
mod tests;
