//! The hosts and ports to which the samplers of a plan connect, as far as they are known before the run.

use std::collections::BTreeSet;

use busyhour_program::template::{Segment, Template};
use busyhour_program::user::UserState;

/// Maximum number of targets that are collected. Only generated plans have more, and their targets are rarely different
/// systems.
const TARGETS_MAX: usize = 1_000;

/// A host and port to which a sampler connects.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlanTarget {
    /// The host, as the plan names it.
    pub host: String,
    /// The port.
    pub port: u16,
}

/// The texts of a sampler that determine its target.
#[derive(Clone, Debug)]
struct TargetTexts {
    protocol: Template,
    host: Template,
    port: Template,
    /// JMeter takes a complete URL in the path instead of the other texts.
    path: Template,
}

/// The targets of all samplers, before the variables of the plan are known.
#[derive(Debug, Default)]
pub(crate) struct PlanTargets {
    texts: Vec<TargetTexts>,
    sources: BTreeSet<[String; 4]>,
}

impl PlanTargets {
    /// Adds the target of an HTTP sampler.
    pub(crate) fn add_http(
        &mut self,
        protocol: &Template,
        host: &Template,
        port: &Template,
        path: &Template,
    ) {
        let url = if has_scheme(path.source()) || host.is_empty() { path } else { &Template::default() };
        self.add([protocol, host, port, url]);
    }

    /// Adds the target of another sampler.
    pub(crate) fn add_host(&mut self, host: &Template, port: &Template) {
        let none = Template::default();
        self.add([&none, host, port, &none]);
    }

    fn add(&mut self, texts: [&Template; 4]) {
        let is_new =
            self.texts.len() < TARGETS_MAX && self.sources.insert(texts.map(|text| text.source().to_owned()));
        if is_new {
            let [protocol, host, port, path] = texts.map(Template::clone);
            self.texts.push(TargetTexts { protocol, host, port, path });
        }
    }

    /// The targets whose texts depend only on the plan's variables and on properties; `user` has these variables.
    pub(crate) fn at_start(&self, user: &mut UserState) -> BTreeSet<PlanTarget> {
        self.texts.iter().filter_map(|texts| texts.target(user)).collect()
    }
}

impl TargetTexts {
    fn target(&self, user: &mut UserState) -> Option<PlanTarget> {
        let path = known_text(&self.path, user).unwrap_or_default();
        if has_scheme(&path) {
            return of_url(&path);
        }
        let host = known_text(&self.host, user)?;
        let host = host.trim();
        if host.is_empty() {
            return None;
        }
        let is_tls = known_text(&self.protocol, user)?.trim().eq_ignore_ascii_case("https");
        let port = known_text(&self.port, user)?;
        let port = match port.trim() {
            "" => default_port(is_tls),
            text => text.parse().ok()?,
        };
        Some(PlanTarget { host: host.to_owned(), port })
    }
}

/// The text, if it contains no unknown variables and its functions depend only on properties.
fn known_text(text: &Template, user: &mut UserState) -> Option<String> {
    let is_known = text.segments().iter().all(|segment| match segment {
        Segment::Text(_) => true,
        Segment::Variable(slot) => user.variables.slot(*slot).is_some(),
        Segment::Function(function) => function.depends_on_properties_only(),
    });
    is_known.then(|| text.text(user).into_owned())
}

fn has_scheme(path: &str) -> bool {
    ["http://", "https://"]
        .iter()
        .any(|scheme| path.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)))
}

const fn default_port(is_tls: bool) -> u16 {
    if is_tls { 443 } else { 80 }
}

fn of_url(url: &str) -> Option<PlanTarget> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let authority = authority.rsplit('@').next().unwrap_or_default();
    let port_at = authority.rfind(':').filter(|at| !authority[*at..].contains(']'));
    let (host, port) = match port_at {
        Some(at) => (&authority[..at], authority[at + 1..].parse().ok()?),
        None => (authority, default_port(scheme.eq_ignore_ascii_case("https"))),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    (!host.is_empty()).then(|| PlanTarget { host: host.to_owned(), port })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_have_a_host_and_a_port() {
        let target = |host: &str, port| Some(PlanTarget { host: host.into(), port });
        assert_eq!(of_url("http://shop/a?b:c"), target("shop", 80));
        assert_eq!(of_url("https://me:secret@shop:8443/"), target("shop", 8443));
        assert_eq!(of_url("https://[::1]/"), target("::1", 443));
        assert_eq!(of_url("https://[::1]:81"), target("::1", 81));
        assert_eq!(of_url("http:///x"), None);
        assert_eq!(of_url("http://shop:port/"), None);
    }
}
