//! HTTP Cache Manager: simulates a browser's cache as JMeter does.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use crate::dates;
use crate::limits::CACHE_ENTRY_BYTES_MAX;

const ONE_YEAR_MS: i64 = 365 * 24 * 60 * 60 * 1000;

/// An HTTP Cache Manager.
#[derive(Debug, Clone)]
pub struct CacheManager {
    /// `clearEachIteration`
    pub clear_each_iteration: bool,
    /// `CacheManager.controlledByThread`: whether the cache is cleared when an iteration of the group belongs to a new user.
    pub controlled_by_group: bool,
    /// `useExpires`: whether requests are omitted while the copy is fresh according to `Expires` or `Cache-Control: max-age`.
    pub use_expires: bool,
    /// `maxSize`: the maximum number of entries.
    pub size_max: usize,
    /// The result of a sample that needs no request.
    pub when_fresh: WhenFresh,
}

/// The result of a sample that needs no request (property `cache_manager.cached_resource_mode`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WhenFresh {
    /// No sample is recorded (JMeter's default).
    NoSample,
    /// A successful sample with this code and message.
    Sample {
        /// Response code.
        code: String,
        /// Response message.
        message: String,
    },
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Entry {
    last_modified: Option<String>,
    etag: Option<String>,
    expires_ms: Option<i64>,
    vary: Option<String>,
}

/// The headers of a response that determine how it is cached.
#[derive(Debug, Clone, Default)]
pub struct CacheHeaders {
    /// `Last-Modified`
    pub last_modified: Option<String>,
    /// `Expires`
    pub expires: Option<String>,
    /// `Etag`
    pub etag: Option<String>,
    /// `Cache-Control`
    pub cache_control: Option<String>,
    /// `Date`
    pub date: Option<String>,
    /// `Vary`
    pub vary: Option<String>,
}

/// The cached information for a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Known<'c> {
    /// The value for `If-Modified-Since`.
    pub last_modified: Option<&'c str>,
    /// The value for `If-None-Match`.
    pub etag: Option<&'c str>,
    /// Whether no request is needed.
    pub fresh: bool,
}

/// The cache of one user under one manager.
#[derive(Debug)]
pub struct Cache {
    /// The manager of the cache.
    pub manager: Arc<CacheManager>,
    entries: HashMap<String, Entry>,
    order: VecDeque<String>,
}

impl Cache {
    /// An empty cache.
    pub fn new(manager: &Arc<CacheManager>) -> Self {
        Self { manager: Arc::clone(manager), entries: HashMap::new(), order: VecDeque::new() }
    }

    /// Starts an iteration; `same_user`: whether it belongs to the same user as the previous one.
    pub fn iteration_started(&mut self, same_user: bool) {
        let manager = &self.manager;
        let clear = if manager.controlled_by_group { !same_user } else { manager.clear_each_iteration };
        if clear {
            self.entries.clear();
            self.order.clear();
        }
    }

    /// Looks up a URL; `headers` are those of the request, one `Name: value` per line.
    pub fn look_up(&self, url: &str, headers: &[u8], now_ms: i64) -> Option<Known<'_>> {
        let mut entry = self.entries.get(url)?;
        if let Some(vary) = &entry.vary {
            entry = self.entries.get(&vary_key(url, vary, headers))?;
        }
        Some(Known {
            last_modified: entry.last_modified.as_deref(),
            etag: entry.etag.as_deref(),
            fresh: entry.expires_ms.is_some_and(|expires| expires > now_ms),
        })
    }

    /// Stores a response to a GET request.
    pub fn save(
        &mut self,
        url: &str,
        request_headers: &[u8],
        code: &str,
        response: CacheHeaders,
        now_ms: i64,
    ) {
        let validators = [&response.last_modified, &response.etag, &response.vary];
        let bytes =
            url.len() + validators.iter().flat_map(|text| text.as_deref()).map(str::len).sum::<usize>();
        if bytes > CACHE_ENTRY_BYTES_MAX {
            return;
        }
        let cacheable_code = ("200"..="299").contains(&code) || code == "304";
        let blank = |text: &Option<String>| text.as_deref().is_none_or(|text| text.trim().is_empty());
        if !cacheable_code || response.vary.as_deref() == Some("*") {
            return;
        }
        if blank(&response.last_modified)
            && blank(&response.expires)
            && blank(&response.etag)
            && blank(&response.cache_control)
        {
            return;
        }
        let control = response.cache_control.as_deref();
        let mut expires_ms = None;
        if self.manager.use_expires {
            if control.is_some_and(|control| control.contains("no-store")) {
                return;
            }
            // An invalid date counts as a date in the past.
            expires_ms = response.expires.as_deref().map(|text| dates::parse_ms(text).unwrap_or(0));
            if control.is_none_or(|control| !control.contains("no-cache")) {
                expires_ms = freshness(&response, expires_ms, now_ms);
            }
        }
        let entry =
            Entry { last_modified: response.last_modified, etag: response.etag, expires_ms, vary: None };
        match response.vary {
            Some(vary) => {
                let key = vary_key(url, &vary, request_headers);
                self.insert(url.to_owned(), Entry { vary: Some(vary), ..entry.clone() });
                self.insert(key, entry);
            }
            // JMeter retains the first entry of a URL.
            None if self.entries.contains_key(url) => {}
            None => self.insert(url.to_owned(), entry),
        }
    }

    fn insert(&mut self, key: String, entry: Entry) {
        if self.entries.insert(key.clone(), entry).is_none() {
            self.order.push_back(key);
        }
        while self.entries.len() > self.manager.size_max {
            let Some(oldest) = self.order.pop_front() else { return };
            self.entries.remove(&oldest);
        }
    }
}

