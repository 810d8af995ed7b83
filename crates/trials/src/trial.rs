//! One trial: starts the system, applies treatments, executes the run, and undoes everything.

use std::path::{Path, PathBuf};
use std::time::Duration;

use busyhour_analysis::Summary;
use busyhour_experiment::{
    CommandPair, Experiment, Neighbour, Treatment, TreatmentAction, Trial, TrialId, TrialOutcome,
};
use busyhour_record::RunDir;

use crate::arguments::run_arguments;
use crate::collect::collect;
use crate::controls::workload_name;
use crate::error::{ExecuteError, TrialError};
use crate::journal_file::{JournalFile, JournalLine};
use crate::patches;
use crate::process::{Kept, KeptCommand, POLL_INTERVAL, SUCCESS, Waited};
use crate::ready::{ReadyCheck, check_command};
use crate::setting::{CaseSetting, words};
use crate::stop::StopRequest;
use crate::variables::TrialVariables;
use crate::verdict::{failed_thresholds, judge};

/// Time between SIGTERM and SIGKILL for the system under test.
const SYSTEM_GRACE: Duration = Duration::from_secs(10);

/// Time between SIGTERM and SIGKILL for the run. It finishes its samples, and writes its files.
const RUN_GRACE: Duration = Duration::from_secs(15);

/// Time between SIGTERM and SIGKILL for other commands.
const COMMAND_GRACE: Duration = Duration::from_secs(2);

/// Time that commands other than `start` may take.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(300);

/// Time in which a neighbour must start to work.
const NEIGHBOUR_TIMEOUT: Duration = Duration::from_secs(60);

/// Time that a run may take longer than its load.
const RUN_MORE: Duration = Duration::from_secs(300);

/// Memory that a neighbour of the kind memory allocates.
const NEIGHBOUR_MEMORY: &str = "1g";

/// Number of characters of a log that messages show.
const TAIL_CHARS: usize = 300;

/// The log of the system under test, and of all commands, in the directory of a trial.
pub(crate) const SYSTEM_LOG: &str = "system.log";
pub(crate) const RUN_LOG: &str = "generator.log";

/// What trials have in common.
pub(crate) struct Surroundings<'e> {
    pub(crate) experiment: &'e Experiment,
    /// This program.
    pub(crate) busyhour: &'e Path,
    pub(crate) java_options: Option<&'e str>,
    /// The directory of the file of the experiment.
    pub(crate) base_dir: &'e Path,
    /// The directory of the system under test.
    pub(crate) system_dir: PathBuf,
    /// The directory of the experiment.
    pub(crate) dir: &'e Path,
    pub(crate) stop: &'e StopRequest,
}

/// How a trial ended.
pub(crate) struct Executed {
    pub(crate) outcome: TrialOutcome,
    /// The cause of slow requests that the explanation of the run names.
    pub(crate) cause: Option<String>,
    pub(crate) failed_thresholds: Vec<String>,
    pub(crate) notes: Vec<String>,
}

/// The directory of a trial.
pub(crate) fn trial_dir(dir: &Path, trial: TrialId) -> PathBuf {
    dir.join("trials").join(trial.to_string())
}

/// A trial in execution.
pub(crate) struct ActiveTrial<'t> {
    around: &'t Surroundings<'t>,
    setting: &'t CaseSetting<'t>,
    trial: Trial,
    dir: PathBuf,
    variables: TrialVariables,
    journal: &'t mut JournalFile,
    system: Option<Kept>,
    neighbours: Vec<(&'t str, Kept)>,
    /// Commands whose descendants remain until the end of the trial.
    lingering: Vec<Kept>,
    applied: Vec<(&'t str, &'t CommandPair)>,
    patched: Vec<(PathBuf, PathBuf)>,
    notes: Vec<String>,
}

