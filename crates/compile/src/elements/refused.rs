//! Elements that are refused: those that are known, each with the reason, and those of unknown plugins.

use busyhour_diagnostic::Needs;

use super::descriptor::Descriptor;

const JAVA: Option<Needs> = Some(Needs::Java);
const PROTOCOL: Option<Needs> = Some(Needs::Protocol);

/// Why an element is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    /// What it would take to run it, if that is known.
    pub(crate) needs: Option<Needs>,
    /// The reason and what to do instead; may be empty.
    pub(crate) why: &'static str,
}

/// Elements of classes that begin alike.
struct RefusedFamily {
    begin: &'static str,
    refused: Refused,
}

const fn refused(class: &'static str, needs: Option<Needs>, why: &'static str) -> Descriptor<Refused> {
    Descriptor::new(class, "", Refused { needs, why }).unlisted()
}

const fn family(begin: &'static str, needs: Option<Needs>, why: &'static str) -> RefusedFamily {
    RefusedFamily { begin, refused: Refused { needs, why } }
}

/// The elements that are known and refused.
pub(crate) const ELEMENTS: &[Descriptor<Refused>] = &[
    refused("HTMLAssertion", None, "it counts the errors and warnings of JTidy, whose rules no other reader of HTML shares; disable the element, or \
         check the page's parts with a Response Assertion or an XPath Assertion"),
    refused("SMIMEAssertion", PROTOCOL, "signed mail is not read here; disable the element"),
    refused("FTPSampler", PROTOCOL, "FTP is not spoken here; load an FTP server with a tool of its own, or disable the element"),
    refused("LDAPSampler", PROTOCOL, "LDAP is not spoken here; disable the element, or keep its part of the plan in JMeter"),
    refused("LDAPExtSampler", PROTOCOL, "LDAP is not spoken here; disable the element, or keep its part of the plan in JMeter"),
    refused("SmtpSampler", PROTOCOL, "mail is not sent from here; disable the element, or keep its part of the plan in JMeter"),
    refused("MailReaderSampler", PROTOCOL, "mailboxes are not read here; disable the element, or keep its part of the plan in JMeter"),
    refused("JMSSampler", JAVA, "JMS is an interface of Java, its wire protocol is each broker's own; use the broker's HTTP interface"),
    refused("PublisherSampler", JAVA, "JMS is an interface of Java, its wire protocol is each broker's own; use the broker's HTTP interface"),
    refused("SubscriberSampler", JAVA, "JMS is an interface of Java, its wire protocol is each broker's own; use the broker's HTTP interface"),
    refused("AjpSampler", PROTOCOL, "AJP is not spoken here; send the same requests to the server's HTTP port"),
    refused("JUnitSampler", JAVA, "a JUnit test needs a Java machine and its classes; measure what it calls over HTTP"),
    refused("MongoScriptSampler", JAVA, "it runs a script in a removed interface of MongoDB, which JMeter has deprecated; disable the element"),
    refused("MongoSourceElement", JAVA, "only the deprecated MongoDB Script sampler uses it; disable the element"),
    refused("BoltSampler", JAVA, "Neo4j's Bolt protocol is not spoken here; send the queries to the server's HTTP interface"),
    refused("BoltConnectionElement", JAVA, "only the Bolt Request uses it; disable the element"),
    refused("JDBCSampler", JAVA, "a JDBC driver needs a Java machine; call the database through the application, or disable the element").properties(&["JDBCSampler.connPoolClass", "JDBCSampler.connections", "JDBCSampler.driver", "JDBCSampler.maxuse", "JDBCSampler.query", "JDBCSampler.url"]),
    refused("JDBCDataSource", JAVA, "a JDBC driver needs a Java machine; disable the element and what uses it"),
    refused("JDBCPreProcessor", JAVA, "a JDBC driver needs a Java machine; prepare the data in a file and read it with a CSV Data Set"),
    refused("JDBCPostProcessor", JAVA, "a JDBC driver needs a Java machine; call the database through the application"),
    refused("AccessLogSampler", JAVA, "it chooses requests with Java classes; busyhour can replay times of a log, see `busyhour run --help`").properties(&["AccessLogSampler.generator_class_name", "AccessLogSampler.log_file", "AccessLogSampler.parser_class_name"]),
    refused("com.blazemeter.jmeter.http2.sampler.HTTP2Controller", None, "requests side by side on one HTTP/2 connection are not supported; use a Parallel Controller with HTTP requests"),
    refused("kg.apc.jmeter.config.LockFile", None, "lock files are not written here; start busyhour through flock(1), and disable the element"),
    refused("kg.apc.jmeter.config.redis.RedisDataSet", PROTOCOL, "Redis is not spoken here; write the rows to a file and read it with a CSV Data Set Config"),
    refused("SoapSampler", None, "JMeter has removed it; say the same as a HTTP request with a raw body"),
    refused("WebServiceSampler", None, "JMeter has removed it; say the same as a HTTP request with a raw body"),
    refused("JMeter.plugins.functional.samplers.websocket.WebSocketSampler", None, "its plugin is no longer kept and answers are matched in a background thread of Java; use the WebSocket samplers \
         by Peter Doornbosch (eu.luminis), which run here"),
    refused("kg.apc.jmeter.modifiers.DummySubPostProcessor", None, "it waits inside a post-processor, where nothing waits here; put a Dummy Sampler behind the sampler instead"),
    refused("com.atlantbh.jmeter.plugins.rest.RestSampler", None, "its plugin is no longer kept; say the same as a HTTP request"),
    refused("com.atlantbh.jmeter.plugins.jsonutils.jsonformatter.JSONFormatter", None, "it rewrites answers by the rules of a library of Java that reads more than JSON; disable the element: JSON \
         extractors and assertions read the answer as it came"),
    refused("com.atlantbh.jmeter.plugins.xmlformatter.XMLFormatPostProcessor", None, "it rewrites answers in a layout that differs between versions of Java; disable the element: XPath extractors and \
         assertions read the answer as it came"),
    refused("com.atlantbh.jmeter.plugins.jsontoxmlconverter.JSONToXMLConverter", None, "it makes XML by the rules of a library of Java that reads more than JSON; take the values with a JSON Extractor"),
    refused("com.atlantbh.jmeter.plugins.oauth.OAuthSampler", JAVA, "it signs requests with Java classes; disable the element"),
];

