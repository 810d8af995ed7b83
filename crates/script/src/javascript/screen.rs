//! Checks a script's tokens before it runs: rejects constructs that the imitated engine does not support or that need Java.

use super::dialect::ImitatedEngine;
use crate::ScriptError;
use crate::error::unsupported;
use crate::jvm::bridge;

/// Result of the check.
#[derive(Debug, Default)]
pub(super) struct Screened {
    /// The text to run.
    pub text: String,
    pub draws_random: bool,
    pub reads_clock: bool,
}

/// Words that are errors in Rhino 1.7.14 with its default language version, that give access to Java, or that may behave
/// differently here.
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

/// Built-in objects. All scripts of an engine share them here, so no script may change them.
const BUILT_IN: &[&str] =
    &["Math", "JSON", "Object", "Array", "String", "Number", "Boolean", "RegExp", "Error", "Date"];

/// Members that Rhino 1.7.14 lacks, or whose results depend on the locale or on the position in the source.
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

/// Operators and punctuators of newer versions of the language.
const REFUSED_SIGNS: &[&str] = &["...", "**", "?.", "??", "||=", "&&=", "#"];

/// JMeter's objects. A call of an unknown method is rejected.
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

/// Names at the start of qualified Java class names. Scripts of elements may use the Java classes that this crate supports.
const PACKAGES: &[&str] = &["Packages", "java", "javax", "org", "com"];

/// A word of a script that may refer to something.
#[derive(Debug, Clone, Copy)]
pub(super) enum Word<'t> {
    /// The name of an object, a member or a function, or a keyword.
    Name(&'t str),
    /// The text between quotes, with escape sequences as written.
    Literal(&'t str),
}

/// Rejects a name that might behave differently here. `owner` is the name before the dot of a member.
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
    // In elements, `replaceAll` is a method of Java strings.
    if is_member && REFUSED_MEMBERS.contains(&word) && !(is_element && word == "replaceAll") {
        return refuse(word);
    }
    let of_jmeter = is_element && owner.is_some_and(|owner| OBJECTS.contains(&owner));
    if of_jmeter && after.starts_with('(') && !bridge::is_method_of_jmeter(word) {
        return Err(unsupported(text, at, format!("the method `{word}`")));
    }
    let is_set = after.starts_with('=') && !after.starts_with("==");
    if is_set && owner.is_some_and(|owner| BUILT_IN.contains(&owner)) {
        return Err(unsupported(text, at, "a new member of a built-in object in JavaScript"));
    }
    Ok(())
}

/// An operator or punctuator at the start of `rest` that the imitated engine does not support.
fn refused_sign(rest: &str, nashorn: bool, previous: &str) -> Option<&'static str> {
    if let Some(sign) = REFUSED_SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
        return Some(sign);
    }
    if nashorn && rest.starts_with("=>") {
        return Some("=>");
    }
    (rest.starts_with('{') && previous == "var").then_some("var {")
}

/// The length of a regular expression with its flags; `None` if it contains newer constructs.
fn supported_pattern_len(rest: &str) -> Option<usize> {
    let len = pattern_len(rest);
    let flags = rest[len..].chars().take_while(char::is_ascii_alphabetic).collect::<String>();
    let newer = ["(?<", "\\p", "\\k", "\\u{"].iter().any(|part| rest[..len].contains(part));
    (!newer && flags.chars().all(|flag| matches!(flag, 'g' | 'i' | 'm'))).then_some(len + flags.len())
}

/// Checks all tokens of the script and calls `visit` with each word.
pub(super) fn screen(
    text: &str,
    imitated: ImitatedEngine,
    is_element: bool,
    visit: &mut dyn FnMut(Word<'_>),
) -> Result<Screened, ScriptError> {
    let mut tokens = Tokens {
        text,
        nashorn: imitated == ImitatedEngine::Nashorn,
        is_element,
        at: 0,
        previous: String::new(),
        before: String::new(),
        strict_comparison: None,
        getter_calls: 0,
        screened: Screened { text: text.to_owned(), ..Screened::default() },
    };
    while tokens.at < text.len() {
        tokens.check_next(visit)?;
    }
    if let (Some(at), true, false) = (tokens.strict_comparison, tokens.getter_calls > 1, tokens.nashorn) {
        // In Rhino, two Java strings are identical only if they are the same object.
        return Err(unsupported(text, at, "`===` between Java strings in JavaScript"));
    }
    Ok(tokens.screened)
}

/// The state of the check after the tokens up to a position.
struct Tokens<'t> {
    text: &'t str,
    nashorn: bool,
    is_element: bool,
    at: usize,
    /// The previous token: a word or a sign, or `"` for a string, or `0` for a regular expression.
    previous: String,
    /// The token before the last sign.
    before: String,
    /// The position of the first `===` or `!==`.
    strict_comparison: Option<usize>,
    /// The number of calls of `get` and `getProperty`.
    getter_calls: u32,
    screened: Screened,
}