impl<'t> ActiveTrial<'t> {
    pub(crate) fn new(
        around: &'t Surroundings<'t>,
        setting: &'t CaseSetting<'t>,
        trial: Trial,
        journal: &'t mut JournalFile,
    ) -> ActiveTrial<'t> {
        ActiveTrial {
            around,
            setting,
            trial,
            dir: trial_dir(around.dir, trial.id),
            variables: TrialVariables::default(),
            journal,
            system: None,
            neighbours: Vec::new(),
            lingering: Vec::new(),
            applied: Vec::new(),
            patched: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Executes the trial. Everything is undone at its end, also if it failed.
    pub(crate) fn execute(mut self) -> Result<Executed, ExecuteError> {
        std::fs::create_dir_all(&self.dir).map_err(ExecuteError::file(&self.dir))?;
        let attempted = self.attempt()?;
        self.undo()?;
        let outcome = match attempted {
            Ok(summary) => {
                let failed_thresholds = failed_thresholds(&summary);
                let outcome = judge(&summary, self.around.experiment.trials.duration.seconds());
                let cause = summary.explanation.map(|explanation| explanation.cause.id().to_owned());
                return Ok(Executed { outcome, cause, failed_thresholds, notes: self.notes });
            }
            Err(TrialError::Stopped) => TrialOutcome::Interrupted,
            Err(TrialError::Failed(reason)) => TrialOutcome::Failed { reason },
        };
        Ok(Executed { outcome, cause: None, failed_thresholds: Vec::new(), notes: self.notes })
    }

    fn attempt(&mut self) -> Result<Result<Summary, TrialError>, ExecuteError> {
        let ports = &self.around.experiment.system.ports;
        match TrialVariables::choose(self.around.busyhour, &self.dir, ports) {
            Ok(variables) => self.variables = variables,
            Err(error) => return Ok(Err(error)),
        }
        for result in [Self::patch_files, Self::apply_commands] {
            if let Err(error) = result(self)? {
                return Ok(Err(error));
            }
        }
        Ok(self.start_and_run())
    }

    fn start_and_run(&mut self) -> Result<Summary, TrialError> {
        if let Some(reset) = &self.around.experiment.system.reset {
            let kept = self.run_command("reset", words(reset), true)?;
            self.lingering.push(kept);
        }
        self.start_system()?;
        self.start_neighbours()?;
        self.run()
    }

    fn kept_command(&self, words: Vec<std::ffi::OsString>, log: &str) -> KeptCommand<'t> {
        KeptCommand {
            busyhour: self.around.busyhour,
            words,
            environment: self.environment(),
            directory: &self.around.system_dir,
            cores: &[],
            log: self.dir.join(log),
            grace: COMMAND_GRACE,
            lingers: false,
        }
    }

    /// The environment of commands: the variables of the trial, and those of the case.
    fn environment(&self) -> Vec<(String, String)> {
        let of_case = self.setting.environment.clone();
        self.variables.environment().chain(of_case).collect()
    }

    fn failed_start(what: &str, error: &std::io::Error) -> TrialError {
        TrialError::Failed(format!("{what} cannot be started: {error}"))
    }

    /// Runs a command to its end.
    fn run_command(
        &self,
        what: &str,
        words: Vec<std::ffi::OsString>,
        lingers: bool,
    ) -> Result<Kept, TrialError> {
        let command = KeptCommand { lingers, ..self.kept_command(words, SYSTEM_LOG) };
        let mut kept = command.start().map_err(|error| Self::failed_start(what, &error))?;
        match kept.wait(COMMAND_TIMEOUT, self.around.stop) {
            Waited::Ended(status) if status == SUCCESS => Ok(kept),
            Waited::Ended(status) => Err(TrialError::Failed(format!(
                "the command `{what}` ended with {status}{}",
                self.tail(SYSTEM_LOG)
            ))),
            Waited::TimedOut => Err(TrialError::Failed(format!(
                "the command `{what}` did not end within {} s",
                COMMAND_TIMEOUT.as_secs()
            ))),
            Waited::Stopped => Err(TrialError::Stopped),
        }
    }

    fn patch_files(&mut self) -> Result<Result<(), TrialError>, ExecuteError> {
        for patch in &self.setting.patches {
            let file = self.around.system_dir.join(&patch.file);
            let known =
                self.patched.iter().find(|(patched, _)| *patched == file).map(|(_, backup)| backup.clone());
            let number = self.patched.len();
            let backup = known.clone().unwrap_or_else(|| {
                self.around.dir.join("restore").join(format!("{}-{number}", self.trial.id))
            });
            if known.is_none() {
                self.patched.push((file, backup.clone()));
            }
            let target = (&mut *self.journal, self.trial.id);
            let applied = patches::apply(patch, &self.around.system_dir, &backup, known.is_none(), target)?;
            if applied.is_err() {
                return Ok(applied);
            }
        }
        Ok(Ok(()))
    }

