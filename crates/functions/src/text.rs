//! Functions that process texts and characters: `__changeCase`, `__char`, `__escapeOroRegexpChars`, and `__lowercase`,
//! `__uppercase`, `__strLen` and `__env` of jmeter-plugins.

use std::fmt::Write as _;
use std::sync::Arc;

use busyhour_java::trim;
use busyhour_program::ElementError;
use busyhour_program::run::LogLevel;
use busyhour_program::template::{Function, Template};
use busyhour_program::user::UserState;

use crate::arguments::{Arguments, BuildResult, Target, log_failure, with_text};

/// A function of one text.
#[derive(Debug)]
pub(crate) struct TextFunction {
    name: &'static str,
    text: Template,
    map: fn(&str, &mut String) -> Result<(), ElementError>,
    target: Target,
}

impl TextFunction {
    /// Builds a function of the first argument. The second argument, if any, names the variable to set.
    pub(crate) fn build(
        arguments: &mut Arguments<'_, '_>,
        map: fn(&str, &mut String) -> Result<(), ElementError>,
    ) -> BuildResult {
        let target = arguments.target(1);
        Ok(Arc::new(Self { name: arguments.name, text: arguments.take(0), map, target }))
    }
}

impl Function for TextFunction {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let start = out.len();
        let succeeded = with_text(&self.text, user, |user, text| match (self.map)(text, out) {
            Ok(()) => true,
            Err(error) => {
                log_failure(user, self.name, error.message());
                false
            }
        });
        if succeeded {
            self.target.store(user, &out[start..]);
        } else {
            out.truncate(start);
        }
    }
}

/// Builds `${__lowercase(text, variable)}` of jmeter-plugins.
pub(crate) fn lowercase(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    TextFunction::build(arguments, |text, out| {
        out.push_str(&text.to_lowercase());
        Ok(())
    })
}

/// Builds `${__uppercase(text, variable)}` of jmeter-plugins.
pub(crate) fn uppercase(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    TextFunction::build(arguments, |text, out| {
        out.push_str(&text.to_uppercase());
        Ok(())
    })
}

/// Builds `${__strLen(text, variable)}` of jmeter-plugins: the number of UTF-16 code units.
pub(crate) fn str_len(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    TextFunction::build(arguments, |text, out| {
        let _ = write!(out, "{}", text.encode_utf16().count());
        Ok(())
    })
}

/// Builds `${__escapeOroRegexpChars(text, variable)}`.
pub(crate) fn quote_meta(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    TextFunction::build(arguments, |text, out| {
        for c in text.chars() {
            if !(c.is_alphanumeric() || c == '_') {
                out.push('\\');
            }
            out.push(c);
        }
        Ok(())
    })
}

#[derive(Debug)]
struct ChangeCase {
    text: Template,
    mode: Option<Template>,
    target: Target,
}

/// Builds `${__changeCase(text, UPPER | LOWER | CAPITALIZE, variable)}`.
pub(crate) fn change_case(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    let target = arguments.target(2);
    Ok(Arc::new(ChangeCase { text: arguments.take(0), mode: arguments.optional(1), target }))
}

impl Function for ChangeCase {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let start = out.len();
        with_text(&self.text, user, |user, text| match &self.mode {
            None => out.push_str(&text.to_uppercase()),
            Some(mode) => with_text(mode, user, |user, mode| {
                if mode.is_empty() || mode.eq_ignore_ascii_case("upper") {
                    out.push_str(&text.to_uppercase());
                } else if mode.eq_ignore_ascii_case("lower") {
                    out.push_str(&text.to_lowercase());
                } else if mode.eq_ignore_ascii_case("capitalize") {
                    capitalize(text, out);
                } else {
                    out.push_str(text);
                    user.log(LogLevel::Error, &format!("Unknown mode {mode}, returning {text} unchanged"));
                }
            }),
        });
        self.target.store(user, &out[start..]);
    }
}

/// Appends the text with its first character in title case. As in Java, title case is a single character.
fn capitalize(text: &str, out: &mut String) {
    let mut rest = text.chars();
    if let Some(first) = rest.next() {
        let mut upper = first.to_uppercase();
        out.push(match (first, upper.next(), upper.next()) {
            // These digraphs have a title case that differs from the upper case.
            ('Ǆ'..='ǆ', ..) => 'ǅ',
            ('Ǉ'..='ǉ', ..) => 'ǈ',
            ('Ǌ'..='ǌ', ..) => 'ǋ',
            ('Ǳ'..='ǳ', ..) => 'ǲ',
            (_, Some(upper), None) => upper,
            _ => first,
        });
        out.push_str(rest.as_str());
    }
}

#[derive(Debug)]
struct Characters {
    codes: Vec<Template>,
}

/// Builds `${__char(65, 0x42, 0103)}`.
pub(crate) fn character(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    Ok(Arc::new(Characters { codes: (0..arguments.count).map(|index| arguments.take(index)).collect() }))
}

impl Function for Characters {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let mut units = Vec::with_capacity(self.codes.len());
        for code in &self.codes {
            with_text(code, user, |user, text| {
                let text = trim(text);
                match java_long_decode(text) {
                    // Java keeps the lowest 16 bits.
                    Some(value) => units.push((value & 0xFFFF) as u16),
                    None => user.log(
                        LogLevel::Warn,
                        &format!("Could not parse {text} : not a number that Java's Long.decode accepts"),
                    ),
                }
            });
        }
        out.extend(char::decode_utf16(units).map(|c| c.unwrap_or('?')));
    }
}

/// Implements Java's `Long.decode`: an optional sign, then a decimal number, `0x…`, `#…`, or an octal number with a leading
/// zero.
fn java_long_decode(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let hexadecimal =
        digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")).or_else(|| digits.strip_prefix('#'));
    let (digits, radix) = match hexadecimal {
        Some(rest) => (rest, 16),
        None if digits.len() > 1 && digits.starts_with('0') => (&digits[1..], 8),
        None => (digits, 10),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let magnitude = i128::from_str_radix(digits, radix).ok()?;
    i64::try_from(if negative { -magnitude } else { magnitude }).ok()
}

#[derive(Debug)]
struct Environment {
    name: Template,
    target: Target,
    default: Option<Template>,
}

/// An environment variable, for scripts.
pub(crate) fn environment_variable(name: &str) -> Option<String> {
    let is_valid = !name.is_empty() && !name.contains(['=', '\0']);
    is_valid.then(|| std::env::var(name).ok()).flatten()
}

/// Builds `${__env(name, variable, default)}` of jmeter-plugins.
pub(crate) fn environment(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    let target = arguments.target(1);
    Ok(Arc::new(Environment { name: arguments.take(0), target, default: arguments.optional(2) }))
}

impl Function for Environment {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let start = out.len();
        with_text(&self.name, user, |user, name| {
            let is_valid = !name.is_empty() && !name.contains(['=', '\0']);
            match (is_valid.then(|| std::env::var(name).ok()).flatten(), &self.default) {
                (Some(value), _) => out.push_str(&value),
                (None, Some(default)) => default.render(user, out),
                (None, None) => out.push_str(name),
            }
        });
        self.target.store(user, &out[start..]);
    }
}
