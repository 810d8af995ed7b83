//! Samples from a run directory's full-fidelity record.

use super::Sinks;
use super::unpack::Bytes;
use crate::jtl_scan::LogError;
use crate::labels::Labels;
use crate::run_names::RunNames;
use crate::sample::{LabelId, Nanos, Sample};
use crate::samples_file::SamplesReader;

pub(super) struct RunSamples {
    reader: SamplesReader<Bytes>,
    labels: Labels,
    /// Our numbers of the record's labels.
    ids: Vec<LabelId>,
}

impl RunSamples {
    pub(super) fn new(input: Bytes, labels: Labels) -> Result<RunSamples, LogError> {
        Ok(RunSamples { reader: SamplesReader::new(input)?, labels, ids: Vec::new() })
    }

    pub(super) fn anchor_ns(&self) -> i64 {
        self.reader.names().wall_anchor_ms.saturating_mul(1_000_000)
    }

    /// Tells the samples of the next piece of the record: how many, their latest end, and the users that the last one saw;
    /// `None` at the end.
    pub(super) fn next(
        &mut self,
        origin_ns: i64,
        sinks: &mut Sinks<'_>,
    ) -> Result<Option<(u64, Nanos, u32)>, LogError> {
        let offset_ns = u64::try_from(self.anchor_ns().saturating_sub(origin_ns)).unwrap_or(0);
        let moved = |at: Nanos| at + offset_ns;
        let names = self.reader.labels().clone();
        let (labels, ids) = (&self.labels, &mut self.ids);
        let mut told = (0, Nanos::ZERO, 0);
        let Sinks { sample: see, arrival: hear } = sinks;
        let mut each = |sample: &Sample<'_>| {
            let at = sample.label.0 as usize;
            // In the order of the record, which is that of the run: its tables list labels alike.
            for known in ids.len()..=at.min(names.len().saturating_sub(1)) {
                ids.push(labels.intern(&names.name(LabelId(known as u32))));
            }
            let label = match ids.get(at) {
                Some(label) => *label,
                None => labels.intern(&names.name(sample.label)),
            };
            let (intended, start, end) = (moved(sample.intended), moved(sample.start), moved(sample.end));
            told = (told.0 + 1, told.1.max(end), sample.users_all);
            see(&Sample { label, intended, start, end, ..*sample });
        };
        let more = self.reader.next_segment(&mut |_, sample| each(sample), &mut |_, arrival| {
            hear(&arrival.moved(moved));
        })?;
        Ok(more.then_some(told))
    }

    pub(super) fn cut_at(&self) -> Option<u64> {
        self.reader.end().cut_at
    }

    pub(super) fn into_names(self) -> RunNames {
        self.reader.names().names.clone()
    }
}
