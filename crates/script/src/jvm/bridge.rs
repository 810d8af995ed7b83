//! Java's objects for JavaScript: the same classes and methods that Groovy and BeanShell see, called one by one.
//!
//! A JavaScript engine cannot hold values of this interpreter; it refers to an object by its number.

use std::sync::{Arc, LazyLock};

use super::classes::Class;
use super::fault::{Cause, Fault};
use super::machine::Machine;
use super::run::Binding;
use super::tree::{Base, Tree};
use super::value::{Host, V};
use super::{known, library, places, stack};
use crate::language::Dialect;
use crate::{Scope, Value};

/// JMeter's own objects, whose numbers are fixed: the first three are known to the prelude of JavaScript.
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

/// A value on its way between JavaScript and Java.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Passed {
    /// `undefined`
    Absent,
    Null,
    Truth(bool),
    Number(f64),
    Text(String),
    /// A `String[]`, on the way to JavaScript.
    Texts(Vec<String>),
    /// An object, by its number.
    Object(u32),
    /// A class, by its number.
    Class(u32),
}

/// The error of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// An exception: its class, its message.
    Thrown(String, String),
    /// A construct that this interpreter does not support.
    Unsupported(String),
    /// A limit, which ends the script.
    Limit(String),
}

/// A run of a script of JavaScript, whose calls of Java share the limits of one run.
pub(crate) struct Run(#[allow(dead_code, reason = "ends the run when it is dropped")] stack::Run);

/// Begins a run.
pub(crate) fn begin() -> Run {
    let run = stack::begin();
    super::patterns::renew_budget();
    Run(run)
}

/// `indexOf` and `lastIndexOf`, in a time that grows with the sum of the lengths.
pub(crate) fn position(text: &str, sought: &str, from: i64, last: bool) -> f64 {
    library::text_units::position(text, sought, Some(from), last).as_long().unwrap_or(-1) as f64
}

/// The positions of all occurrences that do not overlap.
pub(crate) fn positions(text: &str, sought: &str) -> Vec<f64> {
    let (mut units, mut counted) = (0, 0);
    let places = text.match_indices(sought).map(|(byte, _)| {
        units += text[counted..byte].encode_utf16().count();
        counted = byte;
        units as f64
    });
    places.collect()
}

/// The objects that a run of a script has got from Java.
#[derive(Debug)]
pub(crate) struct Objects(Vec<V>);

impl Default for Objects {
    fn default() -> Objects {
        Objects(HOSTS.iter().map(|host| V::Host(*host)).collect())
    }
}

/// How many objects have fixed numbers.
pub(crate) const HOST_COUNT: u32 = HOSTS.len() as u32;

/// The numbers of `vars`, `props`, `log`, `ctx`, and of the result that the script is about.
pub(crate) const FUNCTION_HOSTS: [u32; 5] = [0, 1, 2, 3, 4];

/// Methods of JMeter's objects whose names do not begin as those of a bean's.
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

/// A machine without a script.
fn machine(scope: &mut dyn Scope) -> Machine<'_> {
    static NO_SCRIPT: LazyLock<Tree> = LazyLock::new(|| Tree {
        dialect: Dialect::BeanShell,
        text: Arc::from(""),
        statements: Vec::new(),
        names: Vec::new(),
        classes: Vec::new(),
        warnings: Vec::new(),
        opens_request: false,
    });
    Machine::new(&NO_SCRIPT, scope)
}

/// Whether a method of that name may be called on one of JMeter's objects.
pub(crate) fn is_method_of_jmeter(name: &str) -> bool {
    known::is_method(name)
}

/// Whether `name`, qualified, is a class that scripts may use; with a method: whether it is one of its static methods.
pub(crate) fn is_class(name: &str, method: Option<&str>) -> bool {
    Class::qualified(name)
        .is_some_and(|class| method.is_none_or(|method| known::has_static(class.name(), method)))
}

impl Objects {
    /// The object of a binding, as it goes to JavaScript.
    pub fn bound(&mut self, binding: &Binding) -> Passed {
        self.given(super::run::value_of(binding)).unwrap_or(Passed::Null)
    }

    /// Calls a method of an object.
    pub fn call(
        &mut self,
        scope: &mut dyn Scope,
        object: u32,
        method: &str,
        arguments: Vec<Passed>,
    ) -> Result<Passed, Failure> {
        let object = self.object(object)?;
        self.call_of(scope, object, method, arguments)
    }

    /// Calls a method of a text.
    pub fn call_of_text(
        &mut self,
        scope: &mut dyn Scope,
        text: &str,
        method: &str,
        arguments: Vec<Passed>,
    ) -> Result<Passed, Failure> {
        self.call_of(scope, V::text(text), method, arguments)
    }

    fn call_of(
        &mut self,
        scope: &mut dyn Scope,
        object: V,
        method: &str,
        arguments: Vec<Passed>,
    ) -> Result<Passed, Failure> {
        let arguments = self.taken(arguments)?;
        let value = with_machine(scope, |machine| machine.dispatch(&object, method, &arguments))?;
        self.given(value)
    }

    /// Makes an object of a class.
    pub fn construct(
        &mut self,
        scope: &mut dyn Scope,
        class: u32,
        arguments: Vec<Passed>,
    ) -> Result<Passed, Failure> {
        let V::Class(class) = self.object(class)? else {
            return Err(Failure::Unsupported("`new` of something that is no class".into()));
        };
        let arguments = self.taken(arguments)?;
        let value = with_machine(scope, |machine| library::create::new(machine, class, &arguments))?;
        self.given(value)
    }

