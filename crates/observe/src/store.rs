//! Stores readings: the latest values in memory, and all values in the file.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use busyhour_record::RunPart;
use busyhour_redaction::Redactor;
use busyhour_sample::Nanos;
use busyhour_series::{
    FileStart, LABEL_BYTES_MAX, LABELS_MAX, LatestValue, Mark, Metric, MetricKind, REASON_BYTES_MAX,
    SERIES_FILE_NAME, SERIES_MAX, SERIES_VERSION, SeriesEncoder, SourceState, shorten,
};
use rustc_hash::FxHashMap;

use crate::series_id::{Pending, SeriesId, SourceId};
use crate::series_key::write_key;
use crate::status::{RecordedMark, SourceChange, SourceStatus, UnavailableMetric, WatchStatus};

/// The largest number of sources of a watch.
const SOURCES_MAX: usize = 10_000;

/// The largest number of reasons for missing metrics, over all sources.
const REASONS_MAX: usize = 1_000;

/// The number of marks that are kept for live views; the file contains all.
const MARKS_MAX: usize = 1_000;

/// The series of a watch: the latest value of each, and the file to which all readings are appended. Clones share the content.
#[derive(Clone)]
pub struct SeriesStore {
    content: Arc<Mutex<Content>>,
    changes: Arc<Mutex<Option<ChangeSink>>>,
}

/// Called with the name of a source whose state changed, and the change.
type ChangeSink = Box<dyn FnMut(&str, &SourceChange) + Send>;

impl std::fmt::Debug for SeriesStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SeriesStore").finish_non_exhaustive()
    }
}

struct Content {
    file: Option<Box<dyn Write + Send>>,
    encoder: SeriesEncoder,
    /// Encoded bytes that are not written yet.
    buffer: Vec<u8>,
    sources: Vec<Source>,
    series: Vec<Series>,
    series_max: usize,
    marks: VecDeque<RecordedMark>,
    marks_recorded: u64,
    unavailable: Vec<UnavailableMetric>,
    series_refused: u64,
    marks_discarded: u64,
    reasons_discarded: u64,
    file_error: Option<String>,
    /// Values of the reading that is being encoded; reused.
    numbered: Vec<(Nanos, u32, f64)>,
    /// Key of the series that is being looked up; reused.
    key: Vec<u8>,
    /// Removes secrets from texts of the watched programs: labels, marks, reasons.
    redactor: Redactor,
}

struct Source {
    status: SourceStatus,
    has_failed: bool,
    series: FxHashMap<Box<[u8]>, SeriesId>,
    unavailable: FxHashMap<Box<str>, ()>,
}

struct Series {
    source: Arc<str>,
    name: Arc<str>,
    kind: MetricKind,
    help: Arc<str>,
    labels: Arc<[(String, String)]>,
    latest: Option<(Nanos, f64)>,
}

impl SeriesStore {
    /// A store without a file: for live views only, and for tests.
    #[must_use]
    pub fn in_memory() -> SeriesStore {
        SeriesStore::new(None)
    }

    /// A store that appends to a new file in a run directory. The file must not exist.
    ///
    /// # Errors
    /// The file exists or cannot be written.
    pub fn create(run_dir: &Path, start: &FileStart) -> io::Result<SeriesStore> {
        let file = File::options().append(true).create_new(true).open(run_dir.join(SERIES_FILE_NAME))?;
        SeriesStore::to_writer(Box::new(file), start)
    }

    /// A store that appends to a writer, which receives one call of `write_all` per reading.
    ///
    /// # Errors
    /// The head of the file cannot be written.
    pub fn to_writer(mut file: Box<dyn Write + Send>, start: &FileStart) -> io::Result<SeriesStore> {
        let mut head = Vec::new();
        let mut encoder = SeriesEncoder::default();
        encoder.start(&mut head, start);
        file.write_all(&head)?;
        let store = SeriesStore::new(Some(file));
        store.lock().encoder = encoder;
        Ok(store)
    }

    fn new(file: Option<Box<dyn Write + Send>>) -> SeriesStore {
        let content = Content {
            file,
            encoder: SeriesEncoder::default(),
            buffer: Vec::new(),
            sources: Vec::new(),
            series: Vec::new(),
            series_max: SERIES_MAX,
            marks: VecDeque::new(),
            marks_recorded: 0,
            unavailable: Vec::new(),
            series_refused: 0,
            marks_discarded: 0,
            reasons_discarded: 0,
            file_error: None,
            numbered: Vec::new(),
            key: Vec::new(),
            redactor: Redactor::standard(),
        };
        SeriesStore { content: Arc::new(Mutex::new(content)), changes: Arc::default() }
    }

