//! Describes stalls of the generator.

use busyhour_sample::{AbandonedCore, Stall};

/// Minimum length of a stall that raises a caveat and is marked in plots, in nanoseconds.
const REPORTED_MIN_NS: u64 = 200_000_000;

/// The stalls that are long enough to be reported.
pub fn reported_stalls(stalls: &[Stall]) -> impl Iterator<Item = &Stall> {
    stalls.iter().filter(|stall| stall.length_ns >= REPORTED_MIN_NS)
}

/// Describes a stall: `core 2 was blocked for 1.3 s at 00:07`.
#[must_use]
pub fn describe_stall(stall: &Stall) -> String {
    let subject = match stall.core {
        None => "this process did not run".to_owned(),
        Some(core) => format!("core {core} was blocked"),
    };
    format!("{subject} for {:.1} s at {}", stall.length_ns as f64 / 1e9, clock(stall.at_ns))
}

/// Describes stalls: `this process did not run for 5.0 s at 00:12; core 2 was blocked for 1.3 s at 00:07`.
pub(crate) fn stalls_text(stalls: &[Stall], more: u64) -> String {
    let mut parts: Vec<String> = stalls.iter().map(describe_stall).collect();
    if more > 0 {
        parts.push(format!("and {more} shorter {}", if more == 1 { "stall" } else { "stalls" }));
    }
    parts.join("; ")
}

/// Describes abandoned cores: `core 1 did not respond when the run was forced to end; it last responded at 00:07`.
pub(crate) fn abandoned_text(cores: &[AbandonedCore]) -> String {
    let parts: Vec<String> = cores
        .iter()
        .map(|core| {
            format!(
                "core {} did not respond when the run was forced to end; it last responded at {}",
                core.core,
                clock(core.last_seen_ns)
            )
        })
        .collect();
    parts.join("; ")
}

/// Formats the time since the start of the run as `mm:ss`, or as `h:mm:ss` from one hour on.
fn clock(at_ns: u64) -> String {
    let seconds = at_ns / 1_000_000_000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes:02}:{seconds:02}")
    }
}
