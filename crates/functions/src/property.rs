//! `__P`, `__property`, `__setProperty`, `__isPropDefined`.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use busyhour_program::template::{Function, Template};
use busyhour_program::user::UserState;

use crate::arguments::{Arguments, Made, Target, java_flag, with_text};

#[derive(Debug)]
struct Read {
    name: Template,
    otherwise: Otherwise,
    target: Target,
    /// Its place among what each thread remembers.
    place: usize,
}

/// Functions whose values are remembered.
const PLACES_MAX: usize = 4096;

/// Places given out so far.
static PLACES: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// What the functions of this thread read last, and under which version of the properties: a property that does not
    /// change costs neither a lock nor a search.
    static REMEMBERED: RefCell<Vec<(u64, Box<str>)>> = const { RefCell::new(Vec::new()) };
}

impl Read {
    /// Appends what was read before under this version; false when nothing was.
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
        // Texts that come up during the run make functions without end: only the first, which are the plan's, count.
        if self.place >= PLACES_MAX || version == 0 {
            return;
        }
        REMEMBERED.with_borrow_mut(|all| {
            if all.len() <= self.place {
                // Version 0 is never given out.
                all.resize_with(self.place + 1, || (0, Box::default()));
            }
            all[self.place] = (version, value.into());
        });
    }

    /// Whether name and default are fixed and nothing else is to be done.
    fn is_plain(&self) -> bool {
        let default_is_fixed = match &self.otherwise {
            Otherwise::Text(text) => text.as_literal().is_some(),
            Otherwise::One | Otherwise::Name => true,
        };
        default_is_fixed && self.name.as_literal().is_some() && matches!(self.target, Target::None)
    }
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
    Ok(Arc::new(Read { name: arguments.take(0), otherwise, target: Target::None, place: next_place() }))
}

/// `${__property(name, variable, default)}`
pub(crate) fn property(arguments: &mut Arguments<'_, '_>) -> Made {
    let otherwise = arguments.optional(2).map_or(Otherwise::Name, Otherwise::Text);
    let target = arguments.target_untrimmed(1);
    Ok(Arc::new(Read { name: arguments.take(0), otherwise, target, place: next_place() }))
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
        if is_plain {
            self.remember(version, &out[start..]);
        }
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
