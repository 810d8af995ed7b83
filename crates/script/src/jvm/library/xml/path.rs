//! The results of `XmlSlurper`: elements and attributes that are selected by name.

use super::super::super::truth::truth;
use std::rc::Rc;

use super::super::super::classes::Class;
use super::super::super::fault::{Fault, Outcome};
use super::super::super::machine::Machine;
use super::super::super::value::V;
use super::super::instance::Instance;
use super::super::{print, unknown};
use super::document::{Document, new_object, number};
use super::write::serialize;

/// Methods of the results.
pub const METHODS: &str = "text name size isEmpty find findAll children childNodes depthFirst breadthFirst parent \
    parents pop list iterator attributes localText namespaceURI lookupNamespace declareNamespace toInteger toLong \
    toDouble toFloat toBigDecimal toBigInteger replaceBody getAt putAt getProperty setProperty each eachWithIndex \
    collect collectEntries collectMany any every count countBy first last head tail init take takeWhile takeRight \
    drop dropRight dropWhile findIndexOf findIndexValues findLastIndexOf findResult groupBy inject join max min sum \
    sort toList asList toSet toSorted unique toUnique withIndex indexed average grep contains forEach";

/// The kind of a result, which determines its class and methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// One element (`NodeChild`).
    Element,
    /// The child elements with a name.
    Children,
    /// Elements that a closure selected.
    Filtered,
    /// The attributes with a name.
    Attributes,
    /// One attribute.
    Attribute,
    /// No element (`NoChildren`), the only result that is false as a condition.
    Empty,
}

/// An element, or an attribute by its index in the element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Found {
    element: usize,
    attribute: Option<usize>,
}

#[derive(Debug)]
struct Path {
    document: Rc<Document>,
    kind: Kind,
    /// The name by which the results were selected.
    name: String,
    /// The elements in which the name was searched for.
    above: Vec<usize>,
    found: Vec<Found>,
}

/// The root element.
pub fn root(document: &Rc<Document>) -> V {
    element_result(document, 0)
}

fn element_result(document: &Rc<Document>, element: usize) -> V {
    let name = document.elements.borrow().get(element).map(|found| found.name.local.clone());
    let above = document.elements.borrow().get(element).and_then(|found| found.parent);
    new_object(Path {
        document: document.clone(),
        kind: Kind::Element,
        name: name.unwrap_or_default(),
        above: above.into_iter().collect(),
        found: vec![Found { element, attribute: None }],
    })
}

impl Path {
    fn new_result(&self, kind: Kind, name: &str, above: Vec<usize>, found: Vec<Found>) -> V {
        new_object(Path { document: self.document.clone(), kind, name: name.to_owned(), above, found })
    }

    fn empty(&self) -> V {
        self.new_result(Kind::Empty, &self.name, Vec::new(), Vec::new())
    }

    /// The elements found; for attributes, the elements that have them.
    fn elements(&self) -> Vec<usize> {
        self.found.iter().map(|found| found.element).collect()
    }

    fn text_of(&self, found: Found) -> String {
        match found.attribute {
            Some(at) => self.document.elements.borrow()[found.element].attributes[at].1.clone(),
            None => self.document.text(found.element),
        }
    }

    fn whole_text(&self) -> String {
        self.found.iter().map(|found| self.text_of(*found)).collect()
    }

    fn item(&self, found: Found) -> V {
        match found.attribute {
            Some(_) => self.new_result(Kind::Attribute, &self.name, vec![found.element], vec![found]),
            None => element_result(&self.document, found.element),
        }
    }

    fn all_items(&self) -> Vec<V> {
        self.found.iter().map(|found| self.item(*found)).collect()
    }

    fn namespace(&self, prefix: &str) -> Option<String> {
        let known = self.document.prefixes.borrow();
        known.iter().find(|(name, _)| name == prefix).map(|(_, namespace)| namespace.clone())
    }

    /// The children of the found elements with this name.
    fn children(&self, name: &str) -> V {
        let parts = name.split_once(':').filter(|_| self.document.has_namespaces);
        let namespace = parts.map(|(prefix, _)| self.namespace(prefix));
        let local = parts.map_or(name, |(_, local)| local);
        let above = if self.found.iter().any(|found| found.attribute.is_some()) {
            Vec::new()
        } else {
            self.elements()
        };
        let mut found = Vec::new();
        for element in &above {
            for child in self.document.child_elements(*element) {
                let elements = self.document.elements.borrow();
                let own = &elements[child].name;
                let fits = match &namespace {
                    None => true,
                    Some(namespace) => namespace.as_deref() == Some(&own.namespace),
                };
                if fits && (name == "*" || own.local == local) {
                    found.push(Found { element: child, attribute: None });
                }
            }
        }
        self.new_result(Kind::Children, local, above, found)
    }

