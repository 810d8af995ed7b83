//! Parses and prints dates and numbers as Java's `java.time.format` and `java.text` do.

mod date_parse;
mod date_pattern;
mod date_print;
mod decimal_format;
mod error;
mod moment;

pub use date_parse::Defaults;
pub use date_pattern::{DateFormat, DatePatternError};
pub use decimal_format::DecimalFormat;
pub use error::FormatError;
pub use moment::Moment;
