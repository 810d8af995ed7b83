//! Elements that are refused: those that are known, each with the reason, and those nobody knows.

use busyhour_diagnostic::Needs;

const JAVA: Option<Needs> = Some(Needs::Java);
const PROTOCOL: Option<Needs> = Some(Needs::Protocol);

/// Class, what it would take, and why it is refused, with a hint.
const REFUSED: &[(&str, Option<Needs>, &str)] = &[
    (
        "HTMLAssertion",
        None,
        "it counts the errors and warnings of JTidy, whose rules no other reader of HTML shares; disable the element, or \
         check the page's parts with a Response Assertion or an XPath Assertion",
    ),
    ("SMIMEAssertion", PROTOCOL, "signed mail is not read here; disable the element"),
    (
        "FTPSampler",
        PROTOCOL,
        "FTP is not spoken here; load an FTP server with a tool of its own, or disable the element",
    ),
    (
        "LDAPSampler",
        PROTOCOL,
        "LDAP is not spoken here; disable the element, or keep its part of the plan in JMeter",
    ),
    (
        "LDAPExtSampler",
        PROTOCOL,
        "LDAP is not spoken here; disable the element, or keep its part of the plan in JMeter",
    ),
    (
        "SmtpSampler",
        PROTOCOL,
        "mail is not sent from here; disable the element, or keep its part of the plan in JMeter",
    ),
    (
        "MailReaderSampler",
        PROTOCOL,
        "mailboxes are not read here; disable the element, or keep its part of the plan in JMeter",
    ),
    (
        "JMSSampler",
        JAVA,
        "JMS is an interface of Java, its wire protocol is each broker's own; use the broker's HTTP interface",
    ),
    (
        "PublisherSampler",
        JAVA,
        "JMS is an interface of Java, its wire protocol is each broker's own; use the broker's HTTP interface",
    ),
    (
        "SubscriberSampler",
        JAVA,
        "JMS is an interface of Java, its wire protocol is each broker's own; use the broker's HTTP interface",
    ),
    ("AjpSampler", PROTOCOL, "AJP is not spoken here; send the same requests to the server's HTTP port"),
    (
        "JUnitSampler",
        JAVA,
        "a JUnit test needs a Java machine and its classes; measure what it calls over HTTP",
    ),
    (
        "MongoScriptSampler",
        JAVA,
        "it runs a script in a removed interface of MongoDB, which JMeter has deprecated; disable the element",
    ),
    ("MongoSourceElement", JAVA, "only the deprecated MongoDB Script sampler uses it; disable the element"),
    (
        "BoltSampler",
        JAVA,
        "Neo4j's Bolt protocol is not spoken here; send the queries to the server's HTTP interface",
    ),
    ("BoltConnectionElement", JAVA, "only the Bolt Request uses it; disable the element"),
    (
        "JDBCSampler",
        JAVA,
        "a JDBC driver needs a Java machine; call the database through the application, or disable the element",
    ),
    ("JDBCDataSource", JAVA, "a JDBC driver needs a Java machine; disable the element and what uses it"),
    (
        "JDBCPreProcessor",
        JAVA,
        "a JDBC driver needs a Java machine; prepare the data in a file and read it with a CSV Data Set",
    ),
    (
        "JDBCPostProcessor",
        JAVA,
        "a JDBC driver needs a Java machine; call the database through the application",
    ),
    (
        "AccessLogSampler",
        JAVA,
        "it chooses requests with Java classes; busyhour can replay times of a log, see `busyhour run --help`",
    ),
    (
        "com.blazemeter.jmeter.http2.sampler.HTTP2Controller",
        None,
        "requests side by side on one HTTP/2 connection are not supported; use a Parallel Controller with HTTP requests",
    ),
    (
        "kg.apc.jmeter.config.LockFile",
        None,
        "lock files are not written here; start busyhour through flock(1), and disable the element",
    ),
    (
        "kg.apc.jmeter.config.redis.RedisDataSet",
        PROTOCOL,
        "Redis is not spoken here; write the rows to a file and read it with a CSV Data Set Config",
    ),
    ("SoapSampler", None, "JMeter has removed it; say the same as a HTTP request with a raw body"),
    ("WebServiceSampler", None, "JMeter has removed it; say the same as a HTTP request with a raw body"),
    (
        "JMeter.plugins.functional.samplers.websocket.WebSocketSampler",
        None,
        "its plugin is no longer kept and answers are matched in a background thread of Java; use the WebSocket samplers \
         by Peter Doornbosch (eu.luminis), which run here",
    ),
    (
        "kg.apc.jmeter.modifiers.DummySubPostProcessor",
        None,
        "it waits inside a post-processor, where nothing waits here; put a Dummy Sampler behind the sampler instead",
    ),
    (
        "com.atlantbh.jmeter.plugins.rest.RestSampler",
        None,
        "its plugin is no longer kept; say the same as a HTTP request",
    ),
    (
        "com.atlantbh.jmeter.plugins.jsonutils.jsonformatter.JSONFormatter",
        None,
        "it rewrites answers by the rules of a library of Java that reads more than JSON; disable the element: JSON \
         extractors and assertions read the answer as it came",
    ),
    (
        "com.atlantbh.jmeter.plugins.xmlformatter.XMLFormatPostProcessor",
        None,
        "it rewrites answers in a layout that differs between versions of Java; disable the element: XPath extractors and \
         assertions read the answer as it came",
    ),
    (
        "com.atlantbh.jmeter.plugins.jsontoxmlconverter.JSONToXMLConverter",
        None,
        "it makes XML by the rules of a library of Java that reads more than JSON; take the values with a JSON Extractor",
    ),
    (
        "com.atlantbh.jmeter.plugins.oauth.OAuthSampler",
        JAVA,
        "it signs requests with Java classes; disable the element",
    ),
];

