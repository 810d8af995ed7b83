//! The notation of the ticket shop's backend on the command line.

use busyhour_terminal::command_error::CommandError;
use std::num::NonZeroUsize;
use std::time::Duration;

use busyhour_demo::{BackendOptions, BackendTime};
use busyhour_queueing::network::TimeLaw;

/// Maximum number of connections; each has a thread.
const CONNECTIONS_MAX: usize = 1000;

/// Parses a backend. The distribution has the notation of model files: `constant(5ms)`, `exponential(5ms)`, `2 x
/// exponential(5ms)`.
pub(crate) fn backend(text: &str) -> Result<BackendOptions, CommandError> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // `exponential` also contains an x, so the text before the x must be a number.
    let several = text.split_once(['x', '×']).filter(|(number, _)| is_number(number.trim()));
    let (number, law) = several.map_or(("1", text), |(number, law)| (number.trim(), law));
    let connections =
        number.parse::<NonZeroUsize>().ok().filter(|number| number.get() <= CONNECTIONS_MAX).ok_or_else(
            || format!("the number of connections must be 1 to {CONNECTIONS_MAX}, not {number}"),
        )?;
    let time = match law.parse::<TimeLaw>()? {
        TimeLaw::Deterministic { mean_s } => BackendTime::Constant(time_of(mean_s)?),
        TimeLaw::Exponential { mean_s } => BackendTime::Exponential(time_of(mean_s)?),
        _ => return Err(format!("a backend's times are constant or exponential, not {}", law.trim()).into()),
    };
    Ok(BackendOptions { connections, time })
}

fn time_of(mean_s: f64) -> Result<Duration, CommandError> {
    if !(1e-4..=60.0).contains(&mean_s) {
        return Err("it must be 0.1 ms to 60 s; shorter times cannot be slept accurately".into());
    }
    Ok(Duration::from_secs_f64(mean_s))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backends_are_parsed_and_errors_are_reported() {
        let read = |text: &str| {
            backend(text)
                .map(|found| (found.connections.get(), found.time))
                .map_err(|error| error.to_string())
        };
        let ms = Duration::from_millis;
        // As in model files, a time without a distribution is the mean of an exponential distribution.
        assert_eq!(read("5ms"), Ok((1, BackendTime::Exponential(ms(5)))));
        assert_eq!(read("constant( 5 ms )"), Ok((1, BackendTime::Constant(ms(5)))));
        assert_eq!(read("exponential(5ms)"), Ok((1, BackendTime::Exponential(ms(5)))));
        assert_eq!(read("2 x exponential(20ms)"), Ok((2, BackendTime::Exponential(ms(20)))));
        assert_eq!(read("12×constant(1s)"), Ok((12, BackendTime::Constant(ms(1_000)))));
        for (wrong, words) in [
            ("0 x 5ms", "must be 1 to 1000, not 0"),
            ("1001 x 5ms", "must be 1 to 1000, not 1001"),
            ("gamma(5ms, 2)", "a backend's times are constant or exponential, not gamma(5ms, 2)"),
            ("exponental(5ms)", "did you mean \"exponential\"?"),
            ("exponential(5ms", "the closing parenthesis is missing"),
            ("10us", "it must be 0.1 ms to 60 s"),
            ("two x 5ms", "is neither a time nor a law"),
        ] {
            let found = read(wrong).unwrap_err().to_string();
            assert!(found.contains(words), "{wrong}: {found}");
        }
    }
}
