//! Stalls of the generator in words.

use std::fmt;

use busyhour_record::{AbandonedCore, Stall};

use crate::caveat::Caveat;

/// A shorter stall is recorded but neither raises a caveat nor is marked in plots, in nanoseconds.
const TOLD_MIN_NS: u64 = 200_000_000;

/// How many stalls a caveat names: the longest.
const TOLD_MAX: usize = 3;

/// The stalls that are long enough to be reported.
pub fn reported_stalls(stalls: &[Stall]) -> impl Iterator<Item = &Stall> {
    stalls.iter().filter(|stall| stall.length_ns >= TOLD_MIN_NS)
}

/// `core 2 was blocked for 1.3 s at 00:07`
#[must_use]
pub fn describe_stall(stall: &Stall) -> String {
    let who = match stall.core {
        None => "this process did not run".to_owned(),
        Some(core) => format!("core {core} was blocked"),
    };
    format!("{who} for {:.1} s at {}", stall.length_ns as f64 / 1e9, clock(stall.at_ns))
}

/// The caveat about the stalls of a run.
pub(crate) fn find(stalls: &[Stall]) -> Option<Caveat> {
    let mut told: Vec<Stall> = reported_stalls(stalls).copied().collect();
    if told.is_empty() {
        return None;
    }
    told.sort_by_key(|stall| std::cmp::Reverse(stall.length_ns));
    let more = told.len().saturating_sub(TOLD_MAX) as u64;
    told.truncate(TOLD_MAX);
    told.sort_by_key(|stall| stall.at_ns);
    Some(Caveat::GeneratorStalled { stalls: told, more })
}

/// `this process did not run for 5.0 s at 00:12; core 2 was blocked for 1.3 s at 00:07`
pub(crate) fn write(f: &mut fmt::Formatter<'_>, stalls: &[Stall], more: u64) -> fmt::Result {
    for (number, stall) in stalls.iter().enumerate() {
        if number > 0 {
            f.write_str("; ")?;
        }
        f.write_str(&describe_stall(stall))?;
    }
    if more > 0 {
        write!(f, "; and {more} shorter {}", if more == 1 { "stall" } else { "stalls" })?;
    }
    Ok(())
}

/// `core 1 did not respond when the run was to end: it was last seen at 00:07`
pub(crate) fn write_abandoned(f: &mut fmt::Formatter<'_>, cores: &[AbandonedCore]) -> fmt::Result {
    for (number, core) in cores.iter().enumerate() {
        if number > 0 {
            f.write_str("; ")?;
        }
        write!(
            f,
            "core {} did not respond when the run was to end: it was last seen at {}",
            core.core,
            clock(core.last_seen_ns)
        )?;
    }
    Ok(())
}

/// Time since the run's start as minutes and seconds, with hours where there are any.
fn clock(at_ns: u64) -> String {
    let seconds = at_ns / 1_000_000_000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes:02}:{seconds:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_stalls_are_told_in_order_of_time() {
        let stall =
            |core, at_s: u64, ms: u64| Stall { core, at_ns: at_s * 1_000_000_000, length_ns: ms * 1_000_000 };
        assert_eq!(find(&[stall(None, 3, 199)]), None);
        let stalls = [
            stall(Some(2), 7, 1_300),
            stall(None, 12, 5_000),
            stall(Some(0), 20, 250),
            stall(Some(0), 3_725, 400),
        ];
        let told = find(&stalls).unwrap().to_string();
        assert_eq!(
            told,
            "core 2 was blocked for 1.3 s at 00:07; this process did not run for 5.0 s at 00:12; core 0 was blocked for \
             0.4 s at 1:02:05; and 1 shorter stall"
        );
    }
}
