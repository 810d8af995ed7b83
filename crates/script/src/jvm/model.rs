//! The types that refer to each other: values, objects, errors, variables, and the state of a running script.
//!
//! Their methods are in the files of later layers: `value`, `objects`, `fault`, `machine`, `patterns`.

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
use crate::{RequestArgument, RequestCookie, RequestFile, Scope, ScriptResult, Value};

/// JMeter's objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Host {
    Vars,
    Props,
    Log,
    Context,
    /// The result of the current sample.
    Sample,
    /// The result of the preceding sample, in a sampler's script.
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

/// A value of a running script. The name is short because almost every line of the library uses it.
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

/// The order in which a set or a map is iterated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// Insertion order.
    Added,
    /// The order of Java's hash tables.
    Hash,
    Sorted,
}

#[derive(Debug)]
pub(super) struct List {
    pub items: Counted<V>,
    /// The index of the items of a set.
    pub index: RefCell<Index>,
    /// Number of changes of `items` when the index was last updated.
    pub indexed_changes: Cell<u64>,
    /// The order of iteration of a set; `None` for a list.
    pub set: Option<Order>,
    /// Whether the list cannot be changed.
    pub fixed: bool,
    /// The text of a range; `None` for other lists.
    pub range: Option<Rc<str>>,
    /// Whether the list is a `JSONArray` of json-smart, whose text is JSON.
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
    /// Maximum number of entries so far. It determines the order of iteration, because Java's hash tables do not shrink.
    pub most: Cell<usize>,
}

#[derive(Debug, Clone)]
pub(super) struct Closure {
    pub function: Arc<Function>,
    pub frame: Rc<Frame>,
}

/// The kind of a date or time of `java.time`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Temporal {
    Date,
    Time,
    DateTime,
    Zoned,
    Instant,
}

/// The destination of writers.
#[derive(Debug)]
pub(super) struct Sink {
    /// The file; `None` if the text stays in memory (`StringWriter`).
    pub path: Option<PathBuf>,
    pub open: Cell<bool>,
    /// Bytes that have not been written to the file yet.
    pub written: RefCell<Vec<u8>>,
}

#[derive(Debug)]
pub(super) enum Object {
    /// A `StringBuilder` or `StringBuffer`.
    Builder(RefCell<String>, Class),
    /// A string of these parts. The closures among the parts are called each time the string is used.
    LazyText(Vec<V>),
    Random(RefCell<JavaRandom>),
    /// A date, in milliseconds since 1970.
    Date(Cell<i64>),
    Calendar(Cell<i64>, RefCell<TimeZone>),
    Zone(TimeZone, String),
    /// A date format: its pattern and its time zone.
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
    /// A writer or output stream, by its class. Writers that wrap each other share their destination.
    Writer(Class, Rc<Sink>),
    /// A reader or input stream, by its class, with the lines that have not been read yet.
    Reader(Class, Rc<RefCell<VecDeque<String>>>),
    Digest(String, RefCell<Vec<u8>>),
    /// A message authentication code: its algorithm, its key, and its data.
    Mac(String, RefCell<Vec<u8>>, RefCell<Vec<u8>>),
    Key(Vec<u8>),
    /// A Base64 encoder: whether it uses the URL alphabet, and whether it adds padding.
    Encoder(bool, bool),
    Decoder(bool),
    Hex,
    /// An exception: its class, its message, and its cause.
    Exception(Class, Option<String>, V),
    Entry(V, V),
    Iterator(RefCell<VecDeque<V>>),
    Atomic(Cell<i64>, Class),
    Uuid(String),
    Charset(String),
    Locale,
    /// A sub-result of the current sample result, by its index.
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
    /// Matches that were found in advance and follow the match that `find` returned last.
    pub ahead: RefCell<FoundAhead>,
    /// All matches; `None` until they are requested.
    pub all: RefCell<Option<Rc<Vec<Groups>>>>,
    /// A byte offset in the text, and the number of UTF-16 units before it.
    pub counted: Cell<(usize, usize)>,
    /// Byte offset at which `appendReplacement` continues.
    pub copied: Cell<usize>,
}

/// Matches that have been found in advance.
#[derive(Debug, Default)]
pub(super) struct FoundAhead {
    /// The position of `find` for which the matches are valid.
    pub from: usize,
    /// Position at which the search after these matches continues.
    pub place: usize,
    /// Number of matches to find in the next search.
    pub batch_len: usize,
    pub found: VecDeque<Groups>,
}

/// An error and, as soon as it is known, its offset in the script.
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
    /// An error of the interpreter of BeanShell or JEXL, which a script cannot catch.
    Evaluation(String),
    /// A limit on time or size has been reached.
    Limit(String),
}

pub(super) type Outcome = Result<V, Fault>;

#[derive(Debug)]
pub(super) struct Variable {
    pub name: Name,
    pub value: V,
    pub declared: Type,
}

