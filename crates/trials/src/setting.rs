//! Everything that the levels of a case set, merged with the settings of the experiment.

use std::collections::BTreeMap;
use std::ffi::OsString;

use busyhour_experiment::{Case, CaseSet, Command, Experiment, FilePatch, Treatment, TreatmentAction};

/// The environment variable that every Java virtual machine reads.
pub const JAVA_OPTIONS: &str = "JAVA_TOOL_OPTIONS";

/// The settings of a case.
#[derive(Debug, Clone)]
pub struct CaseSetting<'e> {
    /// Number of users.
    pub users: Option<u64>,
    /// Arrivals.
    pub schedule: Option<&'e str>,
    /// Properties of the plan.
    pub properties: BTreeMap<&'e str, &'e str>,
    /// Options of `busyhour run`.
    pub options: Vec<&'e str>,
    /// Environment of the commands of the system under test.
    pub environment: BTreeMap<String, String>,
    /// Changes of files.
    pub patches: Vec<&'e FilePatch>,
    /// Treatments, in the order of the file.
    pub treatments: Vec<&'e Treatment>,
}

impl<'e> CaseSetting<'e> {
    /// The settings of a case of the experiment. `java_options` are those for all Java virtual machines.
    #[must_use]
    pub fn of(
        experiment: &'e Experiment,
        cases: &CaseSet,
        case: &Case,
        java_options: Option<&str>,
    ) -> CaseSetting<'e> {
        let load = &experiment.load;
        let mut setting = CaseSetting {
            users: None,
            schedule: load.schedule.as_deref(),
            properties: pairs(&load.properties),
            options: load.options.iter().map(String::as_str).collect(),
            environment: experiment.system.environment.clone(),
            patches: Vec::new(),
            treatments: Vec::new(),
        };
        let mut jvm_options: Vec<&str> = Vec::new();
        let mut names: Vec<&str> = Vec::new();
        // The users that a level sets.
        let mut users = None;
        for (at, factor) in experiment.factors.iter().enumerate() {
            let Some(level) = factor.levels.get(cases.level(case, at)) else { continue };
            users = level.users.or(users);
            setting.schedule = level.schedule.as_deref().or(setting.schedule);
            setting.properties.extend(pairs(&level.properties));
            setting.options.extend(level.options.iter().map(String::as_str));
            setting.environment.extend(level.environment.clone());
            jvm_options.extend(level.jvm_options.iter().map(String::as_str));
            setting.patches.extend(&level.patches);
            names.extend(level.treatments.iter().map(String::as_str));
        }
        // A level with a schedule replaces the users of a closed load.
        let is_replaced = setting.schedule.is_some() && load.schedule.is_none();
        setting.users = users.or(load.users.filter(|_| !is_replaced));
        setting.treatments =
            experiment.treatments.iter().filter(|treatment| names.contains(&treatment.name())).collect();
        for treatment in &setting.treatments {
            if let TreatmentAction::Restart(restart) = &treatment.action {
                setting.environment.extend(restart.environment.clone());
                jvm_options.extend(restart.jvm_options.iter().map(String::as_str));
            }
        }
        if !jvm_options.is_empty() {
            let given =
                setting.environment.get(JAVA_OPTIONS).cloned().or_else(|| java_options.map(str::to_owned));
            let all: Vec<&str> = given.iter().map(String::as_str).chain(jvm_options).collect();
            setting.environment.insert(JAVA_OPTIONS.to_owned(), all.join(" "));
        }
        setting
    }
}

fn pairs(map: &BTreeMap<String, String>) -> BTreeMap<&str, &str> {
    map.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

/// The words of a command.
pub(crate) fn words(command: &Command) -> Vec<OsString> {
    match command {
        Command::Shell(text) => ["sh", "-c", text].map(OsString::from).to_vec(),
        Command::Program(words) => words.iter().map(OsString::from).collect(),
    }
}
