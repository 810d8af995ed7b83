//! The threads of the observers of a run.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use busyhour_analysis::thresholds::ThresholdResult;
use busyhour_program::clock::Clock;
use busyhour_record::RunPart;
use busyhour_sample::{RunEnd, Snapshot};

use crate::event::RunEvent;
use crate::observer::{ObserverError, RunEnded, RunInfo, RunObserver};

/// Maximum time to wait for observers after a forced end of the run.
const PATIENCE: Duration = Duration::from_secs(1);

/// One call of an observer.
enum Call {
    Started(Arc<RunInfo>),
    Second(Arc<Snapshot>, Arc<[ThresholdResult]>),
    Event(RunEvent),
    Ended(RunEnd),
}

#[derive(Default)]
struct Waiting {
    calls: VecDeque<Call>,
    /// Number of seconds among the calls.
    seconds: usize,
    seconds_lost: u64,
    /// Whether no further call will be added.
    is_closed: bool,
}

/// The queue of calls of one observer.
struct CallQueue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
    seconds_max: usize,
}

impl CallQueue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, call: Call) {
        let mut waiting = self.lock();
        if waiting.is_closed {
            return;
        }
        if matches!(call, Call::Second(..)) {
            if self.seconds_max == 0 {
                return;
            }
            if waiting.seconds >= self.seconds_max {
                waiting.seconds_lost += 1;
                return;
            }
            waiting.seconds += 1;
        }
        waiting.calls.push_back(call);
        self.changed.notify_one();
    }

    fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_one();
    }

    /// Waits for the next call; `None` if there are no more calls.
    fn next(&self) -> Option<Call> {
        let is_idle = |waiting: &mut Waiting| waiting.calls.is_empty() && !waiting.is_closed;
        let mut waiting =
            self.changed.wait_while(self.lock(), is_idle).unwrap_or_else(PoisonError::into_inner);
        let call = waiting.calls.pop_front();
        waiting.seconds -= usize::from(matches!(call, Some(Call::Second(..))));
        call
    }
}

struct ObserverThread {
    name: String,
    /// The files that the observer writes in the run directory.
    parts: Vec<RunPart>,
    queue: Arc<CallQueue>,
    thread: Option<JoinHandle<Result<(), ObserverError>>>,
}

impl Drop for ObserverThread {
    /// Ends the thread of an observer if its run was prepared but never started.
    fn drop(&mut self) {
        self.queue.close();
    }
}

/// The observers of one run; clones refer to the same observers.
#[derive(Clone, Default)]
pub(crate) struct Observers(Arc<Mutex<Vec<ObserverThread>>>);

impl Observers {
    fn lock(&self) -> MutexGuard<'_, Vec<ObserverThread>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the thread of an observer. `name` is the name of the observer in messages, for example `the export influx`.
    pub(crate) fn add(&self, name: &str, mut observer: Box<dyn RunObserver>) -> std::io::Result<()> {
        let queue = Arc::new(CallQueue {
            waiting: Mutex::default(),
            changed: Condvar::new(),
            seconds_max: observer.seconds_waiting_max(),
        });
        let parts = observer.parts();
        let calls = Arc::clone(&queue);
        let follow = move || {
            let mut result = Ok(());
            while let Some(call) = calls.next() {
                match call {
                    Call::Started(run) => observer.started(&run),
                    Call::Second(snapshot, thresholds) => observer.second(&snapshot, &thresholds),
                    Call::Event(event) => observer.event(&event),
                    Call::Ended(end) => {
                        let seconds_lost = calls.lock().seconds_lost;
                        result = observer.ended(&RunEnded { end, seconds_lost });
                    }
                }
            }
            result
        };
        let thread = std::thread::Builder::new().name("observer".into()).spawn(follow)?;
        self.lock().push(ObserverThread { name: name.to_owned(), parts, queue, thread: Some(thread) });
        Ok(())
    }

    /// The files that the observers write in the run directory.
    pub(crate) fn parts(&self) -> Vec<RunPart> {
        self.lock().iter().flat_map(|observer| observer.parts.clone()).collect()
    }

    /// Sends an event to all observers. Never waits for one of them.
    pub(crate) fn emit(&self, event: RunEvent) {
        self.lock().iter().for_each(|observer| observer.queue.push(Call::Event(event.clone())));
    }

    pub(crate) fn warn(&self, text: impl Into<String>) {
        self.emit(RunEvent::Warning(text.into()));
    }

    pub(crate) fn start(&self, run: RunInfo) {
        let run = Arc::new(run);
        self.lock().iter().for_each(|observer| observer.queue.push(Call::Started(Arc::clone(&run))));
    }

    pub(crate) fn second(&self, snapshot: &Arc<Snapshot>, thresholds: &Arc<[ThresholdResult]>) {
        let push = |observer: &ObserverThread| {
            observer.queue.push(Call::Second(Arc::clone(snapshot), Arc::clone(thresholds)));
        };
        self.lock().iter().for_each(push);
    }

    /// Whether an observer receives seconds.
    pub(crate) fn need_seconds(&self) -> bool {
        self.lock().iter().any(|observer| observer.queue.seconds_max > 0)
    }

    /// Ends the calls of observers before the run has started, and waits for their threads.
    pub(crate) fn abandon(&self) {
        let observers = std::mem::take(&mut *self.lock());
        observers.iter().for_each(|observer| observer.queue.close());
        for mut observer in observers {
            let _ = observer.thread.take().map(JoinHandle::join);
        }
    }

