//! The entries of each template and of each stack trace.

use rustc_hash::FxHashMap;

use super::settings::CollectorSettings;
use crate::counts::GroupCounts;
use crate::entries::Entry;
use crate::lines::cut;
use crate::series::CountTable;
use crate::severity::EntrySeverity;
use crate::traces::TraceKey;

/// An entry in the run.
pub(super) struct Observation<'a> {
    pub(super) entry: &'a Entry<'a>,
    pub(super) second: u32,
    pub(super) settings: &'a CollectorSettings,
}

#[derive(Debug, Clone)]
struct Group {
    severity: Option<EntrySeverity>,
    logger: Option<Box<str>>,
    count: u64,
    example: Box<str>,
}

/// Counts per group and second.
#[derive(Debug, Clone)]
pub(super) struct Groups {
    groups: Vec<Option<Group>>,
    traces: FxHashMap<TraceKey, u32>,
    table: CountTable,
}

/// Maximum length of the name of a logger, in bytes.
const LOGGER_BYTES_MAX: usize = 300;

impl Groups {
    pub(super) fn new(counts_max: usize) -> Groups {
        Groups { groups: Vec::new(), traces: FxHashMap::default(), table: CountTable::new(counts_max) }
    }

    pub(super) fn interval_s(&self) -> u32 {
        self.table.interval_s()
    }

    /// Counts an entry of the group with this number.
    pub(super) fn add(&mut self, index: usize, observation: &Observation<'_>) {
        if self.groups.len() <= index {
            self.groups.resize_with(index + 1, || None);
        }
        let group = self.groups[index].get_or_insert_with(|| Group {
            severity: None,
            logger: observation.entry.logger.map(|logger| cut(logger, LOGGER_BYTES_MAX).into()),
            count: 0,
            example: example(observation.entry.text, observation.settings).into_boxed_str(),
        });
        group.count += 1;
        group.severity = group.severity.max(observation.entry.severity);
        self.table.add(index, observation.second);
    }

    /// Counts an entry with a stack trace. A new trace is ignored if there are `traces_max` already.
    pub(super) fn add_trace(&mut self, trace: &TraceKey, traces_max: usize, observation: &Observation<'_>) {
        let index = match self.traces.get(trace) {
            Some(index) => *index,
            None if self.traces.len() >= traces_max => return,
            None => {
                let index = self.traces.len() as u32;
                self.traces.insert(trace.clone(), index);
                index
            }
        };
        self.add(index as usize, observation);
    }

    /// The counts of all groups, in descending order.
    pub(super) fn counts(&self, text: impl Fn(usize) -> String) -> Vec<GroupCounts> {
        let with_index = self.groups.iter().enumerate();
        let mut counts: Vec<GroupCounts> = with_index
            .filter_map(|(index, group)| {
                let group = group.as_ref()?;
                Some(GroupCounts {
                    text: text(index),
                    severity: group.severity,
                    logger: group.logger.as_deref().map(str::to_owned),
                    count: group.count,
                    example: group.example.to_string(),
                    over_time: self.table.series(index),
                })
            })
            .collect();
        counts.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.text.cmp(&b.text)));
        counts
    }

    /// The counts of all traces, in descending order.
    pub(super) fn counts_of_traces(&self) -> Vec<GroupCounts> {
        let mut texts = vec![String::new(); self.groups.len()];
        for (trace, index) in &self.traces {
            if let Some(text) = texts.get_mut(*index as usize) {
                *text = trace.to_string();
            }
        }
        self.counts(|index| texts[index].clone())
    }
}

/// The text of an entry, shortened and without secrets.
fn example(text: &str, settings: &CollectorSettings) -> String {
    let kept = cut(text, settings.example_bytes_max);
    let mut example = settings.redactor.redact(kept);
    if kept.len() < text.len() {
        example.push_str(&format!("\n… ({} more bytes)", text.len() - kept.len()));
    }
    example
}
