//! The data that all users of a run share: properties, the clock, the log, stop requests, active users.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use busyhour_arrivals::LoadShare;
use busyhour_sample::Nanos;
use rustc_hash::FxHashMap as HashMap;
use tokio::sync::Notify;

use crate::clock::Clock;
use crate::load_part::{LoadPart, WHOLE};
use crate::locks::Locks;
use crate::phase::Phase;
use crate::queues::{CAPACITY_PROPERTY, Queues};
use crate::run_control::LoadChanges;
use crate::variables::{Names, Slot, VariableValue, Variables};

/// Severity of a log line, as in JMeter's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Details.
    Debug,
    /// Normal events.
    Info,
    /// Something unusual.
    Warn,
    /// Something failed.
    Error,
}

/// JMeter's properties, which functions and scripts read and set during the run.
#[derive(Debug, Default)]
pub struct JmeterProperties {
    values: RwLock<HashMap<String, PropertyValue>>,
    /// Values set by scripts that are not texts. Elements and functions do not see them.
    objects: RwLock<HashMap<String, Arc<dyn Any + Send + Sync>>>,
    version: AtomicU64,
}

#[derive(Debug)]
struct PropertyValue {
    text: String,
    /// Whether the property has been read.
    is_read: AtomicBool,
}

impl PropertyValue {
    fn new(text: String) -> Self {
        Self { text, is_read: AtomicBool::new(false) }
    }

    fn read(&self) -> &str {
        // The flag is set only if it is unset, so that cores that read the same property do not invalidate each other's
        // cache line.
        if !self.is_read.load(Ordering::Relaxed) {
            self.is_read.store(true, Ordering::Relaxed);
        }
        &self.text
    }
}

/// The next version of properties, for all runs in the process.
static VERSIONS: AtomicU64 = AtomicU64::new(1);

fn next_version() -> u64 {
    VERSIONS.fetch_add(1, Ordering::Relaxed)
}

impl JmeterProperties {
    /// Properties with these values.
    pub fn new(values: impl IntoIterator<Item = (String, String)>) -> Self {
        let values = values.into_iter().map(|(name, text)| (name, PropertyValue::new(text))).collect();
        Self { values: RwLock::new(values), objects: RwLock::default(), version: next_version().into() }
    }

    /// A version that changes with every change of a property and never equals the version of other properties. A value that
    /// was read is valid as long as the version is unchanged.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Calls `read` with the value of `name`, without copying it.
    pub fn with<R>(&self, name: &str, read: impl FnOnce(Option<&str>) -> R) -> R {
        let values = self.values.read().unwrap_or_else(PoisonError::into_inner);
        read(values.get(name).map(PropertyValue::read))
    }

    /// A copy of the value of `name`.
    pub fn get(&self, name: &str) -> Option<String> {
        self.with(name, |value| value.map(str::to_owned))
    }

