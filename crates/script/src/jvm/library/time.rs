//! The classes `Date`, `Calendar` and `SimpleDateFormat`.

use std::cell::{Cell, RefCell};

use jiff::Span;
use jiff::Timestamp;
use jiff::civil::{DateTime, Weekday};
use jiff::tz::TimeZone;

use super::super::fault::{Fault, Outcome, thrown, unsupported};
use super::super::machine::Machine;
use super::super::objects::{Object, Temporal};
use super::super::value::V;
use super::{print, unknown};

/// Formats milliseconds since 1970.
pub fn format(
    machine: &mut Machine<'_>,
    pattern: &str,
    ms: i64,
    zone: Option<&TimeZone>,
) -> Result<String, Fault> {
    let zone = zone.cloned().unwrap_or_else(TimeZone::system);
    machine.scope.format_date(pattern, ms, &zone).map_err(|error| unsupported(String::from(error)))
}

pub fn parse(
    machine: &mut Machine<'_>,
    pattern: &str,
    text: &str,
    zone: Option<&TimeZone>,
) -> Result<i64, Fault> {
    let zone = zone.cloned().unwrap_or_else(TimeZone::system);
    match machine.scope.parse_date(pattern, text, &zone) {
        Ok(Some(ms)) => Ok(ms),
        Ok(None) => Err(thrown("ParseException", format!("Unparseable date: \"{text}\""))),
        Err(error) => Err(unsupported(String::from(error))),
    }
}

/// The time zone of a name or an offset; UTC for unknown names.
pub fn zone_of(name: &str) -> TimeZone {
    let fixed = name.strip_prefix("GMT").or_else(|| name.strip_prefix("UTC")).unwrap_or(name);
    let offset = (|| {
        let sign = match fixed.chars().next()? {
            '+' => 1,
            '-' => -1,
            _ => return None,
        };
        let digits = fixed[1..].replace(':', "");
        let (hours, minutes) = match digits.len() {
            1 | 2 => (digits.parse::<i32>().ok()?, 0),
            3 | 4 => {
                let at = digits.len() - 2;
                (digits[..at].parse().ok()?, digits[at..].parse().ok()?)
            }
            _ => return None,
        };
        jiff::tz::Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok()
    })();
    match offset {
        Some(offset) => TimeZone::fixed(offset),
        // Java distinguishes the zone UTC from an offset of 0, which is represented by `TimeZone::UTC`.
        None if name == "UTC" => TimeZone::get("Etc/UTC").unwrap_or(TimeZone::UTC),
        None => TimeZone::get(name).unwrap_or(TimeZone::UTC),
    }
}

fn local(ms: i64, zone: &TimeZone) -> DateTime {
    Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(zone.clone()).datetime()
}

fn instant(at: DateTime, zone: &TimeZone) -> Result<i64, Fault> {
    at.to_zoned(zone.clone())
        .map(|zoned| zoned.timestamp().as_millisecond())
        .map_err(|error| thrown("IllegalArgumentException", error.to_string()))
}

