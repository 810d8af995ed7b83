//! The classes `HeaderManager` and `Header`.

use std::cell::{Cell, RefCell};

use super::super::classes::Class;
use super::super::fault::{Fault, Outcome, thrown};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::value::V;
use super::instance::{Instance, LibraryClass, no_static_method};
use super::{cookies, print, unknown};

/// The classes of this file.
pub const CLASSES: &[LibraryClass] = &[
    LibraryClass {
        class: "HeaderManager",
        statics: "",
        constructor_arguments: Some((0, 0)),
        methods: "add get getHeader getHeaders getFirstHeaderNamed remove removeHeaderNamed size clear",
        call_static: no_static_method,
        construct: |_, _| Ok(new_object(Manager(Some(RefCell::default())))),
    },
    LibraryClass {
        class: "Header",
        statics: "",
        constructor_arguments: Some((0, 2)),
        methods: "getName setName getValue setValue",
        call_static: no_static_method,
        construct: new_header,
    },
];

/// Name and value of a header.
type Pair = (String, String);

fn new_object(instance: impl Instance + 'static) -> V {
    V::object(Object::Library(Box::new(instance)))
}

fn text(machine: &mut Machine<'_>, value: &V) -> Result<String, Fault> {
    if value.is_null() { Ok(String::new()) } else { print::groovy(machine, value) }
}

/// The header manager of the current sampler, or null.
pub fn manager(machine: &mut Machine<'_>) -> V {
    match machine.scope.request().and_then(|mut request| request.headers()) {
        Some(_) => new_object(Manager(None)),
        None => V::NULL,
    }
}

/// Implements `sampler.setHeaderManager(manager)`. Returns false if the argument is not a header manager.
pub fn set_manager(machine: &mut Machine<'_>, manager: &V) -> bool {
    let V::Object(object) = manager else { return false };
    let Some(headers) = object.library().and_then(Instance::headers) else { return false };
    if let Some(mut request) = machine.scope.request() {
        request.merge_headers(headers);
    }
    true
}

/// The headers of the current sampler, or of a manager that the script created.
#[derive(Debug)]
struct Manager(Option<RefCell<Vec<Pair>>>);

impl Manager {
    fn current_headers(&self, machine: &mut Machine<'_>) -> Vec<Pair> {
        match &self.0 {
            Some(own) => own.borrow().clone(),
            None => machine.scope.request().and_then(|mut request| request.headers()).unwrap_or_default(),
        }
    }

    fn store(&self, machine: &mut Machine<'_>, headers: Vec<Pair>) {
        match &self.0 {
            Some(own) => {
                own.replace(headers);
            }
            None => {
                if let Some(mut request) = machine.scope.request() {
                    request.set_headers(headers);
                }
            }
        }
    }

    /// A header as an object; if it is one of the sampler's, changes are applied to the sampler.
    fn item(&self, at: usize, header: Pair) -> V {
        let place = if self.0.is_none() { Some(at) } else { None };
        new_object(Header { header: RefCell::new(header), place: Cell::new(place) })
    }
}

impl Instance for Manager {
    fn class(&self) -> Class {
        Class::known("HeaderManager")
    }

    fn headers(&self) -> Option<Vec<Pair>> {
        Some(self.0.as_ref().map(|own| own.borrow().clone()).unwrap_or_default())
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        let mut all = self.current_headers(machine);
        let len = all.len();
        let place = |at: &V| {
            let at = at.as_long().unwrap_or(-1);
            usize::try_from(at).ok().filter(|at| *at < len).ok_or_else(|| {
                let message = format!("Index {at} out of bounds for length {len}");
                thrown("IndexOutOfBoundsException", message)
            })
        };
        match (method, arguments) {
            ("size", []) => Ok(V::int(len as i64)),
            ("get" | "getHeader", [at]) => {
                let at = place(at)?;
                Ok(self.item(at, all.swap_remove(at)))
            }
            ("getHeaders", []) => {
                let items = all.into_iter().enumerate();
                let items =
                    items.map(|(at, header)| cookies::property(header.0.clone(), self.item(at, header)));
                Ok(V::list(items.collect()))
            }
            ("getFirstHeaderNamed", [name]) => {
                let name = text(machine, name)?;
                let mut found = all.into_iter().enumerate();
                let found = found.find(|(_, header)| header.0.eq_ignore_ascii_case(&name));
                Ok(found.map_or(V::NULL, |(at, header)| self.item(at, header)))
            }
            ("add", [V::Object(given)]) => {
                let Some(header) = given.library().and_then(Instance::header) else {
                    return Err(unknown(object, method));
                };
                all.push(header);
                self.store(machine, all);
                Ok(V::NULL)
            }
            ("remove", [at]) => {
                all.remove(place(at)?);
                self.store(machine, all);
                Ok(V::NULL)
            }
            ("removeHeaderNamed", [name]) => {
                let name = text(machine, name)?;
                all.retain(|header| !header.0.eq_ignore_ascii_case(&name));
                self.store(machine, all);
                Ok(V::NULL)
            }
            ("clear", []) => {
                self.store(machine, Vec::new());
                Ok(V::NULL)
            }
            _ => Err(unknown(object, method)),
        }
    }
}

#[derive(Debug)]
struct Header {
    header: RefCell<Pair>,
    /// The header's index among the sampler's headers; `None` if it is not one of them.
    place: Cell<Option<usize>>,
}

fn new_header(machine: &mut Machine<'_>, arguments: &[V]) -> Outcome {
    let mut texts = Vec::new();
    for argument in arguments {
        texts.push(text(machine, argument)?);
    }
    let mut texts = texts.into_iter();
    let mut next = || texts.next().unwrap_or_default();
    Ok(new_object(Header { header: RefCell::new((next(), next())), place: Cell::new(None) }))
}

impl Instance for Header {
    fn class(&self) -> Class {
        Class::known("Header")
    }

    fn header(&self) -> Option<Pair> {
        Some(self.header.borrow().clone())
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        let mut header = self.header.borrow().clone();
        match (method, arguments) {
            ("getName", []) => return Ok(V::text(header.0)),
            ("getValue", []) => return Ok(V::text(header.1)),
            ("setName", [name]) => header.0 = text(machine, name)?,
            ("setValue", [value]) => header.1 = text(machine, value)?,
            _ => return Err(unknown(object, method)),
        }
        self.header.replace(header.clone());
        if let (Some(at), Some(mut request)) = (self.place.get(), machine.scope.request()) {
            let mut all = request.headers().unwrap_or_default();
            if let Some(known) = all.get_mut(at) {
                *known = header;
                request.set_headers(all);
            }
        }
        Ok(V::NULL)
    }

    fn text(&self, _: &mut Machine<'_>) -> Result<String, Fault> {
        let header = self.header.borrow();
        Ok(format!("{}\t{}", header.0, header.1))
    }
}
