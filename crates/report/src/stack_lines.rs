//! How the stacks of slow windows differ, in words.

use busyhour_stacks::{StackDifference, StackOutcome};

use crate::numbers::counted;
use crate::terminal_text::{Look, printable, wrap};

/// The findings about stacks for terminals: for each process, the sentence and the frames that differ.
#[must_use]
pub fn stacks_text(differences: &[StackDifference], look: Look) -> String {
    let mut lines = Vec::new();
    for difference in differences {
        let heading = format!("Stacks of {}", difference.source.trim_start_matches("stacks:"));
        lines.push(look.bold(&printable(&heading)));
        lines.extend(wrap(&printable(&format!("{}.", difference.sentence)), look.width, ""));
        for frame in &difference.frames {
            lines.extend(wrap(&printable(&format!("- {}.", frame.sentence)), look.width, "  "));
        }
        lines.extend(wrap(&stack_cost(difference), look.width, ""));
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The cost of the dumps, and the missing ones.
pub(crate) fn stack_cost(difference: &StackDifference) -> String {
    let mut text = match difference.stopped_ms {
        Some(stopped_ms) => format!(
            "A dump took {:.1} ms on average, in which the application was stopped for {stopped_ms:.2} ms (for all reasons together).",
            difference.dump_ms
        ),
        None => format!(
            "A dump took {:.1} ms on average; how long the application was stopped is unknown.",
            difference.dump_ms
        ),
    };
    if difference.dumps_lost > 0 {
        let lost = counted(difference.dumps_lost, "later dump");
        text.push_str(&format!(" {lost} were not stored, because the file had reached its limit."));
    }
    text
}

/// The CSS class of the mark of an outcome, and its words.
pub(crate) fn stack_mark(outcome: &StackOutcome) -> (&'static str, &'static str) {
    match outcome {
        StackOutcome::Differs => ("warn", "differs"),
        StackOutcome::NoDifference { .. } => ("open", "no difference found"),
        StackOutcome::TooFew { .. } => ("open", "too few samples"),
    }
}
