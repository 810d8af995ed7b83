//! The recorder's thread: from batches to totals and files.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::aggregator::Aggregator;
use crate::aggregator_settings::AggregatorSettings;
use crate::batch::BatchReader;
use crate::core_clocks::CoreClocks;
use crate::detail::Detail;
use crate::error::RecordError;
use crate::error::RecorderEvent;
use crate::live::{IntervalCounts, Live};
use crate::live_arrivals::{LiveArrivals, RecentStarts};
use crate::outputs::Outputs;
use crate::recorder_config::RecorderConfig;
use crate::run_names::RunNames;
use crate::run_totals::RunTotals;
use crate::sample::{Nanos, SampleFlags};
use crate::snapshot::Snapshot;
use crate::snapshot::SnapshotMaker;
use crate::snapshot::SnapshotSender;
use crate::writer::{Batch, BatchWriter, Message};

/// Writes a run down. It lives on a thread of its own; the cores feed it through [`BatchWriter`]s.
#[derive(Debug)]
pub struct Recorder {
    thread: JoinHandle<RunTotals>,
    messages: SyncSender<Message>,
    live: Arc<Mutex<Live>>,
}

/// How often the files are handed to the system, in nanoseconds of the run. A core hands its samples over every tenth of
/// a second, so that a process that is killed loses less than a second of them.
const FLUSH_NS: u64 = 500_000_000;

/// How long the recorder waits for news before it looks after its files.
const IDLE: Duration = Duration::from_millis(500);

impl Recorder {
    /// Opens the files and starts the thread. A result file that is a pipe is waited for until it has a reader, see
    /// [`PipeRelease`].
    ///
    /// # Errors
    /// A file that cannot be opened.
    pub fn start(config: RecorderConfig) -> Result<(Recorder, Vec<BatchWriter>), RecordError> {
        let writers = config.writers.max(1);
        // Room for every batch there is, and for ticks between them.
        let (messages, inbox) = sync_channel(writers * (config.batches.max(2) + 8));
        let (cores, empty) = (0..writers)
            .map(|id| BatchWriter::new(id, messages.clone(), config.batches, config.batch_bytes))
            .unzip::<_, _, Vec<_>, Vec<_>>();
        let live = Arc::new(Mutex::new(Live::new()));
        let outputs = Outputs::open(&config)?;
        let followed = (!config.observers.is_empty()).then(|| Followed {
            maker: SnapshotMaker::new(config.labels.clone()),
            observers: config.observers,
            regularity: None,
        });
        let settings = AggregatorSettings { apdex: config.apdex, ..AggregatorSettings::default() };
        let book = Aggregator::new(config.labels.clone(), settings);
        let worker = Worker {
            book,
            outputs,
            empty,
            clocks: CoreClocks::new(writers),
            live: Arc::clone(&live),
            starts: RecentStarts::new(),
            looked: 0,
            followed,
            names: config.names,
        };
        let thread = std::thread::Builder::new()
            .name("recorder".into())
            .spawn(move || worker.run(&inbox))
            .map_err(|source| RecordError { path: config.dir.unwrap_or_default(), source })?;
        Ok((Recorder { thread, messages, live }, cores))
    }

    /// What can be seen so far.
    #[must_use]
    pub fn live(&self) -> Live {
        *lock(&self.live)
    }

    /// The numbers of a summariser line: those since the last call, and those from the start. The next interval
    /// begins at `now`.
    pub fn take_summary(&self, now: Nanos) -> (IntervalCounts, IntervalCounts) {
        let mut live = lock(&self.live);
        let delta = std::mem::replace(&mut live.delta, IntervalCounts::new(now));
        (delta, live.total)
    }

    /// Ends the recording as [`Recorder::finish`] does, and gives the last numbers of [`Recorder::take_summary`] with
    /// it: those since the last call, and those from the start, nothing missing.
    #[must_use]
    pub fn finish_with_summary(self) -> (RunTotals, IntervalCounts, IntervalCounts) {
        let live = Arc::clone(&self.live);
        let totals = self.finish();
        let live = lock(&live);
        (totals, live.delta, live.total)
    }

