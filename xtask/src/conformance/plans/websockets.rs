//! The WebSocket samplers of Peter Doornbosch's plugin, against the stand-in's WebSocket.

use super::super::elements::*;
use super::super::jmx::Node;
use super::{Description, case};

const PLUGIN: [&str; 1] = ["net.luminis.jmeter:jmeter-websocket-samplers:1.3.1"];

const OPEN: &str = "eu.luminis.jmeter.wssampler.OpenWebSocketSampler";
const REQUEST: &str = "eu.luminis.jmeter.wssampler.RequestResponseWebSocketSampler";
const READ: &str = "eu.luminis.jmeter.wssampler.SingleReadWebSocketSampler";
const WRITE: &str = "eu.luminis.jmeter.wssampler.SingleWriteWebSocketSampler";
const PING: &str = "eu.luminis.jmeter.wssampler.PingPongSampler";
const CLOSE: &str = "eu.luminis.jmeter.wssampler.CloseWebSocketSampler";
const PING_FILTER: &str = "eu.luminis.jmeter.wssampler.PingFrameFilter";
const TEXT_FILTER: &str = "eu.luminis.jmeter.wssampler.TextFrameFilter";
const BINARY_FILTER: &str = "eu.luminis.jmeter.wssampler.BinaryFrameFilter";

pub fn cases() -> Vec<Description> {
    let cases = [open_cases(), data_cases(), filter_cases()];
    let cases = cases.into_iter().flatten();
    cases
        .map(|case| {
            case.plugins(&PLUGIN)
                .mask("Sec-WebSocket-Key: [^\\s]+", "Sec-WebSocket-Key: {KEY}")
                .mask("Sec-WebSocket-Accept: [^\\s]+", "Sec-WebSocket-Accept: {KEY}")
        })
        .collect()
}

fn users(samplers: Vec<Node>) -> Node {
    samplers.into_iter().fold(group("users"), |group, sampler| group.with([sampler]))
}

fn target(node: Node, path: &str) -> Node {
    node.set("TLS", false)
        .set("server", "${__P(HOST)}")
        .set("port", "${__P(PORT)}")
        .set("path", path)
        .set("connectTimeout", "5000")
        .set("readTimeout", "3000")
}

fn open(name: &str, path: &str) -> Node {
    target(Node::new(OPEN, "eu.luminis.jmeter.wssampler.OpenWebSocketSamplerGui", name), path)
}

fn request_response(name: &str, data: &str) -> Node {
    let node = Node::new(REQUEST, "eu.luminis.jmeter.wssampler.RequestResponseWebSocketSamplerGui", name);
    sends(target(node, ""), data)
}

fn sends(node: Node, data: &str) -> Node {
    node.set("createNewConnection", false)
        .set("binaryPayload", false)
        .set("requestData", data)
        .set("loadDataFromFile", false)
        .set("dataFile", "")
}

fn write(name: &str, data: &str) -> Node {
    let node = Node::new(WRITE, "eu.luminis.jmeter.wssampler.SingleWriteWebSocketSamplerGui", name);
    sends(target(node, ""), data)
}

fn read(name: &str, kind: &str) -> Node {
    let node = Node::new(READ, "eu.luminis.jmeter.wssampler.SingleReadWebSocketSamplerGui", name);
    target(node, "").set("createNewConnection", false).set("dataType", kind).set("optional", false)
}

fn ping(name: &str, kind: &str) -> Node {
    Node::new(PING, "eu.luminis.jmeter.wssampler.PingPongSamplerGui", name)
        .set("type", kind)
        .set("readTimeout", "3000")
}

fn close(name: &str, status: &str) -> Node {
    Node::new(CLOSE, "eu.luminis.jmeter.wssampler.CloseWebSocketSamplerGui", name)
        .set("statusCode", status)
        .set("readTimeout", "3000")
}

fn ping_filter(name: &str, kind: &str, replies: bool) -> Node {
    Node::new(PING_FILTER, "eu.luminis.jmeter.wssampler.PingFrameFilterGui", name)
        .set("filterType", kind)
        .set("replyToPing", replies)
}

fn text_filter(name: &str, comparison: &str, value: &str) -> Node {
    Node::new(TEXT_FILTER, "eu.luminis.jmeter.wssampler.TextFrameFilterGui", name)
        .set("comparisonType", comparison)
        .set("matchValue", value)
}

fn binary_filter(name: &str, comparison: &str, value: &str, position: &str) -> Node {
    Node::new(BINARY_FILTER, "eu.luminis.jmeter.wssampler.BinaryFrameFilterGui", name)
        .set("comparisonType", comparison)
        .set("matchValue", value)
        .set("matchPosition", position)
}

