//! The names that JMeter binds in scripts.

use super::super::supported::{Receiver, kind_of_host};

/// The kind of the JMeter object that is bound to the name.
pub(super) fn host(name: &str) -> Option<Receiver> {
    match name {
        "vars" | "props" | "log" | "ctx" => kind_of_host(name),
        "sampleResult" => kind_of_host("prev"),
        _ => None,
    }
}

/// Whether JMeter binds the name to an object that this crate does not support.
pub(super) fn is_foreign_object(name: &str) -> bool {
    matches!(name, "OUT" | "sampler" | "Sampler")
}

/// Whether a script cannot use the name for its own variables.
pub(super) fn is_reserved(name: &str) -> bool {
    host(name).is_some() || is_foreign_object(name) || name == "threadName"
}
