//! Dates and times of `java.time`.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::super::fault::{Fault, Outcome, thrown, unsupported};
use super::super::machine::Machine;
use super::super::objects::{Object, Temporal};
use super::super::value::V;
use super::{java_duration, print, time, unknown, zones};

fn runtime_exception(error: jiff::Error) -> Fault {
    thrown("RuntimeException", error.to_string())
}

/// Calls static methods such as `LocalDate.now()`, `LocalDate.parse(…)` and `LocalDate.of(…)`.
#[allow(clippy::too_many_lines, reason = "one arm for each method")]
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
            let now =
                Timestamp::from_millisecond(machine.scope.wall_clock_ms()).map_err(runtime_exception)?;
            let zone = if class == "OffsetDateTime" { zones::fixed_zone_at(now, &zone) } else { zone };
            Ok(V::object(Object::Temporal(kind, now.to_zoned(zone.clone()).datetime(), zone)))
        }
        ("ofEpochMilli" | "ofEpochSecond", [number]) if kind == Temporal::Instant => {
            let number = long(number)?;
            Ok(time::of_instant(if method == "ofEpochMilli" { number } else { number.saturating_mul(1000) }))
        }
        ("of" | "ofInstant", parts) if kind == Temporal::Zoned => zones::zoned_of(class, parts),
        ("of", parts) if kind == Temporal::Time && (2..=4).contains(&parts.len()) => {
            let mut numbers = [0_i64; 4];
            for (number, part) in numbers.iter_mut().zip(parts) {
                *number = long(part)?;
            }
            let [hour, minute, second, nanos] = numbers;
            Ok(time_of_day(hour, minute, second, nanos))
        }
        ("of", [V::Object(date), V::Object(time)]) if kind == Temporal::DateTime => {
            match (&**date, &**time) {
                (Object::Temporal(_, date, _), Object::Temporal(_, time, _)) => {
                    let at = date.date().to_datetime(time.time());
                    Ok(V::object(Object::Temporal(kind, at, TimeZone::system())))
                }
                _ => Err(unsupported(format!("`{class}.of` with these arguments"))),
            }
        }
        ("of", [year, V::Object(month), rest @ ..]) => {
            let Some((_, month)) = month.library().and_then(|month| month.constant()) else {
                return Err(unsupported(format!("`{class}.of` with these arguments")));
            };
            let mut parts = vec![year.clone(), V::int(month)];
            parts.extend(rest.iter().cloned());
            create(machine, class, method, &parts)
        }
        ("ofEpochDay", [days]) => {
            let start = jiff::civil::date(1970, 1, 1);
            let span = jiff::Span::new().try_days(long(days)?).map_err(runtime_exception)?;
            let at = start
                .checked_add(span)
                .map_err(runtime_exception)?
                .to_datetime(jiff::civil::Time::midnight());
            Ok(V::object(Object::Temporal(kind, at, TimeZone::system())))
        }
        ("ofYearDay", [year, day]) => {
            let start = jiff::civil::Date::new(long(year)? as i16, 1, 1).map_err(runtime_exception)?;
            let span = jiff::Span::new().try_days(long(day)?.saturating_sub(1)).map_err(runtime_exception)?;
            let at = start
                .checked_add(span)
                .map_err(runtime_exception)?
                .to_datetime(jiff::civil::Time::midnight());
            Ok(V::object(Object::Temporal(kind, at, TimeZone::system())))
        }
        ("ofEpochSecond", [second, nanos, V::Object(zone)]) if kind == Temporal::DateTime => {
            let Object::Zone(zone, _) = &**zone else { return Err(unsupported("this zone")) };
            let at = Timestamp::new(long(second)?, long(nanos)? as i32).map_err(runtime_exception)?;
            Ok(V::object(Object::Temporal(kind, at.to_zoned(zone.clone()).datetime(), TimeZone::system())))
        }
        ("ofInstant", [V::Object(instant), V::Object(zone)]) => match (&**instant, &**zone) {
            (Object::Temporal(_, at, _), Object::Zone(zone, _)) => {
                let at = at
                    .to_zoned(TimeZone::UTC)
                    .map_err(runtime_exception)?
                    .with_time_zone(zone.clone())
                    .datetime();
                Ok(V::object(Object::Temporal(kind, at, zone.clone())))
            }
            _ => Err(unsupported(format!("`{class}.ofInstant` with these arguments"))),
        },
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
            .map_err(runtime_exception)?;
            Ok(V::object(Object::Temporal(kind, at, TimeZone::system())))
        }
        ("parse", [text]) if kind == Temporal::Zoned => {
            let text = super::text_of(machine, text)?;
            zones::parse_zoned(machine, &text)
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
                Temporal::Time => text
                    .parse::<jiff::civil::Time>()
                    .map(|time| jiff::civil::date(1970, 1, 1).to_datetime(time)),
                Temporal::Zoned => return Err(unsupported(format!("`{class}.parse`"))),
            };
            let zone = if kind == Temporal::Instant { TimeZone::UTC } else { TimeZone::system() };
            let at = at.map_err(|_| parse_exception(&text, kind))?;
            Ok(V::object(Object::Temporal(kind, at, zone)))
        }
        ("parse", [text, V::Object(formatter)]) => {
            let Object::Formatter(pattern) = &**formatter else { return Err(unsupported("this formatter")) };
            let text = super::text_of(machine, text)?;
            let ms = time::parse(machine, pattern, &text, Some(&TimeZone::UTC))?;
            let at = Timestamp::from_millisecond(ms)
                .map_err(runtime_exception)?
                .to_zoned(TimeZone::UTC)
                .datetime();
            Ok(V::object(Object::Temporal(kind, at, TimeZone::system())))
        }
        _ => Err(unsupported(format!("`{class}.{method}` with these arguments"))),
    }
}

