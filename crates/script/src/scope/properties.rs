//! The properties of a run in scripts.

use crate::Value;

/// JMeter's `props`: the properties, which all users of the run share.
///
/// A user on another core may change a property between any two calls. A script that reads and then sets a property therefore
/// does not do so atomically, as in JMeter. An implementation must not hold a lock between calls. [`Scope`](crate::Scope) has an
/// example.
pub trait ScriptProperties {
    /// The result of `props.get` or `props.getProperty`.
    fn property(&self, name: &str) -> Option<String>;
    /// Implements `props.put` and `props.setProperty`. All virtual users share the properties.
    fn set_property(&mut self, name: &str, value: &str);
    /// The names of all properties.
    fn property_names(&self) -> Vec<String> {
        Vec::new()
    }
    /// The value of a property that is not a string, such as a number that a script stored.
    fn property_value(&self, _name: &str) -> Option<Value> {
        None
    }
    /// Sets a property to a value that is not a string. Elements and functions do not see such a property, as in JMeter.
    fn set_property_value(&mut self, name: &str, value: Value) {
        self.set_property(name, &value.to_java_string());
    }
    /// Implements `props.remove`.
    fn remove_property(&mut self, _name: &str) {}
}