/// Sends what the sampler before it got.
fn shown(sampler: Node, name: &str) -> [Node; 2] {
    let looks = [
        regex("data", "(?s)^(.*)$", "$1$", "1", "none"),
        regex("code", "^(.*)$", "$1$", "1", "none").set("RegexExtractor.useHeaders", "code"),
        regex("headers", "(?s)^(.*)$", "$1$", "1", "none").set("RegexExtractor.useHeaders", "true"),
        regex("asked", "(?s)^(.*)$", "$1$", "1", "none").set("RegexExtractor.useHeaders", "request_headers"),
    ];
    let body = "${data}|${code}|${headers}|${asked}|${websocket.last_frame_final}";
    [sampler.with(looks), raw("POST", name, "/body", body)]
}

fn open_cases() -> Vec<Description> {
    let mut samplers = Vec::new();
    samplers.extend(shown(open("open", "/ws"), "opened"));
    samplers.push(ping("ping", "PingPong"));
    samplers.push(ping("pong", "Pong"));
    samplers.extend(shown(close("close", "1000"), "closed"));
    samplers.push(close("nothing to close", "1000"));
    samplers.push(read("nothing to read", "Text"));
    samplers.push(ping("nothing to ping", "PingPong"));
    samplers.push(open("a path without a slash", "ws?a=b c#d"));
    samplers.push(open("again", "/ws/2"));
    samplers.extend(shown(close("other status", "1001"), "closed with another status"));
    samplers.push(open("for a bad close", "/ws"));
    samplers.push(close("no status", ""));
    samplers.push(open("no such path", "/status/404"));
    samplers.push(open("wrong key", "/ws-wrong"));
    samplers.push(open("dropped", "/drop"));
    samplers.push(open("no http", "/garbage"));
    samplers.push(open("refused", "/ws").set("port", "1"));
    samplers.push(open("port 0", "/ws").set("port", "0"));
    samplers.push(open("no port", "/ws").set("port", ""));
    samplers.push(open("no connect timeout", "/ws").set("connectTimeout", ""));
    samplers.push(open("long read timeout", "/ws").set("readTimeout", "10000000"));
    samplers.push(open("for a sampler that throws", "/ws"));
    samplers.push(read("throws", "Text").set("connectTimeout", ""));
    samplers.push(get("after", "/after"));
    let managers = plan([
        headers("outer", &[("X-Outer", "1"), ("Host", "other"), ("Accept", "text/plain"), ("Zebra", "z")]),
        cookies("jar", &[("a", "1", "${__P(HOST)}", "/"), ("b", "2", "${__P(HOST)}", "/ws")]),
        group("users").with([
            headers("inner", &[("X-Inner", "2")]),
            get("before", "/set-cookie/session/42"),
            open("open", "/ws"),
            close("close", "1000"),
        ]),
    ]);
    vec![
        case("websocket-open", &[OPEN, PING, CLOSE], plan([users(samplers)]))
            .why("What is wrong with a setting is a failed sample; a sampler that throws makes none."),
        case("websocket-managers", &[OPEN], managers)
            .why("Header managers merge as for HTTP; headers go out in the order of a hash map."),
        case(
            "websocket-tls",
            &[OPEN, REQUEST],
            plan([group("users").with([
                open("open", "/ws").set("TLS", true).set("port", "${__P(TLS_PORT)}"),
                request_response("echo", "hello"),
                open("no tls", "/ws").set("TLS", true),
                close("close", "1000"),
            ])]),
        ),
    ]
}

