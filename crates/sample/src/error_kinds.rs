//! The kinds of error in a run: response code and message, with their counts.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::labels::Labels;
use crate::nanos::Nanos;
use crate::sample::{LabelId, Sample};

/// Maximum number of kinds of error; errors of further kinds are counted together.
pub const ERROR_KINDS_MAX: usize = 1_000;

/// Samples that failed with the same code and message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorKind {
    /// Response code.
    pub code: String,
    /// The first failed assertion's message, or the response message when no assertion failed.
    pub message: String,
    /// Number of samples.
    pub count: u64,
    /// End of the first of these samples.
    pub first: Nanos,
    /// End of the last of these samples.
    pub last: Nanos,
    /// Label of the first of these samples.
    pub example_label: String,
    /// The most frequent labels of these samples, with their counts.
    #[serde(default)]
    pub labels: Vec<(String, u64)>,
}

/// Maximum number of labels that are listed for a kind.
const LABELS_LISTED: usize = 8;

/// Maximum number of pairs of kind and label that are counted. The limit is necessary because a plan can generate any number of
/// labels.
const LABELS_COUNTED_MAX: usize = 20_000;

/// Number of bytes of a message that distinguish kinds of error; longer messages are truncated.
const ERROR_TEXT_BYTES_MAX: usize = 1_000;

/// Number of a kind, label of its first error, and the kind.
type Kind = (usize, LabelId, ErrorKind);

/// The kinds of error, limited in number.
#[derive(Debug, Default)]
pub(crate) struct ErrorKinds {
    by_code: HashMap<String, HashMap<String, Kind>>,
    /// Number of errors by kind and label.
    by_label: HashMap<(usize, LabelId), u64>,
    kinds: usize,
    other: u64,
}

impl ErrorKinds {
    pub(crate) fn add(&mut self, sample: &Sample<'_>, labels: &Labels) {
        let reason =
            if sample.failure_message.is_empty() { sample.outcome.message } else { sample.failure_message };
        // Servers choose these texts, so their memory must be limited.
        let mut end = reason.len().min(ERROR_TEXT_BYTES_MAX);
        while !reason.is_char_boundary(end) {
            end -= 1;
        }
        let reason = &reason[..end];
        let count = u64::from(sample.error_count.max(1));
        if let Some((number, label, kind)) =
            self.by_code.get_mut(sample.outcome.code).and_then(|m| m.get_mut(reason))
        {
            let number = *number;
            kind.count += count;
            let end = sample.times.end;
            // If several labels failed at the same time, the first one by name is used, whatever the order of the samples.
            let is_first_by_name = || labels.name(sample.label) < labels.name(*label);
            if end < kind.first || (end == kind.first && sample.label != *label && is_first_by_name()) {
                (*label, kind.first) = (sample.label, end);
            }
            kind.last = kind.last.max(sample.times.end);
            self.count_label(number, sample.label, count);
            return;
        }
        if self.kinds >= ERROR_KINDS_MAX {
            self.other += count;
            return;
        }
        self.kinds += 1;
        let kind = ErrorKind {
            code: sample.outcome.code.to_owned(),
            message: reason.to_owned(),
            count,
            first: sample.times.end,
            last: sample.times.end,
            example_label: String::new(),
            labels: Vec::new(),
        };
        let number = self.kinds;
        self.by_code
            .entry(sample.outcome.code.to_owned())
            .or_default()
            .insert(reason.to_owned(), (number, sample.label, kind));
        self.count_label(number, sample.label, count);
    }

    fn count_label(&mut self, kind: usize, label: LabelId, count: u64) {
        if self.by_label.len() < LABELS_COUNTED_MAX || self.by_label.contains_key(&(kind, label)) {
            *self.by_label.entry((kind, label)).or_default() += count;
        }
    }

    /// The kinds, most frequent first, and the number of errors of further kinds.
    pub(crate) fn finish(self, name: impl Fn(LabelId) -> String) -> (Vec<ErrorKind>, u64) {
        let mut labels: HashMap<usize, Vec<(String, u64)>> = HashMap::new();
        for ((kind, label), count) in self.by_label {
            labels.entry(kind).or_default().push((name(label), count));
        }
        let mut listed = |kind: usize| {
            let mut labels = labels.remove(&kind).unwrap_or_default();
            labels.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            labels.truncate(LABELS_LISTED);
            labels
        };
        let mut kinds: Vec<ErrorKind> = self
            .by_code
            .into_values()
            .flat_map(HashMap::into_values)
            .map(|(number, label, kind)| ErrorKind {
                example_label: name(label),
                labels: listed(number),
                ..kind
            })
            .collect();
        kinds.sort_by(|a, b| {
            b.count.cmp(&a.count).then_with(|| a.code.cmp(&b.code)).then_with(|| a.message.cmp(&b.message))
        });
        (kinds, self.other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::SampleOutcome;

    #[test]
    fn long_messages_are_truncated_before_they_are_compared() {
        let labels = Labels::new();
        let label = labels.intern("page");
        let mut kinds = ErrorKinds::default();
        let same = "é".repeat(ERROR_TEXT_BYTES_MAX);
        for end in ["a", "b"] {
            let message = format!("x{same}{end}");
            let sample = Sample {
                label,
                outcome: SampleOutcome::new("500", &message, true),
                error_count: 1,
                ..Sample::default()
            };
            kinds.add(&sample, &labels);
        }
        let (kinds, other) = kinds.finish(|_| "page".into());
        assert_eq!((kinds.len(), kinds[0].count, other), (1, 2, 0));
        assert_eq!(kinds[0].message.len(), ERROR_TEXT_BYTES_MAX - 1, "cut between two characters");
    }

    #[test]
    fn errors_of_a_kind_are_counted_by_label() {
        let labels = Labels::new();
        let mut kinds = ErrorKinds::default();
        for (label, count) in [("List", 3), ("Item", 1), ("Cart", 1)] {
            let label = labels.intern(label);
            for _ in 0..count {
                kinds.add(
                    &Sample {
                        label,
                        outcome: SampleOutcome::new("500", "", true),
                        error_count: 1,
                        ..Sample::default()
                    },
                    &labels,
                );
            }
        }
        kinds.add(
            &Sample {
                label: labels.intern("Item"),
                outcome: SampleOutcome::new("404", "", true),
                error_count: 1,
                ..Sample::default()
            },
            &labels,
        );
        let (kinds, _) = kinds.finish(|id| labels.name(id).to_string());
        assert_eq!(kinds[0].labels, [("List".to_owned(), 3), ("Cart".to_owned(), 1), ("Item".to_owned(), 1)]);
        assert_eq!(kinds[1].labels, [("Item".to_owned(), 1)]);
    }
}
