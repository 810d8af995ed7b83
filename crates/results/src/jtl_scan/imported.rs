//! Reads the rows of a log that another load generator wrote.

use std::io::{self, Read};
use std::num::NonZeroU64;

use busyhour_imports::{ImportedSample, SampleForm, SampleReader, Step};
use busyhour_sample::LogRow;

use super::error::{BadRow, LogError, RowPlace};
use super::rows::{LogLabels, ScanState};

/// Number of rows between two reports of progress.
const ROWS_PER_REPORT: u64 = 8_192;

/// Counts the bytes that are read.
struct Counted<'r, R> {
    input: R,
    read: &'r std::cell::Cell<u64>,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.read.set(self.read.get() + read as u64);
        Ok(read)
    }
}

/// Reads all rows and passes them to `see`.
pub(super) fn scan(
    input: impl Read,
    form: SampleForm,
    state: &mut ScanState,
    see: &mut impl FnMut(&LogRow, &LogLabels),
    progress: &mut dyn FnMut(u64),
) -> Result<(), LogError> {
    let read = std::cell::Cell::new(0);
    let mut reader = SampleReader::new(form, Counted { input, read: &read });
    let mut sample = ImportedSample::default();
    loop {
        match reader.read(&mut sample)? {
            Step::Sample => {}
            Step::Bad(bad) => {
                let place = RowPlace::Position { line: bad.line, column: bad.column };
                state.add_bad_row(|| BadRow::new(place, bad.field, bad.text.as_bytes(), bad.problem));
                continue;
            }
            Step::End { cut_at } => {
                state.facts.cut_off = cut_at.is_some();
                return Ok(());
            }
        }
        state.facts.rows += 1;
        if state.facts.rows.is_multiple_of(ROWS_PER_REPORT) {
            progress(read.get());
        }
        let row = LogRow {
            start_ns: sample.start_ns,
            elapsed_ns: sample.duration_ns,
            latency_ns: (sample.latency_ns > 0).then_some(sample.latency_ns),
            late_ns: None,
            bytes: (sample.received_bytes > 0).then_some(sample.received_bytes),
            label: state.labels.intern(sample.label.as_bytes()),
            group: None,
            thread: None,
            user: None::<NonZeroU64>,
            success: sample.success,
        };
        see(&row, &state.labels);
    }
}
