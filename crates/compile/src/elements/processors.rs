//! Pre-processors and post-processors.

use super::descriptor::Descriptor;
use super::script_source::{self as source, ScriptSource};

/// The kinds of pre-processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PreProcessorClass {
    /// Sets variables that differ between users, in each iteration if the plan requests it.
    UserParameters,
    /// Selects a link of the previous page.
    LinkParser,
    /// Inserts the session ID of the previous page.
    UrlRewriting,
    /// Sends parameters that a Regular Expression Extractor found.
    RegexUserParameters,
    /// Interrupts samples that take too long.
    SampleTimeout,
    /// Removes a value from a queue that users share.
    PopFromQueue,
    /// Reads the next chunk of a file into a variable.
    RawDataSource,
    /// Runs a script.
    Script(&'static ScriptSource),
}

/// The kinds of post-processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PostProcessorClass {
    /// Extracts with a regular expression.
    Regex,
    /// Extracts with JSON paths.
    Json,
    /// Extracts the text between two boundaries.
    Boundary,
    /// Stops the user, the test or a loop if the sample failed.
    ResultAction,
    /// Adds a value to a queue that users share.
    PutIntoQueue,
    /// Extracts with XPath 1.
    XPath,
    /// Extracts with XPath 2.
    XPath2,
    /// Extracts with a CSS selector.
    Css,
    /// Extracts with JMESPath.
    JmesPath,
    /// Extracts with a JSON path, by the rules of a plugin.
    PluginJsonPath,
    /// Shows variables and properties.
    Debug,
    /// Runs a script.
    Script(&'static ScriptSource),
}

const PATTERNS: &str = "regular expressions without repeated anchors, (?x), \\G and octal references; \"Body as a Document\" is not supported";
const SCRIPTS: &str =
    "Groovy, BeanShell, JEXL and JavaScript; scripts that need more than common JDK classes are refused";
const JMESPATH: &str = "messages about invalid paths and documents differ in wording";
const XPATH: &str = "tolerant mode parses pages like browsers, not like JTidy; no validation; messages about invalid expressions differ in wording";
const XPATH2: &str = "only expressions that are also valid XPath 1.0; a function with several nodes as argument uses the first";

/// The pre-processors.
pub(crate) const PRE_PROCESSORS: &[Descriptor<PreProcessorClass>] = &[
    Descriptor::new("UserParameters", "User Parameters", PreProcessorClass::UserParameters).properties(&[
        "UserParameters.names",
        "UserParameters.per_iteration",
        "UserParameters.thread_values",
    ]),
    Descriptor::new("AnchorModifier", "HTML Link Parser", PreProcessorClass::LinkParser)
        .note("tolerant mode parses pages like browsers, not like JTidy"),
    Descriptor::new("URLRewritingModifier", "HTTP URL Re-writing Modifier", PreProcessorClass::UrlRewriting),
    Descriptor::new("RegExUserParameters", "RegEx User Parameters", PreProcessorClass::RegexUserParameters)
        .properties(&[
            "RegExUserParameters.param_names_gr_nr",
            "RegExUserParameters.param_values_gr_nr",
            "RegExUserParameters.regex_ref_name",
        ]),
    Descriptor::new("SampleTimeout", "Sample Timeout", PreProcessorClass::SampleTimeout)
        .note("interrupts HTTP and TCP requests and pauses")
        .properties(&["InterruptTimer.timeout"]),
    Descriptor::new(
        "kg.apc.jmeter.modifiers.FifoPopPreProcessor",
        "Inter-Thread Communication PreProcessor (jmeter-plugins)",
        PreProcessorClass::PopFromQueue,
    ),
    Descriptor::new(
        "kg.apc.jmeter.modifiers.RawRequestSourcePreProcessor",
        "Raw Data Source PreProcessor (jmeter-plugins)",
        PreProcessorClass::RawDataSource,
    ),
    Descriptor::new("JSR223PreProcessor", "JSR223 PreProcessor", PreProcessorClass::Script(&source::JSR223))
        .note(SCRIPTS),
    Descriptor::new(
        "BeanShellPreProcessor",
        "BeanShell PreProcessor",
        PreProcessorClass::Script(&source::BEANSHELL),
    )
    .note(SCRIPTS),
    Descriptor::new("BSFPreProcessor", "BSF PreProcessor", PreProcessorClass::Script(&source::BSF))
        .note(SCRIPTS),
];

