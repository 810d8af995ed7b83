//! Runs one thread per core: set-up on the core, a common start, work, end.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::cores::CoreList;
use crate::duty_cycle::Intensity;
use crate::error::NeighbourError;
use crate::pacer::Pacer;
use crate::stop::{EndReason, StopFlag};

/// The cores, the intensity and the duration.
#[derive(Clone, Copy)]
pub(crate) struct Assignment<'a> {
    pub(crate) cores: &'a CoreList,
    pub(crate) intensity: Intensity,
    pub(crate) limit: Duration,
    pub(crate) stop: &'a StopFlag,
}

/// A thread's state after its work.
#[derive(Debug)]
pub(crate) struct Worked<S> {
    pub(crate) state: S,
    pub(crate) busy: Duration,
    /// CPU time without that of the set-up.
    pub(crate) cpu: Duration,
}

/// The result of all threads.
#[derive(Debug)]
pub(crate) struct Finished<S> {
    pub(crate) workers: Vec<Worked<S>>,
    pub(crate) elapsed: Duration,
}

/// The work of the threads.
pub(crate) trait Work: Sync {
    /// The data of a thread. They are created on the thread's core, so that their memory is local to the core.
    type State: Send;

    /// Prepares the thread with this index. It should return early if `stop` is set.
    fn set_up(&self, index: usize, stop: &StopFlag) -> Result<Self::State, NeighbourError>;

    /// Works while the pacer allows it.
    fn work(&self, state: &mut Self::State, pacer: &mut Pacer<'_>) -> Result<(), NeighbourError>;
}

/// The main thread's ends of the channels to a worker.
struct Worker<'scope, S> {
    is_ready: Receiver<()>,
    start: Sender<Instant>,
    thread: ScopedJoinHandle<'scope, Result<Option<Worked<S>>, NeighbourError>>,
}

/// Runs the work. `started` is called when all threads are ready, immediately before they start to work.
pub(crate) fn run<W: Work>(
    assignment: Assignment<'_>,
    work: &W,
    started: impl FnOnce(),
) -> Result<Finished<W::State>, NeighbourError> {
    assignment.cores.pin_this_thread()?;
    std::thread::scope(|scope| {
        let mut workers = Vec::new();
        let spawned = (0..assignment.cores.cores().len())
            .try_for_each(|index| spawn(scope, assignment, work, index).map(|worker| workers.push(worker)));
        let pinned = assignment.cores.pin_this_thread();
        // A thread whose set-up failed has closed its channel.
        let is_ready = workers.iter().all(|worker| worker.is_ready.recv().is_ok());
        let start = Instant::now();
        if is_ready && spawned.is_ok() && pinned.is_ok() {
            if !assignment.stop.is_requested() {
                started();
            }
            let start = Instant::now();
            for worker in &workers {
                // A thread that is ready waits for this message.
                let _ = worker.start.send(start);
            }
            assignment.stop.wait_until(start + assignment.limit);
            assignment.stop.request(EndReason::TimeLimit);
        }
        let mut finished = Vec::new();
        let mut failure = spawned.and(pinned.map_err(NeighbourError::from)).err();
        for Worker { start, thread, .. } in workers {
            drop(start);
            match thread.join() {
                Ok(Ok(worked)) => finished.extend(worked),
                Ok(Err(error)) => failure = failure.or(Some(error)),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        match failure {
            Some(error) => Err(error),
            None => Ok(Finished { workers: finished, elapsed: start.elapsed() }),
        }
    })
}

/// Starts a thread on its core.
fn spawn<'scope, 'env, W: Work>(
    scope: &'scope Scope<'scope, 'env>,
    assignment: Assignment<'env>,
    work: &'env W,
    index: usize,
) -> Result<Worker<'scope, W::State>, NeighbourError> {
    // A new thread inherits the cores of the thread that starts it.
    assignment.cores.pin_this_thread_to(index)?;
    let (ready, is_ready) = channel();
    let (start, started) = channel();
    let body = move || {
        let mut state = work.set_up(index, assignment.stop)?;
        let _ = ready.send(());
        // The channel is closed without a message if another thread could not be started.
        let Ok(start) = started.recv() else { return Ok(None) };
        let cpu_before = cpu_time();
        let mut pacer = Pacer::new(assignment.intensity, start, assignment.stop);
        let result = work.work(&mut state, &mut pacer);
        if result.is_err() {
            assignment.stop.request(EndReason::Failed);
        }
        let cpu = cpu_time().saturating_sub(cpu_before);
        result.map(|()| Some(Worked { state, busy: pacer.busy(), cpu }))
    };
    let name = format!("core {}", assignment.cores.cores()[index]);
    let thread = Builder::new()
        .name(name)
        .spawn_scoped(scope, body)
        .map_err(|source| NeighbourError::Thread { source })?;
    Ok(Worker { is_ready, start, thread })
}

/// CPU time of this thread.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0));
    seconds + Duration::from_nanos(u64::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Work whose set-up or work fails in the thread with this index.
    #[derive(Default)]
    struct Failing {
        set_up_fails: Option<usize>,
        work_fails: Option<usize>,
        working: AtomicUsize,
    }

    fn failure() -> NeighbourError {
        NeighbourError::Allocation { bytes: 1 }
    }

    impl Work for Failing {
        type State = usize;

        fn set_up(&self, index: usize, _stop: &StopFlag) -> Result<usize, NeighbourError> {
            if self.set_up_fails == Some(index) { Err(failure()) } else { Ok(index) }
        }

        fn work(&self, index: &mut usize, pacer: &mut Pacer<'_>) -> Result<(), NeighbourError> {
            self.working.fetch_add(1, Ordering::SeqCst);
            if self.work_fails == Some(*index) {
                return Err(failure());
            }
            while pacer.proceed() {
                std::thread::yield_now();
            }
            Ok(())
        }
    }

    /// Runs on all cores. Returns the number of threads or the error, the reason of the end, and whether the work started.
    fn run_failing(work: &Failing, limit: Duration) -> (Result<usize, String>, Option<EndReason>, bool) {
        let stop = StopFlag::new();
        let cores = CoreList::allowed().unwrap();
        let assignment = Assignment { cores: &cores, intensity: Intensity::FULL, limit, stop: &stop };
        let mut is_started = false;
        let result = run(assignment, work, || is_started = true);
        let result = result.map(|finished| finished.workers.len()).map_err(|error| error.to_string());
        (result, stop.reason(), is_started)
    }

    #[test]
    fn threads_work_until_the_time_limit() {
        let work = Failing::default();
        let (result, reason, is_started) = run_failing(&work, Duration::from_millis(1));
        let threads = CoreList::allowed().unwrap().cores().len();
        assert_eq!((result, reason, is_started), (Ok(threads), Some(EndReason::TimeLimit), true));
        assert_eq!(work.working.into_inner(), threads);
    }

    #[test]
    fn no_thread_works_if_one_cannot_be_set_up() {
        let work = Failing { set_up_fails: Some(0), ..Failing::default() };
        let (result, _, is_started) = run_failing(&work, Duration::from_secs(3_600));
        assert!(result.unwrap_err().contains("does not provide") && !is_started);
        assert_eq!(work.working.into_inner(), 0);
    }

    #[test]
    fn an_error_ends_all_threads() {
        let work = Failing { work_fails: Some(0), ..Failing::default() };
        let (result, reason, _) = run_failing(&work, Duration::from_secs(3_600));
        assert!(result.is_err());
        assert_eq!(reason, Some(EndReason::Failed));
    }
}
