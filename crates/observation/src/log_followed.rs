//! A log that is followed during a run: its input, its counts, its series.

use std::time::Duration;

use busyhour_logs::follow::Piece;
use busyhour_logs::{
    CollectorSettings, LogCollector, LoggedSource, OmittedGroups, Query, Redactor, RunClock, SourceId,
    StampOffset, StampSettings, Zone, find_offset,
};
use busyhour_observe::{Metric, ProbeError, Reading};
use busyhour_program::clock::Clock;

use crate::log_input::LogInput;
use crate::log_series::LogSeries;

static LINES: Metric = Metric::counter("busyhour_log_lines_total", "Lines that were read from the log.");
static BEHIND: Metric = Metric::gauge(
    "busyhour_log_behind_ratio",
    "1 if the log grows faster than it is read, and its newest lines are not counted yet; else 0.",
);

const NANOS_PER_SECOND: u64 = 1_000_000_000;
/// An open entry is complete if no line has arrived for this time.
const QUIET: Duration = Duration::from_millis(800);
/// Share of the interval after which a reading ends, even if there is more to read.
const BUSY_SHARE: f64 = 0.8;
/// These two limits bound the memory to about 30 MB for a log with the maximum number of templates.
const EXAMPLE_BYTES_MAX: usize = 2 * 1024;
const COUNTS_MAX: usize = 200_000;

/// How logs are read.
#[derive(Debug, Clone)]
pub(crate) struct FollowSettings {
    pub(crate) query: Query,
    /// The zone of stamps without an offset. If it is `None`, the offset is found from the times at which lines arrive.
    pub(crate) zone: Option<Zone>,
    pub(crate) redactor: Redactor,
}

/// A log that is followed.
#[derive(Debug)]
pub(crate) struct FollowedLog {
    input: LogInput,
    collector: LogCollector,
    source: SourceId,
    series: Option<LogSeries>,
    /// Whether the zone of the stamps has to be found.
    seeks_zone: bool,
    assumed_offset: Option<String>,
    start_unix_ns: i64,
    /// Time of the last lines, in ns since the start of the run.
    last_arrival_ns: u64,
    /// Second of the run at the last reading.
    last_s: u32,
    has_open_entries: bool,
}

impl FollowedLog {
    pub(crate) fn new(input: LogInput, clock: &Clock, settings: &FollowSettings) -> FollowedLog {
        let start_ms = i64::try_from(clock.wall_start_ms()).unwrap_or(i64::MAX);
        let start_unix_ns = start_ms.saturating_mul(1_000_000);
        let stamps = StampSettings { zone: settings.zone.clone(), near_unix_ns: start_unix_ns };
        let run_clock = RunClock { start_unix_ns, end_unix_ns: None };
        let mut collector = LogCollector::new(CollectorSettings {
            query: settings.query.clone(),
            example_bytes_max: EXAMPLE_BYTES_MAX,
            counts_max: COUNTS_MAX,
            ..CollectorSettings::new(stamps, run_clock, settings.redactor.clone())
        });
        let source = collector.add_source(input.envelope());
        FollowedLog {
            input,
            collector,
            source,
            series: None,
            seeks_zone: settings.zone.is_none(),
            assumed_offset: None,
            start_unix_ns,
            last_arrival_ns: 0,
            last_s: second_of(clock.now().0),
            has_open_entries: false,
        }
    }

    /// Reads the lines that have arrived, and records the seconds that have ended.
    pub(crate) fn read(&mut self, reading: &mut Reading<'_>) -> Result<(), ProbeError> {
        let is_behind = self.read_input(reading.clock(), reading.interval().mul_f64(BUSY_SHARE))?;
        let now_s = second_of(reading.clock().now().0);
        let lines = self.collector.lines() as f64;
        let ids = [&LINES, &BEHIND].map(|metric| reading.series(metric, &[]));
        reading.set(ids[0], lines);
        reading.set(ids[1], f64::from(u8::from(is_behind)));
        if let Some(series) = &mut self.series
            && !is_behind
        {
            series.record(reading, now_s, |template| self.collector.template_text(template));
        }
        Ok(())
    }

