//! An observer of a run ([`RunObserver`]) that observes the system under test.

use std::sync::{Arc, Mutex, PoisonError};

use busyhour_launch::{ObserverError, RunEnded, RunInfo, RunObserver};
use busyhour_observe::SeriesStore;
use busyhour_program::clock::Clock;
use busyhour_record::RunPart;
use busyhour_series::FileStart;

use crate::neighbours_file::NeighbourSink;
use crate::observation::{Observation, RunningObservation};
use crate::request::ObservationRequest;
use crate::source_line::LineSink;
use crate::source_line::SourceLine;

/// The series of a run, which become available when it starts. Clones refer to the same run.
#[derive(Clone, Debug, Default)]
pub struct ObservedSeries(Arc<Mutex<Option<SeriesStore>>>);

impl ObservedSeries {
    /// The series; `None` before the run starts and if the observation failed.
    #[must_use]
    pub fn store(&self) -> Option<SeriesStore> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, store: SeriesStore) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(store);
    }
}

/// Receives the lines of all sources when the sources have been found.
pub type SourceLinesSink = Box<dyn FnOnce(&[SourceLine]) + Send>;

/// An observation whose sources are found when the run has started.
struct Planned {
    request: ObservationRequest,
    clock: Clock,
    found: SourceLinesSink,
}

impl Planned {
    /// Finds the sources; `None` if there is nothing to observe. If there are no targets, the plan computes them, and
    /// the system is found while the load is running.
    fn prepare(self) -> Option<Observation> {
        let has_targets = !self.request.targets.is_empty();
        let observation = Observation::prepare(self.request, &self.clock);
        (self.found)(observation.lines());
        (observation.watches_anything() || !has_targets).then_some(observation)
    }
}

enum State {
    Planned(Box<Planned>),
    Prepared(Box<Observation>),
    Running(Box<RunningObservation>),
    /// The observation could not start, or it has ended.
    Over,
}

/// Observes the system under test during a run. Files are written into the run directory.
pub struct SystemObserver {
    state: State,
    series: ObservedSeries,
    sink: Option<LineSink>,
    neighbour_sink: Option<NeighbourSink>,
    failure: Option<ObserverError>,
}

impl std::fmt::Debug for SystemObserver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SystemObserver").finish_non_exhaustive()
    }
}

impl SystemObserver {
    /// An observer of a run that starts later. `sink` receives the lines of sources that are found during the run.
    #[must_use]
    pub fn new(observation: Observation, sink: LineSink) -> SystemObserver {
        let state = State::Prepared(Box::new(observation));
        SystemObserver::of(state, sink)
    }

    /// An observer that finds the sources when the run has started, so that the search does not delay the start. `found` receives their
    /// lines.
    #[must_use]
    pub fn after_start(
        request: ObservationRequest,
        clock: &Clock,
        found: SourceLinesSink,
        sink: LineSink,
    ) -> SystemObserver {
        let state = State::Planned(Box::new(Planned { request, clock: clock.clone(), found }));
        SystemObserver::of(state, sink)
    }

    fn of(state: State, sink: LineSink) -> SystemObserver {
        let series = ObservedSeries::default();
        SystemObserver { state, series, sink: Some(sink), neighbour_sink: None, failure: None }
    }

    /// Calls `sink` when a neighbour that harms the system is found.
    pub fn on_neighbour(&mut self, sink: NeighbourSink) {
        self.neighbour_sink = Some(sink);
    }

    /// The series of the run, for live views.
    #[must_use]
    pub fn series(&self) -> ObservedSeries {
        self.series.clone()
    }
}

impl RunObserver for SystemObserver {
    fn started(&mut self, run: &RunInfo) {
        let observation = match std::mem::replace(&mut self.state, State::Over) {
            State::Planned(planned) => planned.prepare(),
            State::Prepared(observation) => Some(*observation),
            State::Running(_) | State::Over => None,
        };
        let Some(mut observation) = observation else { return };
        if let Some(sink) = self.neighbour_sink.take() {
            observation.on_neighbour(sink);
        }
        let start = FileStart {
            wall_anchor_ms: run.wall_anchor_ms,
            hostname: run.hostname.clone(),
            program: concat!("busyhour ", env!("CARGO_PKG_VERSION")).into(),
        };
        match observation.start(&run.dir, &start, self.sink.take()) {
            Ok(running) => {
                self.series.set(running.store().clone());
                self.state = State::Running(Box::new(running));
            }
            Err(error) => self.failure = Some(error.into()),
        }
    }

    fn ended(&mut self, _run: &RunEnded) -> Result<(), ObserverError> {
        if let State::Running(running) = std::mem::replace(&mut self.state, State::Over) {
            let errors: Vec<String> =
                running.stop().iter().map(|error| busyhour_diagnostic::io_hints::chain(error)).collect();
            if !errors.is_empty() {
                return Err(format!("could not record everything: {}", errors.join("; ")).into());
            }
        }
        self.failure.take().map_or(Ok(()), Err)
    }

    fn parts(&self) -> Vec<RunPart> {
        match &self.state {
            State::Planned(planned) => Observation::parts_of(&planned.request.sources),
            State::Prepared(observation) => observation.parts(),
            State::Running(_) | State::Over => Vec::new(),
        }
    }

    /// The observer does not use the seconds of the run, because its own threads read the sources.
    fn seconds_waiting_max(&self) -> usize {
        0
    }
}
