//! What somebody did to a run while it went on.

use serde::{Deserialize, Serialize};

use crate::sample::Nanos;

/// A change of a run that goes on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum LoadChange {
    /// From then on, arrivals of open workloads came at `factor` times the rate that was asked for.
    Rate {
        /// How many times.
        factor: f64,
    },
    /// No arrival began and users with work of their own held still.
    Pause,
    /// The end of a pause.
    Resume,
    /// The run was asked to end; users finished the samples they were in.
    Stop,
}

/// Where a change came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangedFrom {
    /// The live page.
    Page,
    /// The terminal view.
    Terminal,
}

impl ChangedFrom {
    /// As it is told: `page`, `terminal`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ChangedFrom::Page => "page",
            ChangedFrom::Terminal => "terminal",
        }
    }

    /// In full: `live page`, `terminal`.
    #[must_use]
    pub const fn place(self) -> &'static str {
        match self {
            ChangedFrom::Page => "live page",
            ChangedFrom::Terminal => "terminal",
        }
    }
}

/// One change of a run that went on, as the manifest keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ControlEvent {
    /// From when on it held, in ns since the start of the run.
    pub at_ns: Nanos,
    /// What was changed.
    #[serde(flatten)]
    pub change: LoadChange,
    /// By whom.
    pub from: ChangedFrom,
}

impl ControlEvent {
    /// In words: `the rate became 1.5 times what was asked for`.
    #[must_use]
    pub fn words(&self) -> String {
        match self.change {
            LoadChange::Rate { factor: 1.0 } => "the rate became what was asked for".into(),
            LoadChange::Rate { factor } => format!("the rate became {factor} times what was asked for"),
            LoadChange::Pause => "the load was paused".into(),
            LoadChange::Resume => "the load went on".into(),
            LoadChange::Stop => "the run was asked to end".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_have_a_form_that_outlives_the_program() {
        let event = ControlEvent {
            at_ns: Nanos(1_500_000_000),
            change: LoadChange::Rate { factor: 1.5 },
            from: ChangedFrom::Page,
        };
        let text = serde_json::to_string(&event).unwrap();
        assert_eq!(text, r#"{"at_ns":1500000000,"change":"rate","factor":1.5,"from":"page"}"#);
        assert_eq!(serde_json::from_str::<ControlEvent>(&text).unwrap(), event);
        let stop = r#"{"at_ns":2,"change":"stop","from":"terminal"}"#;
        assert_eq!(serde_json::from_str::<ControlEvent>(stop).unwrap().change, LoadChange::Stop);
    }
}
