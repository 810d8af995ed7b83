//! WebSocket samplers with the managers and filters of their scope.

use busyhour_engine::template::Template;
use busyhour_plan::Element;
use busyhour_websocket::{Action, Comparison, Data, FrameFilter, PingKind, Target, WebSocketSampler};

use crate::context::Context;
use crate::scope::Stack;
use crate::{http, managers};

/// What the plugin's classes begin with.
const PACKAGE: &str = "eu.luminis.jmeter.wssampler.";

/// The sampler at the end of `stack`, if it is one of the plugin's.
pub(crate) fn sampler<'p>(context: &mut Context<'p>, stack: &Stack<'p>) -> Option<WebSocketSampler> {
    let element = *stack.path.last()?;
    let class = element.kind().strip_prefix(PACKAGE)?;
    let action = match class {
        "OpenWebSocketSampler" => Action::Open,
        "RequestResponseWebSocketSampler" => Action::RequestResponse(data(context, element)),
        "SingleWriteWebSocketSampler" => Action::Write(data(context, element)),
        "SingleReadWebSocketSampler" => Action::Read {
            data_type: context.text(element, "dataType"),
            binary: context.text(element, "binaryPayload"),
            optional: context.text(element, "optional"),
        },
        "PingPongSampler" => Action::PingPong(context.text_or(element, "type", "PingPong")),
        "CloseWebSocketSampler" => Action::Close(context.text_or(element, "statusCode", "1000")),
        _ => return None,
    };
    if context.options.proxy.is_some() {
        context.unsupported_setting(element, "server", "WebSockets through a proxy are not supported");
    }
    let scope = stack.nearest_first();
    // Of several cookie managers the plugin takes the last it is given, which is the outermost.
    let last = |kind: &str| scope.iter().copied().rfind(|element| element.kind() == kind);
    let cookies = last("CookieManager").and_then(|element| managers::cookies(context, element));
    let fresh = if class == "RequestResponseWebSocketSampler" { "true" } else { "false" };
    Some(WebSocketSampler {
        action,
        target: Target {
            secure: context.text(element, "TLS"),
            server: context.text(element, "server"),
            port: context.text_or(element, "port", "80"),
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
        shared: std::sync::Arc::clone(&context.shared_http),
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

/// Filters in scope; one that is the same as an earlier one does not count.
fn filters<'p>(context: &mut Context<'p>, scope: &[Element<'p>]) -> Box<[FrameFilter]> {
    let mut seen = Vec::new();
    let mut filters = Vec::new();
    for element in scope {
        let Some(class) = element.kind().strip_prefix(PACKAGE) else { continue };
        if !class.ends_with("FrameFilter") {
            continue;
        }
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

fn filter<'p>(context: &mut Context<'p>, element: Element<'p>, class: &str) -> Option<FrameFilter> {
    if class == "PingFrameFilter" {
        let kind = match element.text("filterType").unwrap_or("FilterAll") {
            "FilterPingOnly" => PingKind::Ping,
            "FilterPongOnly" => PingKind::Pong,
            _ => PingKind::All,
        };
        return Some(FrameFilter::Ping { kind, replies: context.flag(element, "replyToPing", false) });
    }
    const TYPE: &str = "comparisonType";
    let named = element.text(TYPE).unwrap_or("IsPlain");
    let Some((comparison, inverted)) = Comparison::named(named) else {
        context.unsupported_setting(element, TYPE, &format!("there is no comparison {named:?}"));
        return None;
    };
    Some(FrameFilter::Data {
        binary: class == "BinaryFrameFilter",
        comparison,
        inverted,
        value: context.text(element, "matchValue"),
        position: if class == "BinaryFrameFilter" {
            context.text(element, "matchPosition")
        } else {
            Template::literal("")
        },
    })
}
