//! A request of the run.

use std::hash::Hasher as _;

use rustc_hash::FxHasher;

/// A request that the generator sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentRequest {
    /// When it was sent, in ns since 1970 by the clock of the generator.
    pub start_ns: i64,
    /// When the response was complete, or the request failed.
    pub end_ns: i64,
    /// Key of the path and the query; see [`target_key`].
    pub target: u64,
    /// Key of the path without the query.
    pub path: u64,
    /// Status of the response; 0 if there was no response.
    pub status: u16,
    /// Number of the server, host and port, to which it was sent.
    pub server: u32,
    /// Number of the label.
    pub label: u32,
    /// Key of the request's identifier; 0 if it has none.
    pub id: u64,
}

/// The key of a text: a hash that is never 0.
#[must_use]
pub fn text_key(text: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(text.as_bytes());
    hasher.write_u8(0xff);
    hasher.finish().max(1)
}

/// The keys of the path and query in a URL or in the target of a request line, with and without the query. The fragment, the scheme
/// and the host are left out.
#[must_use]
pub fn target_key(target: &str) -> (u64, u64) {
    let target = target
        .split_once("://")
        .map_or(target, |(_, rest)| rest.find(['/', '?']).map_or("/", |at| &rest[at..]));
    let target = target.split_once('#').map_or(target, |(before, _)| before);
    let path = target.split_once('?').map_or(target, |(path, _)| path);
    let path = if path.is_empty() { "/" } else { path };
    let query = &target[target.len().min(target.find('?').unwrap_or(target.len()))..];
    let path_key = text_key(path);
    let key = if query.len() > 1 { text_key(&format!("{path}{query}")) } else { path_key };
    (key, path_key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_and_targets_have_the_same_keys() {
        assert_eq!(target_key("http://host:80/a?b=c#d"), target_key("/a?b=c"));
        assert_eq!(target_key("https://host"), target_key("/"));
        assert_eq!(target_key("http://host?x=1"), target_key("/?x=1"));
        assert_eq!(target_key("/a?"), target_key("/a"));
        let (with, without) = target_key("/a?b=c");
        assert_ne!(with, without);
        assert_eq!(without, target_key("/a").0);
    }
}
