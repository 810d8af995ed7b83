//! The current sampler, its arguments and files.

use std::cell::{Cell, RefCell};

use super::super::classes::Class;
use super::super::fault::{Fault, Outcome, thrown, unsupported};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::value::{Host, V};
use super::instance::{Instance, LibraryClass, no_constructor, no_static_method};
use super::{cookies, encode, headers, print, unknown};
use crate::{RequestArgument, RequestFile, RequestFlag, RequestText, Value};

/// The classes of this file.
pub const CLASSES: &[LibraryClass] = &[
    LibraryClass {
        class: "HTTPSamplerProxy",
        statics: "",
        constructor_arguments: None,
        methods: "getMethod setMethod getProtocol setProtocol getDomain setDomain getPort setPort getPath setPath \
                  getContentEncoding setContentEncoding getConnectTimeout setConnectTimeout getResponseTimeout \
                  setResponseTimeout setName getPostBodyRaw setPostBodyRaw getUseKeepAlive setUseKeepAlive \
                  getFollowRedirects setFollowRedirects getAutoRedirects setAutoRedirects getArguments \
                  setArguments addArgument addNonEncodedArgument addEncodedArgument getCookieManager getHTTPFiles \
                  getHeaderManager setHeaderManager \
                  getHTTPFileCount setHTTPFiles getDoMultipart setDoMultipart getUrl getQueryString getProperty \
                  getPropertyAsString getPropertyAsBoolean getPropertyAsInt getPropertyAsLong setProperty",
        call_static: no_static_method,
        construct: no_constructor,
    },
    LibraryClass {
        class: "Arguments",
        statics: "",
        constructor_arguments: Some((0, 0)),
        methods: "addArgument getArgument getArgumentCount getArgumentsAsMap removeAllArguments removeArgument \
                  clear iterator getArguments",
        call_static: no_static_method,
        construct: |_, _| Ok(new_object(Arguments(Some(RefCell::default())))),
    },
    LibraryClass {
        class: "HTTPArgument",
        statics: "",
        constructor_arguments: Some((0, 5)),
        methods: "getName setName getValue setValue isAlwaysEncoded setAlwaysEncoded getMetaData setMetaData \
                  isUseEquals setUseEquals getContentType setContentType getEncodedName getEncodedValue",
        call_static: no_static_method,
        construct: new_argument,
    },
    LibraryClass {
        class: "Argument",
        statics: "",
        constructor_arguments: Some((0, 3)),
        methods: "getName",
        call_static: no_static_method,
        construct: new_argument,
    },
    LibraryClass {
        class: "HTTPFileArg",
        statics: "",
        constructor_arguments: Some((0, 3)),
        methods: "getPath setPath getParamName setParamName getMimeType setMimeType",
        call_static: no_static_method,
        construct: new_file,
    },
];

/// Members of `sampler` that every sampler has, not only HTTP samplers.
pub const MEMBERS_OF_ANY_SAMPLER: &[&str] =
    &["getName", "name", "getThreadName", "threadName", "getClass", "class"];

fn new_object(instance: impl Instance + 'static) -> V {
    V::object(Object::Library(Box::new(instance)))
}

fn text(machine: &mut Machine<'_>, value: &V) -> Result<String, Fault> {
    if value.is_null() { Ok(String::new()) } else { print::groovy(machine, value) }
}

fn text_field(name: &str) -> Option<RequestText> {
    Some(match name {
        "Name" => RequestText::Name,
        "Method" => RequestText::Method,
        "Protocol" => RequestText::Protocol,
        "Domain" => RequestText::Domain,
        "Path" => RequestText::Path,
        "ContentEncoding" => RequestText::ContentEncoding,
        "ConnectTimeout" => RequestText::ConnectTimeout,
        "ResponseTimeout" => RequestText::ResponseTimeout,
        _ => return None,
    })
}

fn flag_field(name: &str) -> Option<RequestFlag> {
    Some(match name {
        "PostBodyRaw" => RequestFlag::RawBody,
        "UseKeepAlive" => RequestFlag::KeepAlive,
        "FollowRedirects" => RequestFlag::FollowRedirects,
        "AutoRedirects" => RequestFlag::AutoRedirects,
        "DoMultipart" => RequestFlag::Multipart,
        _ => return None,
    })
}

