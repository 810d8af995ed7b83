//! Translates Jakarta ORO's Perl5 patterns for the `regex` and `fancy-regex` crates.
//!
//! Properties of ORO 2.0.8, determined by experiments:
//!
//! * Flags such as `(?i)` apply to the whole pattern, wherever they occur.
//! * `{` is a plain character if it does not begin an interval.
//! * Escaped letters without a special meaning match themselves.
//! * `\w`, `\d` and `\s` are Java's letters or digits, digits, and white space, for all of Unicode.
//! * `$` also matches before a line break at the end of the text.

use std::fmt::Write as _;

/// The reason why a pattern cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// ORO rejects the pattern, too; the text is ORO's message.
    #[error("{0}")]
    Malformed(String),
    /// ORO may accept the pattern, but it may match differently here.
    #[error("{0}")]
    Unsupported(String),
}

/// A translated pattern.
#[derive(Debug)]
pub(super) struct Translated {
    /// The pattern in the syntax of the `regex` crate, or of `fancy-regex` if `fancy` is set.
    pub text: String,
    /// Whether the pattern contains look-around or back-references, and therefore needs the syntax of `fancy-regex`.
    pub fancy: bool,
    /// The pattern without look-around and back-references, for the analysis of its groups.
    pub shadow: String,
    /// Number of groups.
    pub groups: usize,
}

const LETTER_OR_DIGIT: &str = r"\p{L}\p{Nd}_";
/// Java's `Character.isWhitespace`, which excludes no-break spaces and includes the information separators.
const WHITE_SPACE: &str =
    r"\t-\r\x1c-\x20\x{1680}\x{2000}-\x{2006}\x{2008}-\x{200a}\x{2028}\x{2029}\x{205f}\x{3000}";
const DIGIT: &str = r"\p{Nd}";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Flags {
    ignore_case: bool,
    multi_line: bool,
    single_line: bool,
}

/// The kind of an atom of a pattern, which determines whether it may be repeated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Atom {
    Consuming,
    ZeroWidth,
}

struct Translator {
    pattern: Vec<char>,
    at: usize,
    flags: Flags,
    seen: Flags,
    groups: usize,
    depth: usize,
    /// Number of character sets such as `\w`.
    sets: usize,
    /// Whether a search has shown that the rest of the pattern does not contain `:]`.
    has_no_posix_end: bool,
    fancy: bool,
    text: String,
    shadow: String,
}

/// Maximum nesting depth of groups.
const DEPTH_MAX: usize = 100;

/// Maximum length of a pattern, in bytes. Compiling a pattern takes several hundred times its memory.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// Maximum number of character sets such as `\w`, each of which takes several KiB while the pattern is compiled.
const SETS_MAX: usize = 10_000;

/// Translates a pattern.
pub(super) fn translate(pattern: &str) -> Result<Translated, PatternError> {
    if pattern.len() > PATTERN_BYTES_MAX {
        return unsupported("a pattern of more than 1 MiB");
    }
    // Flags may follow the part to which they apply, so a first pass collects them.
    let seen = Translator::run(pattern, Flags::default())?.seen;
    let done = Translator::run(pattern, seen)?;
    let prefix = if seen.ignore_case { "(?i)" } else { "" };
    Ok(Translated {
        text: format!("{prefix}{}", done.text),
        shadow: format!("{prefix}{}", done.shadow),
        fancy: done.fancy,
        groups: done.groups,
    })
}

fn malformed<T>(message: impl Into<String>) -> Result<T, PatternError> {
    Err(PatternError::Malformed(message.into()))
}

fn unsupported<T>(message: impl Into<String>) -> Result<T, PatternError> {
    Err(PatternError::Unsupported(message.into()))
}

impl Translator {
    fn run(pattern: &str, flags: Flags) -> Result<Self, PatternError> {
        let mut this = Self {
            pattern: pattern.chars().collect(),
            at: 0,
            flags,
            seen: Flags::default(),
            groups: 0,
            depth: 0,
            sets: 0,
            has_no_posix_end: false,
            fancy: false,
            text: String::new(),
            shadow: String::new(),
        };
        this.alternatives()?;
        if this.at < this.pattern.len() {
            return malformed("Unmatched parentheses.");
        }
        Ok(this)
    }

    fn peek(&self) -> Option<char> {
        self.pattern.get(self.at).copied()
    }

    fn peek_at(&self, ahead: usize) -> Option<char> {
        self.pattern.get(self.at + ahead).copied()
    }

