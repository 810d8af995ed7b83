//! What the names in a script stand for: JMeter's objects, classes of the JDK, methods.

use super::Dialect;
use super::ast::{Host, Type};
use crate::Level;

/// Classes with static methods or constructors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Integer,
    Long,
    Double,
    Boolean,
    Text,
    Math,
    System,
    Uuid,
    Random,
}

/// A method of one of JMeter's objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostMethod {
    GetVariable,
    PutVariable,
    RemoveVariable,
    GetProperty,
    PutProperty,
    Log(Level),
    ThreadNumber,
    Sample(SampleField),
    SetSuccessful,
    SetResponseCode,
    SetResponseMessage,
    SetLabel,
}

/// A fact of a sample result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SampleField {
    Label,
    ResponseCode,
    ResponseMessage,
    ResponseData,
    ResponseHeaders,
    Url,
    Successful,
    Time,
    Latency,
    ConnectTime,
    StartTime,
    EndTime,
    Bytes,
    ThreadName,
}

/// JMeter's object of that name, if it is one in this language.
pub(crate) fn host(name: &str, dialect: Dialect) -> Option<Host> {
    Some(match name {
        "vars" => Host::Vars,
        "props" => Host::Props,
        "log" => Host::Log,
        "ctx" => Host::Context,
        "prev" if dialect == Dialect::Groovy || dialect == Dialect::BeanShell => Host::Sample,
        "SampleResult" if dialect == Dialect::Groovy || dialect == Dialect::BeanShell => Host::Sample,
        "sampleResult" if dialect.is_jexl() => Host::Sample,
        _ => return None,
    })
}

/// Names that JMeter sets and that this crate has nothing for.
pub(crate) fn is_foreign_object(name: &str, dialect: Dialect) -> bool {
    match name {
        "OUT" | "sampler" | "Sampler" => true,
        "void" => dialect == Dialect::BeanShell,
        "bsh" | "Parameters" | "FileName" | "AssertionResult" | "args" | "Label" | "ResponseCode"
        | "ResponseMessage" | "IsSuccess" | "Failure" | "FailureMessage" | "StopThread" | "ResponseData"
        | "SampleLabel" => !dialect.is_jexl(),
        _ => false,
    }
}

/// The method of a host object: its meaning and how many arguments it takes.
pub(crate) fn host_method(host: Host, name: &str, arguments: usize) -> Option<HostMethod> {
    use HostMethod as M;
    Some(match (host, name, arguments) {
        (Host::Vars, "get", 1) => M::GetVariable,
        (Host::Vars, "put", 2) => M::PutVariable,
        (Host::Vars, "remove", 1) => M::RemoveVariable,
        (Host::Props, "get", 1) | (Host::Props, "getProperty", 1 | 2) => M::GetProperty,
        (Host::Props, "put" | "setProperty", 2) => M::PutProperty,
        (Host::Log, "trace", 1) => M::Log(Level::Trace),
        (Host::Log, "debug", 1) => M::Log(Level::Debug),
        (Host::Log, "info", 1) => M::Log(Level::Info),
        (Host::Log, "warn", 1) => M::Log(Level::Warn),
        (Host::Log, "error", 1) => M::Log(Level::Error),
        (Host::Context, "getThreadNum", 0) => M::ThreadNumber,
        (Host::Sample, "setSuccessful", 1) => M::SetSuccessful,
        (Host::Sample, "setResponseCode", 1) => M::SetResponseCode,
        (Host::Sample, "setResponseMessage", 1) => M::SetResponseMessage,
        (Host::Sample, "setSampleLabel", 1) => M::SetLabel,
        (Host::Sample, _, 0) => M::Sample(sample_getter(name)?),
        _ => return None,
    })
}

fn sample_getter(name: &str) -> Option<SampleField> {
    Some(match name {
        "getSampleLabel" => SampleField::Label,
        "getResponseCode" => SampleField::ResponseCode,
        "getResponseMessage" => SampleField::ResponseMessage,
        "getResponseDataAsString" => SampleField::ResponseData,
        "getResponseHeaders" => SampleField::ResponseHeaders,
        "getUrlAsString" => SampleField::Url,
        "isSuccessful" => SampleField::Successful,
        "getTime" => SampleField::Time,
        "getLatency" => SampleField::Latency,
        "getConnectTime" => SampleField::ConnectTime,
        "getStartTime" => SampleField::StartTime,
        "getEndTime" => SampleField::EndTime,
        "getBytesAsLong" => SampleField::Bytes,
        "getThreadName" => SampleField::ThreadName,
        _ => return None,
    })
}

/// The method behind a property (`prev.responseCode`, `ctx.threadNum`); `vars.x` and `props.x` are read elsewhere.
pub(crate) fn property_getter(host: Host, name: &str) -> Option<HostMethod> {
    let mut letters = name.chars();
    let first = letters.next()?;
    let rest = letters.as_str();
    let getter = format!("get{}{rest}", first.to_ascii_uppercase());
    host_method(host, &getter, 0)
        .or_else(|| host_method(host, &format!("is{}{rest}", first.to_ascii_uppercase()), 0))
}