    /// `object.name` where it is no method: what the getter gives, or a constant of a class.
    pub fn property(&mut self, scope: &mut dyn Scope, object: u32, name: &str) -> Result<Passed, Failure> {
        let object = self.object(object)?;
        if let (V::List(list), "length") = (&object, name) {
            return Ok(Passed::Number(list.items.len() as f64));
        }
        let value = with_machine(scope, |machine| places::property(machine, &object, name))?;
        self.given(value)
    }

    /// `object[at]` of a list or an array.
    pub fn item(&mut self, scope: &mut dyn Scope, object: u32, at: u32) -> Result<Passed, Failure> {
        let object = self.object(object)?;
        let index = V::int(i64::from(at));
        let value = with_machine(scope, |machine| match &object {
            V::List(_) => machine.invoke(&object, "get", vec![index]),
            _ => places::index(machine, &object, &index),
        })?;
        self.given(value)
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
            // What JavaScript asks of an array.
            Some(V::List(_) | V::Array(_)) if name == "length" => false,
            _ => known::is_method(name) && !matches!(name, "name" | "bytes" | "class"),
        }
    }

    /// The object's text.
    pub fn text(&self, scope: &mut dyn Scope, object: u32) -> Result<String, Failure> {
        let object = self.object(object)?;
        if matches!(object, V::Host(_) | V::Array(_) | V::Closure(_)) {
            return Err(Failure::Unsupported(format!("the text of {}", object.kind())));
        }
        let mut machine = machine(scope);
        library::print::java(&mut machine, &object).map_err(|fault| failure(&mut machine, fault))
    }

    /// The class of a qualified name.
    pub fn class(&mut self, name: &str) -> Option<Passed> {
        let class = Class::qualified(name)?;
        self.given(V::Class(class)).ok()
    }

    fn object(&self, number: u32) -> Result<V, Failure> {
        let found = self.0.get(number as usize).cloned();
        found.ok_or_else(|| Failure::Unsupported("an object of another run".into()))
    }

    fn taken(&self, arguments: Vec<Passed>) -> Result<Vec<V>, Failure> {
        let value = |argument| {
            Ok(match argument {
                Passed::Absent | Passed::Null => V::NULL,
                Passed::Truth(truth) => V::truth(truth),
                Passed::Number(number) if number == f64::from(number as i32) => V::int(number as i64),
                Passed::Number(number) if number == (number as i64) as f64 && number.abs() < 9e15 => {
                    V::long(number as i64)
                }
                Passed::Number(number) => V::double(number),
                Passed::Text(text) => V::text(text),
                Passed::Texts(texts) => V::array(texts.iter().map(V::text).collect(), Base::Text),
                Passed::Object(number) | Passed::Class(number) => self.object(number)?,
            })
        };
        arguments.into_iter().map(value).collect()
    }

    fn given(&mut self, value: V) -> Result<Passed, Failure> {
        Ok(match value {
            V::Plain(value) => match value {
                Value::Null => Passed::Null,
                Value::Boolean(truth) => Passed::Truth(truth),
                Value::Text(text) => Passed::Text(text.to_string()),
                Value::Character(_) => Passed::Text(value.to_java_string()),
                Value::Integer(number) => Passed::Number(f64::from(number)),
                Value::Long(number) => Passed::Number(number as f64),
                Value::Float(number) => Passed::Number(f64::from(number)),
                Value::Double(number) => Passed::Number(number),
                other => return Err(Failure::Unsupported(format!("{} in JavaScript", other.type_name()))),
            },
            V::Void => Passed::Null,
            V::Host(host) => {
                Passed::Object(HOSTS.iter().position(|known| *known == host).unwrap_or(0) as u32)
            }
            V::Array(array) if array.of == Base::Text => {
                let items = array.items.borrow();
                let texts = items.iter().map(|item| item.as_text().map(str::to_owned));
                match texts.collect::<Option<Vec<String>>>() {
                    Some(texts) => Passed::Texts(texts),
                    None => return Err(Failure::Unsupported("an array with null in JavaScript".into())),
                }
            }
            value => {
                let is_class = matches!(value, V::Class(_));
                let number = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
                self.0.push(value);
                if is_class { Passed::Class(number) } else { Passed::Object(number) }
            }
        })
    }
}

fn with_machine(
    scope: &mut dyn Scope,
    work: impl FnOnce(&mut Machine<'_>) -> super::fault::Outcome,
) -> Result<V, Failure> {
    let mut machine = machine(scope);
    let value = work(&mut machine).and_then(|value| machine.check_limits().map(|()| value));
    value.map_err(|fault| failure(&mut machine, fault))
}

fn failure(machine: &mut Machine<'_>, fault: Fault) -> Failure {
    match fault.cause {
        Cause::Unsupported(what) => Failure::Unsupported(what),
        Cause::Evaluation(message) => Failure::Thrown("java.lang.Error".into(), message),
        Cause::Limit(what) => Failure::Limit(what),
        Cause::Thrown(exception) => {
            let text = library::print::java(machine, &exception).unwrap_or_default();
            match text.split_once(": ") {
                Some((class, message)) => Failure::Thrown(class.to_owned(), message.to_owned()),
                None => Failure::Thrown(text, String::new()),
            }
        }
    }
}
