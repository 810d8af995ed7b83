//! Tests limits: plans and responses that require too much work are refused or fail, and the run has a caveat.

use std::io::Write as _;

use busyhour_standin::StandIn;

use crate::plans::{element, get, get_with, group, plan, text};
use crate::program::{Room, rows};
use crate::servers::Server;

/// A server that responds to all requests with this page.
fn server(page: String) -> Server {
    Server::start(move |stream, _| {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", page.len());
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(page.as_bytes())).is_ok()
    })
}

#[test]
fn an_exceeded_limit_raises_a_caveat() {
    let server = server(format!("{}{}", "<div>".repeat(20_000), "a".repeat(50_000)));
    let room = Room::new();
    let css = [
        text("HtmlExtractor.refname", "found"),
        text("HtmlExtractor.expr", "div div div p"),
        text("HtmlExtractor.default", "none"),
    ];
    let script = [
        text("scriptLanguage", "javascript"),
        text("script", "/(a+)+$/.test(prev.getResponseDataAsString() + 'b')"),
    ];
    let assertion = "<collectionProp name=\"Asserion.test_strings\"><stringProp name=\"1\">(?=(a+)+b)c</stringProp></collectionProp>\
                     <intProp name=\"Assertion.test_type\">2</intProp>\
                     <stringProp name=\"Assertion.test_field\">Assertion.response_data</stringProp>";
    let below = element("HtmlExtractor", "css", &css.concat(), "")
        + &element("JSR223PostProcessor", "script", &script.concat(), "")
        + &element("ResponseAssertion", "assertion", assertion, "");
    room.file(
        "plan.jmx",
        plan(&group("1", "2", &(get_with("page", "/", "", &below) + &get("${found}", "/")))),
    );
    let port = format!("-JPORT={}", server.port());
    let ended = room.run(["run", "plan.jmx", "-l", "out.jtl", &port]).expect(0);
    ended.prints(&[
        "a limit of the generator was exceeded 2 times: HTML page size or depth",
        "a limit of the generator was exceeded 2 times: regular expression steps",
        "a limit of the generator was exceeded 2 times: script steps or memory",
    ]);
    let rows = rows(&room.read("out.jtl"));
    assert_eq!(rows.len(), 4, "{rows:?}");
    assert_eq!((rows[0]["success"].as_str(), rows[1]["label"].as_str()), ("false", "none"));
    assert!(rows[0]["failureMessage"].contains("needs more than 50000000 steps"), "{:?}", rows[0]);
}

#[test]
fn deeply_nested_plans_are_checked() {
    let nested = |open: &str, inner: &str, close: &str, count: usize| {
        format!("{}{inner}{}", open.repeat(count), close.repeat(count))
    };
    let sampler = |below: &str| plan(&group("1", "1", &get_with("x", "/", "", below)));
    let extractor = |class: &str, name: &str, value: &str| {
        let properties = text(name, value)
            + &text("XPathExtractor.refname", "v")
            + &text("JMESExtractor.referenceName", "v");
        sampler(&element(class, "extractor", &properties, ""))
    };
    let itself = plan(&group(
        "1",
        "1",
        &element("IncludeController", "I", &text("IncludeController.includepath", "itself.jmx"), ""),
    ));
    let room = Room::new();
    for (name, contents, says) in [
        (
            "xpath.jmx",
            extractor("XPathExtractor", "XPathExtractor.xpathQuery", &nested("(", "1", ")", 10_000)),
            "more than 1000 signs and words",
        ),
        (
            "jmespath.jmx",
            extractor(
                "JMESPathExtractor",
                "JMESExtractor.jmesPathExpr",
                &format!("a{}", "[].a".repeat(2_000)),
            ),
            "more than 200 punctuation characters",
        ),
        (
            "eval.jmx",
            plan(&group("1", "1", &get(&nested("${__eval(", "x", ")}", 10_000), "/"))),
            "functions are nested deeper than 50",
        ),
        ("itself.jmx", itself, "has no Test Fragment"),
    ] {
        room.file(name, contents);
        let ended = room.run(["check", name]);
        assert!(ended.stdout.contains(says) || ended.stderr.contains(says), "{name}: {}", ended.all());
    }
}

