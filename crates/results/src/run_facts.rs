//! The facts about a run that its result files contain.

use busyhour_analysis::{InputSummary, OtherTool, RunFacts};

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
    let other_tool = other_tool(inputs);
    // Without dates, times count from the start of the run.
    let is_undated = other_tool.as_ref().is_some_and(|tool| tool.is_undated);
    RunFacts {
        source,
        wall_anchor_ms: if is_undated { 0 } else { wall_anchor_ms },
        record_tail_missing: inputs.iter().any(|input| input.cut_at.is_some()),
        inputs: inputs.iter().map(input_summary).collect(),
        other_tool,
        only_actual_starts: inputs.iter().any(|input| input.form != LogForm::Run),
        ..RunFacts::default()
    }
}

/// Facts about the tools that wrote the inputs; `None` if this program or JMeter wrote all of them.
fn other_tool(inputs: &[InputFacts]) -> Option<OtherTool> {
    let forms = inputs.iter().filter_map(|input| match input.form {
        LogForm::Imported(form) => Some(form),
        LogForm::Csv { .. } | LogForm::Xml | LogForm::Run => None,
    });
    let mut tools: Vec<&str> = forms.clone().map(|form| form.format.tool()).collect();
    tools.dedup();
    let first = tools.first()?;
    let seconds =
        |ns: fn(&LogForm) -> u64| inputs.iter().map(|input| ns(&input.form)).max().unwrap_or(0) as f64 / 1e9;
    Some(OtherTool {
        tool: if tools.len() == 1 { (*first).to_owned() } else { tools.join(", ") },
        tick_s: seconds(|form| form.tick_ns()),
        duration_step_s: seconds(|form| form.duration_step_ns()),
        is_undated: forms.clone().all(|form| form.format.is_undated()),
        is_without_failed: forms.clone().any(|form| form.format.is_without_failed()),
        dropped: inputs.iter().map(|input| input.dropped).sum(),
    })
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
