//! Removes secrets from texts that a run directory stores: command lines, properties, URLs.
//!
//! [`is_secret_name`] and [`is_secret_value`] recognize a secret by the name or the form of its value. A plan of the user is copied
//! unchanged, because it is needed to repeat the run. The plan that is generated for a URL contains references to properties instead
//! of secrets.

mod free_text;
mod secrets;

pub use free_text::Redactor;
use secrets::{is_public_header, is_secret_parameter};
pub use secrets::{is_secret_name, is_secret_value};
use serde_json::Value;

/// The text that replaces a secret value.
pub const REDACTED: &str = "[redacted]";

/// Properties with this prefix contain the headers, the body and the secret parameters of a request to a URL.
pub const REQUEST_PROPERTY: &str = "busyhour.request.";

/// The value of the property `name`, with secrets redacted.
pub fn property(name: &str, value: &str) -> String {
    if name.starts_with(REQUEST_PROPERTY) {
        return REDACTED.into();
    }
    value_of(is_secret_name(name), value)
}

/// The value with secrets redacted. `is_secret` is true if the name of the value shows that it is a secret.
fn value_of(is_secret: bool, value: &str) -> String {
    let is_switch =
        value.is_empty() || value.eq_ignore_ascii_case("true") || value.eq_ignore_ascii_case("false");
    match is_secret && !is_switch || is_secret_value(value) {
        true => REDACTED.into(),
        false => url(value),
    }
}

/// If the text is a URL: the URL with the password of its user and secret parameters redacted. Any other text is returned
/// unchanged.
pub fn url(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let authority_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(authority_end);
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) => {
            let name = user.split_once(':').map_or(user, |(name, _)| name);
            format!("{name}:{REDACTED}@{host}")
        }
        None => authority.to_owned(),
    };
    let (tail, fragment) = match tail.split_once('#') {
        Some((tail, fragment)) => (tail, format!("#{}", form(fragment))),
        None => (tail, String::new()),
    };
    format!("{scheme}://{authority}{}{fragment}", path(tail))
}

/// The path and query of a URL, with secret parameters redacted.
pub fn path(text: &str) -> String {
    replace_path_secrets(text, |_, value| value_of(true, value))
}

/// The path and query of a URL. Each secret parameter is replaced by the text that `secret` returns for its name and
/// value. A secret segment of the path has the name `path`.
pub fn replace_path_secrets(text: &str, mut secret: impl FnMut(&str, &str) -> String) -> String {
    let (path, query) = match text.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (text, None),
    };
    let segment = |segment: &str, secret: &mut dyn FnMut(&str, &str) -> String| {
        // Parameters of a segment: ;jsessionid=…
        let parts = segment.split(';').map(|part| match part.split_once('=') {
            Some((name, value)) => field(name, value, false, secret),
            None if is_secret_value(part) => secret("path", part),
            None => part.to_owned(),
        });
        parts.collect::<Vec<_>>().join(";")
    };
    let mut out = path.split('/').map(|text| segment(text, &mut secret)).collect::<Vec<_>>().join("/");
    if let Some(query) = query {
        // The write and query URLs of InfluxDB 1.x contain the password in the parameter `p`.
        let is_influx = (path.ends_with("/write") || path.ends_with("/query"))
            && query.split('&').any(|field| field.starts_with("db="));
        out.push('?');
        out += &form_with(query, is_influx, &mut secret);
    }
    out
}

/// `name=value&name=value`, with secret values redacted.
fn form(text: &str) -> String {
    form_with(text, false, &mut |_, value| value_of(true, value))
}

fn form_with(text: &str, is_influx: bool, secret: &mut dyn FnMut(&str, &str) -> String) -> String {
    let fields = text.split('&').map(|text| match text.split_once('=') {
        Some((name, value)) => field(name, value, is_influx && name == "p", secret),
        None if is_secret_value(text) => secret("query", text),
        None => text.to_owned(),
    });
    fields.collect::<Vec<_>>().join("&")
}

