//! Holds the phases of an agent's run until the controller starts them.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use busyhour_program::phase::{Phase, PhaseGate};
use busyhour_program::run::JmeterProperties;
use busyhour_sample::Nanos;

use super::reports::ReportQueue;
use crate::messages::Report;

/// Interval at which a waiting gate checks whether the run was stopped.
const CHECK: Duration = Duration::from_millis(50);

/// The gate of an agent's run; clones are the same gate.
#[derive(Clone)]
pub(super) struct Gate(Arc<GateState>);

struct GateState {
    properties: Arc<JmeterProperties>,
    /// The properties before the setUp groups.
    before: BTreeMap<String, String>,
    /// Whether this agent has tearDown groups, for which it waits until all other agents have ended their main groups.
    waits_for_tear_down: bool,
    /// Whether the setUp groups are left out, because another agent has run them.
    joins: bool,
    reports: ReportQueue,
    orders: Mutex<PhaseOrders>,
    changed: Condvar,
}

#[derive(Default)]
struct PhaseOrders {
    /// The start of the main groups, by the clock of the run.
    start: Option<Nanos>,
    tear_down: bool,
}

impl Gate {
    pub(super) fn new(
        properties: Arc<JmeterProperties>,
        waits_for_tear_down: bool,
        joins: bool,
        reports: ReportQueue,
    ) -> Self {
        let before = properties.all().into_iter().collect();
        Self(Arc::new(GateState {
            properties,
            before,
            waits_for_tear_down,
            joins,
            reports,
            orders: Mutex::default(),
            changed: Condvar::new(),
        }))
    }

    /// Starts the main groups at a time of the run, with properties that setUp groups of another agent have set.
    pub(super) fn start(&self, at: Nanos, properties: &[(String, String)]) {
        for (name, value) in properties {
            self.0.properties.set(name, value);
        }
        self.0.lock().start = Some(at);
        self.0.changed.notify_all();
    }

    /// Whether the start of the main groups is known.
    pub(super) fn is_started(&self) -> bool {
        self.0.lock().start.is_some()
    }

    /// Starts the tearDown groups.
    pub(super) fn tear_down(&self) {
        self.0.lock().tear_down = true;
        self.0.changed.notify_all();
    }
}

impl GateState {
    fn lock(&self) -> MutexGuard<'_, PhaseOrders> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Properties that were set or changed since the gate was created.
    fn changed_properties(&self) -> Vec<(String, String)> {
        let is_new = |(name, value): &(String, String)| self.before.get(name) != Some(value);
        self.properties.all().into_iter().filter(is_new).collect()
    }

    /// Waits until `ready` returns a value, or until the run is stopped.
    fn wait<T>(&self, is_stopped: &dyn Fn() -> bool, ready: impl Fn(&PhaseOrders) -> Option<T>) -> Option<T> {
        let mut orders = self.lock();
        loop {
            if let Some(value) = ready(&orders) {
                return Some(value);
            }
            if is_stopped() {
                return None;
            }
            orders = self.changed.wait_timeout(orders, CHECK).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl PhaseGate for Gate {
    fn skips(&self, phase: Phase) -> bool {
        self.0.joins && phase == Phase::SetUp
    }

    fn pass(&self, phase: Phase, is_stopped: &dyn Fn() -> bool) -> Option<Nanos> {
        match phase {
            Phase::SetUp => None,
            Phase::Main => {
                self.0.reports.send(Report::SetUpDone { properties: self.0.changed_properties() });
                self.0.wait(is_stopped, |orders| orders.start)
            }
            Phase::TearDown => {
                self.0.reports.send(Report::MainDone);
                if self.0.waits_for_tear_down {
                    self.0.wait(is_stopped, |orders| orders.tear_down.then_some(()));
                }
                None
            }
        }
    }
}
