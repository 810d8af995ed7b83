//! Sends the measurements of JMeter's `InfluxdbBackendListenerClient` in InfluxDB's line protocol.

use std::fmt::Write as _;

use busyhour_sample::{Snapshot, TimeCounts};

use crate::backend::{BackendSettings, Interval, Metric};
use crate::{ExportError, Exporter, Sender, TimeOrigin};

/// Sends the measurements of JMeter's listener: tags `application`, `transaction` and `statut` (JMeter's spelling), and fields
/// `count`, `avg`, `min`, `max`, `hit`, `sb`, `rb` and `pct…`. Users have the transaction `internal`; the start and the end of
/// the test are `events`.
///
/// Times are JMeter's `elapsed` in ms. Percentiles are those of the interval; JMeter uses the last 100 values.
pub struct InfluxExporter<S> {
    sender: S,
    origin: TimeOrigin,
    settings: BackendSettings,
    /// `measurement`, escaped for the line protocol.
    measurement: String,
    /// `,application=…`, escaped for the line protocol.
    application: String,
    title: String,
    event_tags: String,
    user_tags: String,
    interval: Interval,
    started: bool,
    /// The end of the last second, in ms since 1970.
    now_ms: i64,
}

/// The names in the points of a run.
#[derive(Debug, Clone, Copy)]
pub struct InfluxNames<'n> {
    /// Name of the measurement (JMeter: `jmeter`).
    pub measurement: &'n str,
    /// Value of the tag `application`.
    pub application: &'n str,
    /// Title of the test in the start and end events.
    pub title: &'n str,
    /// Tags of the events.
    pub event_tags: &'n str,
    /// Further tags of every point.
    pub tags: &'n [(String, String)],
}

impl<S: Sender> InfluxExporter<S> {
    /// An exporter that writes to `sender`.
    pub fn new(sender: S, origin: TimeOrigin, settings: BackendSettings, names: InfluxNames<'_>) -> Self {
        let InfluxNames { measurement, application, title, event_tags, tags } = names;
        Self {
            sender,
            origin,
            settings,
            measurement: tag(measurement),
            application: format!(",application={}", tag_value(application)),
            title: title.to_owned(),
            event_tags: tag(event_tags),
            user_tags: tags.iter().map(|(name, value)| format!(",{}={}", tag(name), tag(value))).collect(),
            interval: Interval::default(),
            started: false,
            now_ms: origin.wall_anchor_ms,
        }
    }

    fn start(&mut self) -> Result<(), ExportError> {
        if std::mem::replace(&mut self.started, true) {
            return Ok(());
        }
        let mut text = String::new();
        self.event(&mut text, "started", self.origin.wall_anchor_ms);
        self.sender.send(&text)
    }

    fn event(&self, out: &mut String, what: &str, at_ms: i64) {
        let Self { application, user_tags, event_tags, title, .. } = self;
        let tags = if event_tags.is_empty() { String::new() } else { format!(",tags={event_tags}") };
        let title = title.trim().replace('\\', "\\\\").replace('"', "\\\"");
        let _ = writeln!(
            out,
            "events{application},title=ApacheJMeter{user_tags}{tags} text=\"{title} {what}\" {at_ms}000000"
        );
    }

    fn lines(&self, interval: &Interval) -> String {
        let at_ms = self.origin.end_ms(interval.last);
        let mut out = String::new();
        for (label, metric) in &interval.labels {
            self.metric(&mut out, &tag_value(label), metric, at_ms);
        }
        let all = &interval.all;
        if all.total() > 0 {
            // The same combination as in JMeter: mean, minimum and maximum of samples that passed, percentiles of all samples.
            let mut fields = format!("count={},countError={}", all.total(), all.failed);
            mean_and_extremes(&mut fields, &all.elapsed.passed);
            let _ = write!(fields, ",hit={},sb={},rb={}", all.hits, all.sent, all.received);
            self.percentiles(&mut fields, &all.all_times());
            self.point(&mut out, "all,statut=all", &fields, at_ms);
        }
        let mut fields = Vec::new();
        if let Some(users) = &interval.users {
            fields.push(format!("minAT={},maxAT={},meanAT={}", users.min, users.max, users.mean() as u64));
        }
        if let Some((started, ended)) = (self.settings.users)() {
            fields.push(format!("startedT={started},endedT={ended}"));
        }
        if !fields.is_empty() {
            self.point(&mut out, "internal", &fields.join(","), at_ms);
        }
        out
    }

