//! The classes `CookieManager` and `Cookie`.

use std::cell::RefCell;

use super::super::classes::Class;
use super::super::fault::{Fault, Outcome, thrown, unsupported};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::value::V;
use super::instance::{Instance, LibraryClass, no_constructor, no_static_method};
use super::{print, unknown};
use crate::{RequestCookie, Value};

/// The classes of this file.
pub const CLASSES: &[LibraryClass] = &[
    LibraryClass {
        class: "CookieManager",
        statics: "",
        constructor_arguments: None,
        methods: "getCookieCount getCookies get add remove clear getName",
        call_static: no_static_method,
        construct: no_constructor,
    },
    LibraryClass {
        class: "Cookie",
        statics: "",
        constructor_arguments: Some((0, 9)),
        methods: "getName getValue getDomain getPath getSecure getExpires getExpiresMillis getVersion \
                  isPathSpecified isDomainSpecified setName setValue setDomain setPath setSecure setExpires \
                  setVersion setPathSpecified setDomainSpecified",
        call_static: no_static_method,
        construct: new_cookie,
    },
    LibraryClass {
        class: "JMeterProperty",
        statics: "",
        constructor_arguments: None,
        methods: "getObjectValue getStringValue getName",
        call_static: no_static_method,
        construct: no_constructor,
    },
];

fn new_object(instance: impl Instance + 'static) -> V {
    V::object(Object::Library(Box::new(instance)))
}

/// The cookie manager of the current sampler, or null.
pub fn manager(machine: &mut Machine<'_>) -> V {
    match machine.scope.request().and_then(|mut request| request.cookies()) {
        Some(_) => new_object(Manager),
        None => V::NULL,
    }
}

/// The result of `sampler.getProperty("HTTPSampler.cookie_manager")`.
pub fn manager_property(machine: &mut Machine<'_>) -> V {
    let value = manager(machine);
    new_object(Property { name: "HTTPSampler.cookie_manager".to_owned(), value })
}

/// Creates a property that holds an object.
pub fn property(name: String, value: V) -> V {
    new_object(Property { name, value })
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

/// A cookie.
#[derive(Debug)]
struct Cookie {
    cookie: RefCell<RequestCookie>,
    /// Whether the cookie belongs to the cookie manager, so that changes are applied to the manager's cookie, too.
    is_managed: std::cell::Cell<bool>,
}

/// Whether two cookies replace each other in a cookie manager.
fn is_same_cookie(a: &RequestCookie, b: &RequestCookie) -> bool {
    a.name == b.name && a.path == b.path && a.domain == b.domain
}

fn stored_cookies(machine: &mut Machine<'_>) -> Vec<RequestCookie> {
    machine.scope.request().and_then(|mut request| request.cookies()).unwrap_or_default()
}

fn store_cookies(machine: &mut Machine<'_>, cookies: Vec<RequestCookie>) {
    if let Some(mut request) = machine.scope.request() {
        request.set_cookies(cookies);
    }
}

fn managed_cookie(cookie: RequestCookie) -> V {
    new_object(Cookie { cookie: RefCell::new(cookie), is_managed: true.into() })
}

fn out_of_bounds(at: i64, len: usize) -> Fault {
    thrown("IndexOutOfBoundsException", format!("Index {at} out of bounds for length {len}"))
}

impl Instance for Manager {
    fn class(&self) -> Class {
        Class::known("CookieManager")
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        let mut cookies = stored_cookies(machine);
        let len = cookies.len();
        let place = |at: &V| {
            let at = at.as_long().unwrap_or(-1);
            usize::try_from(at).ok().filter(|at| *at < len).ok_or_else(|| out_of_bounds(at, len))
        };
        match (method, arguments) {
            ("getCookieCount", []) => Ok(V::int(len as i64)),
            ("getCookies", []) => {
                let property = |cookie: RequestCookie| {
                    let name = cookie.name.clone();
                    new_object(Property { name, value: managed_cookie(cookie) })
                };
                Ok(V::list(cookies.into_iter().map(property).collect()))
            }
            ("get", [at]) => Ok(managed_cookie(cookies.swap_remove(place(at)?))),
            ("remove", [at]) => {
                cookies.remove(place(at)?);
                store_cookies(machine, cookies);
                Ok(V::NULL)
            }
            ("clear", []) => {
                if let Some(mut request) = machine.scope.request() {
                    request.clear_cookies();
                }
                Ok(V::NULL)
            }
            ("add", [V::Object(given)]) => {
                let Object::Library(instance) = &**given else { return Err(unknown(object, method)) };
                let Some(cookie) = instance.cookie() else { return Err(unknown(object, method)) };
                cookies.retain(|known| !is_same_cookie(known, &cookie));
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
                store_cookies(machine, cookies);
                Ok(V::NULL)
            }
            _ => Err(unknown(object, method)),
        }
    }
}

fn text(machine: &mut Machine<'_>, value: &V) -> Result<String, Fault> {
    if value.is_null() { Ok(String::new()) } else { print::groovy(machine, value) }
}

/// Implements the constructor
/// `new Cookie(name, value, domain, path, secure, expires, pathSpecified, domainSpecified, version)`, also with fewer arguments
/// or none.
fn new_cookie(machine: &mut Machine<'_>, arguments: &[V]) -> Outcome {
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
    Ok(new_object(Cookie { cookie: RefCell::new(cookie), is_managed: false.into() }))
}

impl Instance for Cookie {
    fn class(&self) -> Class {
        Class::known("Cookie")
    }

    fn cookie(&self) -> Option<RequestCookie> {
        self.is_managed.set(true);
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
        if self.is_managed.get() {
            let mut cookies = stored_cookies(machine);
            if let Some(known) = cookies.iter_mut().find(|known| is_same_cookie(known, &old)) {
                *known = cookie;
                store_cookies(machine, cookies);
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