    /// The value of `name` if it is not a text.
    pub fn object(&self, name: &str) -> Option<Arc<dyn Any + Send + Sync>> {
        self.objects.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// Sets `name` to a value that is not a text.
    pub fn set_object(&self, name: &str, value: Arc<dyn Any + Send + Sync>) {
        self.remove(name);
        self.objects.write().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), value);
    }

    /// Removes a value that is not a text. Such values are rare, so the map is locked for writing only if there is one.
    fn remove_object(&self, name: &str) {
        if self.object(name).is_some() {
            self.objects.write().unwrap_or_else(PoisonError::into_inner).remove(name);
        }
    }

    /// The names of all properties, sorted.
    pub fn names(&self) -> Vec<String> {
        let values = self.values.read().unwrap_or_else(PoisonError::into_inner);
        let objects = self.objects.read().unwrap_or_else(PoisonError::into_inner);
        let mut names: Vec<String> = values.keys().chain(objects.keys()).cloned().collect();
        names.sort_unstable();
        names
    }

    /// Sets `name`; returns the old value.
    pub fn set(&self, name: &str, value: &str) -> Option<String> {
        self.remove_object(name);
        let mut values = self.values.write().unwrap_or_else(PoisonError::into_inner);
        let before = values.insert(name.to_owned(), PropertyValue::new(value.to_owned()));
        self.version.store(next_version(), Ordering::Release);
        before.map(|before| before.text)
    }

    /// Removes `name`; returns the old value.
    pub fn remove(&self, name: &str) -> Option<String> {
        self.remove_object(name);
        let mut values = self.values.write().unwrap_or_else(PoisonError::into_inner);
        self.version.store(next_version(), Ordering::Release);
        values.remove(name).map(|before| before.text)
    }

    /// Whether the current value of `name` has been read. A read of a property without a value counts, too.
    pub fn is_read(&self, name: &str) -> bool {
        let values = self.values.read().unwrap_or_else(PoisonError::into_inner);
        values.get(name).is_none_or(|value| value.is_read.load(Ordering::Relaxed))
    }

    /// All properties, sorted by name. This does not mark them as read.
    pub fn all(&self) -> Vec<(String, String)> {
        let values = self.values.read().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<_> = values.iter().map(|(name, value)| (name.clone(), value.text.clone())).collect();
        all.sort();
        all
    }

    /// The value of `name` as a number, or `default` if it is unset or not a number.
    pub fn number<T: std::str::FromStr>(&self, name: &str, default: T) -> T {
        self.with(name, |value| value.and_then(|text| text.trim().parse().ok())).unwrap_or(default)
    }

    /// The value of `name` as JMeter reads a boolean, or `default` if it is unset.
    pub fn flag(&self, name: &str, default: bool) -> bool {
        self.with(name, |value| match value {
            Some(text) => text.trim().eq_ignore_ascii_case("true") || text.trim() == "1",
            None => default,
        })
    }
}

/// The data of a thread group that its users on all cores share.
#[derive(Debug)]
pub struct GroupShared {
    /// Name, evaluated before the run.
    pub name: String,
    /// Prefix of the names of its threads.
    pub thread_prefix: String,
    /// JMeter's number of the group among the groups of its phase, from 1.
    pub number: u32,
    /// Whether iterations continue as the same user: cookies and caches are retained.
    pub same_user: bool,
    /// Whether the users of the group are divided among the shares of the load. setUp and tearDown groups run as a whole in
    /// one share.
    pub is_divided: bool,
    /// Number of users active now.
    pub active: AtomicU32,
    /// Number of users that have started.
    pub started: AtomicU64,
    /// Initial values of the variables of the group's users.
    pub initial: Vec<(Slot, Arc<str>)>,
    /// If the group's number of users is held at a level: number of users started so far, by which users are numbered.
    pub users_numbered: AtomicU32,
    /// If the group's number of users is held at a level: number of users that have not ended.
    pub members: AtomicU32,
    /// Notified when one of the users counted by `members` ends.
    pub member_ended: Notify,
    /// Whether the time of the group's level or schedule of arrivals is over, so that its users end after the current sample.
    pub over: AtomicBool,
    /// Whether an arrival of the group has been dropped.
    pub has_dropped_arrival: AtomicBool,
}

impl GroupShared {
    /// A group before its first user. Its threads have this name as prefix, its iterations continue as the same user, and
    /// its users are divided into shares.
    pub fn new(name: String, number: u32, initial: Vec<(Slot, Arc<str>)>) -> Self {
        Self {
            thread_prefix: name.clone(),
            name,
            number,
            same_user: true,
            is_divided: true,
            active: AtomicU32::new(0),
            started: AtomicU64::new(0),
            initial,
            users_numbered: AtomicU32::new(0),
            members: AtomicU32::new(0),
            member_ended: Notify::new(),
            over: AtomicBool::new(false),
            has_dropped_arrival: AtomicBool::new(false),
        }
    }
}

/// How soon a stop request ends the users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// The run continues.
    No,
    /// Users finish the current sample.
    Graceful,
    /// Samples in flight are abandoned.
    Now,
}

/// Where log lines are written.
pub type LogSink = Box<dyn Fn(LogLevel, &str) + Send + Sync>;

/// A standard stream of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

/// A reason to question the results of a script.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScriptIssue {
    /// The script used an operation that is not supported here, and failed where JMeter continues.
    Unsupported(String),
    /// The text of the script changed, but the text of the first run was used again, as in JMeter.
    CachedText,
}

