//! The settings of embedded resources.

use busyhour_program::template::Template;

use crate::embedded::content::Parsers;

/// Whether a pattern matches a whole URL; `None` if the pattern is malformed.
pub type UrlMatch = fn(pattern: &str, url: &str) -> Option<bool>;

/// The embedded resources that a sampler downloads, and the concurrency.
#[derive(Debug, Clone)]
pub struct Embedded {
    /// `HTTPSampler.embedded_url_re`: only URLs that match; empty: all.
    pub allow: Template,
    /// `HTTPSampler.embedded_url_exclude_re`: except URLs that match; empty: none.
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
    /// `httpsampler.separate.container`: the page is a sub-result like its resources.
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
