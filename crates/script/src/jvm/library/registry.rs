//! The list of the library classes that are implemented in their own source files.

use super::instance::{LibraryClass, contains_word};
use super::{
    assertion_result, byte_streams, collectors, commons_lang, comparators, cookies, file_server, headers,
    java_duration, json_path, machine_facts, optional, properties, random_utils, sample_result, sampler,
    threads, time_category, uri, url, url_connection, xml,
};

const CLASSES: &[&[LibraryClass]] = &[
    assertion_result::CLASSES,
    byte_streams::CLASSES,
    commons_lang::CLASSES,
    comparators::CLASSES,
    java_duration::CLASSES,
    machine_facts::CLASSES,
    optional::CLASSES,
    properties::CLASSES,
    file_server::CLASSES,
    headers::CLASSES,
    json_path::CLASSES,
    threads::CLASSES,
    uri::CLASSES,
    url::CLASSES,
    url_connection::CLASSES,
    collectors::CLASSES,
    cookies::CLASSES,
    sampler::CLASSES,
    random_utils::CLASSES,
    sample_result::CLASSES,
    time_category::CLASSES,
    xml::CLASSES,
];

fn classes() -> impl Iterator<Item = &'static LibraryClass> {
    CLASSES.iter().copied().flatten()
}

/// The declaration of the class with this name.
pub fn find(class: &str) -> Option<&'static LibraryClass> {
    classes().find(|declared| declared.class == class)
}

/// Whether objects of a class in the list have a method with this name.
pub fn is_method(name: &str) -> bool {
    classes().any(|declared| contains_word(declared.methods, name))
}

/// The methods of objects of the classes in the list.
#[cfg(test)]
pub fn methods() -> impl Iterator<Item = &'static str> {
    classes().flat_map(|declared| declared.methods.split_ascii_whitespace())
}

/// The static methods of the classes in the list, with their class.
#[cfg(test)]
pub fn statics() -> impl Iterator<Item = (&'static str, &'static str)> {
    classes()
        .flat_map(|declared| declared.statics.split_ascii_whitespace().map(|name| (declared.class, name)))
}

/// The names of the listed classes that scripts can instantiate.
#[cfg(test)]
pub fn constructible_classes() -> impl Iterator<Item = &'static str> {
    classes().filter(|declared| declared.constructor_arguments.is_some()).map(|declared| declared.class)
}

/// Whether the class is in the list and has a static method with this name.
pub fn has_static(class: &str, name: &str) -> bool {
    find(class).is_some_and(|declared| contains_word(declared.statics, name))
}

/// Whether the class has a constructor with this number of arguments; `None` if the class is not in the list.
pub fn is_constructible(class: &str, arguments: usize) -> Option<bool> {
    let bounds = find(class)?.constructor_arguments;
    Some(bounds.is_some_and(|(least, most)| (least..=most).contains(&arguments)))
}
