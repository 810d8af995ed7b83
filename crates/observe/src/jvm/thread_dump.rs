//! Thread dumps: the states of threads and the locks that they hold and wait for.

use rustc_hash::FxHashMap;

/// Frames that are kept per thread, from the top.
const FRAMES_MAX: usize = 64;

const RE_LOCK: &str = "waiting to re-lock in wait() ";

/// The state of a thread, as in `java.lang.Thread.State`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ThreadState {
    /// Not started.
    New,
    /// Runs, waits for a CPU, or is in a system call such as reading from a socket.
    Runnable,
    /// Waits to enter a synchronized block.
    Blocked,
    /// Waits without limit for another thread.
    Waiting,
    /// Waits with a limit, or sleeps.
    TimedWaiting,
    /// Has ended.
    Terminated,
}

impl ThreadState {
    fn parse(name: &str) -> Option<ThreadState> {
        Some(match name {
            "NEW" => Self::New,
            "RUNNABLE" => Self::Runnable,
            "BLOCKED" => Self::Blocked,
            "WAITING" => Self::Waiting,
            "TIMED_WAITING" => Self::TimedWaiting,
            "TERMINATED" => Self::Terminated,
            _ => return None,
        })
    }
}

/// A lock, identified by the address of its object within one dump.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MonitorLock {
    /// The address.
    pub address: u64,
    /// The class of the object.
    pub class: String,
}

/// How a thread waits for a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WaitKind {
    /// To enter a synchronized block, also after `Object.wait`.
    Enter,
    /// In `Object.wait`, for a notification.
    Notification,
    /// Parked by `java.util.concurrent`: for a lock, or for work.
    Park,
}

/// A platform thread of Java.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JavaThread {
    /// Its name.
    pub name: String,
    /// Its thread ID in Java.
    pub id: u64,
    /// Whether the JVM can end while the thread still runs.
    pub is_daemon: bool,
    /// Its thread ID in the operating system (`task` in `/proc`), within its container.
    pub native_id: Option<u64>,
    /// Its state.
    pub state: ThreadState,
    /// The lock that it waits for, and how it waits.
    pub waits_for: Option<(WaitKind, MonitorLock)>,
    /// The locks that it holds. Those of `java.util.concurrent` are only known in a dump with synchronizers.
    pub holds: Vec<MonitorLock>,
    /// The upper frames of its stack, at most 64, such as `Load.pause(Load.java:46)`.
    pub frames: Vec<String>,
}

/// A thread that waits for a lock, and the thread that holds the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockedThread<'a> {
    /// The thread that waits.
    pub thread: &'a JavaThread,
    /// The lock.
    pub lock: &'a MonitorLock,
    /// The thread that holds the lock; `None` if the dump does not show it.
    pub owner: Option<&'a JavaThread>,
}

/// The threads of a JVM at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadDump {
    /// The threads that have a state in Java, in the order of the dump. Threads of the virtual machine itself are left out, as are
    /// virtual threads, which the JVM does not print.
    pub threads: Vec<JavaThread>,
}

/// Why a thread dump cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no thread with a name and a state")]
pub struct ThreadDumpError;

impl ThreadDump {
    /// Reads the output of `Thread.print` or `jstack` of JDK 8 to 25. Takes linear time.
    ///
    /// # Errors
    /// There is no thread in the text.
    pub fn parse(text: &str) -> Result<ThreadDump, ThreadDumpError> {
        let mut dump = ThreadDump::default();
        let mut current: Option<Draft> = None;
        for line in text.lines() {
            if line.starts_with('"') {
                dump.threads.extend(current.take().and_then(Draft::finish));
                current = Draft::parse(line);
            } else if line.starts_with("Found ") {
                // Deadlocks are described again at the end, with other lines.
                break;
            } else if let Some(draft) = &mut current {
                draft.line(line.trim_start());
            }
        }
        dump.threads.extend(current.and_then(Draft::finish));
        if dump.threads.is_empty() { Err(ThreadDumpError) } else { Ok(dump) }
    }

    /// The number of threads in each state that occurs, by state.
    #[must_use]
    pub fn states(&self) -> Vec<(ThreadState, usize)> {
        let mut counts: FxHashMap<ThreadState, usize> = FxHashMap::default();
        for thread in &self.threads {
            *counts.entry(thread.state).or_default() += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_unstable();
        counts
    }

    /// The threads that wait to enter a synchronized block or for a lock of `java.util.concurrent` with a known owner.
    ///
    /// A thread that is parked without a known owner is left out: an idle worker parks too.
    #[must_use]
    pub fn blocked(&self) -> Vec<BlockedThread<'_>> {
        let owners = self.owners();
        let blocked = self.threads.iter().filter_map(|thread| {
            let (kind, lock) = thread.waits_for.as_ref()?;
            let owner = owners.get(&lock.address).map(|owner| &self.threads[*owner]);
            let is_blocked = match kind {
                WaitKind::Enter => true,
                WaitKind::Park => owner.is_some_and(|owner| owner.id != thread.id),
                WaitKind::Notification => false,
            };
            is_blocked.then_some(BlockedThread { thread, lock, owner })
        });
        blocked.collect()
    }

