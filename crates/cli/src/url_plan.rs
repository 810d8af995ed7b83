//! Generates the test plan of `busyhour run URL`. The plan is stored in the run directory and can be opened in JMeter.

use std::fmt::Write as _;

use busyhour_record::{UrlPlanFacts, plan_hash};

use crate::command_error::CommandError;
use crate::request_properties::RequestProperties;

/// Users of a closed load.
#[derive(Clone, Copy)]
pub(crate) struct Closed {
    /// Number of users.
    pub(crate) users: u32,
    /// Duration; `None`: until each user has finished its loops.
    pub(crate) seconds: Option<u64>,
    /// Requests of each user; `None`: without end.
    pub(crate) loops: Option<u64>,
    /// Time over which the users start.
    pub(crate) ramp_s: Option<u64>,
}

/// A repeated request.
pub(crate) struct UrlPlan<'a> {
    /// The URL.
    pub(crate) url: &'a str,
    /// Headers, as `Name: value`.
    pub(crate) headers: &'a [String],
    /// Body.
    pub(crate) data: Option<String>,
    /// Method; by default GET, or POST with a body.
    pub(crate) method: Option<String>,
    /// Think time before each request, validated.
    pub(crate) think: Option<String>,
    /// Users, if the load is closed.
    pub(crate) closed: Option<Closed>,
    /// Write headers, body and secret parameters into the plan instead of properties.
    pub(crate) keep_secrets: bool,
}

/// A generated plan.
pub(crate) struct GeneratedPlan {
    /// File name.
    pub(crate) name: String,
    pub(crate) text: String,
    /// The properties that it reads, with their values.
    pub(crate) properties: Vec<(String, String)>,
}

/// The parts of a URL.
struct Pieces<'a> {
    scheme: String,
    host: &'a str,
    port: &'a str,
    path: &'a str,
}

