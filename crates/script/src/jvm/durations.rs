//! Durations of `groovy.time`, and arithmetic with durations and dates.

use jiff::{Timestamp, ToSpan as _, tz::TimeZone};

use super::fault::{Fault, Outcome, thrown};
use super::machine::Machine;
use super::missing;
use super::objects::Object;
use super::value::V;
use crate::Value;
use crate::plain::Binary;

/// A duration in calendar fields, which are added to a date one by one.
#[derive(Debug, Clone, Copy, Default)]
pub struct Duration {
    pub years: i32,
    pub months: i32,
    pub days: i32,
    pub hours: i32,
    pub minutes: i32,
    pub seconds: i32,
    pub millis: i32,
    /// Whether the duration was created from years or months, whose length depends on the date.
    pub depends_on_date: bool,
    /// Whether the duration was created from hours or smaller units. Dates computed with such a duration retain their time of
    /// day.
    pub has_time: bool,
}

impl Duration {
    /// The duration of `5.minutes` and similar getters; `unit` is the name of the getter without `get`.
    pub fn of(number: i32, unit: &str) -> Option<Duration> {
        let none = Duration::default();
        let (date, time) = (Duration { depends_on_date: true, ..none }, Duration { has_time: true, ..none });
        Some(match unit {
            "Year" | "Years" => Duration { years: number, ..date },
            "Month" | "Months" => Duration { months: number, ..date },
            "Week" | "Weeks" => Duration { days: number.wrapping_mul(7), ..none },
            "Day" | "Days" => Duration { days: number, ..none },
            "Hour" | "Hours" => Duration { hours: number, ..time },
            "Minute" | "Minutes" => Duration { minutes: number, ..time },
            "Second" | "Seconds" => Duration { seconds: number, ..time },
            "Millisecond" | "Milliseconds" => Duration { millis: number, ..time },
            _ => return None,
        })
    }

    pub fn plus(self, other: Duration) -> Duration {
        Duration {
            years: self.years.wrapping_add(other.years),
            months: self.months.wrapping_add(other.months),
            days: self.days.wrapping_add(other.days),
            hours: self.hours.wrapping_add(other.hours),
            minutes: self.minutes.wrapping_add(other.minutes),
            seconds: self.seconds.wrapping_add(other.seconds),
            millis: self.millis.wrapping_add(other.millis),
            depends_on_date: self.depends_on_date || other.depends_on_date,
            has_time: self.has_time || other.has_time,
        }
    }

    pub fn negated(self) -> Duration {
        Duration {
            years: self.years.wrapping_neg(),
            months: self.months.wrapping_neg(),
            days: self.days.wrapping_neg(),
            hours: self.hours.wrapping_neg(),
            minutes: self.minutes.wrapping_neg(),
            seconds: self.seconds.wrapping_neg(),
            millis: self.millis.wrapping_neg(),
            ..self
        }
    }

    /// The time between two dates, as returned by Groovy's `TimeCategory.minus(Date, Date)`.
    pub fn between(later_ms: i64, earlier_ms: i64) -> Duration {
        let ms = later_ms.wrapping_sub(earlier_ms);
        let part = |unit: i64, of: i64| ((ms / unit) % of) as i32;
        Duration {
            days: (ms / 86_400_000) as i32,
            hours: part(3_600_000, 24),
            minutes: part(60_000, 60),
            seconds: part(1_000, 60),
            millis: part(1, 1_000),
            has_time: true,
            ..Duration::default()
        }
    }

    /// The duration in milliseconds, without its years and months.
    pub fn fixed_ms(self) -> i64 {
        let hours = i64::from(self.days) * 24 + i64::from(self.hours);
        let seconds = (hours * 60 + i64::from(self.minutes)) * 60 + i64::from(self.seconds);
        seconds * 1_000 + i64::from(self.millis)
    }

    pub fn to_ms(self, now_ms: i64) -> Result<i64, Fault> {
        if self.depends_on_date { Ok(self.after(now_ms)? - now_ms) } else { Ok(self.fixed_ms()) }
    }

