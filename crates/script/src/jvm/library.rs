//! The library: methods of the classes that scripts use.

pub(super) mod aes;
pub(super) mod array_class;
pub(super) mod assertion_result;
pub(super) mod byte_streams;
pub(super) mod collections;
pub(super) mod collectors;
pub(super) mod commons_lang;
pub(super) mod commons_text;
pub(super) mod comparators;
pub(super) mod cookies;
pub(super) mod create;
pub(super) mod digest;
pub(super) mod encode;
pub(super) mod file_methods;
pub(super) mod file_server;
pub(super) mod files;
pub(super) mod format;
pub(super) mod headers;
pub(super) mod host;
pub(super) mod instance;
pub(super) mod java_duration;
pub(super) mod json;
pub(super) mod json_builder;
pub(super) mod json_path;
pub(super) mod known;
pub(super) mod lists;
pub(super) mod machine_facts;
pub(super) mod magnitude;
pub(super) mod map_methods;
pub(super) mod maps;
pub(super) mod more_statics;
pub(super) mod numbers;
pub(super) mod object_text;
pub(super) mod objects;
pub(super) mod optional;
pub(super) mod properties;
pub(super) mod random_utils;
pub(super) mod regex;
pub(super) mod registry;
pub(super) mod result;
pub(super) mod sample_result;
pub(super) mod sampler;
pub(super) mod sampler_properties;
pub(super) mod statics;
pub(super) mod temporal;
pub(super) mod test_properties;
pub(super) mod text_methods;
pub(super) mod texts;
pub(super) mod threads;
pub(super) mod time;
pub(super) mod time_category;
pub(super) mod time_units;
pub(super) mod uri;
pub(super) mod url;
pub(super) mod url_connection;
pub(super) mod xml;
pub(super) mod zones;

use super::fault::{Fault, thrown};
use super::machine::Machine;
use super::missing::unknown;
use super::objects::Object;
use super::value::V;
use super::{json_value, print, text_units};
use crate::Value;

/// The argument as a string: a `String`, in Groovy also a `StringBuilder` or `GString`.
pub(super) fn text_of(machine: &mut Machine<'_>, value: &V) -> Result<String, Fault> {
    match value {
        V::Plain(Value::Text(text)) => {
            machine.spend_text(text.len())?;
            Ok(text.to_string())
        }
        V::Plain(Value::Null) => Err(thrown("NullPointerException", "the text is null")),
        V::Object(inner) => match &**inner {
            Object::Builder(text, _) => Ok(text.borrow().clone()),
            Object::Charset(name) => Ok(name.clone()),
            Object::LazyText(_) => print::groovy(machine, value),
            _ => Err(thrown(
                "MissingMethodException",
                format!("the method takes a String, not {}", value.kind()),
            )),
        },
        other => {
            Err(thrown("MissingMethodException", format!("the method takes a String, not {}", other.kind())))
        }
    }
}
