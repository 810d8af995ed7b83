//! Compiles HTTP samplers with the defaults and managers in their scope.

use busyhour_diagnostic::Diagnostic;
use busyhour_http::embedded::Embedded;
use busyhour_http::modify::{Modifier, UrlRewriting};
use busyhour_http::source::{Source, SourceKind};
use busyhour_http::{
    Argument, Charset, Client, ContentEncoding, FileArgument, Header, HeaderManagers, HttpSampler, Proxy,
    Redirects,
};
use busyhour_plan::{Element, Property};
use busyhour_program::result::Retention;
use busyhour_program::template::Template;
use busyhour_program::user::StateId;

use crate::context::Context;
use crate::elements::config::ConfigClass;
use crate::elements::processors::PreProcessorClass;
use crate::elements::{Role, role};
use crate::managers;
use crate::scope::Stack;

/// A sampler and the defaults elements that supply missing settings, innermost first.
struct Merged<'p> {
    sampler: Element<'p>,
    defaults: Vec<Element<'p>>,
}

impl<'p> Merged<'p> {
    /// The effective property: the sampler's own, unless it is missing or empty.
    fn property(&self, name: &str) -> Option<Property<'p>> {
        let own = self.sampler.property(name);
        let is_there = |property: &Property<'p>| property.text().is_none_or(|text| !text.is_empty());
        own.filter(is_there)
            .or_else(|| self.defaults.iter().find_map(|element| element.property(name).filter(is_there)))
            .or(own)
    }

    fn text(&self, context: &mut Context<'p>, name: &str) -> Template {
        match self.property(name).and_then(|property| Some((property, property.text()?))) {
            Some((property, text)) => context.parse(text, property),
            None => Template::literal(""),
        }
    }

    fn flag(&self, context: &mut Context<'p>, name: &str, default: bool) -> bool {
        // A Boolean value of the sampler takes precedence over one of the defaults.
        match self.property(name) {
            Some(property) => context.flag(property.owner(), name, default),
            None => default,
        }
    }

    /// The items of a list in an inner element: those of the sampler, then those of the defaults.
    fn items(&self, element: &str, list: &str) -> Vec<Property<'p>> {
        std::iter::once(&self.sampler)
            .chain(&self.defaults)
            .filter_map(|owner| owner.element(element)?.property(list))
            .flat_map(Property::items)
            .collect()
    }
}

/// Compiles the HTTP/2 sampler of BlazeMeter's plugin at the end of `stack`.
pub(crate) fn http2_sampler<'p>(context: &mut Context<'p>, stack: &Stack<'p>) -> Option<HttpSampler> {
    let what = "the plugin's HTTP/2 requests are sent over HTTP/1.1: the same requests, one at a time per connection";
    context.findings.warn(*stack.path.last()?, "http2", what);
    sampler(context, stack)
}

/// Compiles the HTTP sampler at the end of `stack`.
pub(crate) fn sampler<'p>(context: &mut Context<'p>, stack: &Stack<'p>) -> Option<HttpSampler> {
    let element = *stack.path.last()?;
    let scope = stack.nearest_first();
    let is_default = |element: &Element<'p>| role(*element) == Role::Config(ConfigClass::HttpDefaults);
    let defaults = scope.iter().copied().filter(is_default).collect();
    let merged = Merged { sampler: element, defaults };
    context.in_request = true;
    let sampler = request(context, stack, &scope, &merged);
    context.in_request = false;
    Some(sampler)
}

fn request<'p>(
    context: &mut Context<'p>,
    stack: &Stack<'p>,
    scope: &[Element<'p>],
    merged: &Merged<'p>,
) -> HttpSampler {
    let is_java = merged.property("HTTPSampler.implementation").and_then(Property::text) == Some("Java");
    let arguments = merged
        .items("HTTPsampler.Arguments", "Arguments.arguments")
        .into_iter()
        .map(|item| argument(context, item))
        .collect();
    let files = files(context, merged);
    let encoding = content_encoding(context, merged);
    let redirects = redirects(context, merged);
    let proxy = proxy(context, merged);
    // An empty method is retained; JMeter refuses to send it.
    let method = match merged.property("HTTPSampler.method") {
        Some(_) => merged.text(context, "HTTPSampler.method"),
        None => Template::literal("GET"),
    };
    // JMeter applies managers from the sampler outwards, and each replaces the previous one.
    let last = |class| scope.iter().copied().rfind(|element| role(*element) == Role::Config(class));
    let cookies = last(ConfigClass::CookieManager);
    let cache = last(ConfigClass::CacheManager);
    let auth = last(ConfigClass::AuthManager);
    let dns = last(ConfigClass::DnsCacheManager);
    let [protocol, domain, port, path] = ["protocol", "domain", "port", "path"]
        .map(|name| merged.text(context, &format!("HTTPSampler.{name}")));
    context.parts.targets.add_http(&protocol, &domain, &port, &path);
    HttpSampler {
        shared: std::sync::Arc::clone(&context.parts.http),
        method,
        protocol,
        domain,
        port,
        path,
        arguments,
        raw_body: merged.flag(context, "HTTPSampler.postBodyRaw", false),
        files,
        multipart: merged.flag(context, "HTTPSampler.DO_MULTIPART_POST", false),
        browser_compatible: merged.flag(context, "HTTPSampler.BROWSER_COMPATIBLE_MULTIPART", false),
        encoding,
        redirects,
        keep_alive: merged.flag(context, "HTTPSampler.use_keepalive", false),
        connect_timeout: merged.text(context, "HTTPSampler.connect_timeout"),
        response_timeout: merged.text(context, "HTTPSampler.response_timeout"),
        proxy,
        headers: headers(context, scope),
        header_managers: header_managers(scope),
        cookies: cookies.and_then(|element| managers::cookies(context, element)),
        cache: cache.and_then(|element| managers::cache(context, element)),
        auth: auth.and_then(|element| managers::auth(context, element)),
        modifiers: modifiers(context, stack),
        dns: dns.and_then(|element| managers::dns(context, element)),
        source: source(context, merged),
        embedded: embedded(context, merged),
        md5: merged.flag(context, "HTTPSampler.md5", false),
        is_accessed_by_scripts: false,
        client: if is_java { Client::Java } else { Client::HttpClient4 },
    }
}

