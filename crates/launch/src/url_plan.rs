//! Generates the test plan for a run that sends requests to a URL. The plan is stored in the run directory and can be opened
//! in JMeter.

use std::fmt::Write as _;

use busyhour_record::{UrlPlanFacts, plan_hash};

use crate::redaction;
use crate::request_properties::RequestProperties;
use crate::url_plan_error::UrlPlanError;

/// Users and duration of a closed load.
#[derive(Clone, Copy, Debug)]
pub struct UrlUsers {
    /// Number of users.
    pub users: u32,
    /// Duration; `None`: the run ends when each user has finished its loops.
    pub seconds: Option<u64>,
    /// Number of requests of each user; `None`: no limit.
    pub loops: Option<u64>,
    /// Time over which the users start.
    pub ramp_s: Option<u64>,
}

/// A request that the plan repeats.
#[derive(Debug)]
pub struct UrlPlan<'a> {
    /// The URL.
    pub url: &'a str,
    /// Headers, as `Name: value`.
    pub headers: &'a [String],
    /// Body.
    pub data: Option<String>,
    /// Method; by default GET, or POST with a body.
    pub method: Option<String>,
    /// Think time before each request, validated.
    pub think: Option<String>,
    /// Users, if the load is closed; `None` if it is open.
    pub closed: Option<UrlUsers>,
    /// Whether headers, body and secret parameters are written into the plan rather than into properties.
    pub keep_secrets: bool,
}

/// A generated plan.
#[derive(Debug)]
pub struct GeneratedPlan {
    /// File name.
    pub name: String,
    /// The plan, a JMX file.
    pub text: String,
    /// The properties that the plan reads, with their values.
    pub properties: Vec<(String, String)>,
    /// The body without its secrets. Plans with different bodies are different plans, even if their texts are the same.
    pub body: String,
}

/// The parts of a URL.
struct Pieces<'a> {
    scheme: String,
    host: &'a str,
    port: &'a str,
    path: &'a str,
}

fn pieces(url: &str) -> Result<Pieces<'_>, UrlPlanError> {
    let (scheme, rest) = url.split_once("://").ok_or_else(|| UrlPlanError::NotAUrl(url.to_owned()))?;
    let rest = rest.split('#').next().unwrap_or(rest);
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    if authority.contains('@') {
        return Err(UrlPlanError::Credentials);
    }
    let (host, port) = match authority.rfind(':') {
        Some(at) if !authority[at..].contains(']') => (&authority[..at], &authority[at + 1..]),
        _ => (authority, ""),
    };
    if host.is_empty() {
        return Err(UrlPlanError::NoHost(url.to_owned()));
    }
    if !port.is_empty() && port.parse::<u16>().is_err() {
        return Err(UrlPlanError::Port { port: port.to_owned(), url: url.to_owned() });
    }
    // Arguments of functions may contain white space.
    if !path.contains("${") && path.contains(|character: char| character.is_ascii_whitespace()) {
        return Err(UrlPlanError::WhiteSpace(url.to_owned()));
    }
    Ok(Pieces { scheme: scheme.to_ascii_lowercase(), host, port, path })
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#xa;"),
            '\r' => out.push_str("&#xd;"),
            '\t' => out.push_str("&#x9;"),
            other => out.push(other),
        }
    }
    out
}

