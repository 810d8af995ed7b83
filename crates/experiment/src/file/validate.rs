//! Checks an experiment as a whole.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use busyhour_diagnostic::nearest_name;

use super::check_recovery::check_recovery;
use super::combinations::check_combinations;
use super::experiment::Experiment;
use super::factor::{FilePatch, SettingKey};
use super::finding::{Finding, Step};
use super::shorten::check_short;
use super::treatment::{AllocationProgram, Treatment, TreatmentAction};
use super::trial_plan::Repetitions;
use crate::design::{CasesError, DesignError, DurationEstimate, TRIALS_MAX, TrialOrder};

/// Largest number of characters of a name.
const NAME_CHARS_MAX: usize = 60;

/// Largest number of ports.
const PORTS_MAX: usize = 64;

/// Largest number of repetitions.
const REPETITIONS_MAX: u32 = 1_000;

/// Largest number of warm-up trials and of attempts.
const WARM_UP_MAX: u32 = 1_000;
const ATTEMPTS_MAX: u32 = 100;

/// Largest time of load of a trial: a week.
const LOAD_SECONDS_MAX: f64 = 7.0 * 86_400.0;

/// Minimum number of blocks for which random orders protect from a drift.
const RANDOM_BLOCKS_MIN: u32 = 6;

/// Maximum number of names that are searched for a similar one.
const NEAREST_AMONG_MAX: usize = 1_000;

/// Everything that is wrong, or probably wrong, with an experiment.
pub(super) fn findings(experiment: &Experiment) -> Vec<Finding<'_>> {
    let mut found = Vec::new();
    if experiment.version != 1 {
        let message = format!("the version {} is not supported; the version is 1", experiment.version);
        found.push(Finding::error([Step::Key("version")], message));
    }
    check_system(experiment, &mut found);
    check_ports(experiment, &mut found);
    check_load(experiment, &mut found);
    check_trials(experiment, &mut found);
    check_names(experiment, &mut found);
    check_base_levels(experiment, &mut found);
    check_treatments(experiment, &mut found);
    check_targets(experiment, &mut found);
    check_combinations(experiment, &mut found);
    check_patches(experiment, &mut found);
    check_settings(experiment, &mut found);
    check_texts(experiment, &mut found);
    check_short(experiment, &mut found);
    if !found.iter().any(Finding::is_error) {
        check_design(experiment, &mut found);
        check_recovery(experiment, &mut found);
    }
    found
}

fn key(name: &str) -> Step<'_> {
    Step::Key(name)
}

fn level_path<'p>(factor: usize, level: usize, last: &'p str) -> Vec<Step<'p>> {
    vec![key("factor"), Step::Element(factor), key("level"), Step::Element(level), key(last)]
}

fn check_system<'e>(experiment: &'e Experiment, found: &mut Vec<Finding<'e>>) {
    let system = &experiment.system;
    let commands = [
        ("start", &system.start),
        ("ready", &system.ready),
        ("stop", &system.stop),
        ("reset", &system.reset),
    ];
    for (name, command) in commands {
        if command.as_ref().is_some_and(super::system::Command::is_empty) {
            let message = format!("the command `{name}` is empty");
            found.push(
                Finding::error([key("system"), key(name)], message)
                    .hint("omit the key if there is no command"),
            );
        }
    }
    if system.start.is_some() && system.ready.is_none() {
        let message = "the system is started, but nothing determines when it is ready";
        found.push(
            Finding::error([key("system"), key("start")], message).hint(
                "add `ready` with a URL, such as ready = \"http://127.0.0.1:8080/\", or with a command",
            ),
        );
    }
    if system.start.is_none() && system.stop.is_some() {
        let message = "the system is stopped after each trial, but there is no command that starts it";
        found.push(Finding::error([key("system"), key("stop")], message).hint("add `start`"));
    }
}

fn check_ports<'e>(experiment: &'e Experiment, found: &mut Vec<Finding<'e>>) {
    let ports = &experiment.system.ports;
    let path = |at| [key("system"), key("ports"), Step::Element(at)];
    let is_name = |name: &String| {
        let mut bytes = name.bytes();
        bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
            && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    if let Some(at) = ports.iter().position(|name| !is_name(name)) {
        let message = format!("{} is not the name of an environment variable", shown(&ports[at]));
        found.push(Finding::error(path(at), message).hint("use letters, digits and _, such as PORT"));
    }
    if let Some(at) = repeated(ports.iter()) {
        found.push(Finding::error(path(at), format!("the port {} is repeated", shown(&ports[at]))));
    }
    if ports.len() > PORTS_MAX {
        let message = format!("{} ports are more than the limit of {PORTS_MAX}", ports.len());
        found.push(Finding::error(path(PORTS_MAX), message));
    }
}

