//! Objects of the JDK's and Groovy's classes.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::classes::Class;
use super::model::{Frame, Instance, Role, Variable};
pub(super) use super::model::{Object, Sink, Temporal};
use super::release::FRAME_BYTES;
use super::stack::count_bytes;
use super::tree::Definition;

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
            Object::Entry(..) => "Entry",
            Object::Plain => "Object",
        })
    }

    /// The message of an exception.
    pub fn message(&self) -> Option<&str> {
        match self {
            Object::Exception(_, message, _) => message.as_deref(),
            _ => None,
        }
    }

    /// The object, if its class implements [`Instance`].
    pub fn library(&self) -> Option<&dyn Instance> {
        match self {
            Object::Library(instance) => Some(&**instance),
            _ => None,
        }
    }

    /// The point in time that the object represents, in milliseconds since 1970.
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
            (Object::Own(a), Object::Own(b)) => Rc::ptr_eq(a, b),
            (Object::Entry(a, x), Object::Entry(b, y)) => a.equals(b) && x.equals(y),
            _ => false,
        }
    }
}

impl Frame {
    pub fn new(variables: Vec<Variable>, parent: Option<Rc<Frame>>, role: Role) -> Frame {
        count_bytes(0, FRAME_BYTES);
        Frame { variables: RefCell::new(variables), parent, role }
    }

    /// The class definition whose fields the frame contains.
    pub fn definition(&self) -> Option<&Arc<Definition>> {
        match &self.role {
            Role::Variables => None,
            Role::Fields(definition) | Role::Statics(definition) => Some(definition),
        }
    }

    /// The class whose fields the frame contains.
    pub fn class(&self) -> Option<Class> {
        self.definition().map(|definition| definition.class)
    }
}