/// Calls a method of `sampler`.
pub fn call(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    if method == "getThreadName" && arguments.is_empty() {
        return Ok(V::text(machine.scope.thread_name()));
    }
    if machine.scope.request().is_none() {
        return match (method, arguments) {
            ("getName", []) => Ok(V::text(machine.scope.sampler_name())),
            _ => Err(thrown(
                "MissingMethodException",
                format!("No signature of method: `{method}` of a sampler that makes no HTTP requests"),
            )),
        };
    }
    if let Some(outcome) = call_accessor(machine, method, arguments) {
        return outcome;
    }
    match (method, arguments) {
        ("getCookieManager", []) => Ok(cookies::manager(machine)),
        ("getHeaderManager", []) => Ok(headers::manager(machine)),
        ("setHeaderManager", [manager]) => match headers::set_manager(machine, manager) {
            true => Ok(V::NULL),
            false => Err(unknown_method(method)),
        },
        ("getProperty", [name]) if name.as_text() == Some("HTTPSampler.cookie_manager") => {
            Ok(cookies::manager_property(machine))
        }
        (
            "getPropertyAsString" | "getPropertyAsBoolean" | "getPropertyAsInt" | "getPropertyAsLong",
            [name, ..],
        ) => {
            let name = text(machine, name)?;
            super::sampler_properties::read(machine, method, &name, arguments.get(1))
        }
        ("getProperty", [name]) => {
            let name = text(machine, name)?;
            let value = super::sampler_properties::read(machine, "getPropertyAsString", &name, None)?;
            Ok(super::properties::property_for(&name, value))
        }
        ("setProperty", [name, value]) => {
            let (name, value) = (text(machine, name)?, text(machine, value)?);
            super::sampler_properties::write(machine, &name, &value)
        }
        ("getUrl", []) => super::url::parse(&url(machine)),
        ("getQueryString", []) => Ok(V::text(query(machine))),
        ("getPort", []) => Ok(V::int(port(machine))),
        ("setPort", [port]) => {
            let port = port.as_long().ok_or_else(|| unknown_method(method))?;
            if let Some(mut request) = machine.scope.request() {
                request.set_text(RequestText::Port, &port.to_string());
            }
            Ok(V::NULL)
        }
        ("getArguments", []) => Ok(new_object(Arguments(None))),
        ("setArguments", [V::Object(given)]) => {
            let Object::Library(instance) = &**given else { return Err(unknown_method(method)) };
            if let (Some(arguments), Some(mut request)) = (instance.arguments(), machine.scope.request()) {
                request.set_arguments(arguments);
            }
            Ok(V::NULL)
        }
        ("addArgument" | "addNonEncodedArgument" | "addEncodedArgument", [name, value, rest @ ..]) => {
            let (name, value) = (text(machine, name)?, text(machine, value)?);
            let added = new_request_argument(machine, method, name, value, rest)?;
            if let Some(mut request) = machine.scope.request() {
                let mut all = request.arguments();
                all.push(added);
                request.set_arguments(all);
            }
            Ok(V::NULL)
        }
        _ => call_files(machine, method, arguments),
    }
}

fn unknown_method(method: &str) -> Fault {
    unknown(&V::Host(Host::Sampler), method)
}

