//! `java.time`.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::super::fault::{Fault, Outcome, thrown, unsupported};
use super::super::machine::Machine;
use super::super::objects::{Object, Temporal};
use super::super::value::V;
use super::{print, time, unknown};

fn failed(error: jiff::Error) -> Fault {
    thrown("RuntimeException", error.to_string())
}

/// `LocalDate.now()`, `LocalDate.parse(…)`, `LocalDate.of(…)` and their like.
pub fn create(machine: &mut Machine<'_>, class: &str, method: &str, arguments: &[V]) -> Outcome {
    let kind = match class {
        "LocalDate" => Temporal::Date,
        "LocalTime" => Temporal::Time,
        "LocalDateTime" => Temporal::DateTime,
        "Instant" => Temporal::Instant,
        _ => Temporal::Zoned,
    };
    let long = |value: &V| {
        value.as_long().ok_or_else(|| unsupported(format!("`{class}.{method}` with these arguments")))
    };
    match (method, arguments) {
        ("now", rest @ ([] | [_])) => {
            let zone = match rest {
                [] if kind == Temporal::Instant => TimeZone::UTC,
                [] => TimeZone::system(),
                [V::Object(object)] => match &**object {
                    Object::Zone(zone, _) => zone.clone(),
                    _ => return Err(unsupported(format!("`{class}.now` with this argument"))),
                },
                _ => return Err(unsupported(format!("`{class}.now` with this argument"))),
            };
            let now = Timestamp::from_millisecond(machine.scope.wall_clock_ms()).map_err(failed)?;
            Ok(V::object(Object::Temporal(kind, now.to_zoned(zone.clone()).datetime(), zone)))
        }
        ("ofEpochMilli" | "ofEpochSecond", [number]) if kind == Temporal::Instant => {
            let number = long(number)?;
            Ok(time::of_instant(if method == "ofEpochMilli" { number } else { number.saturating_mul(1000) }))
        }
        ("of", parts) if parts.len() >= 3 && kind != Temporal::Time && kind != Temporal::Zoned => {
            let mut numbers = [0_i64; 7];
            for (number, part) in numbers.iter_mut().zip(parts) {
                *number = long(part)?;
            }
            let [year, month, day, hour, minute, second, nanos] = numbers;
            let at = DateTime::new(
                year as i16,
                month as i8,
                day as i8,
                hour as i8,
                minute as i8,
                second as i8,
                nanos as i32,
            )
            .map_err(failed)?;
            Ok(V::object(Object::Temporal(kind, at, TimeZone::system())))
        }
        ("parse", [text]) => {
            let text = super::text_of(machine, text)?;
            let at = match kind {
                Temporal::Date => text
                    .parse::<jiff::civil::Date>()
                    .map(|date| date.to_datetime(jiff::civil::Time::midnight())),
                Temporal::DateTime => text.parse(),
                Temporal::Instant => {
                    text.parse::<Timestamp>().map(|at| at.to_zoned(TimeZone::UTC).datetime())
                }
                _ => return Err(unsupported(format!("`{class}.parse`"))),
            };
            let zone = if kind == Temporal::Instant { TimeZone::UTC } else { TimeZone::system() };
            Ok(V::object(Object::Temporal(kind, at.map_err(failed)?, zone)))
        }
        ("parse", [text, V::Object(formatter)]) => {
            let Object::Formatter(pattern) = &**formatter else { return Err(unsupported("this formatter")) };
            let text = super::text_of(machine, text)?;
            let ms = time::parse(machine, pattern, &text, Some(&TimeZone::UTC))?;
            let at = Timestamp::from_millisecond(ms).map_err(failed)?.to_zoned(TimeZone::UTC).datetime();
            Ok(V::object(Object::Temporal(kind, at, TimeZone::system())))
        }
        _ => Err(unsupported(format!("`{class}.{method}` with these arguments"))),
    }
}

