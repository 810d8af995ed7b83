//! Limits on what the response to one request may cost the generator.

use serde::{Deserialize, Serialize};

/// A limit that a response exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResponseLimit {
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
    /// Bytes of the trailers behind a chunked body.
    TrailerBytes,
    /// Cookies of one user, or their bytes.
    Cookies,
    /// Embedded resources of one sample.
    Resources,
    /// Answers to authentication challenges for one request.
    AuthenticationRounds,
    /// Time from the start of a request to the last byte of its response.
    RequestDeadline,
}

impl ResponseLimit {
    /// All limits.
    pub const ALL: [Self; 12] = [
        Self::BodyBytes,
        Self::UnpackedBytes,
        Self::ContentEncodings,
        Self::HeadBytes,
        Self::Headers,
        Self::InterimResponses,
        Self::ChunkExtensionBytes,
        Self::TrailerBytes,
        Self::Cookies,
        Self::Resources,
        Self::AuthenticationRounds,
        Self::RequestDeadline,
    ];

    /// What is limited, as the subject of a sentence.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::BodyBytes => "the bytes of a body kept in memory",
            Self::UnpackedBytes => "the bytes a compressed body unpacks to",
            Self::ContentEncodings => "the encodings stacked in Content-Encoding",
            Self::HeadBytes => "the bytes of a response head",
            Self::Headers => "the headers of a response",
            Self::InterimResponses => "the interim (1xx) responses to a request",
            Self::ChunkExtensionBytes => "the bytes of a chunk extension",
            Self::TrailerBytes => "the bytes of the trailers",
            Self::Cookies => "the cookies of a user",
            Self::Resources => "the embedded resources of a sample",
            Self::AuthenticationRounds => "the authentication rounds of a request",
            Self::RequestDeadline => "the request deadline",
        }
    }
}

/// How often a limit was exceeded in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitHits {
    /// Which limit.
    pub limit: ResponseLimit,
    /// Responses that exceeded it.
    pub responses: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_is_listed_once_in_order() {
        for (at, limit) in ResponseLimit::ALL.into_iter().enumerate() {
            assert_eq!(limit as usize, at, "{limit:?}");
        }
        let written = serde_json::to_string(&LimitHits { limit: ResponseLimit::BodyBytes, responses: 2 });
        assert_eq!(written.unwrap(), r#"{"limit":"body-bytes","responses":2}"#);
    }
}
