//! Pre-processors, post-processors and assertions over a sample's result, and what steps at each pass: counters,
//! random variables, rows of files.
//!
//! For each element of JMeter there is a struct of settings, whose fields name the properties of the plan they come
//! from, and the element itself, made from the settings once per plan: `new` refuses with a [`Refusal`] what is not
//! promised to work as in JMeter. Messages in results are those of JMeter to the byte.
//!
//! | module | what is in it |
//! |---|---|
//! | [`oro`] | Perl5 patterns as Jakarta ORO matches them |
//! | [`scope`] | which results and which part of them an element looks at |

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
pub use csv::{CsvDataSettings, CsvDataStep, CsvFiles, RandomCsvSettings, RandomCsvStep};
pub use debug::{DebugSampler, DebugSamplerSettings, debug_sampler_text};
pub use debug_post::{DebugPostProcessor, DebugPostProcessorSettings};
pub use jmespath_extractor::{JmesAssertion, JmesExtractor, JmesExtractorSettings, jmespath_problem};
pub use json_assertion::JsonAssertion;
pub use json_extractor::{JsonExtractor, JsonExtractorSettings};
pub use json_verdict::JsonAssertionSettings;
pub use limit_assertions::{
    DurationAssertion, DurationAssertionSettings, SizeAssertion, SizeAssertionSettings, SizeOf,
};
pub use md5_assertion::Md5HexAssertion;
pub use plugin_json::{PluginJsonAssertion, PluginJsonExtractor, PluginJsonExtractorSettings};
pub use random_variable::{RandomVariableSettings, RandomVariableStep};
pub use raw_request_source::{RawRequestSource, RawRequestSourceSettings};
pub use refusal::{Refusal, RefusalKind};
pub use regex_extractor::{RegexExtractor, RegexExtractorSettings};
pub use response_assertion::{ResponseAssertion, ResponseAssertionSettings};
pub use save_responses::{SaveResponses, SaveResponsesSettings, resolved};
pub use schema_assertion::XmlSchemaAssertion;
pub use script::{
    Family, Language, ScriptAssertion, ScriptProcessor, ScriptSampler, ScriptSettings, ScriptTimer,
    language_of,
};
pub use user_parameters::{UserParameters, UserParametersSettings};
pub use xml_assertion::XmlAssertion;
pub use xpath_assertion::{XPathAssertion, XPathAssertionSettings};
pub use xpath_extractor::{XPathExtractor, XPathExtractorSettings, XPathFlavour, xpath_problem};
