//! The values that date formats print and parse.

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::civil::{Date, Time, Weekday};
use jiff::tz::{Offset, TimeZone};

use super::date_pattern::Field;

/// A date, a time of day, an offset and a zone, each of which may be unknown.
#[derive(Clone, Debug, Default)]
pub struct Moment {
    /// The day.
    pub date: Option<Date>,
    /// The time of day.
    pub time: Option<Time>,
    /// Offset from UTC in seconds, positive to the east.
    pub offset_seconds: Option<i32>,
    /// The zone.
    pub zone: Option<TimeZone>,
}

impl Moment {
    /// An instant in a zone. `nanoseconds` counts from 1970 UTC; it is limited to the years −9999 to 9999.
    pub fn of_instant(nanoseconds: i128, zone: &TimeZone) -> Self {
        let least = Timestamp::MIN.as_nanosecond();
        let most = Timestamp::MAX.as_nanosecond();
        let timestamp =
            Timestamp::from_nanosecond(nanoseconds.clamp(least, most)).unwrap_or(Timestamp::UNIX_EPOCH);
        let zoned = timestamp.to_zoned(zone.clone());
        Self {
            date: Some(zoned.date()),
            time: Some(zoned.time()),
            offset_seconds: Some(zoned.offset().seconds()),
            zone: Some(zone.clone()),
        }
    }

    /// An instant at a fixed offset from UTC, in no zone.
    pub fn at_offset(nanoseconds: i128, offset_seconds: i32) -> Self {
        let zone = Offset::from_seconds(offset_seconds).map_or(TimeZone::UTC, TimeZone::fixed);
        Self { zone: None, ..Self::of_instant(nanoseconds, &zone) }
    }

    /// A day without a time.
    pub fn of_date(date: Date) -> Self {
        Self { date: Some(date), ..Self::default() }
    }

    /// Nanoseconds since 1970 UTC, for a moment with date, time and offset.
    pub fn instant(&self) -> Option<i128> {
        let local = self.date?.to_datetime(self.time?).to_zoned(TimeZone::UTC).ok()?;
        Some(local.timestamp().as_nanosecond() - i128::from(self.offset_seconds?) * 1_000_000_000)
    }

    /// The zone's identifier, such as `Europe/Berlin`; without a zone, the offset, such as `+02:00`.
    pub(super) fn zone_id(&self) -> Option<Cow<'_, str>> {
        match &self.zone {
            Some(zone) => match zone.iana_name() {
                Some(name) => Some(name.into()),
                None if self.offset_seconds == Some(0) => Some("UTC".into()),
                None => Some(offset_id(self.offset_seconds?).into()),
            },
            None => Some(offset_id(self.offset_seconds?).into()),
        }
    }

    /// The zone's short name at this moment, such as `CET`; for zones without a name, the offset.
    pub(super) fn zone_short(&self) -> Option<Cow<'_, str>> {
        let Some(zone) = self.zone.as_ref().filter(|zone| zone.to_fixed_offset().is_err()) else {
            return self.zone_id();
        };
        // If the instant is unknown, the zone's name in 1970 is used.
        let timestamp = Timestamp::from_nanosecond(self.instant().unwrap_or_default()).ok()?;
        Some(zone.to_offset_info(timestamp).abbreviation().to_owned().into())
    }

    /// The value of a field, if it is known.
    pub(super) fn field(&self, field: Field) -> Option<i64> {
        let date = self.date;
        let time = self.time;
        let hour = time.map(|time| i64::from(time.hour()));
        let value = match field {
            Field::Era => i64::from(date?.year() >= 1),
            Field::Year => i64::from(date?.year()),
            Field::YearOfEra => {
                let year = i64::from(date?.year());
                if year >= 1 { year } else { 1 - year }
            }
            Field::Month => i64::from(date?.month()),
            Field::Quarter => (i64::from(date?.month()) - 1) / 3 + 1,
            Field::Day => i64::from(date?.day()),
            Field::DayOfYear => i64::from(date?.day_of_year()),
            Field::DayOfWeek => i64::from(date?.weekday().to_monday_one_offset()),
            Field::LocalDayOfWeek => local_day(date?),
            Field::WeekOfMonth => {
                week(start_of_week(i64::from(date?.day()), local_day(date?)), i64::from(date?.day()))
            }
            Field::WeekOfYear => week_of_year(date?).1,
            Field::WeekBasedYear => week_of_year(date?).0,
            Field::AmPm => hour? / 12,
            Field::HourOfDay => hour?,
            Field::ClockHourOfDay => {
                if hour? == 0 {
                    24
                } else {
                    hour?
                }
            }
            Field::HourOfAmPm => hour? % 12,
            Field::ClockHourOfAmPm => {
                if hour? % 12 == 0 {
                    12
                } else {
                    hour? % 12
                }
            }
            Field::Minute => i64::from(time?.minute()),
            Field::Second => i64::from(time?.second()),
            Field::Nano => i64::from(time?.subsec_nanosecond()),
            Field::MilliOfDay => nano_of_day(time?) / 1_000_000,
            Field::NanoOfDay => nano_of_day(time?),
            Field::MilliOfSecond => i64::from(time?.subsec_nanosecond()) / 1_000_000,
            Field::Offset => i64::from(self.offset_seconds?),
        };
        Some(value)
    }
}

fn nano_of_day(time: Time) -> i64 {
    let seconds = (i64::from(time.hour()) * 60 + i64::from(time.minute())) * 60 + i64::from(time.second());
    seconds * 1_000_000_000 + i64::from(time.subsec_nanosecond())
}

/// The day of the week, from Sunday = 1, as in the locales `en` and `en_US`.
fn local_day(date: Date) -> i64 {
    i64::from(date.weekday().since(Weekday::Sunday)) + 1
}

/// The offset in days that [`week`] needs for a month or year in which the day number `day` is the weekday `local_day`. Weeks
/// begin on Sunday, and the first week has at least one day.
fn start_of_week(day: i64, local_day: i64) -> i64 {
    let start = (day - local_day).rem_euclid(7);
    if start + 1 > 1 { 7 - start } else { -start }
}

fn week(offset: i64, day: i64) -> i64 {
    (7 + offset + day - 1) / 7
}

/// The week-based year and the number of the week in it.
fn week_of_year(date: Date) -> (i64, i64) {
    let day = i64::from(date.day_of_year());
    let offset = start_of_week(day, local_day(date));
    let this = week(offset, day);
    let next = week(offset, i64::from(date.days_in_year()) + 1);
    if this >= next { (i64::from(date.year()) + 1, this - next + 1) } else { (i64::from(date.year()), this) }
}

/// Formats an offset as `+02:00`, or as `Z` if it is zero.
fn offset_id(seconds: i32) -> String {
    if seconds == 0 {
        return "Z".to_owned();
    }
    let sign = if seconds < 0 { '-' } else { '+' };
    let magnitude = seconds.unsigned_abs();
    let mut id = format!("{sign}{:02}:{:02}", magnitude / 3600, magnitude / 60 % 60);
    if !magnitude.is_multiple_of(60) {
        id.push_str(&format!(":{:02}", magnitude % 60));
    }
    id
}
