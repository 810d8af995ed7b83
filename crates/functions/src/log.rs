//! The functions `__log` and `__logn`.

use std::fmt::Write as _;
use std::sync::Arc;

use busyhour_java::trim;
use busyhour_program::run::LogLevel;
use busyhour_program::template::{Function, Template};
use busyhour_program::user::UserState;

use crate::arguments::{Arguments, BuildResult, with_text};

#[derive(Debug)]
struct Log {
    text: Template,
    level: Option<Template>,
    throwable: Option<Template>,
    comment: Option<Template>,
    /// Whether the function returns the text.
    returns_text: bool,
}

/// Builds `${__log(text, level, throwable, comment)}`.
pub(crate) fn log(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    Ok(Arc::new(Log {
        text: arguments.take(0),
        level: arguments.optional(1),
        throwable: arguments.optional(2),
        comment: arguments.optional(3),
        returns_text: true,
    }))
}

/// Builds `${__logn(text, level, throwable)}`.
pub(crate) fn logn(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    Ok(Arc::new(Log {
        text: arguments.take(0),
        level: arguments.optional(1),
        throwable: arguments.optional(2),
        comment: None,
        returns_text: false,
    }))
}

/// The level for a name; any unknown name is DEBUG.
fn level(name: &str) -> LogLevel {
    match trim(name).to_ascii_uppercase().as_str() {
        "" | "INFO" => LogLevel::Info,
        "WARN" => LogLevel::Warn,
        "ERROR" | "ERR" => LogLevel::Error,
        // JMeter prints OUT to its standard output, which Busyhour reserves for the messages of the run.
        "OUT" => LogLevel::Info,
        _ => LogLevel::Debug,
    }
}

impl Function for Log {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let start = out.len();
        self.text.render(user, out);
        let level = match &self.level {
            // A blank level is DEBUG in JMeter, but an empty level is INFO.
            Some(template) => with_text(template, user, |_, name| {
                if !name.is_empty() && trim(name).is_empty() { LogLevel::Debug } else { level(name) }
            }),
            None => LogLevel::Info,
        };
        let mut line = user.take_buffer();
        user.thread_name(&mut line);
        line.push(' ');
        let separator = line.len();
        if let Some(comment) = &self.comment {
            comment.render(user, &mut line);
        }
        if line.len() == separator {
            line.push_str(" : ");
        }
        line.push(' ');
        line.push_str(&out[start..]);
        if let Some(throwable) = &self.throwable {
            with_text(throwable, user, |_, text| {
                if !text.is_empty() {
                    let _ = write!(line, " java.lang.Throwable: {text}");
                }
            });
        }
        user.log(level, &line);
        user.give_back(line);
        if !self.returns_text {
            out.truncate(start);
        }
    }
}
