//! Cookies according to RFC 2109, as HttpClient 4.5 parses, checks and writes them: the policy `rfc2109`.

use busyhour_program::ElementError;

use super::cookie::{Cookie, default_path};

/// Parses the cookies of a header. HttpClient treats each comma, even in a date, as the start of another cookie, and does not
/// parse `expires`.
///
/// # Errors
/// If an attribute has an invalid value. In this case, none of the header's cookies is accepted.
pub(super) fn parse(header: &str, host: &str, path: &str, now_ms: i64) -> Result<Vec<Cookie>, ElementError> {
    let mut cookies = Vec::new();
    for element in split(header, b',') {
        let mut pairs = split(element, b';').into_iter().map(pair);
        let Some((name, value)) = pairs.next().filter(|(name, _)| !name.is_empty()) else { continue };
        let mut cookie = Cookie {
            name,
            value: value.unwrap_or_default(),
            domain: host.to_owned(),
            path: default_path(path),
            secure: false,
            expires_ms: 0,
            domain_specified: false,
            path_specified: false,
            version: 0,
        };
        // From the last to the first, so that the first of two attributes with the same name counts.
        for (name, value) in pairs.collect::<Vec<_>>().into_iter().rev() {
            set(&mut cookie, &name.to_ascii_lowercase(), value.as_deref(), now_ms)
                .map_err(|why| format!("Unable to add the cookie: {why}: '{header}'"))?;
        }
        cookies.push(cookie);
    }
    Ok(cookies)
}

fn set(cookie: &mut Cookie, name: &str, value: Option<&str>, now_ms: i64) -> Result<(), ElementError> {
    let required = || match value {
        None => Err(format!("Missing value for {name} attribute")),
        Some(value) if value.trim().is_empty() => Err(format!("Blank value for {name} attribute")),
        Some(value) => Ok(value),
    };
    match name {
        "path" => {
            cookie.path = value.filter(|value| !value.trim().is_empty()).unwrap_or("/").to_owned();
            cookie.path_specified = true;
        }
        "domain" => {
            cookie.domain = required()?.to_ascii_lowercase();
            cookie.domain_specified = true;
        }
        "version" => {
            let value = required()?;
            cookie.version =
                value.parse().map_err(|_| format!("Invalid version: For input string: \"{value}\""))?;
        }
        "max-age" => {
            let value = value.ok_or("Missing value for 'max-age' attribute")?;
            let age_s: i32 = value.parse().map_err(|_| format!("Invalid 'max-age' attribute: {value}"))?;
            if age_s < 0 {
                return Err(format!("Negative 'max-age' attribute: {value}").into());
            }
            // A cookie with an age of 0 has already expired.
            cookie.expires_ms = (now_ms + i64::from(age_s) * 1000 - i64::from(age_s == 0)).max(1);
        }
        "secure" => cookie.secure = true,
        _ => {}
    }
    Ok(())
}

/// The reason why a cookie does not match the host of its response, if any.
pub(super) fn problem(cookie: &Cookie, host: &str) -> Option<String> {
    let Cookie { name, domain, version, .. } = cookie;
    if name.contains(' ') {
        return Some("Cookie name may not contain blanks".to_owned());
    }
    if name.starts_with('$') {
        return Some("Cookie name may not start with $".to_owned());
    }
    if *version < 0 {
        return Some("Cookie version may not be negative".to_owned());
    }
    if domain == host {
        return None;
    }
    let violates = |what: &str| Some(format!("Domain attribute \"{domain}\" violates RFC 2109: {what}"));
    if !domain.contains('.') {
        return Some(format!("Domain attribute \"{domain}\" does not match the host \"{host}\""));
    }
    let Some(inner) = domain.strip_prefix('.') else { return violates("domain must start with a dot") };
    if inner.find('.').is_none_or(|dot| dot + 1 == inner.len()) {
        return violates("domain must contain an embedded dot");
    }
    match host.strip_suffix(domain.as_str()) {
        None => Some(format!("Illegal domain attribute \"{domain}\". Domain of origin: \"{host}\"")),
        Some(before) if before.contains('.') => violates("host minus domain may not contain any dots"),
        Some(_) => None,
    }
}

/// Whether a cookie is sent to this host.
pub(super) fn domain_fits(cookie: &Cookie, host: &str) -> bool {
    host == cookie.domain || (cookie.domain.starts_with('.') && host.ends_with(&cookie.domain))
}

