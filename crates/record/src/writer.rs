//! The engine's end of recording: one [`BatchWriter`] per core.

use std::fmt;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};

use crate::batch::Encoder;
use crate::sample::{Nanos, Sample};

/// What travels to the recorder's thread.
pub(crate) enum Message {
    /// A batch with samples; `now` is the writer's clock when it was sent.
    Batch { writer: usize, bytes: Vec<u8>, now: Nanos },
    /// Nothing to record, but time went on.
    Tick { writer: usize, now: Nanos },
    /// The writer is gone.
    Closed { writer: usize },
    /// The run is over.
    Finish,
}

/// No empty batch is at hand: the recorder is behind. Wait and try again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the recorder is behind: no empty batch")
    }
}

impl std::error::Error for Full {}

/// Packs the samples of one core and hands them to the recorder in batches. Never blocks; never allocates in steady
/// state.
pub struct BatchWriter {
    id: usize,
    batch: Option<Vec<u8>>,
    batch_bytes: usize,
    encoder: Encoder,
    full: SyncSender<Message>,
    empty: Receiver<Vec<u8>>,
    latest: Nanos,
    stalls: u64,
    samples: u64,
    lost: u64,
}

impl fmt::Debug for BatchWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchWriter")
            .field("id", &self.id)
            .field("samples", &self.samples)
            .finish_non_exhaustive()
    }
}

impl BatchWriter {
    /// A writer and the recorder's way to give its empty batches back.
    pub(crate) fn new(
        id: usize,
        full: SyncSender<Message>,
        batches: usize,
        batch_bytes: usize,
    ) -> (BatchWriter, SyncSender<Vec<u8>>) {
        let (give, empty) = sync_channel(batches.max(2));
        for _ in 0..batches.max(2) {
            // The channel has just been made with this much room.
            let _ = give.try_send(Vec::with_capacity(batch_bytes));
        }
        let writer = BatchWriter {
            id,
            batch: None,
            batch_bytes,
            encoder: Encoder::new(),
            full,
            empty,
            latest: Nanos::ZERO,
            stalls: 0,
            samples: 0,
            lost: 0,
        };
        (writer, give)
    }

    /// Records `sample`.
    ///
    /// # Errors
    /// [`Full`] when no empty batch is at hand: nothing was recorded, and the same sample must be offered again.
    pub fn record(&mut self, sample: &Sample<'_>) -> Result<(), Full> {
        let need = Encoder::size_max(sample);
        if let Some(batch) = &self.batch
            && !batch.is_empty()
            && batch.len() + need > self.batch_bytes
        {
            self.send();
            if self.batch.is_some() {
                self.stalls += 1;
                return Err(Full);
            }
        }
        if self.batch.is_none() && !self.take_empty() {
            return Err(Full);
        }
        self.samples += 1;
        self.latest = self.latest.max(sample.end);
        if let Some(batch) = &mut self.batch {
            self.encoder.sample(batch, sample);
        } else {
            self.lost += 1;
        }
        Ok(())
    }

    /// Hands over what has been recorded so far. To be called every 100–200 ms, with or without samples, and at the
    /// end; `now` (≥ every end stamp recorded) tells the recorder which seconds are complete.
    pub fn flush(&mut self, now: Nanos) {
        self.latest = self.latest.max(now);
        if self.batch.as_ref().is_some_and(|batch| !batch.is_empty()) {
            self.send();
        } else {
            // A tick that finds no room is no loss: the next one says more.
            let _ = self.full.try_send(Message::Tick { writer: self.id, now: self.latest });
        }
    }

    /// How often [`Full`] was returned.
    #[must_use]
    pub const fn stalls(&self) -> u64 {
        self.stalls
    }

    /// How many samples were recorded.
    #[must_use]
    pub const fn samples(&self) -> u64 {
        self.samples
    }

    /// How many samples were lost because the recorder's thread is gone. 0 in every healthy run.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Takes an empty batch; true also when the recorder is gone, for waiting would be in vain then.
    fn take_empty(&mut self) -> bool {
        match self.empty.try_recv() {
            Ok(batch) => {
                self.batch = Some(batch);
                self.encoder.restart();
                true
            }
            Err(TryRecvError::Empty) => {
                self.stalls += 1;
                false
            }
            Err(TryRecvError::Disconnected) => true,
        }
    }

    fn send(&mut self) {
        if let Some(bytes) = self.batch.take() {
            let message = Message::Batch { writer: self.id, bytes, now: self.latest };
            // The channel holds every batch there is, but ticks take room too: keep the batch and try later then.
            if let Err(TrySendError::Full(Message::Batch { bytes, .. })) = self.full.try_send(message) {
                self.batch = Some(bytes);
            }
        }
    }
}

impl Drop for BatchWriter {
    fn drop(&mut self) {
        if let Some(bytes) = self.batch.take()
            && !bytes.is_empty()
        {
            // At the end of a core's life waiting is allowed.
            let _ = self.full.send(Message::Batch { writer: self.id, bytes, now: self.latest });
        }
        let _ = self.full.send(Message::Closed { writer: self.id });
    }
}
