//! The cookies of a user, as in JMeter's HTTP Cookie Manager with the `standard` policy (RFC 6265, lenient) and with
//! the policy `rfc2109`.

mod cookie;
mod list;
mod rfc2109;

use std::net::IpAddr;
use std::sync::Arc;

use busyhour_program::ElementError;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_request::RequestCookie;

use self::cookie::{Cookie, default_path};
use self::list::CookieList;
use crate::dates;
use crate::origin::Origin;

/// A cookie of the plan, with which every user starts.
#[derive(Debug, Clone)]
pub struct InitialCookie {
    /// Name.
    pub name: Template,
    /// `Cookie.value`.
    pub value: Template,
    /// `Cookie.domain`.
    pub domain: Template,
    /// `Cookie.path`.
    pub path: Template,
    /// `Cookie.secure`.
    pub secure: bool,
    /// `Cookie.expires`, seconds since 1970; 0: at the end of the session.
    pub expires_s: i64,
    /// `Cookie.domain_specified`.
    pub domain_specified: bool,
    /// `Cookie.path_specified`.
    pub path_specified: bool,
}

/// Which cookies are accepted, and how they are sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CookiePolicy {
    /// `standard`: RFC 6265.
    #[default]
    Standard,
    /// `rfc2109`: cookies have a version, and are sent back with their attributes.
    Rfc2109,
    /// `ignoreCookies`: none are sent or stored.
    Ignore,
}

/// An HTTP Cookie Manager.
#[derive(Debug, Clone, Default)]
pub struct CookieManager {
    /// The cookies with which a user starts.
    pub initial: Vec<InitialCookie>,
    /// `CookieManager.clearEachIteration`.
    pub clear_each_iteration: bool,
    /// `CookieManager.controlledByThreadGroup`: whether the cookies are cleared when an iteration of the group belongs to a new
    /// user.
    pub controlled_by_group: bool,
    /// `CookieManager.policy`.
    pub policy: CookiePolicy,
    /// The prefix of the variables in which cookies are stored (property `CookieManager.save.cookies`), if enabled.
    pub save_as: Option<String>,
    /// Whether cookies without a value are dropped (property `CookieManager.delete_null_cookies`).
    pub delete_empty: bool,
    /// Whether cookies must match the URL of their response (property `CookieManager.check.cookies`).
    pub check: bool,
}

/// The version of the plan's cookies.
const INITIAL_VERSION: i32 = 1;

/// The cookies of one user under one manager.
#[derive(Debug, Clone)]
pub struct Jar {
    /// The manager of the cookies.
    pub manager: Arc<CookieManager>,
    cookies: CookieList,
    /// Whether a script has cleared the manager, which in JMeter makes it retain cookies for only one sample from then
    /// on.
    clears_each_sample: bool,
    /// Whether cookies were dropped because there were too many.
    has_dropped: bool,
}

impl Jar {
    /// Creates the jar of a user that has not made a request yet.
    pub fn new(manager: &Arc<CookieManager>, user: &mut UserState) -> Self {
        let (manager, cookies) = (Arc::clone(manager), CookieList::default());
        let mut jar = Self { manager, cookies, clears_each_sample: false, has_dropped: false };
        jar.reset(user);
        jar
    }

    /// Removes the cookies that another jar contains.
    pub(crate) fn remove_all(&mut self, other: &Jar) {
        self.cookies.remove_all(&other.cookies);
    }

    /// Removes all cookies except the initial ones.
    pub fn reset(&mut self, user: &mut UserState) {
        self.cookies.clear();
        for cookie in &self.manager.initial {
            self.cookies.push(Cookie {
                name: cookie.name.text(user).into_owned(),
                value: cookie.value.text(user).into_owned(),
                domain: cookie.domain.text(user).to_ascii_lowercase(),
                path: cookie.path.text(user).into_owned(),
                secure: cookie.secure,
                expires_ms: cookie.expires_s.saturating_mul(1000),
                domain_specified: cookie.domain_specified,
                path_specified: cookie.path_specified,
                version: INITIAL_VERSION,
            });
        }
    }

