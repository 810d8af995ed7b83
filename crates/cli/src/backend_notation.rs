//! How a backend of the ticket shop is written on a command line.

use std::num::NonZeroUsize;
use std::time::Duration;

use busyhour_demo::{BackendOptions, BackendTime};

/// Each connection has a thread.
const CONNECTIONS_MAX: usize = 1000;

/// A backend: `5ms`, `constant(5ms)`, `2 x exponential(5ms)`.
pub(crate) fn backend(text: &str) -> Result<BackendOptions, String> {
    let (connections, law) = match text.split_once(['x', '×']) {
        // exponential has an x, too.
        Some((number, law))
            if !number.trim().is_empty() && number.trim().bytes().all(|b| b.is_ascii_digit()) =>
        {
            let number = number.trim();
            let number =
                number.parse().map_err(|_| format!("{number} connections: 1 to 1000 are possible"))?;
            (number, law)
        }
        _ => (NonZeroUsize::MIN, text),
    };
    if connections.get() > CONNECTIONS_MAX {
        return Err(format!("{connections} connections: 1 to {CONNECTIONS_MAX} are possible"));
    }
    let law = law.trim();
    let time = match law.split_once('(').map(|(name, rest)| (name.trim(), rest.trim_end().strip_suffix(')')))
    {
        None => BackendTime::Constant(time_of(law)?),
        Some(("constant", Some(time))) => BackendTime::Constant(time_of(time)?),
        Some(("exponential", Some(mean))) => BackendTime::Exponential(time_of(mean)?),
        Some(_) => return Err(format!("{law} is none of 5ms, constant(5ms), exponential(5ms)")),
    };
    Ok(BackendOptions { connections, time })
}

fn time_of(text: &str) -> Result<Duration, String> {
    let time_s = crate::quantities::seconds(text)?;
    if !(1e-4..=60.0).contains(&time_s) {
        return Err("it must be 0.1 ms to 60 s: less is not kept by any clock that sleeps".into());
    }
    Ok(Duration::from_secs_f64(time_s))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_and_laws_are_read_and_mistakes_named() {
        let read = |text: &str| backend(text).map(|found| (found.connections.get(), found.time));
        let ms = Duration::from_millis;
        assert_eq!(read("5ms"), Ok((1, BackendTime::Constant(ms(5)))));
        assert_eq!(read("constant( 5 ms )"), Ok((1, BackendTime::Constant(ms(5)))));
        assert_eq!(read("exponential(5ms)"), Ok((1, BackendTime::Exponential(ms(5)))));
        assert_eq!(read("2 x exponential(20ms)"), Ok((2, BackendTime::Exponential(ms(20)))));
        assert_eq!(read("12×1s"), Ok((12, BackendTime::Constant(ms(1_000)))));
        for (wrong, words) in [
            ("0 x 5ms", "0 connections: 1 to 1000 are possible"),
            ("1001 x 5ms", "1001 connections: 1 to 1000 are possible"),
            ("gamma(5ms)", "gamma(5ms) is none of 5ms, constant(5ms), exponential(5ms)"),
            ("exponential(5ms", "exponential(5ms is none of"),
            ("10us", "it must be 0.1 ms to 60 s"),
            ("two x 5ms", "is no number"),
        ] {
            let found = read(wrong).unwrap_err();
            assert!(found.contains(words), "{wrong}: {found}");
        }
    }
}
