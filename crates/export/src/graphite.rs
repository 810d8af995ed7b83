//! Sends the metrics of JMeter's `GraphiteBackendListenerClient` in Graphite's plain text protocol.

use std::fmt::Write as _;

use busyhour_sample::{Snapshot, TimeCounts};

use crate::backend::{BackendSettings, Interval, Metric};
use crate::{ExportError, Exporter, Sender, TimeOrigin};

/// Sends the metrics of JMeter's listener: `PREFIXlabel.ok.count`, `.ko.…`, `.a.…` with `min`, `max`, `avg`, `pct…`, hits and
/// bytes. The metrics of all samples are under `all`, those of users under `test`.
///
/// Times are JMeter's `elapsed` in ms. Percentiles are those of the interval; JMeter uses the last 100 values.
pub struct GraphiteExporter<S> {
    sender: S,
    origin: TimeOrigin,
    settings: BackendSettings,
    prefix: String,
    interval: Interval,
}

impl<S: Sender> GraphiteExporter<S> {
    /// Creates an exporter that sends metrics to `sender`. Their names begin with `prefix` (JMeter: `jmeter.`).
    pub fn new(sender: S, origin: TimeOrigin, settings: BackendSettings, prefix: &str) -> Self {
        Self { sender, origin, settings, prefix: prefix.to_owned(), interval: Interval::default() }
    }

    fn lines(&self, interval: &Interval) -> String {
        let mut lines = Lines {
            out: String::new(),
            prefix: &self.prefix,
            at_s: self.origin.end_ms(interval.last).div_euclid(1_000),
        };
        for (label, metric) in &interval.labels {
            self.metric(&mut lines, &part(label), metric);
        }
        self.metric(&mut lines, "all", &interval.all);
        if let Some(users) = &interval.users {
            lines.add("test", "minAT", users.min);
            lines.add("test", "maxAT", users.max);
            lines.add("test", "meanAT", users.mean() as u64);
        }
        if let Some((started, ended)) = (self.settings.users)() {
            lines.add("test", "startedT", started);
            lines.add("test", "endedT", ended);
        }
        lines.out
    }

    fn metric(&self, lines: &mut Lines<'_>, context: &str, metric: &Metric) {
        if metric.total() == 0 {
            return;
        }
        lines.add(context, "ok.count", metric.passed);
        lines.add(context, "ko.count", metric.failed);
        lines.add(context, "a.count", metric.total());
        lines.add(context, "h.count", metric.hits);
        lines.add(context, "sb.bytes", metric.sent);
        lines.add(context, "rb.bytes", metric.received);
        let all = metric.all_times();
        for (kind, times) in [("ok", &metric.elapsed.passed), ("ko", &metric.elapsed.failed), ("a", &all)] {
            self.times(lines, context, kind, times);
        }
    }

    fn times(&self, lines: &mut Lines<'_>, context: &str, kind: &str, times: &TimeCounts) {
        let (Some(min), Some(max), Some(mean)) = (times.min_ms(), times.max_ms(), times.mean_ms()) else {
            return;
        };
        lines.add(context, &format!("{kind}.min"), format!("{min:?}"));
        lines.add(context, &format!("{kind}.max"), format!("{max:?}"));
        lines.add(context, &format!("{kind}.avg"), format!("{mean:?}"));
        for p in &self.settings.percentiles {
            if let Some(ms) = times.quantile_ms(p / 100.0) {
                // At most two decimals, and no decimal point, because a point would begin a new part of the name.
                let name = part(&((p * 100.0).round() / 100.0).to_string());
                lines.add(context, &format!("{kind}.pct{name}"), format!("{ms:?}"));
            }
        }
    }
}

struct Lines<'s> {
    out: String,
    prefix: &'s str,
    at_s: i64,
}

impl Lines<'_> {
    fn add(&mut self, context: &str, name: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.out, "{}{context}.{name} {value} {}", self.prefix, self.at_s);
    }
}

/// Escapes a part of a name: JMeter's replacements, and those of characters that would end the line.
fn part(text: &str) -> String {
    let replaced = text.chars().map(|c| match c {
        '\\' | ' ' => '-',
        '.' => '_',
        c if c.is_whitespace() || c.is_control() => '-',
        c => c,
    });
    replaced.collect()
}

impl<S: Sender> Exporter for GraphiteExporter<S> {
    fn second(&mut self, snapshot: &Snapshot) -> Result<(), ExportError> {
        match self.interval.second(snapshot, &self.settings) {
            Some(interval) => self.send(&interval),
            None => Ok(()),
        }
    }

    fn finish(&mut self) -> Result<(), ExportError> {
        match self.interval.rest() {
            Some(interval) => self.send(&interval),
            None => Ok(()),
        }
    }
}

impl<S: Sender> GraphiteExporter<S> {
    fn send(&mut self, interval: &Interval) -> Result<(), ExportError> {
        let text = self.lines(interval);
        if text.is_empty() { Ok(()) } else { self.sender.send(&text) }
    }
}