/// The class of that name, simple or qualified.
pub(crate) fn class(name: &str) -> Option<Class> {
    Some(match name {
        "Integer" | "java.lang.Integer" => Class::Integer,
        "Long" | "java.lang.Long" => Class::Long,
        "Double" | "java.lang.Double" => Class::Double,
        "Boolean" | "java.lang.Boolean" => Class::Boolean,
        "String" | "java.lang.String" => Class::Text,
        "Math" | "java.lang.Math" => Class::Math,
        "System" | "java.lang.System" => Class::System,
        "UUID" | "java.util.UUID" => Class::Uuid,
        "Random" | "java.util.Random" => Class::Random,
        _ => return None,
    })
}

/// The type that a declaration or a cast names.
pub(crate) fn type_of(name: &str) -> Option<Type> {
    Some(match name {
        "def" | "var" | "Object" => Type::Any,
        "int" | "Integer" => Type::Int,
        "long" | "Long" => Type::Long,
        "double" | "Double" => Type::Double,
        "boolean" | "Boolean" => Type::Boolean,
        "String" => Type::Text,
        "Random" => Type::Random,
        _ => return None,
    })
}

/// Primitive types that are not supported, and wrapper classes without a name of their own here.
pub(crate) fn is_other_primitive(name: &str) -> bool {
    matches!(name, "char" | "byte" | "short" | "float")
}

/// Classes whose values are objects: null by default, and with an identity.
pub(crate) fn is_wrapper(name: &str) -> bool {
    matches!(name, "Integer" | "Long" | "Double" | "Boolean")
}

/// Static methods, with their number of arguments.
const STATIC_METHODS: &[(Class, &str, usize)] = &[
    (Class::Integer, "parseInt", 1),
    (Class::Integer, "valueOf", 1),
    (Class::Integer, "toString", 1),
    (Class::Long, "parseLong", 1),
    (Class::Long, "valueOf", 1),
    (Class::Long, "toString", 1),
    (Class::Double, "parseDouble", 1),
    (Class::Double, "valueOf", 1),
    (Class::Double, "toString", 1),
    (Class::Boolean, "parseBoolean", 1),
    (Class::Boolean, "valueOf", 1),
    (Class::Boolean, "toString", 1),
    (Class::Text, "valueOf", 1),
    (Class::Math, "abs", 1),
    (Class::Math, "ceil", 1),
    (Class::Math, "floor", 1),
    (Class::Math, "round", 1),
    (Class::Math, "sqrt", 1),
    (Class::Math, "random", 0),
    (Class::Math, "max", 2),
    (Class::Math, "min", 2),
    (Class::System, "currentTimeMillis", 0),
    (Class::Uuid, "randomUUID", 0),
];

/// The static method's name for the tree, if there is one.
pub(crate) fn static_method(class: Class, name: &str, arguments: usize) -> Option<&'static str> {
    STATIC_METHODS
        .iter()
        .find(|(owner, method, count)| *owner == class && *method == name && *count == arguments)
        .map(|(_, method, _)| *method)
}

/// Methods of values, with the least and the greatest number of arguments.
const VALUE_METHODS: &[(&str, usize, usize)] = &[
    ("charAt", 1, 1),
    ("compareTo", 1, 1),
    ("concat", 1, 1),
    ("contains", 1, 1),
    ("endsWith", 1, 1),
    ("equals", 1, 1),
    ("equalsIgnoreCase", 1, 1),
    ("indexOf", 1, 2),
    ("isEmpty", 0, 0),
    ("lastIndexOf", 1, 1),
    ("length", 0, 0),
    ("matches", 1, 1),
    ("replace", 2, 2),
    ("replaceAll", 2, 2),
    ("replaceFirst", 2, 2),
    ("split", 1, 1),
    ("startsWith", 1, 1),
    ("substring", 1, 2),
    ("toLowerCase", 0, 0),
    ("toString", 0, 0),
    ("toUpperCase", 0, 0),
    ("trim", 0, 0),
    // Numbers.
    ("intValue", 0, 0),
    ("longValue", 0, 0),
    ("doubleValue", 0, 0),
    // Lists.
    ("size", 0, 0),
    ("get", 1, 1),
    // java.util.Random.
    ("nextInt", 0, 1),
    ("nextDouble", 0, 0),
    ("nextBoolean", 0, 0),
];

/// Methods that Groovy adds to the JDK's.
const GROOVY_METHODS: &[(&str, usize, usize)] = &[
    ("intdiv", 1, 1),
    ("reverse", 0, 0),
    ("toBoolean", 0, 0),
    ("toInteger", 0, 0),
    ("toLong", 0, 0),
    ("toDouble", 0, 0),
    ("isNumber", 0, 0),
    ("isInteger", 0, 0),
    ("isLong", 0, 0),
];

/// The method's name for the tree, if values of some type have it.
pub(crate) fn value_method(name: &str, arguments: usize, dialect: Dialect) -> Option<&'static str> {
    let groovy: &[(&str, usize, usize)] = if dialect == Dialect::Groovy { GROOVY_METHODS } else { &[] };
    VALUE_METHODS
        .iter()
        .chain(groovy)
        .find(|(method, least, most)| *method == name && (*least..=*most).contains(&arguments))
        .map(|(method, _, _)| *method)
}
