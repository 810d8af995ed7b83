//! An observation: its sources are found first, and then it runs.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use busyhour_detection::{NEIGHBOURS_VERSION, Neighbours};
use busyhour_observe::{SeriesStore, SourceState, Watch, WatchError, WatchOptions};
use busyhour_program::clock::Clock;
use busyhour_record::{RunDirError, RunPart};
use busyhour_series::FileStart;

use crate::followed::FollowedLogs;
use crate::local;
use crate::log_sources::LogSourcesError;
use crate::marks_file::MarksProbe;
use crate::neighbours_file::{self, NeighbourSink, NeighboursSoFar};
use crate::request::ObservationRequest;
use crate::search::{Search, SearchThread};
use crate::search_times::SearchTimes;
use crate::select::select;
use crate::selected::Selected;
use crate::source_failures::RunningLines;
use crate::source_line::{LineSink, SourceLine};
use crate::source_spec::SourceSpec;
use crate::sources_file;
use crate::stack_sources::StackSources;

/// Why an observation cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ObservationError {
    /// A file of the run directory cannot be created.
    #[error("cannot create {file} in the run directory")]
    File {
        /// The name of the file.
        file: &'static str,
        /// The cause.
        source: io::Error,
    },
    /// The list of sources, or that of neighbours, cannot be written.
    #[error(transparent)]
    Sources(#[from] RunDirError),
    /// The file of series could not be written completely.
    #[error("the series are incomplete: {reason}")]
    Series {
        /// The error of writing.
        reason: String,
    },
    /// The file of stacks could not be written.
    #[error("the file of stacks is incomplete")]
    Stacks(#[source] io::Error),
    /// The files about logs are incomplete.
    #[error(transparent)]
    Logs(#[from] LogSourcesError),
    /// The watch cannot start.
    #[error(transparent)]
    Watch(#[from] WatchError),
}

/// The sources of an observation, found and opened.
pub struct Observation {
    request: ObservationRequest,
    selected: Selected,
    clock: Clock,
    neighbour_sink: Option<NeighbourSink>,
}

impl std::fmt::Debug for Observation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Observation").field("sources", &self.lines()).finish_non_exhaustive()
    }
}

impl Observation {
    /// Finds the sources. Nothing is read continuously yet, and no request is sent. `clock` is the clock of the run.
    #[must_use]
    pub fn prepare(request: ObservationRequest, clock: &Clock) -> Observation {
        let selected = select(&request, clock);
        Observation { request, selected, clock: clock.clone(), neighbour_sink: None }
    }

    /// Calls `sink` when a neighbour that harms the system is found.
    pub fn on_neighbour(&mut self, sink: NeighbourSink) {
        self.neighbour_sink = Some(sink);
    }

    /// One line for each source, watched or not.
    #[must_use]
    pub fn lines(&self) -> &[SourceLine] {
        &self.selected.lines
    }

    /// Whether at least one source is watched.
    #[must_use]
    pub fn watches_anything(&self) -> bool {
        self.selected.lines.iter().any(SourceLine::is_watched)
    }

    /// The files that an observation writes in the run directory.
    #[must_use]
    pub fn parts(&self) -> Vec<RunPart> {
        Observation::parts_of(&self.request.sources)
    }

    /// The files that an observation of these sources writes in the run directory.
    pub(crate) fn parts_of(sources: &[SourceSpec]) -> Vec<RunPart> {
        let mut parts = vec![SeriesStore::part(), sources_file::part()];
        parts.extend(FollowedLogs::parts(sources));
        parts.extend(StackSources::parts(sources));
        parts.extend(neighbours_file::part(sources));
        parts
    }

    /// Starts to read all sources, and to write their series into the run directory. If there is a sink and [`SourceSpec::Auto`]
    /// is requested, further processes are searched for after 2 s and 10 s of the run, and the sink receives the lines of new
    /// sources. With [`ObservationRequest::finds_new_jvms`], JVMs are searched for during the whole observation.
    ///
    /// # Errors
    /// The file of series exists or cannot be created, or a thread cannot be started.
    pub fn start(
        mut self,
        run_dir: &Path,
        start: &FileStart,
        sink: Option<LineSink>,
    ) -> Result<RunningObservation, ObservationError> {
        let file = |file| move |source| ObservationError::File { file, source };
        let store = SeriesStore::create(run_dir, start).map_err(file(busyhour_series::SERIES_FILE_NAME))?;
        let marks = MarksProbe::create(run_dir).map_err(file(crate::marks_file::MARKS_FILE_NAME))?;
        self.selected.probes.push(Box::new(marks));
        sources_file::write(run_dir, &self.selected.lines)?;
        let lines = RunningLines::new(self.selected.lines.clone(), Some(run_dir), sink);
        let (followed, probes) = FollowedLogs::new(run_dir, &self.clock, &self.request);
        self.selected.probes.extend(probes);
        let readers = std::mem::take(&mut self.selected.stacks);
        let (stacks, probes) = StackSources::create(run_dir, &self.clock, readers)
            .map_err(file(busyhour_stacks::STACKS_FILE_NAME))?;
        self.selected.probes.extend(probes);
        let mut running = None;
        if neighbours_file::part(&self.request.sources).is_some() {
            neighbours_file::write(
                run_dir,
                &Neighbours { version: NEIGHBOURS_VERSION, ..Neighbours::default() },
            )?;
            // The last probe, because it reads the values of the others.
            let found = local::add_neighbours(&mut self.selected, self.neighbour_sink.take());
            running = found.map(|found| (run_dir.to_owned(), found));
        }
        let mut observation = self.start_with(store, lines, Some(followed), stacks)?;
        observation.neighbours = running;
        Ok(observation)
    }

    /// Starts to read all sources like [`Self::start`], but writes no files: only the store contains the latest values.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn start_in_memory(self, sink: Option<LineSink>) -> Result<RunningObservation, ObservationError> {
        let lines = RunningLines::new(self.selected.lines.clone(), None, sink);
        self.start_with(SeriesStore::in_memory(), lines, None, StackSources::default())
    }

    fn start_with(
        mut self,
        store: SeriesStore,
        lines: RunningLines,
        followed: Option<FollowedLogs>,
        stacks: StackSources,
    ) -> Result<RunningObservation, ObservationError> {
        if self.request.keep_secrets {
            store.keep_secrets();
        }
        let reported = lines.clone();
        store.on_change(move |source, change| reported.change(source, change));
        let options = WatchOptions { interval: self.request.interval };
        let probes = std::mem::take(&mut self.selected.probes);
        let watch = Arc::new(Watch::start(self.clock.clone(), store, options, probes)?);
        let times = SearchTimes::new(
            self.request.sources.contains(&SourceSpec::Auto),
            self.request.searches_for_jvms(),
        );
        let watched: Vec<String> = self
            .selected
            .lines
            .iter()
            .filter(|line| line.is_watched())
            .map(|line| line.name.clone())
            .collect();
        let search = match times.next() {
            Some(_) if lines.are_printed() => {
                let Observation { request, selected, clock, .. } = self;
                let search = Search::new(request, selected, Arc::downgrade(&watch), clock, lines.clone());
                Some(SearchThread::start(search, times).map_err(WatchError::Thread)?)
            }
            Some(_) | None => None,
        };
        Ok(RunningObservation { search, stacks, watch, followed, neighbours: None, lines, watched })
    }
}

