//! Pre-processors, post-processors and assertions over a sample's result.

mod boundary_extractor;
mod csv;
mod java;
mod json_assertion;
mod json_extractor;
pub mod jsonpath;
mod limit_assertions;
pub mod oro;
mod refusal;
mod regex_extractor;
mod response_assertion;
pub mod scope;
#[cfg(test)]
mod testing;

pub use boundary_extractor::{BoundaryExtractor, BoundaryExtractorSettings};
pub use csv::{CsvDataSettings, CsvDataStep, CsvFiles};
pub use json_assertion::{JsonAssertion, JsonAssertionSettings};
pub use json_extractor::{JsonExtractor, JsonExtractorSettings};
pub use limit_assertions::{
    DurationAssertion, DurationAssertionSettings, SizeAssertion, SizeAssertionSettings, SizeOf,
};
pub use refusal::{Refusal, RefusalKind};
pub use regex_extractor::{RegexExtractor, RegexExtractorSettings};
pub use response_assertion::{ResponseAssertion, ResponseAssertionSettings};
