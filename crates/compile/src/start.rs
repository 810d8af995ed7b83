//! Starting a compiled program: user defined variables are evaluated, names rendered.

use std::sync::Arc;

use busyhour_engine::clock::Clock;
use busyhour_engine::program::{Phase, Program};
use busyhour_engine::run::{GroupShared, LogSink, Properties, RunShared};
use busyhour_engine::template::Template;
use busyhour_engine::user::UserState;
use busyhour_engine::variables::Slot;
use busyhour_plan::Property;
use busyhour_record::{CsvOutput, GroupName, Labels, RunNames};
use busyhour_samplers::AnySampler;

use crate::Compiled;
use crate::context::Context;

/// The variables of one element; they do not see one another.
#[derive(Clone, Debug, Default)]
pub(crate) struct VariableSet(Vec<(Slot, Template)>);

impl VariableSet {
    /// The variables of an inner element `Arguments`.
    pub(crate) fn of_property<'p>(context: &mut Context<'p>, property: Property<'p>) -> Option<Self> {
        Some(Self::of_list(context, property.property("Arguments.arguments")?))
    }

    /// The variables of a list of arguments.
    pub(crate) fn of_list<'p>(context: &mut Context<'p>, list: Property<'p>) -> Self {
        let mut set = Vec::new();
        for item in list.items() {
            let name = item.item_text("Argument.name").unwrap_or_else(|| item.name());
            let name = if name.contains("${") { context.now(name) } else { name.to_owned() };
            if name.is_empty() {
                continue;
            }
            let value = context.item(item, "Argument.value");
            set.push((context.symbols.slot(&name), value));
        }
        Self(set)
    }

    /// Gives a user these variables; returns their values.
    pub(crate) fn evaluate(&self, user: &mut UserState) -> Vec<(Slot, String)> {
        let values: Vec<_> =
            self.0.iter().map(|(slot, value)| (*slot, value.text(user).into_owned())).collect();
        for (slot, value) in &values {
            user.variables.set_slot(*slot, value);
        }
        values
    }
}

/// A program ready to run.
#[derive(Debug)]
pub struct Started {
    /// What users walk.
    pub program: Arc<Program<AnySampler>>,
    /// What they share.
    pub shared: Arc<RunShared>,
    /// Labels known so far.
    pub labels: Labels,
    /// Names for the recorder.
    pub names: RunNames,
    /// The listeners' result files.
    pub listeners: Vec<CsvOutput>,
    /// Sets of them, by number.
    pub listener_sets: Vec<Vec<usize>>,
}

/// Properties that every user finds among its variables, too.
const PRELOADED: [&str; 4] = ["START.MS", "START.YMD", "START.HMS", "TESTSTART.MS"];

/// Evaluates what is evaluated once, at the start of the test.
pub fn start(
    compiled: Compiled,
    seed: u64,
    clock: Clock,
    properties: &Arc<Properties>,
    log: LogSink,
) -> Started {
    let Compiled { mut symbols, .. } = compiled;
    let sample_variables: Vec<Slot> =
        compiled.sample_variables.iter().map(|name| symbols.slot(name)).collect();
    symbols.slot(busyhour_engine::control::LAST_SAMPLE_OK);
    let preloaded = PRELOADED.map(|name| symbols.slot(name));
    let states = symbols.state_count();
    let names = Arc::new(symbols.names);
    let log: Arc<LogSink> = Arc::new(log);
    let early_log = Arc::clone(&log);
    let early = RunShared::new(
        seed,
        clock.clone(),
        Arc::clone(properties),
        Arc::clone(&names),
        vec![GroupShared::new(String::new(), 1, Vec::new())],
        states,
        Box::new(move |level, line| early_log(level, line)),
    );
    let mut user = UserState::new(Arc::new(early), None, 0, 0);
    let mut initial: Vec<(Slot, Arc<str>)> = Vec::new();
    for (slot, name) in preloaded.into_iter().zip(PRELOADED) {
        if let Some(value) = properties.get(name) {
            user.variables.set_slot(slot, &value);
            initial.push((slot, value.into()));
        }
    }
    for set in &compiled.variables {
        for (slot, value) in set.evaluate(&mut user) {
            initial.retain(|(known, _)| *known != slot);
            initial.push((slot, value.into()));
        }
    }
    let groups: Vec<_> = compiled
        .group_labels
        .iter()
        .map(|label| {
            let name = label.name.text(&mut user).into_owned();
            let mut group = GroupShared::new(name, label.number, initial.clone());
            group.thread_prefix.push_str(label.thread_suffix);
            group
        })
        .collect();
    let base_prefix = crate::listeners::base_prefix(properties);
    let listeners = compiled
        .listeners
        .iter()
        .map(|file| CsvOutput {
            path: busyhour_processors::resolved(
                file.path.text(&mut user).trim(),
                &base_prefix,
                &compiled.base_dir,
            )
            .into(),
            config: file.config.clone(),
            which: file.which,
        })
        .collect();
    let run_names = RunNames {
        groups: groups
            .iter()
            .map(|group| GroupName { name: group.thread_prefix.clone(), number: group.number })
            .collect(),
        variables: compiled.sample_variables,
        hostname: std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned(),
        set_up_and_tear_down: (0..)
            .zip(&compiled.groups)
            .filter(|(_, group)| group.phase != Phase::Main)
            .map(|(index, _)| index)
            .collect(),
    };
    let program = Program {
        groups: compiled.groups,
        open: compiled.open,
        serialize_groups: compiled.serialize_groups,
        tear_down_on_stop: compiled.tear_down_on_stop,
        sample_variables,
        detail_wishes: compiled.detail_wishes,
    };
    let shared = RunShared::new(
        seed,
        clock,
        Arc::clone(properties),
        names,
        groups,
        states,
        Box::new(move |level, line| log(level, line)),
    );
    Started {
        program: Arc::new(program),
        shared: Arc::new(shared),
        labels: compiled.labels,
        names: run_names,
        listeners,
        listener_sets: compiled.listener_sets,
    }
}
