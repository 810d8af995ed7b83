//! Splits URLs and resolves relative URLs.

use crate::failure::Failure;

/// The parts of an absolute URL.
#[derive(Debug, PartialEq, Eq)]
pub struct UrlParts<'u> {
    /// Whether the scheme is `https`.
    pub secure: bool,
    /// The host, in brackets if it is an IPv6 address.
    pub host: &'u str,
    /// The port, if the URL has one.
    pub port: Option<u16>,
    /// The path with query and fragment, possibly empty.
    pub rest: &'u str,
}

/// Splits an absolute `http` or `https` URL.
///
/// # Errors
/// If the protocol is unknown or the port is invalid: the failure that JMeter would record.
pub fn split(url: &str) -> Result<UrlParts<'_>, Failure> {
    let malformed = |message: String| Failure::new("java.net.MalformedURLException", message);
    let Some((scheme, after)) = url.split_once("://") else {
        return Err(malformed(format!("no protocol: {url}")));
    };
    let secure = if scheme.eq_ignore_ascii_case("https") {
        true
    } else if scheme.eq_ignore_ascii_case("http") {
        false
    } else {
        return Err(malformed(format!("unknown protocol: {}", scheme.to_lowercase())));
    };
    let end = after.find(['/', '?', '#']).unwrap_or(after.len());
    let (authority, rest) = after.split_at(end);
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if authority.starts_with('[') && !authority.contains(']') {
        return Err(malformed(format!("Invalid authority field: {authority}")));
    }
    let (host, port) = match authority.rfind(':') {
        Some(colon) if !authority[colon..].contains(']') => (&authority[..colon], &authority[colon + 1..]),
        _ => (authority, ""),
    };
    let port = match port {
        "" => None,
        text => Some(text.parse().map_err(|_| malformed(format!("For input string: \"{text}\"")))?),
    };
    Ok(UrlParts { secure, host, port, rest })
}

/// Resolves a `Location` against the URL of its response (RFC 3986, section 5.2, like `java.net.URL`).
pub fn resolve(base: &str, location: &str) -> String {
    let location = location.trim();
    if location.contains("://") && location.find("://") < location.find(['/', '?', '#']) {
        return location.to_owned();
    }
    let Some(scheme_end) = base.find("://") else { return location.to_owned() };
    if location.starts_with("//") {
        return format!("{}:{location}", &base[..scheme_end]);
    }
    let authority_end =
        base[scheme_end + 3..].find(['/', '?', '#']).map_or(base.len(), |at| scheme_end + 3 + at);
    let (prefix, rest) = base.split_at(authority_end);
    let path = &rest[..rest.find(['?', '#']).unwrap_or(rest.len())];
    if location.is_empty() {
        return base.to_owned();
    }
    if let Some(query) = location.strip_prefix('?') {
        // Java uses the directory here, not the file as in RFC 3986.
        return format!("{prefix}{}/?{query}", &path[..path.rfind('/').unwrap_or(0)]);
    }
    let joined = if location.starts_with('/') {
        location.to_owned()
    } else {
        let directory = path.rfind('/').map_or("/", |slash| &path[..=slash]);
        format!("{directory}{location}")
    };
    let (path, tail) = joined.split_at(joined.find(['?', '#']).unwrap_or(joined.len()));
    format!("{prefix}{}{tail}", without_dots(path))
}

fn without_dots(path: &str) -> String {
    if !path.contains("/.") {
        return path.to_owned();
    }
    let mut segments_out: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match segment {
            "." if last => segments_out.push(""),
            "." => {}
            ".." => {
                segments_out.pop();
                if last {
                    segments_out.push("");
                }
            }
            other => segments_out.push(other),
        }
    }
    let mut out = String::new();
    for segment in segments_out {
        out.push('/');
        out.push_str(segment);
    }
    if out.is_empty() { "/".into() } else { out }
}

