//! Removes secrets from texts without a known form: entries of logs and their templates, labels, marks, reasons.

use std::fmt;
use std::sync::Arc;

use crate::REDACTED;
use crate::secrets::{is_secret_name, is_secret_value};

/// The placeholder for a value in a log template. It is not a secret.
const WILDCARD: &str = "<*>";

/// Removes secrets from texts without a known form.
#[derive(Clone)]
pub struct Redactor {
    is_secret_name: Arc<dyn Fn(&str) -> bool + Send + Sync>,
    is_secret_value: Arc<dyn Fn(&str) -> bool + Send + Sync>,
    keeps_all: bool,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redactor")
    }
}

impl Redactor {
    /// A redactor with the rules for command lines and properties.
    #[must_use]
    pub fn standard() -> Redactor {
        Redactor::new(is_secret_name, is_secret_value)
    }

    /// Creates a redactor. `is_secret_name` returns true for names whose values are secret (`password`).
    /// `is_secret_value` returns true for texts that are secret under any name (`Bearer …`, JSON Web Tokens).
    #[must_use]
    pub fn new(
        is_secret_name: impl Fn(&str) -> bool + Send + Sync + 'static,
        is_secret_value: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Redactor {
        Redactor {
            is_secret_name: Arc::new(is_secret_name),
            is_secret_value: Arc::new(is_secret_value),
            keeps_all: false,
        }
    }

    /// A redactor that changes no text, for users who want to keep secrets. Even passwords in URLs are kept.
    #[must_use]
    pub fn keeping_secrets() -> Redactor {
        Redactor { keeps_all: true, ..Redactor::new(|_| false, |_| false) }
    }

    /// The text without the values of secret names (`password=…`, `"password": "…"`, `Authorization: Bearer …`), without other
    /// secret values, and without passwords in URLs.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        if self.keeps_all {
            return text.to_owned();
        }
        let mut writer =
            Writer { redactor: self, out: String::with_capacity(text.len()), expects_value: false };
        let mut rest = text;
        while !rest.is_empty() {
            // A text that is already redacted, or a template's placeholder for the whole value, is copied.
            let is_value =
                writer.expects_value && rest.starts_with(WILDCARD) && word_length(rest) > WILDCARD.len();
            let masked = [WILDCARD, REDACTED].into_iter().find(|masked| rest.starts_with(masked));
            if let Some(masked) = masked.filter(|_| !is_value) {
                writer.out.push_str(masked);
                writer.expects_value = false;
                rest = &rest[masked.len()..];
                continue;
            }
            let separators = if is_value { 0 } else { separators_length(rest) };
            let (before, after) = rest.split_at(separators);
            writer.out.push_str(before);
            let length = match before.chars().next_back() {
                // A quoted value may contain spaces.
                Some(quote @ ('"' | '\'')) if writer.expects_value => {
                    after.find(quote).unwrap_or(after.len())
                }
                _ if after.starts_with(WILDCARD) && !is_value => 0,
                _ => word_length(after),
            };
            let (word, after) = after.split_at(length);
            if !word.is_empty() {
                writer.word(word, after);
            }
            rest = after;
        }
        writer.out
    }

    fn names_secret(&self, name: &str) -> bool {
        let name = name.trim_end_matches(':');
        let is_class = ["Exception", "Error"].iter().any(|end| name.ends_with(end));
        !is_class && !name.is_empty() && (self.is_secret_name)(name)
    }
}

struct Writer<'a> {
    redactor: &'a Redactor,
    out: String,
    /// Whether the next word is the value of a secret name.
    expects_value: bool,
}

impl Writer<'_> {
    fn word(&mut self, word: &str, after: &str) {
        if word.trim_start_matches(':').is_empty() {
            self.out.push_str(word);
            return;
        }
        if self.expects_value {
            // If the word is a scheme, the secret follows it: `Authorization: Bearer …`.
            self.expects_value = is_scheme(word, after);
            self.out.push_str(if self.expects_value { word } else { REDACTED });
            return;
        }
        if let Some((before, rest)) = word.split_once("://") {
            self.url(before, rest);
            return;
        }
        if is_scheme(word, after) {
            let next = after.trim_start_matches(is_separator);
            let next = &next[..next.find(is_separator).unwrap_or(next.len())];
            self.expects_value = (self.redactor.is_secret_value)(&format!("{word} {next}"));
            self.out.push_str(word);
            return;
        }
        if (self.redactor.is_secret_value)(word) {
            self.out.push_str(REDACTED);
            return;
        }
        if let Some((name, value)) = word.split_once(':')
            && !value.is_empty()
        {
            // `Tokens.java:12` is a location in a file.
            let is_place = name.contains('.') && value.bytes().all(|byte| byte.is_ascii_digit());
            if !is_place && self.redactor.names_secret(name) {
                self.out.push_str(name);
                self.out.push(':');
                self.out.push_str(REDACTED);
                return;
            }
        }
        // `--password S3CRET`
        if word.starts_with('-') && after.starts_with(' ') && self.redactor.names_secret(word) {
            let next = after.trim_start();
            self.expects_value = !next.starts_with(['-', '=']);
            self.out.push_str(word);
            if self.expects_value {
                return;
            }
        } else {
            self.out.push_str(word);
        }
        // `name=`, `name:`, `name": "` and `name = `.
        let marks = &after[..after.find(|c: char| !is_separator(c) && c != ':').unwrap_or(after.len())];
        let has_mark = word.ends_with(':') || marks.contains(['=', ':']);
        self.expects_value = has_mark && self.redactor.names_secret(word);
    }

    /// Writes a URL up to the first separator. `rest` follows `://`. Parameters after the separator are processed
    /// later, as separate words.
    fn url(&mut self, scheme: &str, rest: &str) {
        self.out.push_str(scheme);
        self.out.push_str("://");
        match rest.split_once('@') {
            Some((user, host)) if user.contains(':') && !user.contains('/') => {
                self.out.push_str(user.split(':').next().unwrap_or_default());
                self.out.push(':');
                self.out.push_str(REDACTED);
                self.out.push('@');
                self.out.push_str(host);
            }
            _ => self.out.push_str(rest),
        }
    }
}

