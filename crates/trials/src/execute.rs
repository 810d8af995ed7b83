//! Executes the trials of an experiment in their order, and continues an interrupted experiment.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use busyhour_experiment::{
    Design, DurationEstimate, Experiment, Journal, JournalEntry, NextTrial, Trial, TrialOutcome,
    response_table,
};

use crate::error::ExecuteError;
use crate::journal_file::{
    EndedTrial, JOURNAL_FILE_NAME, JournalContent, JournalFile, JournalLine, JournalStart, LeftOut,
};
use crate::planned::{planned_blocks, window_s};
use crate::read::{EXPERIMENT_FILE_NAME, reported_trials};
use crate::ready::ReadyCheck;
use crate::restore::restore_content;
use crate::setting::CaseSetting;
use crate::stop::StopRequest;
use crate::trial::{ActiveTrial, Surroundings};
use crate::trial_files::{SYSTEM_LOG, trial_dir};
use crate::values;

/// The experiment ends after this number of failed trials in succession.
const FAILED_IN_SUCCESSION_MAX: u32 = 3;

/// Time in which the processes of an interrupted trial end.
const ENDING_PATIENCE: Duration = Duration::from_secs(15);

/// A request to execute the trials of an experiment.
#[derive(Debug, Clone)]
pub struct ExecuteRequest<'e> {
    /// The experiment.
    pub experiment: &'e Experiment,
    /// The text of its file, which is copied to the directory.
    pub text: &'e str,
    /// Whether the experiment is the short form of the file.
    pub is_short: bool,
    /// Levels of the file that the experiment does not contain.
    pub left_out: LeftOut,
    /// The directory of its file.
    pub base_dir: PathBuf,
    /// The directory for journal and trials, as an absolute path.
    pub dir: PathBuf,
    /// The program `busyhour`.
    pub busyhour: PathBuf,
    /// The value of `JAVA_TOOL_OPTIONS`, to which levels add options.
    pub java_options: Option<String>,
}

/// The progress of an experiment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExperimentProgress {
    /// Number of trials without a result, among those of the blocks that are planned now.
    pub open: u64,
    /// Number of all of these trials.
    pub total: u64,
    /// The time left; `None` before the first trial has ended.
    pub left: Option<DurationEstimate>,
}

/// Receives the events of an execution.
pub trait TrialObserver {
    /// A trial begins.
    fn begun(&mut self, trial: Trial, case: &str, progress: &ExperimentProgress);
    /// A trial ended. `dir` contains its files.
    fn ended(&mut self, ended: &EndedTrial, case: &str, dir: &Path, progress: &ExperimentProgress);
    /// Something else happened.
    fn notice(&mut self, text: &str);
}

/// How an execution ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExecuteEnd {
    /// All trials are finished or given up.
    Completed,
    /// A stop was requested.
    Stopped,
}

/// Executes all open trials of the experiment.
///
/// # Errors
/// The directory cannot be used, belongs to another experiment, trials fail in succession, or a treatment cannot be undone.
pub fn execute(
    request: &ExecuteRequest<'_>,
    design: &Design,
    stop: &StopRequest,
    observer: &mut dyn TrialObserver,
) -> Result<ExecuteEnd, ExecuteError> {
    let trials = request.dir.join("trials");
    std::fs::create_dir_all(&trials).map_err(ExecuteError::file(&trials))?;
    let (journal, content) = JournalFile::open(&request.dir)?;
    let experiment = request.experiment;
    let system_dir = match &experiment.system.directory {
        Some(dir) => request.base_dir.join(dir),
        None => request.base_dir.clone(),
    };
    let around = Surroundings {
        experiment,
        busyhour: &request.busyhour,
        java_options: request.java_options.as_deref(),
        base_dir: &request.base_dir,
        system_dir,
        dir: &request.dir,
        stop,
    };
    let mut execution = Execution { around: &around, design, journal, content, failed: 0 };
    execution.begin(request)?;
    execution.restore(observer)?;
    execution.run(observer)
}

