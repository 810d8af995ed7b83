//! Compiles scripted elements.

use busyhour_plan::Element;
use busyhour_processors::{
    Family, Refusal, ScriptAssertion, ScriptFacts, ScriptProcessor, ScriptSampler, ScriptSettings,
    ScriptTimer,
};

use crate::context::Context;
use crate::elements::role;
use crate::elements::script_source::ScriptSource;

/// Compiles a scripted sampler.
pub(crate) fn sampler<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    source: &ScriptSource,
) -> Result<ScriptSampler, Refusal> {
    let sampler = ScriptSampler::new(settings(context, element, source)?)?;
    context.symbols.evaluates = true;
    context.reads.add_previous_result(sampler.facts().reads);
    add_facts(context, element, sampler.facts());
    Ok(sampler)
}

/// Compiles a scripted timer.
pub(crate) fn timer<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    source: &ScriptSource,
) -> Result<ScriptTimer, Refusal> {
    let timer = ScriptTimer::new(settings(context, element, source)?)?;
    context.reads.add_previous_result(timer.facts().reads);
    add_facts(context, element, timer.facts());
    Ok(timer)
}

/// Compiles a scripted assertion.
pub(crate) fn assertion<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    source: &ScriptSource,
) -> Result<ScriptAssertion, Refusal> {
    let name = context.name(element);
    let assertion = ScriptAssertion::new(settings(context, element, source)?, name)?;
    add_facts(context, element, assertion.facts());
    Ok(assertion)
}

/// Compiles a scripted pre-processor, which reads the result of the previous sample.
pub(crate) fn pre_processor<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    source: &ScriptSource,
) -> Result<ScriptProcessor, Refusal> {
    let processor = processor(context, element, source, ScriptProcessor::before)?;
    context.reads.add_previous_result(processor.facts().reads);
    Ok(processor)
}

/// Compiles a scripted post-processor.
pub(crate) fn post_processor<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    source: &ScriptSource,
) -> Result<ScriptProcessor, Refusal> {
    processor(context, element, source, ScriptProcessor::after)
}

/// Compiles a scripted listener.
pub(crate) fn listener<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    source: &ScriptSource,
) -> Result<ScriptProcessor, Refusal> {
    processor(context, element, source, ScriptProcessor::listener)
}

fn processor<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    source: &ScriptSource,
    make: fn(ScriptSettings) -> Result<ScriptProcessor, Refusal>,
) -> Result<ScriptProcessor, Refusal> {
    let processor = make(settings(context, element, source)?)?;
    add_facts(context, element, processor.facts());
    Ok(processor)
}

/// Adds the texts of elements that are not in the scope of any sampler. JMeter also evaluates these texts at the start of
/// the test.
pub(crate) fn add_unused_at_start(context: &mut Context<'_>) {
    for element in context.plan.elements().filter(|element| element.is_active()) {
        let Some(source) = role(element).script_source().filter(|source| source.is_evaluated_at_start())
        else {
            continue;
        };
        if context.at_start.contains(element.id()) {
            continue;
        }
        let names = [source.filename, source.parameters, source.script];
        // Mistakes in an element that never runs are not reported.
        let texts = names.map(|name| {
            let text = element.text_or(name, "");
            busyhour_functions::parse(text, &mut context.symbols).unwrap_or_default()
        });
        context.at_start.add(element.id(), [&texts[0], &texts[1], &texts[2]]);
    }
}

/// Warns about constructs that are accepted in a script but fail in JMeter when they are executed. Also adds the variables
/// that the script may read.
fn add_facts(context: &mut Context<'_>, element: Element<'_>, facts: &ScriptFacts) {
    for warning in &facts.warnings {
        context.findings.warn(element, "script-fails", format!("the script: {warning}"));
    }
    context.reads.any_variable |= facts.reads_any_variable;
}

fn settings<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    source: &ScriptSource,
) -> Result<ScriptSettings, Refusal> {
    let family = source.family;
    let (script, parameters, filename) = (
        context.text(element, source.script),
        context.text(element, source.parameters),
        context.text(element, source.filename),
    );
    if source.is_evaluated_at_start() {
        context.at_start.add(element.id(), [&filename, &parameters, &script]);
    }
    Ok(ScriptSettings {
        name: element.name().to_owned(),
        family,
        language: busyhour_processors::language_of(element.text_or("scriptLanguage", ""), family)?,
        script,
        parameters,
        filename,
        resets_interpreter: context.flag(element, source.resets, false),
        caches: family == Family::Jsr223 && element.text_or("cacheKey", "") != "false",
        base_dir: context.options.base_dir.clone(),
        state: context.symbols.state(),
    })
}