/// The kind of variables in a frame.
#[derive(Debug, Default)]
pub(super) enum Role {
    /// Variables of a block, a call, or the script.
    #[default]
    Variables,
    /// The fields of an object of a class that the script defines.
    Fields(Arc<Definition>),
    /// The static fields of a class that the script defines.
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
    /// The static fields of the script's classes, created on first use.
    pub statics: HashMap<Class, Rc<Frame>>,
    pub it: Option<Name>,
    /// Frames that closures refer to. A frame may also contain the closure that refers to it, and such a cycle would never be
    /// freed.
    pub captured: RefCell<Vec<Weak<Frame>>>,
    /// Whether the script has stored an object in the user's variables. The object may contain closures, which outlive the
    /// script.
    pub leaves_objects: bool,
    /// Whether the script has read or stored an object in the user's variables. The script may have changed the object.
    pub reads_objects: bool,
    /// JSON objects that closures of a `JsonBuilder` are building, the innermost last.
    pub builders: Vec<Rc<Map>>,
    /// The objects of the enclosing calls of `with` and `tap`, the innermost last. The closures call methods of these objects
    /// by name, without the object.
    pub delegates: Vec<V>,
    /// Number of closures of `use(TimeCategory)` that are running.
    pub time_categories: u32,
    /// The results that the script added to JMeter's results. For each: whether it was added to the previous result, its index
    /// among the sub-results, and the object.
    pub added_results: Vec<(bool, usize, Rc<ResultObject>)>,
    /// The string whose length was requested last, and its number of UTF-16 units.
    pub measured: Option<(Arc<str>, usize)>,
    /// While an assertion is evaluated: the values of its parts, with their offsets in the script.
    pub recorded: Option<Vec<(u32, V)>>,
    /// The origin of the last exception, as named in BeanShell's message.
    pub origin: Option<String>,
}

/// An object of a library class that is implemented in its own source file.
pub trait Instance: Debug {
    /// The class of the object.
    fn class(&self) -> Class;

    /// Calls a method; `object` is the value that contains this instance.
    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome;

    /// The cookie that the object represents.
    fn cookie(&self) -> Option<RequestCookie> {
        None
    }

    /// The argument that the object represents.
    fn argument(&self) -> Option<RequestArgument> {
        None
    }

    /// The arguments that the object contains.
    fn arguments(&self) -> Option<Vec<RequestArgument>> {
        None
    }

    /// The header that the object represents, name and value.
    fn header(&self) -> Option<(String, String)> {
        None
    }

    /// The headers of a header manager that the script created.
    fn headers(&self) -> Option<Vec<(String, String)>> {
        None
    }

    /// The sample result that the object represents.
    fn result_object(&self) -> Option<Rc<ResultObject>> {
        None
    }

    /// The duration that the object represents: years, months, days, hours, minutes, seconds and milliseconds, followed
    /// by two flags (1 or 0). The first flag is whether it was created from years or months, the second whether it was
    /// created from hours or smaller units.
    fn duration(&self) -> Option<[i32; 9]> {
        None
    }

    /// The length in milliseconds, if objects of the class are compared by length.
    fn length_ms(&self) -> Option<i64> {
        None
    }

    /// The bytes that the object contains, or that remain to be read.
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

    /// The enumeration constant that the object represents: its class and its number.
    fn constant(&self) -> Option<(&'static str, i64)> {
        None
    }

    /// The file that the object represents.
    fn file(&self) -> Option<RequestFile> {
        None
    }

    /// Moves the contained values to `values` when the object is freed.
    fn take_values(&mut self, _values: &mut Vec<V>) {}

    /// The items, if the object is a sequence.
    fn items(&self) -> Option<Vec<V>> {
        None
    }

    /// Whether the object is true as a condition in Groovy.
    fn is_true(&self) -> bool {
        true
    }

    /// Whether the object is equal to another value for the operator `==`.
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

    /// The index of an XML node's element in the document with the key `document`; `None` for nodes of other documents.
    fn place_in(&self, _document: &usize) -> Option<usize> {
        None
    }

    /// Evaluates `object.name` if the class defines its own properties. `None` if the caller must call the getter instead.
    fn property(&self, _machine: &mut Machine<'_>, _name: &str) -> Option<Outcome> {
        None
    }

    /// Executes `object.name = value` if the class defines its own properties. `None` if the caller must call the setter
    /// instead.
    fn set_property(&self, _machine: &mut Machine<'_>, _name: &str, _value: &V) -> Option<Outcome> {
        None
    }

    /// Evaluates `object[index]`.
    fn index(&self, _machine: &mut Machine<'_>, _index: &V) -> Option<Outcome> {
        None
    }

    /// The result of `toString`.
    fn text(&self, _machine: &mut Machine<'_>) -> Result<String, Fault> {
        Err(Fault { cause: Cause::Unsupported(format!("the text of a {}", self.class().name())), at: None })
    }
}

/// Functions of later layers, which earlier layers call through this table instead of importing them. For example, operators
/// and the library call methods of any class, and closures of the script.
pub(super) struct Interpreter {
    /// Calls a method of an object; fails with Groovy's exception if the method does not exist in Java and Groovy either.
    pub invoke: fn(&mut Machine<'_>, &V, &str, Vec<V>) -> Outcome,
    /// Calls a method of an object; fails with [`Cause::Unsupported`] if it is not implemented here.
    pub dispatch: fn(&mut Machine<'_>, &V, &str, &[V]) -> Outcome,
    /// Evaluates `object[index]`.
    pub item: fn(&mut Machine<'_>, &V, &V) -> Outcome,
    /// Returns the text of an object that is neither a string nor a collection.
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

/// A sample result that the script created.
#[derive(Debug, Default)]
pub(in crate::jvm) struct ResultObject {
    /// The values of the result. `sub_results` is filled in when the result is added to one of JMeter's results.
    pub values: RefCell<ScriptResult>,
    /// The results that were added to this result, as objects of the script.
    pub subs: RefCell<Vec<Rc<ResultObject>>>,
    /// The result to which this result was added.
    pub parent: RefCell<Weak<ResultObject>>,
    /// The time of the call of `samplePause`, in milliseconds since 1970; 0 if the result is not paused.
    pub paused_ms: Cell<i64>,
}
