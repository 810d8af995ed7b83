//! Parses quantities in the options of servers to test.

use std::time::Duration;

use busyhour_demo::ServerStall;

use crate::command_error::CommandError;
use crate::quantities::{rate_per_s, refuse_bare_time, seconds};

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
