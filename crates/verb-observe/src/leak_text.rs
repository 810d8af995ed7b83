//! The results of `busyhour observe leak` as text.

use busyhour_leak::{LeakReport, RisingClass};
use busyhour_report::{JudgedMemory, LEAK_COLUMNS, leak_groups, leak_row, leak_sentence, memory_sentence};
use busyhour_terminal::columns::Columns;

/// Classes of a list that are shown.
const CLASSES_MAX: usize = 10;

/// The result of a search in rounds of load.
pub(crate) fn leak_text(report: &LeakReport) -> String {
    let mut text = leak_sentence(report) + "\n";
    for (title, list) in leak_groups(report) {
        if !list.is_empty() {
            text.push_str(&format!("\n{title}\n{}", table(list)));
        }
    }
    text
}

fn table(list: &[RisingClass]) -> String {
    let mut columns = Columns::new(1, &LEAK_COLUMNS);
    for class in list.iter().take(CLASSES_MAX) {
        columns.row(leak_row(class).to_vec());
    }
    let mut text = columns.render();
    if list.len() > CLASSES_MAX {
        text.push_str(&format!("and {} more\n", list.len() - CLASSES_MAX));
    }
    text
}

/// The results for the memory of processes.
pub(crate) fn memory_text(judged: &[JudgedMemory]) -> String {
    judged
        .iter()
        .map(|process| format!("{}: {}\n", process.source, memory_sentence(&process.outcome)))
        .collect()
}

#[cfg(test)]
mod tests {
    use busyhour_leak::{
        CannotTellReason, ClassSize, LeakOutcome, LeakRounds, LeakSettings, MemorySize, memory_outcome,
    };

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
            [("process:1", grows(1e6)), ("process:2", grows(0.0)), ("process:3", memory_outcome(&[]))].map(
                |(source, outcome)| JudgedMemory {
                    source: source.to_owned(),
                    name: String::new(),
                    sizes: Vec::new(),
                    outcome,
                },
            );
        insta::assert_snapshot!("memory", memory_text(&judged));
    }
}
