//! Starts a compiled program: evaluates user defined variables and renders names.

use std::collections::BTreeSet;
use std::sync::Arc;

use busyhour_http::UrlConnections;
use busyhour_program::Program;
use busyhour_program::clock::Clock;
use busyhour_program::group::Phase;
use busyhour_program::run::{GroupShared, JmeterProperties, LogSink, RunShared};
use busyhour_program::user::UserState;
use busyhour_program::variables::Slot;
use busyhour_record::ResultFileConfig;
use busyhour_sample::{GroupName, Labels, RunNames};
use busyhour_samplers::AnySampler;

use crate::compiled::Compiled;
use crate::outputs::{BackendListener, ListenerFile};
use crate::perfmon::{self, PerfMonListener};
use crate::save_settings::base_prefix;
use crate::targets::PlanTarget;

/// A program that is ready to run.
#[derive(Debug)]
pub struct Started {
    /// The program that users run.
    pub program: Arc<Program<AnySampler>>,
    /// The state that users share.
    pub shared: Arc<RunShared>,
    /// The labels that are known so far.
    pub labels: Labels,
    /// Names for the recorder.
    pub names: RunNames,
    /// The listeners' result files.
    pub listeners: Vec<ResultFileConfig>,
    /// The sets of result files, by number.
    pub listener_sets: Vec<Vec<usize>>,
    /// Hosts and ports to which the samplers connect, as far as they are known.
    pub targets: BTreeSet<PlanTarget>,
    /// Listeners that send metrics elsewhere.
    pub backends: Vec<BackendListener>,
    /// Listeners that fetch values from agents.
    pub perfmon: Vec<PerfMonListener>,
}

/// Properties that are also variables of every user.
const PRELOADED: [&str; 4] = ["START.MS", "START.YMD", "START.HMS", "TESTSTART.MS"];

/// Evaluates everything that is evaluated once, at the start of the test.
pub fn start(
    mut compiled: Compiled,
    seed: u64,
    clock: Clock,
    properties: &Arc<JmeterProperties>,
    log: LogSink,
) -> Started {
    let sample_variables: Vec<Slot> =
        compiled.sample_variables.iter().map(|name| compiled.symbols.slot(name)).collect();
    compiled.symbols.slot(busyhour_program::symbols::LAST_SAMPLE_OK);
    let preloaded = PRELOADED.map(|name| compiled.symbols.slot(name));
    let states = compiled.symbols.state_count();
    let evaluates = compiled.symbols.evaluates;
    let names = Arc::new(std::mem::take(&mut compiled.symbols).names);
    let log: Arc<LogSink> = Arc::new(log);
    let run = |groups: Vec<GroupShared>, properties: &Arc<JmeterProperties>| {
        let log = Arc::clone(&log);
        RunShared::new(
            seed,
            clock.clone(),
            Arc::clone(properties),
            Arc::clone(&names),
            groups,
            states,
            Box::new(move |level, line| log(level, line)),
        )
    };
    let of_variables = compiled.properties_before_files.as_ref().unwrap_or(properties);
    let new_user = |properties: &Arc<JmeterProperties>| {
        let group = GroupShared::new(String::new(), 1, Vec::new());
        UserState::new(Arc::new(run(vec![group], properties)), None, 0, 0)
    };
    let mut user = new_user(of_variables);
    let mut initial = initial_variables(&compiled, &preloaded, of_variables, &mut user);
    if !Arc::ptr_eq(of_variables, properties) {
        user = new_user(properties);
        initial.iter().for_each(|(slot, value)| user.variables.set_slot(*slot, value));
        copy_reads(of_variables, properties);
    }
    compiled.at_start.evaluate(&mut user, &mut initial);
    let groups = groups(&compiled, &initial, &mut user);
    let listeners = result_files(&compiled, properties, &mut user);
    let backends = compiled.outputs.backends.iter().map(|backend| backend.at_start(&mut user)).collect();
    let perfmon = perfmon::at_start(&compiled.outputs.perfmon, properties, &compiled.base_dir, &mut user);
    let targets = compiled.targets.at_start(&mut user);
    let names = run_names(&mut compiled, &groups);
    let shared = run(groups, properties);
    busyhour_request::set_url_client(&shared, Arc::new(UrlConnections::new(Arc::clone(&compiled.http))));
    Started {
        program: Arc::new(Program {
            groups: compiled.groups,
            open: compiled.open,
            serialize_groups: compiled.serialize_groups,
            tear_down_on_stop: compiled.tear_down_on_stop,
            evaluates,
            sample_variables,
            shown_details: compiled.outputs.shown_details,
        }),
        shared: Arc::new(shared),
        labels: compiled.labels,
        names,
        listeners,
        listener_sets: compiled.outputs.sets,
        targets,
        backends,
        perfmon,
    }
}

/// Marks properties of the run as read if they were read before the property files were applied.
fn copy_reads(before: &JmeterProperties, properties: &JmeterProperties) {
    for (name, _) in before.all() {
        if before.is_read(&name) {
            properties.with(&name, |_| ());
        }
    }
}

/// The variables that every user has when it starts. They are also set in `user`.
fn initial_variables(
    compiled: &Compiled,
    preloaded: &[Slot],
    properties: &JmeterProperties,
    user: &mut UserState,
) -> Vec<(Slot, Arc<str>)> {
    let mut initial: Vec<(Slot, Arc<str>)> = Vec::new();
    for (slot, name) in preloaded.iter().zip(PRELOADED) {
        if let Some(value) = properties.get(name) {
            user.variables.set_slot(*slot, &value);
            initial.push((*slot, value.into()));
        }
    }
    for set in &compiled.variables {
        for (slot, value) in set.evaluate(user) {
            initial.retain(|(known, _)| *known != slot);
            initial.push((slot, value.into()));
        }
    }
    initial
}

fn groups(compiled: &Compiled, initial: &[(Slot, Arc<str>)], user: &mut UserState) -> Vec<GroupShared> {
    let planned = compiled.group_labels.iter().zip(&compiled.groups);
    planned
        .map(|(label, planned)| {
            let name = label.name.text(user).into_owned();
            let mut group = GroupShared::new(name, label.number, initial.to_vec());
            group.same_user = planned.same_user;
            group.is_divided = planned.phase == Phase::Main;
            group.thread_prefix.push_str(label.thread_suffix);
            group
        })
        .collect()
}

fn result_files(
    compiled: &Compiled,
    properties: &JmeterProperties,
    user: &mut UserState,
) -> Vec<ResultFileConfig> {
    let base_prefix = base_prefix(properties);
    let file = |file: &ListenerFile| ResultFileConfig {
        path: busyhour_processors::resolve_file_name(
            file.path.text(user).trim(),
            &base_prefix,
            &compiled.base_dir,
        )
        .into(),
        config: file.config.clone(),
        filter: file.filter,
    };
    compiled.outputs.files.iter().map(file).collect()
}

fn run_names(compiled: &mut Compiled, groups: &[GroupShared]) -> RunNames {
    RunNames {
        groups: groups
            .iter()
            .map(|group| GroupName { name: group.thread_prefix.clone(), number: group.number })
            .collect(),
        variables: std::mem::take(&mut compiled.sample_variables),
        hostname: std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned(),
        set_up_and_tear_down: (0..)
            .zip(&compiled.groups)
            .filter(|(_, group)| group.phase != Phase::Main)
            .map(|(index, _)| index)
            .collect(),
    }
}