fn redirects<'p>(context: &mut Context<'p>, merged: &Merged<'p>) -> Redirects {
    if merged.flag(context, "HTTPSampler.auto_redirects", false) {
        Redirects::Auto
    } else if merged.flag(context, "HTTPSampler.follow_redirects", false) {
        Redirects::Follow
    } else {
        Redirects::None
    }
}

/// The sampler's own proxy, if the plan configures one.
fn proxy<'p>(context: &mut Context<'p>, merged: &Merged<'p>) -> Option<Proxy> {
    let host = merged.text(context, "HTTPSampler.proxyHost");
    (!host.is_empty()).then(|| Proxy {
        host,
        port: merged.text(context, "HTTPSampler.proxyPort"),
        user: merged.text(context, "HTTPSampler.proxyUser"),
        password: merged.text(context, "HTTPSampler.proxyPass"),
    })
}

fn argument<'p>(context: &mut Context<'p>, item: Property<'p>) -> Argument {
    let name = match item.item_text("Argument.name") {
        Some(_) => context.item(item, "Argument.name"),
        None => Template::literal(""),
    };
    Argument {
        name,
        value: context.item(item, "Argument.value"),
        encode: context.item_flag(item, "HTTPArgument.always_encode"),
        use_equals: item.item_text("Argument.metadata").is_none_or(|metadata| metadata == "="),
        content_type: context.item(item, "HTTPArgument.content_type"),
    }
}

fn files<'p>(context: &mut Context<'p>, merged: &Merged<'p>) -> Box<[FileArgument]> {
    let files: Vec<FileArgument> = merged
        .items("HTTPsampler.Files", "HTTPFileArgs.files")
        .into_iter()
        .map(|item| FileArgument {
            path: context.item(item, "File.path"),
            parameter: context.item(item, "File.paramname"),
            mime: context.item(item, "File.mimetype"),
        })
        .collect();
    if merged.sampler.text("HTTPSampler.FILE_NAME").is_some_and(|name| !name.is_empty()) {
        let message =
            "the file in HTTPSampler.FILE_NAME is not sent: JMeter 5.6.3 no longer reads this property";
        context.findings.warn(merged.sampler, "old-upload", message);
    }
    files.into()
}

/// The content encoding, resolved now if it is the same for all samples.
fn content_encoding<'p>(context: &mut Context<'p>, merged: &Merged<'p>) -> ContentEncoding {
    const PROPERTY: &str = "HTTPSampler.contentEncoding";
    let template = merged.text(context, PROPERTY);
    let Some(name) = template.as_literal() else { return ContentEncoding::Text(template) };
    if let Some(charset) = Charset::named(name) {
        return ContentEncoding::Known(charset);
    }
    let owner = merged.property(PROPERTY).map_or(merged.sampler, Property::owner);
    if Charset::may_be_name(name) {
        let what = format!(
            "the content encoding {name:?} is not supported: an encoding must have the same name in Java and on the web"
        );
        context.findings.unsupported_setting(owner, PROPERTY, &what);
        return ContentEncoding::Known(Charset::Utf8);
    }
    let message = format!(
        "{name:?} cannot be the name of a charset: JMeter fails each request that has a body, and omits the values of \
         encoded query parameters"
    );
    let finding = Diagnostic::warning("invalid-charset", message);
    context.findings.add_at(owner, PROPERTY, finding.with_hint("write the name alone, for example UTF-8"));
    ContentEncoding::Text(template)
}

