//! Assertions.

use super::descriptor::Descriptor;
use super::script_source::{self as source, ScriptSource};

/// The kinds of assertions, by what they check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AssertionClass {
    /// Checks a part of the result for texts and patterns.
    Response,
    /// Checks the duration of the sample.
    Duration,
    /// Checks JSON with a JSON path.
    JsonPath,
    /// Checks the size of a part of the result.
    Size,
    /// Checks XML with XPath 1.
    XPath,
    /// Checks XML with XPath 2.
    XPath2,
    /// Checks JSON with JMESPath.
    JmesPath,
    /// Checks that the results of an iteration are the same.
    Compare,
    /// Checks JSON with a JSON path, by the rules of a plugin.
    PluginJsonPath,
    /// Checks that the body is XML.
    Xml,
    /// Checks that the body conforms to an XML schema.
    XmlSchema,
    /// Checks the MD5 sum of the body.
    Md5Hex,
    /// Checks the result with a script.
    Script(&'static ScriptSource),
}

const PATTERNS: &str = "regular expressions without repeated anchors, (?x), \\G and octal references; \"Body as a Document\" is not supported";
const SCRIPTS: &str =
    "Groovy, BeanShell, JEXL and JavaScript; scripts that need more than common JDK classes are refused";
const JMESPATH: &str = "messages about invalid paths and documents differ in wording";
const XPATH: &str = "tolerant mode parses pages like browsers, not like JTidy; no validation; messages about invalid expressions differ in wording";
const XPATH2: &str = "only expressions that are also valid XPath 1.0; a function with several nodes as argument uses the first";

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
        .note("functions are supported only at the end of definite paths"),
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
    .note("YAML is not supported"),
    Descriptor::new("XMLAssertion", "XML Assertion", AssertionClass::Xml)
        .note("messages about rare errors differ in wording"),
    Descriptor::new("XMLSchemaAssertion", "XML Schema Assertion", AssertionClass::XmlSchema)
        .note("local schema files only; messages about expected elements differ in wording"),
    Descriptor::new("MD5HexAssertion", "MD5Hex Assertion", AssertionClass::Md5Hex)
        .properties(&["MD5HexAssertion.size"]),
];
