//! Checks a script's tokens before it runs: rejects constructs that its engine does not support, or that need Java.

use super::dialect::Imitated;
use crate::ScriptError;
use crate::error::unsupported;
use crate::jvm::bridge;

/// What is known of a script from its words.
#[derive(Debug, Default)]
pub(super) struct Screened {
    /// The text to run.
    pub text: String,
    pub draws_random: bool,
    pub asks_clock: bool,
}

/// Words that Rhino 1.7.14 takes for errors in its default version, or that reach into Java.
const REFUSED_WORDS: &[&str] = &[
    "let",
    "const",
    "class",
    "async",
    "await",
    "yield",
    "import",
    "export",
    "extends",
    "super",
    "Set",
    "Map",
    "Symbol",
    "WeakMap",
    "WeakSet",
    "Promise",
    "Proxy",
    "Reflect",
    "BigInt",
    "globalThis",
    "Packages",
    "java",
    "javax",
    "org",
    "com",
    "JavaImporter",
    "JavaAdapter",
    "importClass",
    "importPackage",
    "sampler",
    "prototype",
    "__proto__",
    "constructor",
    "defineProperty",
    "defineProperties",
    "setPrototypeOf",
    "getPrototypeOf",
    "Intl",
    "WeakRef",
    "Int8Array",
    "Uint8Array",
    "Uint8ClampedArray",
    "Int16Array",
    "Uint16Array",
    "Int32Array",
    "Uint32Array",
    "Float16Array",
    "Float32Array",
    "Float64Array",
    "BigInt64Array",
    "BigUint64Array",
    "ArrayBuffer",
    "DataView",
    "SharedArrayBuffer",
    "Atomics",
    "XML",
    "XMLList",
    "QName",
    "Namespace",
    "StopIteration",
    "Iterator",
    "getClass",
    "AggregateError",
    "FinalizationRegistry",
    "queueMicrotask",
    "performance",
    "navigator",
    "with",
    "getter",
    "__defineGetter__",
    "__defineSetter__",
    "Function",
    "debugger",
    "uneval",
    "arguments",
    "this",
    "toSource",
];

/// Objects of the language that scripts share here, so that none may change them.
const BUILT_IN: &[&str] =
    &["Math", "JSON", "Object", "Array", "String", "Number", "Boolean", "RegExp", "Error", "Date"];

/// Members that Rhino 1.7.14 lacks or that depend on the place.
const REFUSED_MEMBERS: &[&str] = &[
    "at",
    "entries",
    "values",
    "flat",
    "flatMap",
    "matchAll",
    "replaceAll",
    "fromEntries",
    "findLast",
    "findLastIndex",
    "toSorted",
    "toReversed",
    "toSpliced",
    "with",
    "hasOwn",
    "groupBy",
    "localeCompare",
    "toLocaleString",
    "toLocaleUpperCase",
    "toLocaleLowerCase",
    "description",
    "isWellFormed",
    "toWellFormed",
    "stack",
    "lineNumber",
    "fileName",
];

/// Signs of newer versions of the language.
const REFUSED_SIGNS: &[&str] = &["...", "**", "?.", "??", "||=", "&&=", "#"];

/// JMeter's objects; their methods are known.
const OBJECTS: &[&str] = &[
    "vars",
    "props",
    "log",
    "ctx",
    "prev",
    "sampler",
    "SampleResult",
    "AssertionResult",
    "sampleEvent",
    "sampleResult",
    "OUT",
];

/// First words of the names of Java's classes; those that are known may be used in an element.
const PACKAGES: &[&str] = &["Packages", "java", "javax", "org", "com"];

