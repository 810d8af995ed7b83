//! The languages of scripted elements.

use busyhour_script::java_like::JavaLike;
use busyhour_script::javascript::ImitatedEngine;

use crate::refusal::Refusal;

/// One of JMeter's three families of scripted elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Elements whose class names start with `JSR223`.
    Jsr223,
    /// Elements whose class names start with `BSF`.
    Bsf,
    /// Elements whose class names start with `BeanShell`.
    BeanShell,
}

/// The language of a script.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// Groovy or BeanShell.
    JavaLike(JavaLike),
    /// JavaScript with the behaviour of the given engine.
    JavaScript(ImitatedEngine),
    /// JEXL 2.
    Jexl,
    /// A language for which JMeter has no engine. Each run is an error.
    Missing(String),
}

/// The language for the name in an element.
///
/// # Errors
/// The language is not supported here, but may be available in JMeter.
pub fn language_of(text: &str, family: Family) -> Result<Language, Refusal> {
    if family == Family::Bsf {
        return bsf_language_of(text);
    }
    let name = text.trim().to_ascii_lowercase();
    Ok(match (name.as_str(), family) {
        (_, Family::BeanShell) | ("beanshell" | "bsh" | "java", _) => Language::JavaLike(JavaLike::BeanShell),
        ("" | "groovy", _) => Language::JavaLike(JavaLike::Groovy),
        ("javascript" | "js" | "ecmascript" | "nashorn", _) => Language::JavaScript(ImitatedEngine::Nashorn),
        ("jexl" | "jexl2", _) => Language::Jexl,
        // JMeter contains the library, but its engine does not have this name.
        ("jexl3", _) => Language::Missing(text.to_owned()),
        _ => return Err(Refusal::needs_java(format!("is written in {}", text.trim()))),
    })
}

/// Languages that BSF supports if their engines are installed in JMeter.
const BSF_LANGUAGES: &[&str] = &[
    "bml",
    "beanbasic",
    "jacl",
    "java",
    "javaclass",
    "jpython",
    "jscript",
    "judoscript",
    "jython",
    "lotusscript",
    "netrexx",
    "objectscript",
    "perl",
    "perlscript",
    "pnuts",
    "prolog",
    "rexx",
    "ruby",
    "vbscript",
    "xslt",
];

fn bsf_language_of(text: &str) -> Result<Language, Refusal> {
    Ok(match text {
        "beanshell" => Language::JavaLike(JavaLike::BeanShell),
        "javascript" => Language::JavaScript(ImitatedEngine::Rhino),
        known if BSF_LANGUAGES.contains(&known) => {
            return Err(Refusal::needs_java(format!("is written in {known}")));
        }
        other => Language::Missing(other.to_owned()),
    })
}