impl UrlPlan<'_> {
    /// The names and values of the headers, including the default content type of a body.
    fn all_headers(&self) -> Result<Vec<(&str, &str)>, UrlPlanError> {
        let mut headers = Vec::new();
        for header in self.headers {
            let (name, value) = header.split_once(':').ok_or_else(|| UrlPlanError::Header(header.clone()))?;
            headers.push((name.trim(), value.trim()));
        }
        if self.data.is_some() && !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
            headers.push(("Content-Type", "application/x-www-form-urlencoded"));
        }
        Ok(headers)
    }

    /// The server, and a hash of the plan that does not depend on the server.
    pub fn facts(&self) -> Result<UrlPlanFacts, UrlPlanError> {
        let Pieces { scheme, host, port, path } = pieces(self.url)?;
        let elsewhere = format!("http://server{path}");
        let same = UrlPlan {
            url: &elsewhere,
            headers: self.headers,
            data: self.data.clone(),
            method: self.method.clone(),
            think: self.think.clone(),
            closed: self.closed,
            keep_secrets: self.keep_secrets,
        };
        let same = same.generate()?;
        let colon = if port.is_empty() { "" } else { ":" };
        Ok(UrlPlanFacts {
            server: format!("{scheme}://{host}{colon}{port}"),
            sha256_without_server: plan_hash(&[same.text.as_bytes(), same.body.as_bytes()].concat()),
        })
    }

    /// Generates the plan.
    pub fn generate(&self) -> Result<GeneratedPlan, UrlPlanError> {
        let pieces = pieces(self.url)?;
        let mut properties = RequestProperties::new(self.keep_secrets);
        let path = match pieces.path {
            path if path.starts_with('/') => path.to_owned(),
            path => format!("/{path}"),
        };
        let method =
            self.method.clone().unwrap_or_else(|| if self.data.is_some() { "POST" } else { "GET" }.into());
        let label = format!("{method} {}", redaction::path(&path));
        let path = properties.path(&path);
        let think = self.think.as_deref().map(Think::of).transpose()?;
        let mut jmx = Jmx::default();
        self.begin(&mut jmx, &label, &method);
        self.headers(&mut jmx, &mut properties)?;
        if let Some(think) = think.as_ref().filter(|think| self.is_spread(think)) {
            think.spread_starts(&mut jmx);
        }
        jmx.element(4, "HTTPSamplerProxy", "HttpTestSampleGui", &label);
        self.body(&mut jmx, &mut properties);
        jmx.property(5, "string", "HTTPSampler.domain", pieces.host);
        jmx.property(5, "string", "HTTPSampler.port", pieces.port);
        jmx.property(5, "string", "HTTPSampler.protocol", &pieces.scheme);
        jmx.property(5, "string", "HTTPSampler.path", &path);
        jmx.property(5, "string", "HTTPSampler.method", &method);
        jmx.property(5, "bool", "HTTPSampler.follow_redirects", "true");
        jmx.property(5, "bool", "HTTPSampler.use_keepalive", "true");
        jmx.line(4, "</HTTPSamplerProxy>");
        match &think {
            None => jmx.line(4, "<hashTree/>"),
            Some(think) => think.timer(&mut jmx),
        }
        jmx.line(3, "</hashTree>");
        jmx.line(2, "</hashTree>");
        jmx.line(1, "</hashTree>");
        jmx.line(0, "</jmeterTestPlan>");
        let colon = if pieces.port.is_empty() { "" } else { "-" };
        let name = format!("{}{colon}{}.jmx", pieces.host, pieces.port);
        let body = self.data.as_deref().map(redaction::body).unwrap_or_default();
        Ok(GeneratedPlan { name, text: jmx.0, properties: properties.all, body })
    }

    /// Whether users start at random within the first think time. If they all started in one instant, they would stay
    /// synchronized. A ramp distributes the starts already.
    fn is_spread(&self, think: &Think<'_>) -> bool {
        think.mean_ms != "0" && self.closed.as_ref().is_some_and(|closed| closed.ramp_s.is_none())
    }

    /// Writes the start of the test plan and of its thread group.
    fn begin(&self, jmx: &mut Jmx, label: &str, method: &str) {
        let url = if self.keep_secrets { self.url.to_owned() } else { redaction::url(self.url) };
        jmx.line(0, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
        jmx.line(0, "<jmeterTestPlan version=\"1.2\" properties=\"5.0\" jmeter=\"5.6.3\">");
        jmx.line(1, "<hashTree>");
        jmx.element(2, "TestPlan", "TestPlanGui", label);
        jmx.property(3, "string", "TestPlan.comments", &format!("{method} {url}"));
        jmx.line(3, "<elementProp name=\"TestPlan.user_defined_variables\" elementType=\"Arguments\">");
        jmx.line(4, "<collectionProp name=\"Arguments.arguments\"/>");
        jmx.line(3, "</elementProp>");
        jmx.line(2, "</TestPlan>");
        jmx.line(2, "<hashTree>");
        let closed = self.closed.as_ref();
        let number = |number: Option<u64>, otherwise: &str| {
            number.map_or_else(|| otherwise.to_owned(), |number| number.to_string())
        };
        jmx.element(3, "ThreadGroup", "ThreadGroupGui", "Users");
        jmx.property(4, "string", "ThreadGroup.on_sample_error", "continue");
        jmx.line(4, "<elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\">");
        jmx.property(5, "bool", "LoopController.continue_forever", "false");
        let loops = number(closed.and_then(|closed| closed.loops), "-1");
        jmx.property(5, "string", "LoopController.loops", &loops);
        jmx.line(4, "</elementProp>");
        let users = closed.map_or(1, |closed| closed.users);
        jmx.property(4, "string", "ThreadGroup.num_threads", &users.to_string());
        let ramp_s = number(closed.and_then(|closed| closed.ramp_s), "0");
        jmx.property(4, "string", "ThreadGroup.ramp_time", &ramp_s);
        if let Some(seconds) = closed.and_then(|closed| closed.seconds) {
            jmx.property(4, "bool", "ThreadGroup.scheduler", "true");
            jmx.property(4, "string", "ThreadGroup.duration", &seconds.to_string());
        }
        jmx.property(4, "bool", "ThreadGroup.same_user_on_next_iteration", "true");
        jmx.line(3, "</ThreadGroup>");
        jmx.line(3, "<hashTree>");
    }

    fn headers(&self, jmx: &mut Jmx, properties: &mut RequestProperties) -> Result<(), UrlPlanError> {
        let headers = self.all_headers()?;
        if headers.is_empty() {
            return Ok(());
        }
        jmx.element(4, "HeaderManager", "HeaderPanel", "Headers");
        jmx.line(5, "<collectionProp name=\"HeaderManager.headers\">");
        for (name, value) in headers {
            jmx.line(6, "<elementProp name=\"\" elementType=\"Header\">");
            jmx.property(7, "string", "Header.name", name);
            jmx.property(7, "string", "Header.value", &properties.header(name, value));
            jmx.line(6, "</elementProp>");
        }
        jmx.line(5, "</collectionProp>");
        jmx.line(4, "</HeaderManager>");
        jmx.line(4, "<hashTree/>");
        Ok(())
    }

    /// Writes the arguments of the request: its body, if it has one.
    fn body(&self, jmx: &mut Jmx, properties: &mut RequestProperties) {
        const ARGUMENTS: &str = "<elementProp name=\"HTTPsampler.Arguments\" elementType=\"Arguments\">";
        let Some(data) = &self.data else {
            jmx.line(5, ARGUMENTS);
            jmx.line(6, "<collectionProp name=\"Arguments.arguments\"/>");
            jmx.line(5, "</elementProp>");
            return;
        };
        jmx.property(5, "bool", "HTTPSampler.postBodyRaw", "true");
        jmx.line(5, ARGUMENTS);
        jmx.line(6, "<collectionProp name=\"Arguments.arguments\">");
        jmx.line(7, "<elementProp name=\"\" elementType=\"HTTPArgument\">");
        jmx.property(8, "bool", "HTTPArgument.always_encode", "false");
        jmx.property(8, "string", "Argument.value", &properties.body(data));
        jmx.property(8, "string", "Argument.metadata", "=");
        jmx.line(7, "</elementProp>");
        jmx.line(6, "</collectionProp>");
        jmx.line(5, "</elementProp>");
    }
}