/// The post-processors.
pub(crate) const POST_PROCESSORS: &[Descriptor<PostProcessorClass>] = &[
    Descriptor::new("JSR223PostProcessor", "JSR223 PostProcessor", PostProcessorClass::Script(&source::JSR223)).note(SCRIPTS),
    Descriptor::new("BeanShellPostProcessor", "BeanShell PostProcessor", PostProcessorClass::Script(&source::BEANSHELL)).note(SCRIPTS),
    Descriptor::new("BSFPostProcessor", "BSF PostProcessor", PostProcessorClass::Script(&source::BSF)).note(SCRIPTS),
    Descriptor::new("RegexExtractor", "Regular Expression Extractor", PostProcessorClass::Regex).note(PATTERNS).properties(&["RegexExtractor.default", "RegexExtractor.default_empty_value", "RegexExtractor.match_number", "RegexExtractor.refname", "RegexExtractor.regex", "RegexExtractor.template", "RegexExtractor.useHeaders", "Sample.scope", "Scope.variable"]),
    Descriptor::new("JSONPostProcessor", "JSON Extractor", PostProcessorClass::Json).note("no functions in paths, as in JMeter").properties(&["JSONPostProcessor.compute_concat", "JSONPostProcessor.defaultValues", "JSONPostProcessor.jsonPathExprs", "JSONPostProcessor.match_numbers", "JSONPostProcessor.referenceNames"]),
    Descriptor::new("BoundaryExtractor", "Boundary Extractor", PostProcessorClass::Boundary).properties(&["BoundaryExtractor.default", "BoundaryExtractor.default_empty_value", "BoundaryExtractor.lboundary", "BoundaryExtractor.match_number", "BoundaryExtractor.rboundary", "BoundaryExtractor.refname", "BoundaryExtractor.useHeaders"]),
    Descriptor::new("ResultAction", "Result Status Action Handler", PostProcessorClass::ResultAction).properties(&["OnError.action"]),
    Descriptor::new("kg.apc.jmeter.modifiers.FifoPutPostProcessor", "Inter-Thread Communication PostProcessor (jmeter-plugins)", PostProcessorClass::PutIntoQueue).note("a value for a full queue is discarded immediately"),
    Descriptor::new("XPathExtractor", "XPath Extractor", PostProcessorClass::XPath).note(XPATH).properties(&["XPathExtractor.default", "XPathExtractor.fragment", "XPathExtractor.matchNumber", "XPathExtractor.namespace", "XPathExtractor.refname", "XPathExtractor.report_errors", "XPathExtractor.show_warnings", "XPathExtractor.tolerant", "XPathExtractor.validate", "XPathExtractor.whitespace", "XPathExtractor.xpathQuery"]),
    Descriptor::new("XPath2Extractor", "XPath2 Extractor", PostProcessorClass::XPath2).note(XPATH2).properties(&["XPathExtractor2.default", "XPathExtractor2.fragment", "XPathExtractor2.matchNumber", "XPathExtractor2.namespaces", "XPathExtractor2.refname", "XPathExtractor2.xpathQuery"]),
    Descriptor::new("HtmlExtractor", "CSS Selector Extractor", PostProcessorClass::Css).note("selectors of jsoup; Jodd is not supported").properties(&["HtmlExtractor.attribute", "HtmlExtractor.default", "HtmlExtractor.default_empty_value", "HtmlExtractor.expr", "HtmlExtractor.extractor_impl", "HtmlExtractor.match_number", "HtmlExtractor.refname"]),
    Descriptor::new("JMESPathExtractor", "JSON JMESPath Extractor", PostProcessorClass::JmesPath).note(JMESPATH).properties(&["JMESExtractor.defaultValue", "JMESExtractor.jmesPathExpr", "JMESExtractor.matchNumber", "JMESExtractor.referenceName"]),
    Descriptor::new("com.atlantbh.jmeter.plugins.jsonutils.jsonpathextractor.JSONPathExtractor", "JSON Path Extractor (jmeter-plugins)", PostProcessorClass::PluginJsonPath).note("YAML is not supported"),
    Descriptor::new("DebugPostProcessor", "Debug PostProcessor", PostProcessorClass::Debug).note("properties of the sampler and of the system are empty; the time to collect the data is not part of the sample"),
];
