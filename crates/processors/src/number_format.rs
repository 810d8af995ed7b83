//! Formats numbers with a pattern of `java.text.DecimalFormat` and stores them in variables.

use std::fmt::Write as _;

use busyhour_java::format::DecimalFormat;
use busyhour_program::run::LogLevel;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;

/// The number format of an element.
#[derive(Debug)]
pub(crate) enum NumberFormat {
    /// No pattern: plain digits.
    Plain,
    /// A constant pattern.
    Constant(DecimalFormat),
    /// A pattern with variables, or an invalid one. With an invalid pattern, a warning is logged and plain digits are stored.
    Varying(Template),
}

impl NumberFormat {
    pub(crate) fn new(template: &Template) -> Self {
        match template.as_literal() {
            Some("") => Self::Plain,
            Some(pattern) => {
                DecimalFormat::new(pattern).map_or_else(|_| Self::Varying(template.clone()), Self::Constant)
            }
            None => Self::Varying(template.clone()),
        }
    }

    /// Sets a variable to a number.
    pub(crate) fn set(&self, user: &mut UserState, name: &str, value: i64) {
        let mut out = user.take_buffer();
        match self {
            Self::Constant(format) => format.format_integer(value, &mut out),
            Self::Plain => {
                let _ = write!(out, "{value}");
            }
            Self::Varying(template) => {
                let pattern = template.text(user);
                match DecimalFormat::new(&pattern) {
                    Ok(format) if !pattern.is_empty() => format.format_integer(value, &mut out),
                    Ok(_) => {
                        let _ = write!(out, "{value}");
                    }
                    Err(_) => {
                        user.log(
                            LogLevel::Warn,
                            &format!("Error formatting {value} at format {pattern}, using default"),
                        );
                        let _ = write!(out, "{value}");
                    }
                }
            }
        }
        user.variables.set(name, &out);
        user.give_back(out);
    }
}
