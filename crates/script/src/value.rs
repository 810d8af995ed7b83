//! Values of Java's types, as scripts compute them.

use std::sync::Arc;

/// What a script's expression is worth, typed as in Java.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// `null`
    Null,
    /// `java.lang.Boolean`
    Boolean(bool),
    /// `java.lang.Integer`
    Integer(i32),
    /// `java.lang.Long`
    Long(i64),
    /// `java.lang.Double`
    Double(f64),
    /// `java.lang.String`
    Text(Arc<str>),
}

impl Value {
    /// A text value.
    #[must_use]
    pub fn text(text: impl AsRef<str>) -> Value {
        Value::Text(Arc::from(text.as_ref()))
    }

    /// The text that Java's `String.valueOf` gives; `null` for a null value.
    #[must_use]
    pub fn to_java_string(&self) -> String {
        match self {
            Value::Null => "null".to_owned(),
            Value::Boolean(value) => value.to_string(),
            Value::Integer(value) => value.to_string(),
            Value::Long(value) => value.to_string(),
            Value::Double(value) => value.to_string(),
            Value::Text(text) => text.to_string(),
        }
    }

    /// What JMeter's script functions (`__jexl3`, `__groovy`, `__BeanShell`) return: the text, but an empty one for a
    /// null value.
    #[must_use]
    pub fn to_function_result(&self) -> String {
        if matches!(self, Value::Null) { String::new() } else { self.to_java_string() }
    }
}
