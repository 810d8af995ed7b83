//! Parses times, rates and shares on the command line.

use crate::command_error::CommandError;
use std::time::Duration;

use busyhour_analysis::LogWindow;
use busyhour_analysis::comparison::RunWindow;
use busyhour_demo::Stall;
use busyhour_queueing::network::quantity::number;
pub(crate) use busyhour_queueing::network::quantity::{rate_per_s, seconds};

/// Parses a part of a log: `120,1320` is from 120 s to 1320 s after its first start.
pub(crate) fn log_span(text: &str) -> Result<LogWindow, CommandError> {
    let RunWindow { from_s, to_s } = span(text)?;
    Ok(LogWindow { before_s: from_s, duration_s: to_s - from_s })
}

/// Parses a part of a log with its length: `120,1200` begins 120 s after its first start and lasts 1200 s.
pub(crate) fn window(text: &str) -> Result<LogWindow, CommandError> {
    let (before, duration) =
        text.split_once(',').ok_or("expected BEFORE,DURATION in seconds, such as 120,1200")?;
    let (before_s, duration_s) = (seconds(before)?, seconds(duration)?);
    if duration_s == 0.0 {
        return Err("the duration must be greater than 0".into());
    }
    Ok(LogWindow { before_s, duration_s })
}

/// Parses a part of a run: `120,1320` is from 120 s to 1320 s after its start.
pub(crate) fn span(text: &str) -> Result<RunWindow, CommandError> {
    let (from, to) = text.split_once(',').ok_or("expected FROM,TO in seconds, such as 120,1320")?;
    let (from_s, to_s) = (seconds(from)?, seconds(to)?);
    if to_s <= from_s {
        return Err("the end must be later than the beginning".into());
    }
    Ok(RunWindow { from_s, to_s })
}

/// Parses a share: `5%` or `0.05`.
pub(crate) fn share(text: &str) -> Result<f64, CommandError> {
    match text.trim().strip_suffix('%') {
        Some(percent) => Ok(number(percent)? / 100.0),
        None => match number(text)? {
            share if share < 1.0 => Ok(share),
            // Without a unit, 5 would be 500 %, but is probably a mistake for 5 %.
            _ => Err(format!("write {text}% for per cent").into()),
        },
    }
}

/// Parses a stall of the probe: `2s@10s` lasts 2 s and starts 10 s after the first request.
pub(crate) fn stall(text: &str) -> Result<Stall, CommandError> {
    let (length, after) = text.split_once('@').ok_or("expected LENGTH@AFTER, such as 2s@10s")?;
    Ok(Stall { after: duration(after)?, length: duration(length)? })
}

/// Parses a time with a unit.
pub(crate) fn duration(text: &str) -> Result<Duration, CommandError> {
    Duration::try_from_secs_f64(seconds(text)?).map_err(|_| format!("{text} is too long").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stalls_are_parsed() {
        let stall_of = |length_ms, after_ms| Stall {
            length: Duration::from_millis(length_ms),
            after: Duration::from_millis(after_ms),
        };
        assert_eq!(stall("2s@10s"), Ok(stall_of(2_000, 10_000)));
        assert_eq!(stall("0.5@1min"), Ok(stall_of(500, 60_000)));
        assert!(stall("2s").unwrap_err().contains("LENGTH@AFTER"));
        assert!(stall("2s@soon").is_err() && stall("1e300@1").is_err());
    }

    #[test]
    fn times_and_rates_are_parsed_and_errors_are_reported() {
        for (text, value) in
            [("0.05", 0.05), ("50ms", 0.05), ("2s", 2.0), ("1.5min", 90.0), ("30 us", 3e-5), ("30µs", 3e-5)]
        {
            assert!((seconds(text).unwrap() - value).abs() < 1e-12, "{text}");
        }
        for (text, value) in [("20", 20.0), ("20/s", 20.0), ("1200/min", 20.0), ("7200 / h", 2.0)] {
            assert_eq!(rate_per_s(text), Ok(value), "{text}");
        }
        let message = |text: &str| seconds(text).unwrap_err().to_string();
        assert_eq!(
            message("5 years"),
            "\"years\" is not a unit of time; the units are ns, us, ms, s, min and h"
        );
        assert_eq!(message("s"), "\"\" is not a number");
        assert_eq!(message("-1"), "it must be a number of at least 0");
        assert!(seconds("inf").is_err() && seconds("1e999").is_err() && rate_per_s("NaN").is_err());
        assert!(rate_per_s("20/year").is_err());
        assert_eq!(window("120,20min"), Ok(LogWindow { before_s: 120.0, duration_s: 1200.0 }));
        assert_eq!(log_span("120,22min"), Ok(LogWindow { before_s: 120.0, duration_s: 1200.0 }));
        assert_eq!(span("1min,120"), Ok(RunWindow { from_s: 60.0, to_s: 120.0 }));
        assert!(span("120").is_err() && span("10,10").is_err());
        assert_eq!((share("5%"), share("0.5 %"), share("0.01")), (Ok(0.05), Ok(0.005), Ok(0.01)));
        assert!(share("5").is_err() && share("-1%").is_err() && share("x%").is_err());
        assert!(window("120").is_err() && window("0,0").is_err() && window("a,1").is_err());
    }
}
