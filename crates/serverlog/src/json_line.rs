//! Lines that are JSON objects.

use serde_json::Value;

use crate::entry::StampKind;
use crate::field::{Field, MS, NS, S, US, is_id};
use crate::format_error::LogFormatError;

/// The names of fields that the user specified, with their meanings; empty if the usual names are tried.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct JsonFields(Vec<(String, Field)>);

impl JsonFields {
    /// Reads `start=start_time,duration_ms=duration`.
    pub(crate) fn parse(text: &str) -> Result<JsonFields, LogFormatError> {
        let mut fields = Vec::new();
        for part in text.split(',') {
            let unknown = || LogFormatError::JsonField(part.to_owned());
            let (meaning, name) = part.split_once('=').ok_or_else(unknown)?;
            let field = match meaning.trim() {
                "start" => Field::Stamp(StampKind::Start),
                "end" => Field::Stamp(StampKind::End),
                "time" => Field::Stamp(StampKind::Between),
                "duration_s" => Field::Duration(S),
                "duration_ms" => Field::Duration(MS),
                "duration_us" => Field::Duration(US),
                "duration_ns" => Field::Duration(NS),
                "request" => Field::RequestLine,
                "path" => Field::Target,
                "status" => Field::Status,
                "client" => Field::Client,
                "id" => Field::Id,
                _ => return Err(unknown()),
            };
            fields.push((name.trim().to_owned(), field));
        }
        Ok(JsonFields(fields))
    }

    /// Calls `see` with each field of an object and its value as a text.
    pub(crate) fn read(&self, object: &Value, mut see: impl FnMut(Field, &str)) {
        let Value::Object(members) = object else { return };
        if !self.0.is_empty() {
            for (name, field) in &self.0 {
                // A point in a name leads into an inner object: `request.uri`.
                let pointer = format!("/{}", name.replace('~', "~0").replace('/', "~1").replace('.', "/"));
                let value = members.get(name).or_else(|| object.pointer(&pointer));
                if let Some(value) = value {
                    text(value, |text| see(*field, text));
                }
            }
            return;
        }
        let is_envoy = members.keys().any(|key| plain(key).starts_with("responsecode"));
        let is_traefik = members.contains_key("StartUTC");
        // Caddy has the request in an inner object, and its stamp is the end.
        let is_caddy = members.get("request").is_some_and(Value::is_object);
        for (key, value) in members {
            if let Value::Object(inner) = value {
                if key == "request" {
                    for (key, value) in inner {
                        if let Some(field) = usual(&plain(key), value, false, false) {
                            text(value, |text| see(field, text));
                        }
                    }
                }
                continue;
            }
            let field = match usual(&plain(key), value, is_envoy, is_traefik) {
                Some(Field::Stamp(StampKind::Between)) if is_caddy => Some(Field::Stamp(StampKind::End)),
                Some(Field::Since1970(StampKind::Between, unit)) if is_caddy => {
                    Some(Field::Since1970(StampKind::End, unit))
                }
                field => field,
            };
            if let Some(field) = field {
                text(value, |text| see(field, text));
            }
        }
    }
}

/// The name in lower case without `_`, `-`, `.` and `@`.
fn plain(key: &str) -> String {
    key.chars().filter(|c| !matches!(c, '_' | '-' | '.' | '@')).map(|c| c.to_ascii_lowercase()).collect()
}

/// The text of a value; nothing for null, lists and objects.
fn text(value: &Value, see: impl FnOnce(&str)) {
    match value {
        Value::String(text) => see(text),
        Value::Number(number) => see(&number.to_string()),
        _ => {}
    }
}

/// The meaning of a field with a usual name.
fn usual(name: &str, value: &Value, is_envoy: bool, is_traefik: bool) -> Option<Field> {
    let field = match name {
        "starttime" | "startutc" | "timestart" => Field::Stamp(StampKind::Start),
        "msec" => Field::Since1970(StampKind::End, S),
        "timeiso8601" | "timelocal" | "endtime" => Field::Stamp(StampKind::End),
        "time" | "timestamp" | "ts" | "date" | "datetime" if value.is_number() => {
            Field::Since1970(StampKind::Between, unit_of(value.as_f64()?))
        }
        // Traefik writes the end as `time`, in addition to `StartUTC`.
        "time" | "timestamp" | "ts" | "date" | "datetime" if !is_traefik => Field::Stamp(StampKind::Between),
        "requesttime" | "durations" => Field::Duration(S),
        "durationms" | "elapsedms" | "latencyms" | "responsetimems" => Field::Duration(MS),
        "durationus" | "durationmicros" => Field::Duration(US),
        "durationns" => Field::Duration(NS),
        "duration" if is_traefik => Field::Duration(NS),
        "duration" if is_envoy => Field::Duration(MS),
        // Caddy writes seconds with a fraction.
        "duration" if value.is_f64() => Field::Duration(S),
        "request" | "requestline" | "requestfirstline" => Field::RequestLine,
        "path" | "requesturi" | "uri" | "url" | "requestpath" | "target" => Field::Target,
        "status" | "statuscode" | "responsecode" | "downstreamstatus" | "code" => Field::Status,
        "remoteaddr" | "remoteip" | "clientip" | "clienthost" | "downstreamremoteaddress" => Field::Client,
        name if is_id(name) => Field::Id,
        _ => return None,
    };
    Some(field)
}

/// The unit in ns of a time since 1970, from its size.
fn unit_of(value: f64) -> u64 {
    match value {
        value if value > 1e17 => NS,
        value if value > 1e14 => US,
        value if value > 1e11 => MS,
        _ => S,
    }
}