/// An observation that is running. It ends when it is dropped.
pub struct RunningObservation {
    /// The first field, because it is dropped first: afterwards, no other thread has a reference to the watch.
    search: Option<SearchThread>,
    stacks: StackSources,
    watch: Arc<Watch>,
    followed: Option<FollowedLogs>,
    /// The run directory, and what its list of neighbours contains.
    neighbours: Option<(PathBuf, NeighboursSoFar)>,
    lines: RunningLines,
    /// The names of the sources that were watched from the start.
    watched: Vec<String>,
}

impl std::fmt::Debug for RunningObservation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunningObservation").field("watch", &self.watch).finish_non_exhaustive()
    }
}

impl RunningObservation {
    /// The series, for live views and marks.
    #[must_use]
    pub fn store(&self) -> &SeriesStore {
        self.watch.store()
    }

    /// The sources that have not been read, because they failed, if this is true of all sources.
    #[must_use]
    pub fn unread_sources(&self) -> Option<Vec<String>> {
        let status = self.store().status();
        let is_unread = |name: &String| {
            let found = status.sources.iter().find(|source| *source.source == **name);
            found.is_some_and(|source| !source.was_read && source.state != SourceState::Watching)
        };
        (!self.watched.is_empty() && self.watched.iter().all(is_unread)).then(|| self.watched.clone())
    }

    /// Ends the observation, and returns what could not be written.
    #[must_use]
    pub fn stop(mut self) -> Vec<ObservationError> {
        self.lines.end();
        // The search is ended first: afterwards, no other thread has a reference to the watch.
        drop(self.search.take());
        // A probe that waits for its next dump ends its wait.
        let stacks = self.stacks.finish();
        let store = self.watch.store().clone();
        drop(self.watch);
        let followed = self.followed.map(|followed| followed.finish(&store)).unwrap_or_default();
        let mut errors: Vec<ObservationError> = followed.into_iter().map(ObservationError::Logs).collect();
        errors.extend(stacks.err().map(ObservationError::Stacks));
        let neighbours = self.neighbours.map(|(dir, found)| neighbours_file::write(&dir, &found()));
        errors.extend(neighbours.and_then(Result::err).map(ObservationError::Sources));
        errors.extend(store.status().file_error.map(|reason| ObservationError::Series { reason }));
        errors
    }
}