/// The same for plugins whose classes begin alike.
const FAMILIES: &[RefusedFamily] = &[
    family(
        "com.atlantbh.jmeter.plugins.hadooputilities.",
        JAVA,
        "Hadoop's client needs a Java machine; disable the element, or use Hadoop's HTTP interfaces",
    ),
    family(
        "com.atlantbh.jmeter.plugins.hbase",
        JAVA,
        "HBase's client needs a Java machine; send the same to its REST gateway",
    ),
    family(
        "com.googlecode.jmeter.plugins.webdriver.",
        JAVA,
        "it drives a browser from a script of Java; measure the browser with a tool of its own",
    ),
    family("com.blazemeter.jmeter.xmpp.", PROTOCOL, "XMPP is not spoken here; disable the element"),
    family("net.xmeter.", PROTOCOL, "MQTT is not spoken here; disable the element"),
    family("com.di.jmeter.", JAVA, "its clients need a Java machine; disable the element"),
    family("com.github.johrstrom.", JAVA, "it calls Java classes; disable the element"),
    family("nl.nn.adapterframework.", JAVA, "it calls Java classes; disable the element"),
    family(
        "co.signal.",
        JAVA,
        "Kafka's client needs a Java machine; send the same to a REST proxy of Kafka's",
    ),
];

/// Why an element is refused whose class has no descriptor.
pub(crate) fn of_unknown_class(class: &str) -> Refused {
    if let Some(family) = FAMILIES.iter().find(|family| class.starts_with(family.begin)) {
        return family.refused;
    }
    // JMeter's own classes are known by their short names.
    if class.contains('.') {
        let why = "it is of a plugin that is not known here; disable the element";
        return Refused { needs: Some(Needs::Plugin), why };
    }
    Refused { needs: None, why: "" }
}
