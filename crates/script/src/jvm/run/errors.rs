//! Conversion of errors of a script to [`ScriptError`].

use crate::jvm::classes::Class;
use crate::jvm::fault::{Cause, Fault};
use crate::jvm::model::Machine;
use crate::jvm::print;
use crate::jvm::value::V;
use crate::{ScriptError, TextPlace};

impl Machine<'_> {
    /// Converts an error for the caller of the script.
    pub(super) fn error(&mut self, fault: Fault) -> ScriptError {
        let place = TextPlace::of(&self.tree.text, fault.at.unwrap_or(0) as usize);
        match fault.cause {
            Cause::Limit(what) => ScriptError::LimitReached { limit: what },
            Cause::Unsupported(what) => ScriptError::Unsupported { what, place },
            Cause::Evaluation(message) => ScriptError::Evaluation { message: self.message(message), place },
            Cause::Thrown(exception) => {
                let is_error =
                    matches!(&exception, V::Object(object) if object.class().is_a(Class::known("Error")));
                let message = match &exception {
                    V::Object(object) if self.jexl() => object.message().map(str::to_owned),
                    _ => None,
                };
                let message = message.unwrap_or_else(|| print::java(self, &exception).unwrap_or_default());
                let message = match self.origin.take() {
                    Some(origin) if self.beanshell() => self.message(origin),
                    _ => message,
                };
                if is_error {
                    return ScriptError::Fatal { message, place };
                }
                ScriptError::Evaluation { message, place }
            }
        }
    }

    /// A message in the form of BeanShell's `EvalError`, with the first 80 characters of the script in one line.
    fn message(&self, what: String) -> String {
        if !self.beanshell() {
            return what;
        }
        let mut text: String = self.tree.text.replace(['\n', '\r'], " ");
        if !text.ends_with(';') {
            text.push(';');
        }
        if let Some((end, _)) = text.char_indices().nth(80) {
            text.truncate(end);
            text.push_str(" . . . ");
        }
        format!("Sourced file: inline evaluation of: ``{text}'' : {what}")
    }
}