/// A `LocalTime`.
pub fn time_of_day(hour: i64, minute: i64, second: i64, nanos: i64) -> V {
    let time = jiff::civil::Time::new(hour as i8, minute as i8, second as i8, nanos as i32);
    let at = jiff::civil::date(1970, 1, 1).to_datetime(time.unwrap_or(jiff::civil::Time::midnight()));
    V::object(Object::Temporal(Temporal::Time, at, TimeZone::system()))
}

/// Java's exception for a text that is not a date or time.
fn parse_exception(text: &str, kind: Temporal) -> Fault {
    let shape: &[u8] = match kind {
        Temporal::Date => b"0000-00-00",
        Temporal::Time => b"00:00",
        _ => b"0000-00-00T00:00",
    };
    let fits = |(at, wanted): (usize, &u8)| match (text.as_bytes().get(at), wanted) {
        (Some(found), b'0') => found.is_ascii_digit(),
        (Some(found), wanted) => found == wanted,
        (None, _) => false,
    };
    let number = |from: usize| text.get(from..from + 2).and_then(|digits| digits.parse::<u32>().ok());
    let message = match shape.iter().enumerate().position(|pair| !fits(pair)) {
        // Java reports the start of the field that does not match.
        Some(at) if at < 4 => format!("Text '{text}' could not be parsed at index 0"),
        Some(at) => format!("Text '{text}' could not be parsed at index {at}"),
        None => match (kind, number(5), number(8)) {
            (Temporal::Date | Temporal::DateTime, Some(month), _) if !(1..=12).contains(&month) => {
                format!(
                    "Text '{text}' could not be parsed: Invalid value for MonthOfYear (valid values 1 - 12): {month}"
                )
            }
            (Temporal::Date | Temporal::DateTime, _, Some(day)) if !(1..=31).contains(&day) => {
                format!(
                    "Text '{text}' could not be parsed: Invalid value for DayOfMonth (valid values 1 - 28/31): {day}"
                )
            }
            _ => format!("Text '{text}' could not be parsed, unparsed text found at index {}", shape.len()),
        },
    };
    thrown("DateTimeParseException", message)
}

