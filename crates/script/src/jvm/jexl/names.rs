//! The names that JMeter binds for scripts.

use super::super::supported::{Receiver, kind_of_host};

/// The kind of JMeter's object of that name, if it is one.
pub(super) fn host(name: &str) -> Option<Receiver> {
    match name {
        "vars" | "props" | "log" | "ctx" => kind_of_host(name),
        "sampleResult" => kind_of_host("prev"),
        _ => None,
    }
}

/// Names that JMeter sets and that this crate has nothing for.
pub(super) fn is_foreign_object(name: &str) -> bool {
    matches!(name, "OUT" | "sampler" | "Sampler")
}

/// Names that a script cannot use for variables of its own.
pub(super) fn is_reserved(name: &str) -> bool {
    host(name).is_some() || is_foreign_object(name) || name == "threadName"
}