/// A core requests to be woken this long before a deadline, because waking takes about this time. The core polls the clock
/// for the rest of the time. Measured: this halves the median lateness of starts and costs 1 to 2 % of a core.
pub const WAKE_LEAD_NS: u64 = 10_000;

/// Maximum number of different script issues that a run stores.
const SCRIPT_ISSUES_MAX: usize = 100;

/// Receives what scripts print.
pub type OutputSink = Box<dyn Fn(Stream, &str) + Send + Sync>;

/// The data that all users of a run share.
pub struct RunShared {
    /// Seed of all random streams.
    pub seed: u64,
    /// The clock of the run.
    pub clock: Clock,
    /// JMeter's properties.
    pub properties: Arc<JmeterProperties>,
    /// Variable names that have slots.
    pub names: Arc<Names>,
    /// The thread groups, in the order of the program.
    pub groups: Vec<GroupShared>,
    /// Number of element states each user has.
    pub state_count: u32,
    /// Number of active users in all groups.
    pub active: AtomicU32,
    /// Number of users that have started.
    pub started: AtomicU64,
    /// Number of users that have finished.
    pub finished: AtomicU64,
    /// Time for which a core polls the clock before a start, in nanoseconds; 0: the core relies on the wake-up by the
    /// kernel. [`WAKE_LEAD_NS`] by default.
    pub spin_ns: AtomicU64,
    /// Time that each user waits after a failed sample, in nanoseconds; usually 0. It is set while all samples fail.
    pub failure_pause_ns: AtomicU64,
    /// Start of the first phase, in nanoseconds since the run's start; JMeter's start time of the test.
    pub begun_ns: AtomicU64,
    /// Changes of the load during the run.
    pub control: LoadChanges,
    /// Locks of critical sections.
    pub locks: Locks,
    /// Queues through which users exchange texts.
    pub queues: Queues,
    /// The part of the load that this run generates.
    pub part: LoadPart,
    /// Number of users that each group starts, where it is known.
    planned: Box<[AtomicU32]>,
    /// Data of functions and protocols that all users share, one value of each type.
    shared: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
    /// Starts that timers had to drop, by the timer's name.
    missed_starts: Mutex<BTreeMap<String, u64>>,
    /// Number of occurrences of each script issue, by element and issue.
    script_issues: Mutex<BTreeMap<(String, ScriptIssue), u64>>,
    /// The sink for the output of scripts; `None`: the log.
    output: OnceLock<OutputSink>,
    stop: AtomicU8,
    /// When the end is forced, in nanoseconds since the run's start; `u64::MAX`: never.
    force_at_ns: AtomicU64,
    /// When the end is forced after a stop by the plan, in nanoseconds since the run's start; `u64::MAX`: never. It does not
    /// apply to tearDown groups.
    plan_force_at_ns: AtomicU64,
    /// Time for users to finish their samples after a stop by the plan, in nanoseconds; `u64::MAX`: no limit.
    plan_grace_ns: AtomicU64,
    /// The first error of the plan that stopped users or the run.
    stop_error: OnceLock<String>,
    log: LogSink,
}

impl std::fmt::Debug for RunShared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunShared")
            .field("seed", &self.seed)
            .field("groups", &self.groups.len())
            .finish_non_exhaustive()
    }
}

impl RunShared {
    /// The shared data of a run before its first user starts.
    pub fn new(
        seed: u64,
        clock: Clock,
        properties: Arc<JmeterProperties>,
        names: Arc<Names>,
        groups: Vec<GroupShared>,
        state_count: u32,
        log: LogSink,
    ) -> Self {
        let planned = groups.iter().map(|_| AtomicU32::new(0)).collect();
        Self {
            planned,
            part: LoadPart::default(),
            control: LoadChanges::default(),
            locks: Locks::default(),
            queues: Queues::default(),
            seed,
            clock,
            properties,
            names,
            groups,
            state_count,
            active: AtomicU32::new(0),
            started: AtomicU64::new(0),
            finished: AtomicU64::new(0),
            spin_ns: AtomicU64::new(WAKE_LEAD_NS),
            failure_pause_ns: AtomicU64::new(0),
            begun_ns: AtomicU64::new(0),
            shared: Mutex::default(),
            missed_starts: Mutex::default(),
            script_issues: Mutex::default(),
            output: OnceLock::new(),
            stop: AtomicU8::new(0),
            force_at_ns: AtomicU64::new(u64::MAX),
            plan_force_at_ns: AtomicU64::new(u64::MAX),
            plan_grace_ns: AtomicU64::new(u64::MAX),
            stop_error: OnceLock::new(),
            log,
        }
    }

