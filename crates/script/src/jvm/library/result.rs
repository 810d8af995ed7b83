//! Methods of JMeter's sample results.

use super::super::fault::{Outcome, thrown};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::value::{Host, V};
use super::{encode, print, sample_result, text_of, unknown};
use crate::{SampleFacts, Value};

pub fn call(machine: &mut Machine<'_>, previous: bool, method: &str, arguments: &[V]) -> Outcome {
    let object = V::Host(if previous { Host::Previous } else { Host::Sample });
    let facts = if previous { machine.scope.previous() } else { machine.scope.sample() };
    let Some(facts) = facts else {
        return Err(thrown(
            "NullPointerException",
            format!("Cannot invoke method {method}() on null object"),
        ));
    };
    if arguments.is_empty() {
        if let Some(value) = call_getter(facts, method) {
            return Ok(value);
        }
        if method == "getThreadName" {
            return Ok(V::text(machine.scope.thread_name()));
        }
    }
    match (method, arguments) {
        ("getResponseDataAsString", [charset]) => {
            let bytes = facts.response_data();
            let charset = text_of(machine, charset)?;
            Ok(V::text(encode::decode_text(&bytes, &charset)?))
        }
        ("getSubResults", []) => {
            let count = facts.sub_results();
            Ok(V::array(
                (0..count).map(|at| V::object(Object::SubResult(at))).collect(),
                super::super::tree::Base::Any,
            ))
        }
        ("getAssertionResults", []) => Ok(super::assertion_result::array(facts.assertions())),
        ("setTestLogicalAction", [action]) => {
            let name = print::java(machine, action)?;
            if super::threads::action(&name).is_none() {
                return Err(super::super::missing::exception(machine, &object, method, arguments));
            }
            set_next_action(machine, previous, &name)
        }
        ("setStartNextThreadLoop", [V::Plain(Value::Boolean(starts))]) => {
            let name = if *starts { "START_NEXT_ITERATION_OF_THREAD" } else { "CONTINUE" };
            set_next_action(machine, previous, name)
        }
        ("getTestLogicalAction", []) => {
            let name = facts.fact("TestLogicalAction").map(|name| name.to_java_string());
            Ok(name.and_then(|name| super::threads::action(&name)).unwrap_or(V::NULL))
        }
        ("isStartNextThreadLoop", []) => {
            let name = facts.fact("TestLogicalAction").map(|name| name.to_java_string());
            Ok(V::truth(name.as_deref() == Some("START_NEXT_ITERATION_OF_THREAD")))
        }
        ("getURL", []) => {
            let url = facts.url();
            Ok(if url.is_empty() { V::NULL } else { V::text(url) })
        }
        ("addSubResult" | "addRawSubResult" | "storeSubResult", _) => {
            sample_result::add_to_host(machine, previous, method, arguments)
        }
        _ => match call_setter(machine, previous, method, arguments) {
            Some(outcome) => outcome,
            None => Err(unknown(&object, method)),
        },
    }
}

/// Sets the action of the user after the sample.
fn set_next_action(machine: &mut Machine<'_>, previous: bool, name: &str) -> Outcome {
    let facts = if previous { machine.scope.previous_mut() } else { machine.scope.sample_mut() };
    if let Some(facts) = facts {
        facts.change("TestLogicalAction", Value::text(name));
    }
    Ok(V::NULL)
}

fn call_getter(facts: &dyn SampleFacts, method: &str) -> Option<V> {
    Some(match method {
        "getSampleLabel" => V::text(facts.label()),
        "getResponseCode" => V::text(facts.response_code()),
        "getResponseMessage" => V::text(facts.response_message()),
        "getResponseDataAsString" => V::text(facts.response_data_as_string()),
        "getResponseData" => V::bytes(&facts.response_data()),
        "getResponseHeaders" => V::text(facts.response_headers()),
        "getUrlAsString" => V::text(facts.url()),
        "isSuccessful" => V::truth(facts.is_successful()),
        "isResponseCodeOK" => V::truth(facts.response_code() == "200"),
        "getTime" => V::long(facts.elapsed_ms()),
        "getLatency" => V::long(facts.latency_ms()),
        "getConnectTime" => V::long(facts.connect_ms()),
        "getStartTime" => V::long(facts.start_time_ms()),
        "getEndTime" => V::long(facts.end_time_ms()),
        "getTimeStamp" => V::long(facts.start_time_ms()),
        "getBytesAsLong" => V::long(facts.received_bytes()),
        "getBytes" => V::int(facts.received_bytes()),
        _ => return facts.fact(method.strip_prefix("get")?).map(V::from),
    })
}

