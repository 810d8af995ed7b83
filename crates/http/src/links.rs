//! HTML Link Parser: the request becomes one of those that the last page's links and forms would make, a link drawn from
//! all that fit the request as the plan has it: its protocol, host and path are patterns, and its arguments must be there.

use busyhour_program::run::Level;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use html5gum::{DefaultEmitter, HtmlString, StartTag, Token, Tokenizer};
use rand::Rng as _;

use crate::encode;
use crate::settings::{Argument, HttpSampler};
use crate::url_parts;

/// One way on from a page.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Link {
    protocol: String,
    host: String,
    path: String,
    fields: Vec<Field>,
    /// It is a form's.
    posts: bool,
}

/// A name and a value of a link's query, or of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Field {
    name: String,
    value: String,
    /// To be encoded when it is sent.
    encode: bool,
    equals: bool,
}

impl Link {
    /// The absolute form of `reference` on a page at `base`; `None` if Java cannot parse it as a URL.
    fn to(base: &str, reference: &str) -> Option<Self> {
        let url = url_parts::java_url(base, reference)?;
        let parts = url_parts::split(&url).ok()?;
        let rest = parts.rest.split('#').next().unwrap_or_default();
        let (mut path, query) =
            rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query)));
        // Steps above the root lead nowhere.
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

    /// Its names and values as one text, decoded; `None` where Java cannot decode it.
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

/// All links of a page, in JMeter's order: anchors, forms, frames.
fn links(html: &str, url: &str) -> Vec<Link> {
    let (mut anchors, mut forms, mut frames) = (Vec::new(), Vec::new(), Vec::new());
    let mut base = None;
    let mut form: Option<Link> = None;
    let mut select = None;
    let mut area: Option<(String, String)> = None;
    let mut emitter = DefaultEmitter::<()>::default();
    emitter.naively_switch_states(true);
    for token in Tokenizer::new_with_emitter(html, emitter) {
        let Ok(token) = token;
        let tag = match token {
            Token::StartTag(tag) => tag,
            Token::EndTag(tag) => {
                match &**tag.name {
                    b"select" => select = None,
                    b"textarea" => take_area(&mut area, form.as_mut()),
                    _ => {}
                }
                continue;
            }
            Token::String(text) => {
                if let Some((_, value)) = &mut area {
                    value.push_str(&String::from_utf8_lossy(&text));
                }
                continue;
            }
            _ => continue,
        };
        let attribute = |name: &str| attribute(&tag, name);
        let text = |name: &str| attribute(name).unwrap_or_default();
        match &**tag.name {
            b"base" => base = base.or_else(|| attribute("href")),
            b"a" => anchors.extend(attribute("href")),
            b"frame" => frames.extend(attribute("src")),
            b"form" => {
                forms.extend(form.take());
                form = attribute("action").and_then(|action| Link::to(url, &action));
            }
            b"input" => add_field(form.as_mut(), text("name"), &text("value")),
            b"textarea" => area = Some((text("name"), String::new())),
            b"select" => select = Some(text("name")),
            b"option" => {
                if let Some(name) = &select {
                    add_field(form.as_mut(), name.clone(), &text("value"));
                }
            }
            _ => {}
        }
    }
    forms.extend(form);
    let base = base.and_then(|base| url_parts::java_url(url, &base)).unwrap_or_else(|| url.to_owned());
    let to = |reference: String| Link::to(&base, &reference);
    anchors.retain(|reference| !reference.starts_with("javascript:"));
    let forms = forms.into_iter().map(|form| Link { posts: true, ..form });
    anchors.into_iter().filter_map(to).chain(forms).chain(frames.into_iter().filter_map(to)).collect()
}

fn attribute(tag: &StartTag<()>, name: &str) -> Option<String> {
    let value = tag.attributes.get(&HtmlString(name.as_bytes().to_vec()))?;
    Some(String::from_utf8_lossy(value).into_owned())
}

/// Values of a form are treated as encoded.
fn add_field(form: Option<&mut Link>, name: String, value: &str) {
    let Some(form) = form else { return };
    let decoded = |text: &str| encode::form_decode(text).unwrap_or_else(|| text.to_owned());
    form.fields.push(Field { name: decoded(&name), value: decoded(value), encode: true, equals: true });
}

fn take_area(area: &mut Option<(String, String)>, form: Option<&mut Link>) {
    if let Some((name, value)) = area.take() {
        add_field(form, name, &value);
    }
}

/// The properties of the wanted link in the request.
struct Wanted {
    protocol: String,
    host: String,
    path: String,
    names: Vec<String>,
}

fn fits(text: &str, pattern: &str) -> bool {
    text == pattern || busyhour_oro::cached(pattern).is_ok_and(|known| known.matches(text).unwrap_or(false))
}

impl Wanted {
    fn fits(&self, link: &Link) -> bool {
        let Some(query) = link.query() else { return false };
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

/// Makes the request that of a link of the last page, if one fits.
pub(crate) fn follow(sampler: &mut HttpSampler, user: &mut UserState) {
    if !user.has_result || !user.result.url.starts_with("http") {
        user.log(
            Level::Info,
            "Can't apply HTML Link Parser when the previous sampler run is not an HTTP Request.",
        );
        return;
    }
    let protocol = sampler.protocol.text(user).into_owned();
    let wanted = Wanted {
        protocol: if protocol.is_empty() { "http".to_owned() } else { protocol },
        host: sampler.domain.text(user).into_owned(),
        path: sampler.path.text(user).replace(' ', "%20"),
        names: sampler.arguments.iter().map(|argument| argument.name.text(user).into_owned()).collect(),
    };
    let text = user.result.body_text();
    let html = &text[text.find('<').unwrap_or(0)..];
    let mut fitting: Vec<Link> =
        links(html, &user.result.url).into_iter().filter(|link| wanted.fits(link)).collect();
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

/// The request's own arguments are patterns for those of the form, each of which is taken once.
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
    fn anchors_come_before_forms_and_forms_before_frames() {
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
    fn a_base_counts_for_links_and_not_for_forms() {
        let html = "<base href='https://o/p/'><a href=x>x</a><form action=y></form>";
        assert_eq!(found(html), ["GET https://o/p/x ", "POST http://h/dir/y "]);
    }

    #[test]
    fn fields_behind_a_form_are_still_its_own() {
        let html = "<form action=y></form><input name=a value=1><form><input name=b value=2></form>";
        assert_eq!(found(html), ["POST http://h/dir/y a=1"]);
    }

    #[test]
    fn protocol_host_and_path_are_patterns_and_arguments_must_be_there() {
        let wanted = |path: &str, names: &[&str]| Wanted {
            protocol: "http".to_owned(),
            host: "h|o".to_owned(),
            path: path.to_owned(),
            names: names.iter().map(|&name| name.to_owned()).collect(),
        };
        let link = Link::to(URL, "/a/b.html?id=12&go").unwrap();
        assert!(wanted("/a/b.html", &["id"]).fits(&link));
        assert!(wanted("a/.*", &["g."]).fits(&link));
        assert!(!wanted("/a/.", &[]).fits(&link));
        assert!(!wanted("/a/.*", &["other"]).fits(&link));
        assert!(!Wanted { host: "x".to_owned(), ..wanted("/a/b.html", &[]) }.fits(&link));
    }
}
