//! The class `HttpURLConnection`: HTTP requests of scripts. A request is sent when the script first reads a part of the
//! response.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use busyhour_program::user::Thrown;
use busyhour_request::{UrlRequest, UrlResponse};

use super::super::classes::Class;
use super::super::fault::{Fault, Outcome, thrown, unsupported};
use super::super::machine::Machine;
use super::super::objects::{Object, Sink};
use super::super::truth::truth;
use super::super::value::{Map, Order, V};
use super::instance::{Instance, LibraryClass, no_constructor, no_static_method};
use super::{byte_streams, print, text_of, unknown};

/// The classes of this file.
pub const CLASSES: &[LibraryClass] = &[LibraryClass {
    class: "HttpURLConnection",
    statics: "",
    constructor_arguments: None,
    methods: "setRequestMethod getRequestMethod setRequestProperty addRequestProperty getRequestProperty \
              getRequestProperties setDoOutput getDoOutput setDoInput getDoInput setUseCaches getUseCaches \
              setConnectTimeout getConnectTimeout setReadTimeout getReadTimeout setInstanceFollowRedirects \
              getInstanceFollowRedirects setFixedLengthStreamingMode setAllowUserInteraction connect disconnect \
              getOutputStream getInputStream getErrorStream getContent getResponseCode getResponseMessage \
              getHeaderField getHeaderFieldKey getHeaderFieldInt getHeaderFieldLong getHeaderFields \
              getContentType getContentLength getContentLengthLong getContentEncoding getURL usingProxy",
    call_static: no_static_method,
    construct: no_constructor,
}];

/// The HTTP methods that Java's class accepts.
const HTTP_METHODS: [&str; 7] = ["GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"];

/// Maximum number of headers of a request; setting a header takes time in proportion to their number.
const HEADERS_MAX: usize = 10_000;

/// Opens a connection to an `http:` or `https:` URL; `url_of` creates `URL` objects.
pub fn open(address: &str, url_of: fn(&str) -> Outcome) -> Connection {
    let request = UrlRequest {
        url: address.to_owned(),
        method: "GET".to_owned(),
        follows_redirects: true,
        ..UrlRequest::default()
    };
    Connection {
        url_of,
        request: RefCell::new(request),
        does_output: Cell::new(false),
        does_input: Cell::new(true),
        uses_caches: Cell::new(true),
        is_connected: Cell::new(false),
        body: RefCell::default(),
        outcome: RefCell::default(),
        stream: RefCell::default(),
    }
}

type ExchangeResult = Result<Rc<UrlResponse>, Thrown>;

#[derive(Debug)]
pub struct Connection {
    url_of: fn(&str) -> Outcome,
    request: RefCell<UrlRequest>,
    does_output: Cell<bool>,
    does_input: Cell<bool>,
    uses_caches: Cell<bool>,
    is_connected: Cell<bool>,
    /// The request's body, which the script writes.
    body: RefCell<Option<Rc<Sink>>>,
    outcome: RefCell<Option<ExchangeResult>>,
    /// The part of the response's body that the script has not read yet.
    stream: RefCell<Option<V>>,
}

/// Converts an exception of the HTTP client to one of the interpreter.
fn fault(thrown_by_client: Thrown) -> Fault {
    let class = thrown_by_client.class.rsplit('.').next().unwrap_or(thrown_by_client.class);
    thrown(class, thrown_by_client.message)
}

