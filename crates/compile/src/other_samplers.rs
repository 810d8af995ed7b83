//! Compiles samplers of protocols other than HTTP, TCP and WebSocket, with the defaults in their scope.

use busyhour_diagnostic::{Diagnostic, Needs};
use busyhour_plan::Element;
use busyhour_samplers::{Dummy, JavaClass, JavaRequest, ProcessSampler, RawHttp, Udp, UdpCoder};

use crate::arguments::arguments;
use crate::context::Context;
use crate::elements::config::ConfigClass;
use crate::elements::{Role, role};
use crate::findings::located;
use crate::scope::Stack;

/// Compiles JMeter's Java Request.
pub(crate) fn java<'p>(
    context: &mut Context<'p>,
    stack: &Stack<'p>,
    element: Element<'p>,
) -> Option<JavaRequest> {
    let name = element.text("classname").unwrap_or("").to_owned();
    let name = context.now(&name);
    let Some(class) = JavaClass::named(&name) else {
        let finding = Diagnostic::error(
            "unsupported-java-class",
            format!("the Java Request runs the class {:?}, which needs a JVM", name.trim()),
        );
        let finding = finding.with_hint(
            "only JMeter's JavaTest and SleepTest can run here; replace it with an HTTP request or \
             script, disable the element, or run with --allow-unsupported",
        );
        context.findings.add_unsupported(located(element, "classname", finding.with_needs(Needs::Java)));
        return None;
    };
    let mut all = arguments(context, element, "arguments");
    // The arguments of the defaults follow the sampler's own; if a name occurs twice, the first value is used.
    let is_java_default = |element: &Element<'p>| role(*element) == Role::Config(ConfigClass::JavaDefaults);
    for defaults in stack.nearest_first().into_iter().filter(is_java_default) {
        all.extend(arguments(context, defaults, "arguments"));
    }
    Some(JavaRequest { class, arguments: all.into(), client: context.symbols.state() })
}

/// Compiles the Dummy Sampler of jmeter-plugins.
pub(crate) fn dummy<'p>(context: &mut Context<'p>, element: Element<'p>) -> Dummy {
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
        context.findings.setting_needs_java(element, CLASS, "results of another class need a JVM");
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

/// Compiles the UDP Request of jmeter-plugins.
pub(crate) fn udp<'p>(context: &mut Context<'p>, element: Element<'p>) -> Option<Udp> {
    const CLASS: &str = "encodeclass";
    let class = element.text(CLASS).unwrap_or("").to_owned();
    let class = context.now(&class);
    let Some(coder) = UdpCoder::named(&class) else {
        let what = format!("the packet coder {class:?} needs a JVM; use HexStringUDPDecoder or none");
        context.findings.setting_needs_java(element, CLASS, &what);
        return None;
    };
    Some(Udp {
        host: context.text(element, "hostname"),
        port: context.text(element, "port"),
        waits: context.text(element, "waitresponse"),
        timeout: context.text(element, "timeout"),
        data: context.text(element, "data"),
        coder,
        close: context.text(element, "closechannel"),
        bind_address: context.text(element, "bind_address"),
        bind_port: context.text(element, "bind_port"),
        id: context.symbols.state(),
    })
}

/// Compiles the HTTP Raw Request of jmeter-plugins.
pub(crate) fn raw_http<'p>(context: &mut Context<'p>, element: Element<'p>) -> RawHttp {
    RawHttp {
        host: context.text(element, "hostname"),
        port: context.text(element, "port"),
        timeout: context.text(element, "timeout"),
        data: context.text(element, "data"),
        file: context.text(element, "fileName"),
        keep: context.text(element, "keepalive"),
        parse: context.text(element, "parse"),
        id: context.symbols.state(),
    }
}

/// Compiles JMeter's OS Process Sampler.
pub(crate) fn system<'p>(context: &mut Context<'p>, element: Element<'p>) -> ProcessSampler {
    let values = arguments(context, element, "SystemSampler.arguments");
    ProcessSampler {
        command: context.text(element, "SystemSampler.command"),
        arguments: values.into_iter().map(|(_, value)| value).collect(),
        environment: arguments(context, element, "SystemSampler.environment").into(),
        directory: context.text(element, "SystemSampler.directory"),
        check: context.text(element, "SystemSampler.checkReturnCode"),
        expected: context.text(element, "SystemSampler.expectedReturnCode"),
        stdin: context.text(element, "SystemSampler.stdin"),
        stdout: context.text(element, "SystemSampler.stdout"),
        stderr: context.text(element, "SystemSampler.stderr"),
        timeout: context.text(element, "SystemSampler.timeout"),
        base: std::path::absolute(".").unwrap_or_default(),
    }
}