/// The absolute URL of `reference` on a page at `base`, as computed by `java.net.URL`; `None` if Java does not know the
/// protocol.
pub fn java_url(base: &str, reference: &str) -> Option<String> {
    const KNOWN: [&str; 6] = ["http", "https", "ftp", "file", "jar", "mailto"];
    let mut reference = reference.trim_matches(|character: char| character <= ' ');
    if let Some((scheme, rest)) = scheme_of(reference) {
        let scheme = scheme.to_ascii_lowercase();
        if !KNOWN.contains(&scheme.as_str()) {
            return None;
        }
        let own = base.split_once(':').is_some_and(|(own, _)| own == scheme);
        if !own || rest.starts_with('/') || !base.contains("://") {
            let url = format!("{scheme}:{rest}");
            if !scheme.starts_with("http") {
                return Some(url);
            }
            let (prefix, path) = url.split_at(url.len() - split(&url).ok()?.rest.len());
            let (path, tail) = path.split_at(path.find(['?', '#']).unwrap_or(path.len()));
            let path = if path.is_empty() { path.to_owned() } else { without_dots(path) };
            return Some(format!("{prefix}{path}{tail}"));
        }
        reference = rest;
    }
    if let Some(file) = base.strip_prefix("file:") {
        let path = &file[..file.find(['?', '#']).unwrap_or(file.len())];
        let directory =
            if reference.starts_with('/') { "" } else { &path[..path.rfind('/').map_or(0, |at| at + 1)] };
        return Some(format!("file:{directory}{reference}"));
    }
    if let Some(fragment) = reference.strip_prefix('#') {
        let page = base.split('#').next().unwrap_or(base);
        return Some(format!("{page}#{fragment}"));
    }
    Some(resolve(base, reference)).filter(|url| split(url).is_ok())
}

/// The scheme at the start of a URL, and the text after its colon.
fn scheme_of(url: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = url.split_once(':')?;
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'-');
    (scheme.bytes().next()?.is_ascii_alphabetic() && scheme.bytes().all(fits)).then_some((scheme, rest))
}

/// Normalizes the path of a URL like `java.net.URI`: removes dot segments and empty segments.
pub fn normalized(url: &str) -> String {
    let Ok(parts) = split(url) else { return url.to_owned() };
    let (prefix, rest) = url.split_at(url.len() - parts.rest.len());
    let (path, tail) = rest.split_at(rest.find(['?', '#']).unwrap_or(rest.len()));
    if !path.contains("//") && !path.contains("/.") {
        return url.to_owned();
    }
    let mut single = String::with_capacity(path.len());
    for character in path.chars() {
        if character != '/' || !single.ends_with('/') {
            single.push(character);
        }
    }
    format!("{prefix}{}{tail}", without_dots(&single))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_split() {
        let parts = split("http://[::1]:8080/a?b").unwrap();
        assert_eq!((parts.host, parts.port, parts.rest), ("[::1]", Some(8080), "/a?b"));
        assert_eq!(split("https://h").unwrap().port, None);
        assert_eq!(split("ftp://h/").unwrap_err().message, "unknown protocol: ftp");
        assert_eq!(split("http://[::bad/x").unwrap_err().message, "Invalid authority field: [::bad");
        assert!(split("h/x").is_err());
        assert!(split("http://h:99999/").is_err());
    }

    #[test]
    fn locations_are_resolved() {
        let base = "http://h:1/a/b?c";
        for (location, absolute) in [
            ("/x", "http://h:1/x"),
            ("x", "http://h:1/a/x"),
            ("../x?y", "http://h:1/x?y"),
            ("?q", "http://h:1/a/?q"),
            ("//other/x", "http://other/x"),
            ("https://o/", "https://o/"),
            ("./", "http://h:1/a/"),
            ("/x?u=http://z/", "http://h:1/x?u=http://z/"),
        ] {
            assert_eq!(resolve(base, location), absolute, "{location}");
        }
        assert_eq!(resolve("http://h", "x"), "http://h/x");
    }

    #[test]
    fn references_become_java_urls() {
        let base = "http://h:1/a/b?c";
        for (reference, url) in [
            (" x y ", Some("http://h:1/a/x y")),
            ("http:z", Some("http://h:1/a/z")),
            ("HTTPS://o/p/../q?r", Some("https://o/q?r")),
            ("data:image/png;base64,x", None),
            ("javascript:void(0)", None),
            ("mailto:a@b", Some("mailto:a@b")),
            ("#top", Some("http://h:1/a/b?c#top")),
            ("//o/x", Some("http://o/x")),
            ("//o:x/", None),
            ("https://o:y/", None),
        ] {
            assert_eq!(java_url(base, reference).as_deref(), url, "{reference}");
        }
        assert_eq!(java_url("file:d/p.html", "e/f.css").as_deref(), Some("file:d/e/f.css"));
        assert_eq!(normalized("http://h/a//b/./c/../d?x=//"), "http://h/a/b/d?x=//");
    }
}