fn pieces(url: &str) -> Result<Pieces<'_>, CommandError> {
    let (scheme, rest) = url.split_once("://").ok_or_else(|| format!("{url:?} is not a URL"))?;
    let rest = rest.split('#').next().unwrap_or(rest);
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    if authority.contains('@') {
        return Err("credentials in a URL are not sent; use -H 'Authorization: Basic …'".into());
    }
    let (host, port) = match authority.rfind(':') {
        Some(at) if !authority[at..].contains(']') => (&authority[..at], &authority[at + 1..]),
        _ => (authority, ""),
    };
    if host.is_empty() {
        return Err(format!("{url:?} has no host").into());
    }
    if !port.is_empty() && port.parse::<u16>().is_err() {
        return Err(format!("{port:?} in {url:?} is not a port number").into());
    }
    // Arguments of functions may contain white space.
    if !path.contains("${") && path.contains(|character: char| character.is_ascii_whitespace()) {
        return Err(format!("{url:?} contains white space; write %20 for a space").into());
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
    /// The names and values of the headers, with the default content type of data.
    fn all_headers(&self) -> Result<Vec<(&str, &str)>, CommandError> {
        let mut headers = Vec::new();
        for header in self.headers {
            let (name, value) = header
                .split_once(':')
                .ok_or_else(|| format!("-H {header:?} is not of the form 'Name: value'"))?;
            headers.push((name.trim(), value.trim()));
        }
        if self.data.is_some() && !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
            headers.push(("Content-Type", "application/x-www-form-urlencoded"));
        }
        Ok(headers)
    }

    /// The server, and the plan's identity without it.
    pub(crate) fn facts(&self) -> Result<UrlPlanFacts, CommandError> {
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
        let colon = if port.is_empty() { "" } else { ":" };
        Ok(UrlPlanFacts {
            server: format!("{scheme}://{host}{colon}{port}"),
            sha256_without_server: plan_hash(same.generate()?.text.as_bytes()),
        })
    }

    /// The plan.
    pub(crate) fn generate(&self) -> Result<GeneratedPlan, CommandError> {
        let Pieces { scheme, host, port, path } = pieces(self.url)?;
        let mut properties = RequestProperties::new(self.keep_secrets);
        let method =
            self.method.clone().unwrap_or_else(|| if self.data.is_some() { "POST" } else { "GET" }.into());
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        let label = format!("{method} {}", crate::redaction::path(&path));
        let path = properties.path(&path);
        let url = if self.keep_secrets { self.url.to_owned() } else { crate::redaction::url(self.url) };
        let headers = self.all_headers()?;
        let mut text = String::from(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<jmeterTestPlan version=\"1.2\" properties=\"5.0\" \
             jmeter=\"5.6.3\">\n  <hashTree>\n",
        );
        let mut line = |indent: usize, line: &str| {
            let _ = writeln!(text, "{:indent$}{line}", "", indent = indent * 2);
        };
        let element = |class: &str, gui: &str, name: &str| {
            format!("<{class} guiclass=\"{gui}\" testclass=\"{class}\" testname=\"{}\">", escaped(name))
        };
        let property = |kind: &str, name: &str, value: &str| {
            format!("<{kind}Prop name=\"{name}\">{}</{kind}Prop>", escaped(value))
        };
        line(2, &element("TestPlan", "TestPlanGui", &label));
        line(3, &property("string", "TestPlan.comments", &format!("{method} {url}")));
        line(3, "<elementProp name=\"TestPlan.user_defined_variables\" elementType=\"Arguments\">");
        line(4, "<collectionProp name=\"Arguments.arguments\"/>");
        line(3, "</elementProp>");
        line(2, "</TestPlan>");
        line(2, "<hashTree>");
        line(3, &element("ThreadGroup", "ThreadGroupGui", "Users"));
        line(4, &property("string", "ThreadGroup.on_sample_error", "continue"));
        line(4, "<elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\">");
        line(5, &property("bool", "LoopController.continue_forever", "false"));
        let loops = self.closed.as_ref().and_then(|closed| closed.loops);
        let loops = loops.map_or_else(|| "-1".to_owned(), |loops| loops.to_string());
        line(5, &property("string", "LoopController.loops", &loops));
        line(4, "</elementProp>");
        let users = self.closed.as_ref().map_or(1, |closed| closed.users);
        line(4, &property("string", "ThreadGroup.num_threads", &users.to_string()));
        let ramp_s = self.closed.as_ref().and_then(|closed| closed.ramp_s);
        line(4, &property("string", "ThreadGroup.ramp_time", &ramp_s.unwrap_or(0).to_string()));
        if let Some(seconds) = self.closed.as_ref().and_then(|closed| closed.seconds) {
            line(4, &property("bool", "ThreadGroup.scheduler", "true"));
            line(4, &property("string", "ThreadGroup.duration", &seconds.to_string()));
        }
        line(4, &property("bool", "ThreadGroup.same_user_on_next_iteration", "true"));
        line(3, "</ThreadGroup>");
        line(3, "<hashTree>");
        if !headers.is_empty() {
            line(4, &element("HeaderManager", "HeaderPanel", "Headers"));
            line(5, "<collectionProp name=\"HeaderManager.headers\">");
            for (name, value) in &headers {
                line(6, "<elementProp name=\"\" elementType=\"Header\">");
                line(7, &property("string", "Header.name", name));
                line(7, &property("string", "Header.value", &properties.header(name, value)));
                line(6, "</elementProp>");
            }
            line(5, "</collectionProp>");
            line(4, "</HeaderManager>");
            line(4, "<hashTree/>");
        }
        let think = match &self.think {
            Some(text) => {
                let law = busyhour_compile::think_law(text).map_err(|error| error.message)?;
                Some((text, format!("{:.0}", law.mean_ns() / 1e6)))
            }
            None => None,
        };
        let is_spread = self.closed.as_ref().is_some_and(|closed| closed.ramp_s.is_none());
        if let Some((_, mean_ms)) = think.as_ref().filter(|(_, mean_ms)| is_spread && mean_ms != "0") {
            // Without it, users with a constant think time would send all their requests in the same instants.
            line(4, &element("OnceOnlyController", "OnceOnlyControllerGui", "First pass"));
            line(4, "</OnceOnlyController>");
            line(4, "<hashTree>");
            line(5, &element("TestAction", "TestActionGui", "Spread the starts"));
            line(6, &property("int", "ActionProcessor.action", "1"));
            line(6, &property("int", "ActionProcessor.target", "0"));
            line(6, &property("string", "ActionProcessor.duration", &format!("${{__Random(0,{mean_ms})}}")));
            line(5, "</TestAction>");
            line(5, "<hashTree/>");
            line(4, "</hashTree>");
        }
        line(4, &element("HTTPSamplerProxy", "HttpTestSampleGui", &label));
        if let Some(data) = &self.data {
            line(5, &property("bool", "HTTPSampler.postBodyRaw", "true"));
            line(5, "<elementProp name=\"HTTPsampler.Arguments\" elementType=\"Arguments\">");
            line(6, "<collectionProp name=\"Arguments.arguments\">");
            line(7, "<elementProp name=\"\" elementType=\"HTTPArgument\">");
            line(8, &property("bool", "HTTPArgument.always_encode", "false"));
            line(8, &property("string", "Argument.value", &properties.body(data)));
            line(8, &property("string", "Argument.metadata", "="));
            line(7, "</elementProp>");
            line(6, "</collectionProp>");
            line(5, "</elementProp>");
        } else {
            line(5, "<elementProp name=\"HTTPsampler.Arguments\" elementType=\"Arguments\">");
            line(6, "<collectionProp name=\"Arguments.arguments\"/>");
            line(5, "</elementProp>");
        }
        line(5, &property("string", "HTTPSampler.domain", host));
        line(5, &property("string", "HTTPSampler.port", port));
        line(5, &property("string", "HTTPSampler.protocol", &scheme));
        line(5, &property("string", "HTTPSampler.path", &path));
        line(5, &property("string", "HTTPSampler.method", &method));
        line(5, &property("bool", "HTTPSampler.follow_redirects", "true"));
        line(5, &property("bool", "HTTPSampler.use_keepalive", "true"));
        line(4, "</HTTPSamplerProxy>");
        match think {
            None => line(4, "<hashTree/>"),
            Some((text, mean_ms)) => {
                line(4, "<hashTree>");
                line(5, &element("ConstantTimer", "ConstantTimerGui", "Think time"));
                // JMeter ignores the first property and waits for the mean.
                line(6, &property("string", "busyhour.think", text));
                line(6, &property("string", "ConstantTimer.delay", &mean_ms));
                line(5, "</ConstantTimer>");
                line(5, "<hashTree/>");
                line(4, "</hashTree>");
            }
        }
        line(3, "</hashTree>");
        line(2, "</hashTree>");
        text.push_str("  </hashTree>\n</jmeterTestPlan>\n");
        let stem = format!("{host}{}{port}", if port.is_empty() { "" } else { "-" });
        Ok(GeneratedPlan { name: format!("{stem}.jmx"), text, properties: properties.all })
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
            closed: Some(Closed { users: 7, seconds: Some(3), loops: Some(4), ramp_s: None }),
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
