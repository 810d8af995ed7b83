//! Which resources an HTML page has a browser fetch, as JMeter's Lagarto parser finds them.

use std::collections::HashSet;

use html5gum::{DefaultEmitter, HtmlString, StartTag, Token, Tokenizer};

use super::conditional;
use super::css;
use crate::url_parts;
use busyhour_program::ElementError;

/// Internet Explorer obeyed conditional comments up to the version before this one.
const FIRST_WITHOUT_CONDITIONS: f32 = 10.0;

/// A page's addresses: each once, in the order of the page.
#[derive(Debug, Default)]
struct Found {
    seen: HashSet<String>,
    urls: Vec<String>,
}

impl Found {
    fn add(&mut self, reference: &str, base: &str) {
        if let Some(url) = absolute(reference, base)
            && self.seen.insert(url.clone())
        {
            self.urls.push(url);
        }
    }
}

/// The absolute form of a reference; `None` if Java does not know the protocol.
pub(super) fn absolute(reference: &str, base: &str) -> Option<String> {
    if reference.is_empty() {
        return None;
    }
    url_parts::java_url(base, &unescape_xml(reference))
}

/// The absolute URLs of the resources of the page `html` from `base`; `user_agent` decides about conditional
/// comments.
///
/// # Errors
/// The `href` of a `base` tag is not a URL; JMeter stops parsing the page then.
pub(super) fn resources(html: &str, base: &str, user_agent: &str) -> Result<Vec<String>, ElementError> {
    let explorer = conditional::explorer_version(user_agent);
    let mut walk = Walk {
        found: Found::default(),
        depth: 0,
        base: base.to_owned(),
        explorer: explorer.filter(|version| *version < FIRST_WITHOUT_CONDITIONS),
        shown: vec![true],
    };
    walk.through(html)?;
    Ok(walk.found.urls)
}

/// Conditional comments inside conditional comments that are looked through.
const COMMENT_DEPTH_MAX: u32 = 16;

struct Walk {
    found: Found,
    /// Conditional comments around what is read.
    depth: u32,
    base: String,
    /// The version of Internet Explorer that is imitated, if it obeys conditional comments.
    explorer: Option<f32>,
    /// Whether what is read counts, for each open conditional comment.
    shown: Vec<bool>,
}

