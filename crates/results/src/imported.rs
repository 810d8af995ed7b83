//! The samples of files that other load generators wrote, as samples of this program.

use std::io::Read;

use busyhour_imports::{BadLine, ImportNotes, ImportedSample, SampleForm, SampleReader, Step};
use busyhour_sample::{
    ActiveUsers, GroupName, LABELS_MAX, LabelId, Labels, Nanos, OTHER_GROUP, OTHER_LABELS, Sample,
    SampleContent, SampleFlags, SampleOutcome, SampleSizes, SampleTimes,
};
use rustc_hash::FxHashMap;

use crate::jtl_scan::{BadRow, LogError, RowPlace};

/// Maximum number of cached labels of a file. Samples of labels beyond [`LABELS_MAX`] are counted together anyway.
const LABELS_KNOWN_MAX: usize = 4 * LABELS_MAX;

/// Maximum number of groups with totals of their own.
const GROUPS_KNOWN_MAX: usize = LABELS_MAX;

/// The problem with a start time that is before the origin of times.
const TOO_EARLY: &str = "is more than a year before the first row";

/// Reads the samples of a file of another tool.
pub(crate) struct ImportedSamples<R> {
    reader: SampleReader<R>,
    sample: ImportedSample,
    labels: Labels,
    known: FxHashMap<String, LabelId>,
    groups: FxHashMap<String, u32>,
    /// The groups by their numbers.
    pub(crate) group_names: Vec<GroupName>,
    rows: u64,
}

/// The result of reading a sample.
pub(crate) enum ImportedStep {
    /// A sample, and its end.
    Sample { end: Nanos },
    /// A line that cannot be read.
    Bad(BadRow),
    /// The end of the file, or the offset at which it is truncated.
    End { cut_at: Option<u64> },
}

impl<R: Read> ImportedSamples<R> {
    pub(crate) fn new(form: SampleForm, input: R, labels: Labels) -> ImportedSamples<R> {
        ImportedSamples {
            reader: SampleReader::new(form, input),
            sample: ImportedSample::default(),
            labels,
            known: FxHashMap::default(),
            groups: FxHashMap::default(),
            group_names: Vec::new(),
            rows: 0,
        }
    }

    /// Other contents of the file besides samples, as far as it was read.
    pub(crate) fn notes(&self) -> ImportNotes {
        self.reader.notes()
    }

    /// Reads the next sample and calls `see` with it. Its times count from `origin_ns`, in ns since 1970.
    pub(crate) fn next(
        &mut self,
        origin_ns: i64,
        see: &mut dyn FnMut(&Sample<'_>),
    ) -> Result<ImportedStep, LogError> {
        match self.reader.read(&mut self.sample)? {
            Step::Sample => {}
            Step::Bad(line) => return Ok(ImportedStep::Bad(bad_row(line))),
            Step::End { cut_at } => return Ok(ImportedStep::End { cut_at }),
        }
        self.rows += 1;
        let Ok(start_ns) = u64::try_from(self.sample.start_ns.saturating_sub(origin_ns)) else {
            let stamp = self.sample.start_ns.to_string();
            let place = RowPlace::Sample(self.rows);
            return Ok(ImportedStep::Bad(BadRow::new(place, "start", stamp.as_bytes(), TOO_EARLY)));
        };
        let (label, group) = (self.label(), self.group());
        let read = &self.sample;
        let start = Nanos(start_ns);
        let end = Nanos(start_ns.saturating_add(read.duration_ns));
        let (latency_ns, connect_ns) = (read.latency_ns, read.connect_ns);
        see(&Sample {
            label,
            times: SampleTimes { latency_ns, connect_ns, ..SampleTimes::of_one_clock(start, end) },
            users: ActiveUsers { group: read.users, all: read.users },
            group,
            outcome: SampleOutcome::new(&read.code, &read.message, read.success),
            content: SampleContent::default(),
            sizes: SampleSizes::of_row(read.received_bytes, read.sent_bytes),
            url: &read.url,
            sample_count: 1,
            error_count: u32::from(!read.success),
            flags: if read.url.is_empty() { SampleFlags::NO_URL } else { SampleFlags::NONE },
            ..Sample::default()
        });
        Ok(ImportedStep::Sample { end })
    }

    fn label(&mut self) -> LabelId {
        if let Some(label) = self.known.get(self.sample.label.as_str()) {
            return *label;
        }
        if self.known.len() >= LABELS_KNOWN_MAX {
            return self.labels.intern(OTHER_LABELS);
        }
        let label = self.labels.intern(&self.sample.label);
        self.known.insert(self.sample.label.clone(), label);
        label
    }

    fn group(&mut self) -> u32 {
        if let Some(group) = self.groups.get(self.sample.group.as_str()) {
            return *group;
        }
        if self.group_names.len() >= GROUPS_KNOWN_MAX {
            return OTHER_GROUP;
        }
        let group = self.group_names.len() as u32;
        self.group_names.push(GroupName { name: self.sample.group.clone(), number: 0 });
        self.groups.insert(self.sample.group.clone(), group);
        group
    }
}

/// A line that another tool wrote and that cannot be read.
pub(crate) fn bad_row(bad: BadLine) -> BadRow {
    let BadLine { line, column, field, text, problem } = bad;
    BadRow::new(RowPlace::Position { line, column }, field, text.as_bytes(), problem)
}
