//! Stacks of a JVM, by thread dumps.

use std::time::Duration;

use busyhour_logs::Redactor;
use busyhour_observe::jvm::{
    AttachError, AttachedJvm, JavaThread, StoppedTime, ThreadDump, ThreadState, WaitKind,
};
use busyhour_observe::{ProbeError, ProcRoot};
use busyhour_stacks::{SampledState, SampledThread, SampledWait, SampledWaitKind, java_frame};

use crate::stack_probe::{StackReader, StackReading};

/// The longest time that a command may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Threads of the JVM itself. Their stacks contain no information about the application.
const OWN_THREADS: [&str; 9] = [
    "Reference Handler",
    "Finalizer",
    "Signal Dispatcher",
    "Service Thread",
    "Monitor Deflation Thread",
    "Notification Thread",
    "AttachedJvm Listener",
    "Common-Cleaner",
    "Sweeper thread",
];

/// Requests thread dumps from a JVM.
pub(crate) struct JvmStacks {
    source: String,
    attach: AttachedJvm,
    stopped: Option<StoppedTime>,
    redactor: Redactor,
}

impl JvmStacks {
    /// Attaches to a JVM.
    ///
    /// # Errors
    /// The process is not a JVM that accepts commands, or belongs to another user.
    pub(crate) fn connect(root: &ProcRoot, pid: u32, redactor: Redactor) -> Result<JvmStacks, AttachError> {
        let attach = AttachedJvm::connect(root, pid, TIMEOUT)?;
        // Without counters, the cost is unknown, but the stacks are not.
        let stopped = StoppedTime::open(root, pid).ok().flatten();
        Ok(JvmStacks { source: format!("stacks:jvm:{pid}"), attach, stopped, redactor })
    }

    fn stopped_ns(&mut self) -> Option<u64> {
        self.stopped.as_mut()?.read_ns()
    }
}

impl StackReader for JvmStacks {
    fn source(&self) -> &str {
        &self.source
    }

    fn read(&mut self) -> Result<StackReading, ProbeError> {
        let before = self.stopped_ns();
        let dump = self.attach.thread_dump(false).map_err(|error| ProbeError::Other {
            what: "the JVM does not answer".to_owned(),
            source: Box::new(error),
        })?;
        let after = self.stopped_ns();
        let stopped_ns = before.zip(after).and_then(|(before, after)| after.checked_sub(before));
        Ok(StackReading { threads: sampled_threads(&dump, &self.redactor), stopped_ns })
    }
}

/// The threads of a dump, without those of the JVM itself.
fn sampled_threads(dump: &ThreadDump, redactor: &Redactor) -> Vec<SampledThread> {
    let threads: Vec<&JavaThread> = dump.threads.iter().filter(|thread| !is_of_jvm(&thread.name)).collect();
    let owners = dump.owners();
    // The position of each thread of the dump among those that are kept.
    let mut kept = 0;
    let positions: Vec<Option<usize>> = dump
        .threads
        .iter()
        .map(|thread| {
            let is_kept = !is_of_jvm(&thread.name);
            kept += usize::from(is_kept);
            is_kept.then(|| kept - 1)
        })
        .collect();
    let owner = |address: u64| positions[*owners.get(&address)?];
    threads
        .iter()
        .map(|thread| SampledThread {
            name: redactor.redact(&thread.name),
            state: match thread.state {
                ThreadState::Blocked => SampledState::Blocked,
                ThreadState::Waiting | ThreadState::TimedWaiting => SampledState::Waiting,
                ThreadState::New | ThreadState::Runnable | ThreadState::Terminated => SampledState::Runnable,
            },
            frames: thread.frames.iter().map(|frame| java_frame(frame)).collect(),
            waits: thread.waits_for.as_ref().map(|(kind, lock)| SampledWait {
                kind: match kind {
                    WaitKind::Enter => SampledWaitKind::Enter,
                    WaitKind::Notification => SampledWaitKind::Notification,
                    WaitKind::Park => SampledWaitKind::Park,
                },
                lock: lock.class.clone(),
                owner: owner(lock.address),
            }),
        })
        .collect()
}

/// Whether a thread belongs to the JVM: its compilers have numbered names.
fn is_of_jvm(name: &str) -> bool {
    OWN_THREADS.contains(&name)
        || name.starts_with("C1 CompilerThread")
        || name.starts_with("C2 CompilerThread")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_the_application_are_kept_with_owners_and_without_secrets() {
        let text = r#"
"Signal Dispatcher" #4 daemon prio=9 os_prio=0 tid=0x1 nid=0x2 runnable  [0x0]
   java.lang.Thread.State: RUNNABLE

"worker password=S3CRET" #20 prio=5 os_prio=0 tid=0x3 nid=0x4 waiting for monitor entry  [0x0]
   java.lang.Thread.State: BLOCKED (on object monitor)
	at Shop.pay(Shop.java:10)
	- waiting to lock <0x00000000fc0168d8> (a java.lang.Object)
	at java.lang.Thread.run(java.base@17.0.15/Thread.java:840)

"holder" #21 prio=5 os_prio=0 tid=0x5 nid=0x6 waiting on condition  [0x0]
   java.lang.Thread.State: TIMED_WAITING (sleeping)
	at java.lang.Thread.sleep(java.base@17.0.15/Native Method)
	at Shop.rebuild(Shop.java:20)
	- locked <0x00000000fc0168d8> (a java.lang.Object)
"#;
        let dump = ThreadDump::parse(text).unwrap();
        let threads = sampled_threads(&dump, &crate::log_redaction::log_redactor(false));
        assert_eq!(threads.len(), 2);
        assert!(!threads[0].name.contains("S3CRET"), "{}", threads[0].name);
        assert_eq!(threads[0].frames, ["Shop.pay", "java.lang.Thread.run"]);
        let waits = threads[0].waits.as_ref().unwrap();
        assert_eq!((waits.kind, waits.owner), (SampledWaitKind::Enter, Some(1)));
        assert_eq!(threads[1].state, SampledState::Waiting);
    }
}
