//! Pre-processors, post-processors and assertions, and the elements that advance at the start of each iteration:
//! counters, random variables and CSV data sets.
//!
//! Each element of JMeter has two structs. The fields of the settings document the properties of the plan that they come
//! from. The element itself is created from the settings once per plan. `new` returns a [`Refusal`] if the
//! element may not work as in JMeter. Messages in results are identical to JMeter's.
//!
//! | module | contents |
//! |---|---|
//! | [`oro`] | patterns with the behaviour of Jakarta ORO's Perl 5 patterns |
//! | [`scope`] | the results, and the part of a result, that an element reads |

mod auto_stop;
mod boundary_extractor;
mod compare_assertion;
mod counter;
mod css_extractor;
mod csv;
mod debug;
mod debug_post;
mod document_text;
mod html;
#[cfg(test)]
mod interleaved_tests;
mod java;
mod jmespath;
mod jmespath_extractor;
mod json_assertion;
mod json_extractor;
mod json_verdict;
mod limit_assertions;
mod match_number;
mod matches;
mod md5_assertion;
mod number_format;
pub mod oro;
mod plugin_json;
mod random_variable;
mod raw_request_source;
mod refusal;
mod regex_extractor;
mod response_assertion;
mod save_responses;
mod schema_assertion;
pub mod scope;
mod script;
#[cfg(test)]
mod testing;
mod user_parameters;
mod xml_assertion;
mod xpath_assertion;
mod xpath_extractor;

use busyhour_jsonpath as jsonpath;

pub use auto_stop::{AutoStop, AutoStopLimit, AutoStopSettings};
pub use boundary_extractor::{BoundaryExtractor, BoundaryExtractorSettings};
pub use compare_assertion::{CompareAssertion, CompareAssertionSettings};
pub use counter::{CounterSettings, CounterStep};
pub use css_extractor::{CssExtractor, CssExtractorSettings};
pub use csv::{CsvDataSettings, CsvDataStep, CsvFiles, RandomCsvSettings, RandomCsvStep, ReadsFile};
pub use debug::{DebugSampler, DebugSamplerSettings, debug_sampler_text};
pub use debug_post::{DebugPostProcessor, DebugPostProcessorSettings};
pub use jmespath_extractor::{JmesAssertion, JmesExtractor, JmesExtractorSettings, jmespath_error};
pub use json_assertion::JsonAssertion;
pub use json_extractor::{JsonExtractor, JsonExtractorSettings};
pub use json_verdict::JsonAssertionSettings;
pub use limit_assertions::{
    DurationAssertion, DurationAssertionSettings, SizeAssertion, SizeAssertionSettings, SizeField,
};
pub use md5_assertion::Md5HexAssertion;
pub use plugin_json::{PluginJsonAssertion, PluginJsonExtractor, PluginJsonExtractorSettings};
pub use random_variable::{RandomVariableSettings, RandomVariableStep};
pub use raw_request_source::{RawRequestSource, RawRequestSourceSettings};
pub use refusal::{Refusal, RefusalKind};
pub use regex_extractor::{RegexExtractor, RegexExtractorSettings};
pub use response_assertion::{ResponseAssertion, ResponseAssertionSettings};
pub use save_responses::{SaveResponses, SaveResponsesSettings, resolve_file_name};
pub use schema_assertion::XmlSchemaAssertion;
pub use script::{
    Family, Language, ScriptAssertion, ScriptFacts, ScriptProcessor, ScriptSampler, ScriptSettings,
    ScriptTimer, language_of,
};
pub use user_parameters::{UserParameters, UserParametersSettings};
pub use xml_assertion::XmlAssertion;
pub use xpath_assertion::{XPathAssertion, XPathAssertionSettings};
pub use xpath_extractor::{XPathExtractor, XPathExtractorSettings, XPathFlavour, xpath_error};