/// `name=value`. If the value is a secret, it is replaced by the text that `secret` returns.
fn field(name: &str, value: &str, is_secret: bool, secret: &mut dyn FnMut(&str, &str) -> String) -> String {
    let decoded = value.replace('+', " ").replace("%20", " ");
    let value = match is_secret || is_secret_parameter(name) || is_secret_value(&decoded) {
        true => secret(name, value),
        false => url(value),
    };
    format!("{name}={value}")
}

/// A request body with secrets redacted: the secret fields of JSON or of a form. In other formats, the whole body is redacted if
/// it contains a secret.
pub fn body(text: &str) -> String {
    if text.starts_with('@') {
        return text.to_owned();
    }
    match serde_json::from_str::<Value>(text) {
        // A body without secrets is returned unchanged.
        Ok(mut json) if json.is_object() || json.is_array() => {
            if redact_json(&mut json) {
                json.to_string()
            } else {
                text.to_owned()
            }
        }
        _ if is_form(text) => form(text),
        _ => {
            let mut words = text.split(|c: char| !(c.is_alphanumeric() || "_-.".contains(c)));
            let names_secret = words.any(|word| is_secret_name(word) || is_secret_value(word));
            if names_secret || is_secret_value(text) { REDACTED.into() } else { text.to_owned() }
        }
    }
}

/// Whether a text has the form `name=value&name=value`.
fn is_form(text: &str) -> bool {
    let is_name =
        |name: &str| !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || "<>{}\"".contains(c));
    text.split('&').all(|field| field.split_once('=').is_some_and(|(name, _)| is_name(name)))
}

