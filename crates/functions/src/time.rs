//! The function `__time`, and code that the date functions share.

use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};

use busyhour_java::format::{DateFormat, DatePatternError, Moment};
use busyhour_program::template::{Function, Template};
use busyhour_program::user::UserState;
use jiff::tz::TimeZone;

use crate::arguments::{Arguments, BuildResult, Target, log_failure, with_text};
use crate::problem::{Problem, ProblemKind};

/// Named formats, and the defaults of the properties `time.<name>` that define them.
const ALIASES: &[(&str, &str)] =
    &[("YMD", "yyyyMMdd"), ("HMS", "HHmmss"), ("YMDHMS", "yyyyMMdd-HHmmss"), ("USER1", ""), ("USER2", "")];

/// The format of the time.
#[derive(Debug)]
enum Format {
    /// Milliseconds since 1970.
    Milliseconds,
    /// Milliseconds since 1970, divided by a number.
    Divided(u64),
    /// A pattern and the time zone in which it is evaluated.
    Pattern(DateFormat, TimeZone),
    /// An invalid pattern, for which the function returns an empty text.
    Invalid,
}

#[derive(Debug)]
struct Time {
    format: Option<Template>,
    /// The compiled format. As in JMeter, it does not change after the first use.
    compiled: OnceLock<Format>,
    target: Target,
}

/// Builds `${__time(format, variable)}`.
pub(crate) fn time(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    let compiled = OnceLock::new();
    match arguments.literal(0) {
        None if arguments.count > 0 => {}
        None | Some("") => {
            let _ = compiled.set(Format::Milliseconds);
        }
        Some(name) if ALIASES.iter().any(|alias| alias.0 == name) => {}
        Some(pattern) => {
            let format = compile(pattern).map_err(|error| match error {
                DatePatternError::Invalid(_) => Problem {
                    kind: ProblemKind::FailsSample,
                    message: format!("Unable to parse date format {pattern}"),
                    hint: format!("{error}; patterns are those of Java's DateTimeFormatter"),
                    ..arguments.invalid(String::new(), "")
                },
                DatePatternError::Unsupported(_) => pattern_problem(arguments, pattern, &error),
            })?;
            let _ = compiled.set(format);
        }
    }
    Ok(Arc::new(Time { format: arguments.optional(0), compiled, target: arguments.target(1) }))
}

fn compile(pattern: &str) -> Result<Format, DatePatternError> {
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
            return Err(DatePatternError::Invalid(format!("cannot divide by {digits}")));
        }
    }
    Ok(Format::Pattern(DateFormat::new(pattern)?, TimeZone::system()))
}

/// The problem of the plan for a pattern that cannot be compiled.
pub(crate) fn pattern_problem(
    arguments: &Arguments<'_, '_>,
    pattern: &str,
    error: &DatePatternError,
) -> Problem {
    let message = format!("the date pattern {pattern:?}: {error}");
    match error {
        DatePatternError::Invalid(_) => {
            arguments.invalid(message, "patterns are those of Java's DateTimeFormatter")
        }
        DatePatternError::Unsupported(_) => arguments.unsupported(message, ""),
    }
}

/// The current time in nanoseconds since 1970.
pub(crate) fn now_nanoseconds(user: &UserState) -> i128 {
    i128::from(user.run.clock.wall_start_ms()) * 1_000_000 + i128::from(user.now().0)
}

impl Time {
    fn compile_for(&self, user: &mut UserState) -> Format {
        let Some(format) = &self.format else { return Format::Milliseconds };
        with_text(format, user, |user, text| {
            let alias = ALIASES.iter().find(|alias| alias.0 == text);
            let compiled = match alias {
                Some((name, default)) => {
                    let property = user.run.properties.get(&format!("time.{name}"));
                    let pattern = property.as_deref().unwrap_or(default);
                    // An empty named format gives an empty text, not milliseconds.
                    if pattern.is_empty() {
                        DateFormat::new("").map(|format| Format::Pattern(format, TimeZone::UTC))
                    } else {
                        compile(pattern)
                    }
                }
                None => compile(text),
            };
            compiled.unwrap_or_else(|error| {
                log_failure(user, "__time", &format!("the date pattern {text:?}: {error}"));
                Format::Invalid
            })
        })
    }
}

impl Function for Time {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let start = out.len();
        let format = match self.compiled.get() {
            Some(format) => format,
            None => {
                let format = self.compile_for(user);
                self.compiled.get_or_init(|| format)
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
                    log_failure(user, "__time", &message);
                }
            }
            Format::Invalid => return,
        }
        self.target.store(user, &out[start..]);
    }
}