/// The same for what only the beginnings of classes tell.
const FAMILIES: &[(&str, Option<Needs>, &str)] = &[
    (
        "com.atlantbh.jmeter.plugins.hadooputilities.",
        JAVA,
        "Hadoop's client needs a Java machine; disable the element, or use Hadoop's HTTP interfaces",
    ),
    (
        "com.atlantbh.jmeter.plugins.hbase",
        JAVA,
        "HBase's client needs a Java machine; send the same to its REST gateway",
    ),
    (
        "com.googlecode.jmeter.plugins.webdriver.",
        JAVA,
        "it drives a browser from a script of Java; measure the browser with a tool of its own",
    ),
    ("com.blazemeter.jmeter.xmpp.", PROTOCOL, "XMPP is not spoken here; disable the element"),
    ("net.xmeter.", PROTOCOL, "MQTT is not spoken here; disable the element"),
    ("com.di.jmeter.", JAVA, "its clients need a Java machine; disable the element"),
    ("com.github.johrstrom.", JAVA, "it calls Java classes; disable the element"),
    ("nl.nn.adapterframework.", JAVA, "it calls Java classes; disable the element"),
    ("co.signal.", JAVA, "Kafka's client needs a Java machine; send the same to a REST proxy of Kafka's"),
];

/// Whether elements of this class are known and refused.
pub(crate) fn is_one(class: &str) -> bool {
    REFUSED.iter().any(|(known, ..)| *known == class)
}

/// What an element of this class would take, if that is known, and why it is refused; may be empty.
pub(crate) fn why(class: &str) -> (Option<Needs>, &'static str) {
    let known = REFUSED.iter().find(|(known, ..)| *known == class);
    let known = known.or_else(|| FAMILIES.iter().find(|(begin, ..)| class.starts_with(begin)));
    match known {
        Some((_, needs, why)) => (*needs, why),
        // JMeter's own classes are known by their short names.
        None if class.contains('.') => {
            (Some(Needs::Plugin), "it is of a plugin that is not known here; disable the element")
        }
        None => (None, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_is_not_supported() {
        for known in crate::supported() {
            assert!(!is_one(known.class), "{}", known.class);
        }
    }

    #[test]
    fn every_refusal_has_its_reason() {
        for (class, needs) in [
            ("JDBCSampler", Some(Needs::Java)),
            ("FTPSampler", Some(Needs::Protocol)),
            ("com.atlantbh.jmeter.plugins.hbasecrud.HbaseCrud", Some(Needs::Java)),
            ("SoapSampler", None),
            ("org.example.Sampler", Some(Needs::Plugin)),
        ] {
            let (takes, why) = why(class);
            assert_eq!(takes, needs, "{class}");
            assert!(!why.is_empty(), "{class}");
        }
        assert_eq!(why("NoClassOfJMeters"), (None, ""));
    }
}
