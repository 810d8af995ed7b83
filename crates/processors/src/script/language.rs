//! The languages of scripted elements.

use busyhour_script::java_like::Language as JavaLike;
use busyhour_script::javascript::Imitated;

use crate::refusal::Refusal;

/// Which of JMeter's three kinds of scripted elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// `JSR223…`
    Jsr223,
    /// `BSF…`
    Bsf,
    /// `BeanShell…`
    BeanShell,
}

/// A language that elements are written in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// Groovy or BeanShell.
    JavaLike(JavaLike),
    /// JavaScript, as this engine has it.
    JavaScript(Imitated),
    /// JEXL 2.
    Jexl,
    /// One that JMeter has no engine for: each run is an error.
    Missing(String),
}

/// The language an element names.
///
/// # Errors
/// For languages that are not supported here and may be there in JMeter.
pub fn language_of(text: &str, family: Family) -> Result<Language, Refusal> {
    if family == Family::Bsf {
        return bsf_language_of(text);
    }
    let name = text.trim().to_ascii_lowercase();
    Ok(match (name.as_str(), family) {
        (_, Family::BeanShell) | ("beanshell" | "bsh" | "java", _) => Language::JavaLike(JavaLike::BeanShell),
        ("" | "groovy", _) => Language::JavaLike(JavaLike::Groovy),
        ("javascript" | "js" | "ecmascript" | "nashorn", _) => Language::JavaScript(Imitated::Nashorn),
        ("jexl" | "jexl2", _) => Language::Jexl,
        // The library is there, its engine has no such name.
        ("jexl3", _) => Language::Missing(text.to_owned()),
        _ => return Err(Refusal::needs_java(format!("is written in {}", text.trim()))),
    })
}

/// Languages known to BSF, whose engines may be installed in JMeter.
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
        "javascript" => Language::JavaScript(Imitated::Rhino),
        known if BSF_LANGUAGES.contains(&known) => {
            return Err(Refusal::needs_java(format!("is written in {known}")));
        }
        other => Language::Missing(other.to_owned()),
    })
}