fn header_managers(scope: &[Element<'_>]) -> HeaderManagers {
    let mut managers =
        scope.iter().filter(|element| role(**element) == Role::Config(ConfigClass::HeaderManager));
    match (managers.next(), managers.next()) {
        (None, _) => HeaderManagers::None,
        (Some(manager), None) => HeaderManagers::One(u32::try_from(manager.id().index()).unwrap_or(u32::MAX)),
        (Some(_), Some(_)) => HeaderManagers::Several,
    }
}

/// The merged headers of all header managers in scope; if a name occurs in several, the innermost manager takes precedence.
pub(crate) fn headers<'p>(context: &mut Context<'p>, scope: &[Element<'p>]) -> Box<[Header]> {
    let mut headers: Vec<(String, Header)> = Vec::new();
    for element in scope.iter().filter(|element| role(**element) == Role::Config(ConfigClass::HeaderManager))
    {
        let Some(list) = element.collection("HeaderManager.headers") else { continue };
        // A single manager may contain a name several times; if managers are merged, each name is sent once.
        let merges = !headers.is_empty();
        for item in list.items() {
            let name = item.item_text("Header.name").unwrap_or("").to_owned();
            if merges && headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(&name)) {
                continue;
            }
            let header =
                Header { name: context.item(item, "Header.name"), value: context.item(item, "Header.value") };
            headers.push((name, header));
        }
    }
    headers.into_iter().map(|(_, header)| header).collect()
}

/// The settings for embedded resources, if they are downloaded.
fn embedded<'p>(context: &mut Context<'p>, merged: &Merged<'p>) -> Option<Box<Embedded>> {
    if !merged.flag(context, "HTTPSampler.image_parser", false) {
        return None;
    }
    let at_once = merged.flag(context, "HTTPSampler.concurrentDwn", false).then(|| {
        let number = merged.text(context, "HTTPSampler.concurrentPool");
        if number.is_empty() { Template::literal("6") } else { number }
    });
    Some(Box::new(Embedded {
        allow: merged.text(context, "HTTPSampler.embedded_url_re"),
        exclude: merged.text(context, "HTTPSampler.embedded_url_exclude_re"),
        at_once,
        matches: busyhour_processors::oro::matches_whole,
    }))
}

/// The pre-processors in scope that change the request, in the order in which they run.
fn modifiers<'p>(context: &mut Context<'p>, stack: &Stack<'p>) -> Box<[Modifier]> {
    let mut all = Vec::new();
    for element in stack.outermost_first() {
        let Role::PreProcessor(class) = role(element) else { continue };
        match class {
            PreProcessorClass::UrlRewriting => {
                let entry = context.parts.rewriting_states.entry(element.id());
                let state = *entry.or_insert_with(|| context.symbols.state());
                all.push(Modifier::UrlRewriting(url_rewriting(context, element, state)));
            }
            PreProcessorClass::LinkParser => all.push(Modifier::Links),
            PreProcessorClass::RegexUserParameters => all.push(Modifier::RegexParameters {
                name: context.name(element),
                variable: context.text_or(element, "RegExUserParameters.regex_ref_name", ""),
                names_group: context.text_or(element, "RegExUserParameters.param_names_gr_nr", ""),
                values_group: context.text_or(element, "RegExUserParameters.param_values_gr_nr", ""),
            }),
            PreProcessorClass::UserParameters
            | PreProcessorClass::SampleTimeout
            | PreProcessorClass::PopFromQueue
            | PreProcessorClass::RawDataSource
            | PreProcessorClass::Script(_) => {}
        }
        if matches!(class, PreProcessorClass::UrlRewriting | PreProcessorClass::LinkParser) {
            // These elements search the previous page for the value or the links.
            context.reads.add_previous_result(Retention { body: true, ..Retention::default() });
        }
    }
    all.into()
}

fn url_rewriting<'p>(context: &mut Context<'p>, element: Element<'p>, state: StateId) -> UrlRewriting {
    UrlRewriting {
        argument: context.text_or(element, "argument_name", ""),
        in_path: context.flag(element, "path_extension", false),
        no_equals: context.flag(element, "path_extension_no_equals", false),
        ends_at_question_mark: context.flag(element, "path_extension_no_questionmark", false),
        keeps: context.flag(element, "cache_value", true),
        encoded: context.flag(element, "encode", false),
        kept: state,
    }
}

/// The local address of the sampler's connections, if the plan configures one.
fn source<'p>(context: &mut Context<'p>, merged: &Merged<'p>) -> Option<Box<Source>> {
    let text = merged.text(context, "HTTPSampler.ipSource");
    if text.is_empty() {
        return None;
    }
    let number = match merged.property("HTTPSampler.ipSourceType").and_then(Property::text) {
        Some(number) => context.now(number),
        None => String::new(),
    };
    let kind = number.trim().parse().ok().and_then(SourceKind::numbered).unwrap_or_default();
    Some(Box::new(Source { text, kind }))
}
