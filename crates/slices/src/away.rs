//! Runs work that cannot count its steps, and can therefore not be divided into slices, on other threads.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::Waker;
use std::thread;

use crate::handle::Done;
use crate::slice;

/// Minimum number of bytes for work on another thread. Work on fewer bytes usually takes less than a millisecond, and handing it
/// over takes 10 µs.
const AWAY_BYTES_MIN: usize = 64 << 10;

/// Maximum number of threads for such work.
const THREADS_MAX: usize = 4;

type Work = *mut (dyn FnMut() + Send + 'static);

struct Job {
    work: Work,
    done: Arc<Done>,
    waker: Waker,
}

// SAFETY: the closure behind the pointer is `Send`, and only the thread that received the job uses it.
unsafe impl Send for Job {}

impl Job {
    fn run(self) {
        // SAFETY: `run_on_other_thread` keeps the closure in place until `done` is set.
        unsafe { (*self.work)() };
        self.done.set();
        self.waker.wake();
    }
}

/// The channel to the threads, which the first call starts; `None` if no thread could be started.
fn threads() -> Option<&'static Sender<Job>> {
    static THREADS: OnceLock<Option<Sender<Job>>> = OnceLock::new();
    let start = || {
        let (sender, receiver) = channel();
        let receiver = Arc::new(Mutex::new(receiver));
        let wanted = thread::available_parallelism().map_or(1, |cpus| cpus.get().min(THREADS_MAX));
        let started = (0..wanted).filter(|_| {
            let receiver = Arc::clone(&receiver);
            thread::Builder::new().name("evaluation".to_owned()).spawn(move || serve(&receiver)).is_ok()
        });
        (started.count() > 0).then_some(sender)
    };
    THREADS.get_or_init(start).as_ref()
}

fn serve(jobs: &Mutex<Receiver<Job>>) {
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        job.run();
    }
}

/// Whether work on `bytes` bytes is done on another thread.
#[inline]
pub fn is_long(bytes: usize) -> bool {
    bytes >= AWAY_BYTES_MIN || slice::suspends_by_steps()
}

/// Runs work on `bytes` bytes that cannot be divided into slices. If it may take long, it runs on another thread while the
/// evaluation is suspended. The work must not use thread-local state, such as the counts of limits.
///
/// # Panics
/// If the work panics, with the same payload.
pub fn run_on_other_thread<R: Send>(bytes: usize, work: impl FnOnce() -> R + Send) -> R {
    if !is_long(bytes) {
        return work();
    }
    let (Some((handle, waker)), Some(threads)) = (slice::leave_for_away(), threads()) else { return work() };
    let mut result = None;
    let mut work = Some(work);
    let mut run = || {
        result = work.take().map(|work| catch_unwind(AssertUnwindSafe(work)));
    };
    let run: *mut (dyn FnMut() + Send + '_) = &raw mut run;
    // SAFETY: only the lifetime changes. Dropping `waiting` waits for the work, so this frame lives until the work is done.
    let run: Work = unsafe { std::mem::transmute(run) };
    let done = Arc::new(Done::default());
    let waiting = Waiting(&done);
    if threads.send(Job { work: run, done: Arc::clone(&done), waker }).is_err() {
        unreachable!("the threads last as long as the process");
    }
    slice::note_suspension();
    slice::suspend_for(handle, Arc::clone(&done));
    drop(waiting);
    match result {
        Some(Ok(result)) => result,
        Some(Err(panic)) => resume_unwind(panic),
        None => unreachable!("the work is done"),
    }
}

/// A guard whose drop waits for the work. If the evaluation is dropped, its stack is unwound, which also drops this guard.
struct Waiting<'d>(&'d Done);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.wait();
    }
}