/// Calls a getter or setter of a text field or a flag; `None` for other methods.
fn call_accessor(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Option<Outcome> {
    let (name, sets) = match (method.strip_prefix("get"), method.strip_prefix("set")) {
        (Some(name), _) => (name, false),
        (_, Some(name)) => (name, true),
        _ => return None,
    };
    if let Some(field) = text_field(name) {
        return match arguments {
            [] if !sets => Some(Ok(V::text(machine.scope.request()?.text(field)))),
            [value, ..] if sets => {
                let value = match text(machine, value) {
                    Ok(value) => value,
                    Err(fault) => return Some(Err(fault)),
                };
                let is_set = machine.scope.request()?.set_text(field, &value);
                let unsupported = || unsupported(format!("the encoding `{value}`"));
                Some(if is_set { Ok(V::NULL) } else { Err(unsupported()) })
            }
            _ => None,
        };
    }
    let flag = flag_field(name)?;
    match arguments {
        [] if !sets => Some(Ok(V::truth(machine.scope.request()?.flag(flag)))),
        [V::Plain(Value::Boolean(on))] if sets => {
            machine.scope.request()?.set_flag(flag, *on);
            Some(Ok(V::NULL))
        }
        _ => None,
    }
}

/// Calls methods that read or set the sampler's files.
fn call_files(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    let files = machine.scope.request().map(|mut request| request.files()).unwrap_or_default();
    match (method, arguments) {
        ("getHTTPFileCount", []) => Ok(V::int(files.len() as i64)),
        ("getHTTPFiles", []) => {
            let files = files.into_iter().map(|file| new_object(File(RefCell::new(file))));
            Ok(V::array(files.collect(), super::super::tree::Base::Any))
        }
        ("setHTTPFiles", [given]) => {
            let mut all = Vec::new();
            for file in given.items().unwrap_or_default() {
                let V::Object(object) = &file else { return Err(unknown_method(method)) };
                let Object::Library(instance) = &**object else { return Err(unknown_method(method)) };
                all.extend(instance.file());
            }
            if let Some(mut request) = machine.scope.request() {
                request.set_files(all);
            }
            Ok(V::NULL)
        }
        _ => Err(unknown_method(method)),
    }
}

fn port(machine: &mut Machine<'_>) -> i64 {
    let Some(mut request) = machine.scope.request() else { return 0 };
    let (port, protocol) = (request.text(RequestText::Port), request.text(RequestText::Protocol));
    let otherwise = if protocol.eq_ignore_ascii_case("https") { 443 } else { 80 };
    port.trim().parse().ok().filter(|port| *port != 0).unwrap_or(otherwise)
}

/// The arguments as a query string.
fn query(machine: &mut Machine<'_>) -> String {
    let arguments = machine.scope.request().map(|mut request| request.arguments()).unwrap_or_default();
    let mut out = String::new();
    for argument in arguments.iter().filter(|argument| !argument.name.trim().is_empty()) {
        let encoded = |text: &str| {
            if argument.encode { encode::encode_url(text.as_bytes()) } else { text.to_owned() }
        };
        if !out.is_empty() {
            out.push('&');
        }
        out.push_str(&encoded(&argument.name));
        if argument.use_equals {
            out.push('=');
        }
        out.push_str(&encoded(&argument.value));
    }
    out
}

/// The URL of the request. It contains the arguments only if the HTTP method has no body.
fn url(machine: &mut Machine<'_>) -> String {
    let port = port(machine);
    let query = query(machine);
    let Some(mut request) = machine.scope.request() else { return String::new() };
    let mut path = request.text(RequestText::Path);
    if path.starts_with("http://") || path.starts_with("https://") {
        return path;
    }
    if !path.starts_with('/') {
        path.insert(0, '/');
    }
    let method = request.text(RequestText::Method);
    if matches!(method.as_str(), "GET" | "DELETE" | "OPTIONS") && !query.is_empty() {
        path.push(if path.contains('?') { '&' } else { '?' });
        path.push_str(&query);
    }
    let protocol = request.text(RequestText::Protocol);
    let domain = request.text(RequestText::Domain);
    let usual = if protocol.eq_ignore_ascii_case("https") { 443 } else { 80 };
    if port == usual {
        format!("{protocol}://{domain}{path}")
    } else {
        format!("{protocol}://{domain}:{port}{path}")
    }
}

fn new_request_argument(
    machine: &mut Machine<'_>,
    method: &str,
    name: String,
    value: String,
    rest: &[V],
) -> Result<RequestArgument, Fault> {
    let metadata = match rest.first() {
        Some(metadata) => text(machine, metadata)?,
        None => "=".to_owned(),
    };
    let decoded = |text: String| encode::decode_url(&text, "UTF-8").unwrap_or(text);
    let is_encoded = method == "addEncodedArgument";
    Ok(RequestArgument {
        name: if is_encoded { decoded(name) } else { name },
        value: if is_encoded { decoded(value) } else { value },
        encode: method != "addNonEncodedArgument",
        use_equals: metadata == "=",
        content_type: String::new(),
    })
}

/// The arguments of the current sampler, or those of an `Arguments` object that the script created.
#[derive(Debug)]
struct Arguments(Option<RefCell<Vec<RequestArgument>>>);

impl Arguments {
    fn current_arguments(&self, machine: &mut Machine<'_>) -> Vec<RequestArgument> {
        match &self.0 {
            Some(own) => own.borrow().clone(),
            None => machine.scope.request().map(|mut request| request.arguments()).unwrap_or_default(),
        }
    }

    fn store(&self, machine: &mut Machine<'_>, arguments: Vec<RequestArgument>) {
        match &self.0 {
            Some(own) => {
                own.replace(arguments);
            }
            None => {
                if let Some(mut request) = machine.scope.request() {
                    request.set_arguments(arguments);
                }
            }
        }
    }

    fn remove(&self, machine: &mut Machine<'_>, places: &[usize]) {
        match &self.0 {
            Some(own) => {
                let mut at = 0..;
                own.borrow_mut().retain(|_| !at.next().is_some_and(|at| places.contains(&at)));
            }
            None => {
                if let Some(mut request) = machine.scope.request() {
                    request.remove_arguments(places);
                }
            }
        }
    }

    /// An argument as an object; if it is one of the sampler's, changes are applied to the sampler.
    fn item(&self, at: usize, argument: RequestArgument) -> V {
        let place = if self.0.is_none() { Some(at) } else { None };
        new_object(Argument { argument: RefCell::new(argument), place: Cell::new(place) })
    }
}

impl Instance for Arguments {
    fn class(&self) -> Class {
        Class::known("Arguments")
    }

    fn arguments(&self) -> Option<Vec<RequestArgument>> {
        self.0.as_ref().map(|own| own.borrow().clone())
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        let mut all = self.current_arguments(machine);
        match (method, arguments) {
            ("getArgumentCount", []) => Ok(V::int(all.len() as i64)),
            ("getArgument", [V::Plain(Value::Integer(at))]) => {
                let at = usize::try_from(*at).unwrap_or(usize::MAX);
                Ok(match all.get(at) {
                    Some(argument) => self.item(at, argument.clone()),
                    None => V::NULL,
                })
            }
            ("getArgumentsAsMap", []) => Ok(V::map(
                all.into_iter().map(|argument| (V::text(argument.name), V::text(argument.value))).collect(),
            )),
            ("iterator" | "getArguments", []) => {
                let items = all.into_iter().enumerate().map(|(at, argument)| self.item(at, argument));
                let items: Vec<V> = items.collect();
                let all = super::properties::collection("Arguments.arguments", items);
                if method == "iterator" { machine.invoke(&all, "iterator", Vec::new()) } else { Ok(all) }
            }
            ("removeAllArguments" | "clear", []) => {
                self.remove(machine, &(0..all.len()).collect::<Vec<_>>());
                Ok(V::NULL)
            }
            ("removeArgument", [which]) => {
                let places: Vec<usize> = match which {
                    V::Plain(Value::Integer(at)) => usize::try_from(*at).ok().into_iter().collect(),
                    V::Plain(Value::Text(name)) => {
                        let named = all.iter().enumerate().filter(|(_, argument)| argument.name == **name);
                        named.map(|(at, _)| at).collect()
                    }
                    _ => return Err(unknown(object, method)),
                };
                self.remove(machine, &places);
                Ok(V::NULL)
            }
            ("addArgument", [V::Object(given)]) => {
                let Object::Library(instance) = &**given else { return Err(unknown(object, method)) };
                let Some(argument) = instance.argument() else { return Err(unknown(object, method)) };
                all.push(argument);
                self.store(machine, all);
                Ok(V::NULL)
            }
            ("addArgument", [name, value, rest @ ..]) => {
                let (name, value) = (text(machine, name)?, text(machine, value)?);
                all.push(new_request_argument(machine, method, name, value, rest)?);
                self.store(machine, all);
                Ok(V::NULL)
            }
            _ => Err(unknown(object, method)),
        }
    }
}

#[derive(Debug)]
struct Argument {
    argument: RefCell<RequestArgument>,
    /// The argument's index among the sampler's arguments; `None` if it is not one of them.
    place: Cell<Option<usize>>,
}

/// Implements the constructor `new HTTPArgument(name, value, metaData, alreadyEncoded)`.
fn new_argument(machine: &mut Machine<'_>, arguments: &[V]) -> Outcome {
    let mut argument = RequestArgument { encode: true, use_equals: true, ..RequestArgument::default() };
    let mut is_encoded = false;
    if let [name, value, rest @ ..] = arguments {
        argument.name = text(machine, name)?;
        argument.value = text(machine, value)?;
        for part in rest {
            match part {
                V::Plain(Value::Boolean(encoded)) => is_encoded = *encoded,
                V::Plain(Value::Text(metadata)) => argument.use_equals = **metadata == *"=",
                V::Plain(Value::Null) => argument.use_equals = false,
                _ => return Err(unsupported("`new HTTPArgument` with these arguments")),
            }
        }
    } else if !arguments.is_empty() {
        return Err(unsupported("`new HTTPArgument` with these arguments"));
    }
    if is_encoded {
        argument.name = encode::decode_url(&argument.name, "UTF-8")?;
        argument.value = encode::decode_url(&argument.value, "UTF-8")?;
    }
    Ok(new_object(Argument { argument: RefCell::new(argument), place: Cell::new(None) }))
}

impl Instance for Argument {
    fn class(&self) -> Class {
        Class::known("HTTPArgument")
    }

    fn argument(&self) -> Option<RequestArgument> {
        Some(self.argument.borrow().clone())
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        let mut argument = self.argument.borrow().clone();
        let encoded = |text: &str| V::text(encode::encode_url(text.as_bytes()));
        match (method, arguments) {
            ("getName", []) => return Ok(V::text(argument.name)),
            ("getValue", []) => return Ok(V::text(argument.value)),
            ("getMetaData", []) => return Ok(V::text(if argument.use_equals { "=" } else { "" })),
            ("isUseEquals", []) => return Ok(V::truth(argument.use_equals)),
            ("isAlwaysEncoded", []) => return Ok(V::truth(argument.encode)),
            ("getContentType", []) => return Ok(V::text(argument.content_type)),
            ("getEncodedName", []) => return Ok(encoded(&argument.name)),
            ("getEncodedValue", []) => return Ok(encoded(&argument.value)),
            ("setName", [value]) => argument.name = text(machine, value)?,
            ("setValue", [value]) => argument.value = text(machine, value)?,
            ("setMetaData", [value]) => argument.use_equals = text(machine, value)? == "=",
            ("setContentType", [value]) => argument.content_type = text(machine, value)?,
            ("setUseEquals", [V::Plain(Value::Boolean(on))]) => argument.use_equals = *on,
            ("setAlwaysEncoded", [V::Plain(Value::Boolean(on))]) => argument.encode = *on,
            _ => return Err(unknown(object, method)),
        }
        self.argument.replace(argument.clone());
        if let (Some(at), Some(mut request)) = (self.place.get(), machine.scope.request()) {
            let mut all = request.arguments();
            if let Some(known) = all.get_mut(at) {
                *known = argument;
                request.set_arguments(all);
            }
        }
        Ok(V::NULL)
    }

    fn text(&self, _: &mut Machine<'_>) -> Result<String, Fault> {
        let argument = self.argument.borrow();
        Ok(format!("{}{}{}", argument.name, if argument.use_equals { "=" } else { "" }, argument.value))
    }
}

/// A file to upload.
#[derive(Debug)]
struct File(RefCell<RequestFile>);

fn new_file(machine: &mut Machine<'_>, arguments: &[V]) -> Outcome {
    let mut texts = Vec::new();
    for argument in arguments {
        texts.push(text(machine, argument)?);
    }
    let mut texts = texts.into_iter();
    let mut next = || texts.next().unwrap_or_default();
    Ok(new_object(File(RefCell::new(RequestFile { path: next(), parameter: next(), mime: next() }))))
}

impl Instance for File {
    fn class(&self) -> Class {
        Class::known("HTTPFileArg")
    }

    fn file(&self) -> Option<RequestFile> {
        Some(self.0.borrow().clone())
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        let mut file = self.0.borrow().clone();
        match (method, arguments) {
            ("getPath", []) => return Ok(V::text(file.path)),
            ("getParamName", []) => return Ok(V::text(file.parameter)),
            ("getMimeType", []) => return Ok(V::text(file.mime)),
            ("setPath", [value]) => file.path = text(machine, value)?,
            ("setParamName", [value]) => file.parameter = text(machine, value)?,
            ("setMimeType", [value]) => file.mime = text(machine, value)?,
            _ => return Err(unknown(object, method)),
        }
        self.0.replace(file);
        Ok(V::NULL)
    }
}
