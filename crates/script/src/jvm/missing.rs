//! Errors of method calls. The *original class* is the class of Java or Groovy that an object of this interpreter represents.
//! Groovy throws an exception for a method that the original class does not have. A method that the original class has, but
//! that this interpreter does not implement, is reported as unsupported.
//!
//! `groovy_methods.txt` lists the public methods of the classes that scripts use, as Groovy 3.0.20 on Java 17 reports them
//! (`MetaClass.getMetaMethods()` and reflection). Each class has one line for Java's methods and one for Groovy's methods. A
//! method is followed by its possible numbers of arguments as single digits; 9 means variable arguments. The methods of
//! `Object` are not repeated.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::fault::{Cause, Fault, thrown, unsupported};
use super::machine::Machine;
use super::objects::{Object, Temporal};
use super::value::{Host, V};
use super::{print, types};
use crate::Value;

type Methods = HashMap<&'static str, HashMap<&'static str, &'static str>>;

/// The error for a method that is not implemented for these arguments.
pub(super) fn unknown(object: &V, method: &str) -> Fault {
    unsupported(format!("`{method}` of {} with these arguments", object.kind()))
}

/// Java's and Groovy's methods by class, each with its possible numbers of arguments.
struct Table {
    java: Methods,
    groovy: Methods,
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = Table { java: HashMap::new(), groovy: HashMap::new() };
        for line in include_str!("groovy_methods.txt").lines() {
            let mut words = line.split(' ');
            let (Some(class), Some(kind)) = (words.next(), words.next()) else { continue };
            let methods = words.filter_map(|word| word.split_once('/')).collect();
            let rows = if kind == "java" { &mut table.java } else { &mut table.groovy };
            rows.insert(class, methods);
        }
        table
    })
}

/// Whether one of the original classes has the method with this number of arguments; `None` if they have no row.
pub(super) fn original_has(rows: &[&str], method: &str, arguments: usize, groovy: bool) -> Option<bool> {
    let table = table();
    if !rows.iter().any(|row| table.java.contains_key(row)) {
        return None;
    }
    let fits = |counts: &&str| {
        counts.bytes().any(|count| {
            let count = usize::from(count - b'0');
            // Groovy passes null if a call omits the only argument.
            count == arguments || count == 9 || (groovy && count == 1 && arguments == 0)
        })
    };
    let found = |methods: &Methods| {
        rows.iter()
            .chain(&["Object"])
            .any(|row| methods.get(row).and_then(|known| known.get(method)).is_some_and(fits))
    };
    Some(found(&table.java) || (groovy && found(&table.groovy)))
}

/// The rows of the classes that a value may represent. A list also represents a `LinkedList` or a stream, for example.
pub(super) fn rows_of(value: &V) -> &'static [&'static str] {
    match value {
        V::List(list) => match list.set {
            None => {
                &["ArrayList", "LinkedList", "Vector", "IntRange", "Stream", "IntStream", "LinkedHashSet"]
            }
            Some(_) => &["LinkedHashSet", "HashSet", "TreeSet"],
        },
        V::Map(_) => &["LinkedHashMap", "HashMap", "TreeMap", "Properties", "ConcurrentHashMap"],
        V::Array(array) if array.of == super::tree::Base::Byte => &["byte[]", "Object[]"],
        V::Array(_) => &["Object[]"],
        V::Closure(_) => &["Closure"],
        V::Object(object) => match &**object {
            Object::Plain => &["Object"],
            Object::Builder(..) => &["StringBuilder", "StringBuffer"],
            Object::Date(_) => &["Date"],
            Object::Calendar(..) => &["GregorianCalendar"],
            Object::DateFormat(..) => &["SimpleDateFormat"],
            Object::NumberFormat(_) => &["DecimalFormat"],
            Object::Temporal(kind, ..) => match kind {
                Temporal::Date => &["LocalDate"],
                Temporal::Time => &["LocalTime"],
                Temporal::DateTime => &["LocalDateTime"],
                Temporal::Instant => &["Instant"],
                // The value may also be an OffsetDateTime.
                Temporal::Zoned => &[],
            },
            Object::Formatter(_) => &["DateTimeFormatter"],
            Object::Pattern(_) => &["Pattern"],
            Object::Matcher(_) => &["Matcher"],
            Object::Slurper => &["JsonSlurper"],
            Object::Json(_) => &["JsonBuilder"],
            Object::Digest(..) => &["MessageDigest"],
            Object::Entry(..) => &["Entry"],
            Object::Exception(..) => &["Exception"],
            Object::Iterator(_) => &["Iterator", "StringTokenizer"],
            Object::Atomic(..) => &["AtomicInteger", "AtomicLong"],
            Object::Uuid(_) => &["UUID"],
            Object::Library(instance) => match instance.class().name() {
                "NodeChild" | "Attribute" => &["NodeChild"],
                "NodeChildren" | "FilteredNodeChildren" | "Attributes" | "NoChildren" => &["NodeChildren"],
                "Node" => &["Node"],
                "NodeList" => &["NodeList"],
                "XmlSlurper" => &["XmlSlurper"],
                "XmlParser" => &["XmlParser"],
                "SampleResult" => &["SampleResult"],
                "Duration" => &["Duration"],
                "TimeDuration" => &["TimeDuration"],
                "DatumDependentDuration" => &["DatumDependentDuration"],
                "TimeDatumDependentDuration" => &["TimeDatumDependentDuration"],
                _ => &[],
            },
            // The object may represent several classes, or the methods of its class are not listed.
            _ => &[],
        },
        V::Plain(plain) => match plain {
            Value::Text(_) => &["String", "GString"],
            Value::Integer(_) => &["Integer"],
            Value::Long(_) => &["Long"],
            Value::Double(_) => &["Double"],
            Value::Float(_) => &["Float"],
            Value::Decimal(_) => &["BigDecimal"],
            Value::BigInteger(_) => &["BigInteger"],
            Value::Boolean(_) => &["Boolean"],
            Value::Character(_) => &["Character"],
            _ => &[],
        },
        V::Void | V::Class(_) | V::Host(_) => &[],
    }
}

