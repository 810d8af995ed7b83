//! The results of `busyhour observe leak` as text.

use busyhour_leak::{
    LeakOutcome, LeakReport, MemoryGrowth, MemoryOutcome, MemoryReason, PerRequest, RisingClass,
};
use busyhour_report::numbers::{counted, size};

use crate::columns::Columns;

/// Classes of a list that are shown.
const CLASSES_MAX: usize = 10;

/// The result of a search in rounds of load.
pub(crate) fn leak_text(report: &LeakReport) -> String {
    let rounds = format!(
        "{} after the warm-up, {} requests, {} tested",
        counted(report.rounds as u64, "round"),
        report.requests,
        classes(report.tested_classes)
    );
    let mut text = match report.outcome {
        LeakOutcome::Leak => format!(
            "Leak: {} until the last round ({rounds}).\n",
            if report.suspects.len() == 1 {
                "a class grows".to_owned()
            } else {
                format!("{} classes grow", report.suspects.len())
            }
        ),
        LeakOutcome::NoLeak { smallest_found_bytes_per_request } => format!(
            "No leak found: a growth of {} per request would have been found in 80 % of such searches ({rounds}).\n",
            bytes(smallest_found_bytes_per_request)
        ),
        LeakOutcome::CannotTell { reason, more_rounds } => {
            let more = match more_rounds {
                Some(1) => "about one more round can give an answer".to_owned(),
                Some(more) => format!("about {more} more rounds can give an answer"),
                None => "more requests per round can give an answer".to_owned(),
            };
            format!("Cannot tell yet: {}; {more} ({rounds}).\n", reason.reason())
        }
    };
    for (title, list) in [
        ("Suspects", &report.suspects),
        ("Growing, but more slowly in the last half", &report.slowing),
        ("Growth that has ended", &report.ended),
        ("Growth that is too small to matter", &report.immaterial),
    ] {
        if !list.is_empty() {
            text.push_str(&format!("\n{title}\n{}", table(list)));
        }
    }
    text
}

fn classes(number: usize) -> String {
    if number == 1 { "1 class".to_owned() } else { format!("{number} classes") }
}

fn table(list: &[RisingClass]) -> String {
    let heading = ["class", "bytes/request", "95 % interval", "instances/request", "live", "p"];
    let mut columns = Columns::new(1, &heading);
    for class in list.iter().take(CLASSES_MAX) {
        columns.row(vec![
            java_name(&class.class),
            format!("{:.1}", class.bytes_per_request.slope),
            interval(&class.bytes_per_request),
            format!("{:.4}", class.instances_per_request.slope),
            size(class.bytes.max(0.0) as u64),
            p(class.p_adjusted),
        ]);
    }
    let mut text = columns.render();
    if list.len() > CLASSES_MAX {
        text.push_str(&format!("and {} more\n", list.len() - CLASSES_MAX));
    }
    text
}

/// The name of a class as in Java: `byte[]` for `[B`.
fn java_name(class: &str) -> String {
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

/// The results for the memory of processes.
pub(crate) fn memory_text(judged: &[(String, MemoryOutcome)]) -> String {
    let line = |(source, outcome): &(String, MemoryOutcome)| match outcome {
        MemoryOutcome::Leak(growth) => {
            format!("{source}: leak: its memory grows until the end, {}\n", rate(growth))
        }
        MemoryOutcome::NoLeak(growth) => format!(
            "{source}: no leak found: its memory grows by less than {}/s ({})\n",
            bytes(growth.material),
            rate(growth)
        ),
        MemoryOutcome::CannotTell { reason, longer, growth } => {
            let reason = match reason {
                MemoryReason::TooFewValues => "fewer than 16 values after the first quarter",
                MemoryReason::Unusable => "its values are not usable",
                MemoryReason::SlowsDown => "its memory grows, but more slowly in the second half",
                MemoryReason::Uncertain => "its memory varies too much to rule out a material growth",
            };
            let longer =
                longer.map_or_else(String::new, |longer| format!("; make the run {longer:.1} times as long"));
            let growth = growth.as_ref().map_or_else(String::new, |growth| format!(" ({})", rate(growth)));
            format!("{source}: cannot tell yet: {reason}{growth}{longer}\n")
        }
    };
    judged.iter().map(line).collect()
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
    use busyhour_leak::{CannotTellReason, ClassSize, LeakRounds, LeakSettings, MemorySize, memory_outcome};

    use super::*;

    /// Rounds of 100 requests, with two instances of `shop.Cart` that leak per request.
    fn rounds(number: u64, leaked: u64) -> LeakRounds {
        let mut rounds = LeakRounds::new();
        for round in 1..=number {
            let class =
                |class, instances: u64| ClassSize { class, module: None, instances, bytes: instances * 40 };
            rounds.push(100, [class("shop.Cart", round * leaked), class("shop.Item", 5_000)]).unwrap();
        }
        rounds
    }

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

    #[test]
    fn the_three_outcomes_are_shown() {
        insta::assert_snapshot!("leak", leak_text(&rounds(10, 200).search(&LeakSettings::default())));
        insta::assert_snapshot!("no_leak", leak_text(&rounds(10, 0).search(&LeakSettings::default())));
        let few = rounds(3, 200).search(&LeakSettings::default());
        assert!(matches!(
            few.outcome,
            LeakOutcome::CannotTell { reason: CannotTellReason::TooFewRounds, .. }
        ));
        insta::assert_snapshot!("too_few_rounds", leak_text(&few));
    }

    #[test]
    fn the_memory_of_processes_is_a_line_each() {
        let grows = |per_s: f64| {
            let sizes: Vec<MemorySize> = (0..200)
                .map(|at| MemorySize {
                    at: f64::from(at),
                    bytes: 1e8 + per_s * f64::from(at) + f64::from(at * 7 % 5) * 1e4,
                })
                .collect();
            memory_outcome(&sizes)
        };
        let judged =
            [("process:1", grows(1e6)), ("process:2", grows(0.0)), ("process:3", memory_outcome(&[]))]
                .map(|(source, outcome)| (source.to_owned(), outcome));
        insta::assert_snapshot!("memory", memory_text(&judged));
    }
}
