//! Limits on the work that plans and server responses can cause, and how often each was exceeded.
//!
//! Each core of the engine runs many users on one thread, so unlimited work on a text from a server would block all of them.
//! Code that stops at a limit calls [`count_exceeded`]. At the end of the run, each core takes the counts of its thread with [`take_counts`].
//! The limits themselves are constants next to the code that they guard; `docs/limits.md` lists them.

pub mod files;
#[doc(hidden)]
pub mod repeated;

use std::cell::Cell;

/// A limit on the work of matching, parsing or evaluating, or on the resources that the response to one request may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Steps of a regular expression with look-around or back-references.
    RegexSteps,
    /// Depth of an HTML page, or work to build its tree.
    HtmlPage,
    /// Steps of a CSS selector.
    SelectorSteps,
    /// Depth of an XML document.
    XmlDepth,
    /// Steps of an XPath expression.
    XPathSteps,
    /// Steps of a JSON path.
    JsonPathSteps,
    /// Steps of a JMESPath expression.
    JmesPathSteps,
    /// Length of all matches of an extractor together.
    MatchBytes,
    /// Steps, time or memory of a script.
    Script,
    /// Depth or number of nested texts that functions such as `__eval` evaluate.
    FunctionDepth,
    /// Bytes of a text of the plan with its variables and functions replaced.
    TextBytes,
    /// Bytes of a response body that are kept in memory.
    BodyBytes,
    /// Bytes that a compressed body unpacks to.
    UnpackedBytes,
    /// Encodings stacked in `Content-Encoding`.
    ContentEncodings,
    /// Bytes of the head of a response.
    HeadBytes,
    /// Headers of a response.
    Headers,
    /// Interim (`1xx`) responses before the final one.
    InterimResponses,
    /// Bytes of the extension of one chunk.
    ChunkExtensionBytes,
    /// Bytes of the trailers after a chunked body.
    TrailerBytes,
    /// Cookies of one user, or their bytes.
    Cookies,
    /// Embedded resources of one sample.
    Resources,
    /// Answers to authentication challenges for one request.
    AuthenticationRounds,
    /// Time from the start of a request to the last byte of its response.
    RequestDeadline,
    /// Bytes of the bodies of one sample, with its redirects and embedded resources.
    SampleBodyBytes,
    /// Bytes of the WebSocket frames of one sample.
    FrameBytes,
    /// WebSocket frames that the filters of one sample discard.
    FilteredFrames,
    /// Steps of a validation by an XML Schema.
    SchemaSteps,
    /// Attributes of one XML element.
    XmlAttributes,
    /// Bytes of the links of one page; each link includes the base address of the page.
    LinkBytes,
    /// Bytes of the bodies that all users keep in memory.
    BodyMemory,
    /// Bytes of a file that a function, a script or a sampler reads.
    FileBytes,
}

/// All limits.
pub const LIMITS: [Limit; 31] = [
    Limit::RegexSteps,
    Limit::HtmlPage,
    Limit::SelectorSteps,
    Limit::XmlDepth,
    Limit::XPathSteps,
    Limit::JsonPathSteps,
    Limit::JmesPathSteps,
    Limit::MatchBytes,
    Limit::Script,
    Limit::FunctionDepth,
    Limit::TextBytes,
    Limit::BodyBytes,
    Limit::UnpackedBytes,
    Limit::ContentEncodings,
    Limit::HeadBytes,
    Limit::Headers,
    Limit::InterimResponses,
    Limit::ChunkExtensionBytes,
    Limit::TrailerBytes,
    Limit::Cookies,
    Limit::Resources,
    Limit::AuthenticationRounds,
    Limit::RequestDeadline,
    Limit::SampleBodyBytes,
    Limit::FrameBytes,
    Limit::FilteredFrames,
    Limit::SchemaSteps,
    Limit::XmlAttributes,
    Limit::LinkBytes,
    Limit::BodyMemory,
    Limit::FileBytes,
];

impl Limit {
    /// The name of the limit in result files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RegexSteps => "regular expression steps",
            Self::HtmlPage => "HTML page size or depth",
            Self::SelectorSteps => "CSS selector steps",
            Self::XmlDepth => "XML document depth",
            Self::XPathSteps => "XPath steps",
            Self::JsonPathSteps => "JSON path steps",
            Self::JmesPathSteps => "JMESPath steps",
            Self::MatchBytes => "length of all matches",
            Self::Script => "script steps or memory",
            Self::FunctionDepth => "function depth",
            Self::TextBytes => "bytes of a text of the plan",
            Self::BodyBytes => "bytes of a body kept in memory",
            Self::UnpackedBytes => "bytes a compressed body unpacks to",
            Self::ContentEncodings => "encodings stacked in Content-Encoding",
            Self::HeadBytes => "bytes of a response head",
            Self::Headers => "headers of a response",
            Self::InterimResponses => "interim (1xx) responses to a request",
            Self::ChunkExtensionBytes => "bytes of a chunk extension",
            Self::TrailerBytes => "bytes of the trailers",
            Self::Cookies => "cookies of a user",
            Self::Resources => "embedded resources of a sample",
            Self::AuthenticationRounds => "authentication rounds of a request",
            Self::RequestDeadline => "request deadline",
            Self::SampleBodyBytes => "bytes of all bodies of a sample",
            Self::FrameBytes => "bytes of WebSocket frames of a sample",
            Self::FilteredFrames => "WebSocket frames filtered in a sample",
            Self::SchemaSteps => "XML Schema steps",
            Self::XmlAttributes => "attributes of an XML element",
            Self::LinkBytes => "bytes of the links of a page",
            Self::BodyMemory => "memory for the bodies of all users",
            Self::FileBytes => "bytes of a file that is read",
        }
    }
}

thread_local! {
    static COUNTS: [Cell<u64>; LIMITS.len()] = const { [const { Cell::new(0) }; LIMITS.len()] };
}

/// Adds 1 to the count of this limit on this thread. Called when work stops at the limit.
pub fn count_exceeded(limit: Limit) {
    COUNTS.with(|counts| {
        let count = &counts[limit as usize];
        count.set(count.get() + 1);
    });
}

/// Adds counts that [`take_counts`] returned, possibly on another thread.
pub fn add(counts: &[(Limit, u64)]) {
    COUNTS.with(|all| {
        for (limit, count) in counts {
            let sum = &all[*limit as usize];
            sum.set(sum.get() + count);
        }
    });
}

/// The limits that this thread exceeded since the last call, and how often.
pub fn take_counts() -> Vec<(Limit, u64)> {
    COUNTS.with(|counts| {
        let all = LIMITS.into_iter().map(|limit| (limit, counts[limit as usize].take()));
        all.filter(|(_, count)| *count > 0).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn take_returns_the_counts_of_this_thread_since_the_last_call() {
        assert!(LIMITS.iter().enumerate().all(|(index, limit)| *limit as usize == index));
        count_exceeded(Limit::Script);
        count_exceeded(Limit::XPathSteps);
        count_exceeded(Limit::Script);
        std::thread::spawn(|| assert!(take_counts().is_empty())).join().expect("no counts on another thread");
        let counts = take_counts();
        assert_eq!(counts, [(Limit::XPathSteps, 1), (Limit::Script, 2)]);
        add(&counts);
        count_exceeded(Limit::XPathSteps);
        assert_eq!(take_counts(), [(Limit::XPathSteps, 2), (Limit::Script, 2)]);
        assert!(take_counts().is_empty());
    }
}
