//! The class `SampleResult`: objects that scripts create, and adding them to other results.

use std::rc::Rc;

use super::super::classes::Class;
use super::super::fault::{Fault, Outcome, thrown, unsupported};
use super::super::machine::Machine;
use super::super::missing;
use super::super::model::ResultObject;
use super::super::objects::Object;
use super::super::tree::Base;
use super::super::value::{Host, V};
use super::instance::{Instance, LibraryClass};
use super::{encode, print, text_of, unknown, url};
use crate::script_result::{ScriptResult, numbered_label};
use crate::{LineSeverity, Value};

/// The classes of this file.
pub const CLASSES: &[LibraryClass] = &[LibraryClass {
    class: "SampleResult",
    statics: "createTestSample isRenameSampleLabel isBinaryType",
    constructor_arguments: Some((0, 2)),
    methods: "addSubResult addRawSubResult connectEnd getBodySize getBodySizeAsLong getBytes getBytesAsLong \
              getConnectTime getContentType getDataEncodingNoDefault getDataEncodingWithDefault getDataType getEndTime \
              getErrorCount getHeadersSize getIdleTime getLatency getMediaType getParent getRequestHeaders \
              getResponseCode getResponseData getResponseDataAsString getResponseHeaders getResponseMessage \
              getSampleCount getSampleLabel getSamplerData getSentBytes getStartTime getSubResults getThreadName getTime \
              getTimeStamp getURL getUrlAsString isIgnore isResponseCodeOK isSuccessful getTestLogicalAction latencyEnd removeSubResults \
              sampleEnd samplePause sampleResume sampleStart setBodySize setBytes setConnectTime setContentType \
              setDataEncoding setDataType setEncodingAndType setEndTime setErrorCount setHeadersSize setIdleTime \
              setIgnore setLatency setRequestHeaders setResponseCode setResponseCodeOK setResponseData \
              setResponseHeaders setResponseMessage setResponseMessageOK setResponseOK setSampleLabel setSamplerData \
              setSentBytes setStampAndTime setStartTime setSuccessful setThreadName setURL storeSubResult",
    call_static,
    construct: new_result,
}];

const TEXT_SETTERS: [&str; 10] = [
    "setSampleLabel",
    "setResponseCode",
    "setResponseMessage",
    "setResponseHeaders",
    "setRequestHeaders",
    "setSamplerData",
    "setDataEncoding",
    "setContentType",
    "setDataType",
    "setThreadName",
];

/// Maximum nesting of results.
const DEPTH_MAX: usize = 32;

impl ResultObject {
    /// A copy of the values of the result and of all its sub-results.
    fn snapshot(&self, depth: usize) -> Result<ScriptResult, Fault> {
        if depth > DEPTH_MAX {
            return Err(thrown("StackOverflowError", format!("sub-results nested deeper than {DEPTH_MAX}")));
        }
        let subs: Result<_, Fault> = self.subs.borrow().iter().map(|sub| sub.snapshot(depth + 1)).collect();
        Ok(ScriptResult { sub_results: subs?, ..self.values.borrow().clone() })
    }

    fn set_end(&self, machine: &mut Machine<'_>, end_ms: i64) {
        let mut values = self.values.borrow_mut();
        values.times.end_ms = end_ms;
        if values.times.start_ms == 0 {
            machine.scope.log(LineSeverity::Error, "setEndTime must be called after setStartTime");
        } else {
            values.times.elapsed_ms =
                end_ms.saturating_sub(values.times.start_ms).saturating_sub(values.times.idle_ms);
        }
    }

    fn set_stamps(&self, start_ms: i64, elapsed_ms: i64) -> Result<(), Fault> {
        let mut values = self.values.borrow_mut();
        if values.times.start_ms != 0 || values.times.end_ms != 0 {
            let message = "Calling setStampAndTime() after start/end times have been set";
            return Err(thrown("IllegalStateException", message));
        }
        values.times.start_ms = start_ms;
        values.times.end_ms = start_ms.saturating_add(elapsed_ms);
        values.times.elapsed_ms = elapsed_ms;
        Ok(())
    }
}

/// The script's object for a result.
#[derive(Debug)]
struct SampleResultObject(Rc<ResultObject>);

fn object_of(made: &Rc<ResultObject>) -> V {
    V::object(Object::Library(Box::new(SampleResultObject(Rc::clone(made)))))
}

