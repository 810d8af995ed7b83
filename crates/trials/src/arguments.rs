//! The command line of the run of a trial.

use busyhour_arrivals::ArrivalProcess;
use busyhour_experiment::Experiment;

use crate::setting::CaseSetting;
use crate::variables::TrialVariables;

/// Time for users to finish their samples when a trial is stopped.
const GRACE: &str = "5s";

/// The names of the properties with the number of users, and with the duration in seconds.
const USERS: [&str; 2] = ["users", "USERS"];
const DURATION: [&str; 2] = ["duration", "DURATION"];

/// The arguments of `busyhour` for the run of a trial, without its seed and directory. The duration of the trial applies to
/// schedules whose last stage has no length.
///
/// A plan without a schedule defines its own load. It gets the number of users and the duration in seconds as the properties
/// `users` and `duration`, and also in capital letters.
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
                for name in USERS {
                    option("-J", &format!("{name}={users}"));
                }
            }
            for name in DURATION {
                option("-J", &format!("{name}={}", experiment.trials.duration.seconds().ceil()));
            }
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

/// The arguments of [`run_arguments`] with values instead of the names of variables, to check them.
#[must_use]
pub fn example_arguments(experiment: &Experiment, setting: &CaseSetting<'_>) -> Vec<String> {
    let variables = TrialVariables::example(&experiment.system.ports);
    run_arguments(experiment, setting).iter().map(|argument| variables.fill(argument)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The arguments of all cases, joined.
    fn arguments(load: &str, levels: &str) -> Vec<String> {
        let text = format!(
            "version = 1\nobserve = [\"os\", \"process:shop\"]\nthresholds = [\"errors < 1%\"]\n[load]\n{load}\n\
             [trials]\nduration = \"90s\"\n[[factor]]\nname = \"f\"\nlevel = [{levels}]\n"
        );
        let experiment = Experiment::read(&text, "test.toml").unwrap().experiment;
        let design = experiment.design().unwrap();
        let cases = design.cases().cases().iter();
        let settings = cases.map(|case| CaseSetting::of(&experiment, design.cases(), case, None));
        settings.map(|setting| run_arguments(&experiment, &setting).join(" ")).collect()
    }

    const END: &str = "--observe os,process:shop --threshold errors < 1%";

    #[test]
    fn a_url_gets_users_or_arrivals_and_the_duration() {
        let found = arguments(
            "url = \"http://shop/\"\nusers = 5",
            "{ name = \"a\" }, { name = \"b\", users = 50 }, { name = \"c\", schedule = \"poisson(5/s)\", options = [\"--spin\"] }",
        );
        assert_eq!(found[0], format!("run http://shop/ --grace 5s --users 5 --for 90s {END}"));
        assert_eq!(found[1], format!("run http://shop/ --grace 5s --users 50 --for 90s {END}"));
        let open = "--arrivals poisson(5/s) --for 90s";
        assert_eq!(found[2], format!("run http://shop/ --grace 5s {open} {END} --spin"));
    }

    #[test]
    fn a_plan_gets_properties() {
        let found = arguments(
            "plan = \"shop.jmx\"\nusers = 5\nproperties = { host = \"a\" }",
            "{ name = \"a\" }, { name = \"b\", users = 9, properties = { host = \"b\" } }",
        );
        assert_eq!(
            found[0],
            format!(
                "run shop.jmx --grace 5s -J users=5 -J USERS=5 -J duration=90 -J DURATION=90 -J host=a {END}"
            )
        );
        assert_eq!(
            found[1],
            format!(
                "run shop.jmx --grace 5s -J users=9 -J USERS=9 -J duration=90 -J DURATION=90 -J host=b {END}"
            )
        );
        let open = arguments(
            "plan = \"shop.jmx\"\nschedule = \"even(5/s) for 90s\"",
            "{ name = \"a\" }, { name = \"b\", schedule = \"even(9/s) for 90s\" }",
        );
        assert_eq!(open[1], format!("run shop.jmx --grace 5s --arrivals even(9/s) for 90s {END}"));
    }
}