pub fn call_date(
    machine: &mut Machine<'_>,
    ms: &Cell<i64>,
    object: &V,
    method: &str,
    arguments: &[V],
) -> Outcome {
    let zone = TimeZone::system();
    let at = local(ms.get(), &zone);
    let other = |value: &V| match value {
        V::Object(object) => object.instant(),
        _ => None,
    };
    match (method, arguments) {
        ("getTime" | "toTimestamp", []) => Ok(V::long(ms.get())),
        ("setTime", [to]) => {
            ms.set(to.as_long().unwrap_or(0));
            Ok(V::NULL)
        }
        ("format", [pattern]) => {
            let pattern = print::java(machine, pattern)?;
            Ok(V::text(format(machine, &pattern, ms.get(), None)?))
        }
        ("format", [pattern, V::Object(zone)]) => {
            let Object::Zone(zone, _) = &**zone else { return Err(unknown(object, method)) };
            let pattern = print::java(machine, pattern)?;
            Ok(V::text(format(machine, &pattern, ms.get(), Some(zone))?))
        }
        ("before", [value]) => {
            other(value).map(|other| V::truth(ms.get() < other)).ok_or_else(|| unknown(object, method))
        }
        ("after", [value]) => {
            other(value).map(|other| V::truth(ms.get() > other)).ok_or_else(|| unknown(object, method))
        }
        ("compareTo", [value]) => other(value)
            .map(|other| V::int(ms.get().cmp(&other) as i64))
            .ok_or_else(|| unknown(object, method)),
        ("plus" | "minus", [days]) if days.as_long().is_some() => {
            let days = days.as_long().ok_or_else(|| unknown(object, method))?;
            let days = if method == "plus" { days } else { days.saturating_neg() };
            let at = Span::new()
                .try_days(days)
                .and_then(|days| at.checked_add(days))
                .map_err(|error| thrown("IllegalArgumentException", error.to_string()))?;
            Ok(V::object(Object::Date(instant(at, &zone)?.into())))
        }
        ("clone", []) => Ok(V::object(Object::Date(ms.clone()))),
        ("toInstant", []) => Ok(of_instant(ms.get())),
        ("getYear", []) => Ok(V::int(i64::from(at.year()) - 1900)),
        ("getMonth", []) => Ok(V::int(i64::from(at.month()) - 1)),
        ("getDate", []) => Ok(V::int(i64::from(at.day()))),
        ("getDay", []) => Ok(V::int(i64::from(at.weekday().to_sunday_zero_offset()))),
        ("getHours", []) => Ok(V::int(i64::from(at.hour()))),
        ("getMinutes", []) => Ok(V::int(i64::from(at.minute()))),
        ("getSeconds", []) => Ok(V::int(i64::from(at.second()))),
        ("minus", [V::Object(other)]) if matches!(**other, Object::Date(_)) => {
            let earlier = local(other.instant().unwrap_or(0), &zone);
            let days = earlier.date().until((jiff::Unit::Day, at.date())).map(|span| span.get_days());
            Ok(V::int(i64::from(days.unwrap_or(0))))
        }
        ("clearTime", []) => {
            ms.set(instant(at.date().to_datetime(jiff::civil::Time::midnight()), &zone)?);
            Ok(object.clone())
        }
        ("toGMTString", []) => {
            Ok(V::text(format(machine, "d MMM yyyy HH:mm:ss 'GMT'", ms.get(), Some(&TimeZone::UTC))?))
        }
        ("getAt", [_]) => {
            let calendar = V::object(Object::Calendar(ms.clone(), RefCell::new(zone)));
            machine.invoke(&calendar, "get", arguments.to_vec())
        }
        _ => Err(unknown(object, method)),
    }
}

/// The value of a constant of `Calendar`, such as `YEAR`.
pub fn calendar_constant(name: &str) -> Option<i64> {
    Some(match name {
        "ERA" => 0,
        "YEAR" => 1,
        "MONTH" => 2,
        "WEEK_OF_YEAR" => 3,
        "DATE" | "DAY_OF_MONTH" => 5,
        "DAY_OF_YEAR" => 6,
        "DAY_OF_WEEK" => 7,
        "AM_PM" => 9,
        "HOUR" => 10,
        "HOUR_OF_DAY" => 11,
        "MINUTE" => 12,
        "SECOND" => 13,
        "MILLISECOND" => 14,
        "JANUARY" | "AM" => 0,
        "FEBRUARY" | "SUNDAY" | "PM" => 1,
        "MARCH" | "MONDAY" => 2,
        "APRIL" | "TUESDAY" => 3,
        "MAY" | "WEDNESDAY" => 4,
        "JUNE" | "THURSDAY" => 5,
        "JULY" | "FRIDAY" => 6,
        "AUGUST" | "SATURDAY" => 7,
        "SEPTEMBER" => 8,
        "OCTOBER" => 9,
        "NOVEMBER" => 10,
        "DECEMBER" => 11,
        _ => return None,
    })
}

/// A span of `amount` units of a calendar field.
fn span(field: i64, amount: i64) -> Option<Result<Span, jiff::Error>> {
    let zero = Span::new();
    Some(match field {
        1 => zero.try_years(amount),
        2 => zero.try_months(amount),
        3 | 4 => zero.try_weeks(amount),
        5..=7 => zero.try_days(amount),
        10 | 11 => zero.try_hours(amount),
        12 => zero.try_minutes(amount),
        13 => zero.try_seconds(amount),
        14 => zero.try_milliseconds(amount),
        _ => return None,
    })
}

