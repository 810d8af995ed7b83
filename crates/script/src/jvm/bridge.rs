//! Java objects for JavaScript: makes the classes and methods of Groovy and BeanShell callable.
//!
//! A JavaScript engine cannot store values of this interpreter; it refers to an object by its number.

use std::sync::{Arc, LazyLock};

use super::classes::Class;
use super::fault::{Cause, Fault};
use super::machine::Machine;
use super::run::Binding;
use super::tree::{Base, Tree};
use super::value::{Host, V};
use super::{known, library, places, print, stack, text_units};
use crate::language::Dialect;
use crate::{Scope, Value};

/// JMeter's own objects, whose numbers are fixed. `prelude.js` contains the numbers of the first four.
const HOSTS: [Host; 14] = [
    Host::Vars,
    Host::Props,
    Host::Log,
    Host::Context,
    Host::Sample,
    Host::Previous,
    Host::Sampler,
    Host::Out,
    Host::Assertion,
    Host::Event,
    Host::Thread,
    Host::Engine,
    Host::Group,
    Host::Err,
];

/// A value that is passed between JavaScript and Java.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum BridgeValue {
    /// JavaScript's `undefined`.
    Absent,
    Null,
    Truth(bool),
    Number(f64),
    Text(String),
    /// A `String[]` that is passed to JavaScript.
    Texts(Vec<String>),
    /// An object, by its number.
    Object(u32),
    /// A class, by its number.
    Class(u32),
}

/// The error of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BridgeError {
    /// An exception: its class and its message.
    Thrown(String, String),
    /// A construct that this interpreter does not support.
    Unsupported(String),
    /// A limit that ends the script.
    Limit(String),
}

/// A run of a JavaScript script. All its calls of Java share the limits of one run.
pub(crate) struct Run(#[allow(dead_code, reason = "ends the run when it is dropped")] stack::Run);

/// Begins a run.
pub(crate) fn begin() -> Run {
    let run = stack::begin();
    super::patterns::renew_budget();
    Run(run)
}

/// Implements `indexOf` and `lastIndexOf`, in a time that grows with the sum of the lengths of both strings.
pub(crate) fn position(text: &str, sought: &str, from: i64, last: bool) -> f64 {
    text_units::position(text, sought, Some(from), last).as_long().unwrap_or(-1) as f64
}

/// The positions of all non-overlapping occurrences, in UTF-16 units.
pub(crate) fn positions(text: &str, sought: &str) -> Vec<f64> {
    let (mut units, mut counted) = (0, 0);
    let places = text.match_indices(sought).map(|(byte, _)| {
        units += text[counted..byte].encode_utf16().count();
        counted = byte;
        units as f64
    });
    places.collect()
}

/// The objects that a script has received from Java during a run. The index is an object's number.
#[derive(Debug)]
pub(crate) struct Objects(Vec<V>);

impl Default for Objects {
    fn default() -> Objects {
        Objects(HOSTS.iter().map(|host| V::Host(*host)).collect())
    }
}

/// Number of objects with fixed numbers.
pub(crate) const HOST_COUNT: u32 = HOSTS.len() as u32;

/// The numbers of `vars`, `props`, `log`, `ctx`, and of the sample result that the script processes.
pub(crate) const FUNCTION_HOSTS: [u32; 5] = [0, 1, 2, 3, 4];

/// Methods of JMeter's objects whose names are not those of getters or setters.
const PLAIN_METHODS: &[&str] = &[
    "sampleStart",
    "sampleEnd",
    "samplePause",
    "sampleResume",
    "latencyEnd",
    "stopTest",
    "askThreadsToStop",
    "stop",
    "sleep",
    "put",
    "remove",
    "putObject",
    "putAll",
    "addArgument",
    "addEncodedArgument",
    "addNonEncodedArgument",
    "entrySet",
    "containsKey",
    "print",
    "println",
    "printf",
    "flush",
    "toString",
    "equals",
    "hashCode",
    "trace",
    "debug",
    "info",
    "warn",
    "error",
];

/// Creates a machine without a script.
fn machine(scope: &mut dyn Scope) -> Machine<'_> {
    static NO_SCRIPT: LazyLock<Tree> = LazyLock::new(|| Tree {
        dialect: Dialect::BeanShell,
        text: Arc::from(""),
        statements: Vec::new(),
        names: Vec::new(),
        classes: Vec::new(),
        warnings: Vec::new(),
        accesses_request: false,
    });
    Machine::new(&NO_SCRIPT, scope)
}

