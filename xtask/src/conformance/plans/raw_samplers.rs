//! Samplers of jmeter-plugins that send texts and packets as they are.

use busyhour_standin::Order;

use super::super::elements::*;
use super::super::jmx::Node;
use super::{Description, case};

/// The plugin of today is not on Maven Central; that of the old bundle does the same.
const UDP_PLUGINS: [&str; 2] = ["kg.apc:jmeter-plugins-extras:1.4.0", "kg.apc:jmeter-plugins-common:1.4.0"];

const RAW_PLUGINS: [&str; 3] = [
    "kg.apc:jmeter-plugins-httpraw:0.1",
    "kg.apc:jmeter-plugins-common-io:0.2",
    "kg.apc:jmeter-plugins-cmn-jmeter:0.8",
];

const UDP: &str = "kg.apc.jmeter.samplers.UDPSampler";
const RAW: &str = "kg.apc.jmeter.samplers.HTTPRawSampler";
const SOURCE: &str = "kg.apc.jmeter.modifiers.RawRequestSourcePreProcessor";
const HEX: &str = "kg.apc.jmeter.samplers.HexStringUDPDecoder";

pub fn cases() -> Vec<Description> {
    let mut cases = udp_cases();
    cases.extend(raw_cases());
    cases.push(raw_source());
    cases
}

/// Pieces of files as bodies: read on, read again from the start, as digits, and what is no piece.
fn raw_source() -> Description {
    let source = |file: &str, rewinds: bool, hex: bool| {
        Node::new(SOURCE, "kg.apc.jmeter.modifiers.RawRequestSourcePreProcessorGui", "source")
            .set("filename", format!("${{__P(CASE)}}/{file}"))
            .set("variable_name", "x")
            .set("rewind", rewinds)
            .set("isHex", hex)
    };
    let sends = |name: &str| raw("POST", name, "/body", "${__V(x,unset)}");
    case(
        "raw-data-source",
        &[SOURCE],
        plan([
            loops("once", "9").with([sends("a").with([source("pieces.txt", false, false)]), sends("b")]),
            loops("again", "5").with([sends("c").with([source("pieces.txt", true, true)])]),
            loops("odd", "3").with([
                sends("d").with([source("odd.txt", false, false)]),
                sends("e").with([source("absent.txt", false, false)]),
            ]),
        ]),
    )
    .file("pieces.txt", "\n\r\n5 first one\nab\ncd\n\n2\r\nxy4 \n\u{e9}z\n\r\n3\n123")
    .file("odd.txt", "x\n2\nab\n\n-1\n2\ncd9\nend")
    .why("Where the file ends its thread stops; what is no piece leaves the sample out.")
    .mask_columns(&["grpThreads", "allThreads"])
    .order(Order::Connections)
    .plugins(&RAW_PLUGINS)
}

fn users(samplers: Vec<Node>) -> Node {
    samplers.into_iter().fold(group("users"), |group, sampler| group.with([sampler]))
}

/// Sends what the sampler before it got.
fn shown(sampler: Node, name: &str) -> [Node; 2] {
    let looks = [
        regex("data", "(?s)^(.*)$", "$1$", "1", "none"),
        regex("headers", "(?s)^(.*)$", "$1$", "1", "none").set("RegexExtractor.useHeaders", "true"),
    ];
    [sampler.with(looks), raw("POST", name, "/body", "${data}|${headers}")]
}

fn udp(name: &str, data: &str, coder: &str) -> Node {
    Node::new(UDP, "kg.apc.jmeter.samplers.UDPSamplerGui", name)
        .set("hostname", "${__P(HOST)}")
        .set("port", "${__P(PORT)}")
        .set("waitresponse", true)
        .set("closechannel", false)
        .set("timeout", "2000")
        .set("data", data)
        .set("encodeclass", coder)
        .set("bind_address", "")
        .set("bind_port", "")
}

fn udp_cases() -> Vec<Description> {
    let mut samplers = Vec::new();
    samplers.extend(shown(udp("text", "hello ${__threadNum}", ""), "after text"));
    samplers.extend(shown(udp("digits", "00fF10", HEX), "after digits"));
    samplers.push(udp("closes", "x", "").set("closechannel", true));
    samplers.push(udp("does not wait", "silent", "").set("waitresponse", false));
    samplers.push(udp("nothing to send", "", "").set("waitresponse", false));
    samplers.push(udp("from an address", "x", "").set("bind_address", "127.0.0.1"));
    let failing = vec![
        udp("odd digits", "abc", HEX),
        udp("silence", "silent", "").set("timeout", "200"),
        udp("nobody there", "x", "").set("port", "1"),
        udp("no port", "x", "").set("port", ""),
        udp("port too high", "x", "").set("port", "70000"),
    ];
    vec![
        case("udp-request", &[UDP], plan([users(samplers)])).plugins(&UDP_PLUGINS),
        case("udp-request-failing", &[UDP], plan([users(failing)]))
            .plugins(&UDP_PLUGINS)
            .mask_columns(&["bytes"])
            .why("The response of a failed sample is a stack trace."),
    ]
}

fn raw_http(name: &str, data: &str) -> Node {
    Node::new(RAW, "kg.apc.jmeter.samplers.HTTPRawSamplerGui", name)
        .set("hostname", "${__P(HOST)}")
        .set("port", "${__P(PORT)}")
        .set("keepalive", false)
        .set("timeout", "0")
        .set("data", data)
        .set("fileName", "")
        .set("parse", true)
}

fn raw_cases() -> Vec<Description> {
    let asks = |path: &str| format!("GET {path} HTTP/1.0\r\nHost: h\r\nConnection: close\r\n\r\n");
    let mut samplers = Vec::new();
    samplers.extend(shown(raw_http("parsed", &asks("/a?t=${__threadNum}")), "after parsed"));
    samplers.extend(shown(raw_http("as it is", &asks("/bytes/5")).set("parse", false), "after as it is"));
    samplers.extend(shown(raw_http("not found", &asks("/status/404")), "after not found"));
    samplers.extend(shown(raw_http("no body", &asks("/bytes/0")), "after no body"));
    samplers.extend(shown(raw_http("page", &asks("/page")), "after page"));
    samplers.extend(shown(raw_http("timed", &asks("/xml")).set("timeout", "2000"), "after timed"));
    samplers.push(
        raw_http("file", "POST /body HTTP/1.0\r\nContent-Length: 12\r\n\r\n")
            .set("fileName", "${__P(CASE)}/data.txt"),
    );
    samplers.push(raw_http("kept", &asks("/b")).set("keepalive", true));
    let failing = vec![
        raw_http("refused", "x").set("port", "1"),
        raw_http("refused in time", "x").set("port", "1").set("timeout", "2000"),
        raw_http("silent", "GET /c HTTP/1.1\r\nHost: h\r\n\r\n").set("timeout", "300"),
        raw_http("no file", &asks("/d")).set("fileName", "/no/such/file"),
        raw_http("port too high", "x").set("port", "70000"),
    ];
    vec![
        case("http-raw", &[RAW], plan([users(samplers)]))
            .plugins(&RAW_PLUGINS)
            .file("data.txt", "from a file\n")
            .why(
                "The status is no success or failure; where nothing is left of a response, what came counts.",
            ),
        case("http-raw-failing", &[RAW], plan([users(failing)]))
            .plugins(&RAW_PLUGINS)
            .mask_columns(&["bytes"])
            .why("The response of a failed sample is a stack trace."),
    ]
}