struct Execution<'e> {
    around: &'e Surroundings<'e>,
    design: &'e Design,
    journal: JournalFile,
    content: JournalContent,
    /// Number of failed trials since the last one that did not fail.
    failed: u32,
}

impl Execution<'_> {
    /// Checks that the directory belongs to this experiment.
    fn begin(&mut self, request: &ExecuteRequest<'_>) -> Result<(), ExecuteError> {
        let experiment = self.around.experiment;
        let start = JournalStart {
            version: 1,
            fingerprint: experiment.fingerprint(),
            seed: experiment.trials.seed,
            is_short: request.is_short,
            left_out: request.left_out.clone(),
        };
        match &self.content.start {
            Some(known) if *known != start => {
                return Err(ExecuteError::OtherExperiment { dir: self.around.dir.display().to_string() });
            }
            Some(_) => {}
            None => {
                self.journal.write(&JournalLine::Experiment(start.clone()))?;
                self.content.start = Some(start);
            }
        }
        let path = self.around.dir.join(EXPERIMENT_FILE_NAME);
        std::fs::write(&path, request.text).map_err(ExecuteError::file(&path))
    }

    /// Undoes what an interrupted execution left.
    fn restore(&mut self, observer: &mut dyn TrialObserver) -> Result<(), ExecuteError> {
        let (dir, busyhour) = (self.around.dir, self.around.busyhour);
        let open = self.content.open;
        let restored = restore_content(dir, busyhour, &mut self.journal, &mut self.content)?;
        restored.done.iter().for_each(|text| observer.notice(text));
        if !restored.failed.is_empty() {
            let log = open.map_or_else(|| dir.to_owned(), |trial| trial_dir(dir, trial).join(SYSTEM_LOG));
            return Err(ExecuteError::NotUndone {
                trial: open.map_or_else(|| "before".to_owned(), |trial| trial.to_string()),
                reasons: restored.failed.join("; "),
                log: log.display().to_string(),
                dir: dir.display().to_string(),
            });
        }
        if open.is_some()
            && let Some(ready) = &self.around.experiment.system.ready
        {
            ReadyCheck::of(ready).wait_for_free_port(ENDING_PATIENCE, self.around.stop);
        }
        Ok(())
    }

    /// Repeats the warm-up if trials were executed before and others are open or have no result.
    fn repeat_warm_up(
        &mut self,
        outcomes: &mut Journal<'_>,
        observer: &mut dyn TrialObserver,
    ) -> Result<(), ExecuteError> {
        let blocks = self.planned_blocks(outcomes);
        let has_given_up = outcomes.given_up().any(|given_up| given_up.block <= blocks);
        let is_complete = outcomes.next(blocks) == NextTrial::Done && !has_given_up;
        if self.content.ended.is_empty() || is_complete {
            return Ok(());
        }
        self.journal.write(&JournalLine::Continued)?;
        self.content.continued_after.push(self.content.ended.len());
        outcomes.continue_after_interruption();
        if self.design.plan().warm_up > 0 {
            observer.notice("the experiment is continued, so the warm-up trials are executed again");
        }
        Ok(())
    }

    fn run(&mut self, observer: &mut dyn TrialObserver) -> Result<ExecuteEnd, ExecuteError> {
        let path = self.around.dir.join(JOURNAL_FILE_NAME);
        let mut outcomes = self.content.outcomes(self.design, &path)?;
        self.repeat_warm_up(&mut outcomes, observer)?;
        loop {
            let blocks = self.planned_blocks(&outcomes);
            let NextTrial::Trial(trial) = outcomes.next(blocks) else { return Ok(ExecuteEnd::Completed) };
            if self.around.stop.is_requested() {
                return Ok(ExecuteEnd::Stopped);
            }
            let case = self.design.cases().case(trial.id.case);
            let case = case.map_or_else(String::new, |case| self.design.cases().case_name(case));
            observer.begun(trial, &case, &self.progress(&outcomes));
            let ended = self.execute_trial(trial, &case)?;
            // The entry comes from the design itself.
            let recorded = outcomes.record(&ended.entry);
            debug_assert!(recorded.is_ok(), "{recorded:?}");
            self.content.ended.push(ended.clone());
            let progress = self.progress(&outcomes);
            observer.ended(&ended, &case, &trial_dir(self.around.dir, trial.id), &progress);
            if ended.entry.outcome == TrialOutcome::Interrupted {
                return Ok(ExecuteEnd::Stopped);
            }
            self.check_failures(&ended)?;
            self.pause();
        }
    }

    fn execute_trial(&mut self, trial: Trial, case_name: &str) -> Result<EndedTrial, ExecuteError> {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let at_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        self.journal.write(&JournalLine::Begun { trial: trial.id, case: case_name.to_owned(), at_ms })?;
        let begun = Instant::now();
        let experiment = self.around.experiment;
        let cases = self.design.cases();
        let Some(case) = cases.case(trial.id.case) else {
            return Ok(JournalFile::interrupted(trial.id));
        };
        let setting = CaseSetting::of(experiment, cases, case, self.around.java_options);
        let mut executed = ActiveTrial::new(self.around, &setting, trial, &mut self.journal).execute()?;
        let mut found = values::Responses::default();
        if executed.outcome == TrialOutcome::Finished {
            let dir = trial_dir(self.around.dir, trial.id);
            found = values::responses(&dir, &experiment.responses, window_s(experiment));
            executed.notes.append(&mut found.reasons);
        }
        let ended = EndedTrial {
            entry: JournalEntry { trial: trial.id, outcome: executed.outcome },
            seconds: begun.elapsed().as_secs_f64(),
            values: found.values,
            quantiles: found.quantiles,
            cause: executed.cause,
            failed_thresholds: executed.failed_thresholds,
            notes: executed.notes,
        };
        self.journal.write(&JournalLine::Ended(ended.clone()))?;
        Ok(ended)
    }

    fn check_failures(&mut self, ended: &EndedTrial) -> Result<(), ExecuteError> {
        let TrialOutcome::Failed { reason } = &ended.entry.outcome else {
            self.failed = 0;
            return Ok(());
        };
        self.failed += 1;
        if self.failed < FAILED_IN_SUCCESSION_MAX {
            return Ok(());
        }
        Err(ExecuteError::Failing {
            count: self.failed,
            trial: ended.entry.trial.to_string(),
            reason: reason.clone(),
            dir: trial_dir(self.around.dir, ended.entry.trial).display().to_string(),
        })
    }

    /// The number of blocks that are planned now.
    fn planned_blocks(&self, outcomes: &Journal<'_>) -> u32 {
        planned_blocks(self.around.experiment, self.design, outcomes, |blocks| {
            let trials = reported_trials(self.around.experiment, self.design, &self.content, self.around.dir);
            let first = self.around.experiment.responses.first()?;
            response_table(self.design, first, &trials, blocks)
        })
    }

    fn progress(&self, outcomes: &Journal<'_>) -> ExperimentProgress {
        let blocks = self.planned_blocks(outcomes);
        let used = self.content.ended.iter().filter(|ended| ended.entry.outcome == TrialOutcome::Finished);
        let pause_s = self.around.experiment.trial_times().pause_s;
        let measured: Vec<f64> = used.map(|ended| ended.seconds + pause_s).collect();
        let cases = u64::from(self.design.cases().count());
        ExperimentProgress {
            open: outcomes.open_count(blocks),
            total: cases * u64::from(blocks) + outcomes.warm_up_count(),
            left: DurationEstimate::left(outcomes, blocks, &measured),
        }
    }

    fn pause(&self) {
        let pause = Duration::from_secs_f64(self.around.experiment.trial_times().pause_s);
        let end = Instant::now() + pause;
        while Instant::now() < end && !self.around.stop.is_requested() {
            std::thread::sleep(crate::process::POLL_INTERVAL);
        }
    }
}