fn freshness(response: &CacheHeaders, expires_ms: Option<i64>, now_ms: i64) -> Option<i64> {
    const MAX_AGE: &str = "max-age=";
    if let Some((_, after)) =
        response.cache_control.as_deref().and_then(|control| control.split_once(MAX_AGE))
    {
        let seconds: i64 = after.split([',', ' ']).next().and_then(|text| text.parse().ok()).unwrap_or(0);
        return Some(now_ms.saturating_add(seconds.saturating_mul(1000)));
    }
    if response.expires.is_some() {
        return expires_ms;
    }
    // The heuristic of RFC 2616, section 13.2.4: a tenth of the time between `Last-Modified` and `Date`.
    let (Some(modified), Some(date)) = (response.last_modified.as_deref(), response.date.as_deref()) else {
        return Some(now_ms + ONE_YEAR_MS);
    };
    match (dates::parse_ms(modified), dates::parse_ms(date)) {
        (Some(modified), Some(date)) => Some(now_ms + (((date - modified) as f64) * 0.1).round() as i64),
        _ => Some(now_ms + ONE_YEAR_MS),
    }
}

fn vary_key(url: &str, vary: &str, headers: &[u8]) -> String {
    let mut key = format!("{url}\nvary {vary}");
    for name in vary.split(',').map(str::trim) {
        for line in headers.split(|byte| *byte == b'\n') {
            let line = String::from_utf8_lossy(line);
            if let Some((header, value)) = line.split_once(": ")
                && header == name
            {
                key.push('\n');
                key.push_str(value.trim_end());
            }
        }
        key.push('|');
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(use_expires: bool) -> Cache {
        Cache::new(&Arc::new(CacheManager {
            clear_each_iteration: true,
            controlled_by_group: false,
            use_expires,
            size_max: 2,
            when_fresh: WhenFresh::NoSample,
        }))
    }

    #[test]
    fn validators_are_stored_and_expiry_only_if_enabled() {
        let headers = || CacheHeaders {
            etag: Some("\"1\"".into()),
            cache_control: Some("max-age=10, private".into()),
            ..CacheHeaders::default()
        };
        let mut plain = cache(false);
        plain.save("u", b"", "200", headers(), 1000);
        assert_eq!(plain.look_up("u", b"", 1000), Some(Known { etag: Some("\"1\""), ..Known::default() }));
        let mut timed = cache(true);
        timed.save("u", b"", "200", headers(), 1000);
        assert!(timed.look_up("u", b"", 10_999).unwrap().fresh);
        assert!(!timed.look_up("u", b"", 11_000).unwrap().fresh);
        timed.iteration_started(true);
        assert_eq!(timed.look_up("u", b"", 0), None);
    }

    #[test]
    fn uncacheable_responses_and_excess_entries_are_dropped() {
        let mut cache = cache(true);
        cache.save("a", b"", "200", CacheHeaders::default(), 0);
        let etag = || CacheHeaders { etag: Some("x".into()), ..CacheHeaders::default() };
        cache.save("b", b"", "404", etag(), 0);
        cache.save("c", b"", "200", CacheHeaders { vary: Some("*".into()), ..etag() }, 0);
        cache.save("d", b"", "200", CacheHeaders { cache_control: Some("no-store".into()), ..etag() }, 0);
        assert!(cache.entries.is_empty());
        for url in ["1", "2", "3"] {
            cache.save(url, b"", "200", etag(), 0);
        }
        assert_eq!(cache.look_up("1", b"", 0), None);
        assert!(cache.look_up("3", b"", 0).is_some());
    }

    #[test]
    fn vary_distinguishes_requests() {
        let mut cache = cache(false);
        let headers =
            CacheHeaders { etag: Some("x".into()), vary: Some("Accept".into()), ..CacheHeaders::default() };
        cache.save("u", b"Accept: a\r\n", "200", headers, 0);
        assert!(cache.look_up("u", b"Accept: a\r\n", 0).is_some());
        assert!(cache.look_up("u", b"Accept: b\r\n", 0).is_none());
    }
}