    /// The cookies in order.
    pub(crate) fn cookies(&self) -> Vec<RequestCookie> {
        let of = |cookie: &Cookie| RequestCookie {
            name: cookie.name.clone(),
            value: cookie.value.clone(),
            domain: cookie.domain.clone(),
            path: cookie.path.clone(),
            secure: cookie.secure,
            expires_ms: cookie.expires_ms,
            domain_specified: cookie.domain_specified,
            path_specified: cookie.path_specified,
            version: cookie.version,
        };
        self.cookies.iter().map(of).collect()
    }

    /// Removes all cookies, as a script does.
    pub(crate) fn clear(&mut self) {
        self.cookies.clear();
        self.clears_each_sample = true;
    }

    /// Whether a script has cleared the manager.
    pub(crate) fn clears_each_sample(&self) -> bool {
        self.clears_each_sample
    }

    /// Starts a sample: if a script has cleared the manager, the cookies of the previous sample are removed.
    pub(crate) fn begin_sample(&mut self) {
        if self.clears_each_sample {
            self.cookies.clear();
        }
    }

    /// Replaces all cookies.
    pub(crate) fn set_cookies(&mut self, cookies: Vec<RequestCookie>) {
        let of = |cookie: RequestCookie| Cookie {
            name: cookie.name,
            value: cookie.value,
            domain: cookie.domain,
            path: cookie.path,
            secure: cookie.secure,
            expires_ms: cookie.expires_ms,
            domain_specified: cookie.domain_specified,
            path_specified: cookie.path_specified,
            version: cookie.version,
        };
        self.cookies = cookies.into_iter().map(of).collect();
    }

    /// Adds all cookies of another jar; they replace cookies with the same name, path and domain.
    pub(crate) fn add_all(&mut self, from: Jar) {
        self.cookies.add_all(from.cookies, self.manager.delete_empty);
        self.has_dropped |= self.cookies.drop_oldest();
    }

    /// Whether cookies were dropped since the last call.
    pub(crate) fn take_dropped(&mut self) -> bool {
        std::mem::take(&mut self.has_dropped)
    }

    /// Starts an iteration; `same_user`: whether it belongs to the same user as the previous one.
    pub fn iteration_started(&mut self, user: &mut UserState, same_user: bool) {
        let manager = &self.manager;
        let clear = if manager.controlled_by_group { !same_user } else { manager.clear_each_iteration };
        if clear {
            self.reset(user);
        }
    }

    /// Appends the value of the `Cookie` header of a request; returns whether there is one.
    pub fn write(&self, origin: &Origin, path: &str, now_ms: i64, out: &mut Vec<u8>) -> bool {
        let policy = self.manager.policy;
        if self.cookies.is_empty() || policy == CookiePolicy::Ignore {
            return false;
        }
        let host = origin.bare_host();
        let path = path_only(path);
        let domain_fits = match policy {
            CookiePolicy::Rfc2109 => rfc2109::domain_fits,
            _ => domain_fits,
        };
        let mut matching: Vec<&Cookie> = self
            .cookies
            .iter()
            .filter(|cookie| {
                (cookie.expires_ms == 0 || cookie.expires_ms > now_ms)
                    && (!cookie.secure || origin.secure)
                    && domain_fits(cookie, host)
                    && path_fits(&cookie.path, path)
            })
            .collect();
        // Longer paths first; the sort is stable, so equal ones stay in the order of arrival.
        matching.sort_by_key(|cookie| std::cmp::Reverse(cookie.path.len()));
        if matching.is_empty() {
            return false;
        }
        if policy == CookiePolicy::Rfc2109 {
            rfc2109::write(&matching, out);
            return true;
        }
        for (index, cookie) in matching.iter().enumerate() {
            if index > 0 {
                out.extend_from_slice(b"; ");
            }
            out.extend_from_slice(cookie.name.as_bytes());
            out.push(b'=');
            write_value(&cookie.value, out);
        }
        true
    }

    /// Stores the cookie of a `Set-Cookie` header. Returns its name and value, both empty if it only removed a cookie.
    ///
    /// # Errors
    /// If the cookie is malformed or does not match the URL of its response; the message is for the log.
    pub fn receive(
        &mut self,
        header: &str,
        origin: &Origin,
        path: &str,
        now_ms: i64,
    ) -> Result<(String, String), ElementError> {
        let none = Ok((String::new(), String::new()));
        let host = origin.bare_host().to_ascii_lowercase();
        let cookie = match self.manager.policy {
            CookiePolicy::Ignore => return none,
            CookiePolicy::Rfc2109 => return self.receive_rfc2109(header, &host, path_only(path), now_ms),
            CookiePolicy::Standard => parse(header, &host, path_only(path), now_ms)?,
        };
        if self.manager.check && !(cookie.domain == host || domain_matches(&cookie.domain, &host)) {
            return Err(format!(
                "Not storing invalid cookie: <{header}> for URL {}{path} (Illegal 'domain' attribute \"{}\". Domain of \
                 origin: \"{host}\")",
                origin.prefix, cookie.domain
            ).into());
        }
        Ok(self.store(cookie, now_ms))
    }

