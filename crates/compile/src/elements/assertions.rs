//! Assertions.

use super::descriptor::Descriptor;
use super::script_source::{self as source, ScriptSource};

/// What an assertion checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AssertionClass {
    /// Texts and patterns in a part of the result.
    Response,
    /// The time it took.
    Duration,
    /// JSON by a path.
    JsonPath,
    /// The size of a part of the result.
    Size,
    /// XML by XPath 1.
    XPath,
    /// XML by XPath 2.
    XPath2,
    /// JSON by JMESPath.
    JmesPath,
    /// That the results of an iteration are the same.
    Compare,
    /// JSON by a path, as a plugin does it.
    PluginJsonPath,
    /// That the body is XML.
    Xml,
    /// That the body is as a schema requires.
    XmlSchema,
    /// The MD5 sum of the body.
    Md5Hex,
    /// What a script checks.
    Script(&'static ScriptSource),
}

const PATTERNS: &str = "regular expressions: all but repeated anchors, (?x), \\G and octal references; not the body as a document";
const SCRIPTS: &str = "Groovy, BeanShell, JEXL and JavaScript without Java: what a script needs beyond the common classes of the JDK is refused";
const JMESPATH: &str = "messages about wrong paths and documents are worded otherwise";
const XPATH: &str = "tolerant: pages are read as browsers do, not as JTidy; no validation; messages about wrong expressions are worded otherwise";
const XPATH2: &str =
    "expressions that are XPath 1.0, too; a function that is given several nodes takes the first";

/// The assertions.
pub(crate) const ELEMENTS: &[Descriptor<AssertionClass>] = &[
    Descriptor::new("JSR223Assertion", "JSR223 Assertion", AssertionClass::Script(&source::JSR223))
        .note(SCRIPTS),
    Descriptor::new(
        "BeanShellAssertion",
        "BeanShell Assertion",
        AssertionClass::Script(&source::BEANSHELL_ASSERTION),
    )
    .note(SCRIPTS)
    .properties(&[
        "BeanShellAssertion.filename",
        "BeanShellAssertion.parameters",
        "BeanShellAssertion.query",
        "BeanShellAssertion.resetInterpreter",
    ]),
    Descriptor::new("BSFAssertion", "BSF Assertion", AssertionClass::Script(&source::BSF)).note(SCRIPTS),
    Descriptor::new("ResponseAssertion", "Response Assertion", AssertionClass::Response)
        .note(PATTERNS)
        .properties(&[
            "Asserion.test_strings",
            "Assertion.assume_success",
            "Assertion.custom_message",
            "Assertion.request_data",
            "Assertion.request_headers",
            "Assertion.response_code",
            "Assertion.response_data",
            "Assertion.response_data_as_document",
            "Assertion.response_headers",
            "Assertion.response_message",
            "Assertion.sample_label",
            "Assertion.scope",
            "Assertion.test_field",
            "Assertion.test_strings",
            "Assertion.test_type",
        ]),
    Descriptor::new("DurationAssertion", "Duration Assertion", AssertionClass::Duration)
        .numbers(&["DurationAssertion.duration"]),
    Descriptor::new("JSONPathAssertion", "JSON Assertion", AssertionClass::JsonPath)
        .note("functions only at the end of definite paths"),
    Descriptor::new("SizeAssertion", "Size Assertion", AssertionClass::Size).properties(&[
        "SizeAssertion.operator",
        "SizeAssertion.response_code",
        "SizeAssertion.response_data",
        "SizeAssertion.response_headers",
        "SizeAssertion.response_message",
        "SizeAssertion.response_network_size",
        "SizeAssertion.size",
    ]),
    Descriptor::new("XPathAssertion", "XPath Assertion", AssertionClass::XPath).note(XPATH).properties(&[
        "XPath.download_dtds",
        "XPath.namespace",
        "XPath.namespaces",
        "XPath.negate",
        "XPath.quiet",
        "XPath.report_errors",
        "XPath.show_warnings",
        "XPath.tolerant",
        "XPath.validate",
        "XPath.whitespace",
        "XPath.xpath",
    ]),
    Descriptor::new("XPath2Assertion", "XPath2 Assertion", AssertionClass::XPath2).note(XPATH2),
    Descriptor::new("JMESPathAssertion", "JSON JMESPath Assertion", AssertionClass::JmesPath).note(JMESPATH),
    Descriptor::new("CompareAssertion", "Compare Assertion", AssertionClass::Compare),
    Descriptor::new(
        "com.atlantbh.jmeter.plugins.jsonutils.jsonpathassertion.JSONPathAssertion",
        "JSON Path Assertion (jmeter-plugins)",
        AssertionClass::PluginJsonPath,
    )
    .note("not from YAML"),
    Descriptor::new("XMLAssertion", "XML Assertion", AssertionClass::Xml)
        .note("rare mistakes are told in other words"),
    Descriptor::new("XMLSchemaAssertion", "XML Schema Assertion", AssertionClass::XmlSchema)
        .note("local schema files; messages that name what was expected are worded otherwise"),
    Descriptor::new("MD5HexAssertion", "MD5Hex Assertion", AssertionClass::Md5Hex)
        .properties(&["MD5HexAssertion.size"]),
];
