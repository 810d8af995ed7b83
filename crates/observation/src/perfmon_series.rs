//! Values of PerfMon agents as series of an observed run.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use busyhour_observe::perfmon::sample::PerfMonSample;
use busyhour_observe::{Metric, Probe, ProbeError, ProbeRunner, Reading};
use busyhour_program::clock::Clock;

use crate::observer::ObservedSeries;

static VALUE: Metric = Metric::gauge(
    "busyhour_perfmon_value",
    "Value of a metric of a PerfMon agent, in the unit of the agent.",
);

/// Maximum number of agents whose values are recorded.
const AGENTS_MAX: usize = 100;

/// Records the values of all collectors of a run, one source per agent (`perfmon:HOST:PORT`). Clones record into the same series.
#[derive(Clone)]
pub struct PerfMonSeries(Arc<Mutex<Recorder>>);

struct Recorder {
    observed: ObservedSeries,
    clock: Clock,
    agents: HashMap<String, Agent>,
}

struct Agent {
    runner: ProbeRunner,
    latest: Arc<Mutex<PerfMonSample>>,
}

impl std::fmt::Debug for PerfMonSeries {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PerfMonSeries").finish_non_exhaustive()
    }
}

impl PerfMonSeries {
    /// Records into the series of a run, on its clock.
    #[must_use]
    pub fn new(observed: ObservedSeries, clock: Clock) -> Self {
        Self(Arc::new(Mutex::new(Recorder { observed, clock, agents: HashMap::new() })))
    }

    /// Records a sample of an agent (`host:port`). Nothing is recorded before the observation has started.
    pub(crate) fn record(&self, agent: &str, sample: &PerfMonSample) {
        let recorder = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !recorder.agents.contains_key(agent) {
            let Some(store) = recorder.observed.store() else { return };
            if recorder.agents.len() >= AGENTS_MAX {
                return;
            }
            let latest = Arc::new(Mutex::new(sample.clone()));
            let probe = AgentProbe { source: format!("perfmon:{agent}"), latest: Arc::clone(&latest) };
            let runner = ProbeRunner::new(&store, Box::new(probe));
            recorder.agents.insert(agent.to_owned(), Agent { runner, latest });
        }
        if let Some(known) = recorder.agents.get_mut(agent) {
            known.latest.lock().unwrap_or_else(PoisonError::into_inner).clone_from(sample);
            known.runner.read(&recorder.clock);
        }
    }
}

/// Reads the latest sample of an agent.
struct AgentProbe {
    source: String,
    latest: Arc<Mutex<PerfMonSample>>,
}

impl Probe for AgentProbe {
    fn source(&self) -> &str {
        &self.source
    }

    fn interval_min(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn read(&mut self, reading: &mut Reading<'_>) -> Result<(), ProbeError> {
        let sample = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        match &sample.error {
            None => {
                // The label begins with the host, which the source contains.
                let metric = sample.label.split_once(' ').map_or(sample.label.as_str(), |(_, metric)| metric);
                let series = reading.series(&VALUE, &[("metric", metric)]);
                reading.set(series, sample.elapsed as f64 / 1000.0);
                Ok(())
            }
            // The agent answers, but a metric has no value: only the collector's file contains the reason.
            Some(error) if *error != sample.label => Ok(()),
            Some(error) => Err(ProbeError::Other { what: "the agent".into(), source: error.as_str().into() }),
        }
    }
}