    /// Processes a header by the rules of RFC 2109: it can contain several cookies. Returns the result of the last cookie that
    /// was stored.
    fn receive_rfc2109(
        &mut self,
        header: &str,
        host: &str,
        path: &str,
        now_ms: i64,
    ) -> Result<(String, String), ElementError> {
        // The message contains the whole header, so it is created only once.
        let mut outcome = Ok((String::new(), String::new()));
        for cookie in rfc2109::parse(header, host, path, now_ms)? {
            let problem = if self.manager.check { rfc2109::problem(&cookie, host) } else { None };
            match problem {
                Some(why) => outcome = outcome.and(Err(why)),
                None => outcome = Ok(self.store(cookie, now_ms)),
            }
        }
        outcome.map_err(|why| {
            format!("Not storing invalid cookie: <{header}> for URL {host}{path} ({why})").into()
        })
    }

    /// Stores a cookie, replacing cookies with the same name, path and domain. Returns its name and value, both empty if it was
    /// not stored.
    fn store(&mut self, cookie: Cookie, now_ms: i64) -> (String, String) {
        self.cookies.remove_equivalent(&cookie);
        let expired = cookie.expires_ms != 0 && cookie.expires_ms < now_ms;
        if expired || (self.manager.delete_empty && cookie.value.is_empty()) {
            return (String::new(), String::new());
        }
        let stored = (cookie.name.clone(), cookie.value.clone());
        self.cookies.push(cookie);
        self.has_dropped |= self.cookies.drop_oldest();
        stored
    }
}

