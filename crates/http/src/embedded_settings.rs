//! The settings of embedded resources.

use busyhour_program::template::Template;

/// Whether a pattern matches a whole URL; `None` if the pattern is malformed.
pub type UrlMatch = fn(pattern: &str, url: &str) -> Option<bool>;

/// Which embedded resources a sampler downloads, and how many at a time.
#[derive(Debug, Clone)]
pub struct Embedded {
    /// `HTTPSampler.embedded_url_re`: only URLs that match are downloaded; empty: all URLs.
    pub allow: Template,
    /// `HTTPSampler.embedded_url_exclude_re`: URLs that match are not downloaded; empty: no exceptions.
    pub exclude: Template,
    /// `HTTPSampler.concurrentPool`, with `HTTPSampler.concurrentDwn`; `None`: one download at a time.
    pub at_once: Option<Template>,
    /// The function that matches patterns.
    pub matches: UrlMatch,
}

/// Settings of embedded resources from the properties of the run.
#[derive(Debug, Clone)]
pub struct EmbeddedRules {
    /// `HTTPResponse.parsers` and related properties.
    pub parsers: Parsers,
    /// `httpsampler.max_frame_depth`
    pub depth_max: u32,
    /// `httpsampler.ignore_failed_embedded_resources`
    pub ignores_failures: bool,
    /// `httpsampler.separate.container`: whether the page is a sub-result like its resources.
    pub separate_container: bool,
    /// `httpsampler.embedded_resources_use_md5`, which JMeter applies only to concurrent downloads.
    pub md5: bool,
}

impl Default for EmbeddedRules {
    fn default() -> Self {
        Self {
            parsers: Parsers::default(),
            depth_max: 5,
            ignores_failures: false,
            separate_container: true,
            md5: false,
        }
    }
}

/// The parser for a media type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parser {
    /// For HTML pages.
    Html,
    /// For style sheets.
    Css,
}

/// Media types that are parsed (`HTTPResponse.parsers` and related properties).
#[derive(Debug, Clone)]
pub struct Parsers(Vec<(String, Parser)>);

impl Default for Parsers {
    fn default() -> Self {
        let html = ["text/html", "application/xhtml+xml", "application/xml", "text/xml", "text/vnd.wap.wml"];
        let types = html.map(|kind| (kind, Parser::Html)).into_iter().chain([("text/css", Parser::Css)]);
        Self::new(types.map(|(kind, parser)| (kind.to_owned(), parser)))
    }
}

impl Parsers {
    /// Creates the mapping from these types; if a type occurs twice, the later parser is used.
    pub fn new(types: impl IntoIterator<Item = (String, Parser)>) -> Self {
        let mut all: Vec<_> = types.into_iter().collect();
        all.reverse();
        Self(all)
    }

    /// The parser for a response with this `Content-Type`.
    pub(crate) fn parser_for(&self, content_type: &str) -> Option<Parser> {
        let media = content_type.split([' ', ';']).next().unwrap_or_default().to_lowercase();
        self.0.iter().find(|(known, _)| *known == media).map(|(_, parser)| *parser)
    }
}
