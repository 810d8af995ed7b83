//! `__P`, `__property`, `__setProperty`, `__isPropDefined`.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use busyhour_java::parse_boolean;
use busyhour_program::run::Level;
use busyhour_program::template::{Function, Template};
use busyhour_program::user::UserState;

use crate::arguments::{Arguments, Made, Target, with_text};
use crate::text::environment_variable;

#[derive(Debug)]
struct Read {
    name: Template,
    otherwise: Otherwise,
    target: Target,
    /// Its index in each thread's cache.
    place: usize,
}

/// Maximum number of functions whose values are cached.
const PLACES_MAX: usize = 4096;

/// Number of indexes assigned so far.
static PLACES: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The last value of each function on this thread, with the version of the properties: an unchanged property needs
    /// neither a lock nor a search.
    static REMEMBERED: RefCell<Vec<(u64, Box<str>)>> = const { RefCell::new(Vec::new()) };
}

impl Read {
    /// Appends the value cached for this version; false if there is none.
    fn recall(&self, version: u64, out: &mut String) -> bool {
        REMEMBERED.with_borrow(|all| match all.get(self.place) {
            Some((known, value)) if *known == version && version != 0 => {
                out.push_str(value);
                true
            }
            _ => false,
        })
    }

    fn remember(&self, version: u64, value: &str) {
        // Texts built during the run create functions without limit: only the first ones, those of the plan, are cached.
        if self.place >= PLACES_MAX || version == 0 {
            return;
        }
        REMEMBERED.with_borrow_mut(|all| {
            if all.len() <= self.place {
                // Version 0 is never used.
                all.resize_with(self.place + 1, || (0, Box::default()));
            }
            all[self.place] = (version, value.into());
        });
    }

    /// Whether name and default are constant and no variable is set.
    fn is_plain(&self) -> bool {
        let default_is_fixed = match &self.otherwise {
            Otherwise::Text(text) => text.as_literal().is_some(),
            Otherwise::One | Otherwise::Name => true,
        };
        default_is_fixed && self.name.as_literal().is_some() && matches!(self.target, Target::None)
    }
}

/// The value of an unset property.
#[derive(Debug)]
enum Otherwise {
    One,
    Name,
    Text(Template),
}

/// `${__P(name, default)}`
pub(crate) fn p(arguments: &mut Arguments<'_, '_>) -> Made {
    let otherwise = arguments.optional(1).map_or(Otherwise::One, Otherwise::Text);
    Ok(Arc::new(Read { name: arguments.take(0), otherwise, target: Target::None, place: next_place() }))
}

/// `${__property(name, variable, default)}`
pub(crate) fn property(arguments: &mut Arguments<'_, '_>) -> Made {
    let otherwise = arguments.optional(2).map_or(Otherwise::Name, Otherwise::Text);
    let target = arguments.target_untrimmed(1);
    Ok(Arc::new(Read { name: arguments.take(0), otherwise, target, place: next_place() }))
}

/// A secret of a load testing service, which has them outside of the plan.
#[derive(Debug)]
struct Secret {
    name: Template,
}

/// `${__GetSecret(name)}` of Azure Load Testing
pub(crate) fn secret(arguments: &mut Arguments<'_, '_>) -> Made {
    Ok(Arc::new(Secret { name: arguments.take(0) }))
}

impl Function for Secret {
    fn depends_on_properties_only(&self) -> bool {
        self.name.as_literal().is_some()
    }

    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        with_text(&self.name, user, |user, name| {
            let is_property =
                user.run.properties.with(name, |value| value.map(|value| out.push_str(value)).is_some());
            if is_property {
                return;
            }
            match environment_variable(name) {
                Some(value) => out.push_str(&value),
                // Without the service's extension JMeter knows no such function and sends the call.
                None => {
                    let line =
                        format!("__GetSecret: {name} is neither a property nor an environment variable");
                    user.log(Level::Warn, &line);
                    let _ = write!(out, "${{__GetSecret({name})}}");
                }
            }
        });
    }
}

fn next_place() -> usize {
    PLACES.fetch_add(1, Ordering::Relaxed)
}

impl Function for Read {
    fn depends_on_properties_only(&self) -> bool {
        self.is_plain()
    }

    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let start = out.len();
        let version = user.run.properties.version();
        let is_plain = self.is_plain();
        if is_plain && self.recall(version, out) {
            return;
        }
        with_text(&self.name, user, |user, name| {
            let found =
                user.run.properties.with(name, |value| value.map(|value| out.push_str(value)).is_some());
            // JMeter always evaluates the default; only functions with side effects make a difference, so those are
            // evaluated here too.
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
        if is_plain {
            self.remember(version, &out[start..]);
        }
        self.target.store(user, &out[start..]);
    }
}

/// Trims the text appended to `out` since `start`: JMeter trims a property's value and its default.
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
            Some(template) => with_text(template, user, |_, text| parse_boolean(text)),
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