    fn point(&self, out: &mut String, transaction: &str, fields: &str, at_ms: i64) {
        let Self { measurement, application, user_tags, .. } = self;
        let _ = writeln!(
            out,
            "{measurement}{application},transaction={transaction}{user_tags} {fields} {at_ms}000000"
        );
    }

    fn metric(&self, out: &mut String, transaction: &str, metric: &Metric, at_ms: i64) {
        let all = metric.all_times();
        let parts = [
            ("all", metric.total(), &all),
            ("ok", metric.passed, &metric.elapsed.passed),
            ("ko", metric.failed, &metric.elapsed.failed),
        ];
        for (status, count, times) in parts.into_iter().filter(|(_, count, _)| *count > 0) {
            let mut fields = format!("count={count}");
            mean_and_extremes(&mut fields, times);
            let _ = write!(fields, ",hit={},sb={},rb={}", metric.hits, metric.sent, metric.received);
            self.percentiles(&mut fields, times);
            self.point(out, &format!("{transaction},statut={status}"), &fields, at_ms);
        }
        for failure in &metric.failures {
            let code = if failure.assertion { ASSERTION_FAILED } else { or(failure.code.trim(), "0") };
            let message = or(failure.message.trim(), "None");
            let tags = format!("{transaction},responseCode={},responseMessage={}", tag(code), tag(message));
            self.point(out, &tags, &format!("count={}", failure.errors), at_ms);
        }
    }

    fn percentiles(&self, fields: &mut String, times: &TimeCounts) {
        for p in &self.settings.percentiles {
            if let Some(ms) = times.quantile_ms(p / 100.0) {
                // Formatted like Java's `Float`: 99.0, not 99.
                let _ = write!(fields, ",pct{p:?}={ms:?}");
            }
        }
    }
}

/// JMeter's response code for a sample that an assertion failed.
const ASSERTION_FAILED: &str = "Assertion failed";

fn or<'t>(text: &'t str, otherwise: &'t str) -> &'t str {
    if text.is_empty() { otherwise } else { text }
}

fn mean_and_extremes(fields: &mut String, times: &TimeCounts) {
    if let (Some(mean), Some(min), Some(max)) = (times.mean_ms(), times.min_ms(), times.max_ms()) {
        let _ = write!(fields, ",avg={mean:?},min={min:?},max={max:?}");
    }
}

/// Escapes the key or value of a tag. A backslash at its end would escape the character that follows.
fn tag(text: &str) -> String {
    let text = text.trim().trim_end_matches('\\');
    text.replace(' ', "\\ ").replace(',', "\\,").replace('=', "\\=").replace('\n', "\\n").replace('\r', "")
}

/// Escapes the value of a tag, which must not be empty.
fn tag_value(text: &str) -> String {
    let text = tag(text);
    if text.is_empty() { "-".to_owned() } else { text }
}

impl<S: Sender> Exporter for InfluxExporter<S> {
    fn second(&mut self, snapshot: &Snapshot) -> Result<(), ExportError> {
        let started = self.start();
        self.now_ms = self.origin.end_ms(snapshot.second);
        if let Some(interval) = self.interval.second(snapshot, &self.settings) {
            let text = self.lines(&interval);
            if !text.is_empty() {
                self.sender.send(&text)?;
            }
        }
        started
    }

    fn finish(&mut self) -> Result<(), ExportError> {
        let started = self.start();
        let mut text = self.interval.rest().map(|interval| self.lines(&interval)).unwrap_or_default();
        self.event(&mut text, "ended", self.now_ms);
        self.sender.send(&text)?;
        started
    }
}