/// The value that `result.name = value` passes to the setter. For `String` properties Groovy converts the assigned value to
/// a `String`; a direct call of the setter does not.
pub(in crate::jvm) fn assigned(machine: &mut Machine<'_>, object: &V, setter: &str, value: &V) -> Outcome {
    let is_result =
        matches!(object, V::Host(Host::Sample | Host::Previous)) || script_result(object).is_some();
    let is_made_text =
        is_result && TEXT_SETTERS.contains(&setter) && matches!(value, V::Plain(_)) && !value.is_null();
    if is_made_text { Ok(V::text(print::groovy(machine, value)?)) } else { Ok(value.clone()) }
}

fn script_result(value: &V) -> Option<Rc<ResultObject>> {
    let V::Object(object) = value else { return None };
    object.library()?.result_object()
}

fn long(value: &V) -> Result<i64, Fault> {
    value.as_long().ok_or_else(|| unsupported(format!("a time of {}", value.kind())))
}

fn new_result(_: &mut Machine<'_>, arguments: &[V]) -> Outcome {
    let made = Rc::new(ResultObject::default());
    match arguments {
        [] => {}
        // The first argument is the start time, unless JMeter's property `sampleresult.timestamp.start` is false.
        [stamp, elapsed] => made.set_stamps(long(stamp)?, long(elapsed)?)?,
        _ => return Err(unsupported("`new SampleResult` with these arguments")),
    }
    Ok(object_of(&made))
}

fn call_static(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    match (method, arguments) {
        ("createTestSample", [start, end]) => {
            let (start, end) = (long(start)?, long(end)?);
            new_result(machine, &[V::long(start), V::long(end.saturating_sub(start))])
        }
        ("createTestSample", [elapsed]) => {
            let (elapsed, now) = (long(elapsed)?, machine.scope.wall_clock_ms());
            new_result(machine, &[V::long(now.saturating_sub(elapsed)), V::long(elapsed)])
        }
        ("isRenameSampleLabel", []) => Ok(V::truth(renames(machine))),
        ("isBinaryType", [content_type]) => Ok(V::truth(is_binary(&text_of(machine, content_type)?))),
        _ => Err(unsupported(format!("`SampleResult.{method}` with these arguments"))),
    }
}

/// Whether a sub-result is renamed when it is added to a result. The new label is the label of that result, followed by a number.
fn renames(machine: &Machine<'_>) -> bool {
    let disabled = machine.scope.property("subresults.disable_renaming");
    !disabled.is_some_and(|value| value.trim().eq_ignore_ascii_case("true"))
}

/// Whether JMeter treats the content type as binary.
fn is_binary(content_type: &str) -> bool {
    const BINARY: [&str; 4] = ["image/", "audio/", "video/", "application/"];
    const TEXT: [&str; 10] = [
        "application/xml",
        "application/json",
        "application/javascript",
        "application/x-javascript",
        "application/xhtml+xml",
        "application/vnd.geo+json",
        "application/soap+xml",
        "application/rss+xml",
        "application/atom+xml",
        "application/ecmascript",
    ];
    let starts = |types: &[&str]| types.iter().any(|known| content_type.starts_with(known));
    starts(&BINARY) && !starts(&TEXT)
}

/// Reads the arguments of a method that adds a sub-result to `to`: the result, and whether it is renamed. `None` if nothing
/// is added.
fn added_result(
    machine: &mut Machine<'_>,
    to: &V,
    method: &str,
    arguments: &[V],
) -> Result<Option<(Rc<ResultObject>, bool)>, Fault> {
    let (result, renamed) = match arguments {
        [result] => (result, renames(machine)),
        [result, V::Plain(Value::Boolean(renamed))] if method != "addRawSubResult" => (result, *renamed),
        _ => return Err(unknown(to, method)),
    };
    if result.is_null() && method == "addSubResult" {
        return Ok(None);
    }
    match script_result(result) {
        Some(made) => Ok(Some((made, renamed))),
        // If one of JMeter's own results were added, the same object would be in two places.
        None if matches!(result, V::Host(Host::Sample | Host::Previous)) => {
            Err(unsupported(format!("`{method}` of a result that the script did not create")))
        }
        None => Err(missing::exception(machine, to, method, arguments)),
    }
}

