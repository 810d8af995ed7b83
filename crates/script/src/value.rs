//! Values of Java's types, as scripts compute them.

use std::sync::Arc;

use busyhour_java::{double_to_string, float_to_string};

use crate::decimal::Decimal;

/// The value of an expression, with its Java type.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// Java's `null`.
    Null,
    /// A `java.lang.Boolean`.
    Boolean(bool),
    /// A `java.lang.Character`: one unit of UTF-16.
    Character(u16),
    /// A `java.lang.Integer`.
    Integer(i32),
    /// A `java.lang.Long`.
    Long(i64),
    /// A `java.math.BigInteger`, limited to 128 bits here.
    BigInteger(i128),
    /// A `java.lang.Float`.
    Float(f32),
    /// A `java.lang.Double`.
    Double(f64),
    /// A `java.math.BigDecimal`.
    Decimal(Decimal),
    /// A `java.lang.String`.
    Text(Arc<str>),
    /// A `java.util.List`.
    List(Arc<[Value]>),
    /// An array. Its text in Java contains its address, so it cannot be the result of a script.
    Array(Arc<[Value]>),
}

impl Value {
    /// A text value.
    #[must_use]
    pub fn text(text: impl AsRef<str>) -> Value {
        Value::Text(Arc::from(text.as_ref()))
    }

    /// The result of Java's `String.valueOf`: `null` for a null value. Lists are formatted as in Groovy.
    #[must_use]
    pub fn to_java_string(&self) -> String {
        match self {
            Value::Null => "null".to_owned(),
            Value::Boolean(value) => value.to_string(),
            Value::Character(unit) => String::from_utf16_lossy(&[*unit]),
            Value::Integer(value) => value.to_string(),
            Value::Long(value) => value.to_string(),
            Value::BigInteger(value) => value.to_string(),
            Value::Float(value) => float_to_string(*value),
            Value::Double(value) => double_to_string(*value),
            Value::Decimal(value) => value.to_string(),
            Value::Text(text) => text.to_string(),
            Value::List(items) | Value::Array(items) => {
                let items: Vec<String> = items.iter().map(Value::to_java_string).collect();
                format!("[{}]", items.join(", "))
            }
        }
    }

    /// The result of JMeter's script functions (`__jexl3`, `__groovy`, `__BeanShell`) for this value: its text, or an
    /// empty text for null.
    #[must_use]
    pub fn to_function_result(&self) -> String {
        if matches!(self, Value::Null) { String::new() } else { self.to_java_string() }
    }

    /// The name of the value's type, for messages.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Boolean(_) => "a boolean",
            Value::Character(_) => "a char",
            Value::Integer(_) => "an int",
            Value::Long(_) => "a long",
            Value::BigInteger(_) => "a BigInteger",
            Value::Float(_) => "a float",
            Value::Double(_) => "a double",
            Value::Decimal(_) => "a BigDecimal",
            Value::Text(_) => "a String",
            Value::List(_) => "a list",
            Value::Array(_) => "an array",
        }
    }
}