    /// The date that is this duration after `from_ms`, in milliseconds since 1970. Years, months and days are added in the
    /// calendar of the system's time zone, then hours and smaller units.
    pub fn after(self, from_ms: i64) -> Result<i64, Fault> {
        let far = |_| thrown("IllegalArgumentException", "a date too far from 1970");
        let at = Timestamp::from_millisecond(from_ms).map_err(far)?;
        let date = at
            .to_zoned(TimeZone::system())
            .checked_add(i64::from(self.years).years())
            .and_then(|date| date.checked_add(i64::from(self.months).months()))
            .and_then(|date| date.checked_add(i64::from(self.days).days()))
            .map_err(far)?;
        let time = Duration { days: 0, ..self }.fixed_ms();
        Ok(date.timestamp().as_millisecond().saturating_add(time))
    }

    pub fn class_name(self) -> &'static str {
        match (self.depends_on_date, self.has_time) {
            (false, false) => "Duration",
            (false, true) => "TimeDuration",
            (true, false) => "DatumDependentDuration",
            (true, true) => "TimeDatumDependentDuration",
        }
    }

    pub fn display(self) -> String {
        let mut parts = Vec::new();
        for (amount, unit) in [
            (self.years, "years"),
            (self.months, "months"),
            (self.days, "days"),
            (self.hours, "hours"),
            (self.minutes, "minutes"),
        ] {
            if amount != 0 {
                parts.push(format!("{amount} {unit}"));
            }
        }
        if self.seconds != 0 || self.millis != 0 {
            let (carried, millis) = (self.millis / 1_000, self.millis % 1_000);
            let seconds = self.seconds.wrapping_add(carried);
            let sign = if seconds == 0 && millis < 0 { "-" } else { "" };
            parts.push(format!("{sign}{seconds}.{:03} seconds", millis.unsigned_abs()));
        }
        if parts.is_empty() { "0".into() } else { parts.join(", ") }
    }
}

pub fn object(duration: Duration) -> V {
    V::object(Object::Library(Box::new(duration)))
}

pub fn date(ms: i64) -> V {
    V::object(Object::Date(ms.into()))
}

pub fn duration_of(value: &V) -> Option<Duration> {
    let V::Object(object) = value else { return None };
    let length = object.library()?.duration()?;
    Some(Duration {
        years: length[0],
        months: length[1],
        days: length[2],
        hours: length[3],
        minutes: length[4],
        seconds: length[5],
        millis: length[6],
        depends_on_date: length[7] != 0,
        has_time: length[8] != 0,
    })
}

pub fn date_of(value: &V) -> Option<i64> {
    match value {
        V::Object(object) => match &**object {
            Object::Date(ms) => Some(ms.get()),
            _ => None,
        },
        _ => None,
    }
}

/// The value of a getter that `TimeCategory` adds to numbers, such as `getMinutes` of 5.
pub fn of_number(machine: &Machine<'_>, number: &V, getter: &str) -> Option<V> {
    if machine.time_categories == 0 {
        return None;
    }
    let V::Plain(Value::Integer(number)) = number else { return None };
    Duration::of(*number, getter.strip_prefix("get")?).map(object)
}

/// Evaluates `+` and `-` of dates and durations; `None` for other values.
pub fn binary(machine: &mut Machine<'_>, operator: Binary, left: &V, right: &V) -> Option<Outcome> {
    let sign = |duration: Duration| match operator {
        Binary::Add => Some(duration),
        Binary::Subtract => Some(duration.negated()),
        _ => None,
    };
    let duration = right;
    if let Some(right) = duration_of(duration) {
        let right = sign(right)?;
        if let Some(left) = duration_of(left) {
            return Some(Ok(object(left.plus(right))));
        }
        let from = date_of(left)?;
        if machine.time_categories == 0 {
            let method = if operator == Binary::Add { "plus" } else { "minus" };
            return Some(Err(missing::exception(machine, left, method, std::slice::from_ref(duration))));
        }
        return Some(right.after(from).map(date));
    }
    let right = date_of(right)?;
    match (duration_of(left), operator) {
        (Some(left), Binary::Add) => Some(left.after(right).map(date)),
        (None, Binary::Subtract) if machine.time_categories > 0 => {
            Some(Ok(object(Duration::between(date_of(left)?, right))))
        }
        _ => None,
    }
}
