//! Elements that are rejected: known elements, each with the reason, and elements of unknown plugins.

use busyhour_diagnostic::Needs;

use super::descriptor::Descriptor;

const JAVA: Option<Needs> = Some(Needs::Java);
const PROTOCOL: Option<Needs> = Some(Needs::Protocol);

/// The reason why an element is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    /// The requirement without which the element cannot run, if it is known.
    pub(crate) needs: Option<Needs>,
    /// The reason and what to do instead; may be empty.
    pub(crate) why: &'static str,
}

/// Elements whose classes have a common prefix.
struct RefusedFamily {
    prefix: &'static str,
    refused: Refused,
}

const fn refused(class: &'static str, needs: Option<Needs>, why: &'static str) -> Descriptor<Refused> {
    Descriptor::new(class, "", Refused { needs, why }).unlisted()
}

const fn family(prefix: &'static str, needs: Option<Needs>, why: &'static str) -> RefusedFamily {
    RefusedFamily { prefix, refused: Refused { needs, why } }
}

/// The elements that are known and rejected.
pub(crate) const ELEMENTS: &[Descriptor<Refused>] = &[
    refused("HTMLAssertion", None, "it counts the errors and warnings of JTidy, whose rules no other HTML parser has; disable the element, or \
         check the page's parts with a Response Assertion or an XPath Assertion"),
    refused("SMIMEAssertion", PROTOCOL, "signed mail is not supported; disable the element"),
    refused("FTPSampler", PROTOCOL, "FTP is not supported; use another tool for FTP, or disable the element"),
    refused("LDAPSampler", PROTOCOL, "LDAP is not supported; disable the element, or keep its part of the plan in JMeter"),
    refused("LDAPExtSampler", PROTOCOL, "LDAP is not supported; disable the element, or keep its part of the plan in JMeter"),
    refused("SmtpSampler", PROTOCOL, "sending mail is not supported; disable the element, or keep its part of the plan in JMeter"),
    refused("MailReaderSampler", PROTOCOL, "reading mail is not supported; disable the element, or keep its part of the plan in JMeter"),
    refused("JMSSampler", JAVA, "JMS is a Java interface whose wire protocol depends on the broker; use the broker's HTTP interface"),
    refused("PublisherSampler", JAVA, "JMS is a Java interface whose wire protocol depends on the broker; use the broker's HTTP interface"),
    refused("SubscriberSampler", JAVA, "JMS is a Java interface whose wire protocol depends on the broker; use the broker's HTTP interface"),
    refused("AjpSampler", PROTOCOL, "AJP is not supported; send the same requests to the server's HTTP port"),
    refused("JUnitSampler", JAVA, "a JUnit test needs a JVM and its classes; measure what it calls over HTTP"),
    refused("MongoScriptSampler", JAVA, "it runs a script in a removed interface of MongoDB, which JMeter has deprecated; disable the element"),
    refused("MongoSourceElement", JAVA, "only the deprecated MongoDB Script sampler uses it; disable the element"),
    refused("BoltSampler", JAVA, "Neo4j's Bolt protocol is not supported; send the queries to the server's HTTP interface"),
    refused("BoltConnectionElement", JAVA, "only the Bolt Request uses it; disable the element"),
    refused("JDBCSampler", JAVA, "a JDBC driver needs a JVM; call the database through the application, or disable the element").properties(&["JDBCSampler.connPoolClass", "JDBCSampler.connections", "JDBCSampler.driver", "JDBCSampler.maxuse", "JDBCSampler.query", "JDBCSampler.url"]),
    refused("JDBCDataSource", JAVA, "a JDBC driver needs a JVM; disable the element and what uses it"),
    refused("JDBCPreProcessor", JAVA, "a JDBC driver needs a JVM; prepare the data in a file and read it with a CSV Data Set"),
    refused("JDBCPostProcessor", JAVA, "a JDBC driver needs a JVM; call the database through the application"),
    refused("AccessLogSampler", JAVA, "it selects requests with Java classes; busyhour can replay the times of a log, see `busyhour run --help`").properties(&["AccessLogSampler.generator_class_name", "AccessLogSampler.log_file", "AccessLogSampler.parser_class_name"]),
    refused("com.blazemeter.jmeter.http2.sampler.HTTP2Controller", None, "concurrent requests on one HTTP/2 connection are not supported; use a Parallel Controller with HTTP requests"),
    refused("kg.apc.jmeter.config.LockFile", None, "lock files are not supported; start busyhour through flock(1), and disable the element"),
    refused("kg.apc.jmeter.config.redis.RedisDataSet", PROTOCOL, "Redis is not supported; write the rows to a file and read it with a CSV Data Set Config"),
    refused("SoapSampler", None, "JMeter has removed it; replace it with an HTTP Request with a raw body"),
    refused("WebServiceSampler", None, "JMeter has removed it; replace it with an HTTP Request with a raw body"),
    refused("JMeter.plugins.functional.samplers.websocket.WebSocketSampler", None, "its plugin is no longer maintained and matches responses in a background thread; use the WebSocket samplers \
         by Peter Doornbosch (eu.luminis)"),
    refused("kg.apc.jmeter.modifiers.DummySubPostProcessor", None, "waiting inside a post-processor is not supported; add a Dummy Sampler after the sampler instead"),
    refused("com.atlantbh.jmeter.plugins.rest.RestSampler", None, "its plugin is no longer maintained; replace it with an HTTP Request"),
    refused("com.atlantbh.jmeter.plugins.jsonutils.jsonformatter.JSONFormatter", None, "it formats responses with a Java library that accepts more than JSON; disable the element: JSON \
         extractors and assertions read the response as received"),
    refused("com.atlantbh.jmeter.plugins.xmlformatter.XMLFormatPostProcessor", None, "it formats responses in a layout that differs between versions of Java; disable the element: XPath extractors and \
         assertions read the response as received"),
    refused("com.atlantbh.jmeter.plugins.jsontoxmlconverter.JSONToXMLConverter", None, "it converts responses with a Java library that accepts more than JSON; extract the values with a JSON Extractor"),
    refused("com.atlantbh.jmeter.plugins.oauth.OAuthSampler", JAVA, "it signs requests with Java classes; disable the element"),
];