    /// By what the users of a group are multiplied.
    pub fn user_factor(&self, group: u32) -> u32 {
        match self.groups.get(group as usize) {
            Some(group) if !group.is_divided => 1,
            Some(_) | None => self.part.user_factor(),
        }
    }

    /// Waits until the gate lets a phase start. Returns the planned time of the start; `None` if the phase starts at once.
    pub fn pass_gate(&self, phase: Phase) -> Option<Nanos> {
        self.part.pass_gate(phase, &|| self.stop() != Stop::No)
    }

    /// The share of the load that this run generates.
    pub fn share(&self) -> &LoadShare {
        self.part.share()
    }

    /// The share of a group's users, and of the starts that timers schedule for all its users together.
    pub fn share_of(&self, group: u32) -> &LoadShare {
        match self.groups.get(group as usize) {
            Some(group) if !group.is_divided => &WHOLE,
            Some(_) | None => self.share(),
        }
    }

    /// Whether users of a group may start in this run. A group that is not divided runs in the share that contains the first
    /// user.
    pub fn runs_group(&self, group: u32) -> bool {
        self.share().is_first() || self.groups.get(group as usize).is_none_or(|group| group.is_divided)
    }

    /// Sets the number of users that a group starts in this run.
    pub fn plan_users(&self, group: u32, users: u32) {
        self.planned[group as usize].store(users, Ordering::Relaxed);
    }

    /// The number of users that a group starts in this run; if it was not set, the number of active users.
    pub fn users_of(&self, group: u32) -> u32 {
        match self.planned[group as usize].load(Ordering::Relaxed) {
            0 => self.groups[group as usize].active.load(Ordering::Relaxed),
            users => users,
        }
    }

    /// The initial variables of the group's users; empty for a group that does not exist yet, while initial values are
    /// computed.
    pub fn initial_variables(&self, group: u32) -> Variables {
        let mut variables = Variables::new(Arc::clone(&self.names));
        self.reset_variables(group, &mut variables);
        variables
    }

    /// Sets variables to the initial values of the group.
    pub fn reset_variables(&self, group: u32, variables: &mut Variables) {
        variables.clear();
        if let Some(group) = self.groups.get(group as usize) {
            for (slot, text) in &group.initial {
                variables.set_slot_value(*slot, VariableValue::Shared(Arc::clone(text)));
            }
        }
    }

    /// Adds a text to the queue with this name. If the queue is full, the text is dropped and a line is logged.
    pub fn put_into_queue(&self, name: &str, value: String) {
        let capacity = self.properties.number(CAPACITY_PROPERTY, usize::MAX);
        if !self.queues.named(name).put(value, capacity) {
            self.log(LogLevel::Warn, &format!("the queue {name} is full; the value is lost"));
        }
    }

    /// Writes a log line.
    pub fn log(&self, level: LogLevel, message: &str) {
        (self.log)(level, message);
    }

