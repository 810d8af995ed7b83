//! The types that refer to each other: values, objects, errors, variables, and the state of a running script.
//!
//! Their methods are in the files above this one: `value`, `objects`, `fault`, `machine`, `patterns`.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::fmt::Debug;
use std::path::PathBuf;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::classes::Class;
use super::counted::Counted;
use super::index::Index;
use super::random::JavaRandom;
use super::table::Entries;
use super::tree::{Base, Definition, Function, Name, Operator, Tree, Type};
use crate::{MadeResult, RequestArgument, RequestCookie, RequestFile, Scope, Value};

/// JMeter's objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Host {
    Vars,
    Props,
    Log,
    Context,
    /// The result of the current sample.
    Sample,
    /// The result before, in a sampler.
    Previous,
    Sampler,
    Out,
    /// Standard error.
    Err,
    Assertion,
    Event,
    Thread,
    Engine,
    Group,
}

/// The value of a name.
#[derive(Debug, Clone)]
pub(super) enum V {
    Plain(Value),
    /// BeanShell's `void`.
    Void,
    List(Rc<List>),
    Array(Rc<Array>),
    Map(Rc<Map>),
    Closure(Rc<Closure>),
    Object(Rc<Object>),
    Class(Class),
    Host(Host),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// As added.
    Added,
    /// As Java's hash tables have it.
    Hash,
    Sorted,
}

#[derive(Debug)]
pub(super) struct List {
    pub items: Counted<V>,
    /// Of a set: the places of its items, as of so many changes.
    pub index: RefCell<Index>,
    pub indexed_changes: Cell<u64>,
    /// A set, and its order.
    pub set: Option<Order>,
    pub fixed: bool,
    /// Of a range: its text.
    pub range: Option<Rc<str>>,
    /// A `JSONArray` of json-smart, whose text is JSON.
    pub is_json: bool,
}

#[derive(Debug)]
pub(super) struct Array {
    pub items: Counted<V>,
    pub of: Base,
}

#[derive(Debug)]
pub(super) struct Map {
    pub entries: Entries<V, V>,
    pub order: Order,
    /// Greatest number of entries so far: tables do not shrink.
    pub most: Cell<usize>,
}

#[derive(Debug, Clone)]
pub(super) struct Closure {
    pub function: Arc<Function>,
    pub frame: Rc<Frame>,
}

/// What kind of date or time a value of `java.time` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Temporal {
    Date,
    Time,
    DateTime,
    Zoned,
    Instant,
}

/// Where writers write to.
#[derive(Debug)]
pub(super) struct Sink {
    /// The file; none: the text stays in memory (`StringWriter`).
    pub path: Option<PathBuf>,
    pub open: Cell<bool>,
    /// What has not been written to the file yet.
    pub written: RefCell<Vec<u8>>,
}

#[derive(Debug)]
pub(super) enum Object {
    /// `StringBuilder`, `StringBuffer`
    Builder(RefCell<String>, Class),
    /// A text of these parts, whose closures are called each time it is used.
    LazyText(Vec<V>),
    Random(RefCell<JavaRandom>),
    /// Milliseconds since 1970.
    Date(Cell<i64>),
    Calendar(Cell<i64>, RefCell<TimeZone>),
    Zone(TimeZone, String),
    /// Pattern and zone.
    DateFormat(String, RefCell<Option<TimeZone>>),
    NumberFormat(String),
    Temporal(Temporal, DateTime, TimeZone),
    Formatter(String),
    Unit(&'static str),
    Pattern(String),
    Matcher(Matcher),
    Slurper,
    Json(RefCell<V>),
    File(PathBuf),
    /// A writer or output stream of some class; those around one another share what is behind them.
    Writer(Class, Rc<Sink>),
    /// A reader or input stream of some class, with the lines that are left.
    Reader(Class, Rc<RefCell<VecDeque<String>>>),
    Digest(String, RefCell<Vec<u8>>),
    /// Algorithm, key, data.
    Mac(String, RefCell<Vec<u8>>, RefCell<Vec<u8>>),
    Key(Vec<u8>),
    /// An encoder or decoder of base 64: URL alphabet, padding.
    Encoder(bool, bool),
    Decoder(bool),
    Hex,
    /// Class, message, cause.
    Exception(Class, Option<String>, V),
    Entry(V, V),
    Iterator(RefCell<VecDeque<V>>),
    Atomic(Cell<i64>, Class),
    Uuid(String),
    Charset(String),
    Locale,
    /// A result of a sampler inside another.
    SubResult(usize),
    /// An object of a class that the script defines: its fields.
    Own(Rc<Frame>),
    /// An object of a class that implements [`Instance`].
    Library(Box<dyn Instance>),
    Plain,
}

/// The byte offsets of the groups of a match; the first is the whole match.
pub(super) type Groups = Vec<Option<(usize, usize)>>;

/// A `java.util.regex.Matcher`.
#[derive(Debug)]
pub(super) struct Matcher {
    pub text: Rc<str>,
    pub pattern: String,
    pub found: RefCell<Option<Groups>>,
    pub next: Cell<usize>,
    /// Matches behind the last one that `find` returned.
    pub ahead: RefCell<Ahead>,
    /// All matches, once something asked for them.
    pub all: RefCell<Option<Rc<Vec<Groups>>>>,
    /// A byte of the text and the units of UTF-16 before it.
    pub counted: Cell<(usize, usize)>,
    /// Where `appendReplacement` goes on.
    pub copied: Cell<usize>,
}

/// Matches that have been found before they are asked for.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    /// Where `find` continues when they are valid.
    pub from: usize,
    /// Where the search behind them continues.
    pub place: usize,
    pub at_once: usize,
    pub found: VecDeque<Groups>,
}

