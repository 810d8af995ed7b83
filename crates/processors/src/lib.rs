//! Pre-processors, post-processors and assertions over a sample's result, and what steps at each pass: counters,
//! random variables, rows of files.
//!
//! For each element of JMeter there is a struct of settings, whose fields name the properties of the plan they come
//! from, and the element itself, made from the settings once per plan: `new` refuses with a [`Refusal`] what is not
//! promised to work as in JMeter. Messages that people see in results are JMeter's to the byte.
//!
//! | module | what is in it |
//! |---|---|
//! | [`oro`] | Perl5 patterns as Jakarta ORO matches them |
//! | [`jsonpath`] | paths as Jayway JSONPath follows them |
//! | [`scope`] | which results and which part of them an element looks at |

mod boundary_extractor;
mod counter;
mod csv;
mod debug;
mod java;
mod json_assertion;
mod json_extractor;
pub mod jsonpath;
mod limit_assertions;
mod matches;
mod number_format;
pub mod oro;
mod random_variable;
mod refusal;
mod regex_extractor;
mod response_assertion;
mod save_responses;
pub mod scope;
mod script;
mod supported;
#[cfg(test)]
mod testing;
mod user_parameters;

pub use boundary_extractor::{BoundaryExtractor, BoundaryExtractorSettings};
pub use counter::{CounterSettings, CounterStep};
pub use csv::{CsvDataSettings, CsvDataStep, CsvFiles};
pub use debug::{DebugSampler, DebugSamplerSettings, debug_sampler_text};
pub use json_assertion::{JsonAssertion, JsonAssertionSettings};
pub use json_extractor::{JsonExtractor, JsonExtractorSettings};
pub use limit_assertions::{
    DurationAssertion, DurationAssertionSettings, SizeAssertion, SizeAssertionSettings, SizeOf,
};
pub use random_variable::{RandomVariableSettings, RandomVariableStep};
pub use refusal::{Refusal, RefusalKind};
pub use regex_extractor::{RegexExtractor, RegexExtractorSettings};
pub use response_assertion::{ResponseAssertion, ResponseAssertionSettings};
pub use save_responses::{SaveResponses, SaveResponsesSettings, resolved};
pub use script::{
    Family, Language, ScriptAssertion, ScriptProcessor, ScriptSampler, ScriptSettings, ScriptTimer,
    language_of,
};
pub use supported::{ElementInfo, supported};
pub use user_parameters::{UserParameters, UserParametersSettings};
