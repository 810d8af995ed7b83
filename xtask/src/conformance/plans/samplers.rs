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
    cases.extend(system_cases());
    cases.extend(tcp_cases());
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

/// A shell command; what it prints on either side is the response.
fn shell(name: &str, script: &str) -> Node {
    Node::new("SystemSampler", "SystemSamplerGui", name)
        .set("SystemSampler.checkReturnCode", false)
        .set("SystemSampler.expectedReturnCode", "0")
        .set("SystemSampler.command", "/bin/sh")
        .set("SystemSampler.arguments", list(&[("", "-c"), ("", script)]))
        .set("SystemSampler.environment", list(&[]))
        .set("SystemSampler.directory", "")
}

fn system_cases() -> Vec<Description> {
    let shown = |sampler: Node, name: &str| [sampler.with(look()), show(name)];
    let mut samplers = Vec::new();
    samplers.extend(shown(shell("prints", "echo out; echo err >&2; echo äö"), "printed"));
    samplers.extend(shown(shell("unchecked", "exit 3"), "after unchecked"));
    samplers.push(
        shell("expected", "exit ${__intSum(1,2)}")
            .set("SystemSampler.checkReturnCode", true)
            .set("SystemSampler.expectedReturnCode", "3"),
    );
    samplers.extend(shown(
        shell("unexpected", "echo no; exit 4").set("SystemSampler.checkReturnCode", true),
        "after unexpected",
    ));
    samplers.extend(shown(shell("killed", "kill -9 $$"), "after killed"));
    samplers.extend(shown(
        shell("surroundings", "echo $GREETING; pwd; cat")
            .set("SystemSampler.environment", list(&[("GREETING", "hello ${__threadNum}")]))
            .set("SystemSampler.directory", "/"),
        "after surroundings",
    ));
    samplers.extend(shown(
        shell("files", "cat; echo heard; echo wrong >&2")
            .set("SystemSampler.stdin", "${__P(CASE)}/input.txt")
            .set("SystemSampler.stdout", "${__P(OUT)}/printed.txt")
            .set("SystemSampler.stderr", "${__P(OUT)}/complained.txt"),
        "after files",
    ));
    samplers.extend(shown(
        shell("reads", "cat").set("SystemSampler.stdin", "${__P(CASE)}/input.txt"),
        "after reads",
    ));
    samplers.extend(shown(
        shell("no input", "cat").set("SystemSampler.stdin", "/no/such/file"),
        "after no input",
    ));
    samplers.extend(shown(
        shell("late", "exec sleep 20").set("SystemSampler.timeout", Value::Long(200)),
        "after late",
    ));
    samplers.extend(shown(
        shell("no command", "")
            .set("SystemSampler.command", "no-such-command")
            .set("SystemSampler.directory", "/"),
        "after no command",
    ));
    vec![
        case(
            "system-sampler",
            &["SystemSampler"],
            plan([samplers.into_iter().fold(group("users"), |group, sampler| group.with([sampler]))]),
        )
        .file("input.txt", "first line\nsecond line\n")
        .why("Without a file of their own, complaints stand among the output. A signal counts from 128."),
    ]
}

fn tcp(name: &str, request: &str) -> Node {
    Node::new("TCPSampler", "TCPSamplerGui", name)
        .set("TCPSampler.server", "${__P(HOST)}")
        .set("TCPSampler.reUseConnection", true)
        .set("TCPSampler.port", "${__P(PORT)}")
        .set("TCPSampler.nodelay", false)
        .set("TCPSampler.timeout", "")
        .set("TCPSampler.request", request)
        .set("TCPSampler.closeConnection", false)
        .set("ConfigTestElement.username", "")
        .set("ConfigTestElement.password", "")
}