#[test]
fn models_above_the_maximum_size_are_refused() {
    let room = Room::new();
    let model = |servers: &str, population: &str| {
        format!(
            "<model><parameters><classes number=\"1\"><closedclass name=\"c\" population=\"{population}\"/></classes>\
             <stations number=\"2\"><delaystation name=\"d\"><servicetimes><servicetime customerclass=\"c\">1</servicetime></servicetimes>\
             <visits><visit customerclass=\"c\">1</visit></visits></delaystation>\
             <listation name=\"s\" servers=\"{servers}\"><servicetimes><servicetime customerclass=\"c\">0.1</servicetime></servicetimes>\
             <visits><visit customerclass=\"c\">1</visit></visits></listation></stations></parameters></model>"
        )
    };
    room.file("servers.jmva", model("1000000000", "10"));
    let ended = room.run(["capacity", "solve", "servers.jmva"]);
    assert!(ended.all().contains("the maximum is 100000"), "{}", ended.all());
    room.file("population.jmva", model("2", "1000000000000"));
    room.run(["capacity", "solve", "population.jmva"]).expect(0);
    let ended = room.run(["capacity", "simulate", "population.jmva"]);
    assert!(ended.all().contains("10000000"), "{}", ended.all());
}

/// The file is sparse. The program checks its length and does not read it.
#[test]
fn files_of_the_command_line_are_limited() {
    let room = Room::new();
    let large = room.file("large", "");
    std::fs::File::options().write(true).open(&large).unwrap().set_len(257 << 20).unwrap();
    room.file("plan.jmx", plan(&group("1", "1", &get("a", "/"))));
    for line in [
        "check large",
        "run large",
        "run plan.jmx --thresholds large",
        "run plan.jmx -q large",
        "run plan.jmx -p large",
        "run http://127.0.0.1/ -n 1 -d @large",
        "capacity solve large",
    ] {
        let ended = room.run_line(line);
        assert_ne!(ended.status.code(), Some(0), "{line}: {}", ended.all());
        assert!(ended.all().contains("it has more than 256 MiB"), "{line}: {}", ended.all());
    }
    assert!(!room.has_run_dir());
}

