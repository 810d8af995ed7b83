//! The names of JMeter's objects and of their methods.

use crate::Level;

/// Objects that JMeter puts into a script's sight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Host {
    Vars,
    Props,
    Log,
    Context,
    /// `sampleResult`: the result that the script is about.
    Sample,
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

/// JMeter's object of that name, if it is one.
pub(crate) fn host(name: &str) -> Option<Host> {
    Some(match name {
        "vars" => Host::Vars,
        "props" => Host::Props,
        "log" => Host::Log,
        "ctx" => Host::Context,
        "sampleResult" => Host::Sample,
        _ => return None,
    })
}

/// Names that JMeter sets and that this crate has nothing for.
pub(crate) fn is_foreign_object(name: &str) -> bool {
    matches!(name, "OUT" | "sampler" | "Sampler")
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
];

/// The method's name for the tree, if values of some type have it.
pub(crate) fn value_method(name: &str, arguments: usize) -> Option<&'static str> {
    VALUE_METHODS
        .iter()
        .find(|(method, least, most)| *method == name && (*least..=*most).contains(&arguments))
        .map(|(method, _, _)| *method)
}
