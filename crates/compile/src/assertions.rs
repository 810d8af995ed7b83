//! Assertions.

use std::sync::Arc;

use busyhour_plan::Element;
use busyhour_processors::scope::Field;
use busyhour_processors::{
    CompareAssertion, CompareAssertionSettings, DurationAssertion, DurationAssertionSettings, JmesAssertion,
    JsonAssertion, Md5HexAssertion, PluginJsonAssertion, Refusal, ResponseAssertion,
    ResponseAssertionSettings, SizeAssertion, SizeAssertionSettings, SizeField, XPathAssertion,
    XPathAssertionSettings, XPathFlavour, XmlAssertion, XmlSchemaAssertion, jmespath_error, xpath_error,
};
use busyhour_program::element::Assertion;
use busyhour_program::template::Template;

use crate::context::Context;
use crate::elements::assertions::AssertionClass;
use crate::processor_settings::{
    first_flavour, json_assertion_settings, refuse_yaml, scope, warn_about_expression,
};
use crate::scripts;

/// Compiles an assertion; `None` if it is rejected.
pub(crate) fn assertion<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    class: AssertionClass,
) -> Option<Arc<dyn Assertion>> {
    if let Some(known) = context.parts.assertions.get(&element.id()) {
        return known.clone();
    }
    let compiled: Result<Arc<dyn Assertion>, Refusal> = match class {
        AssertionClass::Response => response_assertion(context, element),
        AssertionClass::Duration => duration_assertion(context, element),
        AssertionClass::JsonPath => json_assertion(context, element),
        AssertionClass::Size => size_assertion(context, element),
        AssertionClass::XPath => xpath_assertion(context, element),
        AssertionClass::XPath2 => xpath2_assertion(context, element),
        AssertionClass::JmesPath => jmes_assertion(context, element),
        AssertionClass::Compare => compare_assertion(context, element),
        AssertionClass::PluginJsonPath => plugin_json_assertion(context, element),
        AssertionClass::Xml => Ok(Arc::new(XmlAssertion::new(context.name(element))) as _),
        AssertionClass::XmlSchema => {
            let name = context.name(element);
            let file = context.text(element, "xmlschema_assertion_filename");
            let base = context.options.base_dir.clone();
            XmlSchemaAssertion::new(name, file, base).map(|compiled| Arc::new(compiled) as _)
        }
        AssertionClass::Md5Hex => {
            let name = context.name(element);
            Ok(Arc::new(Md5HexAssertion::new(name, context.text(element, "MD5HexAssertion.size"))) as _)
        }
        AssertionClass::Script(source) => {
            scripts::assertion(context, element, source).map(|compiled| Arc::new(compiled) as _)
        }
    };
    let compiled = compiled.map_err(|refusal| context.findings.refuse(element, &refusal)).ok();
    context.parts.assertions.insert(element.id(), compiled.clone());
    compiled
}

fn duration_assertion<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
) -> Result<Arc<dyn Assertion>, Refusal> {
    let duration = context.text_or(element, "DurationAssertion.duration", "0");
    let name = context.name(element);
    let scope = scope(context, element, "Assertion.scope")?;
    Ok(Arc::new(DurationAssertion::new(DurationAssertionSettings { name, duration, scope })))
}

fn response_assertion<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
) -> Result<Arc<dyn Assertion>, Refusal> {
    // The first name is JMeter's own (misspelt) one; some tools write the second.
    let list =
        element.collection("Asserion.test_strings").or_else(|| element.collection("Assertion.test_strings"));
    let mut test_strings = Vec::new();
    for item in list.into_iter().flat_map(|list| list.items()) {
        test_strings.push(context.parse(item.text().unwrap_or(""), item));
    }
    let field = Field::of_assertion(element.text_or("Assertion.test_field", ""));
    if field == Field::Document {
        let message = "JMeter needs tika-app.jar in its lib directory to extract the text of HTML and plain text, and otherwise \
                       compares an error message; here the text is extracted as with tika-app.jar";
        context.findings.warn(element, "document-text", message);
    }
    let settings = ResponseAssertionSettings {
        name: context.name(element),
        field,
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
    warn_about_expression(context, element, assertion.path_error());
    Ok(Arc::new(assertion))
}

fn size_assertion<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
) -> Result<Arc<dyn Assertion>, Refusal> {
    let settings = SizeAssertionSettings {
        name: context.name(element),
        size: context.text_or(element, "SizeAssertion.size", "0"),
        operator: i32::try_from(context.number(element, "SizeAssertion.operator", 1)).unwrap_or(1),
        field: SizeField::from_test_field(element.text_or("Assertion.test_field", "")),
        scope: scope(context, element, "Assertion.scope")?,
    };
    Ok(Arc::new(SizeAssertion::new(settings)))
}

fn xpath_assertion<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
) -> Result<Arc<dyn Assertion>, Refusal> {
    refuse_validation(element)?;
    let flavour = first_flavour(context, element, "XPath")?;
    let query = context.text_or(element, "XPath.xpath", "/");
    warn_about_expression(context, element, xpath_error(&query));
    xpath_assertion_of(context, element, flavour, query)
}

/// Rejects the validation of documents against their DTD. Only assertions validate; extractors ignore this setting.
fn refuse_validation(element: Element<'_>) -> Result<(), Refusal> {
    let flag = |name: &str| element.boolean(name).unwrap_or(false);
    if flag("XPath.validate") && !flag("XPath.tolerant") {
        return Err(Refusal::unsupported("validates documents against their DTD")
            .with_hint("switch off its validation: the expression is checked without it"));
    }
    Ok(())
}

fn xpath2_assertion<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
) -> Result<Arc<dyn Assertion>, Refusal> {
    let flavour = XPathFlavour::XPath2 { namespaces: context.text(element, "XPath.namespaces") };
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

fn jmes_assertion<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
) -> Result<Arc<dyn Assertion>, Refusal> {
    let path = context.text(element, "JMES_PATH");
    warn_about_expression(context, element, jmespath_error(&path));
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

fn plugin_json_assertion<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
) -> Result<Arc<dyn Assertion>, Refusal> {
    refuse_yaml(element)?;
    let path = context.text(element, "JSON_PATH");
    let settings = json_assertion_settings(context, element, path);
    Ok(Arc::new(PluginJsonAssertion::new(settings)?))
}
