//! `CookieManager` and `Cookie`.

use std::cell::RefCell;

use super::super::classes::Class;
use super::super::fault::{Fault, Outcome, thrown, unsupported};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::value::V;
use super::instance::{Instance, Offer, no_static, not_made};
use super::{print, unknown};
use crate::{RequestCookie, Value};

/// The classes of this file.
pub const OFFERS: &[Offer] = &[
    Offer {
        class: "CookieManager",
        statics: "",
        made: None,
        methods: "getCookieCount getCookies get add remove clear getName",
        call: no_static,
        make: not_made,
    },
    Offer {
        class: "Cookie",
        statics: "",
        made: Some((0, 9)),
        methods: "getName getValue getDomain getPath getSecure getExpires getExpiresMillis getVersion \
                  isPathSpecified isDomainSpecified setName setValue setDomain setPath setSecure setExpires \
                  setVersion setPathSpecified setDomainSpecified",
        call: no_static,
        make: make_cookie,
    },
    Offer {
        class: "JMeterProperty",
        statics: "",
        made: None,
        methods: "getObjectValue getStringValue getName",
        call: no_static,
        make: not_made,
    },
];

fn library(instance: impl Instance + 'static) -> V {
    V::object(Object::Library(Box::new(instance)))
}

/// The cookie manager of the current sampler, or null.
pub fn manager(machine: &mut Machine<'_>) -> V {
    match machine.scope.request().and_then(|request| request.cookies()) {
        Some(_) => library(Manager),
        None => V::NULL,
    }
}

/// What `sampler.getProperty("HTTPSampler.cookie_manager")` gives.
pub fn manager_property(machine: &mut Machine<'_>) -> V {
    let value = manager(machine);
    library(Property { name: "HTTPSampler.cookie_manager".to_owned(), value })
}

/// An object as one of JMeter's properties.
pub fn property(name: String, value: V) -> V {
    library(Property { name, value })
}

#[derive(Debug)]
struct Manager;

/// A property that holds an object.
#[derive(Debug)]
struct Property {
    name: String,
    value: V,
}

impl Instance for Property {
    fn class(&self) -> Class {
        Class::known("JMeterProperty")
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        match (method, arguments) {
            ("getObjectValue", []) => Ok(self.value.clone()),
            ("getStringValue", []) => Ok(V::text(print::java(machine, &self.value)?)),
            ("getName", []) => Ok(V::text(&self.name)),
            _ => Err(unknown(object, method)),
        }
    }

    fn text(&self, machine: &mut Machine<'_>) -> Result<String, Fault> {
        print::java(machine, &self.value)
    }
}

/// A cookie; with a key if it is one of the manager's, which follows its changes.
#[derive(Debug)]
struct Cookie {
    cookie: RefCell<RequestCookie>,
    is_kept: std::cell::Cell<bool>,
}

fn is_like(a: &RequestCookie, b: &RequestCookie) -> bool {
    a.name == b.name && a.path == b.path && a.domain == b.domain
}

fn all(machine: &mut Machine<'_>) -> Vec<RequestCookie> {
    machine.scope.request().and_then(|request| request.cookies()).unwrap_or_default()
}

fn keep(machine: &mut Machine<'_>, cookies: Vec<RequestCookie>) {
    if let Some(request) = machine.scope.request() {
        request.set_cookies(cookies);
    }
}

fn kept(cookie: RequestCookie) -> V {
    library(Cookie { cookie: RefCell::new(cookie), is_kept: true.into() })
}

fn out_of_bounds(at: i64, len: usize) -> Fault {
    thrown("IndexOutOfBoundsException", format!("Index {at} out of bounds for length {len}"))
}

impl Instance for Manager {
    fn class(&self) -> Class {
        Class::known("CookieManager")
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        let mut cookies = all(machine);
        let len = cookies.len();
        let place = |at: &V| {
            let at = at.as_long().unwrap_or(-1);
            usize::try_from(at).ok().filter(|at| *at < len).ok_or_else(|| out_of_bounds(at, len))
        };
        match (method, arguments) {
            ("getCookieCount", []) => Ok(V::int(len as i64)),
            ("getCookies", []) => {
                let of = |cookie: RequestCookie| {
                    let name = cookie.name.clone();
                    library(Property { name, value: kept(cookie) })
                };
                Ok(V::list(cookies.into_iter().map(of).collect()))
            }
            ("get", [at]) => Ok(kept(cookies.swap_remove(place(at)?))),
            ("remove", [at]) => {
                cookies.remove(place(at)?);
                keep(machine, cookies);
                Ok(V::NULL)
            }
            ("clear", []) => {
                if let Some(request) = machine.scope.request() {
                    request.clear_cookies();
                }
                Ok(V::NULL)
            }
            ("add", [V::Object(given)]) => {
                let Object::Library(instance) = &**given else { return Err(unknown(object, method)) };
                let Some(cookie) = instance.cookie() else { return Err(unknown(object, method)) };
                cookies.retain(|known| !is_like(known, &cookie));
                let deletes = machine.scope.property("CookieManager.delete_null_cookies");
                let deletes = deletes.is_none_or(|text| text.trim().eq_ignore_ascii_case("true"));
                if !(cookie.value.is_empty() && deletes) {
                    let saves = machine.scope.property("CookieManager.save.cookies");
                    if saves.is_some_and(|text| text.trim().eq_ignore_ascii_case("true")) {
                        let prefix = machine.scope.property("CookieManager.name.prefix");
                        let name = format!("{}{}", prefix.as_deref().unwrap_or("COOKIE_"), cookie.name);
                        machine.scope.set(&name, &cookie.value);
                    }
                    cookies.push(cookie);
                }
                keep(machine, cookies);
                Ok(V::NULL)
            }
            _ => Err(unknown(object, method)),
        }
    }
}

