//! The experiments that are part of this program, and `busyhour experiment list` and `copy`.

use std::path::{Path, PathBuf};

use busyhour_diagnostic::{io_hints, nearest_name};
use busyhour_experiment::{DurationEstimate, Experiment};
use busyhour_report::numbers::duration;
use busyhour_terminal::columns::Columns;
use busyhour_terminal::exit::{Exit, complain, hinted, note, print};

use super::args::CopyArgs;

/// An experiment with its files.
pub(super) struct ShippedExperiment {
    pub(super) name: &'static str,
    /// Its requirements besides this program.
    needs: &'static str,
    text: &'static str,
    /// Plans, by the names of their files.
    plans: &'static [(&'static str, &'static str)],
}

macro_rules! experiment_file {
    ($name:literal) => {
        include_str!(concat!("../../../examples/experiments/", $name, ".toml"))
    };
}

macro_rules! plan_file {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../plans/", $name)))
    };
}

/// The plan of the broker, with its name.
const BROKER_PLAN: (&str, &str) = ("broker.jmx", include_str!("../../../examples/broker.jmx"));

/// All of them.
const SHIPPED: [ShippedExperiment; 7] = [
    ShippedExperiment {
        name: "noisy-neighbour",
        needs: "2 cores",
        text: experiment_file!("noisy-neighbour"),
        plans: &[],
    },
    ShippedExperiment {
        name: "neighbour-sensitivity",
        needs: "2 cores",
        text: experiment_file!("neighbour-sensitivity"),
        plans: &[],
    },
    ShippedExperiment {
        name: "cells-load",
        needs: "JDK 11",
        text: experiment_file!("cells-load"),
        plans: &[plan_file!("cells.jmx")],
    },
    ShippedExperiment {
        name: "cells-functional",
        needs: "JDK 11",
        text: experiment_file!("cells-functional"),
        plans: &[plan_file!("cells.jmx")],
    },
    ShippedExperiment {
        name: "broker-threshold",
        needs: "",
        text: experiment_file!("broker-threshold"),
        plans: &[BROKER_PLAN],
    },
    ShippedExperiment { name: "broker", needs: "", text: experiment_file!("broker"), plans: &[BROKER_PLAN] },
    ShippedExperiment { name: "web-users", needs: "", text: experiment_file!("web-users"), plans: &[] },
];

/// The directory for the files of an experiment that is executed, in its directory.
const FILES: &str = "files";

/// The shipped experiment with a name.
pub(super) fn shipped(name: &Path) -> Option<&'static ShippedExperiment> {
    SHIPPED.iter().find(|one| Path::new(one.name) == name)
}

/// The hint for an error if the text is neither a file nor the name of a shipped experiment.
pub(super) fn not_found_hint(name: &Path) -> String {
    let near = name.to_str().and_then(|name| nearest_name(name, SHIPPED.iter().map(|one| one.name)));
    let near = near.map_or_else(String::new, |near| format!("did you mean {near}? "));
    format!("{near}`busyhour experiment list` shows the experiments that need no file")
}

impl ShippedExperiment {
    /// Writes the files that do not exist yet, and returns the path of the experiment.
    pub(super) fn write_to(&self, dir: &Path) -> Result<PathBuf, Exit> {
        let failed = |path: &Path, error: &std::io::Error| {
            complain(Exit::Internal, &format!("{}: {}", path.display(), io_hints::with_hint(error)))
        };
        std::fs::create_dir_all(dir).map_err(|error| failed(dir, &error))?;
        let file = format!("{}.toml", self.name);
        let files = self.plans.iter().copied().chain([(file.as_str(), self.text)]);
        for (name, text) in files {
            let path = dir.join(name);
            if !path.exists() {
                std::fs::write(&path, text).map_err(|error| failed(&path, &error))?;
            }
        }
        Ok(dir.join(file))
    }

    /// Writes the files for an execution in a directory.
    pub(super) fn write_for(&self, experiment_dir: &Path) -> Result<PathBuf, Exit> {
        self.write_to(&experiment_dir.join(FILES))
    }

    fn row(&self) -> Vec<String> {
        // A test reads all files.
        let Ok(read) = Experiment::read(self.text, self.name) else { return Vec::new() };
        let whole = read.experiment;
        let cases = whole.design().map_or(0, |design| design.cases().count());
        let time = |experiment: Option<&Experiment>| experiment.map_or_else(String::new, load_time);
        vec![
            self.name.to_owned(),
            whole.title.clone(),
            self.needs.to_owned(),
            cases.to_string(),
            time(Some(&whole)),
            time(whole.shortened().as_ref()),
        ]
    }
}

/// The time of load and pauses of all trials.
fn load_time(experiment: &Experiment) -> String {
    let Ok(design) = experiment.design() else { return String::new() };
    duration(DurationEstimate::of_design(&design, &experiment.trial_times()).shortest_s)
}

/// `busyhour experiment list`.
pub(super) fn list() -> Exit {
    let mut columns = Columns::new(3, &["Name", "Title", "Needs", "Cases", "Load", "Short"]);
    SHIPPED.iter().for_each(|one| columns.row(one.row()));
    print(&columns.render());
    print(
        "\nLoad and Short are the times of load, without the time for starting the system and its neighbours.\n\
        A streaming neighbour fills arrays of four times the last-level caches first, which can take longer than the load.\n\n  \
        busyhour experiment run NAME --short   the short form, to try it\n  \
        busyhour experiment run NAME           all trials\n  \
        busyhour experiment copy NAME          write the files to change them\n",
    );
    Exit::Completed
}

/// `busyhour experiment copy`.
pub(super) fn copy(args: &CopyArgs) -> Exit {
    let Some(found) = shipped(Path::new(&args.name)) else {
        let message = format!("there is no experiment {:?}", args.name);
        return complain(Exit::Usage, &hinted(message, &not_found_hint(Path::new(&args.name))));
    };
    let dir = args.dir.clone().unwrap_or_else(|| PathBuf::from("."));
    let names =
        found.plans.iter().map(|(name, _)| (*name).to_owned()).chain([format!("{}.toml", found.name)]);
    let existing: Vec<String> = names.filter(|name| dir.join(name).exists()).collect();
    if !existing.is_empty() {
        let message = format!("{} exists already in {}", existing.join(", "), dir.display());
        return complain(Exit::Refused, &hinted(message, "give another directory"));
    }
    match found.write_to(&dir) {
        Ok(path) => {
            note(&format!("wrote {}; execute it with `busyhour experiment run {0}`", path.display()));
            Exit::Completed
        }
        Err(exit) => exit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_experiments_have_a_design_a_short_form_and_their_plans() {
        for one in &SHIPPED {
            let read = Experiment::read(one.text, one.name);
            let experiment = read.unwrap_or_else(|errors| panic!("{}", errors[0])).experiment;
            assert!(experiment.design().is_ok(), "{}", one.name);
            let short = experiment.shortened().unwrap_or_else(|| panic!("{} has no short form", one.name));
            let design = short.design().unwrap();
            let seconds = DurationEstimate::of_design(&design, &short.trial_times()).shortest_s;
            assert!(seconds <= 120.0, "{} takes {seconds} s", one.name);
            let plans: Vec<&str> = one.plans.iter().map(|(name, _)| *name).collect();
            assert_eq!(
                experiment.load.plan.as_deref().into_iter().collect::<Vec<_>>(),
                plans,
                "{}",
                one.name
            );
        }
    }
}
