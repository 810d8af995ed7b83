//! The facts about a run that its result files contain.

use busyhour_analysis::{InputSummary, RunFacts};

use crate::input_facts::InputFacts;
use crate::jtl_scan::LogForm;
use crate::replay::ReplayedRun;

/// Facts about results that were read from one or more files.
#[must_use]
pub fn facts_of_results(replay: &ReplayedRun) -> RunFacts {
    RunFacts {
        hostname: replay.names.hostname.clone(),
        ..facts_of_inputs(&replay.inputs, replay.wall_anchor_ms)
    }
}

/// Facts about the inputs of a test whose start is `wall_anchor_ms`, in ms since 1970.
#[must_use]
pub fn facts_of_inputs(inputs: &[InputFacts], wall_anchor_ms: i64) -> RunFacts {
    let names: Vec<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
    let source = match &names[..] {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    };
    RunFacts {
        source,
        wall_anchor_ms,
        record_cut: inputs.iter().any(|input| input.cut_at.is_some()),
        inputs: inputs.iter().map(input_summary).collect(),
        one_clock: inputs.iter().any(|input| input.form != LogForm::Run),
        ..RunFacts::default()
    }
}

fn input_summary(input: &InputFacts) -> InputSummary {
    let packed = input.packing.map(|packing| format!(", {packing}")).unwrap_or_default();
    InputSummary {
        name: input.name.clone(),
        form: format!("{}{packed}", input.form),
        samples: input.samples,
        bad_rows: input.bad_rows,
        first_bad: input.first_bad.iter().map(ToString::to_string).collect(),
        cut_off: input.cut_at.is_some(),
        span_s: input.ends.map(|(first, last)| (first.as_secs_f64(), last.as_secs_f64())),
    }
}