fn is_separator(c: char) -> bool {
    c.is_whitespace() || "\"'`,;&?(){}[]<>=|".contains(c)
}

/// The length of the separators at the beginning of a text. They end before a placeholder or a redacted value.
fn separators_length(text: &str) -> usize {
    let separators = text.find(|c| !is_separator(c)).unwrap_or(text.len());
    let masked = text[..separators].find(['<', '[']).filter(|at| *at > 0);
    separators.min(masked.unwrap_or(separators))
}

/// The length of the word at the beginning of a text. Placeholders belong to the word, because the template of a secret
/// such as `S3CRET` can be `S<*>CRET`.
fn word_length(text: &str) -> usize {
    let mut length = 0;
    loop {
        let rest = &text[length..];
        match rest.chars().next() {
            _ if rest.starts_with(WILDCARD) => length += WILDCARD.len(),
            Some(character) if !is_separator(character) => length += character.len_utf8(),
            Some(_) | None => return length,
        }
    }
}

/// Whether a word is an authentication scheme, after which a secret follows.
fn is_scheme(word: &str, after: &str) -> bool {
    let is_followed = after.starts_with(' ') && after.trim_start().starts_with(|c: char| !is_separator(c));
    is_followed
        && ["bearer", "basic", "digest", "token", "negotiate"]
            .iter()
            .any(|scheme| word.eq_ignore_ascii_case(scheme))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redactor() -> Redactor {
        let is_secret_name = |name: &str| {
            let name = name.to_ascii_lowercase();
            ["password", "token", "authorization", "secret", "pin"].iter().any(|part| name.contains(part))
        };
        Redactor::new(is_secret_name, |value| value.starts_with("eyJ") || value.starts_with("Bearer S"))
    }

    #[test]
    fn values_of_secret_names_are_redacted() {
        for text in [
            "login password=S3CRET ok",
            "login password = S3CRET ok",
            "login password: S3CRET ok",
            "login password:S3CRET ok",
            r#"login {"password":"S3CRET", "a":1} ok"#,
            r#"login {"password" : "S3CRET with spaces"} ok"#,
            "login password='S3CRET S3CRET' ok",
            "Authorization: Bearer S3CRET ok",
            "sent Bearer S3CRET ok",
            "value eyJS3CRET ok",
            "GET http://h/a?token=S3CRET&b=c ok",
            "GET https://ann:S3CRET@host/a ok",
            "map {token=S3CRET, b=c} ok",
            "pin:S3CRET ok",
            "exec shop --password S3CRET ok",
            "exec shop --password=S3CRET ok",
            "exec shop -Dapp.token=S3CRET ok",
        ] {
            let redacted = redactor().redact(text);
            assert!(!redacted.contains("S3CRET") && redacted.contains(REDACTED), "{text}: {redacted}");
            assert!(redacted.ends_with(" ok") || redacted.ends_with("} ok"), "{text}: {redacted}");
        }
    }

    #[test]
    fn secrets_with_placeholders_are_redacted_in_templates() {
        for text in [
            "login password=S<*>CRET ok",
            "login password=<*>CRET ok",
            "login password=S<*> ok",
            "login password: <*>CRET<*>CRET ok",
            "GET https://ann:S<*>CRET@host/a?token=<*>CRET ok",
            "sent Authorization: Bearer S<*>CRET ok",
            "value eyJS<*>CRET.CRET ok",
        ] {
            let redacted = redactor().redact(text);
            assert!(!redacted.contains("CRET") && redacted.contains(REDACTED), "{text}: {redacted}");
            assert!(redacted.ends_with(" ok"), "{text}: {redacted}");
        }
    }

    #[test]
    fn secrets_are_kept_on_request() {
        let text = "GET https://ann:S3CRET@host/a?token=S3CRET";
        assert_eq!(Redactor::keeping_secrets().redact(text), text);
    }

    #[test]
    fn other_texts_are_not_changed() {
        for text in [
            "login password=<*> and <*>",
            "<<*> =<",
            "a plain text, with: punctuation = 5",
            "shop.InvalidTokenException: expired at 5",
            "\tat shop.TokenService.load(TokenService.java:12)",
            "http://host:80/a?b=c",
            "no token was found",
            "shop --token --verbose",
            "",
            "é=ü",
            "=\"",
        ] {
            assert_eq!(redactor().redact(text), text);
        }
    }

    proptest::proptest! {
        #[test]
        fn redaction_is_stable(text in "([a-z:=\\[\" é/@]|<\\*>){0,40}") {
            let once = redactor().redact(&text);
            proptest::prop_assert_eq!(redactor().redact(&once), once);
        }
    }
}