/// Whether a method of this name may be called on one of JMeter's objects.
pub(crate) fn is_method_of_jmeter(name: &str) -> bool {
    known::is_method(name)
}

/// Whether `name` is the qualified name of a supported class and, if `method` is given, whether the class has this static
/// method.
pub(crate) fn is_class(name: &str, method: Option<&str>) -> bool {
    Class::qualified(name)
        .is_some_and(|class| method.is_none_or(|method| known::has_static(class.name(), method)))
}

impl Objects {
    /// Converts the object of a binding to a value for JavaScript.
    pub fn bound(&mut self, binding: &Binding) -> BridgeValue {
        self.export_value(super::run::value_of(binding)).unwrap_or(BridgeValue::Null)
    }

    /// Calls a method of an object.
    pub fn call(
        &mut self,
        scope: &mut dyn Scope,
        object: u32,
        method: &str,
        arguments: Vec<BridgeValue>,
    ) -> Result<BridgeValue, BridgeError> {
        let object = self.object(object)?;
        self.call_value(scope, object, method, arguments)
    }

    /// Calls a method of a string.
    pub fn call_of_text(
        &mut self,
        scope: &mut dyn Scope,
        text: &str,
        method: &str,
        arguments: Vec<BridgeValue>,
    ) -> Result<BridgeValue, BridgeError> {
        self.call_value(scope, V::text(text), method, arguments)
    }

    fn call_value(
        &mut self,
        scope: &mut dyn Scope,
        object: V,
        method: &str,
        arguments: Vec<BridgeValue>,
    ) -> Result<BridgeValue, BridgeError> {
        let arguments = self.import_arguments(arguments)?;
        let value = with_machine(scope, |machine| machine.dispatch(&object, method, &arguments))?;
        self.export_value(value)
    }

    /// Creates an object of a class.
    pub fn construct(
        &mut self,
        scope: &mut dyn Scope,
        class: u32,
        arguments: Vec<BridgeValue>,
    ) -> Result<BridgeValue, BridgeError> {
        let V::Class(class) = self.object(class)? else {
            return Err(BridgeError::Unsupported("`new` of something that is not a class".into()));
        };
        let arguments = self.import_arguments(arguments)?;
        let value = with_machine(scope, |machine| library::create::new(machine, class, &arguments))?;
        self.export_value(value)
    }

    /// Evaluates `object.name` if it is not a method: returns the value of a getter, or a constant of a class.
    pub fn property(
        &mut self,
        scope: &mut dyn Scope,
        object: u32,
        name: &str,
    ) -> Result<BridgeValue, BridgeError> {
        let object = self.object(object)?;
        if let (V::List(list), "length") = (&object, name) {
            return Ok(BridgeValue::Number(list.items.len() as f64));
        }
        let value = with_machine(scope, |machine| places::property(machine, &object, name))?;
        self.export_value(value)
    }

    /// Evaluates `object[at]` for a list or an array.
    pub fn item(&mut self, scope: &mut dyn Scope, object: u32, at: u32) -> Result<BridgeValue, BridgeError> {
        let object = self.object(object)?;
        let index = V::int(i64::from(at));
        let value = with_machine(scope, |machine| match &object {
            V::List(_) => machine.invoke(&object, "get", vec![index]),
            _ => places::index(machine, &object, &index),
        })?;
        self.export_value(value)
    }

