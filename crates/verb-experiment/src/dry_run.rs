//! Shows what an experiment will do.

use std::fmt::Write as _;

use busyhour_experiment::{DurationEstimate, Repetitions, Trial, planned_effects};
use busyhour_report::numbers::{counted, duration};
use busyhour_trials::UnavailableControl;

use super::file::LoadedExperiment;

/// Assumed variations of trials of one case, in percent.
const ASSUMED: [f64; 5] = [1.0, 2.0, 3.0, 5.0, 10.0];

/// The probability that an effect is claimed although there is none.
const ERROR: f64 = 0.05;

/// Number of trials that are listed.
const TRIALS_SHOWN: usize = 1_000;

/// The text of a dry run.
pub(super) fn text(loaded: &LoadedExperiment, unavailable: &[UnavailableControl]) -> String {
    let mut out = String::new();
    let title = &loaded.experiment.title;
    if !title.is_empty() {
        let _ = writeln!(out, "{title}\n");
    }
    for control in unavailable {
        let _ = writeln!(out, "Not available: {}: {}", control.name, control.reason);
    }
    if !unavailable.is_empty() {
        out.push('\n');
    }
    size(&mut out, loaded);
    effects(&mut out, loaded);
    trials(&mut out, loaded);
    out
}

fn size(out: &mut String, loaded: &LoadedExperiment) {
    let (experiment, design) = (&loaded.experiment, &loaded.design);
    let estimate = DurationEstimate::of_design(design, &experiment.trial_times());
    let repetitions = match experiment.trials.repetitions() {
        Repetitions::Fixed(repetitions) => counted(repetitions.into(), "repetition"),
        Repetitions::Until { half_width, min, max } => {
            format!("{min} to {max} repetitions, until intervals are ±{} %", 100.0 * half_width)
        }
    };
    let up_to =
        if matches!(experiment.trials.repetitions(), Repetitions::Until { .. }) { "at most " } else { "" };
    let _ = writeln!(
        out,
        "{} and {repetitions}: {up_to}{}, with {} before the first block.",
        counted(design.cases().count().into(), "case"),
        counted(estimate.trials, "trial"),
        counted(design.plan().warm_up.into(), "warm-up trial"),
    );
    let starts = if estimate.longest_s > estimate.shortest_s {
        format!("; {} if each start takes all of `ready-within`", duration(estimate.longest_s))
    } else {
        String::new()
    };
    let _ = writeln!(
        out,
        "Duration: {up_to}{} of load and pauses{starts}. Repeated trials take additional time.",
        duration(estimate.shortest_s)
    );
    let filling: Vec<&str> = experiment.filling_neighbours().collect();
    if !filling.is_empty() {
        let _ = writeln!(
            out,
            "Not included: before each of its trials, {} fills arrays of four times the last-level caches, which can take longer than the load.",
            filling.join(", ")
        );
    }
}

fn effects(out: &mut String, loaded: &LoadedExperiment) {
    let (experiment, design) = (&loaded.experiment, &loaded.design);
    let Some(first) = experiment.responses.first() else { return };
    let (scale, cases) = (first.scale(), design.cases());
    let blocks = design.plan().blocks;
    let unit = if scale.unit() == "%" { "%" } else { "pp" };
    let _ = writeln!(
        out,
        "\nSmallest increase of {} that {} find in 9 of 10 experiments, if trials of one case vary by",
        String::from(first.clone()),
        counted(blocks.into(), "repetition")
    );
    let _ = write!(out, "{:<20}", "(assumed)");
    for percent in ASSUMED {
        let _ = write!(out, "{:>10}", format!("{percent} {unit}"));
    }
    out.push('\n');
    let planned = ASSUMED.map(|percent| planned_effects(cases, scale, blocks, percent / 100.0, ERROR));
    for (at, factor) in cases.factors().iter().enumerate() {
        let _ = write!(out, "{:<20}", factor.name);
        for effects in &planned {
            let smallest =
                effects.iter().find(|effect| effect.factor == at).and_then(|effect| effect.smallest);
            let text = smallest.map_or_else(|| "–".to_owned(), |smallest| scale.increase_text(smallest));
            let _ = write!(out, "{text:>10}");
        }
        out.push('\n');
    }
    out.push_str("The variation is unknown before the experiment. The report states it afterwards.\n");
}

fn trials(out: &mut String, loaded: &LoadedExperiment) {
    let design = &loaded.design;
    let _ = writeln!(out, "\n{:>5}  {:<12} {:>7} {:>5}  Levels", "No.", "Trial", "Block", "Case");
    for (number, Trial { id, .. }) in design.trials().take(TRIALS_SHOWN).enumerate() {
        let case = design.cases().case(id.case);
        let name = case.map_or_else(String::new, |case| design.cases().case_name(case));
        let block = if id.is_warm_up() { "warm-up".to_owned() } else { id.block.to_string() };
        let _ = writeln!(out, "{:>5}  {:<12} {block:>7} {:>5}  {name}", number + 1, id.to_string(), id.case);
    }
    let more = design.trials_count().saturating_sub(TRIALS_SHOWN as u64);
    if more > 0 {
        let _ = writeln!(out, "… and {}", counted(more, "further trial"));
    }
}
