//! The command line of the runs of a trial.

use std::ffi::OsString;

use busyhour_search::{LoadKind, NextTrial, Overload, TrialPurpose};

use crate::plan::{LoadSearchPlan, LoadTarget};

/// Time for users to finish their samples when a trial is stopped.
const GRACE: &str = "5s";

/// The runs of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrialRuns {
    /// The run that is judged.
    pub(crate) judged: Vec<OsString>,
    /// The run at the same time that makes the overload of users, and ends before the judged part begins.
    pub(crate) overload: Option<Vec<OsString>>,
}

/// The arguments of `busyhour` for a trial. The part of the overload comes first; a rate changes in one schedule, users of the
/// overload are those of a second run.
pub(crate) fn trial_runs(plan: &LoadSearchPlan, trial: &NextTrial, number: u32) -> TrialRuns {
    let seed = plan.seed_of(number);
    match plan.kind {
        LoadKind::Rate => {
            let stage = |rate: f64, seconds: f64| {
                format!("poisson({}/s) for {}s", number_text(rate), number_text(seconds))
            };
            let judged = stage(trial.load, trial.seconds);
            let schedule = match trial.overload {
                Some(Overload { load, seconds }) => format!("{}, {judged}", stage(load, seconds)),
                None => judged,
            };
            let load = vec!["--arrivals".to_owned(), schedule];
            TrialRuns { judged: run(plan, seed, load, true), overload: None }
        }
        LoadKind::Users => {
            let length_s = trial.load_seconds().ceil();
            let judged = run(plan, seed, users(plan, trial.load, length_s), true);
            let overload = trial.overload.filter(|overload| overload.load > trial.load).map(|overload| {
                let more = users(plan, overload.load - trial.load, overload.seconds.ceil());
                run(plan, seed ^ 1, more, false)
            });
            TrialRuns { judged, overload }
        }
    }
}

/// The arguments of `busyhour` for the run of a trial with the lowest load, to check the options.
#[must_use]
pub fn lowest_run_arguments(plan: &LoadSearchPlan) -> Vec<OsString> {
    let trial = NextTrial {
        load: plan.lowest,
        seconds: plan.full_s.ceil(),
        overload: None,
        purpose: TrialPurpose::Search,
    };
    trial_runs(plan, &trial, 0).judged
}

/// Options for a number of users and a length.
fn users(plan: &LoadSearchPlan, users: f64, length_s: f64) -> Vec<String> {
    let (users, length) = (number_text(users.round()), number_text(length_s));
    match plan.target {
        LoadTarget::Url(_) => vec!["--users".into(), users, "--for".into(), format!("{length}s")],
        LoadTarget::Plan { .. } => vec![
            "-J".into(),
            format!("{}={users}", plan.users_property),
            "-J".into(),
            format!("{}={length}", plan.duration_property),
        ],
    }
}

fn run(plan: &LoadSearchPlan, seed: u64, load: Vec<String>, has_thresholds: bool) -> Vec<OsString> {
    let mut arguments = vec!["run".to_owned(), plan.target.name().to_owned()];
    arguments.extend(["--grace", GRACE, "--seed"].map(str::to_owned));
    arguments.push(seed.to_string());
    arguments.extend(load);
    if has_thresholds {
        let thresholds = plan.thresholds.iter();
        arguments.extend(thresholds.flat_map(|text| ["--threshold".to_owned(), text.clone()]));
    }
    arguments.extend(plan.options.iter().cloned());
    arguments.into_iter().map(OsString::from).collect()
}

/// A number without an exponent and without needless digits.
fn number_text(number: f64) -> String {
    let text = format!("{number:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::plan;

    fn joined(arguments: &[OsString]) -> String {
        arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
    }

    fn trial(load: f64, overload: Option<Overload>) -> NextTrial {
        NextTrial { load, seconds: 20.0, overload, purpose: TrialPurpose::Search }
    }

    #[test]
    fn a_rate_is_a_schedule() {
        let mut plan = plan(&["p95 < 100ms"]);
        plan.options = vec!["--observe".to_owned(), "none".to_owned()];
        let runs = trial_runs(&plan, &trial(12.5, None), 0);
        let begin = "run http://127.0.0.1/ --grace 5s --seed 7";
        let end = "--threshold p95 < 100ms --observe none";
        assert_eq!(joined(&runs.judged), format!("{begin} --arrivals poisson(12.5/s) for 20s {end}"));
        let overload = Some(Overload { load: 100.0 / 3.0, seconds: 10.0 });
        let runs = trial_runs(&plan, &trial(12.5, overload), 0);
        let schedule = "poisson(33.333333/s) for 10s, poisson(12.5/s) for 20s";
        assert_eq!(joined(&runs.judged), format!("{begin} --arrivals {schedule} {end}"));
        assert_eq!(runs.overload, None);
    }

    #[test]
    fn users_of_an_overload_are_those_of_another_run() {
        let mut plan = plan(&["p95 < 100ms"]);
        plan.kind = LoadKind::Users;
        let overload = Some(Overload { load: 90.0, seconds: 10.0 });
        let runs = trial_runs(&plan, &trial(50.0, overload), 0);
        let begin = "run http://127.0.0.1/ --grace 5s --seed";
        assert_eq!(joined(&runs.judged), format!("{begin} 7 --users 50 --for 30s --threshold p95 < 100ms"));
        assert_eq!(joined(&runs.overload.unwrap()), format!("{begin} 6 --users 40 --for 10s"));
        plan.target = LoadTarget::plan("shop.jmx".to_owned(), b"");
        let runs = trial_runs(&plan, &trial(50.0, None), 0);
        assert!(
            joined(&runs.judged).starts_with("run shop.jmx --grace 5s --seed 7 -J users=50 -J duration=20 ")
        );
    }
}