/// Adds a sub-result to one of JMeter's results, as in `prev.addSubResult(result)`.
pub(in crate::jvm) fn add_to_host(
    machine: &mut Machine<'_>,
    previous: bool,
    method: &str,
    arguments: &[V],
) -> Outcome {
    let to = V::Host(if previous { Host::Previous } else { Host::Sample });
    let Some((made, renamed)) = added_result(machine, &to, method, arguments)? else { return Ok(V::NULL) };
    let thread = machine.scope.thread_name();
    let extends = method == "addSubResult";
    if extends && made.values.borrow().thread_name.is_empty() {
        made.values.borrow_mut().thread_name = thread;
    }
    let facts = if previous { machine.scope.previous_mut() } else { machine.scope.sample_mut() };
    let Some(facts) = facts else {
        return Err(thrown("RuntimeException", "there is no sample result that the script may change"));
    };
    if renamed {
        let labels = (0..facts.sub_results()).filter_map(|at| facts.sub_result(at, "getSampleLabel"));
        let labels = labels.filter_map(|label| match label {
            Value::Text(text) => Some(text.to_string()),
            _ => None,
        });
        let label = numbered_label(&facts.label(), labels);
        made.values.borrow_mut().label = label;
    }
    let snapshot = made.snapshot(0)?;
    let Some(at) = facts.add_sub_result(&snapshot, extends) else {
        return Err(unsupported(format!("`{method}` of this result")));
    };
    machine.added_results.push((previous, at, made));
    Ok(V::NULL)
}

/// Updates the copies of `made` in JMeter's results after a change.
fn update_copies(machine: &mut Machine<'_>, made: &Rc<ResultObject>) -> Result<(), Fault> {
    let mut top = Rc::clone(made);
    for _ in 0..DEPTH_MAX {
        let parent = top.parent.borrow().upgrade();
        match parent {
            Some(parent) => top = parent,
            None => break,
        }
    }
    let places: Vec<(bool, usize)> = machine
        .added_results
        .iter()
        .filter(|(_, _, added)| Rc::ptr_eq(added, &top))
        .map(|(previous, at, _)| (*previous, *at))
        .collect();
    for (previous, at) in places {
        let snapshot = top.snapshot(0)?;
        machine.spend_text(snapshot.data.len())?;
        let facts = if previous { machine.scope.previous_mut() } else { machine.scope.sample_mut() };
        if let Some(facts) = facts {
            facts.replace_sub_result(at, &snapshot);
        }
    }
    Ok(())
}

impl SampleResultObject {
    fn add(&self, machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
        let Some((sub, renamed)) = added_result(machine, &object_of(&self.0), method, arguments)? else {
            return Ok(V::NULL);
        };
        if method == "addSubResult" {
            let thread = machine.scope.thread_name();
            if sub.values.borrow().thread_name.is_empty() {
                sub.values.borrow_mut().thread_name = thread;
            }
            let snapshot = sub.snapshot(0)?;
            self.0.values.borrow_mut().extend_by(&snapshot);
        }
        if renamed {
            let labels: Vec<String> =
                self.0.subs.borrow().iter().map(|sub| sub.values.borrow().label.clone()).collect();
            let label = numbered_label(&self.0.values.borrow().label, labels.into_iter());
            sub.values.borrow_mut().label = label;
        }
        *sub.parent.borrow_mut() = Rc::downgrade(&self.0);
        self.0.subs.borrow_mut().push(sub);
        Ok(V::NULL)
    }