/// Plugins whose classes have a common prefix.
const FAMILIES: &[RefusedFamily] = &[
    family(
        "com.atlantbh.jmeter.plugins.hadooputilities.",
        JAVA,
        "Hadoop's client needs a JVM; disable the element, or use Hadoop's HTTP interfaces",
    ),
    family(
        "com.atlantbh.jmeter.plugins.hbase",
        JAVA,
        "HBase's client needs a JVM; send the requests to its REST gateway",
    ),
    family(
        "com.googlecode.jmeter.plugins.webdriver.",
        JAVA,
        "it controls a browser from a Java script; use another tool to measure browsers",
    ),
    family("com.blazemeter.jmeter.xmpp.", PROTOCOL, "XMPP is not supported; disable the element"),
    family("net.xmeter.", PROTOCOL, "MQTT is not supported; disable the element"),
    family("com.di.jmeter.", JAVA, "its clients need a JVM; disable the element"),
    family("com.github.johrstrom.", JAVA, "it calls Java classes; disable the element"),
    family("nl.nn.adapterframework.", JAVA, "it calls Java classes; disable the element"),
    family("co.signal.", JAVA, "Kafka's client needs a JVM; send the messages to a Kafka REST proxy"),
];

/// The reason for rejecting an element whose class has no descriptor.
pub(crate) fn of_unknown_class(class: &str) -> Refused {
    if let Some(family) = FAMILIES.iter().find(|family| class.starts_with(family.prefix)) {
        return family.refused;
    }
    // JMeter's own classes have short names without a dot.
    if class.contains('.') {
        let why = "it belongs to an unknown plugin; disable the element";
        return Refused { needs: Some(Needs::Plugin), why };
    }
    Refused { needs: None, why: "" }
}
