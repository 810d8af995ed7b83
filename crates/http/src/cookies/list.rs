//! The cookies of a jar, in order. Copies share their cookies until one of them changes, because each concurrent download has a
//! copy of the jar.

use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;

use super::cookie::Cookie;
use crate::limits::{COOKIE_BYTES_MAX, COOKIES_MAX};

#[derive(Debug, Clone, Default)]
pub(super) struct CookieList {
    cookies: Arc<VecDeque<Entry>>,
    /// The size of all cookies in bytes, as defined for [`COOKIE_BYTES_MAX`].
    bytes: usize,
}

/// A cookie with the hash of its key, so that few keys have to be compared.
#[derive(Debug, Clone)]
struct Entry {
    hash: u64,
    cookie: Arc<Cookie>,
}

fn bytes(cookie: &Cookie) -> usize {
    cookie.name.len() + cookie.value.len() + cookie.domain.len() + cookie.path.len()
}

/// The key of a cookie. A new cookie replaces the one with the same key.
fn key(cookie: &Cookie) -> (&str, &str, &str) {
    (&cookie.name, &cookie.path, &cookie.domain)
}

fn hash(cookie: &Cookie) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(key(cookie))
}

impl CookieList {
    pub(super) fn iter(&self) -> impl Iterator<Item = &Cookie> {
        self.cookies.iter().map(|entry| &*entry.cookie)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.cookies.is_empty()
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(super) fn push(&mut self, cookie: Cookie) {
        self.push_entry(Entry { hash: hash(&cookie), cookie: Arc::new(cookie) });
    }

    fn push_entry(&mut self, entry: Entry) {
        self.bytes += bytes(&entry.cookie);
        Arc::make_mut(&mut self.cookies).push_back(entry);
    }

    fn retain(&mut self, stays: impl Fn(&Entry) -> bool) {
        if self.cookies.iter().all(&stays) {
            return;
        }
        let removed = self.cookies.iter().filter(|entry| !stays(entry));
        self.bytes -= removed.map(|entry| bytes(&entry.cookie)).sum::<usize>();
        Arc::make_mut(&mut self.cookies).retain(stays);
    }

    pub(super) fn remove_equivalent(&mut self, cookie: &Cookie) {
        let hash = hash(cookie);
        self.retain(|own| own.hash != hash || key(&own.cookie) != key(cookie));
    }

    /// Removes the cookies that another list contains.
    pub(super) fn remove_all(&mut self, other: &Self) {
        let hashes: HashSet<u64> = other.cookies.iter().map(|entry| entry.hash).collect();
        self.retain(|own| !hashes.contains(&own.hash) || !other.iter().any(|cookie| *cookie == *own.cookie));
    }

    /// Adds the cookies of another list; they replace cookies with the same key. If `without_empty` is true, a cookie without a
    /// value removes the cookie with the same key but is not added itself.
    pub(super) fn add_all(&mut self, other: Self, without_empty: bool) {
        if Arc::ptr_eq(&self.cookies, &other.cookies) && !without_empty {
            return;
        }
        let keys: HashSet<_> = other.iter().map(key).collect();
        self.retain(|own| !keys.contains(&key(&own.cookie)));
        // If several have the same key, the last one counts.
        let mut seen = HashSet::new();
        let mut added: Vec<&Entry> =
            other.cookies.iter().rev().filter(|entry| seen.insert(key(&entry.cookie))).collect();
        added.retain(|entry| !(without_empty && entry.cookie.value.is_empty()));
        added.into_iter().rev().for_each(|entry| self.push_entry(entry.clone()));
    }

    /// Drops the oldest cookies until the limit is met; returns whether any was dropped.
    pub(super) fn drop_oldest(&mut self) -> bool {
        let mut has_dropped = false;
        while self.cookies.len() > COOKIES_MAX || self.bytes > COOKIE_BYTES_MAX {
            let Some(oldest) = Arc::make_mut(&mut self.cookies).pop_front() else { break };
            self.bytes -= bytes(&oldest.cookie);
            has_dropped = true;
        }
        has_dropped
    }
}

impl FromIterator<Cookie> for CookieList {
    fn from_iter<I: IntoIterator<Item = Cookie>>(cookies: I) -> Self {
        let mut list = Self::default();
        cookies.into_iter().for_each(|cookie| list.push(cookie));
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(pairs: &[(&str, &str)]) -> CookieList {
        let cookie = |(name, value): &(&str, &str)| Cookie {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
            domain: "h".to_owned(),
            path: "/".to_owned(),
            secure: false,
            expires_ms: 0,
            domain_specified: false,
            path_specified: false,
            version: 0,
        };
        pairs.iter().map(cookie).collect()
    }

    fn format_list(list: &CookieList) -> String {
        list.iter().map(|cookie| format!("{}={};", cookie.name, cookie.value)).collect()
    }

    #[test]
    fn cookies_of_another_list_replace_those_with_the_same_key() {
        let mut own = list(&[("a", "1"), ("b", "2")]);
        own.add_all(list(&[("c", "3"), ("a", "4"), ("d", ""), ("c", "5")]), true);
        assert_eq!(format_list(&own), "b=2;a=4;c=5;");
        assert_eq!(own.bytes, own.iter().map(bytes).sum::<usize>());
        let copy = own.clone();
        own.add_all(copy.clone(), false);
        own.remove_all(&list(&[("b", "2"), ("a", "1")]));
        assert_eq!(
            (format_list(&own), format_list(&copy)),
            ("a=4;c=5;".to_owned(), "b=2;a=4;c=5;".to_owned())
        );
    }

    /// A page may have 10,000 resources, each with a copy of up to 3,000 cookies.
    #[test]
    fn copies_of_a_full_list_share_their_cookies() {
        let mut own: CookieList = (0..COOKIES_MAX)
            .flat_map(|n| list(&[(&format!("c{n}"), "x")]).iter().cloned().collect::<Vec<_>>())
            .collect();
        for number in 0..100 {
            let mut copy = own.clone();
            copy.push(list(&[(&format!("d{number}"), "x")]).iter().next().unwrap().clone());
            assert!(copy.drop_oldest() || number == 0 || own.cookies.len() < COOKIES_MAX);
            own.add_all(copy, false);
            assert!(own.drop_oldest());
        }
        assert!(Arc::ptr_eq(&own.cookies, &own.clone().cookies));
    }
}