/// A word of a script that has a meaning to it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Word<'t> {
    /// The name of an object, a member or a function, or a keyword.
    Name(&'t str),
    /// The text between quotes, as it is written.
    Literal(&'t str),
}

/// Refuses a name that could behave differently here; `owner` is the name before the dot of a member.
fn check_name(
    text: &str,
    at: usize,
    word: &str,
    is_element: bool,
    owner: Option<&str>,
) -> Result<(), ScriptError> {
    let refuse = |what: &str| Err(unsupported(text, at, format!("`{what}` in JavaScript")));
    let is_member = owner.is_some();
    let after = text[at + word.len()..].trim_start();
    let is_refused = REFUSED_WORDS.contains(&word) && !(is_element && word == "sampler");
    if is_refused && !after.starts_with(':') && (!is_member || is_reflective(word)) {
        return refuse(word);
    }
    // A text of Java has such a method.
    if is_member && REFUSED_MEMBERS.contains(&word) && !(is_element && word == "replaceAll") {
        return refuse(word);
    }
    let of_jmeter = is_element && owner.is_some_and(|owner| OBJECTS.contains(&owner));
    if of_jmeter && after.starts_with('(') && !bridge::is_method_of_jmeter(word) {
        return Err(unsupported(text, at, format!("the method `{word}`")));
    }
    let is_set = after.starts_with('=') && !after.starts_with("==");
    if is_set && owner.is_some_and(|owner| BUILT_IN.contains(&owner)) {
        return refuse("a new member of a built-in object");
    }
    Ok(())
}

/// A sign at the start of `rest` that this crate or the imitated engine does not have.
fn refused_sign(rest: &str, nashorn: bool, previous: &str) -> Option<&'static str> {
    if let Some(sign) = REFUSED_SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
        return Some(sign);
    }
    if nashorn && rest.starts_with("=>") {
        return Some("=>");
    }
    (rest.starts_with('{') && previous == "var").then_some("var {")
}

/// The length of a regular expression with its flags; `None` if it has newer constructs.
fn supported_pattern_len(rest: &str) -> Option<usize> {
    let len = pattern_len(rest);
    let flags = rest[len..].chars().take_while(char::is_ascii_alphabetic).collect::<String>();
    let newer = ["(?<", "\\p", "\\k", "\\u{"].iter().any(|part| rest[..len].contains(part));
    (!newer && flags.chars().all(|flag| matches!(flag, 'g' | 'i' | 'm'))).then_some(len + flags.len())
}

/// Looks through the words of the script and calls `see` with each.
pub(super) fn screen(
    text: &str,
    imitated: Imitated,
    is_element: bool,
    see: &mut dyn FnMut(Word<'_>),
) -> Result<Screened, ScriptError> {
    let mut screened = Screened { text: text.to_owned(), ..Screened::default() };
    let nashorn = imitated == Imitated::Nashorn;
    let bytes = text.as_bytes();
    let mut at = 0;
    let (mut previous, mut before) = (String::new(), String::new());
    let mut strict_comparison = None;
    let mut asked = 0;
    let refuse = |at: usize, what: &str| Err(unsupported(text, at, format!("`{what}` in JavaScript")));
    while at < bytes.len() {
        let rest = &text[at..];
        let c = rest.chars().next().unwrap_or(' ');
        if c.is_whitespace() {
            at += c.len_utf8();
        } else if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |len| len + 2);
        } else if c == '"' || c == '\'' {
            let len = quoted_len(rest, c);
            if rest[1..len].strip_suffix(c) == Some("use strict") {
                return refuse(at, "use strict");
            }
            see(Word::Literal(rest[1..len].trim_end_matches(c)));
            at += len;
            previous = "\"".into();
        } else if c == '`' {
            let len = quoted_len(rest, c);
            if nashorn || rest[..len].contains("${") {
                return refuse(at, if nashorn { "a template" } else { "a template with `${`" });
            }
            at += len;
            previous = "\"".into();
        } else if c.is_alphabetic() || c == '_' || c == '$' {
            let len =
                rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).unwrap_or(rest.len());
            let word = &rest[..len];
            see(Word::Name(word));
            let is_member = previous == ".";
            if is_element && !is_member && PACKAGES.contains(&word) {
                let len = java_name_len(text, at)?;
                previous = ")".into();
                at += len;
                continue;
            }
            if nashorn && is_element && !is_member && word == "Java" {
                check_java_type(text, at)?;
            }
            check_name(text, at, word, is_element, is_member.then_some(before.as_str()))?;
            if nashorn
                && is_member
                && word == "length"
                && let Some(call) = empty_call_len(&rest[len..])
            {
                // To Nashorn the length of a text is a property and a method; the text keeps its places.
                screened.text.replace_range(at + len..at + len + call, &" ".repeat(call));
                previous = ")".into();
                at += len + call;
                continue;
            }
            match word {
                "each" if previous == "for" => return refuse(at, "for each"),
                "of" if previous != "." => return refuse(at, "of"),
                "random" => screened.draws_random = true,
                "Date" => screened.asks_clock = true,
                "get" | "getProperty" if is_member => asked += 1,
                "function" => check_parameters(text, at)?,
                _ => {}
            }
            previous = word.to_owned();
            at += len;
        } else if c.is_ascii_digit() {
            let len = rest
                .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'))
                .unwrap_or(rest.len());
            let word = &rest[..len];
            if word.contains('_') || word.ends_with('n') || word.starts_with("0o") || word.starts_with("0b") {
                return refuse(at, word);
            }
            previous = "0".into();
            at += len;
        } else if c == '/' && begins_pattern(&previous) {
            let Some(len) = supported_pattern_len(rest) else {
                return refuse(at, "this regular expression");
            };
            at += len;
            previous = "0".into();
        } else {
            if let Some(sign) = refused_sign(rest, nashorn, &previous) {
                return refuse(at, sign);
            }
            if rest.starts_with("===") || rest.starts_with("!==") {
                strict_comparison.get_or_insert(at);
            }
            before = std::mem::replace(&mut previous, c.to_string());
            at += c.len_utf8();
        }
    }
    if let (Some(at), true, false) = (strict_comparison, asked > 1, nashorn) {
        // Two Java texts are identical only if they are one object.
        return refuse(at, "===` between Java texts `");
    }
    Ok(screened)
}

