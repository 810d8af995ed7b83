//! The channel from the recorder's thread to observers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use super::second::Snapshot;

/// A channel for at most `capacity` snapshots. If the reader is too slow, the newest snapshots are discarded and counted; the
/// recorder never waits.
#[must_use]
pub fn snapshot_channel(capacity: usize) -> (SnapshotSender, SnapshotReceiver) {
    let (sender, receiver) = sync_channel(capacity.max(1));
    let lost = Arc::new(AtomicU64::new(0));
    (SnapshotSender { sender, lost: Arc::clone(&lost) }, SnapshotReceiver { receiver, lost })
}

/// The recorder's end of the channel. The channel closes when the recorder has ended and all clones of its sender are dropped.
#[derive(Debug, Clone)]
pub struct SnapshotSender {
    sender: SyncSender<Arc<Snapshot>>,
    lost: Arc<AtomicU64>,
}

impl SnapshotSender {
    /// Records that the snapshots do not contain everything, so that results must be computed from the record.
    pub fn note_loss(&self) {
        self.lost.fetch_add(1, Ordering::Relaxed);
    }

    /// Sends `snapshot` unless the channel is full.
    pub fn send(&self, snapshot: &Arc<Snapshot>) {
        // A disconnected reader is not an error.
        if let Err(TrySendError::Full(_)) = self.sender.try_send(Arc::clone(snapshot)) {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The reader's end of the channel.
#[derive(Debug)]
pub struct SnapshotReceiver {
    receiver: Receiver<Arc<Snapshot>>,
    lost: Arc<AtomicU64>,
}

impl SnapshotReceiver {
    /// Waits for the next snapshot; `None` when the run is over.
    #[must_use]
    pub fn recv(&self) -> Option<Arc<Snapshot>> {
        self.receiver.recv().ok()
    }

    /// Waits for the next snapshot; `Ok(None)` if there is none within `timeout`.
    ///
    /// # Errors
    /// [`RunOver`]: there are no further snapshots.
    pub fn recv_timeout(&self, timeout: Duration) -> Result<Option<Arc<Snapshot>>, RunOver> {
        match self.receiver.recv_timeout(timeout) {
            Ok(snapshot) => Ok(Some(snapshot)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(RunOver),
        }
    }

    /// Number of snapshots that were discarded so far because the channel was full.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

/// The run is over, so there are no further snapshots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the run is over: there are no further snapshots")]
pub struct RunOver;