/// A think time.
struct Think<'t> {
    /// The text as the user gave it.
    text: &'t str,
    mean_ms: String,
}

impl<'t> Think<'t> {
    fn of(text: &'t str) -> Result<Self, UrlPlanError> {
        let law = busyhour_compile::think_law(text)?;
        Ok(Self { text, mean_ms: format!("{:.0}", law.mean_ns() / 1e6) })
    }

    /// Writes a random pause of each user before its first request, up to the mean think time.
    fn spread_starts(&self, jmx: &mut Jmx) {
        jmx.element(4, "OnceOnlyController", "OnceOnlyControllerGui", "First pass");
        jmx.line(4, "</OnceOnlyController>");
        jmx.line(4, "<hashTree>");
        jmx.element(5, "TestAction", "TestActionGui", "Spread the starts");
        jmx.property(6, "int", "ActionProcessor.action", "1");
        jmx.property(6, "int", "ActionProcessor.target", "0");
        let pause = format!("${{__Random(0,{})}}", self.mean_ms);
        jmx.property(6, "string", "ActionProcessor.duration", &pause);
        jmx.line(5, "</TestAction>");
        jmx.line(5, "<hashTree/>");
        jmx.line(4, "</hashTree>");
    }

    /// Writes the timer before each request.
    fn timer(&self, jmx: &mut Jmx) {
        jmx.line(4, "<hashTree>");
        jmx.element(5, "ConstantTimer", "ConstantTimerGui", "Think time");
        // JMeter ignores the property `busyhour.think` and waits for the mean.
        jmx.property(6, "string", "busyhour.think", self.text);
        jmx.property(6, "string", "ConstantTimer.delay", &self.mean_ms);
        jmx.line(5, "</ConstantTimer>");
        jmx.line(5, "<hashTree/>");
        jmx.line(4, "</hashTree>");
    }
}

/// The text of a JMX file that is being written.
#[derive(Default)]
struct Jmx(String);

impl Jmx {
    fn line(&mut self, indent: usize, line: &str) {
        let _ = writeln!(self.0, "{:indent$}{line}", "", indent = indent * 2);
    }

    /// Writes the start tag of an element.
    fn element(&mut self, indent: usize, class: &str, gui: &str, name: &str) {
        let name = escaped(name);
        self.line(indent, &format!("<{class} guiclass=\"{gui}\" testclass=\"{class}\" testname=\"{name}\">"));
    }

