//! The parts of an entry's first line: severity, thread, logger and message.
//!
//! The layouts of log4j, Logback, Spring Boot, Tomcat, JUL, Apache, nginx, syslog, logcat, Python, .NET and klog are
//! recognized by their tokens, not by a pattern that the user supplies. Text that is not recognized remains part of the
//! message.

use std::ops::Range;

use crate::severity::EntrySeverity;
use crate::stamps::Notation;

/// The parts of the first line of an entry, as byte ranges of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Header {
    pub severity: Option<EntrySeverity>,
    pub logger: Option<Range<usize>>,
    /// Where the message begins. It extends to the end of the line.
    pub message: usize,
}

/// Maximum number of tokens of a header.
const TOKENS_MAX: usize = 10;
/// Maximum number of brackets between severity and logger: Spring Boot writes the application and the thread.
const THREADS_MAX: usize = 3;
/// Maximum length of a thread's name in brackets, in bytes.
const BRACKET_MAX: usize = 512;

/// Splits a line with a stamp; `stamp` is its range.
pub(crate) fn split_stamped(line: &str, notation: Notation, stamp: &Range<usize>) -> Header {
    let mut reader = Reader::new(line, stamp.end);
    reader.header.severity = priority(line);
    match notation {
        Notation::AccessLog => {
            return Header { message: 0, ..reader.header };
        }
        Notation::Klog => {
            reader.header.severity = EntrySeverity::from_letter(line.as_bytes()[stamp.start]);
            reader.klog();
        }
        Notation::Syslog => reader.syslog(),
        Notation::Logcat => reader.logcat(),
        Notation::JavaUtilLogging => reader.java_util_logging(),
        Notation::Tomcat | Notation::Other => reader.tokens(notation == Notation::Tomcat),
    }
    reader.header
}

/// The header of the first line of a crash report: the whole line is the message.
pub(crate) fn of_crash(line: &str) -> Header {
    let is_of_thread = line.starts_with("Exception in thread");
    let severity = if is_of_thread { EntrySeverity::Error } else { EntrySeverity::Fatal };
    Header { severity: Some(severity), ..Header::default() }
}

/// Splits a line without a stamp, such as `ERROR: no route` and `SEVERE: no route`.
pub(crate) fn split_unstamped(line: &str) -> Header {
    let start = if line.starts_with('<') { line.find('>').map_or(0, |end| end + 1) } else { 0 };
    let mut reader = Reader::new(line, if priority(line).is_some() { start } else { 0 });
    reader.header.severity = priority(line);
    let before = reader.at;
    reader.tokens(false);
    if reader.header.severity.is_none() {
        // Without a severity, nothing shows that the first words are a header.
        reader.header = Header { message: before, ..Header::default() };
    }
    reader.header
}

/// The severity of the priority at the beginning of a line of syslog: `<34>`.
fn priority(line: &str) -> Option<EntrySeverity> {
    let (number, _) = line.strip_prefix('<')?.split_once('>')?;
    let is_number = (1..=3).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| number.parse().ok()).flatten().map(EntrySeverity::of_priority)
}

struct Reader<'a> {
    line: &'a str,
    bytes: &'a [u8],
    at: usize,
    header: Header,
    /// Number of brackets after the severity that have been read.
    threads: usize,
}