impl Connection {
    /// Sends the request unless it has already been sent.
    fn exchange(&self, machine: &mut Machine<'_>) -> ExchangeResult {
        if let Some(outcome) = &*self.outcome.borrow() {
            return outcome.clone();
        }
        let mut request = self.request.borrow().clone();
        if let Some(sink) = &*self.body.borrow() {
            request.body = Some(sink.written.borrow().clone());
        }
        if !self.uses_caches.get() {
            for name in ["Cache-Control", "Pragma"] {
                if !request.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
                    request.headers.push((name.to_owned(), "no-cache".to_owned()));
                }
            }
        }
        let outcome = machine.scope.exchange(request).map(Rc::new);
        if let Ok(response) = &outcome {
            let mut request = self.request.borrow_mut();
            request.url.clone_from(&response.url);
            request.method.clone_from(&response.method);
        }
        self.is_connected.set(true);
        *self.outcome.borrow_mut() = Some(outcome.clone());
        outcome
    }

    /// The response; `None` if the request failed.
    fn response(&self, machine: &mut Machine<'_>) -> Option<Rc<UrlResponse>> {
        self.exchange(machine).ok()
    }

    fn field(&self, machine: &mut Machine<'_>, name: &str) -> Option<String> {
        let response = self.response(machine)?;
        let mut headers = response.headers.iter().rev();
        headers.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.clone())
    }

    fn numeric_field(&self, machine: &mut Machine<'_>, name: &str, default: i64) -> i64 {
        self.field(machine, name).and_then(|value| value.trim().parse().ok()).unwrap_or(default)
    }

    /// The stream of the response's body; each connection has only one.
    fn stream(&self, response: &UrlResponse) -> V {
        let make = || byte_streams::input(response.body.clone(), response.failure.clone());
        self.stream.borrow_mut().get_or_insert_with(make).clone()
    }

    /// Implements `getInputStream()`.
    pub fn input(&self, machine: &mut Machine<'_>) -> Outcome {
        let response = self.exchange(machine).map_err(fault)?;
        match response.code {
            404 | 410 => Err(thrown("FileNotFoundException", response.url.clone())),
            code if code >= 400 => {
                let url = &response.url;
                let message = format!("Server returned HTTP response code: {code} for URL: {url}");
                Err(thrown("IOException", message))
            }
            _ => Ok(self.stream(&response)),
        }
    }

    fn output(&self) -> Outcome {
        if !self.does_output.get() {
            let message = "cannot write to a URLConnection if doOutput=false - call setDoOutput(true)";
            return Err(thrown("ProtocolException", message));
        }
        if self.outcome.borrow().is_some() {
            return Err(thrown("ProtocolException", "Cannot write output after reading input."));
        }
        let mut request = self.request.borrow_mut();
        match request.method.as_str() {
            "GET" => request.method = "POST".to_owned(),
            "TRACE" => {
                return Err(thrown("ProtocolException", "HTTP method TRACE doesn't support output"));
            }
            _ => {}
        }
        let make = || Rc::new(Sink { path: None, open: true.into(), written: RefCell::default() });
        let sink = self.body.borrow_mut().get_or_insert_with(make).clone();
        self.is_connected.set(true);
        Ok(V::object(Object::Writer(Class::known("OutputStream"), sink)))
    }

    /// Fails if the connection is open.
    fn check_not_connected(&self) -> Result<(), Fault> {
        if self.is_connected.get() {
            Err(thrown("IllegalStateException", "Already connected"))
        } else {
            Ok(())
        }
    }

    fn connect(&self, machine: &mut Machine<'_>) -> Outcome {
        self.is_connected.set(true);
        if self.does_output.get() {
            // The request is sent when its body is complete.
            return Ok(V::NULL);
        }
        match self.exchange(machine) {
            Err(failure) if is_connect_failure(&failure) => Err(fault(failure)),
            _ => Ok(V::NULL),
        }
    }

    fn set_method(&self, method: String) -> Outcome {
        if self.is_connected.get() {
            return Err(thrown("IllegalStateException", "connect in progress"));
        }
        if !HTTP_METHODS.contains(&method.as_str()) {
            return Err(thrown("ProtocolException", format!("Invalid HTTP method: {method}")));
        }
        self.request.borrow_mut().method = method;
        Ok(V::NULL)
    }

    /// Implements `setRequestProperty(name, value)` and `addRequestProperty(name, value)`.
    pub fn set_header(&self, name: String, value: String, replaces: bool) -> Result<(), Fault> {
        self.check_not_connected()?;
        if name.is_empty() || name.contains(['\r', '\n', ':']) {
            let message = format!("Illegal character(s) in message header field: {name}");
            return Err(thrown("IllegalArgumentException", message));
        }
        if value.contains(['\r', '\n']) {
            let message = format!("Illegal character(s) in message header value: {value}");
            return Err(thrown("IllegalArgumentException", message));
        }
        let mut request = self.request.borrow_mut();
        let is_full = request.headers.len() >= HEADERS_MAX;
        let known = request.headers.iter_mut().rev().find(|(known, _)| known.eq_ignore_ascii_case(&name));
        match known {
            Some(known) if replaces => known.1 = value,
            _ if is_full => {
                return Err(unsupported(format!("more than {HEADERS_MAX} headers of a URL connection")));
            }
            _ => request.headers.push((name, value)),
        }
        Ok(())
    }

    /// Sets a timeout in milliseconds; 0 means no timeout.
    pub fn set_timeout(&self, is_read_timeout: bool, ms: i64) -> Result<(), Fault> {
        let Ok(ms) = u64::try_from(ms) else {
            let what = if is_read_timeout { "timeouts" } else { "timeout" };
            return Err(thrown("IllegalArgumentException", format!("{what} can't be negative")));
        };
        let timeout = (ms > 0).then(|| Duration::from_millis(ms));
        let mut request = self.request.borrow_mut();
        *(if is_read_timeout { &mut request.read_timeout } else { &mut request.connect_timeout }) = timeout;
        Ok(())
    }

    pub fn set_uses_caches(&self, uses: bool) {
        self.uses_caches.set(uses);
    }

    /// Calls a setter; `None` for other methods.
    fn call_setter(&self, machine: &mut Machine<'_>, method: &str, given: &[V]) -> Option<Outcome> {
        let done = |result: Result<(), Fault>| Some(result.map(|()| V::NULL));
        let flag = |machine: &mut Machine<'_>, value: &V, flag: &Cell<bool>| {
            self.check_not_connected()?;
            flag.set(truth(machine, value)?);
            Ok(())
        };
        match (method, given) {
            ("setRequestMethod", [method]) => {
                Some(text_of(machine, method).and_then(|method| self.set_method(method)))
            }
            ("setRequestProperty" | "addRequestProperty", [name, value]) => {
                if name.is_null() {
                    return Some(Err(thrown("NullPointerException", "key is null")));
                }
                let texts = text_of(machine, name).and_then(|name| Ok((name, print::java(machine, value)?)));
                done(
                    texts.and_then(|(name, value)| {
                        self.set_header(name, value, method == "setRequestProperty")
                    }),
                )
            }
            ("setDoOutput", [value]) => done(flag(machine, value, &self.does_output)),
            ("setDoInput", [value]) => done(flag(machine, value, &self.does_input)),
            ("setUseCaches", [value]) => done(flag(machine, value, &self.uses_caches)),
            ("setAllowUserInteraction" | "setFixedLengthStreamingMode", [_]) => Some(Ok(V::NULL)),
            ("setInstanceFollowRedirects", [value]) => done(truth(machine, value).map(|follows| {
                self.request.borrow_mut().follows_redirects = follows;
            })),
            ("setConnectTimeout" | "setReadTimeout", [ms]) => {
                done(self.set_timeout(method == "setReadTimeout", ms.as_long()?))
            }
            _ => None,
        }
    }

    /// Calls a getter of a setting; `None` for other methods.
    fn call_getter(&self, method: &str) -> Option<V> {
        let request = self.request.borrow();
        let ms = |timeout: Option<Duration>| {
            V::int(timeout.map_or(0, |timeout| i64::try_from(timeout.as_millis()).unwrap_or(i64::MAX)))
        };
        Some(match method {
            "getRequestMethod" => V::text(&request.method),
            "getDoOutput" => V::truth(self.does_output.get()),
            "getDoInput" => V::truth(self.does_input.get()),
            "getUseCaches" => V::truth(self.uses_caches.get()),
            "getInstanceFollowRedirects" => V::truth(request.follows_redirects),
            "getConnectTimeout" => ms(request.connect_timeout),
            "getReadTimeout" => ms(request.read_timeout),
            "usingProxy" => V::truth(false),
            "disconnect" => V::NULL,
            "getURL" => return (self.url_of)(&request.url).ok(),
            _ => return None,
        })
    }

    fn header_fields(&self, machine: &mut Machine<'_>) -> V {
        let map = Map::new(Order::Added);
        if let Some(response) = self.response(machine) {
            map.put(V::NULL, V::list(vec![V::text(&response.status_line)]));
            for (name, _) in &response.headers {
                let values = response.headers.iter().rev().filter(|(known, _)| known == name);
                map.put(V::text(name), V::list(values.map(|(_, value)| V::text(value)).collect()));
            }
        }
        V::Map(Rc::new(map))
    }

    /// Implements `getHeaderField(n)` and `getHeaderFieldKey(n)`.
    fn field_at(&self, machine: &mut Machine<'_>, at: i64, is_key: bool) -> V {
        let Some(response) = self.response(machine) else { return V::NULL };
        if at == 0 {
            return if is_key { V::NULL } else { V::text(&response.status_line) };
        }
        let header = usize::try_from(at - 1).ok().and_then(|at| response.headers.get(at));
        V::text_or_null(header.map(|(name, value)| if is_key { name.clone() } else { value.clone() }))
    }

    /// The value of a request header; null for credentials.
    fn request_property(&self, name: &str) -> V {
        if ["authorization", "proxy-authorization"].contains(&name.to_ascii_lowercase().as_str()) {
            return V::NULL;
        }
        let request = self.request.borrow();
        let known = request.headers.iter().rev().find(|(known, _)| known.eq_ignore_ascii_case(name));
        V::text_or_null(known.map(|(_, value)| value.clone()))
    }
}