/// A span of `amount` units; an error if it exceeds the range of dates.
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

#[allow(clippy::too_many_lines, reason = "one arm for each method")]
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
        let span = span.map_err(runtime_exception)?;
        return Ok(make(*kind, at.checked_add(span).map_err(runtime_exception)?, zone.clone()));
    }
    if let (Some((_, sign)), [amount]) = (moves.filter(|(unit, _)| unit.is_empty()), arguments) {
        if let Some([years, months, days]) = java_duration::period_of(amount) {
            let span = jiff::Span::new()
                .try_years(years * sign)
                .and_then(|span| span.try_months(months * sign))
                .and_then(|span| span.try_days(days * sign))
                .map_err(runtime_exception)?;
            return Ok(make(*kind, at.checked_add(span).map_err(runtime_exception)?, zone.clone()));
        }
        if let Some(nanos) = java_duration::nanos_of(amount) {
            let nanos = i64::try_from(nanos).map_err(|_| unknown(object, method))?;
            let span = jiff::Span::new().try_nanoseconds(nanos * sign).map_err(runtime_exception)?;
            return Ok(make(*kind, at.checked_add(span).map_err(runtime_exception)?, zone.clone()));
        }
    }
    match (method, arguments) {
        ("format", [V::Object(formatter)]) if format_predefined(inner, formatter).is_some() => {
            format_predefined(inner, formatter).unwrap_or(Ok(V::NULL))
        }
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
            Ok(V::long(at.to_zoned(TimeZone::UTC).map_err(runtime_exception)?.timestamp().as_second()))
        }
        ("toInstant", []) => inner.instant().map(time::of_instant).ok_or_else(|| unknown(object, method)),
        ("toInstant", [V::Object(zone)]) => match &**zone {
            Object::Zone(zone, _) => Ok(time::of_instant(
                at.to_zoned(zone.clone()).map_err(runtime_exception)?.timestamp().as_millisecond(),
            )),
            _ => Err(unknown(object, method)),
        },
        ("atZone", [V::Object(to)]) => match &**to {
            Object::Zone(to, _) if *kind == Temporal::Instant => {
                let here = at
                    .to_zoned(TimeZone::UTC)
                    .map_err(runtime_exception)?
                    .with_time_zone(to.clone())
                    .datetime();
                Ok(make(Temporal::Zoned, here, to.clone()))
            }
            Object::Zone(to, _) => Ok(make(Temporal::Zoned, *at, to.clone())),
            _ => Err(unknown(object, method)),
        },
        ("atStartOfDay", [V::Object(to)]) => match &**to {
            Object::Zone(to, _) => {
                let at = at.date().to_datetime(jiff::civil::Time::midnight());
                Ok(make(Temporal::Zoned, at, to.clone()))
            }
            _ => Err(unknown(object, method)),
        },
        ("atOffset", [V::Object(to)]) => match &**to {
            Object::Zone(to, _) if *kind == Temporal::Instant => {
                let here = at
                    .to_zoned(TimeZone::UTC)
                    .map_err(runtime_exception)?
                    .with_time_zone(to.clone())
                    .datetime();
                Ok(make(Temporal::Zoned, here, to.clone()))
            }
            Object::Zone(to, _) => Ok(make(Temporal::Zoned, *at, to.clone())),
            _ => Err(unknown(object, method)),
        },
        ("atTime", [hour, minute, ..]) => {
            let part = |at: usize| arguments.get(at).and_then(V::as_long).unwrap_or(0);
            let (Some(hour), Some(minute)) = (hour.as_long(), minute.as_long()) else {
                return Err(unknown(object, method));
            };
            let V::Object(time) = time_of_day(hour, minute, part(2), part(3)) else {
                return Err(unknown(object, method));
            };
            let Object::Temporal(_, time, _) = &*time else { return Err(unknown(object, method)) };
            Ok(make(Temporal::DateTime, at.date().to_datetime(time.time()), zone.clone()))
        }
        ("until", [V::Object(_), unit @ V::Object(_)]) => {
            machine.invoke(unit, "between", vec![object.clone(), arguments[0].clone()])
        }
        ("toEpochDay", []) => {
            let start = jiff::civil::date(1970, 1, 1);
            let days = start.until((jiff::Unit::Day, at.date())).map_err(runtime_exception)?.get_days();
            Ok(V::long(i64::from(days)))
        }
        ("getDayOfWeek", []) => {
            Ok(java_duration::constant("DayOfWeek", i64::from(at.weekday().to_monday_one_offset())))
        }
        ("getMonth", []) => Ok(java_duration::constant("Month", i64::from(at.month()))),
        ("isLeapYear", []) => Ok(V::truth(at.date().in_leap_year())),
        ("getZone" | "getOffset", []) if *kind == Temporal::Zoned => {
            let offset = at.to_zoned(zone.clone()).map_err(runtime_exception)?.offset();
            let name = zones::offset_text(offset);
            Ok(if method == "getOffset" {
                zones::zone_value(TimeZone::fixed(offset), &name)
            } else {
                zones::zone_value(zone.clone(), &name)
            })
        }
        ("toOffsetDateTime" | "toZonedDateTime", []) if *kind == Temporal::Zoned => {
            let offset = at.to_zoned(zone.clone()).map_err(runtime_exception)?.offset();
            Ok(make(Temporal::Zoned, *at, TimeZone::fixed(offset)))
        }
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
        _ => call_field_method(object, method, arguments),
    }
}

