//! Compiles HTTP cookie, cache, DNS cache and authorization managers.

use std::sync::Arc;

use busyhour_http::auth::{AuthManager, Authorization};
use busyhour_http::cache::{CacheManager, WhenFresh};
use busyhour_http::cookies::{CookieManager, CookiePolicy, InitialCookie};
use busyhour_http::dns::DnsManager;
use busyhour_plan::Element;

use crate::context::Context;

/// Compiles a cookie manager, once per element.
pub(crate) fn cookies<'p>(context: &mut Context<'p>, element: Element<'p>) -> Option<Arc<CookieManager>> {
    if let Some(known) = context.parts.cookies.get(&element.id()) {
        return known.clone();
    }
    let policy = element.text_or("CookieManager.policy", "standard").to_owned();
    let policy = match policy.as_str() {
        "standard" => CookiePolicy::Standard,
        "rfc2109" => CookiePolicy::Rfc2109,
        "ignoreCookies" => CookiePolicy::Ignore,
        "standard-strict" | "default" | "compatibility" | "best-match" | "netscape" | "rfc2965" => {
            let message = format!("the cookie policy {policy:?} is treated as \"standard\" (RFC 6265)");
            context.findings.warn(element, "cookie-policy", message);
            CookiePolicy::Standard
        }
        policy => {
            let message = format!("the cookie policy {policy:?} is not supported");
            context.findings.unsupported_setting(element, "CookieManager.policy", &message);
            CookiePolicy::Standard
        }
    };
    let mut initial = Vec::new();
    if let Some(list) = element.collection("CookieManager.cookies") {
        for cookie in list.items() {
            let name = cookie.item_text("Cookie.name").or_else(|| cookie.item_text("TestElement.name"));
            let name = match name {
                Some(name) => context.parse(name, cookie),
                None => {
                    let name = cookie.name().to_owned();
                    context.parse(&name, cookie)
                }
            };
            initial.push(InitialCookie {
                name,
                value: context.item(cookie, "Cookie.value"),
                domain: context.item(cookie, "Cookie.domain"),
                path: context.item(cookie, "Cookie.path"),
                secure: cookie.item_boolean("Cookie.secure").unwrap_or(false),
                expires_s: cookie
                    .item_text("Cookie.expires")
                    .and_then(|text| text.trim().parse().ok())
                    .unwrap_or(0),
                domain_specified: cookie.item_boolean("Cookie.domain_specified").unwrap_or(true),
                path_specified: cookie.item_boolean("Cookie.path_specified").unwrap_or(true),
            });
        }
    }
    let properties = Arc::clone(&context.options.properties);
    let save = properties.flag("CookieManager.save.cookies", false);
    let manager = Arc::new(CookieManager {
        initial,
        clear_each_iteration: context.flag(element, "CookieManager.clearEachIteration", false),
        controlled_by_group: context.flag(element, "CookieManager.controlledByThreadGroup", false),
        policy,
        save_as: save
            .then(|| properties.get("CookieManager.name.prefix").unwrap_or_else(|| "COOKIE_".into())),
        delete_empty: properties.flag("CookieManager.delete_null_cookies", true),
        check: properties.flag("CookieManager.check.cookies", true),
    });
    context.parts.cookies.insert(element.id(), Some(Arc::clone(&manager)));
    Some(manager)
}

/// Compiles a cache manager, once per element.
pub(crate) fn cache<'p>(context: &mut Context<'p>, element: Element<'p>) -> Option<Arc<CacheManager>> {
    if let Some(known) = context.parts.caches.get(&element.id()) {
        return known.clone();
    }
    let properties = Arc::clone(&context.options.properties);
    let mode = properties.get("cache_manager.cached_resource_mode").unwrap_or_default();
    let when_fresh = match mode.trim() {
        "RETURN_200_CACHE" => WhenFresh::Sample { code: "200".into(), message: "(ex cache)".into() },
        "RETURN_CUSTOM_STATUS" => WhenFresh::Sample {
            code: properties.get("RETURN_CUSTOM_STATUS.code").unwrap_or_default(),
            message: properties
                .get("RETURN_CUSTOM_STATUS.message")
                .unwrap_or_else(|| "Resource in cache".into()),
        },
        _ => WhenFresh::NoSample,
    };
    let size = context.number(element, "maxSize", 5000);
    let manager = Arc::new(CacheManager {
        clear_each_iteration: context.flag(element, "clearEachIteration", false),
        controlled_by_group: context.flag(element, "CacheManager.controlledByThread", false),
        use_expires: context.flag(element, "useExpires", false),
        size_max: usize::try_from(size).unwrap_or(5000),
        when_fresh,
    });
    context.parts.caches.insert(element.id(), Some(Arc::clone(&manager)));
    Some(manager)
}

/// Compiles a DNS cache manager, once per element.
pub(crate) fn dns<'p>(context: &mut Context<'p>, element: Element<'p>) -> Option<Arc<DnsManager>> {
    const SERVERS: &str = "DNSCacheManager.servers";
    if let Some(known) = context.parts.dns.get(&element.id()) {
        return known.clone();
    }
    let mut servers = Vec::new();
    if context.flag(element, "DNSCacheManager.isCustomResolver", false) {
        for server in element.collection(SERVERS).into_iter().flat_map(|list| list.items()) {
            servers.push(context.parse(server.text().unwrap_or(""), server));
        }
    }
    let mut hosts = Vec::new();
    if let Some(list) = element.collection("DNSCacheManager.hosts") {
        for host in list.items() {
            hosts.push((context.item(host, "StaticHost.Name"), context.item(host, "StaticHost.Address")));
        }
    }
    let manager = Arc::new(DnsManager {
        clear_each_iteration: context.flag(element, "DNSCacheManager.clearEachIteration", false),
        hosts,
        servers,
        ..DnsManager::default()
    });
    context.parts.dns.insert(element.id(), Some(Arc::clone(&manager)));
    Some(manager)
}

/// Compiles an authorization manager, once per element.
pub(crate) fn auth<'p>(context: &mut Context<'p>, element: Element<'p>) -> Option<Arc<AuthManager>> {
    if let Some(known) = context.parts.auths.get(&element.id()) {
        return known.clone();
    }
    let mut entries = Vec::new();
    if let Some(list) = element.collection("AuthManager.auth_list") {
        for entry in list.items() {
            let mechanism = entry.item_text("Authorization.mechanism").unwrap_or("").to_owned();
            if !matches!(mechanism.as_str(), "" | "BASIC" | "BASIC_DIGEST" | "DIGEST") {
                context.findings.unsupported_setting(
                    element,
                    "AuthManager.auth_list",
                    &format!(
                        "the authorization mechanism {mechanism} is not supported, only Basic and Digest: it needs the \
                         machine's Kerberos logins"
                    ),
                );
                continue;
            }
            entries.push(Authorization {
                url: context.item(entry, "Authorization.url"),
                user: context.item(entry, "Authorization.username"),
                password: context.item(entry, "Authorization.password"),
                domain: context.item(entry, "Authorization.domain"),
                realm: context.item(entry, "Authorization.realm"),
                basic: mechanism != "DIGEST",
            });
        }
    }
    let waits = !context.options.properties.flag("httpclient4.auth.preemptive", true);
    let manager = Arc::new(AuthManager { entries, waits });
    context.parts.auths.insert(element.id(), Some(Arc::clone(&manager)));
    Some(manager)
}
