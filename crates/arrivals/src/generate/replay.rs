//! Replays the arrivals of a file.

use std::sync::Arc;

use crate::stage::Replay;

/// Returns the recorded offsets.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    offsets_ns: Arc<[u64]>,
    next: usize,
    duration_ns: u64,
}

impl Recorded {
    pub(crate) fn new(replay: &Replay, duration_ns: u64) -> Recorded {
        let offsets_ns = replay.offsets_ns.clone().unwrap_or_default();
        Recorded { offsets_ns, next: 0, duration_ns }
    }

    pub(crate) fn next_ns(&mut self) -> Option<u64> {
        let offset_ns = *self.offsets_ns.get(self.next)?;
        self.next += 1;
        (offset_ns < self.duration_ns).then_some(offset_ns)
    }
}