fn check_load<'e>(experiment: &'e Experiment, found: &mut Vec<Finding<'e>>) {
    let load = &experiment.load;
    match (&load.plan, &load.url) {
        (Some(_), Some(_)) => found.push(
            Finding::error([key("load"), key("url")], "the load has a plan and a URL")
                .hint("give only one of them"),
        ),
        (None, None) => found.push(
            Finding::error([key("load")], "the load has neither a plan nor a URL")
                .hint("add plan = \"plan.jmx\" or url = \"http://…\""),
        ),
        _ => {}
    }
    if load.users == Some(0) {
        found.push(Finding::error([key("load"), key("users")], "the load has no users"));
    }
    for (at, factor) in experiment.factors.iter().enumerate() {
        for (level_at, level) in factor.levels.iter().enumerate() {
            if level.users == Some(0) {
                let message = format!("the level {:?} has no users", level.name);
                found.push(Finding::error(level_path(at, level_at, "users"), message));
            }
        }
    }
}

fn check_trials<'e>(experiment: &'e Experiment, found: &mut Vec<Finding<'e>>) {
    let trials = &experiment.trials;
    let mut wrong = |name: &'static str, message: String| {
        found.push(Finding::error([key("trials"), key(name)], message));
    };
    let load_s = trials.duration.seconds();
    if load_s <= 0.0 || load_s > LOAD_SECONDS_MAX {
        wrong("duration", "the duration of a trial must be above 0 and at most a week".to_owned());
    }
    if trials.ramp_up.as_ref().is_some_and(|ramp_up| ramp_up.seconds() >= load_s) {
        wrong("ramp-up", "the ramp-up is not shorter than the duration of a trial".to_owned());
    }
    if trials.warm_up > WARM_UP_MAX {
        wrong("warm-up", format!("there may be at most {WARM_UP_MAX} warm-up trials"));
    }
    if !(1..=ATTEMPTS_MAX).contains(&trials.attempts) {
        wrong("attempts", format!("the number of attempts must be from 1 to {ATTEMPTS_MAX}"));
    }
    if trials.until.is_some() && trials.repetitions.is_some() {
        wrong("until", "`until` and `repetitions` exclude each other; with `until`, give `max`".to_owned());
    }
    if trials.until.is_none() {
        for (name, given) in [("min", trials.min), ("max", trials.max)] {
            if given.is_some() {
                wrong(name, format!("`{name}` is valid with `until` only; give `repetitions` instead"));
            }
        }
    }
    match trials.repetitions() {
        Repetitions::Fixed(repetitions) if !(2..=REPETITIONS_MAX).contains(&repetitions) => {
            wrong("repetitions", format!("the number of repetitions must be from 2 to {REPETITIONS_MAX}"));
        }
        Repetitions::Fixed(_) => {}
        Repetitions::Until { half_width, min, max } => {
            if half_width < 0.001 {
                wrong("until", "the interval must be allowed to have at least 0.1%".to_owned());
            }
            if !(2..=REPETITIONS_MAX).contains(&min) {
                wrong("min", format!("the number of repetitions must be from 2 to {REPETITIONS_MAX}"));
            }
            if max < min || max > REPETITIONS_MAX {
                wrong("max", format!("`max` must be from {min} (`min`) to {REPETITIONS_MAX}"));
            }
            if trials.order == TrialOrder::Sequential {
                wrong("order", "`until` needs complete blocks; use the order \"mirrored\"".to_owned());
            }
        }
    }
    check_few_blocks(experiment, found);
    if experiment.limits.trials.is_some_and(|limit| limit == 0 || limit > TRIALS_MAX) {
        let message = format!("the limit of trials must be from 1 to {TRIALS_MAX}");
        found.push(Finding::error([key("limits"), key("trials")], message));
    }
}