    /// The attributes of the found elements with this name.
    fn attributes(&self, name: &str) -> V {
        let above = self.elements();
        let mut found = Vec::new();
        for element in &above {
            let elements = self.document.elements.borrow();
            let attributes = &elements[*element].attributes;
            let place = attributes.iter().position(|(known, _)| known.written() == name);
            found.extend(place.map(|at| Found { element: *element, attribute: Some(at) }));
        }
        let local = name.rsplit(':').next().unwrap_or(name);
        self.new_result(Kind::Attributes, local, above, found)
    }

    fn member(&self, name: &str) -> V {
        match name {
            ".." => self.parent(),
            "*" => self.children("*"),
            "**" => V::list(self.descendants(Document::depth_first)),
            _ => match name.strip_prefix('@') {
                Some(attribute) => self.attributes(attribute),
                None => self.children(name),
            },
        }
    }

    fn descendants(&self, order: fn(&Document, usize) -> Vec<usize>) -> Vec<V> {
        let elements = self.elements().into_iter().flat_map(|from| order(&self.document, from));
        elements.map(|element| element_result(&self.document, element)).collect()
    }

    fn parent(&self) -> V {
        match self.above.first() {
            Some(above) => element_result(&self.document, *above),
            // The root is its own parent.
            None => element_result(&self.document, 0),
        }
    }

    fn filter(&self, machine: &mut Machine<'_>, closure: &V, first_only: bool) -> Outcome {
        let mut found = Vec::new();
        for place in &self.found {
            let item = self.item(*place);
            let value = machine.call_value(closure, vec![item.clone()])?;
            if truth(machine, &value)? {
                if first_only {
                    return Ok(item);
                }
                found.push(*place);
            }
        }
        if first_only {
            return Ok(self.empty());
        }
        Ok(self.new_result(Kind::Filtered, &self.name, self.above.clone(), found))
    }

    fn set_text(&self, machine: &mut Machine<'_>, value: &V) -> Outcome {
        let text = print::groovy(machine, value)?;
        for found in &self.found {
            match found.attribute {
                Some(at) => {
                    self.document.elements.borrow_mut()[found.element].attributes[at].1.clone_from(&text);
                }
                None => self.document.set_text(found.element, &text),
            }
        }
        Ok(V::NULL)
    }

    /// Calls methods of a single element; `None` for other methods.
    fn call_single_element(&self, method: &str, arguments: &[V]) -> Option<V> {
        let element = self.found.first()?.element;
        let elements = self.document.elements.borrow();
        let own = &elements[element];
        Some(match (method, arguments) {
            ("attributes", []) => {
                let all = own.attributes.iter();
                V::map(all.map(|(name, value)| (V::text(name.qualified()), V::text(value))).collect())
            }
            ("localText", []) => {
                drop(elements);
                V::list(self.document.own_texts(element))
            }
            ("namespaceURI", []) => V::text(&own.name.namespace),
            _ => return None,
        })
    }

    fn lookup_namespace(&self, prefix: &str) -> V {
        let elements = self.document.elements.borrow();
        let declared = elements.iter().flat_map(|element| &element.declared);
        let found = declared.into_iter().find(|(known, _)| known == prefix);
        V::text_or_null(found.map(|(_, namespace)| namespace.clone()))
    }
}

