//! The resources of an HTML page, by the rules of JMeter's Lagarto parser.

use busyhour_program::ElementError;

use super::addresses::Addresses;
use super::conditional;
use super::css;
use crate::html_tokens::{HtmlToken, Needs, StartTag, tokens};
use crate::url_parts;

/// The first version of Internet Explorer that ignores conditional comments.
const FIRST_WITHOUT_CONDITIONS: f32 = 10.0;

/// The attributes that can contain resources.
const ATTRIBUTES: &[&str] =
    &["src", "href", "codebase", "archive", "code", "data", "type", "rel", "background", "style"];

/// The absolute URLs of the resources of the page `html`, resolved against `base`; `user_agent` determines which conditional
/// comments apply.
///
/// # Errors
/// If the `href` of a `base` tag is not a URL: JMeter then stops parsing the page.
pub(super) fn resources(html: &str, base: &str, user_agent: &str) -> Result<Addresses, ElementError> {
    let explorer = conditional::explorer_version(user_agent);
    let mut walk = Walk {
        found: Addresses::default(),
        depth: 0,
        base: base.to_owned(),
        explorer: explorer.filter(|version| *version < FIRST_WITHOUT_CONDITIONS),
        active: vec![true],
    };
    walk.read(html)?;
    Ok(walk.found)
}

/// The maximum nesting depth of conditional comments that are parsed.
const COMMENT_DEPTH_MAX: u32 = 16;

struct Walk {
    found: Addresses,
    /// The number of enclosing conditional comments.
    depth: u32,
    base: String,
    /// The simulated version of Internet Explorer, if it evaluates conditional comments.
    explorer: Option<f32>,
    /// For each open conditional comment, whether its content applies.
    active: Vec<bool>,
}

impl Walk {
    fn read(&mut self, html: &str) -> Result<(), ElementError> {
        let needs = Needs { attributes: ATTRIBUTES, text: false, comments: self.explorer.is_some() };
        for token in tokens(html, needs) {
            match token {
                HtmlToken::Start(tag) if self.is_active() => self.tag(&tag)?,
                HtmlToken::Comment(comment) => self.comment(&comment)?,
                HtmlToken::Start(_) | HtmlToken::End(_) | HtmlToken::Text(_) => {}
            }
            if self.found.are_too_long() {
                break;
            }
        }
        Ok(())
    }

    fn is_active(&self) -> bool {
        self.active.last().is_none_or(|active| *active)
    }

    /// The parser returns `<!--[if IE 8]>…<![endif]-->` as one token, and `<![if !IE 8]>` and `<![endif]>` as two.
    fn comment(&mut self, text: &str) -> Result<(), ElementError> {
        let Some(explorer) = self.explorer else { return Ok(()) };
        if let Some(after) = text.strip_prefix("[if ") {
            let (condition, rest) = after.split_once(']').unwrap_or((after, ""));
            self.active.push(conditional::holds(condition, explorer));
            if let Some(inner) = rest.strip_prefix('>').and_then(|rest| rest.strip_suffix("<![endif]")) {
                if self.is_active() && self.depth < COMMENT_DEPTH_MAX {
                    self.depth += 1;
                    let read = self.read(inner);
                    self.depth -= 1;
                    read?;
                }
                self.active.pop();
            }
        } else if text.starts_with("[endif]") || text.ends_with("<![endif]") {
            self.close();
        }
        Ok(())
    }

    fn close(&mut self) {
        if self.active.len() > 1 {
            self.active.pop();
        }
    }

    fn tag(&mut self, tag: &StartTag) -> Result<(), ElementError> {
        let attribute = |name: &str| tag.attribute(name);
        match tag.name.as_slice() {
            b"img" | b"frame" | b"iframe" | b"embed" | b"bgsound" => self.add(attribute("src")),
            b"script" => {
                self.add(attribute("src"));
                // The style attribute of scripts is ignored.
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
            self.found.count_base(&self.base);
        }
        Ok(())
    }

    fn applet(&mut self, tag: &StartTag) {
        let blank = |text: &Option<String>| text.as_deref().is_none_or(|text| text.trim().is_empty());
        let (base, archive, code) =
            (tag.attribute("codebase"), tag.attribute("archive"), tag.attribute("code"));
        if blank(&base) {
            self.add(code);
            return;
        }
        let what = if blank(&archive) { code } else { archive };
        // Java formats a missing text as "null".
        let what = what.as_deref().unwrap_or("null");
        self.add(base.map(|base| format!("{base}/{what}")));
    }
}

/// Normalizes an address like browsers: removes surrounding white space and line ends.
fn normal(reference: &str) -> Option<String> {
    let normalized: String = reference
        .trim_matches(|character: char| character <= ' ')
        .chars()
        .filter(|character| !matches!(character, '\n' | '\r' | '\u{8}' | '\u{c}'))
        .collect();
    (!normalized.is_empty()).then_some(normalized)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(html: &str, user_agent: &str) -> Vec<String> {
        let urls = resources(html, "http://h/dir/page", user_agent).unwrap().urls;
        urls.iter().map(|url| url.strip_prefix("http://h").unwrap_or(url).to_owned()).collect()
    }

    #[test]
    fn conditional_comments_apply_to_old_versions_of_internet_explorer() {
        let html = "<!--[if IE 6]><img src=six><![endif]--><!--[if gt IE 6]><img src=more><![endif]-->\
                    <![if !IE 6]><img src=other><![endif]><img src=all>";
        assert_eq!(found(html, "Mozilla"), ["/dir/other", "/dir/all"]);
        assert_eq!(found(html, "x MSIE 6.0; y"), ["/dir/six", "/dir/all"]);
        assert_eq!(found(html, "x MSIE 8.0; y"), ["/dir/more", "/dir/other", "/dir/all"]);
        assert_eq!(found(html, "x MSIE 10.0; y"), ["/dir/other", "/dir/all"]);
    }

    /// If time or stack usage were not linear in these lengths, the test would not end or would overflow the stack.
    #[test]
    fn crafted_pages_take_linear_time() {
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
    }
}
