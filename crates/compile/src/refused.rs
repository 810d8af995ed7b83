//! Elements that are known and refused, each with the reason.

/// Class and why it is refused, with a hint.
const REFUSED: &[(&str, &str)] = &[
    (
        "HTMLAssertion",
        "it counts the errors and warnings of JTidy, whose rules no other reader of HTML shares; disable the element, or \
         check the page's parts with a Response Assertion or an XPath Assertion",
    ),
    (
        "XMLSchemaAssertion",
        "documents are not validated against schemas here; an XML Assertion checks that they are well-formed",
    ),
    ("SMIMEAssertion", "signed mail is not read here; disable the element"),
    (
        "FTPSampler",
        "FTP is not spoken here; load an FTP server with a tool of its own, or disable the element",
    ),
    ("LDAPSampler", "LDAP is not spoken here; disable the element, or keep its part of the plan in JMeter"),
    (
        "LDAPExtSampler",
        "LDAP is not spoken here; disable the element, or keep its part of the plan in JMeter",
    ),
    (
        "SmtpSampler",
        "mail is not sent from here; disable the element, or keep its part of the plan in JMeter",
    ),
    (
        "MailReaderSampler",
        "mailboxes are not read here; disable the element, or keep its part of the plan in JMeter",
    ),
    (
        "JMSSampler",
        "JMS is an interface of Java, its wire protocol is each broker's own; use the broker's HTTP interface",
    ),
    (
        "PublisherSampler",
        "JMS is an interface of Java, its wire protocol is each broker's own; use the broker's HTTP interface",
    ),
    (
        "SubscriberSampler",
        "JMS is an interface of Java, its wire protocol is each broker's own; use the broker's HTTP interface",
    ),
    ("AjpSampler", "AJP is not spoken here; send the same requests to the server's HTTP port"),
    ("JUnitSampler", "a JUnit test needs a Java machine and its classes; measure what it calls over HTTP"),
    (
        "MongoScriptSampler",
        "it runs a script in a removed interface of MongoDB, which JMeter has deprecated; disable the element",
    ),
    ("MongoSourceElement", "only the deprecated MongoDB Script sampler uses it; disable the element"),
    (
        "BoltSampler",
        "Neo4j's Bolt protocol is not spoken here; send the queries to the server's HTTP interface",
    ),
    ("BoltConnectionElement", "only the Bolt Request uses it; disable the element"),
    (
        "JDBCSampler",
        "a JDBC driver needs a Java machine; call the database through the application, or disable the element",
    ),
    ("JDBCDataSource", "a JDBC driver needs a Java machine; disable the element and what uses it"),
    (
        "JDBCPreProcessor",
        "a JDBC driver needs a Java machine; prepare the data in a file and read it with a CSV Data Set",
    ),
    ("JDBCPostProcessor", "a JDBC driver needs a Java machine; call the database through the application"),
    (
        "AccessLogSampler",
        "it chooses requests with Java classes; busyhour can replay times of a log, see `busyhour run --help`",
    ),
    (
        "AnchorModifier",
        "it follows links as JTidy reads pages; take the link with a Regular Expression or CSS Extractor, and use the variable",
    ),
    (
        "KeystoreConfig",
        "client certificates are not supported yet: disable the element if the servers do not ask for them",
    ),
    (
        "com.blazemeter.jmeter.http2.sampler.HTTP2Controller",
        "requests side by side on one HTTP/2 connection are not supported; use a Parallel Controller with HTTP requests",
    ),
    (
        "kg.apc.jmeter.config.LockFile",
        "lock files are not written here; start busyhour through flock(1), and disable the element",
    ),
    (
        "kg.apc.jmeter.config.redis.RedisDataSet",
        "Redis is not spoken here; write the rows to a file and read it with a CSV Data Set Config",
    ),
    ("SoapSampler", "JMeter has removed it; say the same as a HTTP request with a raw body"),
    ("WebServiceSampler", "JMeter has removed it; say the same as a HTTP request with a raw body"),
    (
        "JMeter.plugins.functional.samplers.websocket.WebSocketSampler",
        "its plugin is no longer kept and answers are matched in a background thread of Java; use the WebSocket samplers \
         by Peter Doornbosch (eu.luminis), which run here",
    ),
    (
        "kg.apc.jmeter.modifiers.DummySubPostProcessor",
        "it waits inside a post-processor, where nothing waits here; put a Dummy Sampler behind the sampler instead",
    ),
    (
        "com.googlecode.jmeter.plugins.webdriver.sampler.WebDriverSampler",
        "it drives a browser from a script of Java; measure the browser with a tool of its own",
    ),
    ("com.blazemeter.jmeter.xmpp.JMeterXMPPSampler", "XMPP is not spoken here; disable the element"),
    (
        "com.atlantbh.jmeter.plugins.hbasecomponents.samplers.HBaseRowkeySampler",
        "HBase's client needs a Java machine; send the same to its REST gateway",
    ),
    (
        "com.atlantbh.jmeter.plugins.hbasecomponents.samplers.HBaseScanSampler",
        "HBase's client needs a Java machine; send the same to its REST gateway",
    ),
    (
        "com.atlantbh.jmeter.plugins.rest.RestSampler",
        "its plugin is no longer kept; say the same as a HTTP request",
    ),
    (
        "com.atlantbh.jmeter.plugins.jsonutils.jsonformatter.JSONFormatter",
        "it rewrites answers by the rules of a library of Java that reads more than JSON; disable the element: JSON \
         extractors and assertions read the answer as it came",
    ),
    (
        "com.atlantbh.jmeter.plugins.xmlformatter.XMLFormatPostProcessor",
        "it rewrites answers in a layout that differs between versions of Java; disable the element: XPath extractors and \
         assertions read the answer as it came",
    ),
    (
        "com.atlantbh.jmeter.plugins.jsontoxmlconverter.JSONToXMLConverter",
        "it makes XML by the rules of a library of Java that reads more than JSON; take the values with a JSON Extractor",
    ),
    (
        "com.atlantbh.jmeter.plugins.oauth.OAuthSampler",
        "it signs requests with Java classes; disable the element",
    ),
];

/// Why an element of this class is refused, if that is known.
pub(crate) fn why(class: &str) -> Option<&'static str> {
    REFUSED.iter().find(|(known, _)| *known == class).map(|(_, why)| *why)
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_refused_is_not_supported() {
        for known in crate::supported() {
            assert_eq!(super::why(known.class), None, "{}", known.class);
        }
    }
}
