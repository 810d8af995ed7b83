//! The results or the variable that an element reads, and the part of a result.

use std::borrow::Cow;
use std::ops::ControlFlow;

use busyhour_program::ElementError;
use busyhour_program::element::AssertionScope;
use busyhour_program::result::{Retention, SampleResult};
use busyhour_program::template::Template;

use crate::document_text::document_text;
use crate::refusal::Refusal;

/// The source that an element reads: JMeter's `Sample.scope` (extractors) or `Assertion.scope`, with `SampleScope.variable`.
#[derive(Clone, Debug, Default)]
pub enum SampleScope {
    /// `parent`, or absent: the main result.
    #[default]
    Main,
    /// `children`: the sub-results.
    SubResults,
    /// `all`: the main result and the sub-results.
    All,
    /// `variable`: the variable with this name.
    Variable(Template),
}

impl SampleScope {
    /// Parses a scope; `variable` is the value of `SampleScope.variable`.
    ///
    /// # Errors
    /// The scope is unknown. JMeter would select nothing, so the element is refused.
    pub fn parse(text: &str, variable: Template) -> Result<Self, Refusal> {
        match text {
            "" | "parent" => Ok(Self::Main),
            "children" => Ok(Self::SubResults),
            "all" => Ok(Self::All),
            "variable" => Ok(Self::Variable(variable)),
            other => Err(Refusal::invalid(format!("has the scope `{other}`, which JMeter does not have"))),
        }
    }

    /// The engine's scope of an assertion.
    pub fn for_assertion(&self) -> AssertionScope {
        match self {
            Self::Main | Self::Variable(_) => AssertionScope::Parent,
            Self::SubResults => AssertionScope::Children,
            Self::All => AssertionScope::All,
        }
    }

    /// Whether the element reads a variable instead of results.
    pub fn is_variable(&self) -> bool {
        matches!(self, Self::Variable(_))
    }

    /// Visits the results in JMeter's order: the main result, its sub-results, then the sub-results of each of them, up to
    /// five levels deep.
    pub(crate) fn visit<'r>(
        &self,
        main: &'r SampleResult,
        mut visit: impl FnMut(&'r SampleResult) -> ControlFlow<()>,
    ) {
        let (visits_main, visits_subs) = match self {
            Self::Main => (true, false),
            Self::SubResults => (false, true),
            Self::All => (true, true),
            Self::Variable(_) => (false, false),
        };
        if visits_main && visit(main).is_break() {
            return;
        }
        if visits_subs {
            let _ = visit_sub_results(main, 5, &mut visit);
        }
    }
}

fn visit_sub_results<'r>(
    result: &'r SampleResult,
    levels: u32,
    visit: &mut impl FnMut(&'r SampleResult) -> ControlFlow<()>,
) -> ControlFlow<()> {
    if levels == 0 {
        return ControlFlow::Continue(());
    }
    for sub in &result.sub_results {
        visit(sub)?;
    }
    for sub in &result.sub_results {
        visit_sub_results(sub, levels - 1, visit)?;
    }
    ControlFlow::Continue(())
}

/// The part of a result that an element reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Field {
    /// The response body as text.
    #[default]
    Body,
    /// The response body as text with HTML entities decoded (extractors only).
    Unescaped,
    /// The text that Apache Tika extracts from the response body.
    Document,
    /// The headers of the response, including the status line.
    ResponseHeaders,
    /// The headers of the request.
    RequestHeaders,
    /// Request line and data (assertions only).
    RequestData,
    /// The URL.
    Url,
    /// The response code.
    Code,
    /// The response message.
    Message,
}

impl Field {
    /// The field for a value of `RegexExtractor.useHeaders` or `BoundaryExtractor.useHeaders`.
    pub fn of_extractor(text: &str) -> Self {
        let is = |name: &str| text.eq_ignore_ascii_case(name);
        if is("true") {
            Self::ResponseHeaders
        } else if is("request_headers") {
            Self::RequestHeaders
        } else if is("URL") {
            Self::Url
        } else if is("code") {
            Self::Code
        } else if is("message") {
            Self::Message
        } else if is("unescaped") {
            Self::Unescaped
        } else if is("as_document") {
            Self::Document
        } else {
            Self::Body
        }
    }

    /// The field for a value of a response assertion's `Assertion.test_field`. Any unknown value means the URL.
    pub fn of_assertion(text: &str) -> Self {
        match text {
            "Assertion.response_data" => Self::Body,
            "Assertion.response_data_as_document" => Self::Document,
            "Assertion.response_code" => Self::Code,
            "Assertion.response_message" => Self::Message,
            "Assertion.response_headers" => Self::ResponseHeaders,
            "Assertion.request_headers" => Self::RequestHeaders,
            "Assertion.request_data" => Self::RequestData,
            _ => Self::Url,
        }
    }

    /// The field's text.
    ///
    /// # Errors
    /// The body contains an HTML entity that is not a valid code point (with Java's message), or the body is a document whose
    /// text is not extracted.
    pub(crate) fn text<'r>(&self, result: &'r SampleResult) -> Result<Cow<'r, str>, ElementError> {
        Ok(match self {
            Self::Body => result.body_text(),
            Self::Unescaped => match result.body_text() {
                Cow::Borrowed(text) => busyhour_functions::unescape_html(text)?,
                Cow::Owned(text) => Cow::Owned(busyhour_functions::unescape_html(&text)?.into_owned()),
            },
            Self::Document => document_text(&result.body)?,
            Self::ResponseHeaders => Cow::Borrowed(&result.response_headers),
            Self::RequestHeaders => Cow::Borrowed(&result.request_headers),
            Self::RequestData => Cow::Borrowed(&result.request_data),
            Self::Url => Cow::Borrowed(&result.url),
            Self::Code => Cow::Borrowed(&result.outcome.code),
            Self::Message => Cow::Borrowed(&result.outcome.message),
        })
    }

    /// The parts of the result that must be retained for the field.
    pub(crate) fn retention(self) -> Retention {
        Retention {
            body: matches!(self, Self::Body | Self::Unescaped | Self::Document),
            response_headers: self == Self::ResponseHeaders,
            request: matches!(self, Self::RequestHeaders | Self::RequestData),
            protocol_detail: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_visited_in_jmeters_order() {
        let result = |label: &str, sub_results| SampleResult {
            label: label.into(),
            sub_results,
            ..SampleResult::default()
        };
        let main = result(
            "m",
            vec![result("a", vec![result("a1", vec![])]), result("b", vec![result("b1", vec![])])],
        );
        let visited = |scope: SampleScope| {
            let mut labels = Vec::new();
            scope.visit(&main, |result| {
                labels.push(result.label.clone());
                ControlFlow::Continue(())
            });
            labels.join(" ")
        };
        assert_eq!(visited(SampleScope::Main), "m");
        assert_eq!(visited(SampleScope::SubResults), "a b a1 b1");
        assert_eq!(visited(SampleScope::All), "m a b a1 b1");
        assert!(SampleScope::parse("parents", Template::default()).is_err());
    }
}
