//! Changes made to a run in progress from a user interface.

use serde::{Deserialize, Serialize};

use crate::nanos::Nanos;

/// A change to a run in progress.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum LoadChange {
    /// The arrival rate of open workloads was multiplied by `factor`.
    Rate {
        /// The new rate divided by the configured rate.
        factor: f64,
    },
    /// Arrivals and users were paused.
    Pause,
    /// The pause ended.
    Resume,
    /// The run was stopped; users finished their current samples.
    Stop,
}

/// The user interface from which a change was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangedFrom {
    /// The live page.
    Page,
    /// The terminal view.
    Terminal,
}

impl ChangedFrom {
    /// The short name, `page` or `terminal`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ChangedFrom::Page => "page",
            ChangedFrom::Terminal => "terminal",
        }
    }

    /// The full name, `live page` or `terminal`.
    #[must_use]
    pub const fn place(self) -> &'static str {
        match self {
            ChangedFrom::Page => "live page",
            ChangedFrom::Terminal => "terminal",
        }
    }
}

/// One change to a run in progress, as stored in the manifest.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ControlEvent {
    /// When it took effect, in ns since the start of the run.
    pub at_ns: Nanos,
    /// The change that was made.
    #[serde(flatten)]
    pub change: LoadChange,
    /// The user interface in which it was made.
    pub from: ChangedFrom,
}

impl ControlEvent {
    /// A description: `the rate changed to 1.5 times the configured rate`.
    #[must_use]
    pub fn description(&self) -> String {
        match self.change {
            LoadChange::Rate { factor: 1.0 } => "the rate changed to the configured rate".into(),
            LoadChange::Rate { factor } => format!("the rate changed to {factor} times the configured rate"),
            LoadChange::Pause => "the load was paused".into(),
            LoadChange::Resume => "the load was resumed".into(),
            LoadChange::Stop => "the run was stopped".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_have_a_stable_json_form() {
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