    /// Whether `object.name` is a method.
    pub fn has_method(&self, object: u32, name: &str) -> bool {
        match self.0.get(object as usize) {
            Some(V::Class(class)) => known::has_static(class.name(), name),
            Some(V::Host(_)) => {
                let is_bean = ["get", "set", "is"].iter().any(|start| {
                    name.strip_prefix(start)
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_uppercase))
                });
                is_bean || PLAIN_METHODS.contains(&name)
            }
            Some(V::Map(map)) => {
                known::is_method(name) && map.get(&V::text(name)).is_none_or(|value| value.is_null())
            }
            // In JavaScript, `length` of an array is a property.
            Some(V::List(_) | V::Array(_)) if name == "length" => false,
            _ => known::is_method(name) && !matches!(name, "name" | "bytes" | "class"),
        }
    }

    /// Converts an object to a string.
    pub fn text(&self, scope: &mut dyn Scope, object: u32) -> Result<String, BridgeError> {
        let object = self.object(object)?;
        if matches!(object, V::Host(_) | V::Array(_) | V::Closure(_)) {
            return Err(BridgeError::Unsupported(format!("the text of {}", object.kind())));
        }
        let mut machine = machine(scope);
        print::java(&mut machine, &object).map_err(|fault| failure(&mut machine, fault))
    }

    /// The class with this qualified name.
    pub fn class(&mut self, name: &str) -> Option<BridgeValue> {
        let class = Class::qualified(name)?;
        self.export_value(V::Class(class)).ok()
    }

    fn object(&self, number: u32) -> Result<V, BridgeError> {
        let found = self.0.get(number as usize).cloned();
        found.ok_or_else(|| BridgeError::Unsupported("an object of another run".into()))
    }

    fn import_arguments(&self, arguments: Vec<BridgeValue>) -> Result<Vec<V>, BridgeError> {
        let value = |argument| {
            Ok(match argument {
                BridgeValue::Absent | BridgeValue::Null => V::NULL,
                BridgeValue::Truth(truth) => V::truth(truth),
                BridgeValue::Number(number) if number == f64::from(number as i32) => V::int(number as i64),
                BridgeValue::Number(number) if number == (number as i64) as f64 && number.abs() < 9e15 => {
                    V::long(number as i64)
                }
                BridgeValue::Number(number) => V::double(number),
                BridgeValue::Text(text) => V::text(text),
                BridgeValue::Texts(texts) => V::array(texts.iter().map(V::text).collect(), Base::Text),
                BridgeValue::Object(number) | BridgeValue::Class(number) => self.object(number)?,
            })
        };
        arguments.into_iter().map(value).collect()
    }

    fn export_value(&mut self, value: V) -> Result<BridgeValue, BridgeError> {
        Ok(match value {
            V::Plain(value) => match value {
                Value::Null => BridgeValue::Null,
                Value::Boolean(truth) => BridgeValue::Truth(truth),
                Value::Text(text) => BridgeValue::Text(text.to_string()),
                Value::Character(_) => BridgeValue::Text(value.to_java_string()),
                Value::Integer(number) => BridgeValue::Number(f64::from(number)),
                Value::Long(number) => BridgeValue::Number(number as f64),
                Value::Float(number) => BridgeValue::Number(f64::from(number)),
                Value::Double(number) => BridgeValue::Number(number),
                other => {
                    return Err(BridgeError::Unsupported(format!("{} in JavaScript", other.type_name())));
                }
            },
            V::Void => BridgeValue::Null,
            V::Host(host) => {
                BridgeValue::Object(HOSTS.iter().position(|known| *known == host).unwrap_or(0) as u32)
            }
            V::Array(array) if array.of == Base::Text => {
                let items = array.items.borrow();
                let texts = items.iter().map(|item| item.as_text().map(str::to_owned));
                match texts.collect::<Option<Vec<String>>>() {
                    Some(texts) => BridgeValue::Texts(texts),
                    None => return Err(BridgeError::Unsupported("an array with null in JavaScript".into())),
                }
            }
            value => {
                let is_class = matches!(value, V::Class(_));
                let number = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
                self.0.push(value);
                if is_class { BridgeValue::Class(number) } else { BridgeValue::Object(number) }
            }
        })
    }
}

fn with_machine(
    scope: &mut dyn Scope,
    work: impl FnOnce(&mut Machine<'_>) -> super::fault::Outcome,
) -> Result<V, BridgeError> {
    let mut machine = machine(scope);
    let value = work(&mut machine).and_then(|value| machine.check_limits().map(|()| value));
    value.map_err(|fault| failure(&mut machine, fault))
}

fn failure(machine: &mut Machine<'_>, fault: Fault) -> BridgeError {
    match fault.cause {
        Cause::Unsupported(what) => BridgeError::Unsupported(what),
        Cause::Evaluation(message) => BridgeError::Thrown("java.lang.Error".into(), message),
        Cause::Limit(what) => BridgeError::Limit(what),
        Cause::Thrown(exception) => {
            let text = print::java(machine, &exception).unwrap_or_default();
            match text.split_once(": ") {
                Some((class, message)) => BridgeError::Thrown(class.to_owned(), message.to_owned()),
                None => BridgeError::Thrown(text, String::new()),
            }
        }
    }
}
