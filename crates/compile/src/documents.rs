//! Processors and assertions that read responses as documents: XML, HTML, JSON by JMESPath.

use std::sync::Arc;

use busyhour_engine::element::{Assertion, Processor};
use busyhour_engine::template::Template;
use busyhour_plan::Element;
use busyhour_processors::{
    CompareAssertion, CompareAssertionSettings, CssExtractor, CssExtractorSettings, DebugPostProcessor,
    DebugPostProcessorSettings, DebugSamplerSettings, JmesAssertion, JmesExtractor, JmesExtractorSettings,
    Md5HexAssertion, PluginJsonAssertion, PluginJsonExtractor, PluginJsonExtractorSettings, Refusal,
    XPathAssertion, XPathAssertionSettings, XPathExtractor, XPathExtractorSettings, XPathFlavour,
    XmlAssertion, XmlSchemaAssertion, jmespath_problem, xpath_problem,
};

use crate::context::Context;
use crate::processors::{json_assertion_settings, scope};

/// The post-processor an element is, if it is one of those here.
pub(crate) fn processor<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
) -> Option<Result<Arc<dyn Processor>, Refusal>> {
    Some(match element.kind() {
        "XPathExtractor" => xpath_extractor(context, element),
        "XPath2Extractor" => xpath2_extractor(context, element),
        "HtmlExtractor" => css_extractor(context, element),
        "JMESPathExtractor" => jmes_extractor(context, element),
        "com.atlantbh.jmeter.plugins.jsonutils.jsonpathextractor.JSONPathExtractor" => {
            plugin_json_extractor(context, element)
        }
        "DebugPostProcessor" => Ok(debug_post_processor(context, element)),
        _ => return None,
    })
}

/// The assertion an element is, if it is one of those here.
pub(crate) fn assertion<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
) -> Option<Result<Arc<dyn Assertion>, Refusal>> {
    Some(match element.kind() {
        "XPathAssertion" => xpath_assertion(context, element),
        "XPath2Assertion" => xpath2_assertion(context, element),
        "JMESPathAssertion" => jmes_assertion(context, element),
        "CompareAssertion" => compare_assertion(context, element),
        "com.atlantbh.jmeter.plugins.jsonutils.jsonpathassertion.JSONPathAssertion" => {
            plugin_json_assertion(context, element)
        }
        "XMLAssertion" => Ok(Arc::new(XmlAssertion::new(context.name(element))) as _),
        "XMLSchemaAssertion" => {
            let name = context.name(element);
            let file = context.text(element, "xmlschema_assertion_filename");
            let base = context.options.base_dir.clone();
            XmlSchemaAssertion::new(name, file, base).map(|made| Arc::new(made) as _)
        }
        "MD5HexAssertion" => {
            let name = context.name(element);
            Ok(Arc::new(Md5HexAssertion::new(name, context.text(element, "MD5HexAssertion.size"))) as _)
        }
        _ => return None,
    })
}

/// JMeter finds out at each sample that an expression is none.
pub(crate) fn warn_of_problem(context: &mut Context<'_>, element: Element<'_>, problem: Option<String>) {
    if let Some(problem) = problem {
        let message = format!(
            "the expression of {} is wrong, so that it finds nothing at any sample: {problem}",
            element.kind()
        );
        context.warn(element, "wrong-expression", message);
    }
}

/// Settings of JMeter's first XPath elements that change how a document is read.
fn first_flavour(
    context: &mut Context<'_>,
    element: Element<'_>,
    prefix: &str,
) -> Result<XPathFlavour, Refusal> {
    let flag = |name: &str| element.boolean(&format!("{prefix}.{name}")).unwrap_or(false);
    let (tolerant, namespaces) = (flag("tolerant"), flag("namespace"));
    let (validate, errors, fetches) = (flag("validate"), flag("report_errors"), flag("download_dtds"));
    // The extractor's flag has no effect in JMeter.
    if validate && !tolerant && element.kind() == "XPathAssertion" {
        return Err(Refusal::unsupported("validates documents against their DTD")
            .with_hint("switch its validation off: the expression is checked without it"));
    }
    if tolerant && errors {
        return Err(Refusal::unsupported("fails samples by the errors that JTidy counts in a page"));
    }
    if fetches && !tolerant {
        let message = "DTDs are not fetched: a document that uses entities of an external DTD is not read";
        context.warn(element, "external-dtd", message);
    }
    Ok(XPathFlavour::One { tolerant, namespaces })
}

fn xpath_extractor<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
) -> Result<Arc<dyn Processor>, Refusal> {
    let flavour = first_flavour(context, element, "XPathExtractor")?;
    let query = context.text(element, "XPathExtractor.xpathQuery");
    warn_of_problem(context, element, xpath_problem(&query));
    let settings = XPathExtractorSettings {
        name: context.name(element),
        flavour,
        query,
        refname: context.text(element, "XPathExtractor.refname"),
        default: context.text(element, "XPathExtractor.default"),
        match_number: context.text_or(element, "XPathExtractor.matchNumber", "-1"),
        fragment: context.flag(element, "XPathExtractor.fragment", false),
        scope: scope(context, element, "Sample.scope")?,
    };
    Ok(Arc::new(XPathExtractor::new(settings)?))
}

fn xpath2_extractor<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
) -> Result<Arc<dyn Processor>, Refusal> {
    let settings = XPathExtractorSettings {
        name: context.name(element),
        flavour: XPathFlavour::Two { namespaces: context.text(element, "XPathExtractor2.namespaces") },
        query: context.text(element, "XPathExtractor2.xpathQuery"),
        refname: context.text(element, "XPathExtractor2.refname"),
        default: context.text(element, "XPathExtractor2.default"),
        match_number: context.text_or(element, "XPathExtractor2.matchNumber", "0"),
        fragment: context.flag(element, "XPathExtractor2.fragment", false),
        scope: scope(context, element, "Sample.scope")?,
    };
    Ok(Arc::new(XPathExtractor::new(settings)?))
}

