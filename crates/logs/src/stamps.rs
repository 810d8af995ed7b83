//! Stamps: the times that log lines state.
//!
//! [`StampReader`] finds the stamp of a line and computes its time. It reads the notations of log4j and Logback, Tomcat,
//! `java.util.logging`, Apache and nginx (access and error logs), syslog (RFC 3164 and RFC 5424), ISO 8601, Kubernetes' klog, Android,
//! Unix times with a fraction, and similar ones. Names of months are English. Dates with slashes and the year at the end
//! (`03/04/2024`) are not read, because the order of day and month is unknown.
//!
//! A stamp without a UTC offset needs a [`Zone`]; without a zone its time is unknown. A stamp without a year or a date gets the
//! year or date that brings it nearest to [`StampSettings::near_unix_ns`]. At the end of daylight saving time, one hour of the
//! clock occurs twice: a stamp without an offset is taken to be in the first of them.

mod scan;
mod shapes;

use std::ops::Range;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

pub use shapes::Notation;
use shapes::{Clock, Day, Offset, Parts, Stamp};

/// An error in the name of a zone.
#[derive(Debug, thiserror::Error)]
#[error("unknown time zone `{name}`; use a name such as Europe/Berlin, an offset such as +02:00, or UTC")]
pub struct UnknownZone {
    name: String,
    source: jiff::Error,
}

/// The time zone of stamps without an offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone(TimeZone);

impl Zone {
    /// Coordinated Universal Time.
    #[must_use]
    pub fn utc() -> Zone {
        Zone(TimeZone::UTC)
    }

    /// The zone with this name (`Europe/Berlin`) or offset (`+02:00`).
    ///
    /// # Errors
    /// The name is not in the time zone database of the system.
    pub fn named(name: &str) -> Result<Zone, UnknownZone> {
        if let Some(seconds) = shapes::whole_offset(name)
            && let Ok(offset) = jiff::tz::Offset::from_seconds(seconds)
        {
            return Ok(Zone(TimeZone::fixed(offset)));
        }
        match TimeZone::get(name) {
            Ok(zone) => Ok(Zone(zone)),
            Err(source) => Err(UnknownZone { name: name.to_owned(), source }),
        }
    }
}

impl Zone {
    /// A time in this zone, to seconds: `2024-03-18 10:00:05`. Times out of the range of the calendar are written as they are.
    #[must_use]
    pub fn show(&self, unix_ns: i64) -> String {
        match timestamp(unix_ns) {
            Some(time) => self.0.to_datetime(time).strftime("%Y-%m-%d %H:%M:%S").to_string(),
            None => format!("{unix_ns} ns"),
        }
    }
}

/// The information that stamps may lack.
#[derive(Debug, Clone)]
pub struct StampSettings {
    /// The zone of stamps without an offset; `None` if it is unknown.
    pub zone: Option<Zone>,
    /// A time near those of the log, in nanoseconds since 1970, such as the start of the run. Stamps without a year or a date get
    /// the one that brings them nearest to it.
    pub near_unix_ns: i64,
}

/// The time of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryTime {
    /// Nanoseconds since 1970.
    UnixNs(i64),
    /// Unknown.
    Unavailable(MissingTime),
}

/// Why the time of an entry is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingTime {
    /// The entry has no stamp in a known notation.
    NoStamp,
    /// The stamp has no UTC offset, and the time zone is not known.
    NoZone,
}

impl std::fmt::Display for MissingTime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            MissingTime::NoStamp => "no stamp in a known notation",
            MissingTime::NoZone => "the stamp has no offset; specify the time zone of the log",
        })
    }
}

/// A stamp found in a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundStamp {
    /// Its time.
    pub time: EntryTime,
    /// Its notation.
    pub notation: Notation,
    /// Its bytes in the line.
    pub range: Range<usize>,
}

/// Number of bytes at the beginning of a line that are searched for a stamp. In access logs, the address in front of it may be
/// longer.
const SEARCHED_BYTES: usize = 96;
/// Number of bytes at the beginning of a line that are searched for the stamp of an access log.
const ACCESS_SEARCHED_BYTES: usize = 1_024;

