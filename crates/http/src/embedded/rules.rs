//! The settings of embedded resources.

use busyhour_program::template::Template;

use crate::embedded::content::Parsers;

/// Whether a URL matches a pattern as a whole; `None` when the pattern is malformed.
pub type UrlMatch = fn(pattern: &str, url: &str) -> Option<bool>;

/// Which embedded resources a sampler fetches, and how many at a time.
#[derive(Debug, Clone)]
pub struct Embedded {
    /// `HTTPSampler.embedded_url_re`: only these; empty: all.
    pub allow: Template,
    /// `HTTPSampler.embedded_url_exclude_re`: not these; empty: none.
    pub exclude: Template,
    /// `HTTPSampler.concurrentPool`, with `HTTPSampler.concurrentDwn`; `None`: one after another.
    pub at_once: Option<Template>,
    /// How patterns are matched.
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
    /// `httpsampler.separate.container`: the page is a sub-result like its resources.
    pub separate_container: bool,
    /// `httpsampler.embedded_resources_use_md5`, which JMeter heeds for resources fetched at the same time.
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