/// With few blocks, all random orders may agree by chance.
fn check_few_blocks<'e>(experiment: &'e Experiment, found: &mut Vec<Finding<'e>>) {
    let (name, blocks) = match experiment.trials.repetitions() {
        Repetitions::Fixed(repetitions) => ("repetitions", repetitions),
        Repetitions::Until { min, .. } => ("min", min),
    };
    if experiment.trials.order == TrialOrder::Interleaved && (2..RANDOM_BLOCKS_MIN).contains(&blocks) {
        let message = format!("with {blocks} blocks, a drift of the machine may look like an effect");
        found.push(
            Finding::warning([key("trials"), key(name)], message)
                .cause("the random orders of all blocks may be the same by chance")
                .hint(format!("use order = \"mirrored\", or at least {RANDOM_BLOCKS_MIN} repetitions")),
        );
    }
}

/// The problem of a name, if any. Names are parts of identifiers, tables and names of files.
fn name_problem(name: &str) -> Option<&'static str> {
    let is_allowed = |c: char| c.is_alphanumeric() || " -_.+%/:".contains(c);
    if name.is_empty() || name.trim() != name {
        Some("is empty, or begins or ends with a space")
    } else if name.chars().count() > NAME_CHARS_MAX {
        Some("has more than 60 characters")
    } else if !name.chars().all(is_allowed) {
        Some("contains a character that is not a letter, a digit, a space or one of - _ . + % / :")
    } else {
        None
    }
}

fn shown(name: &str) -> String {
    match name.char_indices().nth(NAME_CHARS_MAX) {
        Some((end, _)) => format!("{:?}…", &name[..end]),
        None => format!("{name:?}"),
    }
}

fn check_names<'e>(experiment: &'e Experiment, found: &mut Vec<Finding<'e>>) {
    let mut factors = HashSet::new();
    for (at, factor) in experiment.factors.iter().enumerate() {
        let path = || [key("factor"), Step::Element(at), key("name")];
        check_name("factor", &factor.name, &mut factors, path(), found);
        let mut levels = HashSet::new();
        for (level_at, level) in factor.levels.iter().enumerate() {
            check_name("level", &level.name, &mut levels, level_path(at, level_at, "name"), found);
        }
    }
    let mut treatments = HashSet::new();
    for (at, treatment) in experiment.treatments.iter().enumerate() {
        let path = [key("treatment"), Step::Element(at), key("name")];
        check_name("treatment", treatment.name(), &mut treatments, path, found);
    }
}

fn check_name<'e>(
    what: &str,
    name: &'e str,
    known: &mut HashSet<&'e str>,
    path: impl Into<Vec<Step<'e>>>,
    found: &mut Vec<Finding<'e>>,
) {
    if let Some(problem) = name_problem(name) {
        found.push(Finding::error(path, format!("the name {} of a {what} {problem}", shown(name))));
    } else if !known.insert(name) {
        found.push(Finding::error(path, format!("the name {name:?} belongs to more than one {what}")));
    }
}

fn check_base_levels<'e>(experiment: &'e Experiment, found: &mut Vec<Finding<'e>>) {
    for (at, factor) in experiment.factors.iter().enumerate() {
        let Some(base) = factor.base.as_deref().filter(|_| factor.base_index().is_none()) else { continue };
        let message = format!("the factor {} has no level {}", shown(&factor.name), shown(base));
        let mut finding = Finding::error([key("factor"), Step::Element(at), key("base")], message);
        let names = factor.levels.iter().take(NEAREST_AMONG_MAX).map(|level| level.name.as_str());
        if let Some(near) = nearest_name(base, names) {
            finding = finding.hint(format!("did you mean {near:?}?"));
        }
        found.push(finding);
    }
}

fn check_treatments<'e>(experiment: &'e Experiment, found: &mut Vec<Finding<'e>>) {
    let names = || experiment.treatments.iter().map(Treatment::name);
    let known: HashSet<&str> = names().collect();
    let mut used = HashSet::new();
    for (at, factor) in experiment.factors.iter().enumerate() {
        for (level_at, level) in factor.levels.iter().enumerate() {
            for (treatment_at, treatment) in level.treatments.iter().enumerate() {
                if known.contains(treatment.as_str()) {
                    used.insert(treatment.as_str());
                    continue;
                }
                let mut path = level_path(at, level_at, "treatments");
                path.push(Step::Element(treatment_at));
                let finding = Finding::error(path, format!("there is no treatment {}", shown(treatment)));
                found.push(match nearest_name(treatment, names().take(NEAREST_AMONG_MAX)) {
                    Some(near) => finding.hint(format!("did you mean {near:?}?")),
                    None => finding.hint(format!("add a [[treatment]] with name = {}", shown(treatment))),
                });
            }
        }
    }
    for (at, name) in names().enumerate().filter(|(_, name)| !used.contains(name)) {
        let message = format!("no level uses the treatment {}", shown(name));
        found.push(
            Finding::warning([key("treatment"), Step::Element(at), key("name")], message)
                .hint("name it in `treatments` of a level"),
        );
    }
}