    /// Calls [`RunObserver::ended`] of all observers and waits for them. Returns a description of what they could not
    /// complete. Once the end is forced, it waits for at most one second.
    pub(crate) fn end(&self, end: RunEnd, is_forced: impl Fn() -> bool) -> Vec<String> {
        let mut observers = std::mem::take(&mut *self.lock());
        for observer in &observers {
            observer.queue.push(Call::Ended(end));
            observer.queue.close();
        }
        let mut failures = Vec::new();
        let mut patience = Patience::default();
        for observer in &mut observers {
            let (name, Some(thread)) = (&observer.name, observer.thread.take()) else { continue };
            if !patience.waits_for(&thread, &is_forced) {
                failures.push(format!("{name} had not sent everything when the run was stopped at once"));
                continue;
            }
            match thread.join() {
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    failures.push(format!("{name} {}", busyhour_diagnostic::io_hints::chain(&*error)))
                }
                Err(_) => failures.push(format!("{name} failed")),
            }
            let lost = observer.queue.lock().seconds_lost;
            if lost > 0 {
                failures.push(format!("{name} was too slow: it did not receive {lost} seconds of the run"));
            }
        }
        failures
    }
}

/// Waits for threads without a limit; once the end is forced, for at most one second in total.
#[derive(Default)]
struct Patience {
    forced: Option<Clock>,
}

impl Patience {
    /// Whether a thread has ended in time.
    fn waits_for<T>(&mut self, thread: &JoinHandle<T>, is_forced: impl Fn() -> bool) -> bool {
        while !thread.is_finished() {
            if is_forced() && self.forced.get_or_insert_with(Clock::start).now().as_duration() >= PATIENCE {
                return false;
            }
            std::thread::park_timeout(Duration::from_millis(2));
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// An observer that sends a text for each of its calls. Before each second, it waits for permission.
    struct Recording {
        calls: Sender<String>,
        permissions: Option<Receiver<()>>,
    }

    impl RunObserver for Recording {
        fn started(&mut self, run: &RunInfo) {
            let _ = self.calls.send(format!("started {}", run.title));
        }

        fn second(&mut self, snapshot: &Snapshot, thresholds: &[ThresholdResult]) {
            if let Some(permissions) = &self.permissions {
                let _ = permissions.recv();
            }
            let _ = self.calls.send(format!("second {} {}", snapshot.second, thresholds.len()));
        }

        fn event(&mut self, event: &RunEvent) {
            let RunEvent::Notice(text) = event else { return };
            let _ = self.calls.send(format!("event {text}"));
        }

        fn ended(&mut self, run: &RunEnded) -> Result<(), ObserverError> {
            let _ = self.calls.send(format!("ended {}", run.seconds_lost));
            Err("is not satisfied".into())
        }

        fn seconds_waiting_max(&self) -> usize {
            2
        }
    }

    fn second(second: u64) -> Arc<Snapshot> {
        Arc::new(Snapshot { second, whole: true, ..Snapshot::default() })
    }

    #[test]
    fn calls_are_in_order_and_end_with_ended() {
        let (calls, received) = channel();
        let observers = Observers::default();
        observers.add("the test", Box::new(Recording { calls, permissions: None })).unwrap();
        observers.emit(RunEvent::Notice("early".into()));
        observers.start(RunInfo { title: "shop".into(), ..RunInfo::default() });
        observers.second(&second(0), &Arc::from([]));
        observers.emit(RunEvent::Notice("late".into()));
        let failures = observers.end(RunEnd::Completed, || false);
        assert_eq!(failures, ["the test is not satisfied"]);
        let received: Vec<String> = received.into_iter().collect();
        assert_eq!(received, ["event early", "started shop", "second 0 0", "event late", "ended 0"]);
        observers.emit(RunEvent::Notice("after the end".into()));
    }

    #[test]
    fn a_slow_observer_loses_seconds_and_delays_nobody() {
        let (calls, received) = channel();
        let (permit, permissions) = channel();
        let observers = Observers::default();
        observers.add("the test", Box::new(Recording { calls, permissions: Some(permissions) })).unwrap();
        observers.second(&second(0), &Arc::from([]));
        // When no second is left in the queue, the observer is processing the first one.
        while observers.lock()[0].queue.lock().seconds > 0 {
            std::thread::yield_now();
        }
        for at in 1..=5 {
            observers.second(&second(at), &Arc::from([]));
        }
        drop(permit);
        let failures = observers.end(RunEnd::Completed, || false);
        let received: Vec<String> = received.into_iter().collect();
        assert_eq!(received, ["second 0 0", "second 1 0", "second 2 0", "ended 3"]);
        assert_eq!(failures[1], "the test was too slow: it did not receive 3 seconds of the run");
    }

    #[test]
    fn an_observer_ends_with_a_run_that_is_never_started() {
        let (calls, received) = channel();
        let observers = Observers::default();
        observers.add("the test", Box::new(Recording { calls, permissions: None })).unwrap();
        observers.emit(RunEvent::Notice("early".into()));
        drop(observers);
        // The iterator ends when the thread of the observer drops it.
        assert_eq!(received.into_iter().collect::<Vec<_>>(), ["event early"]);
    }

    #[test]
    fn an_observer_that_panics_is_reported() {
        struct Panicking;
        impl RunObserver for Panicking {
            fn event(&mut self, _event: &RunEvent) {
                panic!("a bug of the observer");
            }
        }
        let observers = Observers::default();
        observers.add("the test", Box::new(Panicking)).unwrap();
        observers.emit(RunEvent::Notice("x".into()));
        assert_eq!(observers.end(RunEnd::Completed, || false), ["the test failed"]);
    }
}
