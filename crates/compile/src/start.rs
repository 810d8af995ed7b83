//! Starting a compiled program: user defined variables are evaluated, names rendered.

use std::sync::Arc;

use busyhour_diagnostic::Diagnostic;
use busyhour_engine::clock::Clock;
use busyhour_engine::program::{Phase, Program};
use busyhour_engine::run::{GroupShared, LogSink, Properties, RunShared};
use busyhour_engine::template::Template;
use busyhour_engine::user::UserState;
use busyhour_engine::variables::Slot;
use busyhour_plan::{Element, Property};
use busyhour_record::{CsvOutput, GroupName, Labels, RunNames};
use busyhour_samplers::AnySampler;

use crate::Compiled;
use crate::backends::BackendListener;
use crate::context::Context;

/// Class of the jmeter-plugins' Variables From CSV File.
pub(crate) const VARIABLES_FROM_CSV: &str = "kg.apc.jmeter.config.VariablesFromCSV";

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

    /// The variables of a file with a name and a value in each line (jmeter-plugins), which is read now.
    pub(crate) fn of_file<'p>(context: &mut Context<'p>, element: Element<'p>) -> Self {
        if context.flag(element, "storeSysProp", false) {
            context.unsupported_setting(
                element,
                "storeSysProp",
                "the variables are not set as system properties",
            );
        }
        let name = context.at_start(element, "filename");
        let separator = context.at_start(element, "delimiter");
        let skip = context.number(element, "skipLines", 0);
        let prefix = context.at_start(element, "variablesPrefix");
        let read = match separator.as_str() {
            "" => Err("the separator is empty".to_owned()),
            _ => std::fs::read(name.trim())
                .map_err(|error| format!("the file {name:?} cannot be read: {error}")),
        };
        match read {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                let pairs = pairs(&text, &separator, usize::try_from(skip).unwrap_or(0));
                let slot = |name: String| context.symbols.slot(&format!("{prefix}{name}"));
                let names = pairs.iter().map(|(name, _)| name.clone()).map(slot).collect::<Vec<_>>();
                Self(
                    names
                        .into_iter()
                        .zip(pairs)
                        .map(|(slot, (_, value))| (slot, Template::literal(&value)))
                        .collect(),
                )
            }
            Err(message) => {
                let finding = Diagnostic::error("missing-file", message);
                context.tell(match element.property("filename") {
                    Some(property) => property.locate(finding),
                    None => element.locate(finding),
                });
                Self::default()
            }
        }
    }

    /// The variables and what the plan says of their values.
    pub(crate) fn templates(&self) -> &[(Slot, Template)] {
        &self.0
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

/// Names and values of lines: what the jmeter-plugins read. A value that begins with a quote goes on until a line ends
/// with one.
fn pairs(text: &str, separator: &str, skip: usize) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in text.lines().skip(skip).filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let (name, rest) = match line.split_once(separator) {
            Some((name, rest)) => (name, Some(rest.split(separator).next().unwrap_or(""))),
            None => (line, None),
        };
        match (rest, &mut open) {
            (None, Some((of, value))) => {
                if let Some(last) = name.strip_suffix('"') {
                    value.push_str(last);
                    all.push((std::mem::take(of), std::mem::take(value)));
                    open = None;
                } else {
                    value.push_str(name);
                    value.push('\n');
                }
            }
            (None, None) => all.push((name.to_owned(), String::new())),
            (Some(value), open) => match value.strip_prefix('"') {
                Some(first) => {
                    let before = open.take().map_or(String::new(), |(_, value)| value);
                    *open = Some((name.to_owned(), format!("{before}{first}\n")));
                }
                None => all.push((name.to_owned(), value.to_owned())),
            },
        }
    }
    all
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
    /// Listeners that send metrics elsewhere.
    pub backends: Vec<BackendListener>,
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
        .zip(&compiled.groups)
        .map(|(label, planned)| {
            let name = label.name.text(&mut user).into_owned();
            let mut group = GroupShared::new(name, label.number, initial.clone());
            group.same_user = planned.same_user;
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
    let backends = compiled.backends.iter().map(|backend| backend.at_start(&mut user)).collect();
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
        backends,
    }
}

#[cfg(test)]
mod tests {
    use super::pairs;

    #[test]
    fn names_and_values_of_a_file() {
        let text = "skipped\n# comment,1\na,1,rest\nb\n\nc,\"one\ntwo\nthree\"\nd,x y\r\n";
        let all = pairs(text, ",", 1);
        let all: Vec<_> = all.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(all, [("a", "1"), ("b", ""), ("c", "one\ntwo\nthree"), ("d", "x y")]);
    }
}