impl Instance for Path {
    fn class(&self) -> Class {
        Class::known(match self.kind {
            Kind::Element => "NodeChild",
            Kind::Children => "NodeChildren",
            Kind::Filtered => "FilteredNodeChildren",
            Kind::Attributes => "Attributes",
            Kind::Attribute => "Attribute",
            Kind::Empty => "NoChildren",
        })
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        match (method, arguments) {
            ("text", []) => Ok(V::text(self.whole_text())),
            ("name", []) => Ok(V::text(&self.name)),
            ("size", []) => Ok(V::int(self.found.len() as i64)),
            ("isEmpty", []) => Ok(V::truth(self.found.is_empty())),
            ("children", []) => Ok(self.children("*")),
            ("childNodes", []) => {
                let all =
                    self.elements().into_iter().flat_map(|element| self.document.child_elements(element));
                Ok(V::list(all.map(|child| element_result(&self.document, child)).collect()))
            }
            ("depthFirst", []) => Ok(V::list(self.descendants(Document::depth_first))),
            ("breadthFirst", []) => Ok(V::list(self.descendants(Document::breadth_first))),
            ("parent" | "pop", []) => Ok(self.parent()),
            ("list" | "toList" | "asList", []) => Ok(V::list(self.all_items())),
            ("find", [closure @ V::Closure(_)]) => self.filter(machine, closure, true),
            ("findAll", [closure @ V::Closure(_)]) => self.filter(machine, closure, false),
            ("getAt" | "getProperty", [name]) if name.as_text().is_some() => {
                Ok(self.member(name.as_text().unwrap_or_default()))
            }
            ("getAt", [index]) => self.index(machine, index).unwrap_or_else(|| Err(unknown(object, method))),
            ("setProperty", [name, value]) => {
                let name = print::groovy(machine, name)?;
                self.set_property(machine, &name, value).unwrap_or_else(|| Err(unknown(object, method)))
            }
            ("replaceBody", [value]) if !matches!(value, V::Closure(_)) => self.set_text(machine, value),
            ("toInteger" | "toLong" | "toDouble" | "toFloat" | "toBigDecimal" | "toBigInteger", []) => {
                number(machine, &self.whole_text(), method)
            }
            ("lookupNamespace", [prefix]) => {
                let prefix = print::groovy(machine, prefix)?;
                Ok(self.lookup_namespace(&prefix))
            }
            ("declareNamespace", [V::Map(map)]) => {
                for (prefix, namespace) in map.ordered() {
                    let pair = (print::groovy(machine, &prefix)?, print::groovy(machine, &namespace)?);
                    let mut known = self.document.prefixes.borrow_mut();
                    known.retain(|(old, _)| *old != pair.0);
                    known.push(pair);
                }
                Ok(object.clone())
            }
            ("each" | "eachWithIndex" | "forEach", [_]) => {
                machine.dispatch(&V::list(self.all_items()), method, arguments)?;
                Ok(object.clone())
            }
            _ => {
                if self.kind == Kind::Element
                    && let Some(value) = self.call_single_element(method, arguments)
                {
                    return Ok(value);
                }
                let is_of_any_sequence = super::super::instance::contains_word(METHODS, method)
                    && !matches!(
                        method,
                        "attributes" | "localText" | "namespaceURI" | "putAt" | "replaceBody"
                    );
                if !is_of_any_sequence {
                    return Err(unknown(object, method));
                }
                machine.dispatch(&V::list(self.all_items()), method, arguments)
            }
        }
    }

    fn text(&self, _: &mut Machine<'_>) -> Result<String, Fault> {
        Ok(self.whole_text())
    }

    fn items(&self) -> Option<Vec<V>> {
        Some(self.all_items())
    }

    fn is_true(&self) -> bool {
        self.kind != Kind::Empty
    }

    fn is_equal(&self, other: &V) -> bool {
        let text = match other {
            V::Plain(value) => value.to_java_string(),
            V::Object(object) => match object.library().and_then(Instance::own_text) {
                Some(text) => text,
                None => return false,
            },
            _ => return false,
        };
        self.whole_text() == text
    }

    fn own_text(&self) -> Option<String> {
        Some(self.whole_text())
    }

    fn xml(&self) -> Option<String> {
        self.found.first().map(|found| serialize(&self.document, found.element))
    }

    fn property(&self, _: &mut Machine<'_>, name: &str) -> Option<Outcome> {
        Some(Ok(self.member(name)))
    }

    fn set_property(&self, machine: &mut Machine<'_>, name: &str, value: &V) -> Option<Outcome> {
        let text = match print::groovy(machine, value) {
            Ok(text) => text,
            Err(fault) => return Some(Err(fault)),
        };
        match name.strip_prefix('@') {
            Some(attribute) => {
                self.elements()
                    .into_iter()
                    .for_each(|element| self.document.set_attribute(element, attribute, &text));
            }
            None => {
                let V::Object(object) = self.children(name) else { return None };
                let instance = object.library()?;
                return Some(instance.call(
                    machine,
                    &V::Object(object.clone()),
                    "replaceBody",
                    &[V::text(text)],
                ));
            }
        }
        Some(Ok(value.clone()))
    }

    fn index(&self, _: &mut Machine<'_>, index: &V) -> Option<Outcome> {
        if let Some(name) = index.as_text() {
            return Some(Ok(self.member(name)));
        }
        if let V::List(places) = index {
            let items = self.all_items();
            let places: Vec<i64> = places.ordered().iter().filter_map(V::as_long).collect();
            let at = |place: i64| if place < 0 { place + items.len() as i64 } else { place };
            let chosen = places.into_iter().map(|place| {
                usize::try_from(at(place)).ok().and_then(|at| items.get(at).cloned()).unwrap_or(V::NULL)
            });
            return Some(Ok(V::list(chosen.collect())));
        }
        let at = index.as_long()?;
        let at = if at < 0 { at + self.found.len() as i64 } else { at };
        let found = usize::try_from(at).ok().and_then(|at| self.found.get(at));
        Some(Ok(found.map_or_else(|| self.empty(), |found| self.item(*found))))
    }
}
