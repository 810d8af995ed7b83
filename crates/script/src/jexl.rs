//! JEXL 3 and JEXL 2, as in `${__jexl3(…)}`, `${__jexl2(…)}`, and conditions of If and While Controllers.

use crate::language::Dialect;
use crate::{Binding, Identifiers, Scope, ScriptError, Value, jvm};

/// A version of the language. The versions differ in the conversion of strings to numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Version {
    /// Commons JEXL 2.1 (`__jexl2`, `__jexl`).
    Two,
    /// Commons JEXL 3.2 (`__jexl3`).
    Three,
}

/// A parsed script. Clones share the parsed form.
#[derive(Debug, Clone)]
pub struct Script {
    script: jvm::Script,
}

/// Parses a script.
///
/// # Errors
/// [`ScriptError::Syntax`] for invalid syntax, [`ScriptError::Unsupported`] for constructs that may behave differently here.
pub fn compile(text: &str, version: Version) -> Result<Script, ScriptError> {
    let dialect = match version {
        Version::Two => Dialect::Jexl2,
        Version::Three => Dialect::Jexl3,
    };
    Ok(Script { script: jvm::compile(text, dialect)? })
}

impl Script {
    /// The names that the script refers to.
    #[must_use]
    pub fn identifiers(&self) -> Identifiers {
        self.script.identifiers()
    }

    /// Runs the script and returns the value of the last statement.
    ///
    /// # Errors
    /// [`ScriptError::Evaluation`] if JMeter would log an error and use an empty text as the result.
    pub fn evaluate(&self, scope: &mut dyn Scope) -> Result<Value, ScriptError> {
        let mut bindings = Vec::new();
        if self.script.has_name("threadName") {
            bindings.push(("threadName", Binding::Value(Value::text(scope.thread_name()))));
        }
        if self.script.has_name("sampleResult") {
            let has_sample = scope.sample().is_some();
            bindings.push((
                "sampleResult",
                if has_sample { Binding::Sample } else { Binding::Value(Value::Null) },
            ));
        }
        Ok(self.script.run(scope, &bindings, &[], None)?.0)
    }
}
