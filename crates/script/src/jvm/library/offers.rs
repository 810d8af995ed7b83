//! The list of the library classes with their own files.

use super::instance::{Offer, lists};
use super::{
    assertion_result, byte_streams, collectors, commons_lang, comparators, cookies, file_server, headers,
    java_duration, json_path, machine_facts, optional, properties, random_utils, sample_result, sampler,
    threads, time_category, uri, url, url_connection, xml,
};

const OFFERS: &[&[Offer]] = &[
    assertion_result::OFFERS,
    byte_streams::OFFERS,
    commons_lang::OFFERS,
    comparators::OFFERS,
    java_duration::OFFERS,
    machine_facts::OFFERS,
    optional::OFFERS,
    properties::OFFERS,
    file_server::OFFERS,
    headers::OFFERS,
    json_path::OFFERS,
    threads::OFFERS,
    uri::OFFERS,
    url::OFFERS,
    url_connection::OFFERS,
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

/// The declaration of the class of that name.
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
