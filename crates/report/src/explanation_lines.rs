//! Why requests were slow, for terminals.

use busyhour_analysis::explanation::{Basis, Cause, Evidence, Explanation};
use busyhour_analysis::saturation::Saturation;

use crate::marks::{Quality, marked};
use crate::saturation_lines::saturation_lines;
use crate::terminal_text::{Look, capital, printable, wrap};

/// Other causes that are listed on the screen of `--why`.
const OTHERS_MAX: usize = 20;

/// The finding in a sentence, with a mark; on one screen.
pub(crate) fn explanation_lines(explanation: &Explanation, look: Look) -> Vec<String> {
    let quality = if explanation.cause == Cause::None { Quality::Open } else { Quality::Warn };
    marked(quality, &explanation.sentence, look)
}

/// The finding with its evidence, the next measurement, the other causes, the causes that were not examined, and the
/// resource that saturates first.
#[must_use]
pub fn explanation_text(explanation: &Explanation, saturation: Option<&Saturation>, look: Look) -> String {
    let mut lines = wrap(&printable(&explanation.sentence), look.width, "");
    if let Some(first) = lines.first_mut() {
        *first = look.bold(first);
    }
    lines.extend(wrap(&printable(&explanation.next), look.width, ""));
    let others: Vec<&Evidence> =
        explanation.evidence.iter().filter(|one| one.cause != explanation.cause).collect();
    if !others.is_empty() {
        lines.push(String::new());
        lines.push(look.bold("Other causes"));
        for one in others.iter().take(OTHERS_MAX) {
            let text = format!("{}: {}", one.cause.id(), capital(&other(one)));
            lines.extend(wrap(&printable(&text), look.width, "  "));
        }
    }
    if !explanation.not_examined.is_empty() {
        lines.push(String::new());
        lines.push(look.bold("Not examined"));
        for one in &explanation.not_examined {
            lines.extend(wrap(&printable(&format!("{}: {}", one.cause.id(), one.reason)), look.width, "  "));
        }
    }
    let mut text: String = lines.iter().map(|line| format!("{}\n", line.trim_end())).collect();
    text.extend(saturation.map(|saturation| saturation_lines(saturation, look)));
    text
}

/// The evidence for another cause, and why that cause is not named as the finding.
pub(crate) fn other(evidence: &Evidence) -> String {
    let verdict = match (evidence.holds, evidence.basis) {
        (true, _) => "it goes with slow requests, too",
        (false, Basis::Timing) => "too little to claim it",
        (false, Basis::Incidents) => {
            "it rose in the incidents, but its times do not match those of slow requests"
        }
        (false, Basis::Level) => "too small a part",
    };
    format!("{verdict}: {}", evidence.sentence)
}

#[cfg(test)]
mod tests {
    use busyhour_analysis::explanation::NotExamined;

    use super::*;

    #[test]
    fn evidence_other_causes_and_unexamined_causes_are_listed() {
        let evidence = |cause, holds| Evidence {
            cause,
            holds,
            basis: Basis::Timing,
            source: "os".to_owned(),
            signal: "waiting for disks".to_owned(),
            sentence: "requests took longer".to_owned(),
            p: Some(0.001),
            p_adjusted: Some(0.01),
            share: 0.7,
            present: 0.1,
            windows_s: Vec::new(),
        };
        let explanation = Explanation {
            cause: Cause::Disk,
            sentence: "Slow requests go with slow disks: requests took longer.".to_owned(),
            compared: 2,
            evidence: vec![evidence(Cause::Disk, true), evidence(Cause::Steal, false)],
            not_examined: vec![NotExamined {
                cause: Cause::DatabaseLock,
                reason: "not watched; it needs the source postgres://…".to_owned(),
            }],
            next: "Repeat the run.".to_owned(),
        };
        insta::assert_snapshot!(explanation_text(&explanation, None, Look::default()), @r"
        Slow requests go with slow disks: requests took longer.
        Repeat the run.

        Other causes
        steal: Too little to claim it: requests took longer

        Not examined
        database-lock: not watched; it needs the source postgres://…
        ");
        assert_eq!(
            explanation_lines(&explanation, Look::default()),
            ["! Slow requests go with slow disks: requests took longer."]
        );
    }
}