impl<'t> Tokens<'t> {
    /// Checks the next token.
    fn check_next(&mut self, visit: &mut dyn FnMut(Word<'_>)) -> Result<(), ScriptError> {
        let rest = &self.text[self.at..];
        let c = rest.chars().next().unwrap_or(' ');
        if c.is_whitespace() {
            self.at += c.len_utf8();
        } else if rest.starts_with("//") {
            self.at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            self.at += rest.find("*/").map_or(rest.len(), |len| len + 2);
        } else if c == '"' || c == '\'' {
            let len = quoted_len(rest, c);
            if rest[1..len].strip_suffix(c) == Some("use strict") {
                return self.refuse("use strict");
            }
            visit(Word::Literal(rest[1..len].trim_end_matches(c)));
            self.advance(len, "\"");
        } else if c == '`' {
            let len = quoted_len(rest, c);
            if self.nashorn || rest[..len].contains("${") {
                let what = if self.nashorn { "a template" } else { "a template with `${`" };
                return Err(unsupported(self.text, self.at, format!("{what} in JavaScript")));
            }
            self.advance(len, "\"");
        } else if c.is_alphabetic() || c == '_' || c == '$' {
            self.check_word(rest, visit)?;
        } else if c.is_ascii_digit() {
            self.check_number(rest)?;
        } else if c == '/' && begins_pattern(&self.previous) {
            let Some(len) = supported_pattern_len(rest) else {
                return Err(unsupported(self.text, self.at, "this regular expression in JavaScript"));
            };
            self.advance(len, "0");
        } else {
            self.check_sign(rest, c)?;
        }
        Ok(())
    }

    /// Moves after a token of `len` bytes.
    fn advance(&mut self, len: usize, token: &str) {
        self.previous = token.to_owned();
        self.at += len;
    }

    fn refuse(&self, what: &str) -> Result<(), ScriptError> {
        Err(unsupported(self.text, self.at, format!("`{what}` in JavaScript")))
    }

    fn check_word(&mut self, rest: &'t str, visit: &mut dyn FnMut(Word<'_>)) -> Result<(), ScriptError> {
        let (text, at, nashorn, is_element) = (self.text, self.at, self.nashorn, self.is_element);
        let len = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).unwrap_or(rest.len());
        let word = &rest[..len];
        visit(Word::Name(word));
        let is_member = self.previous == ".";
        if is_element && !is_member && PACKAGES.contains(&word) {
            self.advance(java_name_len(text, at)?, ")");
            return Ok(());
        }
        if nashorn && is_element && !is_member && word == "Java" {
            check_java_type(text, at)?;
        }
        check_name(text, at, word, is_element, is_member.then_some(self.before.as_str()))?;
        if nashorn
            && is_member
            && word == "length"
            && let Some(call) = empty_call_len(&rest[len..])
        {
            // In Nashorn, `length` of a string is a property and a method. The call becomes a property access; spaces
            // replace the parentheses, so that positions in the text do not change.
            self.screened.text.replace_range(at + len..at + len + call, &" ".repeat(call));
            self.advance(len + call, ")");
            return Ok(());
        }
        match word {
            "each" if self.previous == "for" => return self.refuse("for each"),
            "of" if !is_member => return self.refuse("of"),
            "random" => self.screened.draws_random = true,
            "Date" => self.screened.reads_clock = true,
            "get" | "getProperty" if is_member => self.getter_calls += 1,
            "function" => check_parameters(text, at)?,
            _ => {}
        }
        self.advance(len, word);
        Ok(())
    }

    fn check_number(&mut self, rest: &str) -> Result<(), ScriptError> {
        let len =
            rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.')).unwrap_or(rest.len());
        let word = &rest[..len];
        if word.contains('_') || word.ends_with('n') || word.starts_with("0o") || word.starts_with("0b") {
            return self.refuse(word);
        }
        self.advance(len, "0");
        Ok(())
    }

    fn check_sign(&mut self, rest: &str, sign: char) -> Result<(), ScriptError> {
        if let Some(refused) = refused_sign(rest, self.nashorn, &self.previous) {
            return self.refuse(refused);
        }
        if rest.starts_with("===") || rest.starts_with("!==") {
            self.strict_comparison.get_or_insert(self.at);
        }
        self.before = std::mem::replace(&mut self.previous, sign.to_string());
        self.at += sign.len_utf8();
        Ok(())
    }
}

/// The length of `()` at the start of `rest`, including white space.
fn empty_call_len(rest: &str) -> Option<usize> {
    let open = rest.trim_start().strip_prefix('(')?;
    let after = open.trim_start().strip_prefix(')')?;
    let call = &rest[..rest.len() - after.len()];
    call.is_ascii().then_some(call.len())
}

/// The length of the qualified name of a Java class at this position, including `Packages.` and a member. The class, and a
/// method that is called on it, must be known.
fn java_name_len(text: &str, at: usize) -> Result<usize, ScriptError> {
    let rest = &text[at..];
    let len = rest
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.')))
        .unwrap_or(rest.len());
    let name = rest[..len].strip_prefix("Packages.").unwrap_or(&rest[..len]);
    let refused = || Err(unsupported(text, at, format!("`{name}` in JavaScript")));
    // The class is the first part that begins with a capital letter.
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

/// Checks that the name at this position starts an expression `Java.type("…")` with a known class.
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

/// Refused words that are also refused as members, because they change or reveal the internals of objects.
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

/// Rejects generators, default values and destructuring patterns in parameters, which Rhino does not support.
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

/// Whether a slash after the token `previous` begins a regular expression. After a value, it is a division.
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