    fn apply_commands(&mut self) -> Result<Result<(), TrialError>, ExecuteError> {
        let setting = self.setting;
        for treatment in &setting.treatments {
            let TreatmentAction::Command(pair) = &treatment.action else { continue };
            // The line precedes the command, so that an interrupted command is undone, too.
            let (trial, name) = (self.trial.id, treatment.name().to_owned());
            self.journal.write(&JournalLine::Applied { trial, treatment: name })?;
            self.applied.push((treatment.name(), pair));
            match self.run_command(&format!("apply of {}", treatment.name()), words(&pair.apply), true) {
                Ok(kept) => self.lingering.push(kept),
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(Ok(()))
    }

    fn start_system(&mut self) -> Result<(), TrialError> {
        let system = &self.around.experiment.system;
        let ready = system.ready.as_ref().map(|ready| self.variables.fill_command(ready));
        let check = ready.as_ref().map(ReadyCheck::of);
        if let Some(start) = &system.start {
            check.as_ref().map_or(Ok(()), ReadyCheck::refuse_taken_port)?;
            let cores = system.cores.as_ref().map_or(&[][..], |list| list.cores());
            let command =
                KeptCommand { cores, grace: SYSTEM_GRACE, ..self.kept_command(words(start), SYSTEM_LOG) };
            let started = command.start().map_err(|error| Self::failed_start("the system", &error))?;
            self.system = Some(started);
        }
        let Some(check) = check else { return Ok(()) };
        let within = Duration::from_secs_f64(system.ready_within_s());
        let environment = self.environment();
        let log = self.dir.join("ready.log");
        let command = check_command(self.around.busyhour, &self.around.system_dir, environment, log);
        check.wait(self.system.as_mut(), within, &command, self.around.stop).map_err(|error| match error {
            TrialError::Failed(reason) => TrialError::Failed(format!("{reason}{}", self.tail(SYSTEM_LOG))),
            TrialError::Stopped => TrialError::Stopped,
        })
    }

    fn start_neighbours(&mut self) -> Result<(), TrialError> {
        let setting = self.setting;
        for treatment in &setting.treatments {
            let TreatmentAction::Neighbour(neighbour) = &treatment.action else { continue };
            for number in 1..=neighbour.count {
                let kept = self.start_neighbour(treatment, neighbour, number)?;
                self.neighbours.push((treatment.name(), kept));
            }
        }
        Ok(())
    }

    /// Starts a neighbour, and waits until it works.
    fn start_neighbour(
        &self,
        treatment: &Treatment,
        neighbour: &Neighbour,
        number: u32,
    ) -> Result<Kept, TrialError> {
        let workload = workload_name(neighbour.workload);
        let mut words: Vec<std::ffi::OsString> = vec![self.around.busyhour.into()];
        words.extend(["lab", "neighbour", workload].map(Into::into));
        match workload {
            "memory" => words.extend(["--size", NEIGHBOUR_MEMORY].map(Into::into)),
            "disk" => words.extend(["--dir".into(), self.dir.clone().into()]),
            _ => {}
        }
        let intensity = format!("{:.0}", neighbour.intensity * 100.0);
        words.extend(["--intensity".into(), intensity.into(), "--for".into(), self.neighbour_time().into()]);
        if let Some(cores) = &neighbour.cores {
            words.extend(["--cores".into(), String::from(cores.clone()).into()]);
        }
        let log = format!("neighbour-{}-{number}.log", file_name(treatment.name()));
        let what = format!("the neighbour {:?}", treatment.name());
        let command = KeptCommand { directory: self.around.base_dir, ..self.kept_command(words, &log) };
        let mut kept = command.start().map_err(|error| Self::failed_start(&what, &error))?;
        let deadline = std::time::Instant::now() + NEIGHBOUR_TIMEOUT;
        // Its first line reports that it begins to work.
        while std::fs::metadata(self.dir.join(&log)).map_or(0, |file| file.len()) == 0 {
            if self.around.stop.is_requested() {
                return Err(TrialError::Stopped);
            }
            if kept.exit().is_some() || std::time::Instant::now() >= deadline {
                break;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        match kept.wait(POLL_INTERVAL, &StopRequest::default()) {
            Waited::Ended(status) => {
                Err(TrialError::Failed(format!("{what} ended with {status}{}", self.tail(&log))))
            }
            Waited::TimedOut | Waited::Stopped => Ok(kept),
        }
    }

    /// The longest time of a neighbour, at most a day.
    fn neighbour_time(&self) -> String {
        let load_s = self.around.experiment.trials.duration.seconds();
        let longest_s = load_s + RUN_MORE.as_secs_f64() + NEIGHBOUR_TIMEOUT.as_secs_f64();
        format!("{}s", longest_s.min(86_400.0).ceil())
    }

    /// Executes the run, while the system and the neighbours must not end.
    fn run(&mut self) -> Result<Summary, TrialError> {
        let experiment = self.around.experiment;
        let mut words: Vec<std::ffi::OsString> = vec![self.around.busyhour.into()];
        let arguments = run_arguments(experiment, self.setting);
        words.extend(arguments.iter().map(|argument| self.variables.fill(argument).into()));
        words.extend(["--quiet".into(), "--seed".into(), self.trial.arrivals_seed.to_string().into()]);
        words.extend(["--dir".into(), self.dir.clone().into()]);
        let command = KeptCommand {
            environment: Vec::new(),
            directory: self.around.base_dir,
            cores: experiment.load.cores.as_ref().map_or(&[][..], |list| list.cores()),
            grace: RUN_GRACE,
            ..self.kept_command(words, RUN_LOG)
        };
        let mut run = command.start().map_err(|error| Self::failed_start("the run", &error))?;
        let limit = Duration::from_secs_f64(2.0 * experiment.trials.duration.seconds()) + RUN_MORE;
        let deadline = std::time::Instant::now() + limit;
        let status = loop {
            if let Some(reason) = self.ended_early() {
                run.end();
                return Err(TrialError::Failed(reason));
            }
            match run.wait(POLL_INTERVAL, self.around.stop) {
                Waited::Ended(status) => break status,
                Waited::Stopped => {
                    run.end();
                    return Err(TrialError::Stopped);
                }
                Waited::TimedOut if std::time::Instant::now() >= deadline => {
                    return Err(TrialError::Failed(format!(
                        "the run did not end within {} s",
                        limit.as_secs()
                    )));
                }
                Waited::TimedOut => {}
            }
        };
        run.end();
        match self.ended_early() {
            Some(reason) => Err(TrialError::Failed(reason)),
            None => self.summary(&status),
        }
    }

    /// Why the trial is not valid: the system or a neighbour has ended.
    fn ended_early(&mut self) -> Option<String> {
        if let Some(status) = self.system.as_mut().and_then(|system| system.exit()) {
            let reason = format!("the system ended during the trial with {status}");
            return Some(format!("{reason}{}", self.tail(SYSTEM_LOG)));
        }
        self.neighbours.iter_mut().find_map(|(name, kept)| {
            kept.exit().map(|status| format!("the neighbour {name:?} ended during the trial with {status}"))
        })
    }

    /// The summary of the run, if its exit code allows one. A failed threshold does not invalidate a trial.
    fn summary(&self, status: &str) -> Result<Summary, TrialError> {
        if !matches!(status, SUCCESS | "exit code 4" | "exit code 5" | "exit code 6" | "exit code 7") {
            return Err(TrialError::Failed(format!("the run ended with {status}{}", self.tail(RUN_LOG))));
        }
        let path = RunDir::open(&self.dir).summary_path();
        let unreadable = |error: &dyn std::fmt::Display| {
            TrialError::Failed(format!("{} cannot be read: {error}", path.display()))
        };
        let text = std::fs::read_to_string(&path).map_err(|error| unreadable(&error))?;
        Summary::from_json(&text).map_err(|error| unreadable(&error))
    }

    /// Undoes everything, in the reverse order.
    fn undo(&mut self) -> Result<(), ExecuteError> {
        self.neighbours.iter_mut().for_each(|(_, kept)| kept.ask_to_end());
        self.neighbours.clear();
        self.stop_system();
        let patterns = &self.around.experiment.collect;
        if !patterns.is_empty() {
            self.notes.extend(collect(patterns, &self.around.system_dir, &self.dir.join("collected")));
        }
        while let Some((name, pair)) = self.applied.pop() {
            undo_command(self.around, (name, pair), self.trial.id, self.journal)?;
        }
        self.lingering.clear();
        for (file, backup) in std::mem::take(&mut self.patched) {
            let log = self.dir.join(SYSTEM_LOG);
            patches::restore(&file, &backup, log, (self.journal, self.trial.id))?;
        }
        Ok(())
    }

    fn stop_system(&mut self) {
        let Some(mut system) = self.system.take() else { return };
        if let Some(stop) = &self.around.experiment.system.stop {
            let stopped = {
                let command = self.kept_command(words(stop), SYSTEM_LOG);
                let never = StopRequest::default();
                command.start().map(|mut kept| kept.wait(COMMAND_TIMEOUT, &never))
            };
            match stopped {
                Ok(Waited::Ended(status)) if status == SUCCESS => {
                    system.wait(SYSTEM_GRACE, &StopRequest::default());
                }
                Ok(waited) => self.notes.push(format!("the command `stop` failed: {waited:?}")),
                Err(error) => self.notes.push(format!("the command `stop` failed: {error}")),
            }
        }
        let left = system.end();
        if left > 0 {
            self.notes.push(format!("{left} processes that the system left behind were ended"));
        }
    }

    /// The end of a log, for a message.
    fn tail(&self, log: &str) -> String {
        let text = std::fs::read(self.dir.join(log)).unwrap_or_default();
        let end = &text[text.len().saturating_sub(4 * TAIL_CHARS)..];
        let end = String::from_utf8_lossy(end);
        let lines: Vec<&str> = end.lines().rev().filter(|line| !line.trim().is_empty()).take(3).collect();
        let shown: Vec<&str> = lines.into_iter().rev().collect();
        let shown: String = shown.join(" | ").chars().take(TAIL_CHARS).collect();
        let shown = if shown.is_empty() { "empty".to_owned() } else { shown };
        format!("; {log}: {shown}")
    }
}

/// Undoes a treatment of the kind command.
pub(crate) fn undo_command(
    around: &Surroundings<'_>,
    (name, pair): (&str, &CommandPair),
    trial: TrialId,
    journal: &mut JournalFile,
) -> Result<(), ExecuteError> {
    let dir = trial_dir(around.dir, trial);
    std::fs::create_dir_all(&dir).map_err(ExecuteError::file(&dir))?;
    let log = dir.join(SYSTEM_LOG);
    let command = KeptCommand {
        busyhour: around.busyhour,
        words: words(&pair.undo),
        environment: around.experiment.system.environment.clone().into_iter().collect(),
        directory: &around.system_dir,
        cores: &[],
        log: log.clone(),
        grace: COMMAND_GRACE,
        lingers: false,
    };
    // A stop request does not prevent the restoration.
    let waited = command.start().map(|mut kept| kept.wait(COMMAND_TIMEOUT, &StopRequest::default()));
    let reason = match waited {
        Ok(Waited::Ended(status)) if status == SUCCESS => {
            return journal.write(&JournalLine::Undone { trial, treatment: name.to_owned() });
        }
        Ok(Waited::Ended(status)) => format!("its command ended with {status}"),
        Ok(Waited::TimedOut | Waited::Stopped) => {
            format!("its command did not end within {} s", COMMAND_TIMEOUT.as_secs())
        }
        Err(error) => error.to_string(),
    };
    Err(ExecuteError::NotUndone {
        what: format!("the treatment {name:?}"),
        trial: trial.to_string(),
        reason,
        log: log.display().to_string(),
    })
}

/// A name with characters that are safe in file names.
fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect()
}
