//! Recognizes secrets by the name and by the form of a value.
//!
//! In case of doubt, a value counts as a secret: a redacted value can be looked up where it was typed, but a published
//! password cannot be withdrawn. Ordinary words that contain a secret word (`author`, `compass`, `keyboard`) and settings
//! about secrets (`token.timeout`, `auth.url`) are not redacted.

/// A name that contains one of these parts is the name of a secret, in any spelling: `access_token`, `accessToken`,
/// `ACCESSTOKEN`.
const PARTS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "token",
    "authorization",
    "cookie",
    "credential",
    "bearer",
    "jwt",
    "signature",
    "sessionid",
    "sessid",
    "csrf",
    "xsrf",
    "apikey",
    "accesskey",
    "authkey",
    "privatekey",
    "sshkey",
    "signingkey",
    "connectionstring",
];

/// Ordinary words that contain a part of the list above.
const ORDINARY_PARTS: &[&str] = &["secretar", "tokeniz", "tokenis", "forbearer"];

/// A name whose last word is one of these is the name of a secret: `api.key` is, `javax.net.ssl.keyStore` is not.
const LAST_WORDS: &[&str] = &[
    "key", "keys", "pwd", "pw", "pass", "auth", "oauth", "pin", "otp", "totp", "mfa", "cvv", "cvc", "sig",
    "sid", "hmac", "session", "sas", "cred", "creds",
];

/// Words that may follow one of the last words: `auth_header`, `pin.code`.
const CARRIERS: &[&str] = &["code", "data", "hash", "header", "id", "string", "value"];

/// A name that ends with one of these words is a setting about secrets.
const SETTINGS: &[&str] = &[
    "algorithm",
    "count",
    "dir",
    "enabled",
    "endpoint",
    "expiration",
    "expires",
    "expiry",
    "file",
    "host",
    "interval",
    "length",
    "limit",
    "name",
    "path",
    "policy",
    "port",
    "size",
    "timeout",
    "ttl",
    "type",
    "uri",
    "url",
    "version",
];

/// Suffixes of secret names that are written as one word: `mypw`, `dbpass`.
const SUFFIXES: &[&str] = &["pw", "pwd", "pass"];

/// Ordinary words with such a suffix.
const ORDINARY_WORDS: &[&str] =
    &["bypass", "compass", "encompass", "overpass", "surpass", "trespass", "underpass"];

/// Names of secrets only in parameters of a URL or form: the code of OAuth.
const PARAMETERS: &[&str] = &["code"];

/// Headers whose values are not secret. The values of all other headers are redacted.
const PUBLIC_HEADERS: &[&str] = &[
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "connection",
    "content-encoding",
    "content-language",
    "content-length",
    "content-type",
    "dnt",
    "expect",
    "host",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-unmodified-since",
    "origin",
    "pragma",
    "prefer",
    "range",
    "referer",
    "te",
    "traceparent",
    "upgrade",
    "user-agent",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-requested-with",
];

/// Prefixes of values that are secrets under any name, each with the minimum number of characters after it.
const PREFIXES: &[(&str, usize)] = &[
    ("eyJ", 5),
    ("ghp_", 16),
    ("gho_", 16),
    ("ghs_", 16),
    ("github_pat_", 16),
    ("glpat-", 16),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("sk-", 20),
    ("sk_live_", 8),
    ("AKIA", 16),
    ("AIza", 30),
];

/// Schemes of an `Authorization` header whose secret has no spaces. `Basic training course` is therefore not a secret.
const SCHEMES: &[&str] = &["basic", "bearer", "token", "apikey", "negotiate", "ntlm"];

/// Schemes whose secret has parameters.
const SCHEMES_WITH_PARAMETERS: &[&str] = &["digest", "hawk", "oauth", "aws4-hmac-sha256"];

/// Whether a property, option or field called `name` contains a secret.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    let words = words(name);
    let Some(last) = words.last() else { return false };
    let ends_with = |list: &[&str]| list.contains(&last.as_str());
    if words.len() > 1 && ends_with(SETTINGS) {
        return false;
    }
    let joined = words.concat();
    if PARTS.iter().any(|part| joined.contains(part))
        && !ORDINARY_PARTS.iter().any(|part| joined.contains(part))
    {
        return true;
    }
    ends_with(LAST_WORDS)
        || ends_with(CARRIERS) && words.iter().any(|word| LAST_WORDS.contains(&word.as_str()))
        || SUFFIXES.iter().any(|end| last.ends_with(end)) && !ends_with(ORDINARY_WORDS)
}

/// Whether a parameter of a URL or form called `name` contains a secret.
pub(super) fn is_secret_parameter(name: &str) -> bool {
    PARAMETERS.iter().any(|known| name.eq_ignore_ascii_case(known)) || is_secret_name(name)
}