/// An error, and its offset in the script once that is known.
#[derive(Debug)]
pub(super) struct Fault {
    pub cause: Cause,
    pub at: Option<u32>,
}

#[derive(Debug)]
pub(super) enum Cause {
    /// An exception that the script may catch.
    Thrown(V),
    /// A construct that this interpreter does not support. A script catches it like an exception, see
    /// [`Fault::exception`].
    Unsupported(String),
    /// An error of BeanShell or JEXL itself, which a script cannot catch.
    Evaluation(String),
    /// A limit on time or size is reached.
    Limit(String),
}

pub(super) type Outcome = Result<V, Fault>;

#[derive(Debug)]
pub(super) struct Variable {
    pub name: Name,
    pub value: V,
    pub declared: Type,
}

/// What the variables of a frame are.
#[derive(Debug, Default)]
pub(super) enum Role {
    /// Those of a block, a call, or the script.
    #[default]
    Variables,
    /// The fields of an object of a class that the script defines.
    Fields(Arc<Definition>),
    /// The static fields of such a class.
    Statics(Arc<Definition>),
}

#[derive(Debug)]
pub(super) struct Frame {
    pub variables: RefCell<Vec<Variable>>,
    pub parent: Option<Rc<Frame>>,
    pub role: Role,
}

pub(super) struct Machine<'s> {
    pub interpreter: &'static Interpreter,
    pub tree: &'s Tree,
    pub scope: &'s mut dyn Scope,
    pub global: Rc<Frame>,
    pub methods: HashMap<Arc<str>, Arc<Function>>,
    /// The static fields of the script's classes, once they are used.
    pub statics: HashMap<Class, Rc<Frame>>,
    pub it: Option<Name>,
    /// Frames that closures refer to. Such a frame may hold the closure, so that neither would ever be freed.
    pub captured: RefCell<Vec<Weak<Frame>>>,
    /// A value of this run stays in the user's variables, maybe with closures.
    pub leaves_objects: bool,
    /// The script has read or set an object in the user's variables, so that it may have changed it.
    pub reads_objects: bool,
    /// Objects of JSON that closures are making, the innermost last.
    pub builders: Vec<Rc<Map>>,
    /// Objects whose methods the closures of `with` and `tap` call by their names alone, the innermost last.
    pub delegates: Vec<V>,
    /// How many closures of `use(TimeCategory)` are running.
    pub time_categories: u32,
    /// The results that the script added to those of JMeter: whether to the previous one, at which index, and the object.
    pub added_results: Vec<(bool, usize, Rc<Made>)>,
    /// The text whose length was asked for last, and its units of UTF-16.
    pub measured: Option<(Arc<str>, usize)>,
    /// The values of the parts of an assertion, by their offsets, while it is evaluated.
    pub recorded: Option<Vec<(u32, V)>>,
    /// What BeanShell's message names as the origin of the exception thrown last.
    pub origin: Option<String>,
}

/// An object of a library class that has its own file.
pub trait Instance: Debug {
    /// Its class.
    fn class(&self) -> Class;

    /// Calls a method; `object` is the instance as a value.
    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome;

    /// The cookie that it is.
    fn cookie(&self) -> Option<RequestCookie> {
        None
    }

    /// The argument that it is.
    fn argument(&self) -> Option<RequestArgument> {
        None
    }

    /// The arguments that it holds.
    fn arguments(&self) -> Option<Vec<RequestArgument>> {
        None
    }

    /// The header that it is, name and value.
    fn header(&self) -> Option<(String, String)> {
        None
    }

    /// The headers of a manager that the script made.
    fn headers(&self) -> Option<Vec<(String, String)>> {
        None
    }

