//! The command line of the run of a trial.

use busyhour_arrivals::ArrivalProcess;
use busyhour_experiment::Experiment;

use crate::setting::CaseSetting;

/// Time for users to finish their samples when a trial is stopped.
const GRACE: &str = "5s";

/// The arguments of `busyhour` for the run of a trial, without its seed and directory. The duration of the trial applies to
/// schedules whose last stage has no length.
///
/// A plan without a schedule defines its own load. It gets the number of users and the duration in seconds as the properties
/// `users` and `duration`.
#[must_use]
pub fn run_arguments(experiment: &Experiment, setting: &CaseSetting<'_>) -> Vec<String> {
    let load = &experiment.load;
    let target = load.url.as_ref().or(load.plan.as_ref()).cloned().unwrap_or_default();
    let duration: String = experiment.trials.duration.clone().into();
    let mut arguments = vec!["run".to_owned(), target, "--grace".to_owned(), GRACE.to_owned()];
    let mut option = |name: &str, value: &str| arguments.extend([name.to_owned(), value.to_owned()]);
    match (setting.schedule, &load.url) {
        (Some(schedule), _) => {
            option("--arrivals", schedule);
            if ArrivalProcess::parse(schedule).is_err() {
                option("--for", &duration);
            }
            if let Some(users) = setting.users {
                option("--users", &users.to_string());
            }
        }
        (None, Some(_)) => {
            option("--users", &setting.users.unwrap_or(1).to_string());
            option("--for", &duration);
        }
        (None, None) => {
            if let Some(users) = setting.users {
                option("-J", &format!("users={users}"));
            }
            option("-J", &format!("duration={}", experiment.trials.duration.seconds().ceil()));
        }
    }
    for (name, value) in &setting.properties {
        option("-J", &format!("{name}={value}"));
    }
    if !experiment.observe.is_empty() {
        option("--observe", &experiment.observe.join(","));
    }
    for threshold in &experiment.thresholds {
        option("--threshold", threshold);
    }
    arguments.extend(setting.options.iter().map(|option| (*option).to_owned()));
    arguments
}