/// Whether the value of a header called `name` may be stored in the run directory.
pub(super) fn is_public_header(name: &str) -> bool {
    let name = name.trim();
    PUBLIC_HEADERS.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Whether a value is a secret under any name: `Bearer …`, `Basic …`, JSON Web Tokens, keys of well-known services.
#[must_use]
pub fn is_secret_value(value: &str) -> bool {
    let value = value.trim();
    let is_key = |character: char| character.is_ascii_alphanumeric() || "_-.=+/".contains(character);
    let has_prefix = PREFIXES.iter().any(|(prefix, more)| {
        value
            .strip_prefix(prefix)
            .is_some_and(|rest| rest.chars().take_while(|c| is_key(*c)).count() >= *more)
    });
    let has_scheme = value.split_once(' ').is_some_and(|(scheme, rest)| {
        let is_in = |list: &[&str]| list.iter().any(|known| scheme.eq_ignore_ascii_case(known));
        let rest = rest.trim();
        !rest.is_empty()
            && (is_in(SCHEMES) && !rest.contains(' ') || is_in(SCHEMES_WITH_PARAMETERS) && rest.contains('='))
    });
    has_prefix || has_scheme || value.starts_with("-----BEGIN ") && value.contains("PRIVATE KEY")
}

/// The words of a name in any of the usual spellings, in lower case: `api_key`, `api.key`, `API-KEY`, `apiKey`, `APIKey`.
/// Digits at the end of a word are omitted.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    for part in name.split(|c: char| !c.is_alphanumeric()) {
        let characters: Vec<char> = part.chars().collect();
        let mut word = String::new();
        for (at, &character) in characters.iter().enumerate() {
            let before = at.checked_sub(1).map(|before| characters[before]);
            let starts = character.is_uppercase()
                && before.is_some_and(|before| {
                    before.is_lowercase()
                        || before.is_uppercase()
                            && characters.get(at + 1).is_some_and(|next| next.is_lowercase())
                });
            if starts {
                words.push(std::mem::take(&mut word));
            }
            word.extend(character.to_lowercase());
        }
        words.push(word);
    }
    words
        .iter_mut()
        .for_each(|word| word.truncate(word.trim_end_matches(|c: char| c.is_ascii_digit()).len()));
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of secrets, and names of other things. The last line of each list contains names that are hard to classify.
    const SECRET: &str = "password db.PASSWORD password1 javax.net.ssl.trustStorePassword client_secret clientSecret Authorization \
        Proxy-Authorization Set-Cookie api.key apiKey X-API-Key APIKEY APIKey accessToken AWS_SECRET_ACCESS_KEY \
        jwt JWT my.jwt bearer bearer_value pass user.pass dbpass pin PIN card_pin pin.code otp otpCode totp session SESSION sessionId \
        JSESSIONID PHPSESSID sid sig X-Amz-Signature signature mypw db_pw pwd auth auth_header oauth hmac csrf xsrfToken creds \
        private_key privateKey ssh.key connectionString credentials cvv passcode passphrase \
        first_pass tokens sort.key";
    const OTHER: &str = "USERS javax.net.ssl.keyStore monkey keyboard HOST Accept author authority authors passenger passengers compass \
        bypass trespass passport spin pinned session.timeout sessions token.url token_type tokenizer tokenizeInput secretary \
        cookie.policy auth.url authType signal signed design assign sidebar inside side keyword keystone turkey code zipcode \
        user username name zip assets class ssh url bearing \
        auth.enabled password.length secret.name";

    #[test]
    fn secrets_are_recognized_by_name() {
        for name in SECRET.split_whitespace() {
            assert!(is_secret_name(name), "{name}");
        }
        for name in OTHER.split_whitespace().chain(["", "-", "___"]) {
            assert!(!is_secret_name(name), "{name}");
        }
        assert!(is_secret_parameter("code") && is_secret_parameter("sig") && !is_secret_parameter("zipcode"));
    }

    #[test]
    fn secrets_are_recognized_by_form() {
        for value in [
            "Bearer abc",
            "bearer abc.def",
            "Basic dXNlcjpwdw==",
            "eyJhbGciOiJIUzI1NiJ9.e30.x",
            "Digest username=\"a\", response=\"b\"",
            "ghp_0123456789abcdefghij",
            "-----BEGIN RSA PRIVATE KEY-----",
        ] {
            assert!(is_secret_value(value), "{value}");
        }
        for value in [
            "Bearer",
            "Basic training course",
            "Bearer of news",
            "basic",
            "eyJ",
            "eye",
            "token ring network",
            "sk-8",
            "",
            "x",
        ] {
            assert!(!is_secret_value(value), "{value}");
        }
    }

    #[test]
    fn names_are_split_into_words() {
        assert_eq!(words("X-API-Key"), ["x", "api", "key"]);
        assert_eq!(words("myAPIKey2"), ["my", "api", "key"]);
        assert_eq!(words("JSESSIONID"), ["jsessionid"]);
        assert!(words("..42-").is_empty());
    }
}
