//! Numbers in variables, formatted by a pattern of `java.text.DecimalFormat`.

use std::fmt::Write as _;

use busyhour_java::format::DecimalFormat;
use busyhour_program::run::Level;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;

/// A pattern as an element of the plan holds it.
#[derive(Debug)]
pub(crate) enum NumberFormat {
    /// Plain digits.
    Plain,
    /// It is constant.
    Fixed(DecimalFormat),
    /// It contains variables, or Java refuses it: then each number is logged and written plainly.
    Varying(Template),
}

impl NumberFormat {
    pub(crate) fn new(template: &Template) -> Self {
        match template.as_literal() {
            Some("") => Self::Plain,
            Some(pattern) => {
                DecimalFormat::new(pattern).map_or_else(|_| Self::Varying(template.clone()), Self::Fixed)
            }
            None => Self::Varying(template.clone()),
        }
    }

    /// Sets a variable to a number.
    pub(crate) fn set(&self, user: &mut UserState, name: &str, value: i64) {
        let mut out = user.take_buffer();
        match self {
            Self::Fixed(format) => format.format_integer(value, &mut out),
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
                            Level::Warn,
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
