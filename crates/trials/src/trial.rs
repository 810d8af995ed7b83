//! One trial: starts the system, applies treatments, executes the run, and undoes everything.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use busyhour_analysis::Summary;
use busyhour_experiment::{Experiment, Neighbour, NeighbourWorkload, TreatmentAction, Trial, TrialOutcome};

use crate::arguments::run_arguments;
use crate::collect::FilesBefore;
use crate::control_plan::{ControlAction, ControlTarget, PlannedControl, planned_controls};
use crate::controls::workload_name;
use crate::error::{ExecuteError, TrialError};
use crate::journal_file::{AppliedTreatment, JournalFile, JournalLine};
use crate::machine::Machine;
use crate::neighbour_work::{NeighbourStart, neighbour_log, wait_for_work, work_notes};
use crate::patches;
use crate::process::{Kept, KeptCommand, POLL_INTERVAL, SUCCESS, Waited};
use crate::ready::{ReadyCheck, check_command};
use crate::run_process::{RUN_GRACE, RUN_LOG, RUN_MORE, log_tail, run_limit, run_summary};
use crate::setting::{CaseSetting, words};
use crate::stop::StopRequest;
use crate::trial_files::{SYSTEM_LOG, trial_dir};
use crate::undo::{COMMAND_GRACE, COMMAND_TIMEOUT, undo_command};
use crate::variables::TrialVariables;
use crate::verdict::{failed_requests, failed_thresholds, judge};

/// Time between SIGTERM and SIGKILL for the system under test.
const SYSTEM_GRACE: Duration = Duration::from_secs(10);

/// Time in which a neighbour must start to work.
const NEIGHBOUR_TIMEOUT: Duration = Duration::from_secs(60);

/// Memory that a neighbour of the kind memory allocates without `size`.
const NEIGHBOUR_MEMORY_BYTES: u64 = 1 << 30;

