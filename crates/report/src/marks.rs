//! The verdicts on arrivals and generator in a few words, for pages and terminals.

use crate::terminal_text::{Look, printable, wrap};
use busyhour_analysis::arrivals::{ArrivalRating, ArrivalVerdict};
use busyhour_analysis::{Caveat, GeneratorMark, GeneratorState, Summary};

/// The meaning of a verdict for the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quality {
    Good,
    /// The verdict is neither good nor bad, or unknown.
    Open,
    Warn,
    Bad,
}

impl Quality {
    /// The CSS class of its element in a page.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Quality::Good => "good",
            Quality::Open => "open",
            Quality::Warn => "warn",
            Quality::Bad => "bad",
        }
    }
}

/// A verdict in a few words, with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) quality: Quality,
    pub(crate) words: String,
    pub(crate) reason: String,
}

/// The verdict on arrivals. It is neutral for closed workloads, because they have no requested arrival process.
pub(crate) fn arrival_mark(verdict: &ArrivalVerdict) -> Mark {
    let (quality, words) = match verdict.mark() {
        ArrivalRating::Good(words) => (Quality::Good, words.to_owned()),
        ArrivalRating::Neutral(words) | ArrivalRating::Unknown(words) => (Quality::Open, words),
        ArrivalRating::Warning(words) => (Quality::Warn, words.to_owned()),
    };
    let of = verdict.of.as_ref().map(|of| format!(" of {of}")).unwrap_or_default();
    // The mark already contains the first word of the line.
    let reason = verdict.line.strip_prefix("Arrivals: ").unwrap_or(&verdict.line).to_owned();
    Mark { quality, words: format!("Arrivals{of}: {words}"), reason }
}

/// The verdict on whether the generator itself was the bottleneck.
pub(crate) fn generator_mark(summary: &Summary) -> Mark {
    let GeneratorMark { state, words, reasons, is_late: _ } = busyhour_analysis::generator_mark(summary);
    let quality = match state {
        GeneratorState::Unusable => Quality::Bad,
        GeneratorState::Doubtful | GeneratorState::WaitedForUsers => Quality::Warn,
        GeneratorState::Fine => Quality::Good,
        GeneratorState::Unknown => Quality::Open,
    };
    Mark { quality, words: format!("Generator: {words}"), reason: reasons.join("; ") }
}

/// Whether a caveat concerns the generator and is therefore covered by the generator's mark.
pub(crate) const fn is_about_generator(caveat: &Caveat) -> bool {
    matches!(
        caveat,
        Caveat::GeneratorBusy { .. }
            | Caveat::GeneratorStalled { .. }
            | Caveat::CoresAbandoned { .. }
            | Caveat::CpuStolen { .. }
            | Caveat::CpuThrottled { .. }
            | Caveat::RecorderStalled { .. }
            | Caveat::SamplesLost { .. }
    )
}

/// A text after a mark, wrapped and indented, as lines.
pub(crate) fn marked(quality: Quality, text: &str, look: Look) -> Vec<String> {
    let mark = match quality {
        Quality::Good => look.good("✓"),
        Quality::Warn => look.warn("!"),
        Quality::Bad => look.bad("✗"),
        Quality::Open => look.dim("·"),
    };
    let room = look.width.map(|width| width.saturating_sub(2));
    let lines = wrap(&printable(text), room, "");
    let mark = |at: usize| if at == 0 { mark.as_str() } else { " " };
    lines.iter().enumerate().map(|(at, line)| format!("{} {line}", mark(at))).collect()
}
