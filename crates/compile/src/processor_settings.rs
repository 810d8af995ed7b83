//! Settings that several processors and assertions share.

use busyhour_plan::Element;
use busyhour_processors::scope::SampleScope;
use busyhour_processors::{DebugSamplerSettings, JsonAssertionSettings, Refusal, XPathFlavour};
use busyhour_program::template::Template;

use crate::context::Context;

/// The scope of an element: the results or the variable that it reads.
pub(crate) fn scope<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    property: &str,
) -> Result<SampleScope, Refusal> {
    let variable = context.text(element, "Scope.variable");
    SampleScope::parse(element.text_or(property, ""), variable)
}

/// The common settings of assertions about JSON documents; only the property with the path differs.
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

/// Warns about an invalid expression, which JMeter detects at each sample.
pub(crate) fn warn_about_expression(
    context: &mut Context<'_>,
    element: Element<'_>,
    problem: Option<String>,
) {
    if let Some(problem) = problem {
        let message =
            format!("the expression of {} is invalid, so it never finds anything: {problem}", element.kind());
        context.findings.warn(element, "wrong-expression", message);
    }
}

/// The settings of JMeter's XPath 1 elements that affect how a document is parsed.
pub(crate) fn first_flavour(
    context: &mut Context<'_>,
    element: Element<'_>,
    prefix: &str,
) -> Result<XPathFlavour, Refusal> {
    let flag = |name: &str| element.boolean(&format!("{prefix}.{name}")).unwrap_or(false);
    let (tolerant, namespaces) = (flag("tolerant"), flag("namespace"));
    let (errors, fetches) = (flag("report_errors"), flag("download_dtds"));
    if tolerant && errors {
        return Err(Refusal::unsupported("fails samples in whose pages JTidy finds errors"));
    }
    if fetches && !tolerant {
        let message =
            "DTDs are not fetched: a document that uses entities of an external DTD cannot be parsed";
        context.findings.warn(element, "external-dtd", message);
    }
    Ok(XPathFlavour::XPath1 { tolerant, namespaces })
}

/// Rejects documents in YAML, which the plugin's library converts to JSON by its own rules.
pub(crate) fn refuse_yaml(element: Element<'_>) -> Result<(), Refusal> {
    match element.text_or("INPUT_FORMAT", "JSON") {
        "YAML" => Err(Refusal::unsupported("reads YAML")),
        _ => Ok(()),
    }
}

/// The settings of a debug element, which select its output.
pub(crate) fn debug_settings<'p>(context: &mut Context<'p>, element: Element<'p>) -> DebugSamplerSettings {
    let variables = context.flag(element, "displayJMeterVariables", false);
    context.reads.any_variable |= variables;
    DebugSamplerSettings {
        variables,
        properties: context.flag(element, "displayJMeterProperties", false),
        system_properties: context.flag(element, "displaySystemProperties", false),
    }
}
