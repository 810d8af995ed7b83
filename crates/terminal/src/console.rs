//! Prints the output of a run in a separate thread, so that a blocked terminal or pipe does not block the run.

use std::io::Write as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// Maximum number of queued messages; further ones are discarded.
const WAITING_MAX: usize = 1024;

/// Interval at which [`drain`] checks the queue.
const LOOK: Duration = Duration::from_millis(2);

/// Maximum time for writing the remaining messages after a forced end.
const PATIENCE: Duration = Duration::from_secs(1);

/// The destination of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

struct Console {
    messages: SyncSender<(Stream, Vec<u8>)>,
    waiting: AtomicUsize,
    out_is_closed: AtomicBool,
    timed_out: AtomicBool,
}

static CONSOLE: OnceLock<Console> = OnceLock::new();

/// Starts the thread that writes messages from now on.
pub fn start() -> std::io::Result<()> {
    if CONSOLE.get().is_some() {
        return Ok(());
    }
    let (messages, inbox) = sync_channel::<(Stream, Vec<u8>)>(WAITING_MAX);
    std::thread::Builder::new().name("console".into()).spawn(move || {
        while let Ok((stream, bytes)) = inbox.recv() {
            let is_written = write_now(stream, &bytes);
            if let Some(console) = CONSOLE.get() {
                if stream == Stream::Out && !is_written {
                    console.out_is_closed.store(true, Ordering::SeqCst);
                }
                console.waiting.fetch_sub(1, Ordering::SeqCst);
            }
        }
    })?;
    let console = Console {
        messages,
        waiting: AtomicUsize::new(0),
        out_is_closed: AtomicBool::new(false),
        timed_out: AtomicBool::new(false),
    };
    let _ = CONSOLE.set(console);
    Ok(())
}

/// Writes a message, or queues it for the thread. Returns false if the stream is closed.
pub fn write(stream: Stream, bytes: &[u8]) -> bool {
    let Some(console) = CONSOLE.get() else { return write_now(stream, bytes) };
    console.waiting.fetch_add(1, Ordering::SeqCst);
    if console.messages.try_send((stream, bytes.to_vec())).is_err() {
        console.waiting.fetch_sub(1, Ordering::SeqCst);
    }
    stream == Stream::Err || !console.out_is_closed.load(Ordering::SeqCst)
}

fn write_now(stream: Stream, bytes: &[u8]) -> bool {
    let written = match stream {
        Stream::Out => {
            let mut out = std::io::stdout().lock();
            out.write_all(bytes).and_then(|()| out.flush())
        }
        // A closed standard error stream is not reported as an error.
        Stream::Err => std::io::stderr().write_all(bytes),
    };
    written.is_ok()
}

/// Waits until everything is written. There is no limit until `is_hurried` returns true; then it waits for at most one
/// second. After that second, later calls do not wait again.
pub fn drain(is_hurried: impl Fn() -> bool) {
    let Some(console) = CONSOLE.get() else { return };
    let mut hurried_since = None;
    while console.waiting.load(Ordering::SeqCst) > 0 && !console.timed_out.load(Ordering::SeqCst) {
        if is_hurried() && hurried_since.get_or_insert_with(Instant::now).elapsed() >= PATIENCE {
            console.timed_out.store(true, Ordering::SeqCst);
        }
        std::thread::park_timeout(LOOK);
    }
}