impl<'a> Reader<'a> {
    fn new(line: &'a str, at: usize) -> Reader<'a> {
        let header = Header { message: at, ..Header::default() };
        Reader { line, bytes: line.as_bytes(), at, header, threads: 0 }
    }

    fn skip(&mut self, separators: &[u8]) {
        while self.bytes.get(self.at).is_some_and(|byte| separators.contains(byte)) {
            self.at += 1;
        }
        self.header.message = self.at;
    }

    /// The end of the word at the current position.
    fn word_end(&self) -> usize {
        let is_end = |byte: &u8| b" \t|".contains(byte);
        self.bytes[self.at..].iter().position(is_end).map_or(self.bytes.len(), |length| self.at + length)
    }

    /// The usual layouts: separators, severity, thread in brackets, process, logger.
    fn tokens(&mut self, is_tomcat: bool) {
        self.skip(b"])\"'");
        if self.bytes.get(self.at) == Some(&b'|') {
            self.skip(b"|");
            self.plain_fields();
        }
        for _ in 0..TOKENS_MAX {
            self.skip(b" \t|,");
            let Some(&first) = self.bytes.get(self.at) else { return };
            let is_read = match first {
                b'[' | b'(' | b'<' => self.bracket(first),
                b'-' | b':' | b'*' => self.separator(),
                b'0'..=b'9' => self.process(),
                _ => self.severity_word() || self.field() || self.logger(is_tomcat),
            };
            if !is_read {
                return;
            }
            self.header.message = self.at;
        }
    }

    /// Fields between bars in front of the severity or the message: `|Step_LSC|30002312|`. The last word of them is the logger.
    fn plain_fields(&mut self) {
        for _ in 0..TOKENS_MAX {
            let end = self.word_end();
            let field = &self.line[self.at..end];
            let is_number = field.bytes().all(|byte| byte.is_ascii_digit());
            if self.bytes.get(end) != Some(&b'|')
                || !(is_number || is_name(field))
                || EntrySeverity::named(field).is_some()
            {
                return;
            }
            if !is_number {
                self.header.logger = Some(self.at..end);
            }
            self.at = end;
            self.skip(b"|");
        }
    }

    /// `-`, `---`, `:` on their own.
    fn separator(&mut self) -> bool {
        let end = self.word_end();
        let is_separator =
            self.bytes[self.at..end].iter().all(|byte| b"-:*".contains(byte)) && end - self.at <= 3;
        if is_separator {
            self.at = end;
        }
        is_separator
    }

    /// A process or thread id in front of the severity or of `---`.
    fn process(&mut self) -> bool {
        let end = self.word_end();
        let is_number =
            self.bytes[self.at..end].iter().all(|byte| byte.is_ascii_digit() || b"#:".contains(byte));
        let next = self.line[end..].trim_start();
        if is_number && (self.header.severity.is_none() || next.starts_with("---")) {
            self.at = end;
            return true;
        }
        false
    }

    /// `[main]`, `[error]`, `[core:error]`, `[pid 12]`, but not a bracket that begins the message.
    fn bracket(&mut self, open: u8) -> bool {
        let close = match open {
            b'[' => b']',
            b'(' => b')',
            _ => b'>',
        };
        let Some(end) = matching_end(&self.bytes[self.at..], open, close) else { return false };
        let end = self.at + end;
        let inside = &self.line[self.at + 1..end];
        let after = end + 1;
        if self.header.severity.is_none() {
            let level = inside.rsplit(':').next().unwrap_or(inside).trim();
            self.header.severity = EntrySeverity::named(level);
            self.at = after;
            return true;
        }
        if self.header.logger.is_some() {
            // Python's oslo.log writes the request after the logger.
            let is_request = inside == "-" || inside.starts_with("req-");
            self.at = if is_request { after } else { self.at };
            return is_request;
        }
        let is_process = inside.starts_with("pid ") || inside.starts_with("tid ");
        let next = self.line[after..].trim_start();
        let is_thread = self.threads < THREADS_MAX
            && (next.starts_with(['-', ':', '[', '|']) || starts_with_logger(next));
        if is_process || is_thread {
            self.threads += 1;
            self.at = after;
            return true;
        }
        false
    }

    /// `ERROR`, `ERROR:`, `|ERROR|`, `error:`, and `ERROR:shop.seats:` of Python.
    fn severity_word(&mut self) -> bool {
        if self.header.severity.is_some() {
            return false;
        }
        let end = self.word_end();
        let word = &self.line[self.at..end];
        let name_end = word.find([':', ']', ',', ';', '[']).unwrap_or(word.len());
        let name = &word[..name_end];
        let Some(severity) = EntrySeverity::named(name) else { return false };
        let is_upper = name.bytes().all(|byte| byte.is_ascii_uppercase());
        let is_capitalized = name.as_bytes()[0].is_ascii_uppercase() && self.header.message > 0;
        let is_delimited = word[name_end..].starts_with(':') || self.bytes.get(end) == Some(&b'|');
        if !(is_upper || is_capitalized || is_delimited) {
            return false;
        }
        self.header.severity = Some(severity);
        let rest = word[name_end..].strip_prefix(':').unwrap_or_default();
        self.at = match rest.split_once(':') {
            Some((logger, _)) if is_name(logger) => {
                let start = self.at + name_end + 1;
                self.header.logger = Some(start..start + logger.len());
                start + logger.len() + 1
            }
            _ if rest.is_empty() => end,
            _ => self.at + name_end + 1,
        };
        true
    }

    /// `level=error msg="…"` of logfmt.
    fn field(&mut self) -> bool {
        let end = self.word_end();
        let Some((name, value)) = self.line[self.at..end].split_once('=') else { return false };
        match name {
            "level" | "lvl" | "severity" => {
                self.header.severity = EntrySeverity::named(value.trim_matches('"'));
                self.at = end;
                self.header.severity.is_some()
            }
            "msg" | "message" => {
                self.at += name.len() + 1;
                self.header.message = self.at;
                false
            }
            _ => false,
        }
    }

    /// A logger in front of the message: `o.a.Foo:`, `o.a.Foo -`, `o.a.Foo : `, `logger|`.
    fn logger(&mut self, is_tomcat: bool) -> bool {
        if self.header.logger.is_some() || self.header.severity.is_none() {
            return self.logger_before_severity();
        }
        let end = self.word_end();
        let word = &self.line[self.at..end];
        let name = word.trim_end_matches(':');
        let next = self.line[end..].trim_start();
        let is_marked = name.len() < word.len() || next.starts_with("- ") || next.starts_with(": ");
        let is_field = self.bytes.get(end) == Some(&b'|');
        let dots = name.matches('.').count();
        let is_before_request = dots > 0 && (next.starts_with("[req-") || next.starts_with("[-]"));
        // `FOLLOWING - …` is a message.
        let is_upper_case = dots == 0 && !name.bytes().any(|byte| byte.is_ascii_lowercase());
        // .NET writes the message on the next line: `fail: Shop.Seats[0]`.
        let is_alone = next.is_empty() && name.ends_with(']') && name.contains('[');
        let is_marked = is_marked || is_field || is_before_request || is_alone || is_tomcat && dots > 1;
        let is_logger = is_name(name) && !is_upper_case && is_marked;
        if is_logger {
            self.header.logger = Some(self.at..self.at + name.len());
            self.at = end;
        }
        is_logger
    }

    /// `name - LEVEL - message` of Python: a logger in front of the severity.
    fn logger_before_severity(&mut self) -> bool {
        if self.header.severity.is_some() || self.header.logger.is_some() || self.header.message == 0 {
            return false;
        }
        let end = self.word_end();
        let name = &self.line[self.at..end];
        let next = self.line[end..].trim_start_matches([' ', '-', ':', '|']);
        let word = next.split([' ', ':', '|', ']']).next().unwrap_or_default();
        let is_followed = next.len() < self.line.len() - end
            && word.bytes().all(|byte| byte.is_ascii_uppercase())
            && EntrySeverity::named(word).is_some();
        if is_followed && is_name(name) {
            self.header.logger = Some(self.at..end);
            self.at = end;
            return true;
        }
        false
    }

    /// `E0102 15:04:05.000000       1 server.go:12] message`
    fn klog(&mut self) {
        if let Some(end) = self.line[self.at..].find("] ")
            && end < BRACKET_MAX
        {
            let source = self.line[self.at..self.at + end].rsplit(' ').next().unwrap_or_default();
            let file = source.split(':').next().unwrap_or_default();
            let start = self.at + end - source.len();
            self.header.logger = Some(start..start + file.len());
            self.at += end + 2;
        }
        self.skip(b" ");
    }

    /// `host program[123]: message`
    fn syslog(&mut self) {
        self.skip(b" ");
        let host_end = self.word_end();
        let rest = &self.line[host_end..];
        let tag_start = host_end + (rest.len() - rest.trim_start().len());
        let tag = &self.line[tag_start..];
        // A tag ends with a colon. On macOS it may contain spaces, but only in front of the process ID.
        let Some(colon) = tag.find(": ").or_else(|| tag.strip_suffix(':').map(str::len)) else {
            self.at = tag_start;
            return self.skip(b" ");
        };
        let name = tag[..colon].split(['[', '(']).next().unwrap_or_default();
        if colon > BRACKET_MAX || tag[..colon].contains(' ') && !tag[..colon].ends_with(']') {
            self.at = tag_start;
            return self.skip(b" ");
        }
        self.header.logger = Some(tag_start..tag_start + name.len());
        self.at = tag_start + colon + 1;
        self.skip(b" ");
    }

    /// `1702  2395 D WindowManager: message`
    fn logcat(&mut self) {
        self.skip(b" 0123456789");
        let severity = self.bytes.get(self.at).copied().and_then(EntrySeverity::from_letter);
        if severity.is_some() && self.bytes.get(self.at + 1) == Some(&b' ') {
            self.header.severity = severity;
            self.at += 2;
            self.skip(b" ");
            if let Some(colon) = self.line[self.at..].find(": ").filter(|colon| *colon < BRACKET_MAX) {
                self.header.logger =
                    Some(self.at..self.at + self.line[self.at..self.at + colon].trim_end().len());
                self.at += colon + 1;
            }
            return self.skip(b" ");
        }
        self.tokens(false);
    }

    /// `org.foo.Bar method`, with the severity on the next line.
    fn java_util_logging(&mut self) {
        self.skip(b" ");
        let end = self.word_end();
        if is_name(&self.line[self.at..end]) {
            self.header.logger = Some(self.at..end);
        }
    }
}

/// Whether a text begins with a logger and the end of a header.
fn starts_with_logger(text: &str) -> bool {
    let end = text.find([' ', '|']).unwrap_or(text.len());
    let word = &text[..end];
    let name = word.trim_end_matches(':');
    let next = text[end..].trim_start();
    is_name(name)
        && (name.len() < word.len()
            || next.starts_with("- ")
            || next.starts_with(": ")
            || name.matches('.').count() > 1)
}

/// Whether a text has the form of a logger's name: identifiers, joined by dots.
fn is_name(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"._$-/@[]".contains(&byte);
    text.len() > 1 && text.as_bytes()[0].is_ascii_alphabetic() && text.bytes().all(is_part)
}

/// The position of the bracket that closes the one at the beginning.
fn matching_end(text: &[u8], open: u8, close: u8) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in text.iter().enumerate().take(BRACKET_MAX) {
        if *byte == open {
            depth += 1;
        } else if *byte == close {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests;
