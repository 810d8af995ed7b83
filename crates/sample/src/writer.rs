//! The engine's side of the recorder: one [`BatchWriter`] per core.

use std::fmt;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};

use crate::arrival::ArrivalRecord;
use crate::batch::Encoder;
use crate::detail::Detail;
use crate::nanos::Nanos;
use crate::sample::Sample;
use crate::sample_flags::SampleFlags;
use crate::user_counts::{UserChange, note_change};

/// Messages to the recorder's thread.
pub enum Message {
    /// A batch.
    Batch {
        /// Number of the writer.
        writer: usize,
        /// The batch.
        batch: Batch,
        /// The writer's time when it was sent.
        now: Nanos,
    },
    /// Only the current time of the writer, without samples.
    Tick {
        /// Number of the writer.
        writer: usize,
        /// The writer's current time.
        now: Nanos,
    },
    /// The writer has finished.
    Closed {
        /// Number of the writer.
        writer: usize,
    },
    /// The run is over.
    Finish,
}

/// A batch is sent when its details exceed this size in bytes.
const DETAIL_BYTES_MAX: usize = 1 << 20;

/// A batch: samples, arrivals and details.
#[derive(Debug, Default)]
pub struct Batch {
    /// Packed samples.
    pub samples: Vec<u8>,
    /// Packed arrivals of open workloads.
    pub arrivals: Vec<u8>,
    /// Details of the samples with the flag [`SampleFlags::DETAILED`], in order.
    pub details: Vec<Detail>,
    /// Changes of the number of active users, by second.
    pub users: Vec<UserChange>,
    /// Approximate size of the details in bytes.
    detail_bytes: usize,
}

impl Batch {
    fn is_empty(&self) -> bool {
        self.samples.is_empty() && self.arrivals.is_empty() && self.users.is_empty()
    }

    /// Clears the batch but keeps its buffers.
    pub fn clear(&mut self) {
        self.samples.clear();
        self.arrivals.clear();
        self.details.clear();
        self.users.clear();
        self.detail_bytes = 0;
    }
}

/// Error: no empty batch is available, because the recorder processes samples more slowly than they are recorded. The caller
/// waits and tries again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the recorder is behind: no empty batch")
    }
}

impl std::error::Error for Full {}

/// Packs the samples of one core and sends them to the recorder in batches. It never blocks, and does not allocate in
/// steady state.
pub struct BatchWriter {
    id: usize,
    batch: Option<Batch>,
    batch_bytes: usize,
    encoder: Encoder,
    /// Arrivals that were not sent yet. An arrival can be recorded without an empty batch.
    arrivals: Vec<u8>,
    /// Scheduled time of the last arrival in `arrivals`.
    arrival_before: u64,
    /// Changes of the number of active users that were not sent yet.
    users: Vec<UserChange>,
    full: SyncSender<Message>,
    empty: Receiver<Batch>,
    /// Empty batches. The one that was returned last is used first, so that only as many batches take memory as are in use at
    /// the same time.
    spare: Vec<Batch>,
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
    /// From now on, records samples without their URLs, because these contain a secret.
    pub fn omit_urls(&mut self) {
        self.encoder.omits_urls = true;
    }

