//! Time zones, and dates and times with a zone.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};

use super::super::fault::{Fault, Outcome, thrown, unsupported};
use super::super::machine::Machine;
use super::super::objects::{Object, Temporal};
use super::super::value::V;
use super::unknown;

fn date_time_exception(error: jiff::Error) -> Fault {
    thrown("DateTimeException", error.to_string())
}

/// The name of a zone. The zone UTC is represented by `Etc/UTC`, which distinguishes it from an offset of 0.
pub fn name_of(zone: &TimeZone, otherwise: &str) -> String {
    match zone.iana_name() {
        Some("Etc/UTC") => "UTC".to_owned(),
        Some("UTC") | None => otherwise.to_owned(),
        Some(name) => name.to_owned(),
    }
}

/// The text of an offset, such as `+02:00` or `Z`.
pub fn offset_text(offset: Offset) -> String {
    let seconds = offset.seconds();
    if seconds == 0 {
        return "Z".to_owned();
    }
    let (sign, seconds) = (if seconds < 0 { '-' } else { '+' }, seconds.unsigned_abs());
    let mut text = format!("{sign}{:02}:{:02}", seconds / 3600, seconds / 60 % 60);
    if seconds % 60 != 0 {
        text.push_str(&format!(":{:02}", seconds % 60));
    }
    text
}

/// The offset and zone at the end of the text of a `ZonedDateTime` or `OffsetDateTime`: `+01:00[Europe/Berlin]`.
pub fn zone_suffix(at: DateTime, zone: &TimeZone) -> Result<String, Fault> {
    let offset = at.to_zoned(zone.clone()).map_err(date_time_exception)?.offset();
    let region = match zone.iana_name() {
        Some("Etc/UTC") => "[UTC]".to_owned(),
        Some("UTC") | None => String::new(),
        Some(name) => format!("[{name}]"),
    };
    Ok(offset_text(offset) + &region)
}

/// The normalized name of a zone that is given by its offset: `GMT+2` becomes `GMT+02:00`.
pub fn normalized_name(name: &str) -> String {
    let digits = name.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let prefix = &name[..name.len() - digits.len()];
    let is_offset = matches!(prefix, "" | "GMT" | "UTC" | "UT") && digits.starts_with(['+', '-']);
    if !is_offset {
        return name.to_owned();
    }
    let offset = super::time::zone_of(digits).to_offset(Timestamp::UNIX_EPOCH);
    format!("{prefix}{}", offset_text(offset).trim_start_matches('Z'))
}

/// The zone as an object.
pub fn zone_value(zone: TimeZone, name: &str) -> V {
    V::object(Object::Zone(zone, name.to_owned()))
}

/// A `ZoneOffset` of the given number of seconds.
fn zone_offset(seconds: i64) -> Outcome {
    let offset = i32::try_from(seconds).ok().and_then(|seconds| Offset::from_seconds(seconds).ok());
    let Some(offset) = offset else {
        return Err(thrown("DateTimeException", "Zone offset not in valid range: -18:00 to +18:00"));
    };
    Ok(zone_value(TimeZone::fixed(offset), &offset_text(offset)))
}

/// Calls static methods such as `ZoneOffset.ofHours(2)`; `None` for other methods.
pub fn call_static(class: &str, method: &str, arguments: &[V]) -> Option<Outcome> {
    let long = |at: usize| arguments.get(at).and_then(V::as_long);
    Some(match (class, method, arguments.len()) {
        ("ZoneOffset", "ofHours", 1) => zone_offset(long(0)? * 3600),
        ("ZoneOffset", "ofHoursMinutes", 2) => zone_offset(long(0)? * 3600 + long(1)? * 60),
        ("ZoneOffset", "ofTotalSeconds", 1) => zone_offset(long(0)?),
        ("TimeZone", "setDefault", 1) => match &arguments[0] {
            // The time zone of the process cannot be changed; setting it to the same zone has no effect.
            V::Object(object) => match &**object {
                Object::Zone(zone, _) if has_same_offset(zone) => Ok(V::NULL),
                _ => Err(unsupported("`TimeZone.setDefault` with a zone other than the system's")),
            },
            _ => return None,
        },
        _ => return None,
    })
}

