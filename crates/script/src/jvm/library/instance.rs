//! Objects of classes that have a file of their own each: what they do is behind one trait.

use std::fmt::Debug;

use super::super::classes::Class;
use super::super::fault::{Fault, Outcome, unsupported};
use super::super::machine::Machine;
use super::super::value::V;
use super::{
    collectors, cookies, file_server, headers, json_path, random_utils, sample_result, sampler, threads,
    time_category, url, xml,
};
use crate::{RequestArgument, RequestCookie, RequestFile};

/// An object of such a class.
pub trait Instance: Debug {
    /// Its class.
    fn class(&self) -> Class;

    /// Calls a method; `object` is the instance as a value.
    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome;

    /// The cookie that it is.
    fn cookie(&self) -> Option<RequestCookie> {
        None
    }

    /// The argument that it is.
    fn argument(&self) -> Option<RequestArgument> {
        None
    }

    /// The arguments that it holds.
    fn arguments(&self) -> Option<Vec<RequestArgument>> {
        None
    }

    /// The header that it is, name and value.
    fn header(&self) -> Option<(String, String)> {
        None
    }

    /// The headers of a manager that the script made.
    fn headers(&self) -> Option<Vec<(String, String)>> {
        None
    }

    /// The sample result that it is.
    fn made_result(&self) -> Option<std::rc::Rc<sample_result::Made>> {
        None
    }

    /// The duration that it is: years, months, days, hours, minutes, seconds, milliseconds; whether it was made of years or
    /// months, and of hours or less.
    fn duration(&self) -> Option<[i32; 9]> {
        None
    }

    /// Its length in milliseconds, where it has one that objects are compared by.
    fn length_ms(&self) -> Option<i64> {
        None
    }

    /// The file that it is.
    fn file(&self) -> Option<RequestFile> {
        None
    }

    /// Its items, where it is a sequence.
    fn items(&self) -> Option<Vec<V>> {
        None
    }

    /// Whether it is true as a condition of Groovy.
    fn is_true(&self) -> bool {
        true
    }

    /// Whether `==` finds it equal to another value.
    fn is_equal(&self, _other: &V) -> bool {
        false
    }

    /// The text of XML content.
    fn own_text(&self) -> Option<String> {
        None
    }

    /// The document of XML content, with its declaration.
    fn xml(&self) -> Option<String> {
        None
    }

    /// The place of an XML node in the document that `document` identifies.
    fn place_in(&self, _document: &usize) -> Option<usize> {
        None
    }

    /// `object.name`, where the object decides itself what its properties are; `None`: they are its getters.
    fn property(&self, _machine: &mut Machine<'_>, _name: &str) -> Option<Outcome> {
        None
    }

    /// `object.name = value`, likewise.
    fn set_property(&self, _machine: &mut Machine<'_>, _name: &str, _value: &V) -> Option<Outcome> {
        None
    }

    /// `object[index]`
    fn index(&self, _machine: &mut Machine<'_>, _index: &V) -> Option<Outcome> {
        None
    }

    /// What `toString` gives.
    fn text(&self, _machine: &mut Machine<'_>) -> Result<String, Fault> {
        Err(unsupported(format!("the text of a {}", self.class().name())))
    }
}

/// What a class of this kind offers to scripts.
pub struct Offer {
    /// Simple name of the class.
    pub class: &'static str,
    /// Its static methods, separated by blanks.
    pub statics: &'static str,
    /// Least and greatest number of arguments of its constructor; `None`: scripts cannot make one.
    pub made: Option<(usize, usize)>,
    /// Methods of its objects, separated by blanks.
    pub methods: &'static str,
    /// Calls a static method.
    pub call: fn(&mut Machine<'_>, &str, &[V]) -> Outcome,
    /// Makes an object.
    pub make: fn(&mut Machine<'_>, &[V]) -> Outcome,
}

const OFFERS: &[&[Offer]] = &[
    file_server::OFFERS,
    headers::OFFERS,
    json_path::OFFERS,
    threads::OFFERS,
    url::OFFERS,
    collectors::OFFERS,
    cookies::OFFERS,
    sampler::OFFERS,
    random_utils::OFFERS,
    sample_result::OFFERS,
    time_category::OFFERS,
    xml::OFFERS,
];

fn offers() -> impl Iterator<Item = &'static Offer> {
    OFFERS.iter().copied().flatten()
}

/// Whether a list of words, separated by blanks, has the word.
pub fn lists(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|known| known == word)
}

/// The offer of the class of that name.
pub fn offer(class: &str) -> Option<&'static Offer> {
    offers().find(|offer| offer.class == class)
}

/// Whether objects of one of these classes have a method of that name.
pub fn is_method(name: &str) -> bool {
    offers().any(|offer| lists(offer.methods, name))
}

/// The methods of objects of these classes.
#[cfg(test)]
pub fn methods() -> impl Iterator<Item = &'static str> {
    offers().flat_map(|offer| offer.methods.split_ascii_whitespace())
}

/// The static methods of these classes, with their class.
#[cfg(test)]
pub fn statics() -> impl Iterator<Item = (&'static str, &'static str)> {
    offers().flat_map(|offer| offer.statics.split_ascii_whitespace().map(|name| (offer.class, name)))
}

/// The classes among these that scripts can make objects of.
#[cfg(test)]
pub fn made_classes() -> impl Iterator<Item = &'static str> {
    offers().filter(|offer| offer.made.is_some()).map(|offer| offer.class)
}

/// Whether one of these classes has a static method of that name.
pub fn has_static(class: &str, name: &str) -> bool {
    offer(class).is_some_and(|offer| lists(offer.statics, name))
}

/// Whether an object of one of these classes can be made with so many arguments; `None`: the class is not among them.
pub fn is_made(class: &str, arguments: usize) -> Option<bool> {
    let made = offer(class)?.made;
    Some(made.is_some_and(|(least, most)| (least..=most).contains(&arguments)))
}

/// For classes without static methods.
pub fn no_static(_: &mut Machine<'_>, method: &str, _: &[V]) -> Outcome {
    Err(unsupported(format!("the static method `{method}`")))
}

/// For classes that scripts cannot make objects of.
pub fn not_made(_: &mut Machine<'_>, _: &[V]) -> Outcome {
    Err(unsupported("a new object of this class"))
}

/// The constant of an enumeration.
#[derive(Debug)]
pub struct Constant {
    /// Simple name of the enumeration.
    pub class: &'static str,
    /// Name of the constant.
    pub name: &'static str,
}

impl Instance for Constant {
    fn class(&self) -> Class {
        Class::known(self.class)
    }

    fn call(&self, _: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        match (method, arguments) {
            ("name" | "toString", []) => Ok(V::text(self.name)),
            _ => Err(super::unknown(object, method)),
        }
    }

    fn text(&self, _: &mut Machine<'_>) -> Result<String, Fault> {
        Ok(self.name.to_owned())
    }
}