    /// The sample result that it is.
    fn made_result(&self) -> Option<Rc<Made>> {
        None
    }

    /// The duration that it is: years, months, days, hours, minutes, seconds, milliseconds; whether it was made of years or
    /// months, and of hours or less.
    fn duration(&self) -> Option<[i32; 9]> {
        None
    }

    /// Its length in milliseconds, if objects are compared by it.
    fn length_ms(&self) -> Option<i64> {
        None
    }

    /// The bytes that it holds, or has left to read.
    fn bytes(&self) -> Option<Vec<u8>> {
        None
    }

    /// The length of a duration of `java.time` in nanoseconds.
    fn nanos(&self) -> Option<i128> {
        None
    }

    /// The years, months and days of a `Period`.
    fn period(&self) -> Option<[i64; 3]> {
        None
    }

    /// The constant of an enumeration that it is: its class and its number.
    fn constant(&self) -> Option<(&'static str, i64)> {
        None
    }

    /// The file that it is.
    fn file(&self) -> Option<RequestFile> {
        None
    }

    /// Moves the values that it holds to `values`, when it is freed.
    fn take_values(&mut self, _values: &mut Vec<V>) {}

    /// Its items, where it is a sequence.
    fn items(&self) -> Option<Vec<V>> {
        None
    }

    /// Whether it is true as a condition of Groovy.
    fn is_true(&self) -> bool {
        true
    }

    /// Whether `==` finds it equal to another value.
    fn is_equal(&self, _other: &V) -> bool {
        false
    }

    /// The text of XML content.
    fn own_text(&self) -> Option<String> {
        None
    }

    /// The document of XML content, with its declaration.
    fn xml(&self) -> Option<String> {
        None
    }

    /// The place of an XML node in the document that `document` identifies.
    fn place_in(&self, _document: &usize) -> Option<usize> {
        None
    }

    /// `object.name`, where the object decides itself what its properties are; `None`: they are its getters.
    fn property(&self, _machine: &mut Machine<'_>, _name: &str) -> Option<Outcome> {
        None
    }

    /// `object.name = value`, likewise.
    fn set_property(&self, _machine: &mut Machine<'_>, _name: &str, _value: &V) -> Option<Outcome> {
        None
    }

    /// `object[index]`
    fn index(&self, _machine: &mut Machine<'_>, _index: &V) -> Option<Outcome> {
        None
    }

    /// The result of `toString`.
    fn text(&self, _machine: &mut Machine<'_>) -> Result<String, Fault> {
        Err(Fault { cause: Cause::Unsupported(format!("the text of a {}", self.class().name())), at: None })
    }
}

/// The parts of the interpreter that lower files call through this table instead of importing them: operators and the
/// library call methods of any class, and classes and closures of the script.
pub(super) struct Interpreter {
    /// Calls a method of an object; Groovy's exception if the original class does not have the method.
    pub invoke: fn(&mut Machine<'_>, &V, &str, Vec<V>) -> Outcome,
    /// Calls a method of an object; [`Cause::Unsupported`] if it is not implemented here.
    pub dispatch: fn(&mut Machine<'_>, &V, &str, &[V]) -> Outcome,
    /// Evaluates `object[index]`.
    pub item: fn(&mut Machine<'_>, &V, &V) -> Outcome,
    /// Returns the text of an object that is neither a text nor a collection.
    pub object_text: fn(&mut Machine<'_>, &Object, &V) -> Result<String, Fault>,
    /// Calls a closure, or the `call` method of another object.
    pub call_value: fn(&mut Machine<'_>, &V, Vec<V>) -> Outcome,
    /// Calls a method of an object or class that the script defines; `None` if there is no such method.
    pub call_own: fn(&mut Machine<'_>, &V, &str, &[V]) -> Option<Outcome>,
    /// Applies an operator that a class of the script defines; `None` if there is no such class.
    pub own_operator: fn(&mut Machine<'_>, &V, Operator, &V) -> Option<Outcome>,
    /// Creates an object of a class that the script defines.
    pub construct: fn(&mut Machine<'_>, Class, Vec<V>) -> Outcome,
}

/// A sample result that the script made.
#[derive(Debug, Default)]
pub(in crate::jvm) struct Made {
    /// Its values; `sub_results` is filled in when it is added to a result of JMeter.
    pub values: RefCell<MadeResult>,
    /// The results added to it, as the script's objects.
    pub subs: RefCell<Vec<Rc<Made>>>,
    /// The result that it was added to.
    pub parent: RefCell<Weak<Made>>,
    /// When `samplePause` was called; 0: it is not paused.
    pub paused_ms: Cell<i64>,
}