    /// Ends the recording: writes what the cores have handed over, closes the files, adds up. The cores' writers must
    /// be flushed (or dropped) before.
    #[must_use]
    pub fn finish(self) -> RunTotals {
        // A send that fails means that the thread is gone, which joining tells.
        let _ = self.messages.send(Message::Finish);
        self.thread.join().unwrap_or_else(|_| {
            let mut totals = RunTotals::empty();
            let error = String::from("the recorder's thread failed; the totals of this run are lost");
            totals.events.push(RecorderEvent::Failed { error });
            totals
        })
    }
}

fn lock(live: &Mutex<Live>) -> MutexGuard<'_, Live> {
    live.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Worker {
    book: Aggregator,
    outputs: Outputs,
    empty: Vec<SyncSender<Batch>>,
    clocks: CoreClocks,
    live: Arc<Mutex<Live>>,
    starts: RecentStarts,
    /// The second up to which the starts have been looked at.
    looked: u64,
    /// What is told second by second; `None` when nobody listens.
    followed: Option<Followed>,
    /// The names of thread groups.
    names: RunNames,
}

/// The snapshots of a run and who hears of them.
struct Followed {
    maker: SnapshotMaker,
    observers: Vec<SnapshotSender>,
    regularity: Option<LiveArrivals>,
}

impl Followed {
    /// Has `step` add to the snapshots, and sends those that are closed by it.
    fn tell(&mut self, step: impl FnOnce(&mut SnapshotMaker, &mut dyn FnMut(Snapshot))) {
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
                    batch.clear();
                    if let Some(empty) = self.empty.get(writer) {
                        // The writer may be gone already: its batches are not wanted back then.
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
            // The fastest core's clock: a core that hangs must not keep what the others did out of the files.
            if newest.0 / FLUSH_NS != flushed {
                flushed = newest.0 / FLUSH_NS;
                self.outputs.flush();
            }
        }
        self.book.close_all();
        self.outputs.histograms(&mut self.book);
        if let Some(followed) = &mut self.followed {
            let regularity = followed.regularity;
            followed.tell(|maker, tell| maker.finish(regularity, tell));
        }
        let events = self.outputs.finish();
        let mut totals = self.book.finish(events);
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
                    if self.book.add(&sample) {
                        delta.add(&sample);
                        self.starts.request(sample.start);
                    }
                    if let Some(followed) = &mut self.followed {
                        followed.tell(|maker, tell| maker.sample(&sample, tell));
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
        let mut live = lock(&self.live);
        live.total.merge(&delta);
        live.delta.merge(&delta);
        live.events = self.outputs.events();
    }

    fn arrivals(&mut self, writer: usize, packed: &[u8]) {
        let (starts, followed, book) = (&mut self.starts, &mut self.followed, &mut self.book);
        let read = crate::arrival::unpack(BatchReader::new(packed), |arrival| {
            book.offer(arrival.scheduled);
            if let Some(followed) = followed {
                followed.tell(|maker, tell| maker.arrival(arrival, tell));
            }
            if let Some(began) = arrival.began() {
                starts.session(began);
            }
        });
        if let Err(error) = read {
            self.outputs.failed(error.to_string());
        }
        self.outputs.arrivals(writer, packed);
    }

    fn advance(&mut self, writer: usize, now: Option<Nanos>) {
        self.clocks.report(writer, now);
        // The results wait for every core, so that each sample is in its own second. What follows the run does not wait for a
        // core that is blocked: its samples count in a later second there.
        if let Some(watermark) = self.clocks.of_all()
            && self.book.advance(watermark)
        {
            self.outputs.histograms(&mut self.book);
        }
        let Some(watermark) = self.clocks.of_responsive() else { return };
        let looked = watermark.second() > self.looked;
        let arrivals = looked.then(|| self.starts.look(watermark));
        self.looked = self.looked.max(watermark.second());
        if let Some(followed) = &mut self.followed {
            if let Some(arrivals) = arrivals {
                followed.regularity = arrivals;
            }
            let regularity = followed.regularity;
            followed.tell(|maker, tell| maker.advance(watermark, regularity, tell));
        }
        let mut live = lock(&self.live);
        if let Some(arrivals) = arrivals {
            live.arrivals = arrivals;
        }
        live.watermark = live.watermark.max(watermark);
        live.last_second = self.book.last_second();
    }
}
