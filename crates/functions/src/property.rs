//! `__P`, `__property`, `__setProperty`, `__isPropDefined`.

use std::sync::Arc;

use busyhour_engine::template::{Function, Template};
use busyhour_engine::user::UserState;

use crate::arguments::{Arguments, Made, Target, java_flag, with_text};

#[derive(Debug)]
struct Read {
    name: Template,
    otherwise: Otherwise,
    target: Target,
}

/// What an unset property reads as.
#[derive(Debug)]
enum Otherwise {
    One,
    Name,
    Text(Template),
}

/// `${__P(name, default)}`
pub(crate) fn p(arguments: &mut Arguments<'_, '_>) -> Made {
    let otherwise = arguments.optional(1).map_or(Otherwise::One, Otherwise::Text);
    Ok(Arc::new(Read { name: arguments.take(0), otherwise, target: Target::None }))
}

/// `${__property(name, variable, default)}`
pub(crate) fn property(arguments: &mut Arguments<'_, '_>) -> Made {
    let otherwise = arguments.optional(2).map_or(Otherwise::Name, Otherwise::Text);
    let target = arguments.target_untrimmed(1);
    Ok(Arc::new(Read { name: arguments.take(0), otherwise, target }))
}

impl Function for Read {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let start = out.len();
        with_text(&self.name, user, |user, name| {
            let found =
                user.run.properties.with(name, |value| value.map(|value| out.push_str(value)).is_some());
            // JMeter evaluates the default whether it is needed or not; only functions that leave traces could
            // tell the difference, so those are evaluated here too.
            match &self.otherwise {
                Otherwise::Text(text) if !found => text.render(user, out),
                Otherwise::Text(text) if text.as_literal().is_none() => {
                    with_text(text, user, |_, _| ());
                }
                Otherwise::One if !found => out.push('1'),
                Otherwise::Name if !found => out.push_str(name),
                _ => {}
            }
        });
        trim_from(out, start);
        self.target.store(user, &out[start..]);
    }
}

/// Takes blanks away around what was appended to `out` from `start` on: JMeter trims what it reads of a property, its
/// default too.
fn trim_from(out: &mut String, start: usize) {
    let is_blank = |character: char| character <= ' ';
    let end = start + out[start..].trim_end_matches(is_blank).len();
    out.truncate(end);
    let blanks = end - start - out[start..].trim_start_matches(is_blank).len();
    if blanks > 0 {
        out.drain(start..start + blanks);
    }
}

#[derive(Debug)]
struct Set {
    name: Template,
    value: Template,
    give_old: Option<Template>,
}

/// `${__setProperty(name, value, whether to return the old value)}`
pub(crate) fn set_property(arguments: &mut Arguments<'_, '_>) -> Made {
    Ok(Arc::new(Set { name: arguments.take(0), value: arguments.take(1), give_old: arguments.optional(2) }))
}

impl Function for Set {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let give_old = match &self.give_old {
            Some(template) => with_text(template, user, |_, text| java_flag(text)),
            None => false,
        };
        let old = with_text(&self.name, user, |user, name| {
            with_text(&self.value, user, |user, value| user.run.properties.set(name, value))
        });
        if give_old {
            // A property that was not set gives Java's null.
            out.push_str(old.as_deref().unwrap_or("null"));
        }
    }
}

#[derive(Debug)]
struct IsDefined {
    name: Template,
}

/// `${__isPropDefined(name)}`
pub(crate) fn is_defined(arguments: &mut Arguments<'_, '_>) -> Made {
    Ok(Arc::new(IsDefined { name: arguments.take(0) }))
}

impl Function for IsDefined {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let found =
            with_text(&self.name, user, |user, name| user.run.properties.with(name, |value| value.is_some()));
        out.push_str(if found { "true" } else { "false" });
    }
}