/// Replaces secret fields; returns whether there were any.
fn redact_json(json: &mut Value) -> bool {
    let mut has_secrets = false;
    match json {
        Value::Object(fields) => {
            for (name, value) in fields {
                if is_secret_name(name) && !value.is_boolean() && !value.is_null() {
                    *value = REDACTED.into();
                    has_secrets = true;
                } else {
                    has_secrets |= redact_json(value);
                }
            }
        }
        Value::Array(values) => {
            for value in values {
                has_secrets |= redact_json(value);
            }
        }
        Value::String(text) => {
            let stored = value_of(false, text);
            has_secrets = stored != *text;
            *text = stored;
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    has_secrets
}

/// Whether the value of a header may be stored in the run directory.
pub fn is_public(header: &str, value: &str) -> bool {
    is_public_header(header) && value_of(false, value) == value
}

/// The kind of an option's argument.
#[derive(Clone, Copy)]
enum Argument {
    /// `name=value`
    Assignment,
    /// `Name: value`
    Header,
    /// Request body.
    Body,
    /// A list of sources to observe.
    Sources,
    /// The whole argument is a secret.
    Secret,
}

impl Argument {
    fn redacted(self, text: &str) -> String {
        match self {
            Argument::Assignment => match text.split_once('=') {
                Some((name, value)) => format!("{name}={}", property(name, value)),
                None => text.to_owned(),
            },
            Argument::Header => match text.split_once(':') {
                Some((name, value)) if !is_public(name, value) => format!("{name}: {REDACTED}"),
                _ => value_of(false, text),
            },
            Argument::Body => body(text),
            Argument::Sources => sources(text),
            Argument::Secret => REDACTED.into(),
        }
    }
}

/// A list of sources to observe, such as `os,postgres://user:password@host/db`, with redacted URLs. A comma inside a
/// value is escaped with a backslash. If a password contains such a comma, the rest of its URL is redacted with it.
fn sources(text: &str) -> String {
    let mut entries: Vec<String> = Vec::new();
    for part in text.split(',') {
        match entries.last_mut().filter(|last| last.ends_with('\\')) {
            Some(last) => {
                last.push(',');
                last.push_str(part);
            }
            None => entries.push(part.to_owned()),
        }
    }
    let entry = |entry: &String| match entry.strip_prefix("prometheus:") {
        Some(address) => format!("prometheus:{}", value_of(false, address)),
        None => value_of(false, entry),
    };
    entries.iter().map(entry).collect::<Vec<_>>().join(",")
}

fn short_option(letter: char) -> Option<Argument> {
    match letter {
        'J' | 'D' | 'G' => Some(Argument::Assignment),
        'H' => Some(Argument::Header),
        'd' => Some(Argument::Body),
        // In JMeter, `-a` is the password for the proxy.
        'a' => Some(Argument::Secret),
        _ => None,
    }
}

fn long_option(name: &str) -> Option<Argument> {
    match name {
        "jmeterproperty" | "systemproperty" | "globalproperty" => Some(Argument::Assignment),
        "header" => Some(Argument::Header),
        "data" | "body" => Some(Argument::Body),
        "observe" | "sources" => Some(Argument::Sources),
        _ if is_secret_name(name) && !name.starts_with("keep-") => Some(Argument::Secret),
        _ => None,
    }
}

/// A command line with secrets redacted.
pub fn command_line(arguments: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut next = None;
    let mut stored = Vec::new();
    for argument in arguments {
        if let Some(kind) = next.take() {
            stored.push(Argument::redacted(kind, &argument));
            continue;
        }
        stored.push(if let Some(long) = argument.strip_prefix("--") {
            match long.split_once('=') {
                Some((name, value)) => match long_option(name) {
                    Some(kind) => format!("--{name}={}", kind.redacted(value)),
                    None => format!("--{name}={}", value_of(false, value)),
                },
                None => {
                    next = long_option(long);
                    argument
                }
            }
        } else if let Some(short) = argument.strip_prefix('-')
            && let Some(kind) = short.chars().next().and_then(short_option)
        {
            let value = &short[1..];
            if value.is_empty() {
                next = Some(kind);
                argument
            } else {
                format!("-{}{}", &short[..1], kind.redacted(value))
            }
        } else {
            value_of(false, &argument)
        });
    }
    stored
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_and_properties_of_a_request() {
        assert_eq!(property("CookieManager.save.cookies", "true"), "true");
        assert_eq!(property("password", "hunter2"), REDACTED);
        assert_eq!(property("greeting", "Bearer abc"), REDACTED);
        assert_eq!(property("busyhour.request.header.x-shop", "7"), REDACTED);
    }

    #[test]
    fn every_way_to_write_a_secret_is_redacted() {
        // Options and their arguments; the secret is S3CRET.
        for (option, text) in [
            ("-J", "jwt=S3CRET"),
            ("-J", "bearer=S3CRET"),
            ("-J", "pass=S3CRET"),
            ("-J", "pin=S3CRET"),
            ("-J", "session=S3CRET"),
            ("-J", "sig=S3CRET"),
            ("-J", "mypw=S3CRET"),
            ("-J", "greeting=Bearer S3CRET"),
            ("-J", "greeting=Basic S3CRET"),
            ("-J", "greeting=eyJS3CRET.S3CRET"),
            ("-J", "target=http://bob:S3CRET@host/"),
            ("--influx", "http://h:8086/write?db=x&u=a&p=S3CRET"),
            ("--otlp", "http://h/v1?api_key=S3CRET"),
            ("--send", "influx+http://h:8086/write?db=x&u=a&p=S3CRET"),
            ("--send", "otlp+https://bob:S3CRET@h/v1?api_key=S3CRET"),
            ("--observe", "os,postgres://me:S3CRET@db/shop,prometheus:https://bob:S3CRET@h/m?key=S3CRET"),
            ("--sources", "prometheus:https://bob:S3CRET@h/m,https://bob:S3CRET@h/m,jvm:shop"),
            ("run", "http://h/a?code=S3CRET&b=c"),
            ("--observe", "os,postgres://bob:S3CRET@h/shop,jvm"),
            ("--observe", "mysql://bob:S3CRET@h/shop?ssl-mode=REQUIRED,os"),
            ("--observe", "postgres://bob:S3CRET\\,S3CRET@h/shop"),
            ("--sources", "prometheus:https://bob:S3CRET@h/metrics,http://h/m?api_key=S3CRET"),
            ("run", "http://h/a?b=c&signature=S3CRET"),
            ("run", "http://h/a?X-Amz-Signature=S3CRET"),
            ("run", "http://h/a?x=Bearer%20S3CRET"),
            ("run", "http://h/a;jsessionid=S3CRET?b"),
            ("run", "http://h/reset/eyJS3CRETS3CRET"),
            ("run", "http://h/a#access_token=S3CRET"),
            ("-H", "X-Custom: S3CRET"),
            ("-H", "X-Auth: S3CRET"),
            ("-H", "Accept: Bearer S3CRET"),
            ("-d", r#"{"otp":"S3CRET"}"#),
            ("-d", r#"{"a":{"b":["Bearer S3CRET"]}}"#),
            ("-d", "otp=S3CRET&a=b"),
            ("-d", "<login><password>S3CRET</password></login>"),
            ("-d", "eyJS3CRETS3CRET"),
        ] {
            let stored = command_line([option.to_owned(), text.to_owned()]);
            assert!(
                !stored[1].contains("S3CRET") && stored[1].contains(REDACTED),
                "{option} {text}: {stored:?}"
            );
            if option.starts_with("--") {
                let stored = command_line([format!("{option}={text}")]);
                assert!(!stored[0].contains("S3CRET"), "{stored:?}");
            }
        }
        for (option, text) in [
            ("-J", "author=Ann"),
            ("-J", "passengers=4"),
            ("-J", "keyboard=de"),
            ("-J", "compass=north"),
            ("-J", "plan=Basic training course"),
            ("--influx", "http://h:8086/write?db=x&u=a"),
            ("--observe", "os,jvm:shop,gc:/var/log/a\\,b.log,prometheus:http://h:9100/metrics"),
            ("--send", "influx+http://h:8086/write?db=x&u=a"),
            ("run", "http://h/write?p=2"),
            ("run", "http://h/a?author=Ann&zipcode=1&p=2&session.timeout=3"),
            ("-H", "Accept: */*"),
            ("-H", "Content-Type: application/json"),
            ("-d", r#"{ "author" : "Ann", "code": 5 }"#),
            ("-d", "author=Ann&compass=n"),
            ("-d", "<author>Ann</author>"),
            ("-d", "@body.json"),
        ] {
            assert_eq!(command_line([option.to_owned(), text.to_owned()])[1], text, "{option}");
        }
    }

    #[test]
    fn a_command_line_keeps_everything_but_secrets() {
        let given = [
            "busyhour",
            "run",
            "https://bob:hunter2@host/a?user=bob&token=abc#x",
            "-Jpassword=hunter2",
            "-J",
            "USERS=5",
            "-J",
            "api.key=k=1",
            "-Djavax.net.ssl.keyStorePassword=s",
            "-H",
            "Authorization: Bearer abc",
            "-HAccept: */*",
            "--header=Cookie: a=b",
            "-d",
            r#"{"user":"bob","password":"x","deep":[{"token":7}]}"#,
            "-d",
            "user=bob&pwd=x",
            "-a",
            "proxysecret",
            "--password",
            "p",
            "--influx-token=t",
            "--seed",
            "7",
            "--keep-secrets",
            "-l",
            "x.jtl",
        ];
        let stored = command_line(given.iter().map(|text| (*text).to_owned()));
        let expected = [
            "busyhour",
            "run",
            "https://bob:[redacted]@host/a?user=bob&token=[redacted]#x",
            "-Jpassword=[redacted]",
            "-J",
            "USERS=5",
            "-J",
            "api.key=[redacted]",
            "-Djavax.net.ssl.keyStorePassword=[redacted]",
            "-H",
            "Authorization: [redacted]",
            "-HAccept: */*",
            "--header=Cookie: [redacted]",
            "-d",
            r#"{"user":"bob","password":"[redacted]","deep":[{"token":"[redacted]"}]}"#,
            "-d",
            "user=bob&pwd=[redacted]",
            "-a",
            "[redacted]",
            "--password",
            "[redacted]",
            "--influx-token=[redacted]",
            "--seed",
            "7",
            "--keep-secrets",
            "-l",
            "x.jtl",
        ];
        assert_eq!(stored, expected);
    }

    #[test]
    fn texts_without_secrets_are_not_changed() {
        for text in ["http://127.0.0.1:8080/a?b=c&d", "plan.jmx", "a=b", "", "é://ü@x"] {
            let stored = url(text);
            assert!(stored == text || text.contains('@'), "{text}: {stored}");
        }
        assert_eq!(body(r#"{ "a" : 1 }"#), r#"{ "a" : 1 }"#);
    }
}
