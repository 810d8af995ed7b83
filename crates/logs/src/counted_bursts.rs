//! Finds the bursts of a log that was counted.

use serde::Serialize;

use crate::bursts::{BURST_HISTORY_MIN_S, BurstDetector, LogBurst};
use crate::counts::{GroupCounts, LogCounts};

/// Maximum length in seconds of a log in which bursts are looked for: 400 days.
const LENGTH_MAX_S: f64 = 400.0 * 86_400.0;

/// A burst of matching entries with its most frequent template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CountedBurst {
    /// The burst.
    #[serde(flatten)]
    pub burst: LogBurst,
    /// The template with the most entries in the burst, and their number; `None` if templates are not counted per second.
    pub template: Option<(String, u64)>,
}

/// Why bursts are unavailable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoBursts {
    /// The length of the run is unknown.
    #[error("the entries have no times")]
    NoLength,
    /// The run is not longer than [`BURST_HISTORY_MIN_S`].
    #[error("the first {BURST_HISTORY_MIN_S} seconds of a log are not judged, and it is not longer")]
    TooShort,
    /// The run is longer than [`LENGTH_MAX_S`].
    #[error("it covers more than {} days", LENGTH_MAX_S / 86_400.0)]
    TooLong,
    /// The log has so many entries that its counts have longer intervals than a second.
    #[error("it has so many entries that they are not counted per second")]
    LongIntervals,
}

/// Finds the bursts of matching entries, in the order of time.
///
/// # Errors
/// The counts have no times, or their length or their intervals do not permit it.
pub fn find_bursts(counts: &LogCounts) -> Result<Vec<CountedBurst>, NoBursts> {
    let length_s = counts.length_s.ok_or(NoBursts::NoLength)?;
    if length_s <= f64::from(BURST_HISTORY_MIN_S) {
        return Err(NoBursts::TooShort);
    }
    if length_s > LENGTH_MAX_S {
        return Err(NoBursts::TooLong);
    }
    if counts.interval_s.totals != 1 {
        return Err(NoBursts::LongIntervals);
    }
    let mut detector = BurstDetector::new(0);
    let mut bursts = Vec::new();
    let mut seconds = counts.matching_over_time.counts.iter().copied().peekable();
    for second in 0..length_s.ceil() as u32 {
        let count = seconds.next_if(|(at, _)| *at == second).map_or(0, |(_, count)| count);
        bursts.extend(detector.add(count));
    }
    bursts.extend(detector.finish());
    let template = |burst: &LogBurst| match counts.interval_s.templates {
        1 => largest_template(&counts.templates, burst),
        _ => None,
    };
    Ok(bursts.into_iter().map(|burst| CountedBurst { template: template(&burst), burst }).collect())
}

/// The template with the most entries in the seconds of a burst.
fn largest_template(templates: &[GroupCounts], burst: &LogBurst) -> Option<(String, u64)> {
    let entries = |group: &GroupCounts| -> u64 {
        let counts = &group.over_time.counts;
        let first = counts.partition_point(|(second, _)| *second < burst.from_s);
        let in_burst = counts[first..].iter().take_while(|(second, _)| *second < burst.to_s);
        in_burst.map(|(_, count)| u64::from(*count)).sum()
    };
    let with_entries = templates.iter().map(|group| (group, entries(group)));
    // If several templates have this number, the first one in the list is the most frequent one in the whole log.
    let largest = with_entries.rev().max_by_key(|(_, entries)| *entries);
    largest.filter(|(_, entries)| *entries > 0).map(|(group, entries)| (group.text.clone(), entries))
}

#[cfg(test)]
mod tests {
    use busyhour_redaction::Redactor;

    use super::*;
    use crate::{CollectorSettings, LogCollector, RunClock, StampSettings, Zone};

    /// A log of `length_s` seconds with an error every 40 s, and 30 other errors in the three seconds from `burst_s` on.
    fn counts(length_s: u32, burst_s: u32) -> LogCounts {
        let stamps = StampSettings { zone: Some(Zone::utc()), near_unix_ns: 0 };
        let clock = RunClock { start_unix_ns: 1_710_756_000_000_000_000, end_unix_ns: None };
        let mut collector = LogCollector::new(CollectorSettings::new(stamps, clock, Redactor::standard()));
        let source = collector.add_source(None);
        for second in 0..length_s {
            let stamp =
                format!("2024-03-18 {:02}:{:02}:{:02}", 10 + second / 3600, second / 60 % 60, second % 60);
            let mut line = |text: &str| collector.read(source, format!("{stamp} {text}\n").as_bytes());
            line("INFO alive");
            if second % 40 == 0 {
                line("ERROR no seat");
            }
            if (burst_s..burst_s + 3).contains(&second) {
                (0..10).for_each(|_| line("ERROR database unreachable"));
            }
        }
        collector.finish()
    }

    #[test]
    fn a_burst_has_its_most_frequent_template() {
        let counts = counts(600, 415);
        let found = find_bursts(&counts).unwrap();
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].burst.from_s, found[0].burst.to_s, found[0].burst.entries), (415, 418, 30));
        assert_eq!(found[0].template, Some(("database unreachable".to_owned(), 30)));
        let coarse = LogCounts {
            interval_s: crate::Intervals { templates: 2, ..counts.interval_s },
            ..counts.clone()
        };
        assert_eq!(find_bursts(&coarse).unwrap()[0].template, None);
        let json = serde_json::to_value(&found).unwrap();
        assert_eq!((&json[0]["from_s"], &json[0]["template"][1]), (&415.into(), &30.into()));
    }

    #[test]
    fn bursts_are_unavailable_for_reasons() {
        let counts = counts(140, 200);
        assert_eq!(find_bursts(&counts), Err(NoBursts::TooShort));
        let with_length = |length_s| LogCounts { length_s, ..counts.clone() };
        assert_eq!(find_bursts(&with_length(None)), Err(NoBursts::NoLength));
        assert_eq!(find_bursts(&with_length(Some(1e9))), Err(NoBursts::TooLong));
        assert!(NoBursts::TooLong.to_string().contains("400 days"));
        let coarse = LogCounts {
            interval_s: crate::Intervals { totals: 4, ..counts.interval_s },
            length_s: Some(600.0),
            ..counts
        };
        assert_eq!(find_bursts(&coarse), Err(NoBursts::LongIntervals));
    }
}