    fn read(&self, method: &str) -> Option<V> {
        let values = self.0.values.borrow();
        let or_null = |text: &Option<String>| text.as_ref().map_or(V::NULL, V::text);
        let encoding = values.encoding.as_deref().unwrap_or("UTF-8");
        Some(match method {
            "getSampleLabel" => V::text(&values.label),
            "getResponseCode" => V::text(&values.outcome.code),
            "getResponseMessage" => V::text(&values.outcome.message),
            "getResponseHeaders" => V::text(&values.response_headers),
            "getRequestHeaders" => V::text(&values.request_headers),
            "getResponseData" => V::bytes(&values.data),
            "getResponseDataAsString" => V::text(encode::decode_text(&values.data, encoding).ok()?),
            "getSamplerData" => or_null(&values.sampler_data),
            "getDataEncodingNoDefault" => or_null(&values.encoding),
            "getDataEncodingWithDefault" => V::text(encoding),
            "getContentType" => V::text(&values.content_type),
            "getMediaType" => V::text(values.content_type.split(';').next().unwrap_or("").trim()),
            "getDataType" => V::text(&values.data_type),
            "getThreadName" => V::text(&values.thread_name),
            "getUrlAsString" => V::text(values.url.as_deref().unwrap_or("")),
            "getURL" => match &values.url {
                Some(text) => return url::parse(text).ok(),
                None => V::NULL,
            },
            "isSuccessful" => V::truth(values.outcome.success),
            "isResponseCodeOK" => V::truth(values.outcome.code == "200"),
            "isIgnore" => V::truth(values.is_ignored),
            "getTime" => V::long(values.times.elapsed_ms),
            "getStartTime" | "getTimeStamp" => V::long(values.times.start_ms),
            "getEndTime" => V::long(values.times.end_ms),
            "getLatency" => V::long(values.times.latency_ms),
            "getTestLogicalAction" => V::text("CONTINUE"),
            "getConnectTime" => V::long(values.times.connect_ms),
            "getIdleTime" => V::long(values.times.idle_ms),
            "getBytesAsLong" => V::long(values.total_bytes()),
            "getBytes" => V::int(values.total_bytes()),
            "getBodySizeAsLong" => V::long(values.body_bytes()),
            "getBodySize" => V::int(values.body_bytes()),
            "getHeadersSize" => V::int(values.headers_size),
            "getSentBytes" => V::long(values.sent_bytes),
            "getSampleCount" => V::int(1),
            "getErrorCount" => V::int(i64::from(!values.outcome.success)),
            "getSubResults" => V::array(self.0.subs.borrow().iter().map(object_of).collect(), Base::Any),
            "getParent" => self.0.parent.borrow().upgrade().as_ref().map_or(V::NULL, object_of),
            _ => return None,
        })
    }

    /// Calls a setter of a string; returns false for other methods.
    fn set_text(&self, method: &str, text: &str) -> bool {
        let mut values = self.0.values.borrow_mut();
        let values = &mut *values;
        let place = match method {
            "setSampleLabel" => &mut values.label,
            "setResponseCode" => &mut values.outcome.code,
            "setResponseMessage" => &mut values.outcome.message,
            "setResponseHeaders" => &mut values.response_headers,
            "setRequestHeaders" => &mut values.request_headers,
            "setSamplerData" => values.sampler_data.get_or_insert_default(),
            "setDataEncoding" => values.encoding.get_or_insert_default(),
            "setContentType" => &mut values.content_type,
            "setDataType" => &mut values.data_type,
            "setThreadName" => &mut values.thread_name,
            "setEncodingAndType" => {
                let charset = text.split(';').find_map(|part| part.trim().strip_prefix("charset="));
                if let Some(charset) = charset {
                    values.encoding = Some(charset.trim_matches(['"', '\'', ' ']).to_owned());
                }
                values.data_type = if is_binary(text) { "bin" } else { "text" }.to_owned();
                return true;
            }
            _ => return false,
        };
        text.clone_into(place);
        true
    }

    /// Calls a setter of a number; returns false for other methods.
    fn set_number(&self, machine: &mut Machine<'_>, method: &str, number: i64) -> bool {
        if method == "setEndTime" {
            self.0.set_end(machine, number);
            return true;
        }
        let mut values = self.0.values.borrow_mut();
        match method {
            "setLatency" => values.times.latency_ms = number,
            "setConnectTime" => values.times.connect_ms = number,
            "setIdleTime" => values.times.idle_ms = number,
            "setStartTime" => values.times.start_ms = number,
            "setBytes" => values.bytes = number,
            "setHeadersSize" => values.headers_size = number,
            "setBodySize" => values.body_size = number,
            "setSentBytes" => values.sent_bytes = number,
            _ => return false,
        }
        true
    }

    fn measure(&self, machine: &mut Machine<'_>, method: &str) -> bool {
        let now = machine.scope.wall_clock_ms();
        let (start, end, idle) = {
            let values = self.0.values.borrow();
            (values.times.start_ms, values.times.end_ms, values.times.idle_ms)
        };
        let since_start = now.saturating_sub(start).saturating_sub(idle);
        let mut error = None;
        match method {
            "sampleStart" if start == 0 => self.0.values.borrow_mut().times.start_ms = now,
            "sampleStart" => error = Some("sampleStart called twice"),
            "sampleEnd" if end == 0 => self.0.set_end(machine, now),
            "sampleEnd" => error = Some("sampleEnd called twice"),
            "samplePause" if self.0.paused_ms.get() == 0 => self.0.paused_ms.set(now),
            "samplePause" => error = Some("samplePause called twice"),
            "sampleResume" if self.0.paused_ms.get() != 0 => {
                let paused = now.saturating_sub(self.0.paused_ms.take());
                self.0.values.borrow_mut().times.idle_ms += paused;
            }
            "sampleResume" => error = Some("sampleResume without samplePause"),
            "latencyEnd" => self.0.values.borrow_mut().times.latency_ms = since_start,
            "connectEnd" => self.0.values.borrow_mut().times.connect_ms = since_start,
            _ => return false,
        }
        if let Some(error) = error {
            machine.scope.log(LineSeverity::Error, error);
        }
        true
    }