fn xpath_assertion<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
) -> Result<Arc<dyn Assertion>, Refusal> {
    let flavour = first_flavour(context, element, "XPath")?;
    let query = context.text_or(element, "XPath.xpath", "/");
    warn_of_problem(context, element, xpath_problem(&query));
    xpath_assertion_of(context, element, flavour, query)
}

fn xpath2_assertion<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
) -> Result<Arc<dyn Assertion>, Refusal> {
    let flavour = XPathFlavour::Two { namespaces: context.text(element, "XPath.namespaces") };
    let query = context.text_or(element, "XPath.xpath", "/");
    xpath_assertion_of(context, element, flavour, query)
}

fn xpath_assertion_of<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    flavour: XPathFlavour,
    query: Template,
) -> Result<Arc<dyn Assertion>, Refusal> {
    let settings = XPathAssertionSettings {
        name: context.name(element),
        flavour,
        query,
        negate: context.flag(element, "XPath.negate", false),
        scope: scope(context, element, "Assertion.scope")?,
    };
    Ok(Arc::new(XPathAssertion::new(settings)?))
}

fn css_extractor<'p>(context: &mut Context<'p>, element: Element<'p>) -> Result<Arc<dyn Processor>, Refusal> {
    let settings = CssExtractorSettings {
        name: element.name().to_owned(),
        implementation: element.text_or("HtmlExtractor.extractor_impl", "").to_owned(),
        refname: context.text(element, "HtmlExtractor.refname"),
        selector: context.text(element, "HtmlExtractor.expr"),
        attribute: context.text(element, "HtmlExtractor.attribute"),
        match_number: context.text(element, "HtmlExtractor.match_number"),
        default: context.text(element, "HtmlExtractor.default"),
        default_is_empty: context.flag(element, "HtmlExtractor.default_empty_value", false),
        scope: scope(context, element, "Sample.scope")?,
    };
    let extractor = CssExtractor::new(settings)?;
    warn_of_problem(context, element, extractor.problem());
    Ok(Arc::new(extractor))
}

fn debug_post_processor<'p>(context: &mut Context<'p>, element: Element<'p>) -> Arc<dyn Processor> {
    let settings = DebugPostProcessorSettings {
        sampler_properties: context.flag(element, "displaySamplerProperties", false),
        shown: DebugSamplerSettings {
            variables: context.flag(element, "displayJMeterVariables", false),
            properties: context.flag(element, "displayJMeterProperties", false),
            system_properties: context.flag(element, "displaySystemProperties", false),
        },
    };
    Arc::new(DebugPostProcessor::new(settings))
}

fn jmes_extractor<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
) -> Result<Arc<dyn Processor>, Refusal> {
    let path = context.text(element, "JMESExtractor.jmesPathExpr");
    warn_of_problem(context, element, jmespath_problem(&path));
    Ok(Arc::new(JmesExtractor::new(JmesExtractorSettings {
        name: element.name().to_owned(),
        refname: context.text(element, "JMESExtractor.referenceName"),
        path,
        match_number: context.text(element, "JMESExtractor.matchNumber"),
        default: context.text(element, "JMESExtractor.defaultValue"),
        scope: scope(context, element, "Sample.scope")?,
    })))
}

fn jmes_assertion<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
) -> Result<Arc<dyn Assertion>, Refusal> {
    let path = context.text(element, "JMES_PATH");
    warn_of_problem(context, element, jmespath_problem(&path));
    Ok(Arc::new(JmesAssertion::new(json_assertion_settings(context, element, path))?))
}

fn compare_assertion<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
) -> Result<Arc<dyn Assertion>, Refusal> {
    let mut substitutions = Vec::new();
    for item in element.collection("stringsToSkip").into_iter().flat_map(|list| list.items()) {
        substitutions.push((context.item(item, "regex"), context.item(item, "substitute")));
    }
    let settings = CompareAssertionSettings {
        name: context.name(element),
        content: context.flag(element, "compareContent", true),
        time_ms_max: context.text_or(element, "compareTime", "-1"),
        substitutions,
    };
    Ok(Arc::new(CompareAssertion::new(settings, &mut context.symbols)?))
}

/// YAML is turned into JSON first, with a library's rules of its own.
fn refuse_yaml(element: Element<'_>) -> Result<(), Refusal> {
    match element.text_or("INPUT_FORMAT", "JSON") {
        "YAML" => Err(Refusal::unsupported("reads YAML")),
        _ => Ok(()),
    }
}

fn plugin_json_extractor<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
) -> Result<Arc<dyn Processor>, Refusal> {
    refuse_yaml(element)?;
    let of_variable = element.text_or("SUBJECT", "") == "VAR";
    let settings = PluginJsonExtractorSettings {
        path: context.text(element, "JSONPATH"),
        refname: context.text(element, "VAR"),
        default: context.text(element, "DEFAULT"),
        source: of_variable.then(|| context.text(element, "VARIABLE")),
    };
    let extractor = PluginJsonExtractor::new(settings)?;
    warn_of_problem(context, element, extractor.wrong_path());
    Ok(Arc::new(extractor))
}

fn plugin_json_assertion<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
) -> Result<Arc<dyn Assertion>, Refusal> {
    refuse_yaml(element)?;
    let path = context.text(element, "JSON_PATH");
    let settings = json_assertion_settings(context, element, path);
    Ok(Arc::new(PluginJsonAssertion::new(settings)?))
}