    fn both(&mut self, text: &str) {
        self.text.push_str(text);
        self.shadow.push_str(text);
    }

    fn literal(&mut self, character: char) {
        let mut out = String::new();
        push_literal(&mut out, character);
        self.both(&out);
    }

    fn alternatives(&mut self) -> Result<(), PatternError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return unsupported(format!("groups nested deeper than {DEPTH_MAX}"));
        }
        loop {
            self.sequence()?;
            if self.peek() != Some('|') {
                self.depth -= 1;
                return Ok(());
            }
            self.at += 1;
            self.both("|");
        }
    }

    fn sequence(&mut self) -> Result<(), PatternError> {
        while let Some(next) = self.peek() {
            if matches!(next, '|' | ')') {
                break;
            }
            // The translated atom is wrapped, so that a quantifier after it applies to all of it.
            let before = (self.text.len(), self.shadow.len());
            let atom = self.atom(next)?;
            self.quantifier(atom, before)?;
        }
        Ok(())
    }

    /// Translates one atom; `None` for flags and comments.
    fn atom(&mut self, next: char) -> Result<Option<Atom>, PatternError> {
        self.at += 1;
        match next {
            '*' | '+' | '?' => return malformed("?+* follows nothing in expression"),
            '(' => return self.group(),
            '[' => self.class()?,
            '\\' => return self.escape().map(Some),
            '.' => self.both(if self.flags.single_line { "(?s:.)" } else { r"[^\n]" }),
            '^' if self.flags.multi_line => {
                // `^` does not match after a line break at the end of the text.
                self.fancy = true;
                self.text.push_str(r"(?:\A|(?m:^)(?!\z))");
                self.shadow.push_str("(?m:^)");
                return Ok(Some(Atom::ZeroWidth));
            }
            '^' => {
                self.both(r"\A");
                return Ok(Some(Atom::ZeroWidth));
            }
            '$' if self.flags.multi_line => {
                self.both("(?m:$)");
                return Ok(Some(Atom::ZeroWidth));
            }
            '$' => {
                self.before_last_line_end();
                return Ok(Some(Atom::ZeroWidth));
            }
            other => self.literal(other),
        }
        Ok(Some(Atom::Consuming))
    }

    fn before_last_line_end(&mut self) {
        self.fancy = true;
        self.text.push_str(r"(?=\n?\z)");
        self.shadow.push_str(r"\z");
    }

    fn quantifier(&mut self, atom: Option<Atom>, before: (usize, usize)) -> Result<(), PatternError> {
        let Some(quantifier) = self.take_quantifier()? else { return Ok(()) };
        match atom {
            None => return unsupported("a repetition after a comment or flags"),
            Some(Atom::ZeroWidth) => return unsupported("a repeated anchor or look-ahead"),
            Some(Atom::Consuming) => {}
        }
        self.text.insert_str(before.0, "(?:");
        self.shadow.insert_str(before.1, "(?:");
        self.both(")");
        self.both(&quantifier);
        if self.peek() == Some('?') {
            self.at += 1;
            self.both("?");
        }
        if self.take_quantifier()?.is_some() {
            return malformed("Nested repetitions *?+ in expression");
        }
        Ok(())
    }

    fn take_quantifier(&mut self) -> Result<Option<String>, PatternError> {
        match self.peek() {
            Some(sign @ ('*' | '+' | '?')) => {
                self.at += 1;
                Ok(Some(sign.to_string()))
            }
            Some('{') => self.interval(),
            _ => Ok(None),
        }
    }

    fn interval(&mut self) -> Result<Option<String>, PatternError> {
        let mut end = 1;
        let number = |from: usize| {
            let digits: String =
                self.pattern[self.at + from..].iter().take_while(|c| c.is_ascii_digit()).collect();
            (digits.len(), digits)
        };
        let (length, low) = number(end);
        if length == 0 {
            return Ok(None);
        }
        end += length;
        let mut high = None;
        if self.peek_at(end) == Some(',') {
            let (length, digits) = number(end + 1);
            end += 1 + length;
            high = Some(digits);
        }
        if self.peek_at(end) != Some('}') {
            return Ok(None);
        }
        self.at += end + 1;
        let count = |digits: &str| match digits.parse::<u32>() {
            Ok(count) if count <= 10_000 => Ok(count),
            _ => unsupported(format!("the repetition count {digits}")),
        };
        let low = count(&low)?;
        Ok(Some(match high.as_deref() {
            None => format!("{{{low}}}"),
            Some("") => format!("{{{low},}}"),
            Some(high) => {
                let high = count(high)?;
                if high < low {
                    return malformed(format!("Invalid interval {{{low},{high}}}"));
                }
                format!("{{{low},{high}}}")
            }
        }))
    }

    fn group(&mut self) -> Result<Option<Atom>, PatternError> {
        if self.peek() != Some('?') {
            self.groups += 1;
            self.both("(");
            self.alternatives()?;
            self.close()?;
            self.both(")");
            return Ok(Some(Atom::Consuming));
        }
        self.at += 1;
        match self.peek() {
            Some(':') => {
                self.at += 1;
                self.both("(?:");
                self.alternatives()?;
                self.close()?;
                self.both(")");
                Ok(Some(Atom::Consuming))
            }
            Some(sign @ ('=' | '!')) => {
                self.at += 1;
                self.fancy = true;
                let _ = write!(self.text, "(?{sign}");
                self.shadow.push_str("(?:");
                self.alternatives()?;
                self.close()?;
                self.text.push(')');
                self.shadow.push_str("){0}");
                Ok(Some(Atom::ZeroWidth))
            }
            Some('#') => {
                while let Some(next) = self.peek() {
                    self.at += 1;
                    if next == ')' {
                        break;
                    }
                }
                Ok(None)
            }
            _ => self.inline_flags().map(|()| None),
        }
    }

    fn inline_flags(&mut self) -> Result<(), PatternError> {
        loop {
            let next = self.peek();
            self.at += 1;
            match next {
                Some('i') => self.seen.ignore_case = true,
                Some('m') => self.seen.multi_line = true,
                Some('s') => self.seen.single_line = true,
                Some('g' | 'o') => {}
                Some('x') => return unsupported("the flag x (spaces and comments in the pattern)"),
                Some('-') => return unsupported("flags that are switched off"),
                Some(')') => return Ok(()),
                other => return malformed(format!("Sequence (?{}...) not recognized", other.unwrap_or('?'))),
            }
        }
    }

    fn close(&mut self) -> Result<(), PatternError> {
        if self.peek() != Some(')') {
            return malformed("Unmatched parentheses.");
        }
        self.at += 1;
        Ok(())
    }

    fn escape(&mut self) -> Result<Atom, PatternError> {
        let Some(next) = self.peek() else { return malformed("Trailing \\ in expression.") };
        self.at += 1;
        match next {
            'A' => self.both(r"\A"),
            'Z' => self.before_last_line_end(),
            'b' => self.both(r"\b"),
            'B' => self.both(r"\B"),
            'G' => return unsupported("\\G"),
            _ => {
                if let Some(set) = class_escape(next) {
                    self.count_set()?;
                    self.both(&set);
                } else if let Some(digit @ 1..=9) = next.to_digit(10) {
                    self.back_reference(digit as usize)?;
                } else {
                    let character = self.character_escape(next)?;
                    self.literal(character);
                }
                return Ok(Atom::Consuming);
            }
        }
        Ok(Atom::ZeroWidth)
    }

    fn back_reference(&mut self, first: usize) -> Result<(), PatternError> {
        if self.peek().is_some_and(|next| next.is_ascii_digit()) {
            return unsupported("back-references and octal codes of two digits");
        }
        if first > self.groups {
            return malformed(format!("Invalid backreference: \\{first}"));
        }
        if self.flags.ignore_case {
            return unsupported("a case-insensitive back-reference");
        }
        self.fancy = true;
        let _ = write!(self.text, "(?:\\{first})");
        self.shadow.push_str("(?:)");
        Ok(())
    }

    /// Parses the rest of an escape sequence for a character, inside or outside of a class.
    fn character_escape(&mut self, escaped: char) -> Result<char, PatternError> {
        Ok(match escaped {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'f' => '\x0c',
            'e' => '\x1b',
            'a' => '\x07',
            'x' => match self.number(16, 2) {
                Some(code) => char::from(code),
                None => return unsupported("\\x without a number"),
            },
            '0' => char::from(self.number(8, 2).unwrap_or(0)),
            'c' => {
                let Some(control) = self.peek().filter(char::is_ascii) else {
                    return unsupported("\\c at the end");
                };
                self.at += 1;
                char::from(control.to_ascii_uppercase() as u8 ^ 64)
            }
            other => other,
        })
    }

    fn number(&mut self, radix: u32, digits_max: usize) -> Option<u8> {
        let mut value = None;
        for _ in 0..digits_max {
            let Some(digit) = self.peek().and_then(|next| next.to_digit(radix)) else { break };
            self.at += 1;
            value = Some(value.unwrap_or(0) * radix + digit);
        }
        value.and_then(|value| u8::try_from(value).ok())
    }

    fn class(&mut self) -> Result<(), PatternError> {
        let mut out = String::from("[");
        if self.peek() == Some('^') {
            self.at += 1;
            out.push('^');
        }
        let mut first = true;
        loop {
            let Some(next) = self.peek() else { return malformed("Unmatched [] in expression.") };
            if next == ']' && !first {
                self.at += 1;
                break;
            }
            first = false;
            let Some(low) = self.class_item(&mut out)? else { continue };
            let is_range = self.peek() == Some('-') && self.peek_at(1).is_some_and(|next| next != ']');
            if !is_range {
                push_literal(&mut out, low);
                continue;
            }
            self.at += 1;
            let mut set = String::new();
            match self.class_item(&mut set)? {
                Some(high) if high >= low => {
                    push_literal(&mut out, low);
                    out.push('-');
                    push_literal(&mut out, high);
                }
                _ => return malformed("Invalid [] range in expression."),
            }
        }
        out.push(']');
        self.both(&out);
        Ok(())
    }

    fn count_set(&mut self) -> Result<(), PatternError> {
        self.sets += 1;
        if self.sets > SETS_MAX {
            return unsupported(format!("more than {SETS_MAX} character sets"));
        }
        Ok(())
    }

    /// The name of a POSIX class at the current position, if there is one.
    fn posix_name(&mut self) -> Option<String> {
        if self.has_no_posix_end {
            return None;
        }
        let rest = &self.pattern[self.at + 1..];
        let end = rest.windows(2).position(|two| *two == [':', ']']);
        self.has_no_posix_end = end.is_none();
        Some(rest[..end?].iter().take(POSIX_NAME_CHARS).collect())
    }

    /// Translates an item of a class: returns a character, or writes a set to `out` and returns `None`.
    fn class_item(&mut self, out: &mut String) -> Result<Option<char>, PatternError> {
        let Some(next) = self.peek() else { return malformed("Unmatched [] in expression.") };
        self.at += 1;
        match next {
            '[' if self.peek() == Some(':') => {
                let Some(name) = self.posix_name() else { return Ok(Some('[')) };
                let Some(set) = posix_class(&name) else {
                    return unsupported(format!("the class [:{name}:]"));
                };
                self.at += 1 + name.chars().count() + 2;
                self.count_set()?;
                out.push_str(set);
                Ok(None)
            }
            '\\' => {
                let Some(escaped) = self.peek() else { return malformed("Unmatched [] in expression.") };
                self.at += 1;
                if let Some(set) = class_escape(escaped) {
                    self.count_set()?;
                    out.push_str(&set);
                    return Ok(None);
                }
                match escaped {
                    'b' => Ok(Some('\x08')),
                    '1'..='9' => unsupported("an octal code in a class"),
                    other => self.character_escape(other).map(Some),
                }
            }
            other => Ok(Some(other)),
        }
    }
}

