//! Client certificates: which key of a store a connection shows. The stand-in asks every client for a certificate, and
//! `/certificate` says whose it got.

use super::super::elements::*;
use super::super::jmx::Node;
use super::{Description, case};

/// Keys `carl`, `anna`, `bert`, `zed`, in Java's order.
const JKS: &[u8] = include_bytes!("../../../../crates/http/tests/keystores/four.jks");

/// The same names in the order `zed`, `anna`, `carl`, `bert`.
const PKCS12: &[u8] = include_bytes!("../../../../crates/http/tests/keystores/four.p12");

/// A Keystore Configuration.
fn keystore(first: &str, last: &str, variable: &str) -> Node {
    Node::new("KeystoreConfig", "TestBeanGUI", "Keystore Configuration")
        .set("clientCertAliasVarName", variable)
        .set("endIndex", last)
        .set("preload", "True")
        .set("startIndex", first)
}

/// A request on a connection of its own; the variable gets the name that the server saw.
fn ask(variable: &str) -> Node {
    get("ask", "/certificate")
        .set("HTTPSampler.protocol", "https")
        .set("HTTPSampler.port", "${__P(TLS_PORT)}")
        .set("HTTPSampler.use_keepalive", false)
        .with([Node::new("RegexExtractor", "RegexExtractorGui", "name")
            .set("RegexExtractor.useHeaders", "false")
            .set("RegexExtractor.refname", variable)
            .set("RegexExtractor.regex", "certificate=(.*?);")
            .set("RegexExtractor.template", "$1$")
            .set("RegexExtractor.default", "unseen")
            .set("RegexExtractor.match_number", "1")])
}

/// Six such requests, and one that shows what was seen.
fn six(settings: Vec<Node>) -> Node {
    let asked = (1..=6).map(|number| ask(&format!("c{number}")));
    let show = raw("POST", "show", "/body", "${c1} ${c2} ${c3} ${c4} ${c5} ${c6}");
    let all = settings.into_iter().chain(asked).chain([show]);
    plan([all.fold(group("users"), |group, node| group.with([node]))])
}

fn stored(mut description: Description, name: &'static str, bytes: &[u8]) -> Description {
    description = description.file(name, bytes);
    description.setting(|settings| {
        settings.arguments.push(format!("-Djavax.net.ssl.keyStore={{CASE}}/{name}"));
        settings.arguments.push("-Djavax.net.ssl.keyStorePassword=secret".to_owned());
    })
}

pub fn cases() -> Vec<Description> {
    let covers = &["KeystoreConfig"];
    vec![
        stored(case("keystore-in-turn", covers, six(vec![keystore("", "", "")])), "keys.jks", JKS)
            .why("The keys take turns, in the order of Java's hash table."),
        stored(case("keystore-range", covers, six(vec![keystore("1", "2", "")])), "keys.p12", PKCS12)
            .why("Places count from 0, in the order of the file."),
        stored(case("keystore-first-key", covers, six(Vec::new())), "keys.jks", JKS)
            .why("Without a Keystore Configuration the first key alone is shown."),
        case("keystore-none", covers, six(vec![keystore("", "", "")]))
            .why("Without a store servers that ask get no certificate."),
        stored(
            case(
                "keystore-alias",
                covers,
                plan([
                    keystore("0", "", "who"),
                    group("users").with([
                        variables(
                            "names",
                            &[("name_1", "anna"), ("name_2", "nobody"), ("name_3", "Zed"), ("name_4", "zed")],
                        ),
                        ask("before"),
                        for_each("each", "name", "who")
                            .with([ask("seen"), raw("POST", "show", "/body", "${who} ${seen}")]),
                    ]),
                ]),
            ),
            "keys.p12",
            PKCS12,
        )
        .why("A variable names the key, in lower case; one that is missing fails the sample."),
    ]
}