/// A response fails if the bodies of all responses would exceed the limit of their memory, whichever sampler reads it.
/// The run continues.
#[test]
fn responses_of_all_samplers_share_the_memory() {
    let page = "x".repeat(3_000_000);
    let server = Server::start(move |stream, _| {
        let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", page.len());
        // Errors are ignored, because the client closes the connection when it rejects a response.
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(page.as_bytes()));
        false
    });
    let room = Room::new();
    let request = "GET / HTTP/1.1&#xd;&#xa;&#xd;&#xa;".replace('&', "\u{1}");
    let with_lines = |name: &str| text(name, &request).replace('\u{1}', "&");
    let port = text("port", "${__P(PORT)}");
    let tcp = |name: &str, class: &str| {
        let properties = text("TCPSampler.server", "127.0.0.1")
            + &text("TCPSampler.port", "${__P(PORT)}")
            + &text("TCPSampler.timeout", "20000")
            + &text("TCPSampler.classname", class)
            + &with_lines("TCPSampler.request");
        element("TCPSampler", name, &properties, "")
    };
    let raw = text("hostname", "127.0.0.1") + &port + &with_lines("data") + &text("timeout", "20000");
    let command = text("SystemSampler.command", "head")
        + "<elementProp name=\"SystemSampler.arguments\" elementType=\"Arguments\"><collectionProp name=\"Arguments.arguments\">"
        + &["-c", "3000000", "/dev/zero"].map(argument).concat()
        + "</collectionProp></elementProp>";
    let keeps =
        element("JSR223PostProcessor", "reads", &text("script", "prev.getResponseDataAsString()"), "");
    let echo = StandIn::start().unwrap();
    let frame = text("server", "127.0.0.1")
        + &text("port", &echo.port().to_string())
        + &text("path", "/ws")
        + &text("connectTimeout", "5000")
        + &text("readTimeout", "20000")
        + &text("payloadType", "Text")
        + &text("requestData", "${__RandomString(3000000,x)}")
        + "<boolProp name=\"createNewConnection\">true</boolProp>";
    let websocket = "eu.luminis.jmeter.wssampler.RequestResponseWebSocketSampler";
    let samplers = get_with("http", "/", "", &keeps)
        + &element(websocket, "websocket", &frame, "")
        + &tcp("tcp", "TCPClientImpl")
        + &element("kg.apc.jmeter.samplers.HTTPRawSampler", "raw", &raw, "")
        + &element("SystemSampler", "command", &command, "");
    room.file("plan.jmx", plan(&group("1", "2", &samplers)));
    let port = format!("-JPORT={}", server.port());
    let options = ["run", "plan.jmx", "-l", "out.jtl", &port, "-Jbusyhour.body_memory=2000000"];
    let ended = room.run(options).expect(0);
    ended.prints(&["a limit of the generator was exceeded 10 times: memory for the bodies of all users"]);
    let rows = rows(&room.read("out.jtl"));
    assert_eq!(rows.len(), 10, "{rows:?}");
    let hint = "the property busyhour.body_memory sets the maximum size of all bodies in bytes";
    for row in &rows {
        if row["label"] == "command" {
            let kept: u64 = row["bytes"].parse().unwrap();
            assert!((1_000_000..=2_000_000).contains(&kept), "{row:?}");
        } else {
            assert_eq!(row["success"], "false", "{row:?}");
            assert!(row["responseMessage"].contains(hint), "{row:?}");
        }
    }
    // With enough memory all of them succeed.
    let options = ["run", "plan.jmx", "-l", "all.jtl", &port];
    room.run(options).expect(0);
    let rows = crate::program::rows(&room.read("all.jtl"));
    assert!(rows.len() == 10 && rows.iter().all(|row| row["success"] == "true"), "{rows:?}");
}

/// A response for which the system has no memory fails, and the run continues.
#[cfg(target_os = "linux")]
#[test]
fn a_response_without_memory_fails() {
    use crate::program::wait_for;
    use crate::servers::Gate;
    const MIB: usize = 1 << 20;
    let gate = Gate::default();
    let at_server = gate.clone();
    let server = Server::start(move |stream, head| {
        at_server.wait();
        let page = "x".repeat(if head[0].contains("/large") { 60 * MIB } else { 10 });
        let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", page.len());
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(page.as_bytes()));
        false
    });
    let room = Room::new();
    let script = text("script", "prev.getResponseDataAsString()");
    let keeps = element("JSR223PostProcessor", "reads", &script, "");
    let samplers = get_with("large", "/large", "", &keeps) + &get_with("small", "/small", "", &keeps);
    room.file("plan.jmx", plan(&group("1", "1", &samplers)));
    let port = format!("-JPORT={}", server.port());
    // Threads that observe also need memory, and end the process if there is none.
    let options = ["run", "plan.jmx", "-l", "out.jtl", "--cores", "1", "--observe", "none", &port];
    let running = room.start(options);
    wait_for("the first request", || (server.requests() > 0).then_some(()));
    running.limit_memory(24 * MIB as u64);
    gate.open();
    running.end().expect(0);
    let rows = rows(&room.read("out.jtl"));
    assert_eq!((rows[0]["success"].as_str(), rows[1]["success"].as_str()), ("false", "true"), "{rows:?}");
    let message = "the system has no memory for a response body of ";
    assert!(rows[0]["responseMessage"].contains(message), "{rows:?}");
}

/// An argument of a command.
fn argument(value: &str) -> String {
    format!(
        "<elementProp name=\"\" elementType=\"Argument\"><stringProp name=\"Argument.name\"></stringProp>\
         <stringProp name=\"Argument.value\">{value}</stringProp></elementProp>"
    )
}
