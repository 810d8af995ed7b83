//! Events that concurrent threads wrote into a line, and safepoints.

use std::borrow::Cow;

use super::stamps::stamps_before;
use crate::event::{Collector, EventKind, GcEvent};
use crate::size::{duration_s, number};
use crate::stamp::LineStamp;

/// The starts of concurrent events, and their collectors.
const CONCURRENT: [(&str, Collector); 3] = [
    ("[CMS-concurrent-", Collector::Cms),
    ("[ASCMS-concurrent-", Collector::Cms),
    ("[GC concurrent-", Collector::G1),
];

const STOPPED: &str = "Total time for which application threads were stopped: ";
const RUNNING: &str = "Application time: ";

/// An event that was taken out of a line.
#[derive(Debug)]
pub(crate) struct Extracted {
    pub event: GcEvent,
    pub collector: Option<Collector>,
}

/// Takes concurrent events and safepoints out of a line. Returns the rest of the line.
pub(crate) fn extract(line: &str) -> (Cow<'_, str>, Vec<Extracted>) {
    let mut rest = Cow::Borrowed(line);
    let mut found = Vec::new();
    // At most 16 events are taken out of a line, so that the time is linear.
    for _ in 0..16 {
        let Some((from, to, extracted)) = concurrent(&rest).or_else(|| safepoint(&rest)) else { break };
        found.extend(extracted);
        rest = Cow::Owned(format!("{}{}", &rest[..from], &rest[to..]));
    }
    (rest, found)
}

/// The first concurrent event: its position, including stamps and times, and the event.
fn concurrent(line: &str) -> Option<(usize, usize, Option<Extracted>)> {
    let starts = CONCURRENT.iter().filter_map(|(name, collector)| Some((line.find(name)?, *collector)));
    let (at, collector) = starts.min_by_key(|(at, _)| *at)?;
    let (from, stamp) = stamps_before(line, at);
    let end = line[at..].find(']').map_or(line.len(), |end| at + end + 1);
    let text = &line[at..end];
    // Statistics of string deduplication are not part of a collection.
    let extracted = (!text.contains("-string-deduplication")).then(|| {
        let (event, collector) = (concurrent_event(text, stamp), Some(collector));
        Extracted { event, collector }
    });
    let mut to = end;
    let after = line[end..].trim_start();
    if after.starts_with("[Times:") {
        to = after.find(']').map_or(line.len(), |length| line.len() - after.len() + length + 1);
    }
    Some((from, to, extracted))
}

fn concurrent_event(text: &str, stamp: LineStamp) -> GcEvent {
    let kind = if text.contains("-start") { EventKind::ConcurrentStart } else { EventKind::Concurrent };
    let mut event = GcEvent::new(kind, stamp);
    event.duration_s = concurrent_s(text);
    event.is_failure = text.contains("-reset-for-overflow");
    event
}

/// The duration of a concurrent event, s: `: 1.1/1.2 secs]` (CPU and wall time) or `, 0.0118 sec]`.
fn concurrent_s(text: &str) -> Option<f64> {
    let text = text.trim_end_matches(']').trim_end();
    let text = text.strip_suffix("secs").or_else(|| text.strip_suffix("sec")).unwrap_or(text).trim_end();
    let word = text.rsplit([' ', '/']).next()?;
    let (value, rest) = number(word)?;
    (rest.is_empty() && word.contains(['.', ','])).then_some(value)
}

/// The first line about a safepoint or the time between two.
fn safepoint(line: &str) -> Option<(usize, usize, Option<Extracted>)> {
    if let Some(at) = line.find(STOPPED) {
        let (from, stamp) = stamps_before(line, at);
        let text = &line[at + STOPPED.len()..];
        let event = duration_s(text).map(|(stopped_s, _)| {
            let mut event = GcEvent::new(EventKind::Safepoint, stamp);
            event.duration_s = Some(stopped_s);
            Extracted { event, collector: None }
        });
        // `, Stopping threads took: …` follows.
        return Some((from, line.len(), event));
    }
    let at = line.find(RUNNING)?;
    Some((stamps_before(line, at).0, line.len(), None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concurrent_events_are_taken_out_of_a_line() {
        let line = "0.5: [GC pause (young)0.512: [GC concurrent-mark-start]";
        let (rest, found) = extract(line);
        assert_eq!(rest, "0.5: [GC pause (young)");
        assert_eq!(
            (found[0].event.kind, found[0].event.stamp.uptime_s),
            (EventKind::ConcurrentStart, Some(0.512))
        );
        let line = "[CMS2012-01-02T03:04:05.678+0000: 9.5: [CMS-concurrent-sweep: 0.100/0.250 secs] [Times: user=1.0 sys=0.0, real=0.2 secs] ";
        let (rest, found) = extract(line);
        assert_eq!(rest, "[CMS ");
        assert_eq!(found[0].event.duration_s, Some(0.25));
        assert!(found[0].event.stamp.wall_ms.is_some());
    }

    #[test]
    fn safepoints_have_stamps_from_jdk_7u50() {
        let (rest, found) =
            extract("2.5: Total time for which application threads were stopped: 0,0100 seconds");
        assert_eq!(rest, "");
        assert_eq!((found[0].event.stamp.uptime_s, found[0].event.duration_s), (Some(2.5), Some(0.01)));
        assert!(extract("Application time: 1.0 seconds").1.is_empty());
        assert_eq!(extract("Application time: 1.0 seconds").0, "");
    }

    #[test]
    fn numbers_of_collections_come_after_stamps() {
        let (rest, found) = extract("1.5: #7: [GC concurrent-mark-end, 0.0118 sec]");
        assert_eq!((rest.as_ref(), found[0].event.duration_s), ("", Some(0.0118)));
    }
}
