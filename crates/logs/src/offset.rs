//! The offset of stamps from UTC, found from the time at which lines arrive.
//!
//! In a log that is followed, stamps are at most some seconds older than the arrival of their lines. The difference between a
//! stamp, read as UTC, and the arrival, rounded to quarters of an hour, is therefore the offset. The machine's own zone would
//! often be wrong: containers write in UTC on a machine in another zone.

use crate::entries::{EntryReader, LineContext};
use crate::envelopes::{Envelope, Unwrapper};
use crate::lines::LineSplitter;
use crate::stamps::{EntryTime, MissingTime, StampSettings, Zone};

/// Offsets are multiples of a quarter of an hour.
const QUARTER_NS: i64 = 15 * 60 * 1_000_000_000;
/// Maximum difference between a stamp and the arrival of its line, apart from the offset. Programs write lines some seconds late.
const LATE_NS_MAX: i64 = 2 * 60 * 1_000_000_000;
/// The offsets in use reach from −12 to +14 hours.
const OFFSETS_NS: std::ops::RangeInclusive<i64> = -12 * 4 * QUARTER_NS..=14 * 4 * QUARTER_NS;
/// The date that is assumed for a stamp without one may be wrong by a day.
const DAY_NS: i64 = 24 * 4 * QUARTER_NS;
/// Number of lines that are examined.
const LINES_MAX: usize = 200;

/// The offset of the stamps of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StampOffset {
    /// The stamps have offsets, or the transport states the time of each line.
    Stated,
    /// The stamps have no offset. The difference from their arrival corresponds to this offset, in seconds east of UTC.
    Found(i32),
    /// The stamps have no offset, and their difference from their arrival corresponds to no offset.
    NotFound,
    /// No line has a stamp.
    NoStamp,
}

/// Finds the offset of stamps from the first lines that arrived, and the time of their arrival in nanoseconds since 1970.
#[must_use]
pub fn find_offset(bytes: &[u8], envelope: Option<Envelope>, arrival_unix_ns: i64) -> StampOffset {
    let settings = |zone| StampSettings { zone, near_unix_ns: arrival_unix_ns };
    let mut stated = EntryReader::new(settings(None), None);
    let mut as_utc = EntryReader::new(settings(Some(Zone::utc())), None);
    let (mut unwrapper, mut splitter) = (envelope.map(Unwrapper::new), LineSplitter::new());
    let (mut times, mut utc_times, mut lines) = (Vec::new(), Vec::new(), 0);
    splitter.push(bytes, |line| {
        lines += 1;
        if lines > LINES_MAX {
            return;
        }
        let unwrapper = unwrapper.get_or_insert_with(|| Unwrapper::new(Envelope::detect(line)));
        let Ok(unwrapped) = unwrapper.unwrap(line) else { return };
        let context = LineContext { received_unix_ns: unwrapped.received_unix_ns, severity: None };
        stated.push(&unwrapped.text, context, |entry| times.push(entry.time));
        as_utc.push(&unwrapped.text, context, |entry| utc_times.push(entry.time));
    });
    stated.finish(|entry| times.push(entry.time));
    as_utc.finish(|entry| utc_times.push(entry.time));
    // The last line is the one that is nearest to the arrival.
    for (time, as_utc) in times.iter().zip(&utc_times).rev() {
        match (time, as_utc) {
            (EntryTime::UnixNs(_), _) => return StampOffset::Stated,
            (EntryTime::Unavailable(MissingTime::NoZone), EntryTime::UnixNs(unix_ns)) => {
                return offset(unix_ns.saturating_sub(arrival_unix_ns));
            }
            (EntryTime::Unavailable(MissingTime::NoZone | MissingTime::NoStamp), _) => {}
        }
    }
    StampOffset::NoStamp
}

/// The offset that explains a difference between a stamp, read as UTC, and its arrival.
fn offset(difference_ns: i64) -> StampOffset {
    // A stamp is earlier than its arrival, so that the difference is a little less than the offset.
    let quarters = (difference_ns.saturating_add(QUARTER_NS / 2)).div_euclid(QUARTER_NS);
    let nearest_ns = quarters.saturating_mul(QUARTER_NS);
    if difference_ns.saturating_sub(nearest_ns).abs() > LATE_NS_MAX {
        return StampOffset::NotFound;
    }
    let candidates = [0, -DAY_NS, DAY_NS].map(|day| nearest_ns.saturating_add(day));
    let found = candidates.into_iter().find(|offset| OFFSETS_NS.contains(offset));
    found
        .and_then(|offset| i32::try_from(offset / 1_000_000_000).ok())
        .map_or(StampOffset::NotFound, StampOffset::Found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2024-03-18T10:00:00Z.
    const ARRIVAL: i64 = 1_710_756_000_000_000_000;

    fn found(text: &str) -> StampOffset {
        find_offset(text.as_bytes(), None, ARRIVAL)
    }

    #[test]
    fn the_offset_is_the_difference_of_stamp_and_arrival_in_quarters_of_an_hour() {
        for (stamp, expected) in [
            ("2024-03-18 10:00:00,000", StampOffset::Found(0)),
            ("2024-03-18 09:59:50,000", StampOffset::Found(0)),
            ("2024-03-18 11:59:55,000", StampOffset::Found(2 * 3_600)),
            ("2024-03-18 15:29:59,123", StampOffset::Found(5 * 3_600 + 1_800)),
            ("2024-03-17 22:00:00,000", StampOffset::Found(-12 * 3_600)),
            ("2024-03-18 23:59:59,000", StampOffset::Found(14 * 3_600)),
            ("2024-03-18 10:07:00,000", StampOffset::NotFound),
            ("2021-03-18 10:00:00,000", StampOffset::NotFound),
            ("2024-03-18T10:07:00Z", StampOffset::Stated),
        ] {
            assert_eq!(found(&format!("{stamp} INFO shop - started\n")), expected, "{stamp}");
        }
        assert_eq!(found("no stamp\n"), StampOffset::NoStamp);
        assert_eq!(found(""), StampOffset::NoStamp);
    }

    #[test]
    fn stamps_without_a_date_get_the_offset_of_the_same_day() {
        // 23:00 of the day before is nearer to 10:00 as UTC. Offsets that differ by a day give the same time.
        assert_eq!(found("19:30:00.000 INFO shop - started\n"), StampOffset::Found(9 * 3_600 + 1_800));
        assert_eq!(found("23:00:00.000 INFO shop - started\n"), StampOffset::Found(-11 * 3_600));
    }

    #[test]
    fn lines_of_containers_state_their_time() {
        let docker = r#"{"log":"10:00:00.000 INFO a\n","stream":"stdout","time":"2024-03-18T10:00:00.1Z"}"#;
        assert_eq!(found(&format!("{docker}\n")), StampOffset::Stated);
    }
}
