//! Samplers beside HTTP's, with the defaults of their scope.

use busyhour_diagnostic::Diagnostic;
use busyhour_engine::template::Template;
use busyhour_plan::{Element, Property};
use busyhour_samplers::{Dummy, JavaClass, JavaRequest, OtherSampler};

use crate::context::Context;
use crate::scope::Stack;

/// jmeter-plugins' sampler that makes its result up.
pub(crate) const DUMMY: &str = "kg.apc.jmeter.samplers.DummySampler";

/// The sampler at the end of `stack`, if it is one of those that are no HTTP requests.
pub(crate) fn sampler<'p>(context: &mut Context<'p>, stack: &Stack<'p>) -> Option<Box<dyn OtherSampler>> {
    let element = *stack.path.last()?;
    Some(match element.kind() {
        "JavaSampler" => Box::new(java(context, stack, element)?),
        DUMMY => Box::new(dummy(context, element)),
        _ => return None,
    })
}

/// Names and values of an `Arguments` inside an element.
fn arguments<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    property: &str,
) -> Vec<(Template, Template)> {
    let list = element.element(property).and_then(|inner| inner.property("Arguments.arguments"));
    list.into_iter()
        .flat_map(Property::items)
        .map(|item| (context.item(item, "Argument.name"), context.item(item, "Argument.value")))
        .collect()
}

fn java<'p>(context: &mut Context<'p>, stack: &Stack<'p>, element: Element<'p>) -> Option<JavaRequest> {
    let name = element.text("classname").unwrap_or("").to_owned();
    let name = context.now(&name);
    let Some(class) = JavaClass::named(&name) else {
        let finding = Diagnostic::error(
            "unsupported-java-class",
            format!("the Java Request runs the class {:?}, which needs a Java machine", name.trim()),
        );
        let finding = finding.with_hint(
            "of Java's classes only JMeter's own JavaTest and SleepTest run here; say the same as a HTTP request or \
             script, disable the element, or run with --allow-unsupported",
        );
        let finding = match element.property("classname") {
            Some(property) => property.locate(finding),
            None => element.locate(finding),
        };
        context.unsupported(finding);
        return None;
    };
    let mut all = arguments(context, element, "arguments");
    // What defaults add stands behind the sampler's own, and of two with one name the first counts.
    for defaults in stack.nearest_first().into_iter().filter(|element| element.kind() == "JavaConfig") {
        all.extend(arguments(context, defaults, "arguments"));
    }
    Some(JavaRequest { class, arguments: all.into(), client: context.symbols.state() })
}

fn dummy<'p>(context: &mut Context<'p>, element: Element<'p>) -> Dummy {
    const CLASS: &str = "RESULT_CLASS";
    let known = |class: &str| {
        [
            "",
            "org.apache.jmeter.samplers.SampleResult",
            "org.apache.jmeter.protocol.http.sampler.HTTPSampleResult",
        ]
        .contains(&class)
    };
    if element.text(CLASS).is_some_and(|class| !known(class)) {
        context.unsupported_setting(element, CLASS, "results of another class need a Java machine");
    }
    Dummy {
        success: context.text(element, "SUCCESFULL"),
        code: context.text(element, "RESPONSE_CODE"),
        message: context.text(element, "RESPONSE_MESSAGE"),
        request: context.text(element, "REQUEST_DATA"),
        response: context.text(element, "RESPONSE_DATA"),
        time_ms: context.text(element, "RESPONSE_TIME"),
        latency_ms: context.text(element, "LATENCY"),
        connect_ms: context.text(element, "CONNECT"),
        waits: context.text(element, "WAITING"),
        url: context.text(element, "URL"),
    }
}