    fn property(&mut self, indent: usize, kind: &str, name: &str, value: &str) {
        self.line(indent, &format!("<{kind}Prop name=\"{name}\">{}</{kind}Prop>", escaped(value)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_split_into_parts() {
        let of = |url| pieces(url).map(|p| (p.scheme, p.host, p.port, p.path));
        assert_eq!(of("http://a.b/c?d=e#f"), Ok(("http".into(), "a.b", "", "/c?d=e")));
        assert_eq!(of("HTTPS://[::1]:8443"), Ok(("https".into(), "[::1]", "8443", "")));
        assert_eq!(of("http://a?b"), Ok(("http".into(), "a", "", "?b")));
        assert!(of("http://a/b c").is_err() && of("http://a/${__time(yyyy MM)}").is_ok());
        assert!(of("http://a:b/").is_err() && of("http:///x").is_err() && of("http://me:pw@a/").is_err());
    }

    #[test]
    fn plans_for_other_servers_have_the_same_identity() {
        let facts = |url, method: Option<&str>| {
            UrlPlan {
                url,
                headers: &[],
                data: None,
                method: method.map(str::to_owned),
                think: None,
                closed: None,
                keep_secrets: false,
            }
            .facts()
            .unwrap()
        };
        let one = facts("http://127.0.0.1:8971/a?b=1", None);
        let other = facts("https://example.org/a?b=1", None);
        assert_eq!(
            (one.server.as_str(), other.server.as_str()),
            ("http://127.0.0.1:8971", "https://example.org")
        );
        assert_eq!(one.sha256_without_server, other.sha256_without_server);
        for different in
            [facts("http://127.0.0.1:8971/a?b=2", None), facts("http://127.0.0.1:8971/a?b=1", Some("HEAD"))]
        {
            assert_ne!(one.sha256_without_server, different.sha256_without_server);
        }
    }

    #[test]
    fn the_plan_contains_the_requested_settings() {
        let headers = vec!["Accept: a&b".to_owned()];
        let plan = UrlPlan {
            url: "http://127.0.0.1:8080/a?b=1&c=<2>",
            headers: &headers,
            data: Some("x=\"1\"\n".into()),
            method: None,
            think: Some("exponential(2s)".into()),
            closed: Some(UrlUsers { users: 7, seconds: Some(3), loops: Some(4), ramp_s: None }),
            keep_secrets: true,
        };
        let GeneratedPlan { name, text, .. } = plan.generate().unwrap();
        assert_eq!(name, "127.0.0.1-8080.jmx");
        let (tree, findings) = busyhour_plan::parse(text.as_bytes(), name.as_str());
        assert!(findings.is_empty(), "{findings:?}");
        let find = |kind: &str| {
            tree.roots()
                .flat_map(busyhour_plan::Element::descendants)
                .find(|element| element.kind() == kind)
                .unwrap()
        };
        assert_eq!(find("HTTPSamplerProxy").text("HTTPSampler.path"), Some("/a?b=1&c=<2>"));
        assert_eq!(find("HTTPSamplerProxy").text("HTTPSampler.method"), Some("POST"));
        assert_eq!(find("ThreadGroup").text("ThreadGroup.num_threads"), Some("7"));
        assert_eq!(find("ConstantTimer").text("ConstantTimer.delay"), Some("2000"));
        assert_eq!(find("TestAction").text("ActionProcessor.duration"), Some("${__Random(0,2000)}"));
        assert!(text.contains("<stringProp name=\"LoopController.loops\">4<"));
        assert!(text.contains("x=&quot;1&quot;&#xa;") && text.contains("application/x-www-form-urlencoded"));
    }

    #[test]
    fn the_plan_refers_to_properties_instead_of_secrets() {
        let headers = ["Accept: a", "X-Shop: S3CRET", "Cookie: a=S3CRET"].map(str::to_owned);
        let plan = UrlPlan {
            url: "http://h/a?b=1&token=S3CRET",
            headers: &headers,
            data: Some("S3CRET".into()),
            method: None,
            think: None,
            closed: None,
            keep_secrets: false,
        };
        let GeneratedPlan { text, properties, .. } = plan.generate().unwrap();
        assert!(!text.contains("S3CRET"), "{text}");
        assert!(
            text.contains(">a<")
                && text.contains("/a?b=1&amp;token=${__P(busyhour.request.parameter.token,)}")
        );
        let names =
            properties.iter().map(|(name, _)| name.strip_prefix("busyhour.request.").unwrap_or_default());
        let expected = ["parameter.token", "header.x-shop", "header.cookie", "body"];
        assert_eq!(names.collect::<Vec<_>>(), expected);
    }
}
