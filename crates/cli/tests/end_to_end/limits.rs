//! Tests limits: plans and responses that require too much work are refused or fail, and the run has a caveat.

use std::io::Write as _;

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
            "more than 200 signs",
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
fn models_of_absurd_size_are_refused() {
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
    let ended = room.run(["model", "solve", "servers.jmva"]);
    assert!(ended.all().contains("up to 100000 can be computed"), "{}", ended.all());
    room.file("population.jmva", model("2", "1000000000000"));
    room.run(["model", "solve", "population.jmva"]).expect(0);
    let ended = room.run(["model", "simulate", "population.jmva"]);
    assert!(ended.all().contains("10000000"), "{}", ended.all());
}