fn text(machine: &mut Machine<'_>, value: &V) -> Result<String, Fault> {
    if value.is_null() { Ok(String::new()) } else { print::groovy(machine, value) }
}

/// `new Cookie(name, value, domain, path, secure, expires, pathSpecified, domainSpecified, version)`
fn make_cookie(machine: &mut Machine<'_>, arguments: &[V]) -> Outcome {
    let wrong = || unsupported("`new Cookie` with these arguments");
    let truth = |value: &V| match value {
        V::Plain(Value::Boolean(truth)) => Ok(*truth),
        _ => Err(wrong()),
    };
    let mut cookie =
        RequestCookie { path_specified: true, domain_specified: true, ..RequestCookie::default() };
    if let [name, value, domain, path, secure, expires, rest @ ..] = arguments {
        cookie.name = text(machine, name)?;
        cookie.value = text(machine, value)?;
        cookie.domain = text(machine, domain)?;
        cookie.path = text(machine, path)?;
        cookie.secure = truth(secure)?;
        cookie.expires_ms = expires.as_long().ok_or_else(wrong)?.saturating_mul(1000);
        match rest {
            [] => {}
            [path, domain, rest @ ..] if rest.len() <= 1 => {
                cookie.path_specified = truth(path)?;
                cookie.domain_specified = truth(domain)?;
                if let [version] = rest {
                    cookie.version =
                        version.as_long().and_then(|n| i32::try_from(n).ok()).ok_or_else(wrong)?;
                }
            }
            _ => return Err(wrong()),
        }
    } else if !arguments.is_empty() {
        return Err(wrong());
    }
    Ok(library(Cookie { cookie: RefCell::new(cookie), is_kept: false.into() }))
}

impl Instance for Cookie {
    fn class(&self) -> Class {
        Class::known("Cookie")
    }

    fn cookie(&self) -> Option<RequestCookie> {
        self.is_kept.set(true);
        Some(self.cookie.borrow().clone())
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        let old = self.cookie.borrow().clone();
        let mut cookie = old.clone();
        match (method, arguments) {
            ("getName", []) => return Ok(V::text(cookie.name)),
            ("getValue", []) => return Ok(V::text(cookie.value)),
            ("getDomain", []) => return Ok(V::text(cookie.domain)),
            ("getPath", []) => return Ok(V::text(cookie.path)),
            ("getSecure", []) => return Ok(V::truth(cookie.secure)),
            ("getExpires", []) => return Ok(V::long(cookie.expires_ms / 1000)),
            ("getExpiresMillis", []) => return Ok(V::long(cookie.expires_ms)),
            ("getVersion", []) => return Ok(V::int(i64::from(cookie.version))),
            ("isPathSpecified", []) => return Ok(V::truth(cookie.path_specified)),
            ("isDomainSpecified", []) => return Ok(V::truth(cookie.domain_specified)),
            ("setName", [value]) => cookie.name = text(machine, value)?,
            ("setValue", [value]) => cookie.value = text(machine, value)?,
            ("setDomain", [value]) => cookie.domain = text(machine, value)?,
            ("setPath", [value]) => cookie.path = text(machine, value)?,
            ("setSecure", [V::Plain(Value::Boolean(on))]) => cookie.secure = *on,
            ("setPathSpecified", [V::Plain(Value::Boolean(on))]) => cookie.path_specified = *on,
            ("setDomainSpecified", [V::Plain(Value::Boolean(on))]) => cookie.domain_specified = *on,
            ("setExpires", [seconds]) if seconds.as_long().is_some() => {
                cookie.expires_ms = seconds.as_long().unwrap_or(0).saturating_mul(1000);
            }
            ("setVersion", [version]) if version.as_long().is_some() => {
                cookie.version = version.as_long().unwrap_or(0) as i32;
            }
            _ => return Err(unknown(object, method)),
        }
        self.cookie.replace(cookie.clone());
        if self.is_kept.get() {
            let mut cookies = all(machine);
            if let Some(known) = cookies.iter_mut().find(|known| is_like(known, &old)) {
                *known = cookie;
                keep(machine, cookies);
            }
        }
        Ok(V::NULL)
    }

    fn text(&self, _: &mut Machine<'_>) -> Result<String, Fault> {
        let cookie = self.cookie.borrow();
        let secure = if cookie.secure { "TRUE" } else { "FALSE" };
        let (expires, path) = (cookie.expires_ms / 1000, &cookie.path);
        let (domain, name, value) = (&cookie.domain, &cookie.name, &cookie.value);
        Ok(format!("{domain}\tTRUE\t{path}\t{secure}\t{expires}\t{name}\t{value}"))
    }
}
