//! Pre-processors, post-processors and assertions.

use std::sync::Arc;

use busyhour_engine::element::{Assertion, Processor, Timer};
use busyhour_engine::queues::{PopIntoVariable, PutIntoQueue};
use busyhour_engine::template::Template;
use busyhour_plan::Element;
use busyhour_processors::scope::{Field, Scope};
use busyhour_processors::{
    BoundaryExtractor, BoundaryExtractorSettings, DurationAssertion, DurationAssertionSettings, Family,
    JsonAssertion, JsonAssertionSettings, JsonExtractor, JsonExtractorSettings, RawRequestSource,
    RawRequestSourceSettings, Refusal, RegexExtractor, RegexExtractorSettings, ResponseAssertion,
    ResponseAssertionSettings, ScriptAssertion, ScriptProcessor, ScriptSampler, ScriptSettings, ScriptTimer,
    SizeAssertion, SizeAssertionSettings, SizeOf,
};

use crate::context::Context;
use crate::{documents, steps};

/// Class of the jmeter-plugins' Raw Data Source.
pub(crate) const RAW_REQUEST_SOURCE: &str = "kg.apc.jmeter.modifiers.RawRequestSourcePreProcessor";

/// The pre- or post-processor an element is.
pub(crate) fn processor<'p>(context: &mut Context<'p>, element: Element<'p>) -> Option<Arc<dyn Processor>> {
    if let Some(known) = context.processors.get(&element.id()) {
        return known.clone();
    }
    let made: Result<Arc<dyn Processor>, Refusal> = match element.kind() {
        "UserParameters" => {
            steps::user_parameters(context, element);
            return context.processors.get(&element.id()).cloned().flatten();
        }
        "JSR223PreProcessor" | "BSFPreProcessor" | "BeanShellPreProcessor" => {
            script_processor(context, element, ScriptProcessor::before)
        }
        "JSR223PostProcessor" | "BSFPostProcessor" | "BeanShellPostProcessor" => {
            script_processor(context, element, ScriptProcessor::after)
        }
        "JSR223Listener" | "BSFListener" | "BeanShellListener" => {
            script_processor(context, element, ScriptProcessor::listener)
        }
        "kg.apc.jmeter.modifiers.FifoPopPreProcessor" => Ok(Arc::new(PopIntoVariable {
            queue: context.text(element, "FifoName"),
            variable: context.text(element, "Variable"),
            timeout_s: context.text(element, "Timeout"),
        })),
        "kg.apc.jmeter.modifiers.FifoPutPostProcessor" => Ok(Arc::new(PutIntoQueue {
            queue: context.text(element, "FifoName"),
            value: context.text(element, "Value"),
        })),
        RAW_REQUEST_SOURCE => Ok(Arc::new(raw_request_source(context, element))),
        "RegexExtractor" => regex_extractor(context, element),
        "JSONPostProcessor" => json_extractor(context, element),
        "BoundaryExtractor" => boundary_extractor(context, element),
        _ => documents::processor(context, element)?,
    };
    let made = accept(context, element, made);
    context.processors.insert(element.id(), made.clone());
    made
}

/// The assertion an element is.
pub(crate) fn assertion<'p>(context: &mut Context<'p>, element: Element<'p>) -> Option<Arc<dyn Assertion>> {
    if let Some(known) = context.assertions.get(&element.id()) {
        return known.clone();
    }
    let made: Result<Arc<dyn Assertion>, Refusal> = match element.kind() {
        "ResponseAssertion" => response_assertion(context, element),
        "JSONPathAssertion" => json_assertion(context, element),
        "DurationAssertion" => {
            let duration = context.text_or(element, "DurationAssertion.duration", "0");
            let name = context.name(element);
            scope(context, element, "Assertion.scope").map(|scope| {
                Arc::new(DurationAssertion::new(DurationAssertionSettings { name, duration, scope })) as _
            })
        }
        "SizeAssertion" => size_assertion(context, element),
        "JSR223Assertion" | "BSFAssertion" | "BeanShellAssertion" => {
            let name = context.name(element);
            script_settings(context, element).and_then(|settings| {
                let made = ScriptAssertion::new(settings, name)?;
                warn(context, element, made.warnings());
                Ok(Arc::new(made) as _)
            })
        }
        _ => documents::assertion(context, element)?,
    };
    let made = accept(context, element, made);
    context.assertions.insert(element.id(), made.clone());
    made
}

