//! Removes secrets from the command line, the properties and the URL that are stored in a run directory.
//!
//! A value is recognized as a secret by its name. The plan itself is copied unchanged, because it is needed to repeat the run.

use serde_json::Value;

/// Replaces a secret value.
pub(crate) const REDACTED: &str = "[redacted]";

/// A name that contains one of these belongs to a secret.
const SECRET_PARTS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "authorization",
    "cookie",
    "credential",
    "apikey",
];

/// A name whose last word is one of these belongs to a secret: `api.key` does, `javax.net.ssl.keyStore` does not.
const SECRET_LAST_WORDS: &[&str] = &["key", "keys", "pwd", "pw", "auth"];

/// Whether a property, header, option or field called `name` holds a secret.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let lower: String = name.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
    if SECRET_PARTS.iter().any(|part| lower.contains(part)) {
        return true;
    }
    let last = last_word(name).to_lowercase();
    SECRET_LAST_WORDS.contains(&last.as_str())
}

/// The last word of a name in any of the usual spellings: `api_key`, `api.key`, `API-KEY`, `apiKey`.
fn last_word(name: &str) -> &str {
    let part = name.rsplit(|c: char| !c.is_alphanumeric()).find(|part| !part.is_empty()).unwrap_or("");
    let bytes = part.as_bytes();
    let camel =
        (1..part.len()).rfind(|&at| bytes[at].is_ascii_uppercase() && bytes[at - 1].is_ascii_lowercase());
    &part[camel.unwrap_or(0)..]
}

/// The value of a property called `name` as it may be stored.
pub(crate) fn property(name: &str, value: &str) -> String {
    let is_switch =
        value.is_empty() || value.eq_ignore_ascii_case("true") || value.eq_ignore_ascii_case("false");
    if is_secret_name(name) && !is_switch { REDACTED.into() } else { url(value) }
}

/// A text as it may be stored if it is a URL: without the password of its user and without secret query parameters.
/// Any other text is returned unchanged.
pub(crate) fn url(text: &str) -> String {
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
    format!("{scheme}://{authority}{}", path(tail))
}

/// The path and query of a URL without secret query parameters.
pub(crate) fn path(text: &str) -> String {
    match text.split_once('?') {
        Some((path, query)) => format!("{path}?{}", form(query)),
        None => text.to_owned(),
    }
}

/// `name=value&name=value` without secret values.
fn form(text: &str) -> String {
    let field = |field: &str| match field.split_once('=') {
        Some((name, value)) => format!("{name}={}", property(name, value)),
        None => field.to_owned(),
    };
    text.split('&').map(field).collect::<Vec<_>>().join("&")
}

/// A request body without secret fields, if it is JSON or a form.
fn body(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(mut json) if json.is_object() || json.is_array() => {
            // A body without secrets keeps its exact text.
            if redact_json(&mut json) { json.to_string() } else { text.to_owned() }
        }
        _ => form(text),
    }
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
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    has_secrets
}

/// What the argument of an option is.
#[derive(Clone, Copy)]
enum Argument {
    /// `name=value`
    Assignment,
    /// `Name: value`
    Header,
    /// Request body.
    Body,
    /// A secret as a whole.
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
                Some((name, _)) if is_secret_name(name) => format!("{name}: {REDACTED}"),
                _ => text.to_owned(),
            },
            Argument::Body => body(text),
            Argument::Secret => REDACTED.into(),
        }
    }
}

fn short_option(letter: char) -> Option<Argument> {
    match letter {
        'J' | 'D' | 'G' => Some(Argument::Assignment),
        'H' => Some(Argument::Header),
        'd' => Some(Argument::Body),
        // JMeter's password for the proxy.
        'a' => Some(Argument::Secret),
        _ => None,
    }
}

fn long_option(name: &str) -> Option<Argument> {
    match name {
        "jmeterproperty" | "systemproperty" | "globalproperty" => Some(Argument::Assignment),
        "header" => Some(Argument::Header),
        "data" | "body" => Some(Argument::Body),
        _ if is_secret_name(name) && !name.starts_with("keep-") => Some(Argument::Secret),
        _ => None,
    }
}

/// A command line as it may be stored.
pub(crate) fn command_line(arguments: impl IntoIterator<Item = String>) -> Vec<String> {
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
                    None => format!("--{name}={}", url(value)),
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
            url(&argument)
        });
    }
    stored
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_recognized_by_name() {
        for name in [
            "password",
            "db.PASSWORD",
            "javax.net.ssl.trustStorePassword",
            "client_secret",
            "Authorization",
            "Proxy-Authorization",
            "Set-Cookie",
            "api.key",
            "apiKey",
            "X-API-Key",
            "APIKEY",
            "accessToken",
            "AWS_SECRET_ACCESS_KEY",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in ["USERS", "javax.net.ssl.keyStore", "monkey", "keyboard", "HOST", "Accept", "author", ""]
        {
            assert!(!is_secret_name(name), "{name}");
        }
        assert_eq!(property("CookieManager.save.cookies", "true"), "true");
        assert_eq!(property("password", "hunter2"), REDACTED);
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
            "https://bob:[redacted]@host/a?user=bob&token=[redacted]",
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