/// The names for the system under test and the generator as targets.
const RESERVED: [&str; 2] = ["system", "generator"];

/// A target is the system, the generator, a neighbour, or an absolute path; that of `xl` is the name of a Xen domain.
fn check_targets<'e>(experiment: &'e Experiment, found: &mut Vec<Finding<'e>>) {
    let is_neighbour = |treatment: &&Treatment| matches!(treatment.action, TreatmentAction::Neighbour(_));
    let neighbours: HashSet<&str> =
        experiment.treatments.iter().filter(is_neighbour).map(Treatment::name).collect();
    for (at, treatment) in experiment.treatments.iter().enumerate() {
        if RESERVED.contains(&treatment.name()) {
            let message =
                format!("the name {} of a treatment is reserved for a target", shown(treatment.name()));
            found.push(Finding::error([key("treatment"), Step::Element(at), key("name")], message));
        }
        let Some(target) = treatment.action.target() else { continue };
        let is_xen = matches!(&treatment.action, TreatmentAction::Masks(masks) if masks.through == AllocationProgram::Xl);
        if is_xen || RESERVED.contains(&target) || target.starts_with('/') || neighbours.contains(target) {
            continue;
        }
        let message = format!("there is no neighbour {}", shown(target));
        let path = [key("treatment"), Step::Element(at), key("target")];
        let known = neighbours.iter().copied().take(NEAREST_AMONG_MAX).chain(RESERVED);
        let near = nearest_name(target, known).map(|near| format!("did you mean {near:?}? "));
        found.push(Finding::error(path, message).hint(format!(
            "{}a target is \"system\", \"generator\", the name of a treatment of the kind neighbour, or an absolute path",
            near.unwrap_or_default()
        )));
    }
}

/// The problem of a change of a file, if any.
fn patch_problem(patch: &FilePatch) -> Option<&'static str> {
    match (&patch.find, &patch.replace, &patch.with) {
        _ if patch.file.trim().is_empty() => Some("has no file"),
        (Some(find), Some(_), None) if find.is_empty() => Some("searches an empty text"),
        (Some(find), Some(replace), None) if find == replace => Some("replaces a text by itself"),
        (Some(_), Some(_), None) => None,
        (None, None, Some(with)) if with.trim().is_empty() => {
            Some("has no file `with` which it replaces the file")
        }
        (None, None, Some(_)) => None,
        _ => Some("needs either `find` and `replace`, or `with`"),
    }
}

fn check_patches<'e>(experiment: &'e Experiment, found: &mut Vec<Finding<'e>>) {
    for (at, factor) in experiment.factors.iter().enumerate() {
        for (level_at, level) in factor.levels.iter().enumerate() {
            for (patch_at, patch) in level.patches.iter().enumerate() {
                if let Some(problem) = patch_problem(patch) {
                    let mut path = level_path(at, level_at, "patch");
                    path.push(Step::Element(patch_at));
                    found
                        .push(Finding::error(path, format!("the patch of {} {problem}", shown(&patch.file))));
                }
            }
        }
    }
}

/// If two factors set the same thing, their effects cannot be distinguished. Equal levels have no effect.
fn check_settings<'e>(experiment: &'e Experiment, found: &mut Vec<Finding<'e>>) {
    let mut owners: HashMap<SettingKey<'e>, usize> = HashMap::new();
    for (at, factor) in experiment.factors.iter().enumerate() {
        for (level_at, level) in factor.levels.iter().enumerate() {
            for (name, setting) in level.setting_keys() {
                let owner = *owners.entry(setting).or_insert(at);
                if owner != at {
                    let other = shown(&experiment.factors[owner].name);
                    let message = format!(
                        "the factors {other} and {} both set {}",
                        shown(&factor.name),
                        setting.describe()
                    );
                    found.push(
                        Finding::error(level_path(at, level_at, name), message)
                            .cause("the effects of the two factors could not be distinguished")
                            .hint("let only one factor set it"),
                    );
                }
            }
        }
        check_equal_levels(at, factor, found);
    }
}

