//! The variables of a user in scripts.

use std::any::Any;
use std::rc::Rc;

/// JMeter's `vars`: the variables of the user that runs the script. They are not shared with other users.
///
/// A change is visible to the next call and to all later elements of the user. A variable holds a text, an object with a text, or
/// null; [`get`](Self::get) returns the text of the first two. [`Scope`](crate::Scope) has an example.
pub trait ScriptVariables {
    /// The value of a variable; `None` if JMeter's `vars.get` returns `null`.
    fn get(&self, name: &str) -> Option<String>;
    /// Implements `vars.put`. Replaces an object or null with this name.
    fn set(&mut self, name: &str, value: &str);
    /// Implements `vars.remove`: removes the variable if it exists.
    fn remove(&mut self, name: &str);
    /// The names of all variables.
    fn names(&self) -> Vec<String> {
        Vec::new()
    }
    /// An object that was stored with `vars.putObject`.
    fn object(&self, _name: &str) -> Option<Rc<dyn Any>> {
        None
    }
    /// Implements `vars.putObject` for an object that is not a string; `text` is the result of its `toString`. The object is
    /// stored without conversion, so that later scripts of the user share it.
    fn set_object(&mut self, _name: &str, _object: Rc<dyn Any>, _text: &str) {}
    /// Implements `vars.put` of null: the variable exists and has no value.
    fn set_null(&mut self, name: &str) {
        self.remove(name);
    }
    /// The names of the variables that hold objects.
    fn object_names(&self) -> Vec<String> {
        Vec::new()
    }
}
