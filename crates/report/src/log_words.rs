//! Sentences about application logs, shared by the terminal and the page.

use std::collections::BTreeMap;

use busyhour_logs::{Difference, EntrySeverity, LogCounts, TooShortLogs, Zone};

use crate::numbers::{counted, duration, thousands};

/// The counts of a log with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedLog {
    /// The name for headings: the path of the log, or of its first file.
    pub name: String,
    /// The counts.
    pub counts: LogCounts,
    /// Entries in the counted time by severity; `None` for entries without a stated severity.
    pub severities: BTreeMap<Option<EntrySeverity>, u64>,
    /// Whether its entries have times.
    pub has_times: bool,
}

impl NamedLog {
    /// Number of entries in the counted time.
    #[must_use]
    pub fn entries_in_time(&self) -> u64 {
        self.severities.values().sum()
    }

    /// The time of day of a second of the counts, in this zone. The date is included if the log covers more than twelve hours.
    #[must_use]
    pub fn time_of_day(&self, second: u32, zone: &Zone) -> String {
        let since_start_ns = i64::from(second) * 1_000_000_000;
        let shown = zone.show(self.counts.start_unix_ns.saturating_add(since_start_ns));
        let has_days = self.counts.length_s.is_some_and(|length_s| length_s > 12.0 * 3_600.0);
        match shown.split_once(' ') {
            Some((_, time)) if !has_days => time.to_owned(),
            Some(_) | None => shown,
        }
    }
}

/// A number of entries: `1 entry`, `1,100 entries`.
#[must_use]
pub fn log_entries(count: u64) -> String {
    if count == 1 { "1 entry".to_owned() } else { format!("{} entries", thousands(count)) }
}

/// `1,234 lines, 1,100 entries from 2024-03-18 10:00:00 to 10:15:02 (15 min 02 s)`
#[must_use]
pub fn log_extent(log: &NamedLog, zone: &Zone) -> String {
    let counts = &log.counts;
    let lines = format!("{}, {}", counted(counts.lines, "line"), log_entries(counts.entries));
    let Some(length_s) = counts.length_s.filter(|_| log.has_times) else {
        return format!("{lines}, without times");
    };
    let from = zone.show(counts.start_unix_ns);
    let to = zone.show(counts.start_unix_ns.saturating_add((length_s * 1e9) as i64));
    // The date is not repeated.
    let to = match (from.split_once(' '), to.split_once(' ')) {
        (Some((from_date, _)), Some((to_date, time))) if from_date == to_date => time,
        _ => &to,
    };
    format!("{lines} from {from} to {to} ({})", duration(length_s))
}

/// The entries and lines that the counts leave out, as sentences without a full stop.
#[must_use]
pub fn log_notes(counts: &LogCounts) -> Vec<String> {
    let mut notes = Vec::new();
    if counts.outside > 0 {
        let problems = counted(counts.outside, "problem");
        notes.push(format!("{problems} before or after this time are not counted"));
    }
    for (reason, count) in &counts.without_time {
        notes.push(format!("{} without a time: {reason}", counted(*count, "problem")));
    }
    if counts.ungrouped > 0 {
        notes
            .push(format!("{} beyond the largest number of templates", counted(counts.ungrouped, "problem")));
    }
    if counts.truncated_lines > 0 {
        notes.push(format!("{} longer than 64 KiB, truncated", counted(counts.truncated_lines, "line")));
    }
    if counts.unreadable_lines > 0 {
        notes.push(format!("{} not in the format of the envelope", counted(counts.unreadable_lines, "line")));
    }
    notes
}

/// The verdict on a difference.
#[must_use]
pub fn log_verdict(difference: &Difference) -> &'static str {
    match (difference.is_significant, difference.is_too_short) {
        (true, _) => "significant",
        (false, true) => "too short to tell",
        (false, false) => "may be chance",
    }
}

/// The limitations of a comparison: logs that are too short, or differences that the test of rates does not cover.
#[must_use]
pub fn log_comparison_note(too_short: Option<&TooShortLogs>, false_discovery_rate: f64) -> String {
    let Some(short) = too_short else {
        return format!(
            "significant at a false discovery rate of {:.0} %; each log is one run, and rates may differ between runs even without a change",
            100.0 * false_discovery_rate
        );
    };
    let (length, needed) = (duration(short.length_s), duration(short.needed_s));
    match short.fluctuation_s {
        Some(fluctuation_s) => format!(
            "too short to tell: the rates of these logs rise and fall over about {}, so each should last {needed}; \
             the shorter one lasts {length}",
            duration(fluctuation_s)
        ),
        None => format!("too short to tell: each log should last {needed}; the shorter one lasts {length}"),
    }
}