/// Maximum number of characters to read of the name of a POSIX class; all names are shorter.
const POSIX_NAME_CHARS: usize = 20;

fn class_escape(letter: char) -> Option<String> {
    Some(match letter {
        'w' => format!("[{LETTER_OR_DIGIT}]"),
        'W' => format!("[^{LETTER_OR_DIGIT}]"),
        's' => format!("[{WHITE_SPACE}]"),
        'S' => format!("[^{WHITE_SPACE}]"),
        'd' => format!("[{DIGIT}]"),
        'D' => format!("[^{DIGIT}]"),
        _ => return None,
    })
}

fn posix_class(name: &str) -> Option<&'static str> {
    Some(match name {
        "alpha" => r"\p{L}",
        "^alpha" => r"\P{L}",
        "digit" => DIGIT,
        "^digit" => r"\P{Nd}",
        "alnum" => r"\p{L}\p{Nd}",
        "upper" => r"\p{Lu}",
        "lower" => r"\p{Ll}",
        "space" => WHITE_SPACE,
        "word" => LETTER_OR_DIGIT,
        "xdigit" => "0-9a-fA-F",
        _ => return None,
    })
}

fn push_literal(out: &mut String, character: char) {
    if character.is_ascii_alphanumeric() || !character.is_ascii() {
        out.push(character);
    } else {
        // Numeric escapes have the same meaning in both crates, inside and outside of classes.
        let _ = write!(out, "\\x{:02x}", character as u32);
    }
}
