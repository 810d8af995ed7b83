//! Compiles WebSocket samplers with the managers and filters in their scope.

use busyhour_plan::Element;
use busyhour_program::template::Template;
use busyhour_websocket::{Action, Data, FrameComparison, FrameFilter, PingKind, Target, WebSocketSampler};

use crate::context::Context;
use crate::elements::config::{ConfigClass, FrameFilterClass};
use crate::elements::samplers::WebSocketClass;
use crate::elements::{Role, role};
use crate::scope::Stack;
use crate::{http, managers};

/// Compiles the sampler at the end of `stack`.
pub(crate) fn sampler<'p>(
    context: &mut Context<'p>,
    stack: &Stack<'p>,
    class: WebSocketClass,
) -> Option<WebSocketSampler> {
    let element = *stack.path.last()?;
    let action = match class {
        WebSocketClass::Open => Action::Open,
        WebSocketClass::RequestResponse => Action::RequestResponse(data(context, element)),
        WebSocketClass::Write => Action::Write(data(context, element)),
        WebSocketClass::Read => Action::Read {
            data_type: context.text(element, "dataType"),
            binary: context.text(element, "binaryPayload"),
            optional: context.text(element, "optional"),
        },
        WebSocketClass::PingPong => Action::PingPong(context.text_or(element, "type", "PingPong")),
        WebSocketClass::Close => Action::Close(context.text_or(element, "statusCode", "1000")),
    };
    if context.options.proxy.is_some() {
        context.findings.unsupported_setting(
            element,
            "server",
            "WebSockets through a proxy are not supported",
        );
    }
    let scope = stack.nearest_first();
    // If there are several cookie managers, the plugin uses the last one that it receives, which is the outermost.
    let is_manager = |element: &Element<'p>| role(*element) == Role::Config(ConfigClass::CookieManager);
    let cookies =
        scope.iter().copied().rfind(is_manager).and_then(|element| managers::cookies(context, element));
    let (server, port) = (context.text(element, "server"), context.text_or(element, "port", "80"));
    context.parts.targets.add_host(&server, &port);
    let fresh = if class == WebSocketClass::RequestResponse { "true" } else { "false" };
    Some(WebSocketSampler {
        action,
        target: Target {
            secure: context.text(element, "TLS"),
            server,
            port,
            path: context.text(element, "path"),
        },
        fresh: context.text_or(element, "createNewConnection", fresh),
        connect_timeout: context.text_or(element, "connectTimeout", "20000"),
        read_timeout: context.text_or(element, "readTimeout", "6000"),
        headers: http::headers(context, &scope),
        cookies,
        filters: filters(context, &scope),
        size_of_filtered: context
            .options
            .properties
            .flag("websocket.result.size_includes_filtered_frames", false),
        shared: std::sync::Arc::clone(&context.parts.http),
    })
}

fn data<'p>(context: &mut Context<'p>, element: Element<'p>) -> Data {
    Data {
        kind: context.text(element, "payloadType"),
        binary: context.text(element, "binaryPayload"),
        text: context.text(element, "requestData"),
        from_file: context.text(element, "loadDataFromFile"),
        file: context.text(element, "dataFile"),
    }
}

/// The filters in scope; a filter that is equal to an earlier one is skipped.
fn filters<'p>(context: &mut Context<'p>, scope: &[Element<'p>]) -> Box<[FrameFilter]> {
    let mut seen = Vec::new();
    let mut filters = Vec::new();
    for element in scope {
        let Role::Config(ConfigClass::FrameFilter(class)) = role(*element) else { continue };
        let properties: Vec<_> =
            element.properties().map(|property| (property.name(), property.text())).collect();
        let same = (class, element.name(), properties);
        if seen.contains(&same) {
            continue;
        }
        seen.push(same);
        filters.extend(filter(context, *element, class));
    }
    filters.into()
}

fn filter<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    class: FrameFilterClass,
) -> Option<FrameFilter> {
    match class {
        FrameFilterClass::Ping => {
            let kind = match element.text("filterType").unwrap_or("FilterAll") {
                "FilterPingOnly" => PingKind::Ping,
                "FilterPongOnly" => PingKind::Pong,
                _ => PingKind::All,
            };
            Some(FrameFilter::Ping { kind, replies: context.flag(element, "replyToPing", false) })
        }
        FrameFilterClass::Text => data_filter(context, element, false),
        FrameFilterClass::Binary => data_filter(context, element, true),
    }
}

fn data_filter<'p>(context: &mut Context<'p>, element: Element<'p>, binary: bool) -> Option<FrameFilter> {
    const TYPE: &str = "comparisonType";
    let named = element.text(TYPE).unwrap_or("IsPlain");
    let Some((comparison, inverted)) = FrameComparison::named(named) else {
        context.findings.unsupported_setting(element, TYPE, &format!("there is no comparison {named:?}"));
        return None;
    };
    let value = context.text(element, "matchValue");
    let position = if binary { context.text(element, "matchPosition") } else { Template::literal("") };
    Some(FrameFilter::Data { binary, comparison, inverted, value, position })
}