pub fn call_calendar(
    machine: &mut Machine<'_>,
    ms: &Cell<i64>,
    zone: &RefCell<TimeZone>,
    object: &V,
    method: &str,
    arguments: &[V],
) -> Outcome {
    let own = zone.borrow().clone();
    let at = local(ms.get(), &own);
    let long = |value: &V| value.as_long().ok_or_else(|| unknown(object, method));
    match (method, arguments) {
        ("getTime", []) => Ok(V::object(Object::Date(ms.clone()))),
        ("getTimeInMillis", []) => Ok(V::long(ms.get())),
        ("setTimeInMillis", [to]) => {
            ms.set(long(to)?);
            Ok(V::NULL)
        }
        ("setTime", [V::Object(date)]) => {
            ms.set(date.instant().ok_or_else(|| unknown(object, method))?);
            Ok(V::NULL)
        }
        ("setTimeZone", [V::Object(to)]) => match &**to {
            Object::Zone(to, _) => {
                zone.replace(to.clone());
                Ok(V::NULL)
            }
            _ => Err(unknown(object, method)),
        },
        ("add", [field, amount]) => {
            let (field, amount) = (long(field)?, long(amount)?);
            let span = span(field, amount).ok_or_else(|| unsupported("this field of a Calendar"))?;
            let failed = |error: jiff::Error| thrown("IllegalArgumentException", error.to_string());
            let span = span.map_err(failed)?;
            // Adding days or longer units preserves the local time; shorter units add elapsed time.
            if field >= 10 {
                let moved = Timestamp::from_millisecond(ms.get())
                    .and_then(|at| at.checked_add(span))
                    .map_err(failed)?;
                ms.set(moved.as_millisecond());
            } else {
                ms.set(instant(at.checked_add(span).map_err(failed)?, &own)?);
            }
            Ok(V::NULL)
        }
        ("get", [field]) => {
            let sunday_first = |weekday: Weekday| i64::from(weekday.to_sunday_zero_offset()) + 1;
            Ok(V::int(match long(field)? {
                1 => i64::from(at.year()),
                2 => i64::from(at.month()) - 1,
                5 => i64::from(at.day()),
                6 => i64::from(at.day_of_year()),
                7 => sunday_first(at.weekday()),
                9 => i64::from(at.hour() >= 12),
                10 => i64::from(at.hour() % 12),
                11 => i64::from(at.hour()),
                12 => i64::from(at.minute()),
                13 => i64::from(at.second()),
                14 => i64::from(at.millisecond()),
                _ => return Err(unsupported("this field of a Calendar")),
            }))
        }
        ("set", [field, value]) => {
            let (field, value) = (long(field)?, long(value)?);
            let mut parts = [
                i64::from(at.year()),
                i64::from(at.month()) - 1,
                i64::from(at.day()),
                i64::from(at.hour()),
                i64::from(at.minute()),
                i64::from(at.second()),
            ];
            let mut nanos = i64::from(at.subsec_nanosecond());
            match field {
                1 => parts[0] = value,
                2 => parts[1] = value,
                5 => parts[2] = value,
                10 => parts[3] = parts[3] / 12 * 12 + value,
                11 => parts[3] = value,
                12 => parts[4] = value,
                13 => parts[5] = value,
                14 => nanos = value * 1_000_000,
                _ => return Err(unsupported("this field of a Calendar")),
            }
            ms.set(instant(lenient(&parts, nanos)?, &own)?);
            Ok(V::NULL)
        }
        ("set", fields) if fields.len() >= 3 => {
            let mut parts = [0, 0, 0, i64::from(at.hour()), i64::from(at.minute()), i64::from(at.second())];
            for (part, value) in parts.iter_mut().zip(fields) {
                *part = long(value)?;
            }
            ms.set(instant(lenient(&parts, i64::from(at.subsec_nanosecond()))?, &own)?);
            Ok(V::NULL)
        }
        _ => call_calendar_getter(machine, ms, zone, object, method, arguments),
    }
}

