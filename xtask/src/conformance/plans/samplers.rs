//! Samplers beside HTTP's.

use super::super::elements::*;
use super::super::jmx::{Node, Value};
use super::{Description, case};

/// The Dummy Sampler, and what it shares with other plugins.
const DUMMY_PLUGINS: [&str; 2] = ["kg.apc:jmeter-plugins-dummy:0.4", "kg.apc:jmeter-plugins-cmn-jmeter:0.8"];

const DUMMY: &str = "kg.apc.jmeter.samplers.DummySampler";

pub fn cases() -> Vec<Description> {
    let mut cases = java_cases();
    cases.extend(dummy_cases());
    cases
}

fn java(name: &str, class: &str, parameters: &[(&str, &str)]) -> Node {
    Node::new("JavaSampler", "JavaTestSamplerGui", name)
        .set("arguments", list(parameters))
        .set("classname", format!("org.apache.jmeter.protocol.java.test.{class}"))
}

fn list(parameters: &[(&str, &str)]) -> Value {
    let items = parameters.iter().map(|(name, value)| argument(name, value)).collect();
    arguments(items)
}

/// Shows what the last sampler left behind.
fn show(name: &str) -> Node {
    raw("POST", name, "/body", "${data}|${code}|${message}")
}

fn look() -> [Node; 3] {
    [
        regex("data", "(?s)^(.*)$", "$1$", "1", "none"),
        regex("code", "^(.*)$", "$1$", "1", "none").set("RegexExtractor.useHeaders", "code"),
        regex("message", "^(.*)$", "$1$", "1", "none").set("RegexExtractor.useHeaders", "message"),
    ]
}

fn java_cases() -> Vec<Description> {
    const NO_SLEEP: [(&str, &str); 2] = [("Sleep_Time", "0"), ("Sleep_Mask", "0")];
    vec![
        case(
            "java-request",
            &["JavaSampler"],
            plan([loops("users", "2").with([
                counter("n", "1", "", "1", "n"),
                java("plain", "JavaTest", &NO_SLEEP),
                java(
                    "named ${n}",
                    "JavaTest",
                    &[
                        ("Sleep_Time", "1"),
                        ("Sleep_Mask", "0x3"),
                        ("Label", "label ${n}"),
                        ("ResponseCode", "20${n}"),
                        ("ResponseMessage", "fine, ${n}"),
                        ("Status", "ok"),
                        ("SamplerData", "sent ${n} ü"),
                        ("ResultData", "got ${n} ü"),
                        ("ResultData", "not looked at"),
                    ],
                )
                .with(look()),
                show("after named"),
                java(
                    "fails",
                    "JavaTest",
                    &[("Sleep_Time", "no"), ("Sleep_Mask", "1"), ("Status", "FAIL"), ("ResponseCode", "500")],
                )
                .with([assertion_of_success()]),
                java("defaults of the class", "JavaTest", &[]),
                java("sleep", "SleepTest", &[("SleepTime", "${n}"), ("SleepMask", "0")]),
            ])]),
        )
        .why("A sample's label and code are what its parameters say; what is sent counts in characters."),
        case(
            "java-request-defaults",
            &["JavaSampler", "JavaConfig"],
            plan([
                Node::new("JavaConfig", "JavaConfigGui", "defaults")
                    .set("classname", "org.apache.jmeter.protocol.java.test.SleepTest")
                    .set(
                        "arguments",
                        list(&[("Sleep_Time", "1"), ("ResponseCode", "from defaults"), ("ResultData", "abc")]),
                    ),
                group("users").with([
                    java("own", "JavaTest", &[("Sleep_Mask", "0"), ("ResponseCode", "own")]),
                    java("blank", "JavaTest", &[("Sleep_Mask", "0"), ("ResponseCode", "")]),
                ]),
            ]),
        )
        .why("Parameters of the defaults are added to those of a sampler, which count even when they are blank."),
    ]
}

fn assertion_of_success() -> Node {
    response_assertion("code", "Assertion.response_code", 8, &["500"])
}

fn dummy(name: &str, changed: &[(&str, &str)]) -> Node {
    let all = [
        ("RESPONSE_CODE", "200"),
        ("RESPONSE_MESSAGE", "OK"),
        ("REQUEST_DATA", "asked"),
        ("RESPONSE_DATA", "answered"),
        ("RESPONSE_TIME", "7"),
        ("LATENCY", "3"),
        ("CONNECT", "1"),
        ("URL", ""),
        ("RESULT_CLASS", "org.apache.jmeter.samplers.SampleResult"),
    ];
    let node = Node::new(DUMMY, "kg.apc.jmeter.samplers.DummySamplerGui", name)
        .set("WAITING", false)
        .set("SUCCESFULL", true);
    let node = all.iter().fold(node, |node, (key, value)| node.set(key, *value));
    changed.iter().fold(node, |node, (key, value)| node.set(key, *value))
}

fn dummy_cases() -> Vec<Description> {
    vec![
        case(
            "dummy-sampler",
            &[DUMMY],
            plan([loops("users", "2").with([
                counter("n", "1", "", "1", "n"),
                dummy("plain", &[]),
                dummy("waits", &[]).set("WAITING", true),
                dummy(
                    "varies ${n}",
                    &[
                        ("RESPONSE_CODE", "50${n}"),
                        ("RESPONSE_MESSAGE", "no, ${n}"),
                        ("RESPONSE_DATA", "{\"n\": ${n}, \"name\": \"ü\"}"),
                        ("RESPONSE_TIME", "1${n}"),
                        ("LATENCY", "x"),
                        ("CONNECT", " 1"),
                        ("URL", "https://shop.example/cart?n=${n}"),
                        ("RESULT_CLASS", "org.apache.jmeter.protocol.http.sampler.HTTPSampleResult"),
                    ],
                )
                .set("SUCCESFULL", "${__jexl3(${n} == 1)}")
                .with(look()),
                show("after varies"),
                dummy("odd address", &[("URL", "ws://shop.example/")]),
                dummy("nothing", &[("RESPONSE_TIME", ""), ("RESPONSE_DATA", "")]),
            ])]),
        )
        .why("What is made up is taken as it is; only a URL that Java knows is shown.")
        .plugins(&DUMMY_PLUGINS),
    ]
}
