//! The functions `__Random`, `__RandomString` and `__UUID`.
//!
//! The functions use the random numbers of the user, so the same seed gives the same values.

use std::fmt::Write as _;
use std::sync::Arc;

use busyhour_java::trim;
use busyhour_limits::{Limit, count_exceeded};
use busyhour_program::ElementError;
use busyhour_program::template::{Function, TEXT_MAX, Template};
use busyhour_program::user::UserState;
use rand::{Rng as _, RngCore as _};

use crate::arguments::{Arguments, BuildResult, Target, log_failure, with_text};

#[derive(Debug)]
struct Random {
    minimum: Bound,
    maximum: Bound,
    target: Target,
}

#[derive(Debug)]
enum Bound {
    Constant(i64),
    Varying(Template),
}

impl Bound {
    fn value(&self, user: &mut UserState) -> Option<i64> {
        match self {
            Bound::Constant(value) => Some(*value),
            Bound::Varying(template) => with_text(template, user, |user, text| {
                let value = trim(text).parse().ok();
                if value.is_none() {
                    log_failure(user, "__Random", &format!("{text:?} is not a whole number"));
                }
                value
            }),
        }
    }
}

/// Builds `${__Random(minimum, maximum, variable)}`. Both limits are possible results.
pub(crate) fn random(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    let minimum = bound(arguments, 0)?;
    let maximum = bound(arguments, 1)?;
    if let (Bound::Constant(minimum), Bound::Constant(maximum)) = (&minimum, &maximum) {
        check_range(*minimum, *maximum).map_err(|message| arguments.invalid(message, ""))?;
    }
    Ok(Arc::new(Random { minimum, maximum, target: arguments.target(2) }))
}

fn bound(arguments: &mut Arguments<'_, '_>, index: usize) -> Result<Bound, crate::Problem> {
    let template = arguments.take(index);
    match template.as_literal() {
        None => Ok(Bound::Varying(template)),
        Some(text) => match trim(text).parse() {
            Ok(value) => Ok(Bound::Constant(value)),
            Err(_) => Err(arguments.invalid(format!("{text:?} is not a whole number"), "")),
        },
    }
}

/// Checks that the range is not empty, and that `maximum + 1` does not overflow, because Java draws a number below that sum.
fn check_range(minimum: i64, maximum: i64) -> Result<(), ElementError> {
    if maximum < minimum {
        Err(format!("the maximum {maximum} is less than the minimum {minimum}").into())
    } else if maximum == i64::MAX {
        Err(format!("the maximum must be less than {maximum}").into())
    } else {
        Ok(())
    }
}

impl Function for Random {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let (Some(minimum), Some(maximum)) = (self.minimum.value(user), self.maximum.value(user)) else {
            return;
        };
        if let Err(error) = check_range(minimum, maximum) {
            log_failure(user, "__Random", error.message());
            return;
        }
        let start = out.len();
        let value = user.random.random_range(minimum..=maximum);
        let _ = write!(out, "{value}");
        self.target.store(user, &out[start..]);
    }
}

#[derive(Debug)]
struct RandomString {
    length: Template,
    characters: Option<Template>,
    target: Target,
}

/// Builds `${__RandomString(length, characters, variable)}`.
pub(crate) fn random_string(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    if let Some(text) = arguments.literal(0).filter(|text| !matches!(text.parse::<i32>(), Ok(0..))) {
        return Err(arguments.invalid(format!("the length {text:?} is not a whole number of at least 0"), ""));
    }
    let characters = arguments
        .optional(1)
        .filter(|template| template.as_literal().is_none_or(|text| !trim(text).is_empty()));
    let target = arguments.target(2);
    Ok(Arc::new(RandomString { length: arguments.take(0), characters, target }))
}

impl Function for RandomString {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let length = with_text(&self.length, user, |user, text| match text.parse::<i32>() {
            Ok(length @ 0..) if length.unsigned_abs() as usize > TEXT_MAX => {
                count_exceeded(Limit::TextBytes);
                log_failure(user, "__RandomString", &format!("the length {text:?} is more than {TEXT_MAX}"));
                None
            }
            Ok(length @ 0..) => Some(length.unsigned_abs()),
            _ => {
                log_failure(
                    user,
                    "__RandomString",
                    &format!("the length {text:?} is not a whole number of at least 0"),
                );
                None
            }
        });
        let Some(length) = length else { return };
        let start = out.len();
        match &self.characters {
            None => append_any_characters(user, length, out),
            Some(characters) => with_text(characters, user, |user, characters| {
                let characters = trim(characters);
                if characters.is_empty() {
                    append_any_characters(user, length, out);
                } else if characters.is_ascii() {
                    for _ in 0..length {
                        let index = user.random.random_range(0..characters.len());
                        out.push(char::from(characters.as_bytes()[index]));
                    }
                } else {
                    let characters: Vec<char> = characters.chars().filter(|c| c.len_utf16() == 1).collect();
                    for _ in 0..length {
                        if let Some(index) =
                            (!characters.is_empty()).then(|| user.random.random_range(0..characters.len()))
                        {
                            out.push(characters[index]);
                        }
                    }
                }
            }),
        }
        self.target.store(user, &out[start..]);
    }
}

/// Appends random characters of all scripts. Each assigned code point outside the private use areas is equally likely. The
/// length counts UTF-16 code units.
fn append_any_characters(user: &mut UserState, length: u32, out: &mut String) {
    let mut remaining = length as usize;
    while remaining > 0 {
        let Some(c) = char::from_u32(user.random.random_range(0..0x11_0000)) else { continue };
        if c.len_utf16() <= remaining && crate::unicode::is_assigned(c) {
            out.push(c);
            remaining -= c.len_utf16();
        }
    }
}

#[derive(Debug)]
struct Uuid;

/// Builds `${__UUID}`: version 4 of RFC 9562.
pub(crate) fn uuid(_: &mut Arguments<'_, '_>) -> BuildResult {
    Ok(Arc::new(Uuid))
}

impl Function for Uuid {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let high = (user.random.next_u64() & !0xF000) | 0x4000;
        let low = (user.random.next_u64() & !(0b11 << 62)) | (0b10 << 62);
        let _ = write!(
            out,
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xFFFF,
            high & 0xFFFF,
            low >> 48,
            low & 0xFFFF_FFFF_FFFF
        );
    }
}
