//! The functions `__P`, `__property`, `__setProperty` and `__isPropDefined`, and `__GetSecret` of Azure Load Testing.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use busyhour_java::parse_boolean;
use busyhour_program::run::LogLevel;
use busyhour_program::template::{Function, Template};
use busyhour_program::user::UserState;

use crate::arguments::{Arguments, BuildResult, Target, with_text};
use crate::text::environment_variable;

#[derive(Debug)]
struct ReadProperty {
    name: Template,
    default: DefaultValue,
    target: Target,
    /// Index in each thread's cache.
    cache_index: usize,
}

/// Maximum number of functions whose values are cached.
const CACHED_MAX: usize = 4096;

/// The next index in the caches.
static NEXT_CACHE_INDEX: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The last value of each function on this thread and the version of the properties that it was read from. While the
    /// properties do not change, reading one needs neither a lock nor a search.
    static CACHE: RefCell<Vec<(u64, Box<str>)>> = const { RefCell::new(Vec::new()) };
}

impl ReadProperty {
    /// Appends the value that is cached for this version; returns false if there is none.
    fn append_cached(&self, version: u64, out: &mut String) -> bool {
        CACHE.with_borrow(|all| match all.get(self.cache_index) {
            Some((cached, value)) if *cached == version && version != 0 => {
                out.push_str(value);
                true
            }
            _ => false,
        })
    }

    fn cache(&self, version: u64, value: &str) {
        // Texts that are built during the run create any number of functions. Only the first functions, which are those of
        // the plan, are cached.
        if self.cache_index >= CACHED_MAX || version == 0 {
            return;
        }
        CACHE.with_borrow_mut(|all| {
            if all.len() <= self.cache_index {
                // Version 0 marks an empty entry.
                all.resize_with(self.cache_index + 1, || (0, Box::default()));
            }
            all[self.cache_index] = (version, value.into());
        });
    }

    /// Whether the result depends only on properties: name and default are constant, and no variable is set.
    fn is_cacheable(&self) -> bool {
        let default_is_constant = match &self.default {
            DefaultValue::Text(text) => text.as_literal().is_some(),
            DefaultValue::One | DefaultValue::Name => true,
        };
        default_is_constant && self.name.as_literal().is_some() && matches!(self.target, Target::None)
    }
}

/// The result for an unset property.
#[derive(Debug)]
enum DefaultValue {
    /// The text `1`.
    One,
    /// The name of the property.
    Name,
    Text(Template),
}

/// Builds `${__P(name, default)}`.
pub(crate) fn p(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    let default = arguments.optional(1).map_or(DefaultValue::One, DefaultValue::Text);
    let cache_index = next_cache_index();
    Ok(Arc::new(ReadProperty { name: arguments.take(0), default, target: Target::None, cache_index }))
}

/// Builds `${__property(name, variable, default)}`.
pub(crate) fn property(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    let default = arguments.optional(2).map_or(DefaultValue::Name, DefaultValue::Text);
    let target = arguments.target_untrimmed(1);
    let cache_index = next_cache_index();
    Ok(Arc::new(ReadProperty { name: arguments.take(0), default, target, cache_index }))
}

/// A secret of a load testing service, which stores secrets outside the plan.
#[derive(Debug)]
struct Secret {
    name: Template,
}

/// Builds `${__GetSecret(name)}` of Azure Load Testing.
pub(crate) fn secret(arguments: &mut Arguments<'_, '_>) -> BuildResult {
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
                // JMeter without the service's extension does not have this function and sends the call as text.
                None => {
                    let line =
                        format!("__GetSecret: {name} is neither a property nor an environment variable");
                    user.log(LogLevel::Warn, &line);
                    let _ = write!(out, "${{__GetSecret({name})}}");
                }
            }
        });
    }
}

fn next_cache_index() -> usize {
    NEXT_CACHE_INDEX.fetch_add(1, Ordering::Relaxed)
}

impl Function for ReadProperty {
    fn depends_on_properties_only(&self) -> bool {
        self.is_cacheable()
    }

    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let start = out.len();
        let version = user.run.properties.version();
        let is_cacheable = self.is_cacheable();
        if is_cacheable && self.append_cached(version, out) {
            return;
        }
        with_text(&self.name, user, |user, name| {
            let found =
                user.run.properties.with(name, |value| value.map(|value| out.push_str(value)).is_some());
            // JMeter always evaluates the default. A default that is not constant is therefore evaluated even if it is not
            // needed, because its functions may have side effects.
            match &self.default {
                DefaultValue::Text(text) if !found => text.render(user, out),
                DefaultValue::Text(text) if text.as_literal().is_none() => {
                    with_text(text, user, |_, _| ());
                }
                DefaultValue::One if !found => out.push('1'),
                DefaultValue::Name if !found => out.push_str(name),
                _ => {}
            }
        });
        trim_from(out, start);
        if is_cacheable {
            self.cache(version, &out[start..]);
        }
        self.target.store(user, &out[start..]);
    }
}

/// Trims the text in `out` from `start` on, because JMeter trims a property's value and its default.
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
struct SetProperty {
    name: Template,
    value: Template,
    returns_old: Option<Template>,
}

/// Builds `${__setProperty(name, value, whether to return the old value)}`.
pub(crate) fn set_property(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    let returns_old = arguments.optional(2);
    Ok(Arc::new(SetProperty { name: arguments.take(0), value: arguments.take(1), returns_old }))
}

impl Function for SetProperty {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let returns_old = match &self.returns_old {
            Some(template) => with_text(template, user, |_, text| parse_boolean(text)),
            None => false,
        };
        let old = with_text(&self.name, user, |user, name| {
            with_text(&self.value, user, |user, value| user.run.properties.set(name, value))
        });
        if returns_old {
            // The old value of an unset property is Java's null as text.
            out.push_str(old.as_deref().unwrap_or("null"));
        }
    }
}

#[derive(Debug)]
struct IsDefined {
    name: Template,
}

/// Builds `${__isPropDefined(name)}`.
pub(crate) fn is_defined(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    Ok(Arc::new(IsDefined { name: arguments.take(0) }))
}

impl Function for IsDefined {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let found =
            with_text(&self.name, user, |user, name| user.run.properties.with(name, |value| value.is_some()));
        out.push_str(if found { "true" } else { "false" });
    }
}