fn accept<T: ?Sized>(
    context: &mut Context<'_>,
    element: Element<'_>,
    made: Result<Arc<T>, Refusal>,
) -> Option<Arc<T>> {
    made.map_err(|refusal| context.refuse(element, &refusal)).ok()
}

/// Which results an element looks at, by its property of that name.
pub(crate) fn scope<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    property: &str,
) -> Result<Scope, Refusal> {
    let variable = context.text(element, "Scope.variable");
    Scope::of(element.text_or(property, ""), variable)
}

fn raw_request_source<'p>(context: &mut Context<'p>, element: Element<'p>) -> RawRequestSource {
    let source = RawRequestSource::new(RawRequestSourceSettings {
        file_name: context.text(element, "filename"),
        variable: context.text(element, "variable_name"),
        rewinds: context.flag(element, "rewind", false),
        hex: context.flag(element, "isHex", false),
    });
    if let Some(name) = source.missing_file() {
        let message =
            format!("the file {name:?} cannot be read; as long as it is not there, its variable is not set");
        context.warn(element, "missing-file", message);
    }
    source
}

fn regex_extractor<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
) -> Result<Arc<dyn Processor>, Refusal> {
    let settings = RegexExtractorSettings {
        name: element.name().to_owned(),
        refname: context.text(element, "RegexExtractor.refname"),
        regex: context.text(element, "RegexExtractor.regex"),
        template: context.text(element, "RegexExtractor.template"),
        match_number: context.text(element, "RegexExtractor.match_number"),
        default: context.text(element, "RegexExtractor.default"),
        default_is_empty: context.flag(element, "RegexExtractor.default_empty_value", false),
        field: Field::of_extractor(element.text_or("RegexExtractor.useHeaders", ""))?,
        scope: scope(context, element, "Sample.scope")?,
    };
    Ok(Arc::new(RegexExtractor::new(settings, &mut context.symbols)?))
}

fn json_extractor<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
) -> Result<Arc<dyn Processor>, Refusal> {
    let settings = JsonExtractorSettings {
        name: element.name().to_owned(),
        names: context.text(element, "JSONPostProcessor.referenceNames"),
        paths: context.text(element, "JSONPostProcessor.jsonPathExprs"),
        match_numbers: context.text(element, "JSONPostProcessor.match_numbers"),
        defaults: context.text(element, "JSONPostProcessor.defaultValues"),
        concatenate: context.flag(element, "JSONPostProcessor.compute_concat", false),
        scope: scope(context, element, "Sample.scope")?,
    };
    let extractor = JsonExtractor::new(settings)?;
    documents::warn_of_problem(context, element, extractor.wrong_path());
    if let Some(problem) = extractor.problem() {
        let message = format!(
            "the match numbers are wrong, on which JMeter drops each sample, as is done here: {problem}"
        );
        context.warn(element, "invalid-number", message);
    }
    Ok(Arc::new(extractor))
}

fn boundary_extractor<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
) -> Result<Arc<dyn Processor>, Refusal> {
    let settings = BoundaryExtractorSettings {
        name: element.name().to_owned(),
        refname: context.text(element, "BoundaryExtractor.refname"),
        left: context.text(element, "BoundaryExtractor.lboundary"),
        right: context.text(element, "BoundaryExtractor.rboundary"),
        match_number: context.text(element, "BoundaryExtractor.match_number"),
        default: context.text(element, "BoundaryExtractor.default"),
        default_is_empty: context.flag(element, "BoundaryExtractor.default_empty_value", false),
        field: Field::of_extractor(element.text_or("BoundaryExtractor.useHeaders", ""))?,
        scope: scope(context, element, "Sample.scope")?,
    };
    Ok(Arc::new(BoundaryExtractor::new(settings)?))
}

fn response_assertion<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
) -> Result<Arc<dyn Assertion>, Refusal> {
    // JMeter's own spelling, and the one that some tools write.
    let list =
        element.collection("Asserion.test_strings").or_else(|| element.collection("Assertion.test_strings"));
    let mut test_strings = Vec::new();
    for item in list.into_iter().flat_map(|list| list.items()) {
        test_strings.push(context.parse(item.text().unwrap_or(""), item));
    }
    let settings = ResponseAssertionSettings {
        name: context.name(element),
        field: Field::of_assertion(element.text_or("Assertion.test_field", ""))?,
        test_strings,
        test_type: i32::try_from(context.number(element, "Assertion.test_type", 2)).unwrap_or(2),
        assume_success: context.flag(element, "Assertion.assume_success", false),
        custom_message: context.text(element, "Assertion.custom_message"),
        scope: scope(context, element, "Assertion.scope")?,
    };
    Ok(Arc::new(ResponseAssertion::new(settings)?))
}

