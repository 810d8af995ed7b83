//! The way of snapshots from the recorder's thread to those who follow a run.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use super::Snapshot;

/// A channel that holds at most `capacity` snapshots. A reader that is slower than that loses the newest, which are
/// counted; the recorder never waits.
#[must_use]
pub fn snapshot_channel(capacity: usize) -> (SnapshotSender, SnapshotReceiver) {
    let (sender, receiver) = sync_channel(capacity.max(1));
    let lost = Arc::new(AtomicU64::new(0));
    (SnapshotSender { sender, lost: Arc::clone(&lost) }, SnapshotReceiver { receiver, lost })
}

/// The recorder's end. The channel ends when the recorder has ended and no clone of its sender is left.
#[derive(Debug, Clone)]
pub struct SnapshotSender {
    sender: SyncSender<Arc<Snapshot>>,
    lost: Arc<AtomicU64>,
}

impl SnapshotSender {
    /// Sends `snapshot` if there is room.
    pub fn send(&self, snapshot: &Arc<Snapshot>) {
        // A reader that has gone away needs nothing.
        if let Err(TrySendError::Full(_)) = self.sender.try_send(Arc::clone(snapshot)) {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The reader's end.
#[derive(Debug)]
pub struct SnapshotReceiver {
    receiver: Receiver<Arc<Snapshot>>,
    lost: Arc<AtomicU64>,
}

impl SnapshotReceiver {
    /// The next snapshot, when it comes; `None` when the run is over.
    #[must_use]
    pub fn recv(&self) -> Option<Arc<Snapshot>> {
        self.receiver.recv().ok()
    }

    /// The next snapshot if it comes within `timeout`: `Ok(None)` if it does not.
    ///
    /// # Errors
    /// [`RunOver`]: none will come any more.
    pub fn recv_timeout(&self, timeout: Duration) -> Result<Option<Arc<Snapshot>>, RunOver> {
        match self.receiver.recv_timeout(timeout) {
            Ok(snapshot) => Ok(Some(snapshot)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(RunOver),
        }
    }

    /// Snapshots that found no room so far.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

/// No further snapshot will come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the run is over: no further second will come")]
pub struct RunOver;