/// Writes a value as HttpClient does: quoted if it contains a special character.
fn write_value(value: &str, out: &mut Vec<u8>) {
    const SPECIAL: [u8; 5] = *b" \",;\\";
    if !value.bytes().any(|byte| SPECIAL.contains(&byte)) {
        out.extend_from_slice(value.as_bytes());
        return;
    }
    out.push(b'"');
    for byte in value.bytes() {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out.push(b'"');
}

fn path_only(target: &str) -> &str {
    let path = &target[..target.find(['?', '#']).unwrap_or(target.len())];
    if path.is_empty() { "/" } else { path }
}

fn domain_fits(cookie: &Cookie, host: &str) -> bool {
    let domain = cookie.domain.strip_prefix('.').unwrap_or(&cookie.domain);
    host.eq_ignore_ascii_case(domain) || (cookie.domain_specified && domain_matches(domain, host))
}

fn domain_matches(domain: &str, host: &str) -> bool {
    if host.parse::<IpAddr>().is_ok() {
        return false;
    }
    let host = host.to_ascii_lowercase();
    host.strip_suffix(domain).is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

fn path_fits(cookie: &str, path: &str) -> bool {
    let cookie = if cookie.is_empty() { "/" } else { cookie };
    let cookie = if cookie.len() > 1 { cookie.strip_suffix('/').unwrap_or(cookie) } else { cookie };
    path.strip_prefix(cookie).is_some_and(|rest| cookie == "/" || rest.is_empty() || rest.starts_with('/'))
}

fn parse(header: &str, host: &str, path: &str, now_ms: i64) -> Result<Cookie, ElementError> {
    let mut parts = header.split(';');
    let pair = parts.next().unwrap_or_default();
    let Some((name, value)) = pair.split_once('=') else {
        return Err(format!("Unable to add the cookie: Cookie value is invalid: '{header}'").into());
    };
    let (name, value) = (name.trim(), value.trim());
    if name.is_empty() {
        return Err(format!("Unable to add the cookie: Cookie name is invalid: '{header}'").into());
    }
    let mut cookie = Cookie {
        name: name.into(),
        value: value.into(),
        domain: host.into(),
        path: default_path(path),
        secure: false,
        expires_ms: 0,
        domain_specified: false,
        path_specified: false,
        version: 0,
    };
    let mut max_age = None;
    let mut expires = None;
    for part in parts {
        let (name, value) =
            part.split_once('=').map_or((part.trim(), ""), |(name, value)| (name.trim(), value.trim()));
        match name.to_ascii_lowercase().as_str() {
            "path" => {
                cookie.path = if value.is_empty() { "/".into() } else { value.into() };
                cookie.path_specified = true;
            }
            "domain" => {
                if value.is_empty() {
                    return Err(format!(
                        "Unable to add the cookie: Blank or null value for domain attribute: '{header}'"
                    )
                    .into());
                }
                cookie.domain = value.strip_prefix('.').unwrap_or(value).to_ascii_lowercase();
                cookie.domain_specified = true;
            }
            "secure" => cookie.secure = true,
            "max-age" => max_age = value.parse::<i64>().ok().or(max_age),
            "expires" => expires = dates::parse_ms(value).or(expires),
            _ => {}
        }
    }
    if let Some(seconds) = max_age {
        // 0 would mean "at the end of the session", so an age of 0 is stored as a time in the past.
        cookie.expires_ms =
            if seconds <= 0 { 1 } else { now_ms.saturating_add(seconds.saturating_mul(1000)) };
    } else if let Some(at_ms) = expires {
        // JMeter treats the exact start of 1970 as "at the end of the session".
        cookie.expires_ms = if at_ms == 0 { 0 } else { at_ms.max(1) };
    }
    Ok(cookie)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{COOKIE_BYTES_MAX, COOKIES_MAX};

    const NOW: i64 = 1_700_000_000_000;

    fn parsed(header: &str) -> Result<Cookie, ElementError> {
        parse(header, "shop.example.org", "/a/b/c", NOW)
    }

    #[test]
    fn attributes_are_parsed() {
        let cookie = parsed(
            "JSESSIONID=x=y; Path=/shop; Secure; HttpOnly; Max-Age=10; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
        )
        .unwrap();
        assert_eq!((cookie.name.as_str(), cookie.value.as_str()), ("JSESSIONID", "x=y"));
        assert_eq!(cookie.path, "/shop");
        assert!(cookie.secure && !cookie.domain_specified);
        assert_eq!(cookie.expires_ms, NOW + 10_000);
        assert_eq!(parsed("a=b").unwrap().path, "/a/b");
        assert_eq!(parsed("a=b; domain=.Example.org").unwrap().domain, "example.org");
        assert!(parsed("a").is_err() && parsed("=b").is_err() && parsed("a=b; domain=").is_err());
        assert_eq!(parsed("a=b; max-age=0").unwrap().expires_ms, 1);
    }

    #[test]
    fn the_oldest_of_too_many_cookies_are_dropped() {
        let manager = Arc::new(CookieManager::default());
        let origin = Origin::new(false, "h", None);
        let cookies = CookieList::default();
        let mut jar = Jar { manager, cookies, clears_each_sample: false, has_dropped: false };
        for number in 0..COOKIES_MAX + 5 {
            jar.receive(&format!("c{number}=x"), &origin, "/", NOW).unwrap();
            assert_eq!(jar.take_dropped(), number >= COOKIES_MAX, "{number}");
        }
        let first = jar.cookies.iter().next().unwrap();
        assert_eq!((jar.cookies.iter().count(), first.name.as_str()), (COOKIES_MAX, "c5"));
        let large = "x".repeat(COOKIE_BYTES_MAX / 3);
        for number in 0..5 {
            jar.receive(&format!("large{number}={large}"), &origin, "/", NOW).unwrap();
        }
        let names: Vec<&str> = jar.cookies.iter().map(|cookie| cookie.name.as_str()).collect();
        assert_eq!(names, ["large3", "large4"]);
    }

    #[test]
    fn paths_and_domains_match_at_segment_boundaries() {
        assert!(
            path_fits("/a", "/a/b")
                && path_fits("/a/", "/a/b")
                && path_fits("/", "/x")
                && path_fits("/a", "/a")
        );
        assert!(!path_fits("/a", "/ab") && !path_fits("/a/b", "/a"));
        assert!(domain_matches("example.org", "shop.example.org"));
        assert!(!domain_matches("ample.org", "example.org"));
        assert!(!domain_matches("0.0.1", "127.0.0.1"));
    }
}
