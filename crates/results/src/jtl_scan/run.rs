//! Reads the rows of a run directory's samples file.

use std::io::{self, Read};
use std::num::NonZeroU64;

use busyhour_record::SamplesReader;
use busyhour_sample::{LogRow, SampleFlags, SampleKind};

use super::error::LogError;
use super::rows::{LogLabels, ScanState};

/// Counts the bytes that are read.
struct Counted<R> {
    input: R,
    read: std::rc::Rc<std::cell::Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.read.set(self.read.get() + read as u64);
        Ok(read)
    }
}

/// Reads all rows and passes them to `see`.
pub(super) fn scan(
    input: impl Read,
    state: &mut ScanState,
    see: &mut impl FnMut(&LogRow, &LogLabels),
    progress: &mut dyn FnMut(u64),
) -> Result<(), LogError> {
    let read = std::rc::Rc::default();
    let reader = SamplesReader::new(Counted { input, read: std::rc::Rc::clone(&read) })?;
    let anchor_ns = reader.names().wall_anchor_ms.saturating_mul(1_000_000);
    let names = reader.labels().clone();
    // For each label of the file, its number in `seen.labels`.
    let mut numbers: Vec<Option<u32>> = Vec::new();
    let mut reported = 0;
    let (end, _, _) = reader.without_texts().read(|_, sample| {
        if read.get() - reported > 1 << 20 {
            reported = read.get();
            progress(reported);
        }
        match SampleKind::of(sample.flags) {
            SampleKind::Transaction => state.facts.transactions += 1,
            SampleKind::SubResult => state.facts.sub_results += 1,
            SampleKind::Request if sample.flags.contains(SampleFlags::WARMUP) => state.facts.warmup += 1,
            SampleKind::Request => {
                let at = sample.label.0 as usize;
                if numbers.len() <= at {
                    // Label numbers are consecutive; a damaged file must not cause a larger allocation.
                    numbers.resize(names.len().max(at.min(names.len()) + 1), None);
                }
                let label = match numbers.get(at).copied().flatten() {
                    Some(number) => number,
                    None => {
                        let number = state.labels.intern(names.name(sample.label).as_bytes());
                        if let Some(place) = numbers.get_mut(at) {
                            *place = Some(number);
                        }
                        number
                    }
                };
                state.facts.rows += 1;
                let row = LogRow {
                    start_ns: i64::try_from(sample.times.start.0)
                        .unwrap_or(i64::MAX)
                        .saturating_add(anchor_ns),
                    elapsed_ns: sample.service_ns(),
                    latency_ns: Some(sample.times.latency_ns),
                    late_ns: Some(sample.times.start.since(sample.times.intended)),
                    bytes: Some(sample.sizes.bytes()),
                    label,
                    group: Some(sample.group),
                    thread: Some(sample.user),
                    // The result is never 0, because users are counted from 1.
                    user: NonZeroU64::new(u64::from(sample.group) << 32 | u64::from(sample.user)),
                    success: sample.outcome.success,
                };
                see(&row, &state.labels);
            }
        }
    })?;
    state.facts.cut_off = end.cut_at.is_some();
    Ok(())
}
