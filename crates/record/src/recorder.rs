//! The recorder's thread, which computes totals from batches and writes files.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use busyhour_sample::{
    Aggregator, Batch, BatchReader, BatchWriter, Detail, IntervalCounts, LiveArrivals, Message, Nanos,
    RecentStarts, RecorderEvent, RunNames, RunTotals, SampleFlags, Snapshot, SnapshotMaker, SnapshotSender,
    TotalsSettings, UserChange,
};

use crate::core_clocks::CoreClocks;
use crate::error::RecordError;
use crate::live_figures::LiveFigures;
use crate::outputs::Outputs;
use crate::recorder_config::RecorderConfig;

/// Records a run on its own thread, which receives the samples of the cores from [`BatchWriter`]s.
#[derive(Debug)]
pub struct Recorder {
    thread: JoinHandle<RunTotals>,
    messages: SyncSender<Message>,
    live: LiveFigures,
}

/// Interval at which the files are flushed, in nanoseconds of the run. Cores send their samples every tenth of a second, so if
/// the process is killed, less than a second of samples is lost.
const FLUSH_NS: u64 = 500_000_000;

/// Time without messages after which the recorder flushes its files.
const IDLE: Duration = Duration::from_millis(500);

impl Recorder {
    /// Opens the files and starts the thread. Waits until all result files that are pipes have a reader; see
    /// [`crate::PipeRelease`].
    ///
    /// # Errors
    /// A file cannot be opened.
    pub fn start(config: RecorderConfig) -> Result<(Recorder, Vec<BatchWriter>), RecordError> {
        let writers = config.writers.max(1);
        // The channel has room for all batches, and for the messages between them that only report the time.
        let (messages, inbox) = sync_channel(writers * (config.batches.max(2) + 8));
        let (cores, empty) = (0..writers)
            .map(|id| BatchWriter::new(id, messages.clone(), config.batches, config.batch_bytes))
            .unzip::<_, _, Vec<_>, Vec<_>>();
        let live = LiveFigures::default();
        let outputs = Outputs::open(&config)?;
        let observed = (!config.observers.is_empty()).then(|| ObservedRun {
            maker: SnapshotMaker::new(config.labels.clone()),
            observers: config.observers,
            regularity: None,
        });
        let settings = TotalsSettings { apdex: config.apdex, ..TotalsSettings::default() };
        let aggregator = Aggregator::new(config.labels.clone(), settings);
        let worker = Worker {
            aggregator,
            outputs,
            empty,
            clocks: CoreClocks::new(writers),
            live: live.clone(),
            starts: RecentStarts::new(),
            evaluated_s: 0,
            observed,
            names: config.names,
        };
        let thread = std::thread::Builder::new()
            .name("recorder".into())
            .spawn(move || worker.run(&inbox))
            .map_err(|source| RecordError { path: config.dir.unwrap_or_default(), source })?;
        Ok((Recorder { thread, messages, live }, cores))
    }

    /// The figures of the run so far, for any thread.
    #[must_use]
    pub fn figures(&self) -> LiveFigures {
        self.live.clone()
    }

    /// Ends the recording as [`Recorder::finish`] does, and also returns the final figures of [`LiveFigures::take_summary`]: those
    /// since the last call, and those since the start.
    #[must_use]
    pub fn finish_with_summary(self) -> (RunTotals, IntervalCounts, IntervalCounts) {
        let figures = self.live.clone();
        let totals = self.finish();
        let live = figures.live();
        (totals, live.delta, live.total)
    }

    /// Ends the recording: writes all samples that the cores have sent, closes the files and computes the totals. Before this
    /// call, the writers of the cores must have been flushed or dropped.
    #[must_use]
    pub fn finish(self) -> RunTotals {
        // If sending fails, the thread has ended, and `join` returns its result.
        let _ = self.messages.send(Message::Finish);
        self.thread.join().unwrap_or_else(|_| {
            let mut totals = RunTotals::empty();
            let error = String::from("the recorder's thread failed; the totals of this run are lost");
            totals.events.push(RecorderEvent::Failed { error });
            totals
        })
    }
}

struct Worker {
    aggregator: Aggregator,
    outputs: Outputs,
    empty: Vec<SyncSender<Batch>>,
    clocks: CoreClocks,
    live: LiveFigures,
    starts: RecentStarts,
    /// The second up to which `starts` was evaluated.
    evaluated_s: u64,
    /// The snapshots of the run and its observers; `None` without observers.
    observed: Option<ObservedRun>,
    names: RunNames,
}

/// The snapshots of a run, and its observers.
struct ObservedRun {
    maker: SnapshotMaker,
    observers: Vec<SnapshotSender>,
    regularity: Option<LiveArrivals>,
}

impl ObservedRun {
    /// Calls `step` with the snapshot maker, and sends the snapshots of the seconds that it closes.
    fn send_closed(&mut self, step: impl FnOnce(&mut SnapshotMaker, &mut dyn FnMut(Snapshot))) {
        let observers = &self.observers;
        step(&mut self.maker, &mut |snapshot| {
            let snapshot = Arc::new(snapshot);
            observers.iter().for_each(|observer| observer.send(&snapshot));
        });
    }
}

