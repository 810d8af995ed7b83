//! What this crate has of JMeter's elements.

/// An element of JMeter that is supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementInfo {
    /// JMeter's short class name, as `testclass` in a plan has it.
    pub kind: &'static str,
    /// What it is.
    pub description: &'static str,
    /// What of it is not supported; empty: all is.
    pub note: &'static str,
}

const fn element(kind: &'static str, description: &'static str, note: &'static str) -> ElementInfo {
    ElementInfo { kind, description, note }
}

const PATTERNS: &str = "regular expressions: all but repeated anchors, (?x), \\G and octal references; not the body as a document";
const SCRIPTS: &str = "Groovy, BeanShell, JEXL and JavaScript without Java: what a script needs beyond the common classes of the JDK is refused";

const JMESPATH: &str = "messages about wrong paths and documents are worded otherwise";
const XPATH: &str = "tolerant: pages are read as browsers do, not as JTidy; no validation; messages about wrong expressions are worded otherwise";
const XPATH2: &str =
    "expressions that are XPath 1.0, too; a function that is given several nodes takes the first";

/// Elements of this crate, by kind.
const SUPPORTED: &[ElementInfo] = &[
    element("BSFAssertion", "judgement of a script", SCRIPTS),
    element("BSFListener", "script that hears of samples", SCRIPTS),
    element("BSFPostProcessor", "script after a sample", SCRIPTS),
    element("BSFPreProcessor", "script before a sample", SCRIPTS),
    element("BSFSampler", "sample made by a script", SCRIPTS),
    element("BSFTimer", "pause of a script's making", SCRIPTS),
    element("BeanShellAssertion", "judgement of a script", SCRIPTS),
    element("BeanShellListener", "script that hears of samples", SCRIPTS),
    element("BeanShellPostProcessor", "script after a sample", SCRIPTS),
    element("BeanShellPreProcessor", "script before a sample", SCRIPTS),
    element("BeanShellSampler", "sample made by a script", SCRIPTS),
    element("BeanShellTimer", "pause of a script's making", SCRIPTS),
    element("BoundaryExtractor", "variables from between two texts", "not from the body as a document"),
    element("CSVDataSet", "variables from the rows of a file", ""),
    element("CompareAssertion", "fails results of an iteration that differ", ""),
    element("CounterConfig", "a number that counts up", ""),
    element(
        "DebugPostProcessor",
        "sub-sample that shows variables and properties",
        "properties of the sampler and of the system are empty lists; the time of showing is not counted into the sample",
    ),
    element(
        "DebugSampler",
        "sample that shows variables and properties",
        "system properties are an empty list",
    ),
    element("DurationAssertion", "fails what took too long", ""),
    element("HtmlExtractor", "variables from what a CSS selector selects", "jsoup's selectors; not Jodd's"),
    element("JMESPathAssertion", "fails what a JMESPath does not find", JMESPATH),
    element("JMESPathExtractor", "variables from JSON by JMESPath", JMESPATH),
    element(
        "JSONPathAssertion",
        "fails what a JSON path does not find",
        "functions only at the end of definite paths",
    ),
    element("JSONPostProcessor", "variables from JSON by paths", "no functions in paths, as in JMeter"),
    element("JSR223Assertion", "judgement of a script", SCRIPTS),
    element("JSR223Listener", "script that hears of samples", SCRIPTS),
    element("JSR223PostProcessor", "script after a sample", SCRIPTS),
    element("JSR223PreProcessor", "script before a sample", SCRIPTS),
    element("JSR223Sampler", "sample made by a script", SCRIPTS),
    element("JSR223Timer", "pause of a script's making", SCRIPTS),
    element("MD5HexAssertion", "fails a body with another MD5 sum", ""),
    element(
        "RandomVariableConfig",
        "a random number",
        "without a seed the run's own stream of random numbers",
    ),
    element("RegexExtractor", "variables from what a regular expression matches", PATTERNS),
    element("ResponseAssertion", "fails what does not hold a text or pattern", PATTERNS),
    element("SizeAssertion", "fails what is too large or small", ""),
    element("UserParameters", "values that differ from user to user", ""),
    element("XMLAssertion", "fails what is not well-formed XML", "rare mistakes are told in other words"),
    element(
        "XMLSchemaAssertion",
        "fails what is not as an XML Schema says",
        "local schema files; messages that name what was expected are worded otherwise",
    ),
    element("XPath2Assertion", "fails what an XPath 2 expression does not find", XPATH2),
    element("XPath2Extractor", "variables from XML by XPath 2 expressions", XPATH2),
    element("XPathAssertion", "fails what an XPath expression does not find", XPATH),
    element("XPathExtractor", "variables from XML by XPath expressions", XPATH),
];

/// The elements of this crate, by kind.
pub fn supported() -> &'static [ElementInfo] {
    SUPPORTED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_sorted_and_unique() {
        assert!(supported().windows(2).all(|pair| pair[0].kind < pair[1].kind));
    }
}
