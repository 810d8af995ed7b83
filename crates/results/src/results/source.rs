//! Reads one input.

use std::fs::File;
use std::io::{BufReader, Cursor, Read as _};

use busyhour_imports::{Detected, ImportedSample, SampleForm, SampleReader, Step as ImportStep};
use busyhour_sample::{Labels, Nanos, RunNames, SampleKind, UserCounts};

use super::input::{ResultsFrom, ResultsInput};
use super::run::RunSamples;
use super::sample_fields::{RowResult, RowSamples, SampleColumns};
use super::settings::ReadSettings;
use super::visitor::Visitor;
use super::xml::{Step, XmlSamples};
use crate::imported::{ImportedSamples, ImportedStep};
use crate::input_facts::InputFacts;
use crate::jtl_scan::{Columns, CsvRows, HEAD_MAX, LogError, LogForm};
use crate::unpack::{Bytes, ReadBytes, unpacked};

/// Maximum number of rows that are read between two reports of progress.
const ROWS_AT_ONCE: usize = 8_192;

/// One input.
pub(super) struct Source {
    rows: Rows,
    /// The earliest start in the first rows, or the start of the run if it is known, in ns since 1970.
    pub(super) first_ns: Option<i64>,
    pub(super) facts: InputFacts,
    /// The latest end of a sample so far.
    pub(super) latest_end: Nanos,
    pub(super) users: UserCounts,
    pub(super) ended: bool,
    /// Size of the file in bytes; `None` for a stream.
    pub(super) bytes: Option<u64>,
    /// Number of bytes read so far.
    pub(super) read: ReadBytes,
}

enum Rows {
    Csv(Box<(CsvRows<Bytes>, RowSamples)>),
    Xml(Box<XmlSamples<BufReader<Bytes>>>),
    Run(Box<RunSamples>),
    Imported(Box<ImportedSamples<Bytes>>),
}

