//! JMeter's properties that affect HTTP samplers.

use std::sync::Arc;

use busyhour_diagnostic::Diagnostic;
use busyhour_http::embedded::{EmbeddedRules, Parser, Parsers};
use busyhour_http::limits::BodyLimit;
use busyhour_http::{FileStore, Proxy, SharedHttp};
use busyhour_program::run::JmeterProperties;
use busyhour_program::template::Template;

use crate::options::Options;

/// Properties that affect JMeter's HTTP samplers but not ours, each with the value for which there is no difference.
const WITHOUT_EFFECT: [(&str, &str); 17] = [
    ("httpclient4.retrycount", "0"),
    ("httpclient4.gzip_relax_mode", "false"),
    ("httpclient4.deflate_relax_mode", "false"),
    ("httpclient.localaddress", ""),
    ("httpclient.loopback", "false"),
    ("httpclient.socket.http.cps", "0"),
    ("httpclient.socket.https.cps", "0"),
    ("http.java.sampler.retries", "0"),
    ("https.default.protocol", "TLS"),
    ("https.socket.protocols", ""),
    ("https.socket.ciphers", ""),
    ("https.cipherSuites", ""),
    ("https.sessioncontext.shared", "false"),
    ("httpsampler.redirect.removeslashdotdot", "true"),
    ("httpsampler.user_defined_methods", ""),
    ("CookieManager.allow_variable_cookies", "true"),
    ("jmeter.regex.engine", "oro"),
];

/// Creates the state that all HTTP samplers share. Also returns findings about properties that have no effect.
pub(crate) fn shared(options: &Options) -> (SharedHttp, Vec<Diagnostic>) {
    let properties: &JmeterProperties = &options.properties;
    let reset = properties.flag("httpclient.reset_state_on_thread_group_iteration", true);
    let files = Arc::new(FileStore::new(&options.base_dir));
    let mut http = SharedHttp::new(options.tls, files, reset);
    http.request_deadline = options.request_deadline;
    if let Some(proxy) = &options.proxy {
        http.proxy = Some(Proxy {
            host: Template::literal(&proxy.host),
            port: Template::literal(&proxy.port.to_string()),
            user: Template::literal(&proxy.user),
            password: Template::literal(&proxy.password),
        });
        http.no_proxy.clone_from(&proxy.no_proxy);
    }
    http.redirects_max =
        properties.get("httpsampler.max_redirects").and_then(|text| text.trim().parse().ok());
    http.body_limit = match properties.get("httpsampler.max_bytes_to_store_per_request") {
        None => BodyLimit::default(),
        // JMeter reads a text that is not a number as 0.
        Some(text) => match text.trim().parse().unwrap_or(0) {
            0 => BodyLimit::Unlimited,
            most => BodyLimit::Truncate(most),
        },
    };
    http.connection_ms_max =
        properties.get("httpclient4.time_to_live").and_then(|text| text.trim().parse().ok());
    http.idle_ms_max = properties.number("httpclient4.idletimeout", 0);
    http.no_user_agent = properties.flag("httpclient4.default_user_agent_disabled", false);
    let mut findings = Vec::new();
    for (name, same_as_unset) in WITHOUT_EFFECT {
        let Some(value) = properties.get(name) else { continue };
        let value = value.trim();
        if !value.is_empty() && !value.eq_ignore_ascii_case(same_as_unset) {
            let message =
                format!("the property {name}={value} is ignored: it has no effect on HTTP samplers");
            findings.push(Diagnostic::warning("http-property", message));
        }
    }
    http.embedded = EmbeddedRules {
        parsers: parsers(properties, &mut findings),
        depth_max: properties.number("httpsampler.max_frame_depth", 5),
        ignores_failures: properties.flag("httpsampler.ignore_failed_embedded_resources", false),
        separate_container: properties.flag("httpsampler.separate.container", true),
        md5: properties.flag("httpsampler.embedded_resources_use_md5", false),
    };
    (http, findings)
}

/// The parsers of embedded resources and their media types.
fn parsers(properties: &JmeterProperties, findings: &mut Vec<Diagnostic>) -> Parsers {
    const HTML: &str = "text/html application/xhtml+xml application/xml text/xml";
    // Name, class and media types of each parser in JMeter's default properties.
    const DEFAULTS: [(&str, &str, &str); 3] = [
        ("htmlParser", "LagartoBasedHtmlParser", HTML),
        ("wmlParser", "RegexpHTMLParser", "text/vnd.wap.wml"),
        ("cssParser", "CssParser", "text/css"),
    ];
    let names = properties.get("HTTPResponse.parsers");
    let names = names.unwrap_or_else(|| "htmlParser wmlParser cssParser".into());
    let mut all = Vec::new();
    for name in names.split_whitespace() {
        let default = DEFAULTS.iter().find(|(known, ..)| *known == name);
        let or = |given: Option<String>, default: Option<&str>| given.or_else(|| default.map(str::to_owned));
        let class = or(properties.get(&format!("{name}.className")), default.map(|(_, class, _)| *class));
        let types = or(properties.get(&format!("{name}.types")), default.map(|(.., types)| *types));
        let (Some(class), Some(types)) = (class, types) else { continue };
        let parser = match class.rsplit('.').next().unwrap_or_default() {
            "CssParser" => Parser::Css,
            "LagartoBasedHtmlParser" => Parser::Html,
            other => {
                let is_own = default.is_some_and(|(_, class, _)| *class == other);
                if !is_own {
                    let message = format!(
                        "{name}.className={class}: embedded resources are found by the rules of JMeter's \
                         LagartoBasedHtmlParser"
                    );
                    findings.push(Diagnostic::warning("http-property", message));
                }
                Parser::Html
            }
        };
        all.extend(types.split_whitespace().map(|kind| (kind.to_lowercase(), parser)));
    }
    Parsers::new(all)
}
