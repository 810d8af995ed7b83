//! Runs `busyhour check` on each plan, each in a separate process, so that a crash affects one plan only.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::missing::{Item, Need};
use super::plans::Plan;
use crate::workers;

/// What a plan turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    /// The program did not answer: how it ended.
    Crash(String),
    /// The file cannot be read as a plan; with the first finding.
    Broken(String),
    /// A part of a plan, for an Include Controller or for a person to paste.
    Part(String),
    /// A plan.
    Readable {
        /// What keeps it from running.
        wants: BTreeSet<Item>,
        /// Whether it has a thread group to run.
        runs: bool,
    },
}

/// A plan and what it turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) plan: Plan,
    pub(super) state: State,
}

impl Verdict {
    /// Whether the program failed on it.
    pub(super) fn is_crash(&self) -> bool {
        matches!(self.state, State::Crash(_))
    }

    /// What keeps a readable plan from running.
    pub(super) fn items(&self) -> Option<&BTreeSet<Item>> {
        match &self.state {
            State::Readable { wants, .. } => Some(wants),
            _ => None,
        }
    }

    /// Whether it needs a Java machine.
    pub(super) fn needs_java(&self) -> bool {
        self.items().is_some_and(|items| items.iter().any(|item| item.need == Need::Java))
    }

    /// Whether it runs as it is.
    pub(super) fn is_supported(&self) -> bool {
        self.items().is_some_and(BTreeSet::is_empty)
    }

    /// Whether it is supported because there is nothing in it to run.
    pub(super) fn is_idle(&self) -> bool {
        matches!(&self.state, State::Readable { wants, runs: false } if wants.is_empty())
    }

    /// Whether it would run if the files were there that it reads.
    pub(super) fn lacks_files_only(&self) -> bool {
        self.items()
            .is_some_and(|items| !items.is_empty() && items.iter().all(|item| item.need == Need::File))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.plan.name)?;
        match &self.state {
            State::Crash(how) => write!(f, "FAILED: {how}"),
            State::Broken(why) => write!(f, "broken: {why}"),
            State::Part(why) => write!(f, "a part of a plan: {why}"),
            State::Readable { wants, .. } if wants.is_empty() => f.write_str("supported"),
            State::Readable { wants, .. } => {
                let items: Vec<_> =
                    wants.iter().map(|item| format!("{} ({})", item.name, item.need)).collect();
                f.write_str(&items.join("; "))
            }
        }
    }
}

/// Looks at all plans; the verdicts are in their order.
pub(super) fn all(busyhour: &Path, plans: Vec<Plan>) -> Result<Vec<Verdict>> {
    let states = workers::each(&plans, |plan| look_at(busyhour, &plan.path))?;
    Ok(plans.into_iter().zip(states).map(|(plan, state)| Verdict { plan, state }).collect())
}

fn look_at(busyhour: &Path, plan: &Path) -> Result<State> {
    let ran = Command::new(busyhour)
        .args(["check", "--json"])
        .arg(plan)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("{} does not start", busyhour.display()))?;
    // A signal leaves no code, a panic a code that check does not use.
    let answer = serde_json::from_slice::<Value>(&ran.stdout);
    let (Some(0 | 3), Ok(answer)) = (ran.status.code(), answer) else {
        return Ok(State::Crash(ran.status.to_string()));
    };
    Ok(state(answer["plans"][0]["findings"].as_array().map_or(&[], Vec::as_slice)))
}

/// What the findings about one plan come to.
fn state(findings: &[Value]) -> State {
    let errors: Vec<_> = findings.iter().filter(|finding| finding["severity"] == "error").collect();
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let is = |finding: &Value, begin: &str| text(finding, "code").starts_with(begin);
    if let Some(internal) = errors.iter().find(|finding| is(finding, "internal")) {
        return State::Crash(text(internal, "message"));
    }
    if let Some(part) =
        errors.iter().find(|finding| is(finding, "jmx-fragment") || is(finding, "no-test-plan"))
    {
        return State::Part(text(part, "message"));
    }
    if let Some(broken) = errors.iter().find(|finding| is(finding, "jmx-") || is(finding, "unreadable")) {
        let (line, column) = (&broken["span"]["line"], &broken["span"]["column"]);
        return State::Broken(format!("{} (line {line}, column {column})", text(broken, "message")));
    }
    let item = |finding: &&Value| {
        Item::of(&text(finding, "code"), &text(finding, "message"), finding["needs"].as_str())
    };
    State::Readable {
        wants: errors.iter().map(item).collect(),
        runs: !findings.iter().any(|finding| is(finding, "no-thread-group")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn findings_decide_what_a_file_is() {
        let error = |code: &str, message: &str| {
            json!({"severity": "error", "code": code, "message": message,
            "span": {"line": 3, "column": 7}})
        };
        let odd = state(&[json!({"severity": "warning", "code": "jmx-encoding"})]);
        assert_eq!(odd, State::Readable { wants: BTreeSet::new(), runs: true });
        let idle = state(&[json!({"severity": "warning", "code": "no-thread-group"})]);
        assert_eq!(idle, State::Readable { wants: BTreeSet::new(), runs: false });
        let broken = state(&[error("jmx-truncated", "the file ends")]);
        assert_eq!(broken, State::Broken("the file ends (line 3, column 7)".into()));
        assert_eq!(state(&[error("no-test-plan", "none")]), State::Part("none".into()));
        assert_eq!(state(&[error("internal", "oh")]), State::Crash("oh".into()));
        let lacking = state(&[error("missing-file", "the file x cannot be read")]);
        assert!(
            matches!(lacking, State::Readable { wants: items, .. } if items.iter().all(|item| item.need == Need::File))
        );
    }
}