impl Source {
    pub(super) fn open(
        input: ResultsInput,
        settings: &ReadSettings,
        labels: &Labels,
    ) -> Result<Source, LogError> {
        let (bytes, raw): (Option<u64>, Bytes) = match input.from {
            ResultsFrom::Stream(stream) => (None, stream),
            ResultsFrom::Path(path) => {
                let mut path = path;
                if std::fs::metadata(&path)?.is_dir() {
                    path = busyhour_record::RunDir::open(path).samples_path();
                    if !path.exists() {
                        return Err(LogError::NoRun);
                    }
                }
                let file = File::open(path)?;
                let found = file.metadata()?;
                (found.is_file().then_some(found.len()), Box::new(file))
            }
        };
        let (mut input_bytes, packing, read) = unpacked(raw)?;
        let mut head = Vec::new();
        (&mut input_bytes).take(HEAD_MAX).read_to_end(&mut head)?;
        let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head);
        let begin = text.trim_ascii_start();
        let ends = settings.stamps_are_ends;
        let whole = |head: Vec<u8>| -> Bytes { Box::new(Cursor::new(head).chain(input_bytes)) };
        let (form, rows, first_ns) = if head.starts_with(busyhour_record::SAMPLES_MAGIC) {
            let run = RunSamples::new(whole(head), labels.clone())?;
            let anchor_ns = run.anchor_ns();
            (LogForm::Run, Rows::Run(Box::new(run)), Some(anchor_ns))
        } else if begin.is_empty() {
            return Err(LogError::Empty);
        } else if let Some(detected) = busyhour_imports::detect(&head) {
            let form = match detected {
                Detected::Samples(form) => form,
                Detected::Aggregate(format) => return Err(LogError::Aggregate(format)),
                Detected::Unsupported(format) => return Err(LogError::Unsupported(format)),
            };
            let first_ns = first_of_imported(&head, form);
            let samples = ImportedSamples::new(form, whole(head), labels.clone());
            (LogForm::Imported(form), Rows::Imported(Box::new(samples)), first_ns)
        } else if begin.starts_with(b"<") {
            let first_ns = first_of_xml(&head, ends);
            let input = BufReader::with_capacity(1 << 18, whole(head));
            (LogForm::Xml, Rows::Xml(Box::new(XmlSamples::new(input, labels.clone(), ends))), first_ns)
        } else {
            let columns = columns(text, settings)?;
            let form = LogForm::Csv { names: columns.named, columns: columns.count };
            let first_ns = first_of_csv(&head, &columns, ends);
            let places = SampleColumns::new(&columns, settings.all_columns, settings.groups, ends);
            let rows = CsvRows::new(whole(head), columns.delimiter, columns.named, places.last());
            (form, Rows::Csv(Box::new((rows, RowSamples::new(places, labels.clone())))), first_ns)
        };
        Ok(Source {
            rows,
            first_ns,
            facts: InputFacts::new(input.name, form, packing),
            latest_end: Nanos::ZERO,
            users: UserCounts::of_file(),
            ended: false,
            bytes,
            read,
        })
    }

    /// The start of the run in ns since 1970, if the input is a run directory.
    pub(super) fn run_anchor_ns(&self) -> Option<i64> {
        match &self.rows {
            Rows::Run(run) => Some(run.anchor_ns()),
            Rows::Csv(_) | Rows::Xml(_) | Rows::Imported(_) => None,
        }
    }

    /// Reads until a sample ends after `until`, but at most [`ROWS_AT_ONCE`] rows.
    pub(super) fn advance(
        &mut self,
        origin_ns: i64,
        until: Nanos,
        visitor: &mut Visitor<'_>,
    ) -> Result<(), LogError> {
        for _ in 0..ROWS_AT_ONCE {
            if !self.step(origin_ns, visitor)? {
                self.ended = true;
                break;
            }
            if self.latest_end > until {
                break;
            }
        }
        Ok(())
    }

    /// Reads a CSV row, an XML sample or a segment of a samples file; returns false at the end.
    #[inline]
    fn step(&mut self, origin_ns: i64, visitor: &mut Visitor<'_>) -> Result<bool, LogError> {
        let facts = &mut self.facts;
        match &mut self.rows {
            Rows::Csv(csv) => {
                let (rows, samples) = &mut **csv;
                let Some(row) = rows.next(&mut |_| {})? else {
                    facts.cut_at = rows.cut_at();
                    return Ok(false);
                };
                let users = &mut self.users;
                let see = |sample: &busyhour_sample::Sample<'_>| {
                    users.sample(sample, SampleKind::of(sample.flags) == SampleKind::Request);
                    (visitor.sample)(sample);
                };
                let found = match samples.columns.all {
                    true => samples.take::<true>(&row, origin_ns, see),
                    false => samples.take::<false>(&row, origin_ns, see),
                };
                match found {
                    RowResult::Sample { end } => {
                        facts.add(1, end);
                        self.latest_end = self.latest_end.max(end);
                    }
                    RowResult::Names => {}
                    RowResult::Bad(row) => facts.add_bad_row(row),
                }
            }
            Rows::Xml(xml) => match xml.next()? {
                Step::Whole(read) => {
                    let users = &mut self.users;
                    let mut see = |sample: &busyhour_sample::Sample<'_>| {
                        users.sample(sample, SampleKind::of(sample.flags) == SampleKind::Request);
                        (visitor.sample)(sample);
                    };
                    match xml.emit(&read, origin_ns, &mut see) {
                        Ok((end, samples)) => {
                            facts.add(samples, end);
                            self.latest_end = self.latest_end.max(end);
                        }
                        Err(row) => facts.add_bad_row(row),
                    }
                }
                Step::Bad(row) => facts.add_bad_row(row),
                Step::End { cut_at } => {
                    facts.cut_at = cut_at;
                    return Ok(false);
                }
            },
            Rows::Imported(imported) => {
                let users = &mut self.users;
                let mut see = |sample: &busyhour_sample::Sample<'_>| {
                    users.sample(sample, true);
                    (visitor.sample)(sample);
                };
                match imported.next(origin_ns, &mut see)? {
                    ImportedStep::Sample { end } => {
                        facts.add(1, end);
                        self.latest_end = self.latest_end.max(end);
                    }
                    ImportedStep::Bad(row) => facts.add_bad_row(row),
                    ImportedStep::End { cut_at } => {
                        (facts.cut_at, facts.dropped) = (cut_at, imported.notes().dropped);
                        return Ok(false);
                    }
                }
            }
            Rows::Run(run) => match run.next(origin_ns, visitor, &mut self.users)? {
                Some((samples, end)) => {
                    facts.add(samples, end);
                    self.latest_end = self.latest_end.max(end);
                }
                None => {
                    facts.cut_at = run.cut_at();
                    return Ok(false);
                }
            },
        }
        Ok(true)
    }

    /// Facts about the input, and the names in it.
    pub(super) fn finish(self) -> (InputFacts, RunNames, UserCounts) {
        let names = match self.rows {
            Rows::Csv(csv) => {
                let samples = csv.1;
                let variables = samples.columns.variables.into_iter().map(|(name, _)| name).collect();
                RunNames {
                    groups: samples.groups.names,
                    variables,
                    hostname: samples.hostname,
                    ..RunNames::default()
                }
            }
            Rows::Xml(xml) => RunNames {
                groups: xml.groups.names,
                variables: xml.variables,
                hostname: xml.hostname,
                ..RunNames::default()
            },
            Rows::Imported(imported) => RunNames { groups: imported.group_names, ..RunNames::default() },
            Rows::Run(run) => run.into_names(),
        };
        (self.facts, names, self.users)
    }
}

