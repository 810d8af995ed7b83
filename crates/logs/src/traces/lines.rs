//! The kinds of lines in stack traces.

use super::frames::Language;

/// The role of a line in the stack trace of its entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// A frame without its line number. `place` is the path of the file in Python and Node.js and empty otherwise.
    Frame { name: &'a str, place: &'a str, language: Language },
    /// A line that begins with the class of an exception.
    Exception(&'a str),
    /// `Caused by: …` of Java, ` ---> …` of .NET.
    Cause(&'a str),
    /// `--- End of inner exception stack trace ---` of .NET.
    EndOfInner,
    /// `Suppressed: …` of Java.
    Suppressed,
    /// `Traceback (most recent call last):`.
    PythonStart,
    /// The exception below the frames of a Python traceback.
    PythonEnd(&'a str),
    /// `panic: …` and `fatal error: …` of Go.
    GoCrash(&'a str),
    /// `goroutine 1 [running]:`.
    Goroutine,
    /// Anything else.
    Other,
}

const TRACEBACK: &str = "Traceback (most recent call last)";

/// The kind of a line. `is_in_python` states whether a Python traceback has begun, and `language` is that of the trace so far.
pub(super) fn classify(line: &str, is_in_python: bool, language: Option<Language>) -> Line<'_> {
    let text = line.trim_start_matches([' ', '\t', '|']);
    let is_indented = text.len() < line.len();
    if let Some(frame) = text.strip_prefix("at ").filter(|_| is_indented) {
        return at_frame(frame);
    }
    if is_in_python {
        if let Some(frame) = text.strip_prefix("File \"").and_then(python_frame) {
            return frame;
        }
        if !is_indented && !text.is_empty() {
            return Line::PythonEnd(text.split([':', ' ']).next().unwrap_or(text));
        }
        return Line::Other;
    }
    if text.starts_with(TRACEBACK) {
        return Line::PythonStart;
    }
    if let Some(cause) = text.strip_prefix("Caused by: ").or_else(|| text.strip_prefix("---> ")) {
        return exception_name(cause).map_or(Line::Other, Line::Cause);
    }
    if text.starts_with("Suppressed: ") {
        return Line::Suppressed;
    }
    if text.starts_with("--- End of inner exception") {
        return Line::EndOfInner;
    }
    if is_indented {
        // .NET indents the lines of exceptions in log messages.
        return exception_name(text).filter(|name| name.contains('.')).map_or(Line::Other, Line::Exception);
    }
    if text.starts_with("panic: ") {
        return Line::GoCrash("panic");
    }
    if text.starts_with("fatal error: ") {
        return Line::GoCrash("fatal error");
    }
    if is_goroutine(text) {
        return Line::Goroutine;
    }
    if language == Some(Language::Go) {
        return go_frame(text).unwrap_or(Line::Other);
    }
    exception_name(text).map_or(Line::Other, Line::Exception)
}

/// The frame after `at `.
fn at_frame(frame: &str) -> Line<'_> {
    let frame = frame.trim_end();
    match frame.split_once('(') {
        // Node.js: `book (/app/shop.js:12:5)`.
        Some((name, place)) if name.ends_with(' ') => {
            let place = without_position(place.trim_end_matches(')'));
            Line::Frame { name: name.trim_end(), place, language: Language::Node }
        }
        // Java: `shop.Shop.book(Shop.java:12)`; .NET: `Shop.Book(Int32 id) in /src/Shop.cs:line 12`.
        Some((name, _)) if is_frame_name(name) => {
            Line::Frame { name, place: "", language: Language::Managed }
        }
        Some(_) => Line::Other,
        // Node.js without a function: `/app/shop.js:12:5`.
        None => match without_position(frame) {
            place if place.len() < frame.len() => Line::Frame { name: "", place, language: Language::Node },
            _ => Line::Other,
        },
    }
}

fn is_frame_name(name: &str) -> bool {
    !name.is_empty() && name.contains('.') && !name.contains(char::is_whitespace)
}

/// The path without `:12:5`.
fn without_position(place: &str) -> &str {
    place.trim_end_matches(|c: char| c.is_ascii_digit() || c == ':')
}

/// The path and function of `/srv/shop/seats.py", line 12, in load`.
fn python_frame(text: &str) -> Option<Line<'_>> {
    let (place, rest) = text.split_once("\", line ")?;
    let (_, name) = rest.split_once(", in ")?;
    Some(Line::Frame { name, place, language: Language::Python })
}

fn is_goroutine(text: &str) -> bool {
    text.strip_prefix("goroutine ")
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()) && rest.trim_end().ends_with("]:"))
}

/// The function of `main.(*Shop).Book(0xc000, 0x5)`.
fn go_frame(text: &str) -> Option<Line<'_>> {
    let arguments = text.trim_end().strip_suffix(')')?.rfind('(')?;
    let name = &text[..arguments];
    is_frame_name(name).then_some(Line::Frame { name, place: "", language: Language::Go })
}

/// Texts in front of the exception in the first line of a trace.
const PREFIXES: &[&str] = &["Caused by: ", "Unhandled exception. ", "Unhandled Exception: ", "Uncaught "];

/// The class of the exception at the beginning of a line: `java.lang.IllegalStateException: no seat`.
pub(crate) fn exception_name(line: &str) -> Option<&str> {
    let mut text = line;
    if let Some(rest) = text.strip_prefix("Exception in thread \"") {
        text = rest.split_once("\" ")?.1;
    }
    for prefix in PREFIXES {
        text = text.strip_prefix(prefix).unwrap_or(text);
    }
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || "._$".contains(c))).unwrap_or(text.len());
    let name = &text[..end];
    // Node.js writes the code of an error in brackets: `Error [ERR_X]: no seat`.
    let rest = &text[end..];
    let is_ended = rest.trim().is_empty() || rest.starts_with(':') || rest.starts_with(" [");
    (is_ended && is_exception(name)).then_some(name)
}

/// Ends of the names of exceptions.
const ENDS: &[&str] = &["Exception", "Error", "Throwable", "Failure", "Fault", "Death"];

fn is_exception(name: &str) -> bool {
    let last = name.rsplit(['.', '$']).next().unwrap_or_default();
    last.starts_with(|c: char| c.is_ascii_uppercase())
        && ENDS.iter().any(|end| last.ends_with(end))
        && name.len() <= 300
}

/// The class of an exception, with its package, that a message contains: `failed with java.lang.IllegalStateException: no seat`.
pub(super) fn exception_inside(message: &str) -> Option<&str> {
    let is_end = |c: char| !(c.is_ascii_alphanumeric() || "._$".contains(c));
    let mut words = message.split(is_end);
    words
        .find(|word| word.contains('.') && is_exception(word.trim_end_matches('.')))
        .map(|word| word.trim_end_matches('.'))
}

/// Whether a line without a stamp belongs to the trace in the lines before it even if it is not indented.
pub(crate) fn continues_trace(line: &str) -> bool {
    const STARTS: &[&str] = &[
        "Caused by: ",
        "Suppressed: ",
        "--- End of",
        "During handling of the above exception",
        "The above exception was the direct cause",
        "created by ",
        "[signal ",
        "exit status ",
    ];
    STARTS.iter().any(|start| line.starts_with(start)) || line.starts_with("... ") && line.ends_with(" more")
}

/// Whether a line is the first one of a crash report. Such a line always begins an entry.
pub(crate) fn is_crash_start(line: &str) -> bool {
    const STARTS: &[&str] = &["Exception in thread \"", "panic: ", "fatal error: ", "Unhandled exception. "];
    STARTS.iter().any(|start| line.starts_with(start))
}
