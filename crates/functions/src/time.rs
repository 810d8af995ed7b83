//! `__time`, and code shared by the functions on dates.

use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};

use busyhour_java::format::{DateFormat, Moment, PatternError};
use busyhour_program::template::{Function, Template};
use busyhour_program::user::UserState;
use jiff::tz::TimeZone;

use crate::arguments::{Arguments, Made, Target, fail, with_text};
use crate::problem::{Problem, ProblemKind};

/// Named formats, and their defaults for the properties `time.<name>`.
const ALIASES: &[(&str, &str)] =
    &[("YMD", "yyyyMMdd"), ("HMS", "HHmmss"), ("YMDHMS", "yyyyMMdd-HHmmss"), ("USER1", ""), ("USER2", "")];

/// How to print the time.
#[derive(Debug)]
enum Format {
    /// Milliseconds since 1970.
    Milliseconds,
    /// The same divided.
    Divided(u64),
    /// By a pattern, in the machine's time zone.
    Pattern(DateFormat, TimeZone),
    /// Prints nothing.
    Broken,
}

#[derive(Debug)]
struct Time {
    format: Option<Template>,
    /// JMeter fixes the format before the first use, and so does this.
    fixed: OnceLock<Format>,
    target: Target,
}

/// `${__time(format, variable)}`
pub(crate) fn time(arguments: &mut Arguments<'_, '_>) -> Made {
    let fixed = OnceLock::new();
    match arguments.literal(0) {
        None if arguments.count > 0 => {}
        None | Some("") => {
            let _ = fixed.set(Format::Milliseconds);
        }
        Some(name) if ALIASES.iter().any(|alias| alias.0 == name) => {}
        Some(pattern) => {
            let format = compile(pattern).map_err(|error| match error {
                PatternError::Invalid(_) => Problem {
                    kind: ProblemKind::FailsSample,
                    message: format!("Unable to parse date format {pattern}"),
                    hint: format!("{error}; patterns are those of Java's DateTimeFormatter"),
                    ..arguments.invalid(String::new(), "")
                },
                PatternError::Unsupported(_) => pattern_problem(arguments, pattern, &error),
            })?;
            let _ = fixed.set(format);
        }
    }
    Ok(Arc::new(Time { format: arguments.optional(0), fixed, target: arguments.target(1) }))
}

fn compile(pattern: &str) -> Result<Format, PatternError> {
    if pattern.is_empty() {
        return Ok(Format::Milliseconds);
    }
    if let Some(digits) =
        pattern.strip_prefix('/').filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
    {
        if let Ok(divisor @ 1..) = digits.parse() {
            return Ok(Format::Divided(divisor));
        }
        if !digits.is_empty() {
            return Err(PatternError::Invalid(format!("cannot divide by {digits}")));
        }
    }
    Ok(Format::Pattern(DateFormat::new(pattern)?, TimeZone::system()))
}

/// A pattern that was refused, as a problem of the plan.
pub(crate) fn pattern_problem(arguments: &Arguments<'_, '_>, pattern: &str, error: &PatternError) -> Problem {
    let message = format!("the date pattern {pattern:?}: {error}");
    match error {
        PatternError::Invalid(_) => {
            arguments.invalid(message, "patterns are those of Java's DateTimeFormatter")
        }
        PatternError::Unsupported(_) => arguments.unsupported(message, ""),
    }
}

/// Nanoseconds since 1970.
pub(crate) fn now_nanoseconds(user: &UserState) -> i128 {
    i128::from(user.run.clock.wall_start_ms()) * 1_000_000 + i128::from(user.now().0)
}

impl Time {
    fn fix(&self, user: &mut UserState) -> Format {
        let Some(format) = &self.format else { return Format::Milliseconds };
        with_text(format, user, |user, text| {
            let alias = ALIASES.iter().find(|alias| alias.0 == text);
            let compiled = match alias {
                // An empty format of one's own prints nothing.
                Some((name, usual)) => {
                    let own = user.run.properties.get(&format!("time.{name}"));
                    let pattern = own.as_deref().unwrap_or(usual);
                    if pattern.is_empty() {
                        DateFormat::new("").map(|format| Format::Pattern(format, TimeZone::UTC))
                    } else {
                        compile(pattern)
                    }
                }
                None => compile(text),
            };
            compiled.unwrap_or_else(|error| {
                fail(user, "__time", &format!("the date pattern {text:?}: {error}"));
                Format::Broken
            })
        })
    }
}

impl Function for Time {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let start = out.len();
        let format = match self.fixed.get() {
            Some(format) => format,
            None => {
                let format = self.fix(user);
                self.fixed.get_or_init(|| format)
            }
        };
        match format {
            Format::Milliseconds => {
                let _ = write!(out, "{}", user.run.clock.wall_ms(user.now()));
            }
            Format::Divided(divisor) => {
                let _ = write!(out, "{}", user.run.clock.wall_ms(user.now()) / divisor);
            }
            Format::Pattern(format, zone) => {
                let moment = Moment::of_instant(now_nanoseconds(user), zone);
                if let Err(message) = format.format(&moment, out) {
                    fail(user, "__time", &message);
                }
            }
            Format::Broken => return,
        }
        self.target.store(user, &out[start..]);
    }
}
