//! Objects of the JDK's and Groovy's classes.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::classes::Class;
use super::random::JavaRandom;
use super::value::V;

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
    Matcher(super::patterns::Matcher),
    Slurper,
    Json(RefCell<V>),
    File(PathBuf),
    /// A writer or output stream of some class; those around one another share what is behind them.
    Writer(Class, std::rc::Rc<Sink>),
    /// A reader or input stream of some class, with the lines that are left.
    Reader(Class, std::rc::Rc<RefCell<std::collections::VecDeque<String>>>),
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
    Iterator(RefCell<Vec<V>>),
    Atomic(Cell<i64>, Class),
    Uuid(String),
    Charset(String),
    Locale,
    /// A result of a sampler inside another.
    SubResult(usize),
    /// An object of a class that the script defines: its fields.
    Own(std::rc::Rc<super::machine::Frame>),
    /// An object of a class that has a file of its own.
    Library(Box<dyn super::library::instance::Instance>),
    Plain,
}

impl Object {
    pub fn class(&self) -> Class {
        Class::known(match self {
            Object::Builder(_, class)
            | Object::Exception(class, ..)
            | Object::Atomic(_, class)
            | Object::Writer(class, _)
            | Object::Reader(class, _) => return *class,
            Object::Library(instance) => return instance.class(),
            Object::Own(frame) => return frame.class().unwrap_or_else(|| Class::known("Object")),
            Object::LazyText(_) => "GString",
            Object::Random(_) => "Random",
            Object::Date(_) => "Date",
            Object::Calendar(..) => "Calendar",
            Object::Zone(..) => "TimeZone",
            Object::DateFormat(..) => "SimpleDateFormat",
            Object::NumberFormat(_) => "DecimalFormat",
            Object::Temporal(kind, ..) => match kind {
                Temporal::Date => "LocalDate",
                Temporal::Time => "LocalTime",
                Temporal::DateTime => "LocalDateTime",
                Temporal::Zoned => "ZonedDateTime",
                Temporal::Instant => "Instant",
            },
            Object::Formatter(_) => "DateTimeFormatter",
            Object::Unit(_) => "ChronoUnit",
            Object::Pattern(_) => "Pattern",
            Object::Matcher(_) => "Matcher",
            Object::Slurper => "JsonSlurper",
            Object::Json(_) => "JsonBuilder",
            Object::File(_) => "File",
            Object::Digest(..) => "MessageDigest",
            Object::Mac(..) => "Mac",
            Object::Key(_) => "SecretKeySpec",
            Object::Encoder(..) | Object::Decoder(_) => "Base64",
            Object::Hex => "Hex",
            Object::Iterator(_) => "Iterator",
            Object::Uuid(_) => "UUID",
            Object::Charset(_) => "Charset",
            Object::Locale => "Locale",
            Object::SubResult(_) => "SampleResult",
            Object::Entry(..) | Object::Plain => "Object",
        })
    }

    /// The object of a class that has a file of its own.
    pub fn library(&self) -> Option<&dyn super::library::instance::Instance> {
        match self {
            Object::Library(instance) => Some(&**instance),
            _ => None,
        }
    }

    /// The point in time it stands for, in milliseconds since 1970.
    pub fn instant(&self) -> Option<i64> {
        match self {
            Object::Date(ms) | Object::Calendar(ms, _) => Some(ms.get()),
            Object::Temporal(_, time, zone) => {
                time.to_zoned(zone.clone()).ok().map(|zoned| zoned.timestamp().as_millisecond())
            }
            _ => None,
        }
    }

    pub fn equals(&self, other: &Object) -> bool {
        match (self, other) {
            (Object::Date(a), Object::Date(b)) => a == b,
            (Object::Temporal(a, x, _), Object::Temporal(b, y, _)) => a == b && x == y,
            (Object::Uuid(a), Object::Uuid(b)) | (Object::Charset(a), Object::Charset(b)) => a == b,
            (Object::File(a), Object::File(b)) => a == b,
            (Object::Unit(a), Object::Unit(b)) => a == b,
            (Object::Own(a), Object::Own(b)) => std::rc::Rc::ptr_eq(a, b),
            (Object::Entry(a, x), Object::Entry(b, y)) => a.equals(b) && x.equals(y),
            _ => false,
        }
    }
}
