//! Reads samples from a run directory's record.

use super::unpack::Bytes;
use super::visitor::Visitor;
use crate::jtl_scan::LogError;
use crate::labels::Labels;
use crate::run_names::RunNames;
use crate::sample::{LabelId, Nanos, Sample, SampleTimes};
use crate::samples_file::SamplesReader;

pub(super) struct RunSamples {
    reader: SamplesReader<Bytes>,
    labels: Labels,
    /// The numbers in `labels` of the record's labels.
    ids: Vec<LabelId>,
}

impl RunSamples {
    pub(super) fn new(input: Bytes, labels: Labels) -> Result<RunSamples, LogError> {
        Ok(RunSamples { reader: SamplesReader::new(input)?, labels, ids: Vec::new() })
    }

    pub(super) fn anchor_ns(&self) -> i64 {
        self.reader.names().wall_anchor_ms.saturating_mul(1_000_000)
    }

    /// Reads the next segment of the record. Returns the number of samples, their latest end, and the active users of
    /// the last one; `None` at the end.
    pub(super) fn next(
        &mut self,
        origin_ns: i64,
        visitor: &mut Visitor<'_>,
    ) -> Result<Option<(u64, Nanos, u32)>, LogError> {
        let offset_ns = u64::try_from(self.anchor_ns().saturating_sub(origin_ns)).unwrap_or(0);
        let moved = |at: Nanos| at + offset_ns;
        let names = self.reader.labels().clone();
        let (labels, ids) = (&self.labels, &mut self.ids);
        let mut read = (0, Nanos::ZERO, 0);
        let Visitor { sample: see, arrival: see_arrival } = visitor;
        let mut each = |sample: &Sample<'_>| {
            let at = sample.label.0 as usize;
            // Labels are numbered in the order of the record, so that tables list them in the order of the run.
            for known in ids.len()..=at.min(names.len().saturating_sub(1)) {
                ids.push(labels.intern(&names.name(LabelId(known as u32))));
            }
            let label = match ids.get(at) {
                Some(label) => *label,
                None => labels.intern(&names.name(sample.label)),
            };
            let (intended, start, end) =
                (moved(sample.times.intended), moved(sample.times.start), moved(sample.times.end));
            read = (read.0 + 1, read.1.max(end), sample.users.all);
            see(&Sample { label, times: SampleTimes { intended, start, end, ..sample.times }, ..*sample });
        };
        let more = self.reader.next_segment(&mut |_, sample| each(sample), &mut |_, arrival| {
            see_arrival(&arrival.moved(moved));
        })?;
        Ok(more.then_some(read))
    }

    pub(super) fn cut_at(&self) -> Option<u64> {
        self.reader.end().cut_at
    }

    pub(super) fn into_names(self) -> RunNames {
        self.reader.names().names.clone()
    }
}