/// The result of `getClass().getName()`, for messages.
pub(super) fn class_name(value: &V) -> String {
    match value {
        V::Host(Host::Vars) => "org.apache.jmeter.threads.JMeterVariables".into(),
        V::Host(Host::Context) => "org.apache.jmeter.threads.JMeterContext".into(),
        V::Host(Host::Props) => "java.util.Properties".into(),
        V::Array(array) => array.of.array_class_name(),
        V::Object(object) if matches!(&**object, Object::Entry(..)) => "java.util.LinkedHashMap$Entry".into(),
        V::Host(host) => {
            types::host_class(*host).map_or_else(|| value.kind(), super::classes::Class::qualified_name)
        }
        V::Closure(_) => "Script1$_run_closure1".into(),
        other => types::class_of(other).map_or_else(|| other.kind(), super::classes::Class::qualified_name),
    }
}

fn simple_name(value: &V) -> String {
    match value {
        V::Plain(Value::Null) => "null".into(),
        V::Array(array) if array.of == super::tree::Base::Text => "String[]".into(),
        V::Array(_) => "Object[]".into(),
        V::Object(object) if matches!(&**object, Object::Entry(..)) => "Entry".into(),
        other => {
            let name = class_name(other);
            name.rsplit('.').next().unwrap_or(&name).to_owned()
        }
    }
}

/// Groovy's exception for a method that the object does not have with these arguments, without Groovy's suggestions of
/// similar names.
pub(super) fn exception(machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Fault {
    signature(machine, &class_name(object), method, arguments)
}

fn signature(machine: &mut Machine<'_>, class: &str, method: &str, arguments: &[V]) -> Fault {
    let kinds: Vec<String> = arguments.iter().map(simple_name).collect();
    let values: Vec<String> = arguments
        .iter()
        .map(|value| print::groovy(machine, value).unwrap_or_else(|_| class_name(value)))
        .collect();
    thrown(
        "MissingMethodException",
        format!(
            "No signature of method: {class}.{method}() is applicable for argument types: ({}) values: [{}]",
            kinds.join(", "),
            values.join(", ")
        ),
    )
}

/// Groovy's exception for a method that the script itself does not have.
pub(super) fn script_exception(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Fault {
    signature(machine, "Script1", method, arguments)
}

/// BeanShell's error for an unknown function, which a script cannot catch.
pub(super) fn unknown_command(name: &str, arguments: &[V]) -> Fault {
    let kind = |value: &V| match value {
        V::Plain(Value::Integer(_)) => "int".to_owned(),
        V::Plain(Value::Long(_)) => "long".to_owned(),
        V::Plain(Value::Double(_)) => "double".to_owned(),
        V::Plain(Value::Boolean(_)) => "boolean".to_owned(),
        V::Plain(Value::Character(_)) => "char".to_owned(),
        V::Plain(Value::Null) => "null".to_owned(),
        other => class_name(other),
    };
    let kinds: Vec<String> = arguments.iter().map(kind).collect();
    let kinds = if kinds.is_empty() { String::new() } else { format!(" {} ", kinds.join(", ")) };
    Fault { cause: Cause::Evaluation(format!("Command not found: {name}({kinds})")), at: None }
}

/// Replaces the error of an unsupported call by the language's own error if the original class does not have the method
/// either.
pub(super) fn explain(
    machine: &mut Machine<'_>,
    fault: Fault,
    object: &V,
    method: &str,
    arguments: &[V],
) -> Fault {
    let Cause::Unsupported(_) = &fault.cause else { return fault };
    let groovy = machine.groovy();
    let missing = original_has(rows_of(object), method, arguments.len(), groovy) == Some(false);
    match (missing, groovy) {
        (true, true) => exception(machine, object, method, arguments),
        (true, false) => {
            let class = class_name(object);
            let kinds: Vec<String> = arguments.iter().map(class_name).collect();
            Fault {
                cause: Cause::Evaluation(format!(
                    "Error in method invocation: Method {method}( {}) not found in class'{class}'",
                    kinds.iter().map(|kind| format!("{kind} ")).collect::<String>()
                )),
                at: fault.at,
            }
        }
        (false, _) => fault,
    }
}