fn data_cases() -> Vec<Description> {
    let mut samplers = Vec::new();
    samplers.extend(shown(
        request_response("new connection", "hello ${__threadNum} ü")
            .set("createNewConnection", true)
            .set("path", "/ws"),
        "after new connection",
    ));
    samplers.extend(shown(request_response("old connection", "again"), "after old connection"));
    samplers
        .extend(shown(request_response("bytes", "0x01 0xfF 0a0B").set("binaryPayload", true), "after bytes"));
    samplers.push(request_response("no bytes", "hello").set("binaryPayload", true));
    samplers.extend(shown(
        request_response("file", "").set("loadDataFromFile", true).set("dataFile", "${__P(CASE)}/data.txt"),
        "after file",
    ));
    samplers.push(
        request_response("binary file", "")
            .set("binaryPayload", true)
            .set("loadDataFromFile", true)
            .set("dataFile", "${__P(CASE)}/data.txt"),
    );
    samplers
        .push(request_response("no file", "").set("loadDataFromFile", true).set("dataFile", "/no/such/file"));
    samplers.extend(shown(
        request_response("bytes by type", "01 02").set("payloadType", "Binary"),
        "after bytes by type",
    ));
    samplers
        .push(request_response("text by type", "text").set("payloadType", "Text").set("binaryPayload", true));
    samplers.push(request_response("unknown by type", "text").set("payloadType", "Words"));
    samplers.push(request_response("STOMP", "CONNECT\n\n^@ ^@").set("payloadType", "TextStomp"));
    samplers.push(request_response("bytes for text", "bytes"));
    samplers.push(write("parts", "parts"));
    samplers.extend(shown(read("first part", "Text"), "after first part"));
    samplers.extend(shown(read("second part", "Any"), "after second part"));
    samplers.push(write("writes bytes", "bytes"));
    samplers.extend(shown(read("reads bytes", "Binary"), "after bytes"));
    samplers.push(write("writes bytes again", "bytes"));
    samplers.push(read("wants text", "Text"));
    samplers.push(write("writes ping", "ping"));
    samplers.push(read("gets a ping", "Any"));
    samplers.push(read("gets the rest", ""));
    samplers.push(write("old property", "bytes"));
    samplers.push(read("reads by the old property", "").set("binaryPayload", true));
    samplers.push(read("unknown type", "Words").set("readTimeout", "200"));
    samplers.push(write("echo for the unknown type", "x"));
    samplers.push(read("unknown type, something comes", "Words"));
    samplers.push(read("silence", "Text").set("readTimeout", "200"));
    samplers.extend(shown(
        read("silence allowed", "Text").set("readTimeout", "200").set("optional", true),
        "after silence",
    ));
    samplers.push(write("writes bye", "bye"));
    samplers.push(read("gets a close", "Any"));
    samplers.push(write("no connection any more", "x"));
    samplers
        .push(request_response("closed at once", "bye").set("createNewConnection", true).set("path", "/ws"));
    samplers.push(write("on a closed connection", "x"));
    samplers.push(write("on none", "x"));
    samplers.push(open("for drop", "/ws"));
    samplers.push(request_response("dropped", "drop"));
    samplers.push(read("dropped before", "Any"));
    let long = "x".repeat(300);
    samplers.push(request_response("long", &long).set("createNewConnection", true).set("path", "/ws"));
    vec![
        case("websocket-data", &[REQUEST, READ, WRITE], plan([users(samplers)]))
            .file("data.txt", "from a file\n")
            .why("A frame is a response: a fragment too. What does not fit fails the sample and names the frame."),
    ]
}

fn filter_cases() -> Vec<Description> {
    let bytes = |comparison, value, position| binary_filter("bytes", comparison, value, position);
    let mut samplers = vec![open("open", "/ws")];
    samplers.push(request_response("answers a ping", "ping").with([ping_filter("pings", "FilterAll", true)]));
    samplers.push(request_response("takes a ping", "ping").with([ping_filter(
        "pings",
        "FilterPingOnly",
        false,
    )]));
    samplers.push(request_response("takes pongs only", "ping").with([ping_filter(
        "pings",
        "FilterPongOnly",
        false,
    )]));
    samplers.push(read("what the ping left", "Text"));
    samplers.extend(shown(
        request_response("noise", "noise")
            .with([text_filter("texts", "StartsWith", "noise"), binary_filter("bytes", "IsPlain", "", "")]),
        "after noise",
    ));
    samplers.push(request_response("regular", "noise").with([
        text_filter("texts", "NotEqualsRegex", "s.gnal"),
        binary_filter("bytes", "Contains", "02 03", ""),
    ]));
    samplers.push(request_response("found", "noise").with([
        text_filter("first", "ContainsRegex", "[0-9]$"),
        text_filter("never", "Equals", "nothing"),
        bytes("StartsWith", "0x01", ""),
    ]));
    samplers.push(
        request_response("in the wrong place", "noise")
            .with([text_filter("texts", "NotContains", "signal"), bytes("Contains", "02 03", "0")]),
    );
    samplers.push(read("signal", "Text"));
    samplers.push(
        request_response("no bytes to compare", "noise")
            .with([text_filter("texts", "Contains", "noise"), bytes("Equals", "hello", "")]),
    );
    samplers.push(read("signal again", "Text"));
    samplers.push(
        request_response("silence", "nothing")
            .set("readTimeout", "200")
            .with([text_filter("texts", "IsPlain", "")]),
    );
    samplers.push(
        request_response("without end", "echo")
            .set("readTimeout", "0")
            .with([text_filter("t", "Equals", "x")]),
    );
    samplers.push(close("closes past noise", "1000").with([text_filter("texts", "IsPlain", "")]));
    let covers = [PING_FILTER, TEXT_FILTER, BINARY_FILTER];
    vec![
        case("websocket-filters", &covers, plan([users(samplers.clone())])).why(
            "What a filter takes is a sample inside the sample. A filter without a read timeout never waits.",
        ),
        case("websocket-filters-sized", &covers, plan([users(samplers.into_iter().take(4).collect())]))
            .property("websocket.result.size_includes_filtered_frames", "true"),
    ]
}
