//! The names that a parsed script refers to, and the parts of sample results that it may therefore read.

use std::collections::HashSet;

/// Names of objects, members and functions in a script, as the lexer of its language finds them; comments are excluded. A
/// quoted string that is a single word counts as a name, because `prev["responseData"]` accesses a member, too.
#[derive(Debug, Clone, Default)]
pub struct Identifiers(HashSet<Box<str>>);

/// Parts of a sample's result that a script may read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResultReads {
    /// Whether the script may read the response's body.
    pub body: bool,
    /// Whether the script may read the response's headers.
    pub response_headers: bool,
    /// Whether the script may read the request's headers and data.
    pub request: bool,
    /// Whether the script may read properties that only results of HTTP requests have.
    pub http: bool,
}

impl ResultReads {
    /// All parts.
    pub const ALL: ResultReads =
        ResultReads { body: true, response_headers: true, request: true, http: true };
}

/// Members of results that return the body, without the prefix `get` and the suffix `AsString`.
const BODY: &[&str] = &["ResponseData"];
const RESPONSE_HEADERS: &[&str] = &["ResponseHeaders"];
const REQUEST: &[&str] = &["RequestHeaders", "SamplerData"];
const HTTP: &[&str] = &["QueryString", "Cookies", "HTTPMethod", "RedirectLocation"];

impl Identifiers {
    pub(crate) fn add(&mut self, name: &str) {
        if !self.0.contains(name) {
            self.0.insert(name.into());
        }
    }

    /// Adds the text of a literal, if it is a single word.
    pub(crate) fn add_literal(&mut self, text: &str) {
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        if !text.is_empty() && text.chars().all(is_word) {
            self.add(text);
        }
    }

    /// Whether the script refers to this name.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// Whether the script refers to one of these names.
    #[must_use]
    pub fn contains_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.contains(name))
    }

    /// The parts of results that the script may read. `getResponseData()` and `responseData` count as reading the body,
    /// whatever object they are called on.
    #[must_use]
    pub fn reads_of_results(&self) -> ResultReads {
        let has = |members: &[&str]| self.0.iter().any(|name| members.contains(&member(name).as_str()));
        ResultReads {
            body: has(BODY),
            response_headers: has(RESPONSE_HEADERS),
            request: has(REQUEST),
            http: has(HTTP),
        }
    }
}

/// The part of a result that a member refers to: `ResponseData` for `getResponseDataAsString` and `responseData`.
fn member(name: &str) -> String {
    let bare = name.strip_prefix("get").unwrap_or(name);
    let bare = bare.strip_suffix("AsString").unwrap_or(bare);
    let mut letters = bare.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::java_like::{self, JavaLike};
    use crate::javascript::{self, ImitatedEngine};
    use crate::jexl::{self, Version};

    fn groovy(text: &str) -> Identifiers {
        java_like::compile(text, JavaLike::Groovy).unwrap().identifiers()
    }

    fn javascript(text: &str) -> Identifiers {
        javascript::compile_element(text, ImitatedEngine::Nashorn).unwrap().identifiers()
    }

    const BODY_ONLY: ResultReads =
        ResultReads { body: true, response_headers: false, request: false, http: false };

    #[test]
    fn member_names_determine_the_parts_that_are_read() {
        for text in [
            "vars.put('x', prev.getResponseDataAsString())",
            "vars.put('x', prev.responseData.length + '')",
            "vars.put('x', \"${prev.responseDataAsString}!\")",
        ] {
            assert_eq!(groovy(text).reads_of_results(), BODY_ONLY, "{text}");
        }
        let all = groovy("log.info(prev.responseHeaders + prev.getRequestHeaders())").reads_of_results();
        assert_eq!(all, ResultReads { response_headers: true, request: true, ..ResultReads::default() });
        let script = "vars.put('x', '' + prev['responseData'])";
        assert_eq!(javascript(script).reads_of_results(), BODY_ONLY);
        let script = "vars.get('a') + sampleResult.getResponseDataAsString()";
        let script = jexl::compile(script, Version::Three).unwrap().identifiers();
        assert_eq!(script.reads_of_results(), BODY_ONLY);
    }

    #[test]
    fn names_in_comments_and_in_longer_strings_do_not_count() {
        let script = groovy("// prev.getResponseData()\nvars.put('getResponseData of prev', '1')");
        assert_eq!(script.reads_of_results(), ResultReads::default());
        assert!(script.contains("vars") && !script.contains_any(&["prev", "ctx"]));
        let script = javascript("/* prev.responseData */ vars.put('a', 'see responseData') // prev");
        assert_eq!(script.reads_of_results(), ResultReads::default());
        assert!(!script.contains("prev"));
        let bean_shell =
            java_like::compile("int n = prev.getTime(); // ctx", JavaLike::BeanShell).unwrap().identifiers();
        assert!(bean_shell.contains("prev") && !bean_shell.contains("ctx"));
    }
}