fn tcp_cases() -> Vec<Description> {
    const CLOSING: &str = "GET /bytes/3 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
    const KEEPING: &str = "GET /bytes/3 HTTP/1.1\r\nHost: h\r\n\r\n";
    let says = |text: &str| {
        let length = text.len();
        format!(
            "POST /body HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{text}"
        )
    };
    let hex = |text: &str| text.bytes().map(|byte| format!("{byte:02X}")).collect::<String>();
    let shown = |sampler: Node, name: &str| [sampler.with(look()), show(name)];
    let mut text = Vec::new();
    text.extend(shown(tcp("until it closes", CLOSING), "closed"));
    // The next one finds the connection that has been closed.
    text.push(tcp("after it closed", KEEPING).set("TCPSampler.EolByte", "120"));
    text.extend(shown(
        tcp("afresh", KEEPING).set("TCPSampler.EolByte", "120").set("TCPSampler.reUseConnection", false),
        "after afresh",
    ));
    text.push(tcp("kept", KEEPING).set("TCPSampler.EolByte", "120"));
    text.push(tcp("again", KEEPING).set("TCPSampler.EolByte", "120").set("TCPSampler.closeConnection", true));
    text.extend(shown(tcp("silent", KEEPING).set("TCPSampler.timeout", "200"), "after silent"));
    text.extend(shown(tcp("refused", "x").set("TCPSampler.port", "1"), "after refused"));
    text.extend(shown(tcp("no port", "x").set("TCPSampler.port", "70000"), "after no port"));
    text.push(
        Node::new("ConfigTestElement", "TCPConfigGui", "defaults")
            .set("TCPSampler.server", "not.asked.invalid")
            .set("TCPSampler.EolByte", "120"),
    );
    let kinds = |class: &'static str| move |node: Node| node.set("TCPSampler.classname", class);
    let binary = kinds("BinaryTCPClientImpl");
    let prefixed = kinds("org.apache.jmeter.protocol.tcp.sampler.LengthPrefixedBinaryTCPClientImpl");
    let mut bytes = Vec::new();
    bytes.extend(shown(binary(tcp("until it closes", &hex(CLOSING))), "closed"));
    bytes.extend(shown(
        binary(tcp("silent", &hex(KEEPING)))
            .set("TCPSampler.timeout", "200")
            .set("TCPSampler.reUseConnection", false),
        "after silent",
    ));
    bytes.extend(shown(
        binary(tcp("silent, but ends", &hex(KEEPING)))
            .set("TCPSampler.timeout", "200")
            .set("TCPSampler.EolByte", "1")
            .set("TCPSampler.reUseConnection", false),
        "after silent, but ends",
    ));
    bytes.extend(shown(binary(tcp("odd", "abc")), "after odd"));
    bytes.extend(shown(binary(tcp("no digits", "zz")), "after no digits"));
    bytes.push(prefixed(tcp("a promise not kept", &hex(CLOSING))));
    let users = |samplers: Vec<Node>| {
        samplers.into_iter().fold(group("users"), |group, sampler| group.with([sampler]))
    };
    vec![
        case("tcp-sampler", &["TCPSampler"], plan([users(text)])).why(
            "What was read before a timeout is the response of a failed sample. Nothing counts as sent.",
        ),
        case("tcp-sampler-binary", &["TCPSampler"], plan([users(bytes)]))
            .why("A binary response without an end byte is ended by silence. What a length promises and does not come is zeros."),
        case(
            "tcp-sampler-status",
            &["TCPSampler"],
            plan([group("users").with([
                tcp("ok", &says("Status=200.")).set("TCPSampler.reUseConnection", false),
                tcp("gone", &says("Status=404.")).set("TCPSampler.reUseConnection", false),
                tcp("odd", &says("Status=4x.")).set("TCPSampler.reUseConnection", false).with(look()),
                show("after odd"),
                tcp("none", &says("nothing of the kind.")).set("TCPSampler.reUseConnection", false),
            ])]),
        )
        .property("tcp.status.prefix", "Status=")
        .property("tcp.status.suffix", " . ")
        .why("A status is a success from 400 to 599 only; JMeter has it the wrong way round."),
        case(
            "sample-timeout-other-samplers",
            &["SampleTimeout", "TCPSampler", "SystemSampler"],
            plan([group("users").with([
                Node::new("SampleTimeout", "SampleTimeoutGui", "limit").set("InterruptTimer.timeout", "400"),
                tcp("silent", "GET /nothing").with(look()),
                show("silent"),
                tcp("half", "GET /nothing")
                    .set("TCPSampler.classname", "BinaryTCPClientImpl")
                    .set("TCPSampler.request", hex("GET /slow/3000 HTTP/1.1\r\nHost: h\r\n\r\n")),
                tcp("prefixed", "0102").set("TCPSampler.classname", "LengthPrefixedBinaryTCPClientImpl"),
                tcp("quick", CLOSING),
                shell("process", "sleep 1; echo done").with(look()),
                show("process"),
            ])]),
        )
        .why("An interrupt closes the connection of a TCP sampler; a process is not interrupted."),
    ]
}