/// The length of `()`, if that is what comes next.
fn empty_call_len(rest: &str) -> Option<usize> {
    let open = rest.trim_start().strip_prefix('(')?;
    let after = open.trim_start().strip_prefix(')')?;
    let call = &rest[..rest.len() - after.len()];
    call.is_ascii().then_some(call.len())
}

/// The length of a Java class's name that begins here, `Packages.` included; the class must be known, and a method
/// that is called on it.
fn java_name_len(text: &str, at: usize) -> Result<usize, ScriptError> {
    let rest = &text[at..];
    let len = rest
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.')))
        .unwrap_or(rest.len());
    let name = rest[..len].strip_prefix("Packages.").unwrap_or(&rest[..len]);
    let refused = || Err(unsupported(text, at, format!("`{name}` in JavaScript")));
    // The class is the first part with a capital.
    let Some(start) = name
        .match_indices('.')
        .map(|(at, _)| at + 1)
        .find(|at| name[*at..].starts_with(|c: char| c.is_ascii_uppercase()))
    else {
        return refused();
    };
    let end = name[start..].find('.').map_or(name.len(), |len| start + len);
    let (class, member) = (&name[..end], name[end..].strip_prefix('.'));
    let is_call = text[at + len..].trim_start().starts_with('(');
    let method = member.filter(|member| is_call && !member.contains('.'));
    if bridge::is_class(class, method) { Ok(len) } else { refused() }
}

/// `Java.type("…")` of a known class.
fn check_java_type(text: &str, at: usize) -> Result<(), ScriptError> {
    let call: String = text[at..].chars().take(200).filter(|c| !c.is_whitespace()).collect();
    let name = call.strip_prefix("Java.type(").and_then(|call| {
        let quote = call.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        Some(call[1..].split_once(quote)?.0.to_owned())
    });
    match name {
        Some(name) if bridge::is_class(&name, None) => Ok(()),
        Some(name) => Err(unsupported(text, at, format!("the class `{name}`"))),
        None => Err(unsupported(text, at, "this use of `Java`")),
    }
}

/// Words that are as dangerous behind a point.
fn is_reflective(word: &str) -> bool {
    matches!(
        word,
        "prototype"
            | "__proto__"
            | "constructor"
            | "defineProperty"
            | "defineProperties"
            | "setPrototypeOf"
            | "getPrototypeOf"
            | "getClass"
            | "__defineGetter__"
            | "__defineSetter__"
            | "toSource"
    )
}

/// Rhino supports neither default values nor patterns among parameters.
fn check_parameters(text: &str, at: usize) -> Result<(), ScriptError> {
    let Some(open) = text[at..].find('(') else {
        return Ok(());
    };
    let Some(close) = text[at + open..].find(')') else {
        return Ok(());
    };
    let head = &text[at..at + open];
    if head.contains('*') {
        return Err(unsupported(text, at, "a generator in JavaScript"));
    }
    if text[at + open..at + open + close].contains(['=', '{', '[']) {
        return Err(unsupported(text, at + open, "this parameter in JavaScript"));
    }
    Ok(())
}

fn quoted_len(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == quote {
            return at + 1;
        }
    }
    rest.len()
}

/// A slash behind a value divides; behind all else it begins a pattern.
fn begins_pattern(previous: &str) -> bool {
    let keyword = matches!(
        previous,
        "return" | "typeof" | "case" | "in" | "void" | "delete" | "else" | "do" | "throw" | "new"
    );
    let value =
        previous.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '"' | ')' | ']' | '}'));
    keyword || !value
}

fn pattern_len(rest: &str) -> usize {
    let (mut escaped, mut in_class) = (false, false);
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            '/' if !in_class => return at + 1,
            '\n' => return at,
            _ => {}
        }
    }
    rest.len()
}
