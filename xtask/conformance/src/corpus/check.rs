//! Runs `busyhour check` on each plan in a separate process, so that a crash affects only one plan.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::missing::{Item, Need};
use super::plans::Plan;
use crate::workers;

/// The result of checking a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    /// The program failed; contains its exit status.
    Crash(String),
    /// The file cannot be read as a plan; contains the first finding.
    Broken(String),
    /// A part of a plan, for an Include Controller or for pasting in the GUI.
    Part(String),
    /// A plan.
    Readable {
        /// The obstacles to running it.
        obstacles: BTreeSet<Item>,
        /// Whether it has an active thread group.
        has_thread_group: bool,
    },
}

/// A plan and the result of checking it.
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

    /// The obstacles to running a readable plan.
    pub(super) fn items(&self) -> Option<&BTreeSet<Item>> {
        match &self.state {
            State::Readable { obstacles, .. } => Some(obstacles),
            _ => None,
        }
    }

    /// Whether it needs a JVM.
    pub(super) fn needs_java(&self) -> bool {
        self.items().is_some_and(|items| items.iter().any(|item| item.need == Need::Java))
    }

    /// Whether it runs without changes.
    pub(super) fn is_supported(&self) -> bool {
        self.items().is_some_and(BTreeSet::is_empty)
    }

    /// Whether it is supported only because it contains no active thread group.
    pub(super) fn is_idle(&self) -> bool {
        matches!(&self.state, State::Readable { obstacles, has_thread_group: false } if obstacles.is_empty())
    }

    /// Whether it would run if its data files existed.
    pub(super) fn lacks_only_files(&self) -> bool {
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
            State::Readable { obstacles, .. } if obstacles.is_empty() => f.write_str("supported"),
            State::Readable { obstacles, .. } => {
                let items: Vec<_> =
                    obstacles.iter().map(|item| format!("{} ({})", item.name, item.need)).collect();
                f.write_str(&items.join("; "))
            }
        }
    }
}

/// Checks all plans; returns the verdicts in their order.
pub(super) fn check_all(busyhour: &Path, plans: Vec<Plan>) -> Result<Vec<Verdict>> {
    let states = workers::for_each(&plans, |plan| check_plan(busyhour, &plan.path))?;
    Ok(plans.into_iter().zip(states).map(|(plan, state)| Verdict { plan, state }).collect())
}

fn check_plan(busyhour: &Path, plan: &Path) -> Result<State> {
    let output = Command::new(busyhour)
        .args(["check", "--json"])
        .arg(plan)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("{} cannot be started", busyhour.display()))?;
    // A signal results in no exit code, a panic in an exit code that `check` does not use.
    let report = serde_json::from_slice::<Value>(&output.stdout);
    let (Some(0 | 3), Ok(report)) = (output.status.code(), report) else {
        return Ok(State::Crash(output.status.to_string()));
    };
    Ok(state(report["plans"][0]["findings"].as_array().map_or(&[], Vec::as_slice)))
}

/// Derives the result from the findings about a plan.
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
        Item::from_error(&text(finding, "code"), &text(finding, "message"), finding["needs"].as_str())
    };
    State::Readable {
        obstacles: errors.iter().map(item).collect(),
        has_thread_group: !findings.iter().any(|finding| is(finding, "no-thread-group")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_result_depends_on_the_findings() {
        let error = |code: &str, message: &str| {
            json!({"severity": "error", "code": code, "message": message,
            "span": {"line": 3, "column": 7}})
        };
        let odd = state(&[json!({"severity": "warning", "code": "jmx-encoding"})]);
        assert_eq!(odd, State::Readable { obstacles: BTreeSet::new(), has_thread_group: true });
        let idle = state(&[json!({"severity": "warning", "code": "no-thread-group"})]);
        assert_eq!(idle, State::Readable { obstacles: BTreeSet::new(), has_thread_group: false });
        let broken = state(&[error("jmx-truncated", "the file ends")]);
        assert_eq!(broken, State::Broken("the file ends (line 3, column 7)".into()));
        assert_eq!(state(&[error("no-test-plan", "none")]), State::Part("none".into()));
        assert_eq!(state(&[error("internal", "oh")]), State::Crash("oh".into()));
        let lacking = state(&[error("missing-file", "the file x cannot be read")]);
        assert!(
            matches!(lacking, State::Readable { obstacles: items, .. } if items.iter().all(|item| item.need == Need::File))
        );
    }
}
