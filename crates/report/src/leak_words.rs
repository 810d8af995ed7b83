//! The results of searches for memory leaks in words.

use busyhour_leak::{
    LeakOutcome, LeakReport, MemoryGrowth, MemoryOutcome, MemoryReason, MemorySize, PerRequest, RisingClass,
};

use crate::numbers::{counted, size};

/// The headings of [`leak_row`].
pub const LEAK_COLUMNS: [&str; 6] =
    ["class", "bytes/request", "95 % interval", "instances/request", "live", "p"];

/// The memory of a process with its verdict.
#[derive(Debug, Clone)]
pub struct JudgedMemory {
    /// The source of the series, such as `process:4711`.
    pub source: String,
    /// The name of its program; empty if it is unknown.
    pub name: String,
    /// Its memory over time in seconds.
    pub sizes: Vec<MemorySize>,
    /// Whether it grows.
    pub outcome: MemoryOutcome,
}

/// The result of a search in rounds of load.
#[must_use]
pub fn leak_sentence(report: &LeakReport) -> String {
    let tested = report.tested_classes;
    let rounds = format!(
        "{} after the warm-up, {} requests, {tested} {} tested",
        counted(report.rounds as u64, "round"),
        report.requests,
        if tested == 1 { "class" } else { "classes" }
    );
    match report.outcome {
        LeakOutcome::Leak => {
            let growing = match report.suspects.len() {
                1 => "a class grows".to_owned(),
                several => format!("{several} classes grow"),
            };
            format!("Leak: {growing} until the last round ({rounds}).")
        }
        LeakOutcome::NoLeak { smallest_found_bytes_per_request } => format!(
            "No leak found: a growth of {} per request would have been found in 80 % of such searches ({rounds}).",
            bytes(smallest_found_bytes_per_request)
        ),
        LeakOutcome::CannotTell { reason, more_rounds } => {
            let more = match more_rounds {
                Some(1) => "about one more round can give an answer".to_owned(),
                Some(more) => format!("about {more} more rounds can give an answer"),
                None => "more requests per round can give an answer".to_owned(),
            };
            format!("Cannot tell yet: {}; {more} ({rounds}).", reason.reason())
        }
    }
}

/// The growing classes of a report by kind, with titles.
#[must_use]
pub fn leak_groups(report: &LeakReport) -> [(&'static str, &[RisingClass]); 4] {
    [
        ("Suspects", &report.suspects),
        ("Growing, but more slowly in the last half", &report.slowing),
        ("Growth that has ended", &report.ended),
        ("Growth that is too small to matter", &report.immaterial),
    ]
}

/// A class in a table with [`LEAK_COLUMNS`].
#[must_use]
pub fn leak_row(class: &RisingClass) -> [String; 6] {
    [
        java_name(&class.class),
        format!("{:.1}", class.bytes_per_request.slope),
        interval(&class.bytes_per_request),
        format!("{:.4}", class.instances_per_request.slope),
        size(class.bytes.max(0.0) as u64),
        p(class.p_adjusted),
    ]
}

/// The name of a class as in Java: `byte[]` for `[B`.
pub(crate) fn java_name(class: &str) -> String {
    let element = class.trim_start_matches('[');
    let dimensions = class.len() - element.len();
    let name = match element {
        "B" => "byte",
        "C" => "char",
        "D" => "double",
        "F" => "float",
        "I" => "int",
        "J" => "long",
        "S" => "short",
        "Z" => "boolean",
        other => other.strip_prefix('L').and_then(|name| name.strip_suffix(';')).unwrap_or(other),
    };
    if dimensions == 0 { class.to_owned() } else { name.to_owned() + &"[]".repeat(dimensions) }
}

fn interval(growth: &PerRequest) -> String {
    match (growth.low, growth.high) {
        (Some(low), Some(high)) => format!("{low:.1} to {high:.1}"),
        _ => "–".to_owned(),
    }
}

fn p(value: f64) -> String {
    if value < 0.0001 { "< 0.0001".to_owned() } else { format!("{value:.4}") }
}

fn bytes(value: f64) -> String {
    if value < 1_024.0 { format!("{value:.1} bytes") } else { size(value as u64) }
}

/// The result for the memory of a process.
#[must_use]
pub fn memory_sentence(outcome: &MemoryOutcome) -> String {
    let (verdict, detail) = memory_words(outcome);
    format!("{verdict}: {detail}")
}

/// The verdict on the memory of a process, and its details.
pub(crate) fn memory_words(outcome: &MemoryOutcome) -> (&'static str, String) {
    match outcome {
        MemoryOutcome::Leak(growth) => ("leak", format!("its memory grows until the end, {}", rate(growth))),
        MemoryOutcome::NoLeak(growth) => (
            "no leak found",
            format!("its memory grows by less than {}/s ({})", bytes(growth.material), rate(growth)),
        ),
        MemoryOutcome::CannotTell { reason, longer, growth } => {
            let reason = match reason {
                MemoryReason::TooFewValues => "fewer than 16 values after the first quarter".to_owned(),
                MemoryReason::Unusable => "its values are not usable".to_owned(),
                MemoryReason::SlowsDown => "its memory grows, but more slowly in the second half".to_owned(),
                MemoryReason::Uncertain => {
                    "its memory varies too much to rule out a material growth".to_owned()
                }
                MemoryReason::Small => {
                    let material = growth.map(|growth| format!(" ({}/s)", bytes(growth.material)));
                    let material = material.unwrap_or_default();
                    format!("its memory grows, but by less than is material in so short a time{material}")
                }
            };
            let longer =
                longer.map_or_else(String::new, |longer| format!("; make the run {longer:.1} times as long"));
            let growth = growth.as_ref().map_or_else(String::new, |growth| format!(" ({})", rate(growth)));
            ("cannot tell yet", format!("{reason}{growth}{longer}"))
        }
    }
}

fn rate(growth: &MemoryGrowth) -> String {
    let signed = |value: f64| if value < 0.0 { format!("−{}", bytes(-value)) } else { bytes(value) };
    format!(
        "{}/s, {} to {}, p {}",
        signed(growth.slope),
        signed(growth.low),
        signed(growth.high),
        p(growth.p)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_have_their_names_in_java() {
        for (name, expected) in [
            ("[B", "byte[]"),
            ("[[I", "int[][]"),
            ("[Ljava.lang.Object;", "java.lang.Object[]"),
            ("shop.B", "shop.B"),
            ("B", "B"),
        ] {
            assert_eq!(java_name(name), expected);
        }
    }
}
