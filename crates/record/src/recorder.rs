//! The recorder's thread: from batches to totals and files.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::batch::BatchReader;
use crate::book::{Book, BookSettings};
use crate::config::SaveConfig;
use crate::core_clocks::CoreClocks;
use crate::detail::Detail;
use crate::labels::Labels;
use crate::live::{IntervalCounts, Live};
use crate::live_arrivals::{LiveArrivals, RecentStarts};
use crate::outputs::Outputs;
use crate::pipe::PipeRelease;
use crate::sample::{Nanos, SampleFlags};
use crate::snapshot::{Snapshot, SnapshotMaker, SnapshotSender};
use crate::totals::{ApdexLimits, RunTotals};
use crate::writer::{Batch, BatchWriter, Message};

/// The name and number of a thread group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupName {
    /// Its name in the plan.
    pub name: String,
    /// Its number, from 1. JMeter counts setUp, main and tearDown groups apart.
    pub number: u32,
}

/// The names that a run's rows need; fixed before it starts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunNames {
    /// The thread groups, by [`crate::Sample::group`].
    pub groups: Vec<GroupName>,
    /// `sample_variables`.
    pub variables: Vec<String>,
    /// The generator's host name, for the `Hostname` column.
    pub hostname: String,
    /// Numbers of the groups that run before or after the main ones: what they send is no part of the load.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set_up_and_tear_down: Vec<u32>,
}

/// Which samples a result file takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Which {
    /// All.
    #[default]
    All,
    /// Failed ones (`ResultCollector.error_logging`).
    Errors,
    /// Successful ones (`ResultCollector.success_only_logging`).
    Successes,
}

/// One result file, CSV or XML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvOutput {
    /// Where. A file that exists is continued, without a second line of column names or second head.
    pub path: PathBuf,
    /// Its columns.
    pub config: SaveConfig,
    /// Its samples. A sub-result goes where its parent goes.
    pub which: Which,
}

/// How a run is recorded.
#[derive(Debug, Clone)]
pub struct RecorderConfig {
    /// Directory for `samples.bhs` and `histograms.hlog`; `None` keeps totals only.
    pub dir: Option<PathBuf>,
    /// Names for the rows.
    pub names: RunNames,
    /// The labels, shared with the engine.
    pub labels: Labels,
    /// The run's start in ms since 1970.
    pub wall_anchor_ms: i64,
    /// The main log (`-l`): takes every sample.
    pub main: Option<CsvOutput>,
    /// The listeners' files.
    pub listeners: Vec<CsvOutput>,
    /// Sets of indices into `listeners`, by [`crate::Sample::listeners`]; the first is the empty set.
    pub listener_sets: Vec<Vec<usize>>,
    /// How many [`BatchWriter`]s: one per core.
    pub writers: usize,
    /// Size of a batch.
    pub batch_bytes: usize,
    /// Batches of each writer.
    pub batches: usize,
    /// Who follows the run second by second. They are told on the recorder's thread and never hold it up; the recorder
    /// drops them when it ends.
    pub observers: Vec<SnapshotSender>,
    /// What response times count for the Application Performance Index.
    pub apdex: ApdexLimits,
    /// Ends the waiting for readers of result files that are pipes.
    pub pipes: PipeRelease,
}

impl Default for RecorderConfig {
    fn default() -> Self {
        RecorderConfig {
            dir: None,
            names: RunNames::default(),
            labels: Labels::new(),
            wall_anchor_ms: 0,
            main: None,
            listeners: Vec::new(),
            listener_sets: vec![Vec::new()],
            writers: 1,
            batch_bytes: 96 << 10,
            batches: 48,
            observers: Vec::new(),
            apdex: ApdexLimits::default(),
            pipes: PipeRelease::default(),
        }
    }
}

/// A result file could not be opened, or the recorder's thread not be started.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {path}")]
pub struct RecordError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    #[source]
    pub source: std::io::Error,
}

/// Something that went wrong while recording, said once per file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RecorderEvent {
    /// A file could not be written further. The other outputs and the totals go on.
    LostOutput {
        /// The file.
        file: String,
        /// The system's words.
        error: String,
        /// Rows or segments that are missing in it by the end of the run.
        lost: u64,
    },
    /// A listener's file could not be opened; its rows are missing. As in JMeter, the run goes on.
    NotOpened {
        /// The file.
        file: String,
        /// The system's words.
        error: String,
    },
    /// The recorder itself failed; numbers of the run are missing.
    Failed {
        /// What is known.
        error: String,
    },
}

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
        let settings = BookSettings { apdex: config.apdex, ..BookSettings::default() };
        let book = Book::new(config.labels.clone(), settings);
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
    book: Book,
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