/// Calls methods that read a calendar, and those that reset its time.
fn call_calendar_getter(
    machine: &mut Machine<'_>,
    ms: &Cell<i64>,
    zone: &RefCell<TimeZone>,
    object: &V,
    method: &str,
    arguments: &[V],
) -> Outcome {
    let own = zone.borrow().clone();
    let at = local(ms.get(), &own);
    match (method, arguments) {
        ("getActualMaximum", [field]) if field.as_long() == Some(5) => {
            Ok(V::int(i64::from(at.date().days_in_month())))
        }
        ("format", [pattern]) => {
            let pattern = print::java(machine, pattern)?;
            Ok(V::text(format(machine, &pattern, ms.get(), Some(&own))?))
        }
        ("clone", []) => Ok(V::object(Object::Calendar(ms.clone(), zone.clone()))),
        ("before" | "after" | "compareTo", [V::Object(other)]) => {
            let order = Some(ms.get()).cmp(&other.instant());
            Ok(match method {
                "before" => V::truth(order.is_lt()),
                "after" => V::truth(order.is_gt()),
                _ => V::int(order as i64),
            })
        }
        ("toInstant", []) => Ok(of_instant(ms.get())),
        ("getTimeZone", []) => Ok(V::object(Object::Zone(own, "system".into()))),
        ("isLeapYear", [year]) => {
            let year = year.as_long().unwrap_or(0);
            Ok(V::truth(year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)))
        }
        ("clear", []) => {
            ms.set(instant(DateTime::constant(1970, 1, 1, 0, 0, 0, 0), &own)?);
            Ok(V::NULL)
        }
        ("getActualMaximum", [field]) => Ok(V::int(match field.as_long() {
            Some(1) => 292_278_994,
            Some(2) => 11,
            Some(6) => i64::from(at.date().days_in_year()),
            Some(11) => 23,
            Some(12 | 13) => 59,
            _ => return Err(unknown(object, method)),
        })),
        ("getAt", [_]) => machine.invoke(object, "get", arguments.to_vec()),
        ("clearTime", []) => {
            ms.set(instant(at.date().to_datetime(jiff::civil::Time::midnight()), &own)?);
            Ok(object.clone())
        }
        _ => Err(unknown(object, method)),
    }
}

/// A date and time whose fields may be out of range, as in a lenient calendar.
fn lenient(parts: &[i64; 6], nanos: i64) -> Result<DateTime, Fault> {
    let [year, month, day, hour, minute, second] = *parts;
    let failed = |error: jiff::Error| thrown("IllegalArgumentException", error.to_string());
    let year16 = i16::try_from(year).map_err(|_| thrown("IllegalArgumentException", "YEAR"))?;
    let start = DateTime::new(year16, 1, 1, 0, 0, 0, 0).map_err(failed)?;
    let zero = Span::new();
    start
        .checked_add(zero.try_months(month).map_err(failed)?)
        .and_then(|at| at.checked_add(zero.try_days(day.saturating_sub(1))?))
        .and_then(|at| at.checked_add(zero.try_hours(hour)?))
        .and_then(|at| at.checked_add(zero.try_minutes(minute)?))
        .and_then(|at| at.checked_add(zero.try_seconds(second)?))
        .and_then(|at| at.checked_add(zero.try_nanoseconds(nanos)?))
        .map_err(failed)
}

pub fn call_date_format(
    machine: &mut Machine<'_>,
    pattern: &str,
    zone: &RefCell<Option<TimeZone>>,
    object: &V,
    method: &str,
    arguments: &[V],
) -> Outcome {
    let own = zone.borrow().clone();
    match (method, arguments) {
        ("format", [V::Object(date)]) => {
            let ms = date.instant().ok_or_else(|| unknown(object, method))?;
            Ok(V::text(format(machine, pattern, ms, own.as_ref())?))
        }
        ("format", [number]) if number.as_long().is_some() => {
            Ok(V::text(format(machine, pattern, number.as_long().unwrap_or(0), own.as_ref())?))
        }
        ("parse", [text]) => {
            let text = super::text_of(machine, text)?;
            let ms = parse(machine, pattern, &text, own.as_ref())?;
            Ok(V::object(Object::Date(ms.into())))
        }
        ("setTimeZone", [V::Object(to)]) => match &**to {
            Object::Zone(to, _) => {
                zone.replace(Some(to.clone()));
                Ok(V::NULL)
            }
            _ => Err(unknown(object, method)),
        },
        ("getTimeZone", []) => {
            Ok(V::object(Object::Zone(own.unwrap_or_else(TimeZone::system), "system".into())))
        }
        ("setLenient", [_]) => Ok(V::NULL),
        ("toPattern", []) => Ok(V::text(pattern)),
        _ => Err(unknown(object, method)),
    }
}

/// An `Instant`.
pub fn of_instant(ms: i64) -> V {
    let at =
        Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(TimeZone::UTC).datetime();
    V::object(Object::Temporal(Temporal::Instant, at, TimeZone::UTC))
}
