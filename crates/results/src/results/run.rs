//! Reads samples from a run directory's samples file.

use busyhour_record::SamplesReader;
use busyhour_sample::{LabelId, Labels, Nanos, RunNames, Sample, SampleKind, SampleTimes, UserCounts};

use super::visitor::Visitor;
use crate::jtl_scan::LogError;
use crate::unpack::Bytes;

pub(super) struct RunSamples {
    reader: SamplesReader<Bytes>,
    labels: Labels,
    /// For each label of the file, its number in `labels`.
    ids: Vec<LabelId>,
}

impl RunSamples {
    pub(super) fn new(input: Bytes, labels: Labels) -> Result<RunSamples, LogError> {
        Ok(RunSamples { reader: SamplesReader::new(input)?, labels, ids: Vec::new() })
    }

    pub(super) fn anchor_ns(&self) -> i64 {
        self.reader.names().wall_anchor_ms.saturating_mul(1_000_000)
    }

    /// Reads the next segment of the file, and counts its active users. Returns the number of samples and their latest end;
    /// `None` at the end.
    pub(super) fn next(
        &mut self,
        origin_ns: i64,
        visitor: &mut Visitor<'_>,
        users: &mut UserCounts,
    ) -> Result<Option<(u64, Nanos)>, LogError> {
        let offset_ns = u64::try_from(self.anchor_ns().saturating_sub(origin_ns)).unwrap_or(0);
        let moved = |at: Nanos| at + offset_ns;
        let names = self.reader.labels().clone();
        let (labels, ids) = (&self.labels, &mut self.ids);
        let mut read = (0, Nanos::ZERO);
        let Visitor { sample: see, arrival: see_arrival } = visitor;
        let mut each = |sample: &Sample<'_>| {
            let at = sample.label.0 as usize;
            // Labels are numbered in the order of the file, so that tables list them in the order of the run.
            for known in ids.len()..=at.min(names.len().saturating_sub(1)) {
                ids.push(labels.intern(&names.name(LabelId(known as u32))));
            }
            let label = match ids.get(at) {
                Some(label) => *label,
                None => labels.intern(&names.name(sample.label)),
            };
            let (intended, start, end) =
                (moved(sample.times.intended), moved(sample.times.start), moved(sample.times.end));
            read = (read.0 + 1, read.1.max(end));
            let times = SampleTimes { intended, start, end, ..sample.times };
            let sample = Sample { label, times, ..*sample };
            users.sample(&sample, SampleKind::of(sample.flags) == SampleKind::Request);
            see(&sample);
        };
        let more = self.reader.next_segment(&mut |_, sample| each(sample), &mut |_, arrival| {
            see_arrival(&arrival.moved(moved));
        })?;
        let mut changes = self.reader.take_user_changes();
        for change in &mut changes {
            // The end of the second, in seconds from the origin.
            let end_ns = change.second.saturating_mul(1_000_000_000).saturating_add(999_999_999);
            change.second = moved(Nanos(end_ns)).second();
        }
        users.change(&changes);
        Ok(more.then_some(read))
    }

    pub(super) fn cut_at(&self) -> Option<u64> {
        self.reader.end().cut_at
    }

    pub(super) fn into_names(self) -> RunNames {
        self.reader.names().names.clone()
    }
}