/// A span of so many units; an error if it is longer than any two dates are apart.
fn unit_span(unit: &str, amount: i64) -> Option<Result<jiff::Span, jiff::Error>> {
    let zero = jiff::Span::new();
    Some(match unit {
        "NANOS" => zero.try_nanoseconds(amount),
        "MICROS" => zero.try_microseconds(amount),
        "MILLIS" => zero.try_milliseconds(amount),
        "SECONDS" => zero.try_seconds(amount),
        "MINUTES" => zero.try_minutes(amount),
        "HOURS" => zero.try_hours(amount),
        "DAYS" => zero.try_days(amount),
        "WEEKS" => zero.try_weeks(amount),
        "MONTHS" => zero.try_months(amount),
        "YEARS" => zero.try_years(amount),
        _ => return None,
    })
}

pub fn call(machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
    let V::Object(inner) = object else { return Err(unknown(object, method)) };
    let Object::Temporal(kind, at, zone) = &**inner else { return Err(unknown(object, method)) };
    let make = |kind: Temporal, at: DateTime, zone: TimeZone| V::object(Object::Temporal(kind, at, zone));
    let moves = method
        .strip_prefix("plus")
        .map(|unit| (unit, 1))
        .or_else(|| method.strip_prefix("minus").map(|unit| (unit, -1)));
    if let (Some((unit, sign)), [amount, rest @ ..]) = (moves, arguments)
        && let Some(amount) = amount.as_long()
    {
        let name = match (unit, rest) {
            ("", [V::Object(unit)]) => match &**unit {
                Object::Unit(name) => (*name).to_owned(),
                _ => return Err(unknown(object, method)),
            },
            (unit, []) => unit.to_uppercase(),
            _ => return Err(unknown(object, method)),
        };
        let span = unit_span(&name, amount.saturating_mul(sign)).ok_or_else(|| unknown(object, method))?;
        let span = span.map_err(failed)?;
        return Ok(make(*kind, at.checked_add(span).map_err(failed)?, zone.clone()));
    }
    match (method, arguments) {
        ("format", [V::Object(formatter)]) => {
            let Object::Formatter(pattern) = &**formatter else { return Err(unknown(object, method)) };
            let ms = inner.instant().ok_or_else(|| unknown(object, method))?;
            Ok(V::text(time::format(machine, pattern, ms, Some(zone))?))
        }
        ("format", [pattern]) if machine.groovy() => {
            let pattern = print::java(machine, pattern)?;
            let ms = inner.instant().ok_or_else(|| unknown(object, method))?;
            Ok(V::text(time::format(machine, &pattern, ms, Some(zone))?))
        }
        ("toEpochMilli", []) => inner.instant().map(V::long).ok_or_else(|| unknown(object, method)),
        ("getEpochSecond" | "toEpochSecond", []) => {
            inner.instant().map(|ms| V::long(ms.div_euclid(1000))).ok_or_else(|| unknown(object, method))
        }
        ("toEpochSecond", [_]) => {
            Ok(V::long(at.to_zoned(TimeZone::UTC).map_err(failed)?.timestamp().as_second()))
        }
        ("toInstant", []) => inner.instant().map(time::of_instant).ok_or_else(|| unknown(object, method)),
        ("toInstant", [V::Object(zone)]) => match &**zone {
            Object::Zone(zone, _) => {
                Ok(time::of_instant(at.to_zoned(zone.clone()).map_err(failed)?.timestamp().as_millisecond()))
            }
            _ => Err(unknown(object, method)),
        },
        ("atZone", [V::Object(to)]) => match &**to {
            Object::Zone(to, _) if *kind == Temporal::Instant => {
                let here = at.to_zoned(TimeZone::UTC).map_err(failed)?.with_time_zone(to.clone()).datetime();
                Ok(make(Temporal::Zoned, here, to.clone()))
            }
            Object::Zone(to, _) => Ok(make(Temporal::Zoned, *at, to.clone())),
            _ => Err(unknown(object, method)),
        },
        ("toLocalDate", []) => {
            Ok(make(Temporal::Date, at.date().to_datetime(jiff::civil::Time::midnight()), zone.clone()))
        }
        ("toLocalTime", []) => Ok(make(Temporal::Time, *at, zone.clone())),
        ("toLocalDateTime" | "atStartOfDay", []) => {
            let at = if method == "atStartOfDay" {
                at.date().to_datetime(jiff::civil::Time::midnight())
            } else {
                *at
            };
            Ok(make(Temporal::DateTime, at, zone.clone()))
        }
        _ => fields(object, method, arguments),
    }
}