/// The position of stamps in the lines of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// At this byte.
    Byte(usize),
    /// At the beginning of the word with this number.
    Word(usize),
    /// After `[`, as in access logs.
    Bracket,
}

/// Finds the stamps in the lines of one source.
///
/// It remembers where stamps were found: stamps of most sources are at the same place in each line.
#[derive(Debug, Clone)]
pub struct StampReader {
    settings: StampSettings,
    near: Option<DateTime>,
    place: Option<Place>,
    /// The date, hour and quarter of an hour of the previous stamp, and the UTC offset of the zone then.
    cached_offset: Option<(Date, i8, i8, jiff::tz::Offset)>,
}

impl StampReader {
    /// Creates a reader for one source.
    #[must_use]
    pub fn new(settings: StampSettings) -> StampReader {
        let zone = settings.zone.as_ref().map_or(TimeZone::UTC, |zone| zone.0.clone());
        let near = timestamp(settings.near_unix_ns).map(|near| zone.to_datetime(near));
        StampReader { settings, near, place: None, cached_offset: None }
    }

    /// Finds the stamp of a line. Returns `None` if there is none where a stamp is expected.
    pub fn find(&mut self, line: &str) -> Option<FoundStamp> {
        let bytes = line.as_bytes();
        if let Some(place) = self.place
            && let Some(found) = self.find_at(bytes, place)
        {
            return Some(found);
        }
        // Continuation lines begin with spaces. Access logs never do.
        if bytes.first().is_none_or(u8::is_ascii_whitespace) {
            return None;
        }
        let strict = Place::Byte(prefix_length(bytes));
        for place in [strict, Place::Bracket] {
            if let Some(found) = self.find_at(bytes, place) {
                if !matches!(self.place, Some(Place::Byte(_))) {
                    self.place = Some(place);
                }
                return Some(found);
            }
        }
        if self.place.is_some() {
            return None;
        }
        let words = (1..).zip(word_starts(bytes));
        for (number, start) in words {
            // A time of day in the middle of a line is often a duration.
            let has_date = shapes::read(&bytes[start..]).is_some_and(|stamp| stamp.has_date());
            if has_date && let Some(found) = self.read_at(bytes, start) {
                self.place = Some(Place::Word(number));
                return Some(found);
            }
        }
        None
    }

    /// The time in a text that consists of a stamp, such as a field of a JSON object.
    pub fn read_whole(&mut self, text: &str) -> EntryTime {
        let found = self.read_at(text.as_bytes(), 0);
        found.map_or(EntryTime::Unavailable(MissingTime::NoStamp), |found| found.time)
    }

    fn find_at(&mut self, line: &[u8], place: Place) -> Option<FoundStamp> {
        match place {
            Place::Byte(at) => self.read_at(line, at),
            Place::Word(number) => {
                let at = word_starts(line).nth(number - 1)?;
                self.read_at(line, at)
            }
            Place::Bracket => {
                let searched = &line[..line.len().min(ACCESS_SEARCHED_BYTES)];
                let at = memchr::memmem::find(searched, b" [")? + 2;
                self.read_at(line, at).filter(|found| found.notation == Notation::AccessLog)
            }
        }
    }

    fn read_at(&mut self, line: &[u8], at: usize) -> Option<FoundStamp> {
        let Stamp { notation, parts, length } = shapes::read(line.get(at..)?)?;
        let time = match parts {
            Parts::UnixNs(unix_ns) => EntryTime::UnixNs(unix_ns),
            Parts::Civil(day, clock) => self.time_of(day, clock)?,
        };
        Some(FoundStamp { time, notation, range: at..at + length })
    }