fn json_assertion<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
) -> Result<Arc<dyn Assertion>, Refusal> {
    let path = context.text(element, "JSON_PATH");
    let settings = json_assertion_settings(context, element, path);
    let assertion = JsonAssertion::new(settings)?;
    documents::warn_of_problem(context, element, assertion.wrong_path());
    Ok(Arc::new(assertion))
}

/// The settings that all assertions about JSON documents have; only the path has names of its own.
pub(crate) fn json_assertion_settings<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    path: Template,
) -> JsonAssertionSettings {
    JsonAssertionSettings {
        name: context.name(element),
        path,
        validate: context.flag(element, "JSONVALIDATION", false),
        expected: context.text(element, "EXPECTED_VALUE"),
        is_regex: context.flag(element, "ISREGEX", true),
        expect_null: context.flag(element, "EXPECT_NULL", false),
        invert: context.flag(element, "INVERT", false),
    }
}

fn size_assertion<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
) -> Result<Arc<dyn Assertion>, Refusal> {
    let settings = SizeAssertionSettings {
        name: context.name(element),
        size: context.text_or(element, "SizeAssertion.size", "0"),
        operator: i32::try_from(context.number(element, "SizeAssertion.operator", 1)).unwrap_or(1),
        of: SizeOf::of(element.text_or("Assertion.test_field", "")),
        scope: scope(context, element, "Assertion.scope")?,
    };
    Ok(Arc::new(SizeAssertion::new(settings)))
}

/// The scripted sampler an element is.
pub(crate) fn script_sampler<'p>(context: &mut Context<'p>, element: Element<'p>) -> Option<ScriptSampler> {
    let made = script_settings(context, element).and_then(ScriptSampler::new);
    let sampler = made.map_err(|refusal| context.refuse(element, &refusal)).ok()?;
    warn(context, element, sampler.warnings());
    Some(sampler)
}

/// The scripted timer an element is.
pub(crate) fn script_timer<'p>(context: &mut Context<'p>, element: Element<'p>) -> Option<Arc<dyn Timer>> {
    let made = script_settings(context, element).and_then(ScriptTimer::new);
    let timer = made.map_err(|refusal| context.refuse(element, &refusal)).ok()?;
    warn(context, element, timer.warnings());
    context.keep = context.keep.union(timer.keep());
    Some(Arc::new(timer))
}

/// What is accepted in a script, and fails in JMeter when it is reached.
fn warn(context: &mut Context<'_>, element: Element<'_>, warnings: &[String]) {
    for warning in warnings {
        context.warn(element, "script-fails", format!("the script: {warning}"));
    }
}

fn script_processor<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    make: fn(ScriptSettings) -> Result<ScriptProcessor, Refusal>,
) -> Result<Arc<dyn Processor>, Refusal> {
    let made = make(script_settings(context, element)?)?;
    warn(context, element, made.warnings());
    Ok(Arc::new(made))
}

fn script_settings<'p>(context: &mut Context<'p>, element: Element<'p>) -> Result<ScriptSettings, Refusal> {
    let kind = element.kind();
    let family = if kind.starts_with("BeanShell") {
        Family::BeanShell
    } else if kind.starts_with("BSF") {
        Family::Bsf
    } else {
        Family::Jsr223
    };
    let [script, parameters, filename, forgets] = match kind {
        "BeanShellSampler" => [
            "BeanShellSampler.query",
            "BeanShellSampler.parameters",
            "BeanShellSampler.filename",
            "BeanShellSampler.resetInterpreter",
        ],
        "BeanShellAssertion" => [
            "BeanShellAssertion.query",
            "BeanShellAssertion.parameters",
            "BeanShellAssertion.filename",
            "BeanShellAssertion.resetInterpreter",
        ],
        _ => ["script", "parameters", "filename", "resetInterpreter"],
    };
    Ok(ScriptSettings {
        name: element.name().to_owned(),
        family,
        language: busyhour_processors::language_of(element.text_or("scriptLanguage", ""), family)?,
        script: context.text(element, script),
        parameters: context.text(element, parameters),
        filename: context.text(element, filename),
        forgets: context.flag(element, forgets, false),
        caches: family == Family::Jsr223 && element.text_or("cacheKey", "") != "false",
        base_dir: context.options.base_dir.clone(),
        state: context.symbols.state(),
    })
}
