//! Key figures of the system under test: its use of resources during the measured part of a run.

mod figure;
mod kind;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use figure::Figure;
pub use kind::{FigureKind, FigureUnit, SubjectKind};

/// The figures of the system under test in the measured part of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SystemFigures {
    /// Start of the part, in seconds from the start of the run.
    pub from_s: f64,
    /// End of the part, in seconds from the start of the run.
    pub to_s: f64,
    /// Requests that were completed in the part. Figures per request are divided by the number of requests that were
    /// completed while the source was read.
    pub requests: u64,
    /// Machines, processes, virtual machines, databases. Subjects of one kind are in the order of their first reading,
    /// but the processes with the most CPU time come first.
    pub subjects: Vec<SystemSubject>,
    /// The reason why the series file could not be read to its end, or at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
}

/// A part of the system under test with its figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SystemSubject {
    /// The kind of the subject.
    pub kind: SubjectKind,
    /// The name of the source, such as `process:4711`.
    pub source: String,
    /// The name of the program, if the source states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Time between the first and the last reading in the measured part, in seconds.
    #[serde(rename = "watched_s")]
    pub observed_s: f64,
    /// Number of restarts while the subject was observed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub restarts: u64,
    /// The disk to which the figures about a disk belong: the disk with the longest busy time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<String>,
    /// Whether the lengths of GC pauses are lower bounds, because the counters of the collector contain only a part of each
    /// pause.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pauses_at_least: bool,
    /// The figures for this kind of subject, in the order of [`FigureKind`].
    pub figures: BTreeMap<FigureKind, Figure>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde expects")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl SystemFigures {
    /// The subjects of a kind.
    pub fn of_kind(&self, kind: SubjectKind) -> impl Iterator<Item = &SystemSubject> {
        self.subjects.iter().filter(move |subject| subject.kind == kind)
    }

    /// Length of the measured part in seconds.
    #[must_use]
    pub fn window_s(&self) -> f64 {
        (self.to_s - self.from_s).max(0.0)
    }
}

impl SystemSubject {
    /// The value of a figure; `None` if it is unavailable.
    #[must_use]
    pub fn value(&self, kind: FigureKind) -> Option<f64> {
        self.figures.get(&kind).and_then(Figure::value)
    }

    /// The name that is shown to users: `shop.jar (process:4711)`, or only the source if the program is unknown.
    #[must_use]
    pub fn title(&self) -> String {
        match &self.name {
            Some(name) => format!("{name} ({})", self.source),
            None => self.source.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_figures_stay_unknown_in_json() {
        let figures = BTreeMap::from([
            (FigureKind::CpuPerRequest, Figure::known(0.001_234_567_89)),
            (FigureKind::StorageReadBytes, Figure::unavailable("no permission")),
        ]);
        let subject = SystemSubject {
            kind: SubjectKind::Process,
            source: "process:7".to_owned(),
            name: Some("java".to_owned()),
            observed_s: 59.0,
            restarts: 0,
            disk: None,
            pauses_at_least: false,
            figures,
        };
        let json = serde_json::to_string(&subject).unwrap();
        assert_eq!(
            json,
            r#"{"kind":"process","source":"process:7","name":"java","watched_s":59.0,"figures":{"cpu_per_request_seconds":0.00123457,"storage_read_bytes":{"unavailable":"no permission"}}}"#
        );
        assert_eq!(serde_json::from_str::<SystemSubject>(&json).unwrap(), subject);
        assert_eq!(subject.value(FigureKind::StorageReadBytes), None);
        assert_eq!(subject.title(), "java (process:7)");
    }
}
