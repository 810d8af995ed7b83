//! The absolute addresses of the resources of a page.

use std::collections::HashSet;

use busyhour_slices::tick;

use crate::limits::RESOURCE_ADDRESS_BYTES_MAX;
use crate::url_parts;

/// The distinct addresses in page order.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    seen: HashSet<String>,
    pub(super) urls: Vec<String>,
    /// The size of all addresses and bases in bytes. Each address contains that of the page, which the server can choose.
    bytes: usize,
}

impl Addresses {
    /// Adds the absolute form of `reference` on a page at `base`, unless Java does not know the protocol.
    pub(super) fn add(&mut self, reference: &str, base: &str) {
        if reference.is_empty() || self.are_too_long() {
            return;
        }
        tick(1 + (base.len() + reference.len()) / 16);
        if let Some(url) = url_parts::java_url(base, &unescape_xml(reference))
            && !self.seen.contains(&url)
        {
            self.bytes += url.len();
            if !self.are_too_long() {
                self.seen.insert(url.clone());
                self.urls.push(url);
            }
        }
    }

    /// Counts the bytes of a new base. A relative `href` of `<base>` can make the base longer each time.
    pub(super) fn count_base(&mut self, base: &str) {
        tick(1 + base.len() / 16);
        self.bytes += base.len();
    }

    /// Whether an address was omitted because the total size would exceed the limit.
    pub(super) fn are_too_long(&self) -> bool {
        self.bytes > RESOURCE_ADDRESS_BYTES_MAX
    }
}

/// The maximum length of an entity with its semicolon.
const ENTITY_BYTES_MAX: usize = 32;

/// Resolves XML's five entities and numeric ones, in addition to the tokenizer, as JMeter does.
fn unescape_xml(text: &str) -> String {
    let Some(first) = text.find('&') else { return text.to_owned() };
    let mut out = text[..first].to_owned();
    let mut rest = &text[first..];
    while let Some(after) = rest.strip_prefix('&') {
        let near = &after.as_bytes()[..after.len().min(ENTITY_BYTES_MAX)];
        let end = near.iter().position(|byte| *byte == b';');
        let parts = end.map(|end| (&after[..end], &after[end + 1..]));
        let resolved = parts.and_then(|(name, after_entity)| Some((entity(name)?, after_entity)));
        match resolved {
            Some((character, after_entity)) => {
                out.push(character);
                rest = after_entity;
            }
            None => {
                out.push('&');
                rest = after;
            }
        }
        let next = rest.find('&').unwrap_or(rest.len());
        out.push_str(&rest[..next]);
        rest = &rest[next..];
    }
    out
}

fn entity(name: &str) -> Option<char> {
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)?
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xml_entities_are_resolved() {
        assert_eq!(unescape_xml("&#65;&nope;&&#x42;;"), "A&nope;&B;");
    }

    /// The address of the page is part of each resource address, so a page of 60 MB could take 60 TB.
    #[test]
    fn the_total_size_of_addresses_with_a_long_base_is_limited() {
        let base = format!("http://h/{}/page", "d".repeat(1 << 20));
        let mut found = Addresses::default();
        for number in 0..1_000 {
            found.add(&format!("a{number}"), &base);
        }
        assert!(found.are_too_long());
        assert_eq!(found.urls.len(), RESOURCE_ADDRESS_BYTES_MAX / (base.len() + 2));
    }
}
