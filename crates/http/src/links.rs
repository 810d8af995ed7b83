//! HTML Link Parser: replaces the request by a random matching link or form of the previous page. The protocol, host and path in
//! the plan are patterns, and the link must have the arguments in the plan.

use busyhour_limits::{Limit, count_exceeded};
use busyhour_program::run::LogLevel;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_slices::tick;
use rand::Rng as _;

use crate::encode;
use crate::html_tokens::{HtmlToken, Needs, tokens};
use crate::limits::LINK_BYTES_MAX;
use crate::settings::{Argument, HttpSampler};
use crate::url_parts;

/// A link or a form of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Link {
    protocol: String,
    host: String,
    path: String,
    fields: Vec<Field>,
    /// Whether the link is a form that is sent with POST.
    posts: bool,
}

/// A name and a value of a link's query, or of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Field {
    name: String,
    value: String,
    /// Whether the value is encoded when it is sent.
    encode: bool,
    equals: bool,
}

impl Link {
    /// The link to the absolute `url` of a `reference`; `None` if Java cannot parse it as a URL.
    fn parse(url: &str, reference: &str) -> Option<Self> {
        let parts = url_parts::split(url).ok()?;
        let rest = parts.rest.split('#').next().unwrap_or_default();
        let (mut path, query) =
            rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query)));
        // `..` above the root has no effect.
        while reference.starts_with("../") && path.starts_with("/../") {
            path = &path["/..".len()..];
        }
        let fields = query.unwrap_or_default().split('&').filter_map(|field| {
            let (name, value) = field.split_once('=').unwrap_or((field, ""));
            let equals = field.contains('=');
            (!name.is_empty()).then(|| Field {
                name: name.to_owned(),
                value: value.to_owned(),
                encode: false,
                equals,
            })
        });
        Some(Self {
            protocol: if parts.secure { "https" } else { "http" }.to_owned(),
            host: parts.host.to_owned(),
            path: path.to_owned(),
            fields: fields.collect(),
            posts: false,
        })
    }

    /// The names and values of the link as one decoded text; `None` if Java cannot decode it.
    fn query(&self) -> Option<String> {
        let mut text = String::new();
        for field in &self.fields {
            if !text.is_empty() {
                text.push('&');
            }
            if field.encode {
                encode::form(&field.name, &mut text);
            } else {
                text.push_str(&field.name);
            }
            if field.equals {
                text.push('=');
            }
            if field.encode {
                encode::form(&field.value, &mut text);
            } else {
                text.push_str(&field.value);
            }
        }
        encode::form_decode(&text)
    }
}

/// The parts of a page that contain links.
const NEEDS: Needs =
    Needs { attributes: &["href", "src", "action", "name", "value"], text: true, comments: false };

/// The size of a link or a field without its texts, in bytes.
const ITEM_BYTES: usize = 128;

/// The number of bytes that the links of one page may still take; `None` once a link did not fit. Each link contains the address
/// of the page or its base, and each option contains the name of its `select`.
struct LinkBudget(Option<usize>);

impl Default for LinkBudget {
    fn default() -> Self {
        Self(Some(LINK_BYTES_MAX))
    }
}

impl LinkBudget {
    fn spend(&mut self, bytes: usize) -> bool {
        tick(1 + bytes / ITEM_BYTES);
        let Some(left) = self.0 else { return false };
        self.0 = left.checked_sub(bytes);
        if self.0.is_none() {
            count_exceeded(Limit::LinkBytes);
        }
        self.0.is_some()
    }

    /// The absolute form of `reference` on a page at `base`, unless it does not fit or Java cannot parse it as a URL.
    fn link(&mut self, base: &str, reference: &str) -> Option<Link> {
        self.0?;
        let url = url_parts::java_url(base, reference)?;
        let fields = url.bytes().filter(|byte| *byte == b'&').count();
        let fits = self.spend(url.len() + (1 + fields) * ITEM_BYTES);
        fits.then(|| Link::parse(&url, reference)).flatten()
    }
}

/// The forms of a page that is being parsed.
#[derive(Default)]
struct Forms {
    complete: Vec<Link>,
    open: Option<Link>,
    /// The name of the open `select`.
    select: Option<String>,
    /// The name and text of the open `textarea`.
    area: Option<(String, String)>,
    budget: LinkBudget,
}

impl Forms {
    fn begin(&mut self, page: &str, action: Option<&str>) {
        self.complete.extend(self.open.take());
        self.open = action.and_then(|action| self.budget.link(page, action));
    }

