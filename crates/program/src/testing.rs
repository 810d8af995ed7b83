//! Users and shared state of runs, for tests.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::clock::Clock;
use crate::run::{GroupShared, JmeterProperties, LogLevel, RunShared};
use crate::user::UserState;
use crate::variables::Names;

/// Seed of all tests.
pub const SEED: u64 = 20_260_101;

/// Log lines of a run.
pub type LogLines = Arc<Mutex<Vec<String>>>;

/// The shared data of a run with `groups` groups.
pub fn shared_with(
    clock: Clock,
    seed: u64,
    groups: usize,
    names: Names,
    states: u32,
) -> (Arc<RunShared>, LogLines) {
    let groups =
        (1..).take(groups).map(|number| GroupShared::new(format!("group {number}"), number, Vec::new()));
    let log = LogLines::default();
    let sink = Arc::clone(&log);
    let shared = RunShared::new(
        seed,
        clock,
        Arc::new(JmeterProperties::new(HashMap::new())),
        Arc::new(names),
        groups.collect(),
        states,
        Box::new(move |level: LogLevel, line: &str| sink.lock().unwrap().push(format!("{level:?} {line}"))),
    );
    (Arc::new(shared), log)
}

/// The shared data of a run with one group, on a stopped clock.
pub fn run_with_stopped_clock(clock: &Clock) -> Arc<RunShared> {
    shared_with(clock.clone(), SEED, 1, Names::default(), 4).0
}

/// A user without a core.
pub fn lone_user(shared: &Arc<RunShared>, number: u32) -> UserState {
    UserState::new(Arc::clone(shared), None, 0, number)
}