    fn set_data(&self, machine: &mut Machine<'_>, arguments: &[V]) -> Result<bool, Fault> {
        let (data, charset) = match arguments {
            [data] => (data, None),
            [data, charset] => (data, Some(charset)),
            _ => return Ok(false),
        };
        let bytes = match (data.as_bytes(), charset) {
            (Some(bytes), None) => bytes,
            (None, _) if data.as_text().is_some() => {
                let own = self.0.values.borrow().encoding.clone();
                let charset = match charset {
                    Some(charset) if !charset.is_null() => text_of(machine, charset)?,
                    _ => own.unwrap_or_else(|| "UTF-8".into()),
                };
                let bytes = encode::encode_text(data.as_text().unwrap_or_default(), &charset)?;
                if arguments.len() == 2 {
                    self.0.values.borrow_mut().encoding = Some(charset);
                }
                bytes
            }
            (None, _) if data.is_null() => {
                return Err(thrown("NullPointerException", "the response data is null"));
            }
            _ => return Ok(false),
        };
        machine.spend_text(bytes.len())?;
        self.0.values.borrow_mut().data = bytes;
        Ok(true)
    }

    fn change(&self, machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Result<bool, Fault> {
        Ok(match (method, arguments) {
            ("setResponseData", _) => self.set_data(machine, arguments)?,
            ("setStampAndTime", [start, elapsed]) => {
                self.0.set_stamps(long(start)?, long(elapsed)?)?;
                true
            }
            ("setSuccessful", [V::Plain(Value::Boolean(successful))]) => {
                self.0.values.borrow_mut().outcome.success = *successful;
                true
            }
            ("setResponseOK" | "setResponseCodeOK" | "setResponseMessageOK", []) => {
                let mut values = self.0.values.borrow_mut();
                if method != "setResponseMessageOK" {
                    values.outcome.code = "200".into();
                }
                if method != "setResponseCodeOK" {
                    values.outcome.message = "OK".into();
                }
                values.outcome.success |= method == "setResponseOK";
                true
            }
            ("setIgnore", []) => {
                self.0.values.borrow_mut().is_ignored = true;
                true
            }
            ("removeSubResults", []) => {
                self.0.subs.borrow_mut().clear();
                true
            }
            // Ignored: a script cannot change the number of samples that a result represents.
            ("setErrorCount", [_]) => true,
            ("setURL", [url]) => {
                self.0.values.borrow_mut().url =
                    if url.is_null() { None } else { Some(print::groovy(machine, url)?) };
                true
            }
            (_, []) => self.measure(machine, method),
            (_, [V::Plain(Value::Text(text))]) => self.set_text(method, text),
            (_, [V::Plain(Value::Null)]) => self.set_text(method, ""),
            (_, [number]) if number.as_long().is_some() => {
                self.set_number(machine, method, number.as_long().unwrap_or_default())
            }
            _ => false,
        })
    }
}

impl Instance for SampleResultObject {
    fn class(&self) -> Class {
        Class::known("SampleResult")
    }

    fn result_object(&self) -> Option<Rc<ResultObject>> {
        Some(Rc::clone(&self.0))
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        if let ("getResponseDataAsString", [charset]) = (method, arguments) {
            let charset = text_of(machine, charset)?;
            return Ok(V::text(encode::decode_text(&self.0.values.borrow().data, &charset)?));
        }
        if arguments.is_empty()
            && let Some(value) = self.read(method)
        {
            return Ok(value);
        }
        let outcome = match method {
            "addSubResult" | "addRawSubResult" | "storeSubResult" => self.add(machine, method, arguments),
            _ if self.change(machine, method, arguments)? => Ok(V::NULL),
            _ => Err(unknown(object, method)),
        };
        if outcome.is_ok() {
            update_copies(machine, &self.0)?;
        }
        outcome
    }

    fn is_equal(&self, other: &V) -> bool {
        script_result(other).is_some_and(|other| Rc::ptr_eq(&self.0, &other))
    }

    fn text(&self, _: &mut Machine<'_>) -> Result<String, Fault> {
        Ok(self.0.values.borrow().label.clone())
    }
}