    fn end_tag(&mut self, name: &[u8]) {
        match name {
            b"select" => self.select = None,
            b"textarea" => {
                if let Some((name, value)) = self.area.take() {
                    self.add_field(&name, &value);
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if let Some((_, value)) = &mut self.area {
            value.push_str(text);
        }
    }

    fn add_option(&mut self, value: &str) {
        if let Some(name) = self.select.take() {
            self.add_field(&name, value);
            self.select = Some(name);
        }
    }

    /// Adds a field; its name and value are decoded, because JMeter treats those of forms as encoded.
    fn add_field(&mut self, name: &str, value: &str) {
        let Some(form) = self.open.as_mut() else { return };
        if self.budget.spend(name.len() + value.len() + ITEM_BYTES) {
            let decoded = |text: &str| encode::form_decode(text).unwrap_or_else(|| text.to_owned());
            let (name, value) = (decoded(name), decoded(value));
            form.fields.push(Field { name, value, encode: true, equals: true });
        }
    }
}

/// All links of a page, in JMeter's order: anchors, forms, frames.
fn links(html: &str, url: &str) -> Vec<Link> {
    links_within(html, url, LinkBudget::default())
}

/// The number of fields of each link of a page.
pub(crate) fn field_counts(html: &str, url: &str) -> Vec<usize> {
    links(html, url).iter().map(|link| link.fields.len()).collect()
}

/// As [`links`], with a limit on their size.
fn links_within(html: &str, url: &str, budget: LinkBudget) -> Vec<Link> {
    let (mut anchors, mut frames) = (Vec::new(), Vec::new());
    let mut forms = Forms { budget, ..Forms::default() };
    let mut base = None;
    for token in tokens(html, NEEDS) {
        let tag = match token {
            HtmlToken::Start(tag) => tag,
            HtmlToken::End(name) => {
                forms.end_tag(&name);
                continue;
            }
            HtmlToken::Text(text) => {
                forms.text(&text);
                continue;
            }
            HtmlToken::Comment(_) => continue,
        };
        let text = |name: &str| tag.attribute(name).unwrap_or_default();
        match tag.name.as_slice() {
            b"base" => base = base.or_else(|| tag.attribute("href")),
            b"a" => anchors.extend(tag.attribute("href")),
            b"frame" => frames.extend(tag.attribute("src")),
            b"form" => forms.begin(url, tag.attribute("action").as_deref()),
            b"input" => forms.add_field(&text("name"), &text("value")),
            b"textarea" => forms.area = Some((text("name"), String::new())),
            b"select" => forms.select = Some(text("name")),
            b"option" => forms.add_option(&text("value")),
            _ => {}
        }
    }
    forms.begin(url, None);
    let base = base.and_then(|base| url_parts::java_url(url, &base)).unwrap_or_else(|| url.to_owned());
    anchors.retain(|reference| !reference.starts_with("javascript:"));
    let mut to = |reference: String| forms.budget.link(&base, &reference);
    let mut links: Vec<Link> = anchors.into_iter().filter_map(&mut to).collect();
    links.extend(forms.complete.into_iter().map(|form| Link { posts: true, ..form }));
    links.extend(frames.into_iter().filter_map(to));
    links
}

/// The patterns that a link must match.
struct LinkPattern {
    protocol: String,
    host: String,
    path: String,
    names: Vec<String>,
}

fn fits(text: &str, pattern: &str) -> bool {
    text == pattern || busyhour_oro::cached(pattern).is_ok_and(|known| known.matches(text).unwrap_or(false))
}

impl LinkPattern {
    fn fits(&self, link: &Link) -> bool {
        let Some(query) = link.query() else { return false };
        tick(1 + (link.path.len() + query.len()) / 16);
        let holds = |name: &String| {
            query.contains(&format!("{name}="))
                || busyhour_oro::cached(name).is_ok_and(|known| known.contains(&query).unwrap_or(false))
        };
        fits(&link.protocol, &self.protocol)
            && (self.host.is_empty() || fits(&link.host, &self.host))
            && (link.path == self.path || fits(&link.path, &format!("[/]*{}", self.path)))
            && self.names.iter().all(holds)
    }
}

/// Replaces the request by a link of the previous page, if one matches.
pub(crate) fn follow(sampler: &mut HttpSampler, user: &mut UserState) {
    if !user.has_result || !user.result.url.starts_with("http") {
        user.log(
            LogLevel::Info,
            "Can't apply HTML Link Parser when the previous sampler run is not an HTTP Request.",
        );
        return;
    }
    let protocol = sampler.protocol.text(user).into_owned();
    let pattern = LinkPattern {
        protocol: if protocol.is_empty() { "http".to_owned() } else { protocol },
        host: sampler.domain.text(user).into_owned(),
        path: sampler.path.text(user).replace(' ', "%20"),
        names: sampler.arguments.iter().map(|argument| argument.name.text(user).into_owned()).collect(),
    };
    let text = user.result.body_text();
    let html = &text[text.find('<').unwrap_or(0)..];
    let mut fitting: Vec<Link> =
        links(html, &user.result.url).into_iter().filter(|link| pattern.fits(link)).collect();
    drop(text);
    if fitting.is_empty() {
        return;
    }
    let chosen = fitting.swap_remove(user.random.random_range(0..fitting.len()));
    sampler.domain = Template::literal(&chosen.host);
    sampler.path = Template::literal(&chosen.path);
    sampler.protocol = Template::literal(&chosen.protocol);
    if chosen.posts {
        fill(sampler, user, chosen.fields);
    } else {
        let argument = |field: &Field| Argument {
            name: Template::literal(&field.name),
            value: Template::literal(&field.value),
            encode: field.encode,
            use_equals: field.equals,
            content_type: Template::default(),
        };
        sampler.arguments = chosen.fields.iter().map(argument).collect();
    }
}

/// Fills the request's own arguments, which are patterns, from matching fields of the form. Each field is used once.
fn fill(sampler: &mut HttpSampler, user: &mut UserState, mut fields: Vec<Field>) {
    for argument in &mut sampler.arguments {
        let (name, value) = (argument.name.text(user).into_owned(), argument.value.text(user).into_owned());
        let fitting: Vec<usize> = fields
            .iter()
            .enumerate()
            .filter(|(_, field)| fits(&field.name, &name) && fits(&field.value, &value))
            .map(|(at, _)| at)
            .collect();
        if !fitting.is_empty() {
            let field = fields.remove(fitting[user.random.random_range(0..fitting.len())]);
            argument.name = Template::literal(&field.name);
            argument.value = Template::literal(&field.value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "http://h:8080/dir/page?old=1";

    fn found(html: &str) -> Vec<String> {
        let shown = |link: &Link| {
            let how = if link.posts { "POST" } else { "GET" };
            format!(
                "{how} {}://{}{} {}",
                link.protocol,
                link.host,
                link.path,
                link.query().unwrap_or_default()
            )
        };
        links(html, URL).iter().map(shown).collect()
    }

    #[test]
    fn anchors_precede_forms_and_forms_precede_frames() {
        let html = "<frame src=f><form action='../send?a=1'><input name=x value='1+2'><select name=s>\
                    <option value=o>O<option>P</select><textarea name=t>some &amp; more</textarea></form>\
                    <a href='next?q=%20x&amp;r#y'>n</a><a href=javascript:go()>j</a><a name=z>z</a>";
        assert_eq!(
            found(html),
            [
                "GET http://h/dir/next q= x&r",
                "POST http://h/send a=1&x=1 2&s=o&s=&t=some & more",
                "GET http://h/dir/f ",
            ]
        );
    }

    #[test]
    fn a_base_applies_to_links_and_not_to_forms() {
        let html = "<base href='https://o/p/'><a href=x>x</a><form action=y></form>";
        assert_eq!(found(html), ["GET https://o/p/x ", "POST http://h/dir/y "]);
    }

    #[test]
    fn fields_after_a_form_belong_to_it() {
        let html = "<form action=y></form><input name=a value=1><form><input name=b value=2></form>";
        assert_eq!(found(html), ["POST http://h/dir/y a=1"]);
    }

    /// Each link contains the base, and each option the name of its list, so a page of 60 MB could take 60 TB.
    #[test]
    fn the_total_size_of_links_with_long_parts_is_limited() {
        let long = "d".repeat(1 << 14);
        let within = |html: &str| links_within(html, URL, LinkBudget(Some(1 << 20)));
        let fitting = (1 << 20) / (long.len() + ITEM_BYTES);
        let anchors = format!("<base href='http://h/{long}/'>{}", "<a href=x>".repeat(1_000));
        assert_eq!(within(&anchors).len(), fitting);
        let options = format!("<form action=y><select name='{long}'>{}", "<option value=v>".repeat(1_000));
        assert_eq!(within(&options)[0].fields.len(), fitting);
        assert_eq!(busyhour_limits::take_counts(), [(Limit::LinkBytes, 2)]);
        assert_eq!(within(&format!("<a href='x?{}'>", "a&".repeat(100_000))), []);
    }

    #[test]
    fn protocol_host_and_path_are_patterns_and_arguments_are_required() {
        let pattern = |path: &str, names: &[&str]| LinkPattern {
            protocol: "http".to_owned(),
            host: "h|o".to_owned(),
            path: path.to_owned(),
            names: names.iter().map(|&name| name.to_owned()).collect(),
        };
        let link = Link::parse("http://h/a/b.html?id=12&go", "/a/b.html?id=12&go").unwrap();
        assert!(pattern("/a/b.html", &["id"]).fits(&link));
        assert!(pattern("a/.*", &["g."]).fits(&link));
        assert!(!pattern("/a/.", &[]).fits(&link));
        assert!(!pattern("/a/.*", &["other"]).fits(&link));
        assert!(!LinkPattern { host: "x".to_owned(), ..pattern("/a/b.html", &[]) }.fits(&link));
    }
}
