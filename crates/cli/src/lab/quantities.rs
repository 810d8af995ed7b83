//! Parses quantities in the options of servers to test.

use std::time::Duration;

use busyhour_demo::ServerStall;
use busyhour_terminal::command_error::CommandError;
use busyhour_terminal::quantities::{rate_per_s, refuse_bare_time, seconds};

/// Parses a rate of whole requests per second.
pub(crate) fn whole_rate_per_s(text: &str) -> Result<u32, CommandError> {
    let rate = rate_per_s(text)?;
    if rate.fract() == 0.0 && rate <= f64::from(u32::MAX) {
        Ok(rate as u32)
    } else {
        Err("it must be a whole number of requests per second".into())
    }
}

/// Parses a time, which must have a unit.
pub(crate) fn duration(text: &str) -> Result<Duration, CommandError> {
    refuse_bare_time(text)?;
    duration_in_seconds(text)
}

/// Like [`duration`], but numbers without a unit are seconds, for the old names of verbs.
pub(crate) fn duration_in_seconds(text: &str) -> Result<Duration, CommandError> {
    Duration::try_from_secs_f64(seconds(text)?).map_err(|_| format!("{text} is too long").into())
}

/// The longest time of a neighbour.
const NEIGHBOUR_TIME_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// The largest write of the disk neighbour.
const BLOCK_BYTES_MAX: u64 = 64 << 20;

/// Parses the time of a neighbour.
pub(crate) fn neighbour_time(text: &str) -> Result<Duration, CommandError> {
    match duration(text)? {
        time if time.is_zero() => Err("it must be greater than 0".into()),
        time if time > NEIGHBOUR_TIME_MAX => Err("it must be at most 24h".into()),
        time => Ok(time),
    }
}

/// Parses a whole number of percent, with or without the sign.
pub(crate) fn percent(text: &str) -> Result<u8, CommandError> {
    let text = text.trim();
    let digits = text.strip_suffix('%').unwrap_or(text).trim_end();
    let number = digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()));
    number.filter(|percent| *percent <= 100).ok_or_else(|| "expected a whole number from 0 to 100".into())
}

/// Parses a size: a whole number with k, m or g, in powers of 1024.
pub(crate) fn size_bytes(text: &str) -> Result<u64, CommandError> {
    let (digits, shift) = match text.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&text[..at], 10),
        Some((at, 'm' | 'M')) => (&text[..at], 20),
        Some((at, 'g' | 'G')) => (&text[..at], 30),
        _ => return Err("expected a whole number with a unit: 64k, 64m, 1g".into()),
    };
    let number = digits.parse::<u64>().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()));
    match number.map(|number| number.checked_mul(1 << shift)) {
        Some(Some(bytes)) if (1..=1 << 50).contains(&bytes) => Ok(bytes),
        Some(_) => Err("it must be 1k to 1048576g".into()),
        None => Err("expected a whole number with a unit: 64k, 64m, 1g".into()),
    }
}

/// Parses the size of a write.
pub(crate) fn block_bytes(text: &str) -> Result<u64, CommandError> {
    match size_bytes(text)? {
        bytes if bytes > BLOCK_BYTES_MAX => Err("it must be at most 64m".into()),
        bytes => Ok(bytes),
    }
}

/// Parses a stall of the probe: `2s@10s` lasts 2 s and starts 10 s after the first request.
pub(crate) fn stall(text: &str) -> Result<ServerStall, CommandError> {
    text.split('@').try_for_each(refuse_bare_time)?;
    stall_in_seconds(text)
}

/// Like [`stall`], but numbers without a unit are seconds, for the old names of verbs.
pub(crate) fn stall_in_seconds(text: &str) -> Result<ServerStall, CommandError> {
    let (length, after) = text.split_once('@').ok_or("expected LENGTH@AFTER, such as 2s@10s")?;
    Ok(ServerStall { after: duration_in_seconds(after)?, length: duration_in_seconds(length)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_shares_of_neighbours_are_parsed() {
        for (text, bytes) in [("64k", 64 << 10), ("2M", 2 << 20), ("1g", 1 << 30)] {
            assert_eq!(size_bytes(text), Ok(bytes), "{text}");
        }
        for text in ["", "64", "m", "+1m", "1.5g", "1é", "0m", "99999999g", "99999999999999999999g"] {
            assert!(size_bytes(text).is_err(), "{text}");
        }
        assert_eq!((block_bytes("64m"), block_bytes("65m").is_err()), (Ok(64 << 20), true));
        for (text, number) in [("0", 0), ("50", 50), ("100 %", 100), (" 7% ", 7)] {
            assert_eq!(percent(text), Ok(number), "{text}");
        }
        assert!(["", "%", "101", "-1", "+1", "1.5", "300", "x"].iter().all(|text| percent(text).is_err()));
        assert_eq!(neighbour_time("24h"), Ok(Duration::from_secs(86_400)));
        assert!(["0", "0s", "25h", "30", "-1s"].iter().all(|text| neighbour_time(text).is_err()));
    }

    #[test]
    fn stalls_are_parsed() {
        let stall_of = |length_ms, after_ms| ServerStall {
            length: Duration::from_millis(length_ms),
            after: Duration::from_millis(after_ms),
        };
        assert_eq!(stall("2s@10s"), Ok(stall_of(2_000, 10_000)));
        assert_eq!(stall_in_seconds("0.5@1min"), Ok(stall_of(500, 60_000)));
        assert_eq!(stall("0.5@1min"), Err("`0.5` has no unit; write 0.5s or 0.5ms".into()));
        assert!(stall("2s").unwrap_err().to_string().contains("LENGTH@AFTER"));
        assert!(stall("2s@soon").is_err() && stall("1e300@1").is_err());
    }
}