    /// Returns a writer, and the channel through which the recorder returns empty batches.
    pub fn new(
        id: usize,
        full: SyncSender<Message>,
        batches: usize,
        batch_bytes: usize,
    ) -> (BatchWriter, SyncSender<Batch>) {
        // The channel has capacity for all batches.
        let (give, empty) = sync_channel(batches.max(2));
        let new_batch = |_| Batch { samples: Vec::with_capacity(batch_bytes), ..Batch::default() };
        let spare = (0..batches.max(2)).map(new_batch).collect();
        let writer = BatchWriter {
            id,
            batch: None,
            batch_bytes,
            encoder: Encoder::new(),
            arrivals: Vec::new(),
            arrival_before: 0,
            users: Vec::new(),
            full,
            empty,
            spare,
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
    /// [`Full`] if no empty batch is available. Nothing was recorded then, and the caller must try the same sample
    /// again.
    pub fn record(&mut self, sample: &Sample<'_>) -> Result<(), Full> {
        self.record_with(sample, &mut None)
    }

    /// Records `sample` and its detail. `detail` is `None` afterwards if the sample was recorded.
    ///
    /// # Errors
    /// [`Full`], as for [`BatchWriter::record`].
    pub fn record_with(&mut self, sample: &Sample<'_>, detail: &mut Option<Box<Detail>>) -> Result<(), Full> {
        let need = Encoder::size_max(sample);
        if let Some(batch) = &self.batch
            && !batch.samples.is_empty()
            && (batch.samples.len() + need > self.batch_bytes || batch.detail_bytes > DETAIL_BYTES_MAX)
        {
            self.send();
            if self.batch.is_some() {
                self.stalls += 1;
                return Err(Full);
            }
        }
        if self.batch.is_none() && !self.take_empty() {
            self.stalls += 1;
            return Err(Full);
        }
        self.samples += 1;
        self.latest = self.latest.max(sample.times.end);
        if let Some(batch) = &mut self.batch {
            let own = sample.flags.without(SampleFlags::DETAILED);
            if let Some(detail) = detail.take() {
                batch.detail_bytes += detail.size();
                batch.details.push(*detail);
                let sample = Sample { flags: own | SampleFlags::DETAILED, ..*sample };
                self.encoder.sample(&mut batch.samples, &sample);
            } else if own == sample.flags {
                self.encoder.sample(&mut batch.samples, sample);
            } else {
                self.encoder.sample(&mut batch.samples, &Sample { flags: own, ..*sample });
            }
        } else {
            self.lost += 1;
        }
        Ok(())
    }

    /// Records an arrival of an open workload. `now` is the writer's time.
    pub fn record_arrival(&mut self, arrival: &ArrivalRecord, now: Nanos) {
        if self.arrivals.is_empty() {
            self.arrival_before = 0;
        }
        arrival.pack(&mut self.arrivals, self.arrival_before);
        self.arrival_before = arrival.scheduled.0;
        self.latest = self.latest.max(now);
        if self.arrivals.len() >= self.batch_bytes && (self.batch.is_some() || self.take_empty()) {
            self.send();
        }
    }

    /// Records that the number of active users changed by `change` at `now`. The change is sent by the next
    /// [`BatchWriter::flush`].
    pub fn record_users(&mut self, change: i64, now: Nanos) {
        note_change(&mut self.users, now.second(), change);
    }

    /// Sends everything recorded so far. The caller calls it every 100–200 ms, with or without samples, and at the end. From
    /// `now`, which must not be before any recorded end, the recorder determines which seconds are complete.
    pub fn flush(&mut self, now: Nanos) {
        self.latest = self.latest.max(now);
        let has_counts = !self.arrivals.is_empty() || !self.users.is_empty();
        if self.batch.is_none() && has_counts {
            // Without an empty batch, arrivals and users are sent by the next call.
            self.take_empty();
        }
        if self.batch.as_ref().is_some_and(|batch| !batch.is_empty() || has_counts) {
            self.send();
        } else {
            // A lost tick is harmless: the next one has a later time.
            let _ = self.full.try_send(Message::Tick { writer: self.id, now: self.latest });
        }
    }

    /// Number of times that [`Full`] was returned.
    #[must_use]
    pub const fn stalls(&self) -> u64 {
        self.stalls
    }

    /// Number of recorded samples.
    #[must_use]
    pub const fn samples(&self) -> u64 {
        self.samples
    }

    /// Number of samples that were lost because the recorder's thread had ended; 0 in a normal run.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Takes an empty batch. Also returns true if the recorder has ended, so that callers do not wait for it.
    fn take_empty(&mut self) -> bool {
        let is_over = loop {
            match self.empty.try_recv() {
                Ok(batch) => self.spare.push(batch),
                Err(error) => break error == TryRecvError::Disconnected,
            }
        };
        self.batch = self.spare.pop();
        if self.batch.is_some() {
            self.encoder.restart();
        }
        self.batch.is_some() || is_over
    }

    fn send(&mut self) {
        if let Some(mut batch) = self.batch.take() {
            // A batch that could not be sent before already contains arrivals.
            if batch.arrivals.is_empty() {
                std::mem::swap(&mut batch.arrivals, &mut self.arrivals);
            }
            if batch.users.is_empty() {
                std::mem::swap(&mut batch.users, &mut self.users);
            }
            let message = Message::Batch { writer: self.id, batch, now: self.latest };
            // Messages with only the time have filled the channel, so the batch is sent later.
            if let Err(TrySendError::Full(Message::Batch { batch, .. })) = self.full.try_send(message) {
                self.batch = Some(batch);
            }
        }
    }
}

impl Drop for BatchWriter {
    fn drop(&mut self) {
        // The core has finished, so blocking is harmless.
        if let Some(batch) = self.batch.take()
            && !batch.is_empty()
        {
            let _ = self.full.send(Message::Batch { writer: self.id, batch, now: self.latest });
        }
        if !self.arrivals.is_empty() || !self.users.is_empty() {
            let (arrivals, users) = (std::mem::take(&mut self.arrivals), std::mem::take(&mut self.users));
            let batch = Batch { arrivals, users, ..Batch::default() };
            let _ = self.full.send(Message::Batch { writer: self.id, batch, now: self.latest });
        }
        let _ = self.full.send(Message::Closed { writer: self.id });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrival::{ArrivalOutcome, unpack_arrivals};
    use crate::batch::BatchReader;

    #[test]
    fn arrivals_without_an_empty_batch_are_kept_without_blocking() {
        const BATCHES: usize = 2;
        let (full, inbox) = sync_channel(100);
        // No batch is ever returned, as if the recorder were too slow.
        let (mut writer, _give) = BatchWriter::new(0, full, BATCHES, 64);
        let all: Vec<_> = (0..1_000)
            .map(|n| Nanos(n * 1_000_000))
            .map(|at| ArrivalRecord {
                group: 1,
                scheduled: at,
                outcome: ArrivalOutcome::Started { at: at + 5_u64 },
            })
            .collect();
        for arrival in &all {
            writer.record_arrival(arrival, arrival.scheduled);
        }
        writer.flush(Nanos::from_secs(1));
        assert_eq!(writer.stalls(), 0, "only samples count as stalls");
        assert_eq!(writer.record(&Sample::default()), Err(Full));
        assert_eq!(writer.stalls(), 1);
        drop(writer);
        let mut seen = Vec::new();
        for message in inbox {
            if let Message::Batch { batch, .. } = message {
                unpack_arrivals(BatchReader::new(&batch.arrivals), |arrival| seen.push(*arrival)).unwrap();
            }
        }
        assert_eq!(seen, all);
    }

    #[test]
    fn the_batch_that_was_returned_last_is_used_first() {
        let (full, inbox) = sync_channel(100);
        let (mut writer, give) = BatchWriter::new(0, full, 48, 1024);
        let mut used = std::collections::HashSet::new();
        for second in 1..100 {
            writer.record(&Sample::default()).unwrap();
            writer.flush(Nanos::from_secs(second));
            let Ok(Message::Batch { mut batch, .. }) = inbox.recv() else { panic!("a batch was sent") };
            used.insert(batch.samples.as_ptr());
            batch.clear();
            give.send(batch).unwrap();
        }
        assert_eq!(used.len(), 1);
    }
}