/// Fields and comparisons.
fn fields(object: &V, method: &str, arguments: &[V]) -> Outcome {
    let V::Object(inner) = object else { return Err(unknown(object, method)) };
    let Object::Temporal(kind, at, zone) = &**inner else { return Err(unknown(object, method)) };
    let make = |kind: Temporal, at: DateTime, zone: TimeZone| V::object(Object::Temporal(kind, at, zone));
    match (method, arguments) {
        ("getYear", []) => Ok(V::int(i64::from(at.year()))),
        ("getMonthValue", []) => Ok(V::int(i64::from(at.month()))),
        ("getDayOfMonth", []) => Ok(V::int(i64::from(at.day()))),
        ("getDayOfYear", []) => Ok(V::int(i64::from(at.day_of_year()))),
        ("getHour", []) => Ok(V::int(i64::from(at.hour()))),
        ("getMinute", []) => Ok(V::int(i64::from(at.minute()))),
        ("getSecond", []) => Ok(V::int(i64::from(at.second()))),
        ("getNano", []) => Ok(V::int(i64::from(at.subsec_nanosecond()))),
        ("isBefore" | "isAfter" | "isEqual" | "compareTo", [V::Object(other)]) => {
            let Object::Temporal(_, other, _) = &**other else { return Err(unknown(object, method)) };
            Ok(match method {
                "isBefore" => V::truth(at < other),
                "isAfter" => V::truth(at > other),
                "isEqual" => V::truth(at == other),
                _ => V::int(at.cmp(other) as i64),
            })
        }
        (
            "withDayOfMonth" | "withHour" | "withMinute" | "withSecond" | "withNano" | "withMonth"
            | "withYear",
            [to],
        ) => {
            let to = to.as_long().ok_or_else(|| unknown(object, method))?;
            let with = at.with();
            let made = match method {
                "withDayOfMonth" => with.day(to as i8),
                "withHour" => with.hour(to as i8),
                "withMinute" => with.minute(to as i8),
                "withSecond" => with.second(to as i8),
                "withNano" => with.subsec_nanosecond(to as i32),
                "withMonth" => with.month(to as i8),
                _ => with.year(to as i16),
            };
            Ok(make(*kind, made.build().map_err(failed)?, zone.clone()))
        }
        ("truncatedTo", [V::Object(unit)]) => {
            let Object::Unit(unit) = &**unit else { return Err(unknown(object, method)) };
            let unit = match *unit {
                "NANOS" => jiff::Unit::Nanosecond,
                "MICROS" => jiff::Unit::Microsecond,
                "MILLIS" => jiff::Unit::Millisecond,
                "SECONDS" => jiff::Unit::Second,
                "MINUTES" => jiff::Unit::Minute,
                "HOURS" => jiff::Unit::Hour,
                "DAYS" if *kind != Temporal::Date => jiff::Unit::Day,
                unit => {
                    return Err(thrown(
                        "UnsupportedOperationException",
                        format!("Unit is too large to be used for truncation: {unit}"),
                    ));
                }
            };
            let rounding = jiff::civil::DateTimeRound::new().smallest(unit).mode(jiff::RoundMode::Trunc);
            Ok(make(*kind, at.round(rounding).map_err(failed)?, zone.clone()))
        }
        ("withZoneSameInstant", [V::Object(to)]) if *kind == Temporal::Zoned => match &**to {
            Object::Zone(to, _) => {
                let here = at.to_zoned(zone.clone()).map_err(failed)?.with_time_zone(to.clone()).datetime();
                Ok(make(Temporal::Zoned, here, to.clone()))
            }
            _ => Err(unknown(object, method)),
        },
        ("withZoneSameLocal", [V::Object(to)]) if *kind == Temporal::Zoned => match &**to {
            Object::Zone(to, _) => Ok(make(Temporal::Zoned, *at, to.clone())),
            _ => Err(unknown(object, method)),
        },
        ("lengthOfMonth", []) => Ok(V::int(i64::from(at.date().days_in_month()))),
        _ => Err(unknown(object, method)),
    }
}
