//! The files of a run.

use crate::book::Book;
use crate::sample::Sample;
use crate::{RecordError, RecorderConfig, RecorderEvent};

/// Every output of a run; a failure of one does not touch the others.
pub(crate) struct Outputs {
    events: Vec<RecorderEvent>,
}

impl Outputs {
    pub(crate) fn open(_config: &RecorderConfig) -> Result<Outputs, RecordError> {
        Ok(Outputs { events: Vec::new() })
    }

    pub(crate) fn begin(&mut self, _writer: usize, _batch: &[u8]) {}

    pub(crate) fn sample(&mut self, _sample: &Sample<'_>) {}

    pub(crate) fn histograms(&mut self, book: &mut Book) {
        while let Some(second) = book.next_closed() {
            book.recycle(second);
        }
    }

    pub(crate) fn failed(&mut self, error: String) {
        self.events.push(RecorderEvent::Failed { error });
    }

    pub(crate) fn events(&self) -> usize {
        self.events.len()
    }

    pub(crate) fn flush(&mut self) {}

    pub(crate) fn finish(&mut self) -> Vec<RecorderEvent> {
        std::mem::take(&mut self.events)
    }
}