    /// The value of type `T` that all users share, created at first use. Each type belongs to one function or protocol.
    ///
    /// # Panics
    /// Never, because each value is stored under its own type.
    pub fn shared<T: Any + Send + Sync + Default>(&self) -> Arc<T> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let value = shared.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default()));
        Arc::clone(value).downcast().expect("each value is stored under its own type")
    }

    /// Counts starts of a timer's schedule for which no user was free in time.
    pub fn count_missed_starts(&self, timer: &str, starts: u64) {
        let mut missed = self.missed_starts.lock().unwrap_or_else(PoisonError::into_inner);
        *missed.entry(timer.to_owned()).or_default() += starts;
    }

    /// Counts an issue of a script; `element`: the name of the element or function.
    pub fn note_script_issue(&self, element: &str, issue: ScriptIssue) {
        let mut issues = self.script_issues.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (element.to_owned(), issue);
        if issues.len() < SCRIPT_ISSUES_MAX || issues.contains_key(&key) {
            *issues.entry(key).or_default() += 1;
        }
    }

    /// All script issues: the element, the issue, and the number of its occurrences.
    pub fn script_issues(&self) -> Vec<(String, ScriptIssue, u64)> {
        let issues = self.script_issues.lock().unwrap_or_else(PoisonError::into_inner);
        issues.iter().map(|((element, issue), count)| (element.clone(), issue.clone(), *count)).collect()
    }

    /// Sets the sink for the output of scripts; only the first call has an effect.
    pub fn print_to(&self, sink: OutputSink) {
        let _ = self.output.set(sink);
    }

    /// Prints this text for a script, unchanged.
    pub fn print(&self, stream: Stream, text: &str) {
        match self.output.get() {
            Some(sink) => sink(stream, text),
            None => self.log(LogLevel::Info, text.trim_end_matches('\n')),
        }
    }

    /// Starts that were dropped, by the timer's name.
    pub fn missed_starts(&self) -> Vec<(String, u64)> {
        let missed = self.missed_starts.lock().unwrap_or_else(PoisonError::into_inner);
        missed.iter().map(|(timer, starts)| (timer.clone(), *starts)).collect()
    }

    /// The stop request in force.
    pub fn stop(&self) -> Stop {
        match self.stop.load(Ordering::Relaxed) {
            0 => Stop::No,
            1 => Stop::Graceful,
            _ => Stop::Now,
        }
    }

    /// Limits the time that users have to finish their samples after a stop by the plan.
    pub fn limit_plan_stops(&self, grace_ns: u64) {
        self.plan_grace_ns.store(grace_ns, Ordering::Relaxed);
    }

    /// Stops the run because the plan requests it; never weakens an earlier request. After the grace period of
    /// [`Self::limit_plan_stops`], the end of the main groups is forced.
    pub fn stop_by_plan(&self, stop: Stop) {
        self.raise_stop(stop);
        let force_at_ns = self.clock.now().0.saturating_add(self.plan_grace_ns.load(Ordering::Relaxed));
        self.plan_force_at_ns.fetch_min(force_at_ns, Ordering::Relaxed);
    }

    fn raise_stop(&self, stop: Stop) {
        self.stop.fetch_max(stop as u8, Ordering::Relaxed);
    }

    /// Stops the run because of an error of the plan, described by `why`. Only the first error is stored.
    pub fn stop_because_of_error(&self, stop: Stop, why: impl Into<String>) {
        self.note_error(why);
        self.stop_by_plan(stop);
    }

    /// Stores an error of the plan that stopped users or the run, so that the run does not count as completed. Only the
    /// first error is stored.
    pub fn note_error(&self, why: impl Into<String>) {
        let _ = self.stop_error.set(why.into());
    }

    /// The error of the plan that stopped users or the run.
    pub fn stop_error(&self) -> Option<&str> {
        self.stop_error.get().map(String::as_str)
    }

    /// Stops the run and forces its end if stopping takes longer than `grace_ns`. A forced end abandons samples in
    /// flight and cores that do not respond, and tearDown groups do not run. An earlier deadline stays in force.
    pub fn stop_within(&self, stop: Stop, grace_ns: u64) {
        self.raise_stop(stop);
        self.force_at_ns.fetch_min(self.clock.now().0.saturating_add(grace_ns), Ordering::Relaxed);
    }

    /// Forces the end now, see [`Self::stop_within`].
    pub fn force_end(&self) {
        self.stop_within(Stop::Now, 0);
    }

    /// Whether the end is forced at `now`. In that case, everything that still runs is stopped immediately.
    pub fn is_forced(&self, now: Nanos) -> bool {
        let plan_force_at_ns = self.plan_force_at_ns.load(Ordering::Relaxed);
        let is_forced = now.0 >= self.force_at_ns.load(Ordering::Relaxed).min(plan_force_at_ns);
        if is_forced {
            self.raise_stop(Stop::Now);
        }
        is_forced
    }

    /// Clears the stop request, so that tearDown groups run after a stop of the main groups. If the plan stopped itself,
    /// they have no time limit.
    pub fn clear_stop(&self) {
        self.plan_force_at_ns.store(u64::MAX, Ordering::Relaxed);
        self.stop.store(0, Ordering::Relaxed);
    }
}