/// Writes the value of the `Cookie` header: the lowest version of the cookies, and each cookie with its received attributes.
pub(super) fn write(cookies: &[&Cookie], out: &mut Vec<u8>) {
    let Some(version) = cookies.iter().map(|cookie| cookie.version).min() else { return };
    let quote = if version > 0 { "\"" } else { "" };
    out.extend_from_slice(format!("$Version={version}").as_bytes());
    let mut write_pair = |name: &str, value: &str| {
        for part in ["; ", name, "=", quote, value, quote] {
            out.extend_from_slice(part.as_bytes());
        }
    };
    for cookie in cookies {
        write_pair(&cookie.name, &cookie.value);
        if cookie.path_specified {
            write_pair("$Path", &cookie.path);
        }
        if cookie.domain_specified {
            write_pair("$Domain", &cookie.domain);
        }
    }
}

/// Splits a text at separators outside of quotes.
fn split(text: &str, separator: u8) -> Vec<&str> {
    let (mut parts, mut from, mut quoted, mut escaped) = (Vec::new(), 0, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            byte if byte == separator && !quoted => {
                parts.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    parts
}

/// Parses the name and value of an attribute; quotes around the value are removed.
fn pair(text: &str) -> (String, Option<String>) {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value.trim())),
        None => (text, None),
    };
    let value = value.map(|value| {
        let Some(inner) = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')) else {
            return value.to_owned();
        };
        let mut out = String::with_capacity(inner.len());
        let mut escaped = false;
        for c in inner.chars() {
            if c == '\\' && !escaped {
                escaped = true;
                continue;
            }
            if escaped && !matches!(c, '"' | '\\') {
                out.push('\\');
            }
            escaped = false;
            out.push(c);
        }
        out
    });
    (name.trim().to_owned(), value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_700_000_000_000;

    fn read(header: &str) -> Vec<Cookie> {
        parse(header, "shop.example.org", "/a/b", NOW).unwrap()
    }

    #[test]
    fn a_header_may_contain_several_cookies_and_a_comma_starts_another() {
        let cookies = read("a=1; Path=/, b=\"x, \\\"y\\\"\"; version=1; Max-Age=10");
        assert_eq!(cookies.len(), 2);
        assert_eq!((cookies[0].path.as_str(), cookies[0].path_specified), ("/", true));
        assert_eq!(cookies[1].value, "x, \"y\"");
        assert_eq!((cookies[1].version, cookies[1].expires_ms), (1, NOW + 10_000));
        assert_eq!((cookies[1].path.as_str(), cookies[1].path_specified), ("/a", false));
        let torn = read("a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/");
        assert_eq!(torn[0].expires_ms, 0);
        assert!(problem(&torn[1], "shop.example.org").unwrap().contains("blanks"));
        assert!(parse("a=1; max-age=-1", "h", "/", NOW).unwrap_err().message().contains("Negative"));
        assert!(parse("a=1; domain=", "h", "/", NOW).unwrap_err().message().contains("domain"));
    }

    #[test]
    fn domains_are_checked_strictly() {
        let with = |domain: &str| problem(&read(&format!("a=1; domain={domain}"))[0], "shop.example.org");
        assert_eq!(with("shop.example.org"), None);
        assert_eq!(with(".example.org"), None);
        for (domain, why) in [
            ("example.org", "start with a dot"),
            (".org", "embedded dot"),
            ("other", "does not match"),
            (".example.com", "Illegal domain"),
        ] {
            assert!(with(domain).is_some_and(|text| text.contains(why)), "{domain}");
        }
        let far = problem(&read("a=1; domain=.example.org")[0], "a.b.example.org").unwrap();
        assert!(far.contains("host minus domain"), "{far}");
    }

    #[test]
    fn cookies_are_sent_back_with_their_attributes() {
        let header = |cookies: &[Cookie]| {
            let mut out = Vec::new();
            write(&cookies.iter().collect::<Vec<_>>(), &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(header(&read("a=1; Path=/")), "$Version=0; a=1; $Path=/");
        let cookies = read("a=1; version=1; domain=.example.org, b=2; version=2");
        assert_eq!(header(&cookies), "$Version=1; a=\"1\"; $Domain=\".example.org\"; b=\"2\"");
        assert_eq!(header(&[]), "");
    }
}