    /// Calls `sink` when a source is read for the first time, and when it fails for the first time. Probes wait for the call.
    pub fn on_change(&self, sink: impl FnMut(&str, &SourceChange) + Send + 'static) {
        *self.changes.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(sink));
    }

    /// The entry of the file in the manifest of a run.
    #[must_use]
    pub fn part() -> RunPart {
        RunPart::new("series", SERIES_FILE_NAME, SERIES_VERSION)
    }

    /// Keeps secrets in the texts that are recorded from now on, if the user requests this. Without this call, secrets
    /// are removed from the values of labels, the texts of marks and the reasons of errors, because these may contain
    /// command lines, addresses and answers of servers.
    pub fn keep_secrets(&self) {
        self.lock().redactor = Redactor::keeping_secrets();
    }

    /// Changes the limit on the number of series, which is [`SERIES_MAX`] by default. Series that exist remain.
    pub fn set_series_max(&self, series_max: usize) {
        self.lock().series_max = series_max.min(busyhour_series::DECLARED_SERIES_MAX);
    }

    /// The latest value of each series that has one, in the order of declaration.
    #[must_use]
    pub fn latest(&self) -> Vec<LatestValue> {
        self.latest_of(|_| true)
    }

    /// The latest values of the metrics that `is_wanted` selects by name.
    #[must_use]
    pub fn latest_of(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<LatestValue> {
        let content = self.lock();
        let wanted = content.series.iter().filter(|series| is_wanted(&series.name));
        let values = wanted.filter_map(|series| {
            let (time, value) = series.latest?;
            Some(LatestValue {
                source: series.source.clone(),
                name: series.name.clone(),
                kind: series.kind,
                help: series.help.clone(),
                labels: series.labels.clone(),
                time,
                value,
            })
        });
        values.collect()
    }

    /// The marks after the first `seen` ones, and the number of all marks so far, to be passed as `seen` next time. Only the last
    /// 1,000 marks are kept.
    #[must_use]
    pub fn marks_since(&self, seen: u64) -> (Vec<RecordedMark>, u64) {
        let content = self.lock();
        let missing = usize::try_from(content.marks_recorded.saturating_sub(seen)).unwrap_or(usize::MAX);
        let skip = content.marks.len().saturating_sub(missing);
        (content.marks.iter().skip(skip).cloned().collect(), content.marks_recorded)
    }

    /// The states of sources, missing metrics, and the numbers of items that the limits discarded.
    #[must_use]
    pub fn status(&self) -> WatchStatus {
        let content = self.lock();
        WatchStatus {
            sources: content.sources.iter().map(|source| source.status.clone()).collect(),
            unavailable: content.unavailable.clone(),
            series: content.series.len(),
            series_refused: content.series_refused,
            marks_discarded: content.marks_discarded,
            reasons_discarded: content.reasons_discarded,
            file_error: content.file_error.clone(),
        }
    }

    /// Records a mark of a source that is not a probe, such as the user.
    pub fn mark(&self, source: &str, mark: Mark) {
        let source = self.source(source, mark.from);
        let mut content = self.lock();
        content.record_mark(source, mark);
        content.write();
    }

    /// Declares a source, or finds the one with this name.
    pub(crate) fn source(&self, name: &str, time: Nanos) -> SourceId {
        let mut content = self.lock();
        let name = shorten(name, LABEL_BYTES_MAX);
        let known = content.sources.iter().position(|source| &*source.status.source == name);
        // Sources beyond the limit share the last one.
        let known = known.or((content.sources.len() == SOURCES_MAX).then_some(SOURCES_MAX - 1));
        if let Some(known) = known {
            return SourceId(known as u32);
        }
        content.sources.push(Source {
            status: SourceStatus {
                source: name.into(),
                state: SourceState::Watching,
                since: time,
                was_read: false,
            },
            has_failed: false,
            series: FxHashMap::default(),
            unavailable: FxHashMap::default(),
        });
        let Content { encoder, buffer, .. } = &mut *content;
        SourceId(encoder.source(buffer, name))
    }

    /// Declares a series, or finds the one with this name and these labels.
    pub(crate) fn series(&self, source: SourceId, metric: &Metric, labels: &[(&str, &str)]) -> SeriesId {
        let mut content = self.lock();
        let content = &mut *content;
        write_key(&mut content.key, metric, labels);
        let of_source = &mut content.sources[source.0 as usize];
        if let Some(known) = of_source.series.get(content.key.as_slice()) {
            return *known;
        }
        if content.series.len() >= content.series_max {
            content.series_refused += 1;
            return SeriesId::DISCARDED;
        }
        let redacted: Vec<(&str, String)> =
            labels.iter().map(|(name, value)| (*name, content.redactor.redact(value))).collect();
        let labels: Vec<(&str, &str)> =
            redacted.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let id = SeriesId(content.encoder.series(&mut content.buffer, source.0, metric, &labels));
        of_source.series.insert(content.key.as_slice().into(), id);
        let short = |text: &str| shorten(text, LABEL_BYTES_MAX).to_owned();
        let labels = labels.iter().take(LABELS_MAX).map(|(name, value)| (short(name), short(value)));
        content.series.push(Series {
            source: of_source.status.source.clone(),
            name: shorten(&metric.name, LABEL_BYTES_MAX).into(),
            kind: metric.kind,
            help: shorten(&metric.help, LABEL_BYTES_MAX).into(),
            labels: labels.collect(),
            latest: None,
        });
        id
    }

    /// Records why a metric has no values, once.
    pub(crate) fn unavailable(&self, source: SourceId, time: Nanos, metric: &str, reason: &str) {
        let mut content = self.lock();
        let content = &mut *content;
        let metric = shorten(metric, LABEL_BYTES_MAX);
        let of_source = &mut content.sources[source.0 as usize];
        if of_source.unavailable.contains_key(metric) {
            return;
        }
        if content.unavailable.len() == REASONS_MAX {
            content.reasons_discarded += 1;
            return;
        }
        of_source.unavailable.insert(metric.into(), ());
        let reason = content.redactor.redact(reason);
        let reason = shorten(&reason, REASON_BYTES_MAX);
        content.encoder.unavailable(&mut content.buffer, source.0, time, metric, reason);
        content.unavailable.push(UnavailableMetric {
            source: of_source.status.source.clone(),
            metric: metric.to_owned(),
            reason: reason.to_owned(),
            time,
        });
    }

    pub(crate) fn count_discarded_mark(&self) {
        self.lock().marks_discarded += 1;
    }

    /// Records the state of a source after a reading, unless the source is already in this state. A different reason alone is not
    /// a change.
    pub(crate) fn set_state(&self, source: SourceId, time: Nanos, state: SourceState) {
        let mut content = self.lock();
        let state = match state {
            SourceState::Watching => SourceState::Watching,
            SourceState::Failed(reason) => SourceState::Failed(content.redactor.redact(&reason)),
            SourceState::Ended(reason) => SourceState::Ended(content.redactor.redact(&reason)),
        };
        let change = content.sources[source.0 as usize].change(&state);
        let name = content.sources[source.0 as usize].status.source.clone();
        content.set_state(source, time, state);
        drop(content);
        if let Some(change) = change
            && let Some(sink) = &mut *self.changes.lock().unwrap_or_else(PoisonError::into_inner)
        {
            sink(&name, &change);
        }
    }

    /// Stores the values and marks of a reading, and writes them to the file.
    pub(crate) fn commit(&self, source: SourceId, pending: &mut Pending) {
        let mut content = self.lock();
        let content = &mut *content;
        content.numbered.clear();
        for (time, id, value) in pending.values.drain(..) {
            if let Some(series) = content.series.get_mut(id.0 as usize) {
                series.latest = Some((time, value));
                content.numbered.push((time, id.0, value));
            }
        }
        content.encoder.values(&mut content.buffer, &content.numbered);
        for mark in pending.marks.drain(..) {
            content.record_mark(source, mark);
        }
        content.write();
    }

    fn lock(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Source {
    /// The change that is reported after a reading with this outcome; `None` if there is none.
    fn change(&mut self, state: &SourceState) -> Option<SourceChange> {
        match state {
            SourceState::Watching => {
                (!std::mem::replace(&mut self.status.was_read, true)).then_some(SourceChange::Read)
            }
            SourceState::Failed(reason) | SourceState::Ended(reason) => {
                let was_read = self.status.was_read;
                let is_first = !std::mem::replace(&mut self.has_failed, true);
                is_first.then(|| SourceChange::Failed { reason: reason.clone(), was_read })
            }
        }
    }
}

impl Content {
    fn set_state(&mut self, source: SourceId, time: Nanos, state: SourceState) {
        let status = &mut self.sources[source.0 as usize].status;
        if std::mem::discriminant(&status.state) != std::mem::discriminant(&state) {
            self.encoder.state(&mut self.buffer, source.0, time, &state);
            (status.state, status.since) = (state, time);
        }
    }

    fn record_mark(&mut self, source: SourceId, mark: Mark) {
        let mark = Mark { text: self.redactor.redact(&mark.text), ..mark };
        self.encoder.mark(&mut self.buffer, source.0, &mark);
        if self.marks.len() == MARKS_MAX {
            self.marks.pop_front();
        }
        self.marks_recorded += 1;
        let source = self.sources[source.0 as usize].status.source.clone();
        self.marks.push_back(RecordedMark { source, mark });
    }

    /// Writes the encoded bytes. After an error the file is not written any more: readers cannot read beyond an
    /// incomplete frame.
    fn write(&mut self) {
        if let Some(file) = &mut self.file
            && let Err(error) = file.write_all(&self.buffer)
        {
            self.file_error = Some(error.to_string());
            self.file = None;
        }
        self.buffer.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reading_and_the_first_failure_of_a_source_are_reported() {
        let store = SeriesStore::in_memory();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let changes = seen.clone();
        store.on_change(move |source, change| {
            changes.lock().unwrap().push((source.to_owned(), change.clone()))
        });
        let source = store.source("mysql://shop", Nanos(0));
        let failed = || SourceState::Failed("refused, password=secret".into());
        for state in [failed(), failed(), SourceState::Watching, failed(), SourceState::Watching] {
            store.set_state(source, Nanos(1), state);
        }
        let of = |change| ("mysql://shop".to_owned(), change);
        let reason = "refused, password=[redacted]".to_owned();
        let expected = [of(SourceChange::Failed { reason, was_read: false }), of(SourceChange::Read)];
        assert_eq!(*seen.lock().unwrap(), expected);
        assert!(store.status().sources[0].was_read);
    }
}
