//! Post-processors that extract values from results.

use std::sync::Arc;

use busyhour_plan::Element;
use busyhour_processors::scope::Field;
use busyhour_processors::{
    BoundaryExtractor, BoundaryExtractorSettings, CssExtractor, CssExtractorSettings, DebugPostProcessor,
    DebugPostProcessorSettings, JmesExtractor, JmesExtractorSettings, JsonExtractor, JsonExtractorSettings,
    PluginJsonExtractor, PluginJsonExtractorSettings, Refusal, RegexExtractor, RegexExtractorSettings,
    XPathExtractor, XPathExtractorSettings, XPathFlavour, jmespath_error, xpath_error,
};
use busyhour_program::element::Processor;

use crate::context::Context;
use crate::processor_settings::{debug_settings, first_flavour, refuse_yaml, scope, warn_about_expression};

pub(crate) fn regex_extractor<'p>(
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
        field: Field::of_extractor(element.text_or("RegexExtractor.useHeaders", "")),
        scope: scope(context, element, "Sample.scope")?,
    };
    Ok(Arc::new(RegexExtractor::new(settings, &mut context.symbols)?))
}

pub(crate) fn json_extractor<'p>(
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
    warn_about_expression(context, element, extractor.path_error());
    if let Some(problem) = extractor.match_numbers_error() {
        let message =
            format!("the match numbers are invalid, so every sample is discarded, as in JMeter: {problem}");
        context.findings.warn(element, "invalid-number", message);
    }
    Ok(Arc::new(extractor))
}

pub(crate) fn boundary_extractor<'p>(
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
        field: Field::of_extractor(element.text_or("BoundaryExtractor.useHeaders", "")),
        scope: scope(context, element, "Sample.scope")?,
    };
    Ok(Arc::new(BoundaryExtractor::new(settings)?))
}

pub(crate) fn xpath_extractor<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
) -> Result<Arc<dyn Processor>, Refusal> {
    let flavour = first_flavour(context, element, "XPathExtractor")?;
    let query = context.text(element, "XPathExtractor.xpathQuery");
    warn_about_expression(context, element, xpath_error(&query));
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

pub(crate) fn xpath2_extractor<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
) -> Result<Arc<dyn Processor>, Refusal> {
    let settings = XPathExtractorSettings {
        name: context.name(element),
        flavour: XPathFlavour::XPath2 { namespaces: context.text(element, "XPathExtractor2.namespaces") },
        query: context.text(element, "XPathExtractor2.xpathQuery"),
        refname: context.text(element, "XPathExtractor2.refname"),
        default: context.text(element, "XPathExtractor2.default"),
        match_number: context.text_or(element, "XPathExtractor2.matchNumber", "0"),
        fragment: context.flag(element, "XPathExtractor2.fragment", false),
        scope: scope(context, element, "Sample.scope")?,
    };
    Ok(Arc::new(XPathExtractor::new(settings)?))
}

pub(crate) fn css_extractor<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
) -> Result<Arc<dyn Processor>, Refusal> {
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
    warn_about_expression(context, element, extractor.selector_error());
    Ok(Arc::new(extractor))
}

pub(crate) fn jmes_extractor<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
) -> Result<Arc<dyn Processor>, Refusal> {
    let path = context.text(element, "JMESExtractor.jmesPathExpr");
    warn_about_expression(context, element, jmespath_error(&path));
    Ok(Arc::new(JmesExtractor::new(JmesExtractorSettings {
        name: element.name().to_owned(),
        refname: context.text(element, "JMESExtractor.referenceName"),
        path,
        match_number: context.text(element, "JMESExtractor.matchNumber"),
        default: context.text(element, "JMESExtractor.defaultValue"),
        scope: scope(context, element, "Sample.scope")?,
    })))
}

pub(crate) fn plugin_json_extractor<'p>(
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
    warn_about_expression(context, element, extractor.path_error());
    Ok(Arc::new(extractor))
}

pub(crate) fn debug_post_processor<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
) -> Arc<dyn Processor> {
    let settings = DebugPostProcessorSettings {
        sampler_properties: context.flag(element, "displaySamplerProperties", false),
        shown: debug_settings(context, element),
    };
    Arc::new(DebugPostProcessor::new(settings))
}