fn has_same_offset(zone: &TimeZone) -> bool {
    let times = [0_i64, 1_700_000_000, 1_720_000_000].map(|second| Timestamp::new(second, 0));
    times.into_iter().flatten().all(|at| zone.to_offset(at) == TimeZone::system().to_offset(at))
}

/// Calls a method of `TimeZone`, `ZoneId` or `ZoneOffset`.
pub fn call(zone: &TimeZone, name: &str, object: &V, method: &str, arguments: &[V]) -> Outcome {
    let offset_at = |ms: i64| {
        let at = Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH);
        i64::from(zone.to_offset(at).seconds())
    };
    Ok(match (method, arguments) {
        ("getID" | "getId", []) => V::text(name_of(zone, name)),
        ("getOffset", [ms]) => V::int(offset_at(ms.as_long().ok_or_else(|| unknown(object, method))?) * 1000),
        ("getTotalSeconds", []) => V::int(offset_at(0)),
        // The offset without daylight saving time is the smaller of those in January and July 2024.
        ("getRawOffset", []) => V::int(offset_at(1_704_067_200_000).min(offset_at(1_719_792_000_000)) * 1000),
        ("toZoneId" | "normalized", []) => object.clone(),
        _ => return Err(unknown(object, method)),
    })
}

/// Creates a date and time with a zone, as in `ZonedDateTime.of(2024, 1, 2, 3, 4, 5, 0, zone)`.
pub fn zoned_of(class: &str, arguments: &[V]) -> Outcome {
    let wrong = || unsupported(format!("`{class}.of` with these arguments"));
    let Some((V::Object(zone), parts)) = arguments.split_last() else { return Err(wrong()) };
    let Object::Zone(zone, _) = &**zone else { return Err(wrong()) };
    let at = match parts {
        [V::Object(date)] => match &**date {
            Object::Temporal(_, at, _) => *at,
            _ => return Err(wrong()),
        },
        [V::Object(date), V::Object(time)] => match (&**date, &**time) {
            (Object::Temporal(_, date, _), Object::Temporal(_, time, _)) => {
                date.date().to_datetime(time.time())
            }
            _ => return Err(wrong()),
        },
        parts if parts.len() == 7 => {
            let mut numbers = [0_i64; 7];
            for (number, part) in numbers.iter_mut().zip(parts) {
                *number = part.as_long().ok_or_else(wrong)?;
            }
            let [year, month, day, hour, minute, second, nanos] = numbers;
            DateTime::new(
                year as i16,
                month as i8,
                day as i8,
                hour as i8,
                minute as i8,
                second as i8,
                nanos as i32,
            )
            .map_err(date_time_exception)?
        }
        _ => return Err(wrong()),
    };
    Ok(V::object(Object::Temporal(Temporal::Zoned, at, zone.clone())))
}

/// Implements `OffsetDateTime.parse(text)` and `ZonedDateTime.parse(text)`.
pub fn parse_zoned(machine: &mut Machine<'_>, text: &str) -> Outcome {
    let _ = machine;
    let broken = || thrown("DateTimeParseException", format!("Text '{text}' could not be parsed at index 0"));
    let (local, region) =
        text.split_once('[').map_or((text, None), |(local, rest)| (local, rest.strip_suffix(']')));
    let time = local.find('T').ok_or_else(broken)?;
    let split = local[time..].find(['Z', '+', '-']).map(|at| time + at).ok_or_else(broken)?;
    let at: DateTime = local[..split].parse().map_err(|_| broken())?;
    let zone = match region {
        Some(region) => super::time::zone_of(region),
        None => super::time::zone_of(local[split..].trim_end_matches('Z')),
    };
    let zone = if region.is_none() && &local[split..] == "Z" { TimeZone::UTC } else { zone };
    Ok(V::object(Object::Temporal(Temporal::Zoned, at, zone)))
}

/// The zone of an `OffsetDateTime`: the offset of `zone` at that time.
pub fn fixed_zone_at(at: Timestamp, zone: &TimeZone) -> TimeZone {
    TimeZone::fixed(zone.to_offset(at))
}