    /// Reads the lines that have arrived until the end of the run, and records all seconds.
    pub(crate) fn finish(&mut self, reading: &mut Reading<'_>) -> Result<(), ProbeError> {
        let result = match self.read_input(reading.clock(), LAST_READING) {
            Ok(false) => Ok(()),
            Ok(true) => Err(ProbeError::Missing {
                what: String::from("the end of the log"),
                advice: String::from("it grew faster than it was read, and its last lines are not counted"),
            }),
            Err(error) => Err(error),
        };
        let now_s = second_of(reading.time().0);
        let Some(series) = &mut self.series else { return result };
        self.collector.end_each(self.source, |entry| series.add(&entry, now_s));
        let lines = reading.series(&LINES, &[]);
        reading.set(lines, self.collector.lines() as f64);
        series.finish(reading, |template| self.collector.template_text(template));
        result
    }

    /// Reads for at most this time; returns whether there is more to read.
    fn read_input(&mut self, clock: &Clock, at_most: Duration) -> Result<bool, ProbeError> {
        let started = clock.now();
        let mut has_more = true;
        while has_more {
            let now = clock.now();
            if Duration::from_nanos(now.0.saturating_sub(started.0)) >= at_most {
                break;
            }
            let polled = self.poll(now.0);
            self.last_s = second_of(started.0);
            // A manual clock does not advance, so the time limit would never be reached. Therefore there is only one
            // poll.
            has_more = polled? && !clock.is_manual();
        }
        let quiet = clock.now().0.saturating_sub(self.last_arrival_ns);
        if self.has_open_entries
            && quiet >= QUIET.as_nanos() as u64
            && let Some(series) = &mut self.series
        {
            let now_s = second_of(clock.now().0);
            self.collector.complete_entries(self.source, |entry| series.add(&entry, now_s));
            self.has_open_entries = false;
        }
        Ok(has_more)
    }

    /// Reads a part; returns whether there is more to read.
    fn poll(&mut self, now_ns: u64) -> Result<bool, ProbeError> {
        let now_unix_ns =
            self.start_unix_ns.saturating_add(i64::try_from(now_ns).unwrap_or(i64::MAX - self.start_unix_ns));
        let now_s = second_of(now_ns);
        let envelope = self.input.envelope();
        let (collector, source) = (&mut self.collector, self.source);
        let (seeks_zone, assumed_offset) = (&mut self.seeks_zone, &mut self.assumed_offset);
        let (was_read, mut is_read) = (self.series.is_some(), false);
        // The series begin with the first reading that succeeds, because the counts before it are unknown.
        let mut series = self.series.take().unwrap_or_else(|| LogSeries::new(self.last_s));
        collector.set_arrival(now_unix_ns);
        let polled = self.input.poll(now_unix_ns, |piece| match piece {
            Piece::Begin => collector.end_each(source, |entry| series.add(&entry, now_s)),
            Piece::Bytes(bytes) => {
                is_read = true;
                if *seeks_zone {
                    match find_offset(bytes, envelope, now_unix_ns) {
                        StampOffset::Found(seconds) => {
                            let offset = offset_text(seconds);
                            if let Ok(zone) = Zone::named(&offset) {
                                collector.set_zone(source, zone);
                            }
                            (*assumed_offset, *seeks_zone) = (Some(offset), false);
                        }
                        StampOffset::Stated => *seeks_zone = false,
                        StampOffset::NotFound | StampOffset::NoStamp => {}
                    }
                }
                collector.read_each(source, bytes, |entry| series.add(&entry, now_s));
            }
        });
        if was_read || is_read || polled.is_ok() {
            self.series = Some(series);
        }
        if is_read {
            self.last_arrival_ns = now_ns;
            self.has_open_entries = true;
        }
        polled.map(|polled| polled.has_more)
    }

    /// The entry of the log in `logs.json`, for a run that has lasted this number of seconds.
    pub(crate) fn logged(&self, name: &str, length_s: f64) -> LoggedSource {
        let mut counts = self.collector.counts();
        counts.length_s = Some(length_s);
        LoggedSource {
            name: name.to_owned(),
            assumed_offset: self.assumed_offset.clone(),
            counts,
            omitted: OmittedGroups::default(),
        }
    }
}

/// Maximum time for reading the rest of a log at the end of a run.
const LAST_READING: Duration = Duration::from_secs(2);

fn second_of(time_ns: u64) -> u32 {
    u32::try_from(time_ns / NANOS_PER_SECOND).unwrap_or(u32::MAX)
}

/// `+02:00`
fn offset_text(seconds: i32) -> String {
    let sign = if seconds < 0 { '-' } else { '+' };
    let minutes = seconds.unsigned_abs() / 60;
    format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}
