//! Pre-processors that change the sampler.

use busyhour_program::template::Template;
use busyhour_program::user::StateId;

/// A pre-processor that changes the sampler.
#[derive(Debug, Clone)]
pub enum Modifier {
    /// HTTP URL Re-writing Modifier: inserts the session id of the previous response into the request.
    UrlRewriting(UrlRewriting),
    /// RegEx User Parameters: values found by a Regular Expression Extractor replace the values of arguments.
    RegexParameters {
        /// Name of the element, for the log.
        name: Template,
        /// `RegExUserParameters.regex_ref_name`
        variable: Template,
        /// `RegExUserParameters.param_names_gr_nr`
        names_group: Template,
        /// `RegExUserParameters.param_values_gr_nr`
        values_group: Template,
    },
    /// HTML Link Parser: the request follows a link of the previous page.
    Links,
}

/// Settings of an HTTP URL Re-writing Modifier.
#[derive(Debug, Clone)]
pub struct UrlRewriting {
    /// `argument_name`
    pub argument: Template,
    /// `path_extension`: the session id is part of the path (`path;name=value`) instead of an argument.
    pub in_path: bool,
    /// `path_extension_no_equals`: the path has the form `path;namevalue`.
    pub no_equals: bool,
    /// `path_extension_no_questionmark`: the value ends at a question mark.
    pub ends_at_question_mark: bool,
    /// `cache_value`: the last value found is used if the page has none.
    pub keeps: bool,
    /// `encode`: the value is encoded as found; otherwise it is decoded first.
    pub encoded: bool,
    /// The state with the last value of each user.
    pub kept: StateId,
}