/// The settings that trials have in common.
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
    applied: Vec<AppliedTreatment>,
    patched: Vec<(PathBuf, PathBuf)>,
    controls: Vec<PlannedControl<'t>>,
    machine: Machine,
    /// The files to collect, as they were before the trial.
    before: FilesBefore,
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
            controls: planned_controls(around.experiment, setting),
            machine: Machine::new(around.dir),
            before: FilesBefore::find(&around.experiment.collect, &around.system_dir),
            notes: Vec::new(),
        }
    }

    /// Executes the trial. Everything is undone at its end, even if it failed.
    pub(crate) fn execute(mut self) -> Result<Executed, ExecuteError> {
        std::fs::create_dir_all(&self.dir).map_err(ExecuteError::file(&self.dir))?;
        let attempted = self.attempt();
        let undone = self.undo();
        let attempted = attempted?;
        undone?;
        let outcome = match attempted {
            Ok(summary) => {
                let failed_thresholds = failed_thresholds(&summary);
                let outcome = judge(&summary, self.around.experiment.trials.duration.seconds());
                self.notes.extend(failed_requests(&summary));
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
        for control in self.controls.iter().filter(|control| !control.target.has_processes()) {
            self.machine.apply(control, &[]).map_err(TrialError::Failed)?;
        }
        self.start_system()?;
        self.start_neighbours()?;
        self.run()
    }

    fn kept_command(&self, words: Vec<OsString>, log: &str) -> KeptCommand<'t> {
        KeptCommand {
            busyhour: self.around.busyhour,
            experiment: self.around.dir,
            words,
            environment: self.environment(),
            directory: &self.around.system_dir,
            cores: &[],
            log: self.dir.join(log),
            grace: COMMAND_GRACE,
            lingers: false,
            waits: false,
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

    /// Starts commands under the controls of a target. The controls are applied before the commands start, so that everything that
    /// they start is controlled, too.
    fn start_controlled(
        &mut self,
        target: ControlTarget<'_>,
        what: &str,
        commands: Vec<KeptCommand<'_>>,
    ) -> Result<Vec<Kept>, TrialError> {
        let failed = |error: std::io::Error| Self::failed_start(what, &error);
        let waits = self.controls.iter().any(|control| control.target == target);
        let start = |command: KeptCommand<'_>| KeptCommand { waits, ..command }.start();
        let mut started =
            commands.into_iter().map(start).collect::<std::io::Result<Vec<Kept>>>().map_err(failed)?;
        if waits {
            let processes: Vec<u32> = started.iter().map(Kept::pid).collect();
            for control in self.controls.iter().filter(|control| control.target == target) {
                self.machine.apply(control, &processes).map_err(TrialError::Failed)?;
            }
            started.iter_mut().for_each(Kept::release);
        }
        Ok(started)
    }

    /// Runs a command to its end.
    fn run_command(&self, what: &str, words: Vec<OsString>, lingers: bool) -> Result<Kept, TrialError> {
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
            let applied = AppliedTreatment {
                trial: self.trial.id,
                treatment: treatment.name().to_owned(),
                undo: Some(pair.undo.clone()),
                directory: self.around.system_dir.clone(),
                environment: self.environment().into_iter().collect(),
            };
            self.journal.write(&JournalLine::Applied(applied.clone()))?;
            self.applied.push(applied);
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
            let words = self.in_namespace(words(start));
            let command = KeptCommand { cores, grace: SYSTEM_GRACE, ..self.kept_command(words, SYSTEM_LOG) };
            let started = self.start_controlled(ControlTarget::System, "the system", vec![command])?;
            self.system = started.into_iter().next();
        }
        let Some(check) = check else { return Ok(()) };
        let within = Duration::from_secs_f64(system.ready_within_s());
        let environment = self.environment();
        let log = self.dir.join("ready.log");
        let programs = (self.around.busyhour, self.around.dir);
        let command = check_command(programs, &self.around.system_dir, environment, log);
        check.wait(self.system.as_mut(), within, &command, self.around.stop).map_err(|error| match error {
            TrialError::Failed(reason) => TrialError::Failed(format!("{reason}{}", self.tail(SYSTEM_LOG))),
            TrialError::Stopped => TrialError::Stopped,
        })
    }

    /// The command, started in the network namespace of the trial if there is one.
    fn in_namespace(&self, words: Vec<OsString>) -> Vec<OsString> {
        let namespace = self.controls.iter().find_map(|control| match &control.action {
            ControlAction::Network { namespace, .. } => Some(*namespace),
            ControlAction::Cgroup(_) | ControlAction::Masks(..) => None,
        });
        match namespace {
            Some(name) => {
                ["ip", "netns", "exec", name].map(OsString::from).into_iter().chain(words).collect()
            }
            None => words,
        }
    }

    fn start_neighbours(&mut self) -> Result<(), TrialError> {
        let setting = self.setting;
        for treatment in &setting.treatments {
            let TreatmentAction::Neighbour(neighbour) = &treatment.action else { continue };
            let name = treatment.name();
            let what = format!("the neighbour {name:?}");
            let log = |number: u32| neighbour_log(name, number);
            let commands = (1..=neighbour.count).map(|number| KeptCommand {
                directory: self.around.base_dir,
                ..self.kept_command(self.neighbour_words(neighbour), &log(number))
            });
            let commands: Vec<KeptCommand<'_>> = commands.collect();
            let started = self.start_controlled(ControlTarget::Neighbour(name), &what, commands)?;
            let first = self.neighbours.len();
            self.neighbours.extend(started.into_iter().map(|kept| (name, kept)));
            for number in 1..=neighbour.count {
                let at = first + number as usize - 1;
                self.wait_for_neighbour(at, &what, &log(number))?;
            }
        }
        Ok(())
    }

    fn neighbour_words(&self, neighbour: &Neighbour) -> Vec<OsString> {
        let workload = workload_name(neighbour.workload);
        let mut words: Vec<OsString> = vec![self.around.busyhour.into()];
        words.extend(["lab", "neighbour", workload].map(Into::into));
        match neighbour.workload {
            NeighbourWorkload::Memory => {
                let size = neighbour.size.as_ref().map_or(NEIGHBOUR_MEMORY_BYTES, |size| size.bytes());
                words.extend(["--size".into(), size.to_string().into()]);
            }
            NeighbourWorkload::Disk => words.extend(["--dir".into(), self.dir.clone().into()]),
            NeighbourWorkload::Stream
            | NeighbourWorkload::Cpu
            | NeighbourWorkload::Cache
            | NeighbourWorkload::Network => {}
        }
        let intensity = format!("{:.0}", neighbour.intensity * 100.0);
        words.extend(["--intensity".into(), intensity.into(), "--for".into(), self.neighbour_time().into()]);
        words.push("--json".into());
        if let Some(cores) = &neighbour.cores {
            words.extend(["--cores".into(), String::from(cores.clone()).into()]);
        }
        words
    }

    /// Waits until a neighbour works.
    fn wait_for_neighbour(&mut self, at: usize, what: &str, log: &str) -> Result<(), TrialError> {
        let path = self.dir.join(log);
        let Some((_, kept)) = self.neighbours.get_mut(at) else { return Ok(()) };
        match wait_for_work(kept, &path, NEIGHBOUR_TIMEOUT, self.around.stop) {
            NeighbourStart::Working => Ok(()),
            NeighbourStart::Stopped => Err(TrialError::Stopped),
            NeighbourStart::Ended(status) => {
                Err(TrialError::Failed(format!("{what} ended with {status}{}", self.tail(log))))
            }
            NeighbourStart::TimedOut => Err(TrialError::Failed(format!(
                "{what} did not start to work within {} s; it may need less memory, or more CPU time than its control allows",
                NEIGHBOUR_TIMEOUT.as_secs()
            ))),
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
        let mut words: Vec<OsString> = vec![self.around.busyhour.into()];
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
        let started = self.start_controlled(ControlTarget::Generator, "the run", vec![command])?;
        let Some(mut run) = started.into_iter().next() else {
            return Err(TrialError::Failed("the run was not started".to_owned()));
        };
        let limit = run_limit(experiment.trials.duration.seconds());
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
            None => run_summary(&self.dir, &status).map_err(TrialError::Failed),
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

    /// Undoes everything, in the reverse order.
    fn undo(&mut self) -> Result<(), ExecuteError> {
        self.end_neighbours();
        self.stop_system();
        let patterns = &self.around.experiment.collect;
        if !patterns.is_empty() {
            self.notes.extend(self.before.collect(
                patterns,
                &self.around.system_dir,
                &self.dir.join("collected"),
            ));
        }
        let mut reasons = self.machine.undo();
        let (dir, busyhour) = (self.around.dir, self.around.busyhour);
        // One failure must not prevent the rest.
        let mut add = |undone: Result<Result<(), String>, ExecuteError>| {
            reasons.extend(undone.unwrap_or_else(|error| Err(error.to_string())).err());
        };
        while let Some(applied) = self.applied.pop() {
            add(undo_command(dir, busyhour, &applied, self.journal));
        }
        self.lingering.clear();
        for (file, backup) in std::mem::take(&mut self.patched) {
            add(patches::restore(&file, &backup, (self.journal, self.trial.id)));
        }
        if reasons.is_empty() {
            return Ok(());
        }
        Err(ExecuteError::NotUndone {
            trial: self.trial.id.to_string(),
            reasons: reasons.join("; "),
            log: self.dir.join(SYSTEM_LOG).display().to_string(),
            dir: dir.display().to_string(),
        })
    }

    /// Ends the neighbours, which then write what they did to their logs.
    fn end_neighbours(&mut self) {
        self.neighbours.iter_mut().for_each(|(_, kept)| kept.ask_to_end());
        let mut ended: BTreeMap<&str, u32> = BTreeMap::new();
        for (name, kept) in std::mem::take(&mut self.neighbours) {
            drop(kept);
            let number = ended.entry(name).or_default();
            *number += 1;
            let log = self.dir.join(neighbour_log(name, *number));
            for note in work_notes(name, &log) {
                if !self.notes.contains(&note) {
                    self.notes.push(note);
                }
            }
        }
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
        log_tail(&self.dir, log)
    }
}