/// Formats with a predefined formatter; `None` if the formatter has a pattern.
pub fn format_predefined(temporal: &Object, formatter: &Object) -> Option<Outcome> {
    let (Object::Temporal(kind, at, zone), Object::Formatter(name)) = (temporal, formatter) else {
        return None;
    };
    let time = || {
        let mut text = at.time().strftime("%H:%M:%S").to_string();
        let nanos = at.time().subsec_nanosecond();
        if nanos != 0 {
            let digits = format!("{nanos:09}");
            text.push('.');
            text.push_str(digits.trim_end_matches('0'));
        }
        text
    };
    let zone_text = || match kind {
        Temporal::Zoned => zones::zone_suffix(*at, zone).unwrap_or_default(),
        _ => String::new(),
    };
    Some(Ok(V::text(match name.as_str() {
        "ISO_LOCAL_TIME" => time(),
        "ISO_LOCAL_DATE_TIME" => format!("{}T{}", at.date(), time()),
        "ISO_ZONED_DATE_TIME" | "ISO_DATE_TIME" => format!("{}T{}{}", at.date(), time(), zone_text()),
        "ISO_OFFSET_DATE_TIME" => {
            format!("{}T{}{}", at.date(), time(), zone_text().split('[').next().unwrap_or(""))
        }
        "ISO_INSTANT" => {
            let utc = if *kind == Temporal::Zoned { zone.clone() } else { TimeZone::UTC };
            let instant = at.to_zoned(utc).ok()?.timestamp();
            // A fraction has three, six or nine digits.
            let text = instant.to_string();
            match text.split_once('.') {
                Some((start, fraction)) => {
                    let digits = fraction.trim_end_matches('Z');
                    let width = digits.len().div_ceil(3) * 3;
                    format!("{start}.{digits:0<width$}Z")
                }
                None => text,
            }
        }
        _ => return None,
    })))
}

/// Calls methods that read, change or compare fields.
fn call_field_method(object: &V, method: &str, arguments: &[V]) -> Outcome {
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
            Ok(make(*kind, made.build().map_err(runtime_exception)?, zone.clone()))
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
            Ok(make(*kind, at.round(rounding).map_err(runtime_exception)?, zone.clone()))
        }
        ("withZoneSameInstant", [V::Object(to)]) if *kind == Temporal::Zoned => match &**to {
            Object::Zone(to, _) => {
                let here = at
                    .to_zoned(zone.clone())
                    .map_err(runtime_exception)?
                    .with_time_zone(to.clone())
                    .datetime();
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