/// The columns of a CSV file: from its first line, from the settings, or from JMeter's default formats.
fn columns(text: &[u8], settings: &ReadSettings) -> Result<Columns, LogError> {
    match (Columns::of(text), &settings.unnamed) {
        (Ok(columns), _) if columns.named => Ok(columns),
        (Err(error @ LogError::Column(_)), _) => Err(error),
        (_, Some(config)) => Columns::of_config(config, text),
        (found, None) => found,
    }
}

/// The earliest start in the rows of `head`.
fn first_of_csv(head: &[u8], columns: &Columns, stamps_are_ends: bool) -> Option<i64> {
    let places = SampleColumns::new(columns, false, false, stamps_are_ends);
    let mut rows = CsvRows::new(head, columns.delimiter, columns.named, places.last());
    let mut samples = RowSamples::new(places, Labels::new());
    let mut first_ns: Option<i64> = None;
    while let Ok(Some(row)) = rows.next(&mut |_| {}) {
        let see = |sample: &busyhour_sample::Sample<'_>| {
            let start_ns = i64::try_from(sample.times.start.0).ok();
            first_ns = [first_ns, start_ns].into_iter().flatten().min();
        };
        samples.take::<false>(&row, 0, see);
    }
    first_ns
}

/// The earliest start in the samples of `head`.
fn first_of_imported(head: &[u8], form: SampleForm) -> Option<i64> {
    let mut reader = SampleReader::new(form, head);
    let mut sample = ImportedSample::default();
    let mut first_ns: Option<i64> = None;
    loop {
        match reader.read(&mut sample) {
            Ok(ImportStep::Sample) => {
                first_ns = Some(first_ns.map_or(sample.start_ns, |first_ns| first_ns.min(sample.start_ns)));
            }
            Ok(ImportStep::Bad(_)) => {}
            Ok(ImportStep::End { .. }) | Err(_) => return first_ns,
        }
    }
}

fn first_of_xml(head: &[u8], stamps_are_ends: bool) -> Option<i64> {
    let mut samples = XmlSamples::new(head, Labels::new(), stamps_are_ends);
    let mut first_ns: Option<i64> = None;
    loop {
        match samples.next() {
            Ok(Step::Whole(read)) => {
                first_ns = Some(first_ns.map_or(read.start_ns(), |first_ns| first_ns.min(read.start_ns())));
            }
            Ok(Step::Bad(_)) => {}
            Ok(Step::End { .. }) | Err(_) => return first_ns,
        }
    }
}
