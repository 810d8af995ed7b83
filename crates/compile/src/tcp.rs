//! Compiles JMeter's TCP Sampler, with the defaults in its scope.

use std::path::Path;

use busyhour_limits::files::{TEXT_FILE_BYTES, read_regular};
use busyhour_plan::Element;
use busyhour_program::run::JmeterProperties;
use busyhour_program::template::Template;
use busyhour_samplers::{StatusProperties, Tcp, TcpClient, TcpProperties};

use crate::context::Context;
use crate::elements::config::ConfigClass;
use crate::elements::{Role, role};
use crate::scope::Stack;

/// A text of a sampler or, if the sampler has none, of the innermost defaults element.
fn with_defaults<'p>(
    context: &mut Context<'p>,
    sampler: Element<'p>,
    defaults: &[Element<'p>],
    name: &str,
) -> Template {
    let has_text = |element: &Element<'p>| element.text(name).is_some_and(|text| !text.is_empty());
    let owner = std::iter::once(&sampler).chain(defaults).find(|element| has_text(element));
    context.text(*owner.unwrap_or(&sampler), name)
}

/// Compiles JMeter's TCP Sampler.
pub(crate) fn sampler<'p>(context: &mut Context<'p>, stack: &Stack<'p>, element: Element<'p>) -> Option<Tcp> {
    let defaults: Vec<_> = stack
        .nearest_first()
        .into_iter()
        .filter(|element| {
            matches!(role(*element), Role::Config(ConfigClass::TcpDefaults | ConfigClass::LoginDefaults))
        })
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
    context.parts.targets.add_host(&server, &port);
    let client = client(context, element, &class)?;
    let properties = &context.options.properties;
    let (properties, status) = (tcp_properties(properties), status_properties(properties));
    check_charset(context, element);
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
        properties,
        status,
    })
}

/// The client class of a sampler.
fn client<'p>(context: &mut Context<'p>, element: Element<'p>, class: &Template) -> Option<TcpClient> {
    let properties = &context.options.properties;
    let class = match context.now(class.source()) {
        class if class.is_empty() => properties.get("tcp.handler").unwrap_or_else(|| "TCPClientImpl".into()),
        class => class,
    };
    let client = TcpClient::named(&class);
    if client.is_none() {
        let what = format!("the TCP client class {class:?} is not part of JMeter and needs a JVM");
        context.findings.setting_needs_java(element, "TCPSampler.classname", &what);
    }
    client
}

fn tcp_properties(properties: &JmeterProperties) -> TcpProperties {
    let number = |name: &str, default: i32| {
        properties.get(name).and_then(|text| text.trim().parse().ok()).unwrap_or(default)
    };
    TcpProperties {
        end_of_text: number("tcp.eolByte", 1000),
        end_of_message: number("tcp.BinaryTCPClient.eomByte", 1000),
        prefix_bytes: usize::try_from(number("tcp.binarylength.prefix.length", 2)).unwrap_or(0),
    }
}

fn status_properties(properties: &JmeterProperties) -> StatusProperties {
    let trimmed = |name: &str| properties.get(name).map(|text| text.trim().to_owned()).unwrap_or_default();
    StatusProperties {
        prefix: trimmed("tcp.status.prefix"),
        suffix: trimmed("tcp.status.suffix"),
        messages: Some(trimmed("tcp.status.properties"))
            .filter(|path| !path.is_empty())
            .and_then(|path| read_regular(Path::new(&path), TEXT_FILE_BYTES).ok())
            .map(|bytes| messages(&String::from_utf8_lossy(&bytes))),
    }
}

/// Reports a charset other than UTF-8, which is not supported.
fn check_charset(context: &mut Context<'_>, element: Element<'_>) {
    let charset = context.options.properties.get("tcp.charset");
    if charset.is_some_and(|name| !name.is_empty() && !name.eq_ignore_ascii_case("UTF-8")) {
        context.findings.unsupported_setting(
            element,
            "TCPSampler.request",
            "a tcp.charset other than UTF-8 is not supported",
        );
    }
}

/// The entries `status=text` of a properties file.
fn messages(text: &str) -> std::collections::HashMap<String, String> {
    let entries = text.lines().map(str::trim).filter(|line| !line.starts_with(['#', '!']));
    entries
        .filter_map(|line| line.split_once(['=', ':']))
        .map(|(status, message)| (status.trim().to_owned(), message.trim_start().to_owned()))
        .collect()
}
