//! `Collectors`: how a stream ends.

use super::super::classes::Class;
use super::super::fault::{Outcome, unsupported};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::value::{Order, V};
use super::instance::{Instance, Offer, not_made};
use super::{print, text_of, unknown};

/// The classes of this file.
pub const OFFERS: &[Offer] = &[Offer {
    class: "Collectors",
    statics: "toList toSet joining counting",
    made: None,
    methods: "collect",
    call: |machine, method, arguments| {
        let collector = match (method, arguments) {
            ("toList", []) => Collector::List,
            ("toSet", []) => Collector::Set,
            ("counting", []) => Collector::Count,
            ("joining", rest) if rest.len() <= 3 && rest.len() != 2 => {
                let mut parts = Vec::new();
                for part in rest {
                    parts.push(text_of(machine, part)?);
                }
                let mut parts = parts.into_iter();
                let mut next = || parts.next().unwrap_or_default();
                Collector::Joined { between: next(), before: next(), behind: next() }
            }
            _ => return Err(unsupported(format!("`Collectors.{method}` with these arguments"))),
        };
        Ok(V::object(Object::Library(Box::new(collector))))
    },
    make: not_made,
}];

/// A collector.
#[derive(Debug)]
enum Collector {
    List,
    Set,
    Count,
    Joined { between: String, before: String, behind: String },
}

impl Instance for Collector {
    fn class(&self) -> Class {
        Class::known("Collectors")
    }

    /// `collect` with the items of a stream, which is how a list calls its collector.
    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        let ("collect", [items]) = (method, arguments) else { return Err(unknown(object, method)) };
        let items = items.items().unwrap_or_default();
        Ok(match self {
            Collector::List => V::list(items),
            Collector::Set => V::set(items, Order::Hash),
            Collector::Count => V::long(i64::try_from(items.len()).unwrap_or(i64::MAX)),
            Collector::Joined { between, before, behind } => {
                let mut texts = Vec::new();
                for item in &items {
                    texts.push(print::java(machine, item)?);
                }
                V::text(format!("{before}{}{behind}", texts.join(between)))
            }
        })
    }
}
