//! Samplers beside HTTP's, with the defaults of their scope.

use busyhour_diagnostic::{Diagnostic, Needs};
use busyhour_engine::template::Template;
use busyhour_plan::{Element, Property};
use busyhour_samplers::{
    Dummy, JavaClass, JavaRequest, OtherSampler, RawHttp, StatusProperties, System, Tcp, TcpClient,
    TcpProperties, Udp, UdpCoder,
};

use crate::context::Context;
use crate::scope::Stack;
use crate::websocket;

/// jmeter-plugins' sampler that makes its result up.
pub(crate) const DUMMY: &str = "kg.apc.jmeter.samplers.DummySampler";

/// jmeter-plugins' sampler of packets.
pub(crate) const UDP: &str = "kg.apc.jmeter.samplers.UDPSampler";

/// jmeter-plugins' sampler of texts over TCP.
pub(crate) const RAW_HTTP: &str = "kg.apc.jmeter.samplers.HTTPRawSampler";

/// The sampler at the end of `stack`, if it is one of those that are no HTTP requests.
pub(crate) fn sampler<'p>(context: &mut Context<'p>, stack: &Stack<'p>) -> Option<Box<dyn OtherSampler>> {
    let element = *stack.path.last()?;
    Some(match element.kind() {
        "JavaSampler" => Box::new(java(context, stack, element)?),
        DUMMY => Box::new(dummy(context, element)),
        UDP => Box::new(udp(context, element)?),
        RAW_HTTP => Box::new(raw_http(context, element)),
        "SystemSampler" => Box::new(system(context, element)),
        "TCPSampler" => Box::new(tcp(context, stack, element)?),
        _ => Box::new(websocket::sampler(context, stack)?),
    })
}

/// Names and values of an `Arguments` inside an element.
pub(crate) fn arguments<'p>(
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
        context.unsupported(finding.with_needs(Needs::Java));
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
        context.setting_needs_java(element, CLASS, "results of another class need a Java machine");
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

fn udp<'p>(context: &mut Context<'p>, element: Element<'p>) -> Option<Udp> {
    const CLASS: &str = "encodeclass";
    let class = element.text(CLASS).unwrap_or("").to_owned();
    let class = context.now(&class);
    let Some(coder) = UdpCoder::named(&class) else {
        let what = format!(
            "the coder {class:?} of packets needs a Java machine; HexStringUDPDecoder or none do not"
        );
        context.setting_needs_java(element, CLASS, &what);
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

fn raw_http<'p>(context: &mut Context<'p>, element: Element<'p>) -> RawHttp {
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

fn system<'p>(context: &mut Context<'p>, element: Element<'p>) -> System {
    let values = arguments(context, element, "SystemSampler.arguments");
    System {
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

/// A text of a sampler, or of the nearest of its defaults where the sampler says nothing.
fn with_defaults<'p>(
    context: &mut Context<'p>,
    sampler: Element<'p>,
    defaults: &[Element<'p>],
    name: &str,
) -> Template {
    let says = |element: &Element<'p>| element.text(name).is_some_and(|text| !text.is_empty());
    let owner = std::iter::once(&sampler).chain(defaults).find(|element| says(element));
    context.text(*owner.unwrap_or(&sampler), name)
}

fn tcp<'p>(context: &mut Context<'p>, stack: &Stack<'p>, element: Element<'p>) -> Option<Tcp> {
    let defaults: Vec<_> = stack
        .nearest_first()
        .into_iter()
        .filter(|element| ["TCPConfigGui", "LoginConfigGui"].contains(&element.gui_kind()))
        .collect();
    let mut text = |name: &str| with_defaults(context, element, &defaults, name);
    let class = text("TCPSampler.classname");
    let (server, port, request) =
        (text("TCPSampler.server"), text("TCPSampler.port"), text("TCPSampler.request"));
    let (reuse, close) = (text("TCPSampler.reUseConnection"), text("TCPSampler.closeConnection"));
    let (no_delay, linger) = (text("TCPSampler.nodelay"), text("TCPSampler.soLinger"));
    let (connect_timeout, timeout) = (text("TCPSampler.ctimeout"), text("TCPSampler.timeout"));
    let end = text("TCPSampler.EolByte");
    let login = (text("ConfigTestElement.username"), text("ConfigTestElement.password"));
    let properties = &context.options.properties;
    let class = match context.now(class.source()) {
        class if class.is_empty() => properties.get("tcp.handler").unwrap_or_else(|| "TCPClientImpl".into()),
        class => class,
    };
    let Some(client) = TcpClient::named(&class) else {
        let what = format!("the TCP client class {class:?} is none of JMeter's own, it needs a Java machine");
        context.setting_needs_java(element, "TCPSampler.classname", &what);
        return None;
    };
    let number = |name: &str, default: i32| {
        properties.get(name).and_then(|text| text.trim().parse().ok()).unwrap_or(default)
    };
    let tcp_properties = TcpProperties {
        end_of_text: number("tcp.eolByte", 1000),
        end_of_message: number("tcp.BinaryTCPClient.eomByte", 1000),
        prefix_bytes: usize::try_from(number("tcp.binarylength.prefix.length", 2)).unwrap_or(0),
    };
    let trimmed = |name: &str| properties.get(name).map(|text| text.trim().to_owned()).unwrap_or_default();
    let status = StatusProperties {
        prefix: trimmed("tcp.status.prefix"),
        suffix: trimmed("tcp.status.suffix"),
        messages: Some(trimmed("tcp.status.properties"))
            .filter(|path| !path.is_empty())
            .and_then(|path| std::fs::read_to_string(path).ok())
            .map(|text| messages(&text)),
    };
    if properties
        .get("tcp.charset")
        .is_some_and(|name| !name.is_empty() && !name.eq_ignore_ascii_case("UTF-8"))
    {
        context.unsupported_setting(
            element,
            "TCPSampler.request",
            "a tcp.charset other than UTF-8 is not supported",
        );
    }
    Some(Tcp {
        client,
        server,
        port,
        reuse,
        close,
        no_delay,
        linger,
        end,
        connect_timeout,
        timeout,
        request,
        login,
        properties: tcp_properties,
        status,
    })
}

/// The entries `status=text` of a properties file.
fn messages(text: &str) -> std::collections::HashMap<String, String> {
    let entries = text.lines().map(str::trim).filter(|line| !line.starts_with(['#', '!']));
    entries
        .filter_map(|line| line.split_once(['=', ':']))
        .map(|(status, message)| (status.trim().to_owned(), message.trim_start().to_owned()))
        .collect()
}