fn is_connect_failure(failure: &Thrown) -> bool {
    failure.message == "Connect timed out"
        || [
            "ConnectException",
            "UnknownHostException",
            "NoRouteToHostException",
            "SSLException",
            "SSLHandshakeException",
            "UnsupportedOperationException",
        ]
        .iter()
        .any(|class| failure.class.ends_with(class))
}

impl Instance for Connection {
    fn class(&self) -> Class {
        let is_secure = self.request.borrow().url.starts_with("https:");
        Class::known(if is_secure { "HttpsURLConnection" } else { "HttpURLConnection" })
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        if let Some(outcome) = self.call_setter(machine, method, arguments) {
            return outcome;
        }
        Ok(match (method, arguments) {
            ("getOutputStream", []) => return self.output(),
            ("getInputStream" | "getContent", []) => return self.input(machine),
            ("getErrorStream", []) => match &*self.outcome.borrow() {
                Some(Ok(response)) if response.code >= 400 => self.stream(response),
                _ => V::NULL,
            },
            ("connect", []) => return self.connect(machine),
            ("getResponseCode", []) => match self.exchange(machine) {
                Ok(response) => V::int(i64::from(response.code)),
                Err(failure) if failure.message == "Invalid Http response" => V::int(-1),
                Err(failure) => return Err(fault(failure)),
            },
            ("getResponseMessage", []) => {
                let message = self.exchange(machine).map_err(fault)?.message.clone();
                V::text_or_null((!message.is_empty()).then_some(message))
            }
            ("getHeaderField", [V::Plain(crate::Value::Integer(at))]) => {
                self.field_at(machine, i64::from(*at), false)
            }
            ("getHeaderFieldKey", [at]) => {
                let at = at.as_long().ok_or_else(|| unknown(object, method))?;
                self.field_at(machine, at, true)
            }
            ("getHeaderField", [name]) => {
                let name = text_of(machine, name)?;
                V::text_or_null(self.field(machine, &name))
            }
            ("getHeaderFieldInt" | "getHeaderFieldLong", [name, default]) => {
                let name = text_of(machine, name)?;
                let value = self.numeric_field(machine, &name, default.as_long().unwrap_or(0));
                if method == "getHeaderFieldInt" { V::int(value) } else { V::long(value) }
            }
            ("getHeaderFields", []) => self.header_fields(machine),
            ("getContentType", []) => V::text_or_null(self.field(machine, "content-type")),
            ("getContentEncoding", []) => V::text_or_null(self.field(machine, "content-encoding")),
            ("getContentLength", []) => V::int(self.numeric_field(machine, "content-length", -1)),
            ("getContentLengthLong", []) => V::long(self.numeric_field(machine, "content-length", -1)),
            ("getRequestProperty", [name]) => {
                let name = text_of(machine, name)?;
                self.request_property(&name)
            }
            ("getRequestProperties", []) => {
                self.check_not_connected()?;
                let map = Map::new(Order::Added);
                for (name, value) in &self.request.borrow().headers {
                    map.put(V::text(name), V::list(vec![V::text(value)]));
                }
                V::Map(Rc::new(map))
            }
            (_, []) => return self.call_getter(method).ok_or_else(|| unknown(object, method)),
            _ => return Err(unsupported(format!("`{method}` of a URL connection with these arguments"))),
        })
    }

    fn text(&self, _: &mut Machine<'_>) -> Result<String, Fault> {
        let url = &self.request.borrow().url;
        let scheme = url.split(':').next().unwrap_or("http");
        let class = if scheme == "https" { "DelegateHttpsURLConnection" } else { "HttpURLConnection" };
        Ok(format!("sun.net.www.protocol.{scheme}.{class}:{url}"))
    }

    fn take_values(&mut self, values: &mut Vec<V>) {
        values.extend(self.stream.take());
    }
}