fn call_setter(machine: &mut Machine<'_>, previous: bool, method: &str, arguments: &[V]) -> Option<Outcome> {
    let text = match arguments {
        [] => None,
        [value, ..] if value.as_bytes().is_some() => None,
        [V::Plain(Value::Null), ..] => Some(String::new()),
        [value, ..] if value.as_text().is_some() || method != "setResponseData" => {
            print::groovy(machine, value).ok()
        }
        _ => None,
    };
    let is_text = arguments.first().is_some_and(|value| value.as_text().is_some() || value.is_null());
    let truth = match arguments {
        [V::Plain(Value::Boolean(truth))] => Some(*truth),
        _ => None,
    };
    let bytes = arguments.first().and_then(V::as_bytes);
    let facts = if previous { machine.scope.previous_mut() } else { machine.scope.sample_mut() };
    let Some(facts) = facts else {
        return Some(Err(thrown("RuntimeException", "there is no sample result that the script may change")));
    };
    let done = Some(Ok(V::NULL));
    match (method, arguments.len()) {
        ("setSuccessful", 1) if truth.is_some() => {
            facts.set_successful(truth?);
            done
        }
        ("setResponseCode" | "setResponseMessage" | "setSampleLabel", 1) if is_text => {
            let text = text.unwrap_or_default();
            match method {
                "setResponseCode" => facts.set_response_code(&text),
                "setResponseMessage" => facts.set_response_message(&text),
                _ => facts.set_label(&text),
            }
            done
        }
        ("setSuccessful" | "setResponseCode" | "setResponseMessage" | "setSampleLabel", 1) => {
            Some(Err(thrown("MissingMethodException", format!("`{method}` is not applicable for this type"))))
        }
        ("setResponseData", 1 | 2) => {
            match (bytes, text) {
                (Some(bytes), _) => facts.set_response_data(&bytes, None),
                (None, Some(text)) => {
                    let charset = arguments.get(1).and_then(V::as_text).map(str::to_owned);
                    let bytes = match encode::encode_text(&text, charset.as_deref().unwrap_or("UTF-8")) {
                        Ok(bytes) => bytes,
                        Err(fault) => return Some(Err(fault)),
                    };
                    facts.set_response_data(&bytes, Some(charset.as_deref().unwrap_or("")));
                }
                _ => return None,
            }
            done
        }
        ("setResponseOK" | "setResponseCodeOK" | "setResponseMessageOK", 0) => {
            if method != "setResponseMessageOK" {
                facts.set_response_code("200");
            }
            if method != "setResponseCodeOK" {
                facts.set_response_message("OK");
            }
            if method == "setResponseOK" {
                facts.set_successful(true);
            }
            done
        }
        ("sampleStart" | "sampleEnd" | "samplePause" | "sampleResume" | "latencyEnd" | "setIgnore", 0) => {
            facts.change(method, Value::Null).then_some(Ok(V::NULL))
        }
        (_, 1) => {
            let name = method.strip_prefix("set")?;
            let value = match (arguments.first(), truth) {
                (_, Some(truth)) => Value::Boolean(truth),
                (Some(V::Plain(plain)), _) => plain.clone(),
                _ => return None,
            };
            facts.change(name, value).then_some(Ok(V::NULL))
        }
        _ => None,
    }
}

/// Calls a getter of a sub-result.
pub fn call_sub_result(machine: &mut Machine<'_>, at: usize, object: &V, method: &str) -> Outcome {
    let facts = machine.scope.sample().and_then(|facts| facts.sub_result(at, method));
    facts.map(V::from).ok_or_else(|| unknown(object, method))
}
