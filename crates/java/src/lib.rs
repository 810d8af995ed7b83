//! Parsing and formatting of numbers, strings and dates, and the order of maps, as in Java's library.
//!
//! JMeter's elements, functions and scripts inherit these rules from Java, and they are visible in requests, variables and
//! messages.

pub mod format;
mod hash_map;
mod number;
mod properties;
mod text;

pub use hash_map::{hash_map, hash_map_order, table_size_of_copy, table_size_of_insertions};
pub use number::{
    decode_long, double_to_string, float_to_string, group_digits, parse_double, parse_int, parse_long,
    parse_wide,
};
pub use properties::parse_properties;
pub use text::{hash_code, is_blank, length, parse_boolean, split, trim};