impl Worker {
    fn run(mut self, inbox: &Receiver<Message>) -> RunTotals {
        let (mut newest, mut flushed) = (Nanos::ZERO, 0);
        loop {
            match inbox.recv_timeout(IDLE) {
                Ok(Message::Batch { writer, mut batch, now }) => {
                    newest = newest.max(now);
                    self.batch(writer, &batch.samples, std::mem::take(&mut batch.details));
                    self.arrivals(writer, &batch.arrivals);
                    self.users(writer, &batch.users);
                    batch.clear();
                    if let Some(empty) = self.empty.get(writer) {
                        // If the writer has finished, it no longer needs batches and the error is ignored.
                        let _ = empty.try_send(batch);
                    }
                    self.advance(writer, Some(now));
                }
                Ok(Message::Tick { writer, now }) => {
                    newest = newest.max(now);
                    self.advance(writer, Some(now));
                }
                Ok(Message::Closed { writer }) => self.advance(writer, None),
                Ok(Message::Finish) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => self.outputs.flush(),
            }
            // The time of the fastest core determines when files are flushed, because a hanging core must not delay the files
            // of the others.
            if newest.0 / FLUSH_NS != flushed {
                flushed = newest.0 / FLUSH_NS;
                self.outputs.flush();
            }
        }
        self.aggregator.close_all();
        self.outputs.histograms(&mut self.aggregator);
        if let Some(observed) = &mut self.observed {
            let regularity = observed.regularity;
            observed.send_closed(|maker, send| maker.finish(regularity, send));
        }
        let events = self.outputs.finish();
        let mut totals = self.aggregator.finish(events);
        totals.name_groups(&self.names);
        totals
    }

    fn batch(&mut self, writer: usize, bytes: &[u8], details: Vec<Detail>) {
        let mut details = details.into_iter();
        let mut delta = IntervalCounts::new(Nanos::ZERO);
        let mut reader = BatchReader::new(bytes);
        let mut samples = 0;
        loop {
            match reader.next() {
                Ok(Some(sample)) => {
                    let detailed = sample.flags.contains(SampleFlags::DETAILED);
                    let detail = if detailed { details.next() } else { None };
                    self.outputs.sample(writer, &sample, detail.as_ref());
                    samples += 1;
                    if self.aggregator.add(&sample) {
                        delta.add(&sample);
                        self.starts.request(sample.times.start);
                    }
                    if let Some(observed) = &mut self.observed {
                        observed.send_closed(|maker, send| maker.sample(&sample, send));
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    self.outputs.failed(error.to_string());
                    break;
                }
            }
        }
        self.outputs.batch(writer, bytes, samples);
        let events = self.outputs.events();
        self.live.update(|live| {
            live.total.merge(&delta);
            live.delta.merge(&delta);
            live.events = events;
        });
    }

    fn arrivals(&mut self, writer: usize, packed: &[u8]) {
        let (starts, observed, aggregator) = (&mut self.starts, &mut self.observed, &mut self.aggregator);
        let read = busyhour_sample::unpack_arrivals(BatchReader::new(packed), |arrival| {
            aggregator.offer(arrival.scheduled);
            if let Some(observed) = observed {
                observed.send_closed(|maker, send| maker.arrival(arrival, send));
            }
            if let Some(began) = arrival.started_at() {
                starts.session(began);
            }
        });
        if let Err(error) = read {
            self.outputs.failed(error.to_string());
        }
        self.outputs.arrivals(writer, packed);
    }

    fn users(&mut self, writer: usize, changes: &[UserChange]) {
        self.aggregator.change_users(changes);
        if let Some(observed) = &mut self.observed {
            observed.maker.change_users(changes);
        }
        self.outputs.users(writer, changes);
    }

    fn advance(&mut self, writer: usize, now: Option<Nanos>) {
        self.clocks.report(writer, now);
        // The results wait for every core, so that each sample is counted in its own second. Live figures do not wait for an
        // unresponsive core; there, its samples are counted in a later second.
        if let Some(watermark) = self.clocks.all_reported_until()
            && self.aggregator.advance(watermark)
        {
            self.outputs.histograms(&mut self.aggregator);
        }
        let Some(watermark) = self.clocks.responsive_reported_until() else { return };
        let evaluated_s = watermark.second() > self.evaluated_s;
        let arrivals = evaluated_s.then(|| self.starts.regularity(watermark));
        self.evaluated_s = self.evaluated_s.max(watermark.second());
        if let Some(observed) = &mut self.observed {
            if let Some(arrivals) = arrivals {
                observed.regularity = arrivals;
            }
            let regularity = observed.regularity;
            observed.send_closed(|maker, send| maker.advance(watermark, regularity, send));
        }
        let last_second = self.aggregator.last_second();
        self.live.update(|live| {
            if let Some(arrivals) = arrivals {
                live.arrivals = arrivals;
            }
            live.watermark = live.watermark.max(watermark);
            live.last_second = last_second;
        });
    }
}