impl Walk {
    fn through(&mut self, html: &str) -> Result<(), ElementError> {
        let mut emitter = DefaultEmitter::<()>::default();
        emitter.naively_switch_states(true);
        for token in Tokenizer::new_with_emitter(html, emitter) {
            let Ok(token) = token;
            match token {
                Token::StartTag(tag) if self.counts() => self.tag(&tag)?,
                Token::Comment(comment) if self.explorer.is_some() => {
                    self.comment(&String::from_utf8_lossy(&comment))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn counts(&self) -> bool {
        self.shown.last().is_none_or(|shown| *shown)
    }

    /// `<!--[if IE 8]>…<![endif]-->` comes as one comment, `<![if !IE 8]>` and `<![endif]>` as two.
    fn comment(&mut self, text: &str) -> Result<(), ElementError> {
        let Some(explorer) = self.explorer else { return Ok(()) };
        if let Some(after) = text.strip_prefix("[if ") {
            let (condition, rest) = after.split_once(']').unwrap_or((after, ""));
            self.shown.push(conditional::holds(condition, explorer));
            if let Some(inner) = rest.strip_prefix('>').and_then(|rest| rest.strip_suffix("<![endif]")) {
                if self.counts() && self.depth < COMMENT_DEPTH_MAX {
                    self.depth += 1;
                    let read = self.through(inner);
                    self.depth -= 1;
                    read?;
                }
                self.shown.pop();
            }
        } else if text.starts_with("[endif]") || text.ends_with("<![endif]") {
            self.close();
        }
        Ok(())
    }

    fn close(&mut self) {
        if self.shown.len() > 1 {
            self.shown.pop();
        }
    }

    fn tag(&mut self, tag: &StartTag<()>) -> Result<(), ElementError> {
        let attribute = |name: &str| attribute(tag, name);
        match &**tag.name {
            b"img" | b"frame" | b"iframe" | b"embed" | b"bgsound" => self.add(attribute("src")),
            b"script" => {
                self.add(attribute("src"));
                // Scripts are not looked at for styles.
                return Ok(());
            }
            b"base" => self.rebase(attribute("href"))?,
            b"applet" => self.applet(tag),
            b"object" => {
                self.add(attribute("codebase"));
                self.add(attribute("data"));
            }
            b"input" => {
                if attribute("type").is_some_and(|kind| kind.eq_ignore_ascii_case("image")) {
                    self.add(attribute("src"));
                }
            }
            b"link" => {
                const FETCHED: [&str; 4] = ["stylesheet", "icon", "shortcut icon", "preload"];
                let relation = attribute("rel").unwrap_or_default();
                if FETCHED.iter().any(|fetched| fetched.eq_ignore_ascii_case(&relation)) {
                    self.add(attribute("href"));
                }
            }
            _ => self.add(attribute("background")),
        }
        if let Some(reference) = attribute("style").and_then(|style| css::quoted_url(&style)) {
            self.found.add(&reference, &self.base);
        }
        Ok(())
    }

    fn add(&mut self, reference: Option<String>) {
        if let Some(reference) = reference.as_deref().and_then(normal) {
            self.found.add(&reference, &self.base);
        }
    }

    fn rebase(&mut self, href: Option<String>) -> Result<(), ElementError> {
        if let Some(href) = href.filter(|href| !href.is_empty()) {
            self.base = url_parts::java_url(&self.base, &href).ok_or(href)?;
        }
        Ok(())
    }

    fn applet(&mut self, tag: &StartTag<()>) {
        let blank = |text: &Option<String>| text.as_deref().is_none_or(|text| text.trim().is_empty());
        let (base, archive, code) =
            (attribute(tag, "codebase"), attribute(tag, "archive"), attribute(tag, "code"));
        if blank(&base) {
            self.add(code);
            return;
        }
        let what = if blank(&archive) { code } else { archive };
        // Java prints what is not there.
        let what = what.as_deref().unwrap_or("null");
        self.add(base.map(|base| format!("{base}/{what}")));
    }
}

fn attribute(tag: &StartTag<()>, name: &str) -> Option<String> {
    let value = tag.attributes.get(&HtmlString(name.as_bytes().to_vec()))?;
    Some(String::from_utf8_lossy(value).into_owned())
}

/// An address as browsers take it: without space around and line ends inside.
fn normal(reference: &str) -> Option<String> {
    let kept: String = reference
        .trim_matches(|character: char| character <= ' ')
        .chars()
        .filter(|character| !matches!(character, '\n' | '\r' | '\u{8}' | '\u{c}'))
        .collect();
    (!kept.is_empty()).then_some(kept)
}

/// Most bytes of an entity with its semicolon.
const ENTITY_BYTES_MAX: usize = 32;

/// XML's five entities and numeric ones resolved, once more after the tokenizer, as JMeter does.
fn unescape_xml(text: &str) -> String {
    let Some(first) = text.find('&') else { return text.to_owned() };
    let mut out = text[..first].to_owned();
    let mut rest = &text[first..];
    while let Some(after) = rest.strip_prefix('&') {
        let near = &after.as_bytes()[..after.len().min(ENTITY_BYTES_MAX)];
        let end = near.iter().position(|byte| *byte == b';');
        let parts = end.map(|end| (&after[..end], &after[end + 1..]));
        let resolved = parts.and_then(|(name, behind)| Some((entity(name)?, behind)));
        match resolved {
            Some((character, behind)) => {
                out.push(character);
                rest = behind;
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

    fn found(html: &str, user_agent: &str) -> Vec<String> {
        let urls = resources(html, "http://h/dir/page", user_agent).unwrap();
        urls.iter().map(|url| url.strip_prefix("http://h").unwrap_or(url).to_owned()).collect()
    }

    #[test]
    fn conditional_comments_are_for_old_explorers() {
        let html = "<!--[if IE 6]><img src=six><![endif]--><!--[if gt IE 6]><img src=more><![endif]-->\
                    <![if !IE 6]><img src=other><![endif]><img src=all>";
        assert_eq!(found(html, "Mozilla"), ["/dir/other", "/dir/all"]);
        assert_eq!(found(html, "x MSIE 6.0; y"), ["/dir/six", "/dir/all"]);
        assert_eq!(found(html, "x MSIE 8.0; y"), ["/dir/more", "/dir/other", "/dir/all"]);
        assert_eq!(found(html, "x MSIE 10.0; y"), ["/dir/other", "/dir/all"]);
    }

    /// Work that grew with the square of these lengths, or a stack that grew with them, would not end here.
    #[test]
    fn pages_made_to_be_slow_take_linear_time() {
        let many = 30_000;
        let nested = format!("{}{}-->", "<!--[if IE 6]>".repeat(many), "<![endif]".repeat(many));
        assert_eq!(found(&(nested + "<img src=all>"), "x MSIE 6.0; y"), ["/dir/all"]);
        let entities = format!("<img src='a{}'>", "&amp;".repeat(many));
        assert_eq!(found(&entities, "")[0].len(), many + "/dir/a".len());
        let quotes = format!("<p style=\"{}\">", "url('".repeat(many));
        assert_eq!(found(&quotes, ""), [""; 0]);
        assert_eq!(css::imports(&"@import url(;".repeat(many)), [""; 0]);
    }

    #[test]
    fn entities_are_resolved_twice() {
        assert_eq!(found("<img src='a?b=1&amp;c=2&amp;amp;d'>", ""), ["/dir/a?b=1&c=2&d"]);
        assert_eq!(unescape_xml("&#65;&nope;&&#x42;;"), "A&nope;&B;");
    }
}
