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
const SCRIPTS: &str = "plain scripts only: variables, properties, texts, numbers, conditions, log, the result's facts; no script files, no use of parameters";

/// Elements of this crate, by kind.
const SUPPORTED: [ElementInfo; 18] = [
    element("BeanShellPostProcessor", "script after a sample", SCRIPTS),
    element("BeanShellPreProcessor", "script before a sample", SCRIPTS),
    element("BeanShellSampler", "sample made by a script", SCRIPTS),
    element(
        "BoundaryExtractor",
        "variables from between two texts",
        "not from the body unescaped or as a document",
    ),
    element("CSVDataSet", "variables from the rows of a file", ""),
    element("CounterConfig", "a number that counts up", ""),
    element(
        "DebugSampler",
        "sample that shows variables and properties",
        "system properties are an empty list",
    ),
    element("DurationAssertion", "fails what took too long", ""),
    element(
        "JSONPathAssertion",
        "fails what a JSON path does not find",
        "functions only at the end of definite paths",
    ),
    element("JSONPostProcessor", "variables from JSON by paths", "no functions in paths, as in JMeter"),
    element("JSR223PostProcessor", "script after a sample", SCRIPTS),
    element("JSR223PreProcessor", "script before a sample", SCRIPTS),
    element("JSR223Sampler", "sample made by a script", SCRIPTS),
    element(
        "RandomVariableConfig",
        "a random number",
        "without a seed the run's own stream of random numbers",
    ),
    element("RegexExtractor", "variables from what a regular expression matches", PATTERNS),
    element("ResponseAssertion", "fails what does not hold a text or pattern", PATTERNS),
    element("SizeAssertion", "fails what is too large or small", ""),
    element("UserParameters", "values that differ from user to user", ""),
];

/// The elements of this crate, by kind.
pub fn supported() -> &'static [ElementInfo] {
    &SUPPORTED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_sorted_and_unique() {
        assert!(supported().windows(2).all(|pair| pair[0].kind < pair[1].kind));
    }
}
