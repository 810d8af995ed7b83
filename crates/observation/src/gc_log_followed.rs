//! A garbage-collection log that is followed during a run.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use busyhour_gclog::{GcLogReader, GcSummary};
use busyhour_logs::follow::Piece;
use busyhour_observe::{Metric, ProbeError, Reading};
use busyhour_sample::Nanos;

use crate::gc_log_clock::GcLogClock;
use crate::gc_log_files::GcLogFiles;
use crate::gc_log_series::GcLogSeries;

static UNCERTAINTY: Metric = Metric::gauge(
    "busyhour_gc_log_time_uncertainty_seconds",
    "Maximum error of the times of a log that has no wall times.",
);
static LINES: Metric =
    Metric::counter("busyhour_gc_log_lines_total", "Lines that were read from the garbage-collection log.");

/// Length in bytes of the beginning of a log in which the collector and the version of the JVM are looked up.
const HEAD_BYTES_MAX: u64 = 32 * 1024;
/// Maximum number of polls of one reading. Each reads up to 4 MiB.
const POLLS_MAX: usize = 8;

/// A garbage-collection log that is followed.
#[derive(Debug)]
pub(crate) struct FollowedGcLog {
    path: PathBuf,
    files: GcLogFiles,
    reader: GcLogReader,
    clock: GcLogClock,
    series: GcLogSeries,
    /// Number of events that have been recorded.
    recorded: usize,
    last_reading: Nanos,
    ends_with_line: bool,
}

impl FollowedGcLog {
    /// Follows a log from its current end, or from its beginning if it does not exist yet.
    pub(crate) fn new(path: &Path, wall_start_ms: u64, now: Nanos) -> FollowedGcLog {
        FollowedGcLog {
            path: path.to_owned(),
            files: GcLogFiles::open(path),
            reader: GcLogReader::new(),
            clock: GcLogClock::new(wall_start_ms),
            series: GcLogSeries::default(),
            recorded: 0,
            last_reading: now,
            ends_with_line: true,
        }
    }

    /// Reads the lines that have arrived, and records their events.
    pub(crate) fn read(&mut self, reading: &mut Reading<'_>) -> Result<(), ProbeError> {
        let polled = self.poll();
        let now = reading.clock().now();
        for event in self.reader.events().get(self.recorded..).unwrap_or_default() {
            self.clock.align(&event.stamp, self.last_reading, now);
        }
        self.last_reading = now;
        polled?;
        let is_unified = self.reader.is_unified();
        for event in self.reader.events().get(self.recorded..).unwrap_or_default() {
            let time = self.clock.place(&event.stamp);
            self.series.add(reading, event, (time, is_unified), self.reader.cause(event));
        }
        self.recorded = self.reader.events().len();
        self.series.record(reading);
        let lines = reading.series(&LINES, &[]);
        reading.set(lines, self.reader.lines().total as f64);
        let has_wall = self.reader.events().last().is_some_and(|event| event.stamp.wall_ms.is_some());
        if let (Some(uncertainty_s), false) = (self.clock.uncertainty_s(), has_wall) {
            let id = reading.series(&UNCERTAINTY, &[]);
            reading.set(id, uncertainty_s);
        }
        Ok(())
    }

    fn poll(&mut self) -> Result<(), ProbeError> {
        let (reader, ends_with_line) = (&mut self.reader, &mut self.ends_with_line);
        for _ in 0..POLLS_MAX {
            let polled = self.files.poll(|piece| match piece {
                Piece::Begin if !*ends_with_line => reader.feed(b"\n"),
                Piece::Begin => {}
                Piece::Bytes(bytes) => {
                    *ends_with_line = matches!(bytes.last(), Some(b'\n' | b'\r'));
                    reader.feed(bytes);
                }
            })?;
            if !polled.has_more {
                break;
            }
        }
        if self.files.was_seen() {
            return Ok(());
        }
        Err(ProbeError::Missing {
            what: format!("the garbage-collection log {}", self.path.display()),
            advice: String::from(
                "it does not exist yet and is read as soon as it does (-Xlog:gc*:file=PATH)",
            ),
        })
    }

    /// The figures of the part of the log within the run; `None` if it has no event. The log must not be read afterwards.
    pub(crate) fn summarise(&mut self) -> Option<SummarisedGcLog> {
        let mut log = std::mem::take(&mut self.reader).finish();
        self.recorded = 0;
        // The lines that name collector and version are at the beginning of the log, which may be before the run.
        if log.collector.is_none() || log.jvm_version.is_none() {
            let head = head(self.files.path());
            log.collector = log.collector.or(head.collector);
            log.jvm_version = log.jvm_version.or(head.jvm_version);
        }
        let origin = log.events.iter().find_map(|event| {
            let placed = self.clock.place(&event.stamp)?;
            Some((placed.time_s - log.time_s(event)?, placed.uncertainty_s))
        });
        (!log.events.is_empty()).then(|| SummarisedGcLog {
            origin_s: origin.map(|(origin_s, _)| origin_s),
            uncertainty_s: origin.and_then(|(_, uncertainty_s)| uncertainty_s),
            summary: GcSummary::of(&log),
        })
    }
}

/// The figures of a log within a run.
#[derive(Debug)]
pub(crate) struct SummarisedGcLog {
    /// Time of second 0 of the log's clock, in seconds since the start of the run; `None` if it is unknown.
    pub(crate) origin_s: Option<f64>,
    /// Maximum error of `origin_s` in seconds; `None` if it comes from wall times.
    pub(crate) uncertainty_s: Option<f64>,
    /// The figures.
    pub(crate) summary: GcSummary,
}

/// The beginning of a log; an empty log if it cannot be read.
fn head(path: &Path) -> busyhour_gclog::GcLog {
    let mut bytes = Vec::new();
    let mut reader = GcLogReader::new();
    if let Ok(file) = File::open(path)
        && file.take(HEAD_BYTES_MAX).read_to_end(&mut bytes).is_ok()
    {
        reader.feed(&bytes);
    }
    reader.finish()
}