    /// Groups of threads that wait for each other in a circle. Each thread is in at most one group.
    #[must_use]
    pub fn deadlocks(&self) -> Vec<Vec<&JavaThread>> {
        let owners = self.owners();
        let next: Vec<Option<usize>> = self
            .threads
            .iter()
            .map(|thread| match thread.waits_for.as_ref()? {
                (WaitKind::Enter | WaitKind::Park, lock) => owners.get(&lock.address).copied(),
                (WaitKind::Notification, _) => None,
            })
            .collect();
        // For each thread, the start of the walk that visited it first. A walk has found a circle if it reaches a
        // thread that it has visited itself.
        let mut visited_by = vec![None; self.threads.len()];
        let mut circles = Vec::new();
        for start in 0..self.threads.len() {
            let mut at = start;
            let is_circle = loop {
                if let Some(walk) = visited_by[at] {
                    break walk == start;
                }
                visited_by[at] = Some(start);
                match next[at] {
                    Some(owner) => at = owner,
                    None => break false,
                }
            };
            if is_circle {
                circles.extend(self.circle(at, &next));
            }
        }
        circles
    }

    /// The circle through a thread; `None` if the chain of owners ends, or if the thread waits for itself.
    fn circle(&self, first: usize, next: &[Option<usize>]) -> Option<Vec<&JavaThread>> {
        let mut circle = vec![&self.threads[first]];
        let mut at = next[first]?;
        while at != first {
            if circle.len() >= self.threads.len() {
                return None;
            }
            circle.push(&self.threads[at]);
            at = next[at]?;
        }
        (circle.len() > 1).then_some(circle)
    }

    /// The position of the thread that holds each lock, by the address of the lock.
    #[must_use]
    pub fn owners(&self) -> FxHashMap<u64, usize> {
        let held = self.threads.iter().enumerate();
        held.flat_map(|(at, thread)| thread.holds.iter().map(move |lock| (lock.address, at))).collect()
    }
}

/// A thread whose lines are still being read.
struct Draft {
    name: String,
    id: u64,
    is_daemon: bool,
    native_id: Option<u64>,
    state: Option<ThreadState>,
    waits_for: Option<(WaitKind, MonitorLock)>,
    holds: Vec<MonitorLock>,
    frames: Vec<String>,
}

impl Draft {
    /// Reads `"NAME" #12 [345] daemon prio=5 … nid=0x4478 …`; `None` for a thread of the virtual machine, which has no number.
    fn parse(line: &str) -> Option<Draft> {
        // A name may contain anything, also quotes. The text after it never contains `" #`.
        let (name, rest) = line.strip_prefix('"')?.rsplit_once("\" #")?;
        let mut words = rest.split_whitespace();
        let id = words.next()?.parse().ok()?;
        let mut draft = Draft {
            name: name.to_owned(),
            id,
            is_daemon: false,
            native_id: None,
            state: None,
            waits_for: None,
            holds: Vec::new(),
            frames: Vec::new(),
        };
        for word in words {
            if word == "daemon" {
                draft.is_daemon = true;
            } else if let Some(number) = word.strip_prefix("nid=") {
                // Hexadecimal up to JDK 20.
                draft.native_id = match number.strip_prefix("0x") {
                    Some(digits) => u64::from_str_radix(digits, 16).ok(),
                    None => number.parse().ok(),
                };
            }
        }
        Some(draft)
    }

    fn line(&mut self, line: &str) {
        if let Some(state) = line.strip_prefix("java.lang.Thread.State: ") {
            self.state = state.split_whitespace().next().and_then(ThreadState::parse);
        } else if let Some(frame) = line.strip_prefix("at ") {
            if self.frames.len() < FRAMES_MAX {
                self.frames.push(frame.to_owned());
            }
        } else if let Some(fact) = line.strip_prefix("- ") {
            self.lock(fact);
        }
    }

    fn lock(&mut self, fact: &str) {
        let waits = [
            ("waiting to lock ", WaitKind::Enter),
            (RE_LOCK, WaitKind::Enter),
            ("waiting on ", WaitKind::Notification),
            ("parking to wait for ", WaitKind::Park),
        ];
        if let Some((prefix, kind)) = waits.into_iter().find(|(prefix, _)| fact.starts_with(prefix)) {
            // Up to JDK 16, dumps contain this line for a thread in Object.wait also before it is notified.
            let is_notified = self.state == Some(ThreadState::Blocked);
            let kind = if prefix == RE_LOCK && !is_notified { WaitKind::Notification } else { kind };
            if let Some(lock) = MonitorLock::parse(&fact[prefix.len()..]) {
                self.waits_for = Some((kind, lock));
            }
            return;
        }
        // In the list of synchronizers, the line contains only the lock.
        if let Some(lock) = MonitorLock::parse(fact.strip_prefix("locked ").unwrap_or(fact)) {
            self.holds.push(lock);
        }
    }

    fn finish(mut self) -> Option<JavaThread> {
        // The stack still shows the lock that Object.wait has released, and a lock once per nested block.
        if let Some((WaitKind::Enter | WaitKind::Notification, lock)) = &self.waits_for {
            let address = lock.address;
            self.holds.retain(|held| held.address != address);
        }
        self.holds.sort_by_key(|lock| lock.address);
        self.holds.dedup_by_key(|lock| lock.address);
        Some(JavaThread {
            name: self.name,
            id: self.id,
            is_daemon: self.is_daemon,
            native_id: self.native_id,
            state: self.state?,
            waits_for: self.waits_for,
            holds: self.holds,
            frames: self.frames,
        })
    }
}

impl MonitorLock {
    /// Reads `<0x00000000fc0168d8> (a java.util.concurrent.locks.ReentrantLock$NonfairSync)`.
    fn parse(text: &str) -> Option<MonitorLock> {
        let (address, class) = text.trim_start().strip_prefix("<0x")?.split_once("> (a ")?;
        let class = class.trim_end().strip_suffix(')')?;
        Some(MonitorLock { address: u64::from_str_radix(address, 16).ok()?, class: class.to_owned() })
    }
}