fn check_equal_levels<'e>(at: usize, factor: &'e super::factor::Factor, found: &mut Vec<Finding<'e>>) {
    for (level_at, pair) in factor.levels.windows(2).enumerate() {
        if pair[0].sets_the_same_as(&pair[1]) {
            let message =
                format!("the levels {} and {} set the same", shown(&pair[0].name), shown(&pair[1].name));
            found.push(
                Finding::warning(level_path(at, level_at + 1, "name"), message)
                    .hint("such a factor has no effect; it is useful only to test the procedure itself"),
            );
        }
    }
}

fn check_texts<'e>(experiment: &'e Experiment, found: &mut Vec<Finding<'e>>) {
    let lists = [
        ("observe", &experiment.observe),
        ("collect", &experiment.collect),
        ("thresholds", &experiment.thresholds),
    ];
    for (name, list) in lists {
        if let Some(at) = list.iter().position(|text| text.trim().is_empty()) {
            found.push(Finding::error(
                [key(name), Step::Element(at)],
                format!("an element of `{name}` is empty"),
            ));
        }
    }
    if experiment.responses.is_empty() {
        found.push(
            Finding::error([key("responses")], "there are no responses to compare")
                .hint("add some, such as responses = [\"p95\", \"errors\"], or omit the key"),
        );
    }
    if let Some(at) = repeated(experiment.responses.iter().map(ToString::to_string)) {
        let message = format!("the response {:?} is repeated", experiment.responses[at].to_string());
        found.push(Finding::error([key("responses"), Step::Element(at)], message));
    }
}

fn repeated<T: Eq + Hash>(values: impl Iterator<Item = T>) -> Option<usize> {
    let mut known = HashSet::new();
    values.enumerate().find_map(|(at, value)| (!known.insert(value)).then_some(at))
}

fn check_design<'e>(experiment: &'e Experiment, found: &mut Vec<Finding<'e>>) {
    let design = match experiment.design() {
        Ok(design) => design,
        Err(error) => {
            found.push(design_finding(experiment, &error));
            return;
        }
    };
    let Some(limit) = &experiment.limits.time else { return };
    let estimate = DurationEstimate::of_design(&design, &experiment.trial_times());
    if estimate.shortest_s > limit.seconds() {
        let message = format!(
            "{} trials take at least {}, more than the limit of {}",
            estimate.trials,
            time_text(estimate.shortest_s),
            time_text(limit.seconds())
        );
        found.push(
            Finding::error([key("limits"), key("time")], message)
                .hint("reduce levels, repetitions or the duration of trials, or raise the limit"),
        );
    }
}

/// A time in the largest unit in which it is at least 1.
fn time_text(seconds: f64) -> String {
    let units = [("h", 3_600.0), ("min", 60.0)];
    let (unit, length_s) = units.into_iter().find(|(_, length_s)| seconds >= *length_s).unwrap_or(("s", 1.0));
    let text = format!("{:.1}", seconds / length_s);
    format!("{} {unit}", text.strip_suffix(".0").unwrap_or(&text))
}

fn design_finding<'e>(experiment: &'e Experiment, error: &DesignError) -> Finding<'e> {
    let hint = match error {
        DesignError::TooManyTrials { limit, .. } if *limit < TRIALS_MAX => {
            "use design = \"one-at-a-time\", fewer levels or repetitions, or raise `trials` in [limits]"
        }
        DesignError::TooManyTrials { .. } | DesignError::Cases(CasesError::TooMany { .. }) => {
            "use design = \"one-at-a-time\", or fewer levels or repetitions"
        }
        DesignError::Cases(CasesError::NoFactors) => "add a [[factor]] with at least two levels",
        DesignError::Cases(_) => "a level is a [[factor.level]] with a name and settings",
        DesignError::FewBlocks(_) => "raise `repetitions`",
    };
    let path: Vec<Step<'e>> = match error {
        DesignError::Cases(CasesError::FewLevels(name) | CasesError::NoBase(name)) => {
            let at = experiment.factors.iter().position(|factor| factor.name == *name).unwrap_or(0);
            vec![key("factor"), Step::Element(at)]
        }
        DesignError::Cases(CasesError::NotPaired { .. }) => vec![key("trials"), key("design")],
        DesignError::Cases(_) => vec![key("factor")],
        DesignError::TooManyTrials { .. } => vec![key("factor")],
        DesignError::FewBlocks(_) => vec![key("trials"), key("repetitions")],
    };
    Finding::error(path, error.to_string()).hint(hint)
}
