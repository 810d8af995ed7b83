//! The properties of the current sampler by JMeter's names: `sampler.getPropertyAsString(name)`.

use super::super::fault::{Outcome, unsupported};
use super::super::machine::Machine;
use super::super::value::V;
use crate::{RequestFlag, RequestText};

const TEXTS: &[(&str, RequestText)] = &[
    ("TestElement.name", RequestText::Name),
    ("HTTPSampler.method", RequestText::Method),
    ("HTTPSampler.protocol", RequestText::Protocol),
    ("HTTPSampler.domain", RequestText::Domain),
    ("HTTPSampler.port", RequestText::Port),
    ("HTTPSampler.path", RequestText::Path),
    ("HTTPSampler.contentEncoding", RequestText::ContentEncoding),
    ("HTTPSampler.connect_timeout", RequestText::ConnectTimeout),
    ("HTTPSampler.response_timeout", RequestText::ResponseTimeout),
];

const FLAGS: &[(&str, RequestFlag)] = &[
    ("HTTPSampler.postBodyRaw", RequestFlag::RawBody),
    ("HTTPSampler.use_keepalive", RequestFlag::KeepAlive),
    ("HTTPSampler.follow_redirects", RequestFlag::FollowRedirects),
    ("HTTPSampler.auto_redirects", RequestFlag::AutoRedirects),
    ("HTTPSampler.DO_MULTIPART_POST", RequestFlag::Multipart),
];

/// Whether the property is one of those that scripts can read.
pub fn is_known(name: &str) -> bool {
    TEXTS.iter().any(|(known, _)| *known == name) || FLAGS.iter().any(|(known, _)| *known == name)
}

/// The result of a getter. As in JMeter, the default is returned for a property that is not set.
pub fn read(machine: &mut Machine<'_>, method: &str, name: &str, default: Option<&V>) -> Outcome {
    let Some(mut request) = machine.scope.request() else {
        return Err(unsupported("a property of a sampler that makes no HTTP requests"));
    };
    let text = if let Some((_, field)) = TEXTS.iter().find(|(known, _)| *known == name) {
        request.text(*field)
    } else if let Some((_, flag)) = FLAGS.iter().find(|(known, _)| *known == name) {
        request.flag(*flag).to_string()
    } else {
        return Err(unsupported(format!("the property `{name}` of a sampler")));
    };
    if let (true, Some(default)) = (text.is_empty(), default) {
        return Ok(default.clone());
    }
    let number = busyhour_java::parse_long(text.trim()).unwrap_or(0);
    Ok(match method {
        "getPropertyAsBoolean" => V::truth(text.eq_ignore_ascii_case("true")),
        "getPropertyAsInt" => V::int(number),
        "getPropertyAsLong" => V::long(number),
        _ => V::text(text),
    })
}

/// Implements `sampler.setProperty(name, value)`.
pub fn write(machine: &mut Machine<'_>, name: &str, value: &str) -> Outcome {
    let Some(mut request) = machine.scope.request() else {
        return Err(unsupported("a property of a sampler that makes no HTTP requests"));
    };
    if let Some((_, field)) = TEXTS.iter().find(|(known, _)| *known == name) {
        if request.set_text(*field, value) {
            return Ok(V::NULL);
        }
    } else if let Some((_, flag)) = FLAGS.iter().find(|(known, _)| *known == name) {
        request.set_flag(*flag, value.eq_ignore_ascii_case("true"));
        return Ok(V::NULL);
    }
    Err(unsupported(format!("setting the property `{name}` of a sampler")))
}
