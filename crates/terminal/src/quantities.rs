//! Parses times, rates and shares on the command line.

use busyhour_analysis::LogWindow;
use busyhour_analysis::comparison::RunWindow;
use busyhour_queueing::network::quantity::number;
pub use busyhour_queueing::network::quantity::{rate_per_s, seconds};

use crate::command_error::CommandError;

/// Parses a time, which must have a unit.
pub fn time_s(text: &str) -> Result<f64, CommandError> {
    refuse_bare_time(text)?;
    Ok(seconds(text)?)
}

/// Rejects a number without a unit, except 0.
pub fn refuse_bare_time(text: &str) -> Result<(), CommandError> {
    let text = text.trim();
    match text.parse::<f64>() {
        Ok(number) if number != 0.0 => Err(format!("`{text}` has no unit; write {text}s or {text}ms").into()),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Parses a window of a log: `2min,22min` is from 2 to 22 minutes after the first start in the log.
pub fn log_span(text: &str) -> Result<LogWindow, CommandError> {
    span(text).map(log_window)
}

/// Like [`log_span`], but it accepts numbers without a unit, as seconds, for the old names of subcommands.
pub fn log_span_in_seconds(text: &str) -> Result<LogWindow, CommandError> {
    span_in_seconds(text).map(log_window)
}

/// The window of a log between two times.
pub fn log_window(RunWindow { from_s, to_s }: RunWindow) -> LogWindow {
    LogWindow { before_s: from_s, duration_s: to_s - from_s }
}

/// Parses a window of a log with its length: `120,1200` begins 120 s after the first start in the log and lasts 1200 s.
pub fn window(text: &str) -> Result<LogWindow, CommandError> {
    let (before, duration) =
        text.split_once(',').ok_or("expected BEFORE,DURATION in seconds, such as 120,1200")?;
    let (before_s, duration_s) = (seconds(before)?, seconds(duration)?);
    if duration_s == 0.0 {
        return Err("the duration must be greater than 0".into());
    }
    Ok(LogWindow { before_s, duration_s })
}

/// Parses a window of a run: `2min,22min` is from 2 to 22 minutes after the start of the run.
pub fn span(text: &str) -> Result<RunWindow, CommandError> {
    text.split(',').try_for_each(refuse_bare_time)?;
    span_in_seconds(text)
}

/// Like [`span`], but it accepts numbers without a unit, as seconds, for the old names of subcommands.
pub fn span_in_seconds(text: &str) -> Result<RunWindow, CommandError> {
    let (from, to) = text.split_once(',').ok_or("expected FROM,TO, such as 2min,22min")?;
    let (from_s, to_s) = (seconds(from)?, seconds(to)?);
    if to_s <= from_s {
        return Err("the end must be later than the beginning".into());
    }
    Ok(RunWindow { from_s, to_s })
}

/// Parses a share, such as `5%` or `0.05`.
pub fn share(text: &str) -> Result<f64, CommandError> {
    match text.trim().strip_suffix('%') {
        Some(percent) => Ok(number(percent)? / 100.0),
        None => match number(text)? {
            share if share < 1.0 => Ok(share),
            // Without a percent sign, 5 would mean 500 %, but the user probably means 5 %.
            _ => {
                let hint = format!("write {text}% for {text} per cent");
                Err(format!("a share without % must be less than 1; {hint}").into())
            }
        },
    }
}

/// Parses the width of a histogram's bins, a number in ms.
pub fn bin_width_ms(text: &str) -> Result<f64, CommandError> {
    let cell: Option<f64> = text.parse().ok();
    cell.filter(|ms| *ms > 0.0 && ms.is_finite()).ok_or_else(|| "expected a positive number of ms".into())
}

/// Parses the width of a histogram's bins, a time with a unit. Returns it in ms.
pub fn cell_ms(text: &str) -> Result<f64, CommandError> {
    let ms = time_s(text)? * 1e3;
    if ms > 0.0 { Ok(ms) } else { Err("it must be greater than 0".into()) }
}

/// Converts a time with a unit, the value of `option`, to nanoseconds.
pub fn time_ns(option: &str, text: &str) -> Result<u64, CommandError> {
    refuse_bare_time(text).map_err(|error| format!("{option}: {error}"))?;
    busyhour_arrivals::time_ns(text).map_err(|error| format!("{option}: {}", error.render(text)).into())
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(log_span("2min,22min"), Ok(LogWindow { before_s: 120.0, duration_s: 1200.0 }));
        assert_eq!(log_span_in_seconds("120,22min"), log_span("120s,22min"));
        assert_eq!(span_in_seconds("1min,120"), Ok(RunWindow { from_s: 60.0, to_s: 120.0 }));
        assert_eq!(span("0,120s"), Ok(RunWindow { from_s: 0.0, to_s: 120.0 }));
        assert_eq!(span("1min,120"), Err("`120` has no unit; write 120s or 120ms".into()));
        assert!(span("120s").is_err() && span("10s,10s").is_err());
        assert_eq!((time_s("0"), time_s("50ms")), (Ok(0.0), Ok(0.05)));
        assert_eq!((share("5%"), share("0.5 %"), share("0.01")), (Ok(0.05), Ok(0.005), Ok(0.01)));
        assert!(share("5").is_err() && share("-1%").is_err() && share("x%").is_err());
        assert!(window("120").is_err() && window("0,0").is_err() && window("a,1").is_err());
    }
}