    /// The time of a stamp; `None` if it does not exist, such as 31 February.
    fn time_of(&mut self, day: Day, clock: Clock) -> Option<EntryTime> {
        let small = |value: u32| i8::try_from(value).ok();
        // A leap second counts as the second before it.
        let second = if clock.second == 60 { 59 } else { clock.second };
        let nanosecond = i32::try_from(clock.nanosecond).ok()?;
        let time = Time::new(small(clock.hour)?, small(clock.minute)?, small(second)?, nanosecond).ok()?;
        let date = match day {
            Day::Full(year, month, day) => {
                Date::new(i16::try_from(year).ok()?, small(month)?, small(day)?).ok()?
            }
            Day::WithoutYear(month, day) => self.nearest_year(small(month)?, small(day)?, time)?,
            Day::Missing => self.nearest_day(time)?,
        };
        let civil = date.to_datetime(time);
        let offset = match (clock.offset, &self.settings.zone) {
            (Offset::Seconds(seconds), _) => jiff::tz::Offset::from_seconds(seconds).ok()?,
            (Offset::Missing, Some(_)) => self.zone_offset(civil)?,
            (Offset::Missing, None) => return Some(EntryTime::Unavailable(MissingTime::NoZone)),
        };
        let timestamp = offset.to_timestamp(civil).ok()?;
        i64::try_from(timestamp.as_nanosecond()).ok().map(EntryTime::UnixNs)
    }

    /// The UTC offset of the zone. It is cached: offsets only change at the beginning of a quarter of an hour.
    fn zone_offset(&mut self, civil: DateTime) -> Option<jiff::tz::Offset> {
        let (date, hour, quarter) = (civil.date(), civil.hour(), civil.minute() / 15);
        if let Some((cached_date, cached_hour, cached_quarter, offset)) = self.cached_offset
            && (cached_date, cached_hour, cached_quarter) == (date, hour, quarter)
        {
            return Some(offset);
        }
        let zone = &self.settings.zone.as_ref()?.0;
        let offset = zone.to_zoned(civil).ok()?;
        // The civil time does not exist if the clock was set forward over it. The offset before that change applies then.
        let offset = match offset.datetime() == civil {
            true => offset.offset(),
            false => zone.to_offset(offset.timestamp() - SignedDuration::from_hours(1)),
        };
        self.cached_offset = Some((date, hour, quarter, offset));
        Some(offset)
    }

    fn nearest_year(&self, month: i8, day: i8, time: Time) -> Option<Date> {
        let near = self.near?;
        let year = near.year();
        let candidates = [year, year - 1, year + 1];
        let dates = candidates.into_iter().filter_map(|year| Date::new(year, month, day).ok());
        dates.min_by_key(|date| date.to_datetime(time).duration_since(near).abs())
    }

    fn nearest_day(&self, time: Time) -> Option<Date> {
        let near = self.near?;
        let today = near.date();
        let dates = [Some(today), today.yesterday().ok(), today.tomorrow().ok()];
        dates.into_iter().flatten().min_by_key(|date| date.to_datetime(time).duration_since(near).abs())
    }
}

fn timestamp(unix_ns: i64) -> Option<Timestamp> {
    Timestamp::from_nanosecond(i128::from(unix_ns)).ok()
}

/// Number of bytes in front of a stamp at the beginning of a line: brackets, the priority of syslog, the name of a logfmt field.
fn prefix_length(line: &[u8]) -> usize {
    let mut at = 0;
    if line.first() == Some(&b'<')
        && let Some(end) = line.iter().take(5).position(|byte| *byte == b'>')
    {
        at = end + 1;
        // RFC 5424 writes the version after the priority.
        if line[at..].starts_with(b"1 ") {
            at += 2;
        }
    }
    for name in [&b"time="[..], b"ts=", b"timestamp=", b"t="] {
        if line[at..].starts_with(name) {
            at += name.len();
            break;
        }
    }
    while line.get(at).is_some_and(|byte| b"[(\"'|".contains(byte)) {
        at += 1;
    }
    at
}

/// The positions after spaces, brackets and bars near the beginning of a line.
fn word_starts(line: &[u8]) -> impl Iterator<Item = usize> + '_ {
    let searched = &line[..line.len().min(SEARCHED_BYTES)];
    (1..searched.len())
        .filter(|at| b" [(|=\"\t".contains(&searched[at - 1]) && !b" [(|\"".contains(&searched[*at]))
}

#[cfg(test)]
mod tests;
