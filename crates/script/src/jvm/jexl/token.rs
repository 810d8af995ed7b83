//! The scanner, which splits a script into tokens.

use std::sync::Arc;

use busyhour_java::parse_wide;

use super::super::diagnostic::{syntax, unsupported};
use crate::language::Dialect;
use crate::{Identifiers, ScriptError, Value};

#[derive(Debug, Clone)]
pub(in crate::jvm) enum TokenKind {
    Literal(Value),
    Name(Arc<str>),
    /// An operator, bracket or separator.
    Symbol(&'static str),
    End,
}

#[derive(Debug, Clone)]
pub(in crate::jvm) struct Token {
    pub kind: TokenKind,
    pub at: usize,
    /// Whether a line ends before the token, outside of round and square brackets.
    pub after_newline: bool,
}

/// The symbols of both versions. Longer symbols come first, so that the first match is the longest one.
const SYMBOLS: &[&str] = &[
    "...", "&&", "||", "==", "!=", "<=", ">=", "=~", "!~", "=^", "=$", "!^", "!$", "+=", "-=", "*=", "/=",
    "%=", "&=", "|=", "^=", "?:", "??", "?.", "->", "..", "::", "(", ")", "[", "]", "{", "}", ";", ",", ".",
    "?", ":", "=", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^", "~", "!", "@", "#", "`", "\\",
];

/// Whether the dialect has the operator. JEXL 2 reads the characters of JEXL 3's additional operators as separate
/// operators.
fn has_symbol(symbol: &str, dialect: Dialect) -> bool {
    match symbol {
        "=^" | "=$" | "!^" | "!$" | "??" | "?." | ".." | "..." | "->" | "+=" | "-=" | "*=" | "/=" | "%="
        | "&=" | "|=" | "^=" => dialect == Dialect::Jexl3,
        _ => true,
    }
}

pub(in crate::jvm) struct Scanner<'t> {
    text: &'t str,
    dialect: Dialect,
    at: usize,
    tokens: Vec<Token>,
    brackets: Vec<u8>,
    newline: bool,
}

/// Splits a script into tokens.
pub(in crate::jvm) fn scan(text: &str, dialect: Dialect) -> Result<Vec<Token>, ScriptError> {
    let mut scanner =
        Scanner { text, dialect, at: 0, tokens: Vec::new(), brackets: Vec::new(), newline: false };
    scanner.run()?;
    Ok(scanner.tokens)
}

/// The names in a script that has been parsed.
pub(in crate::jvm) fn identifiers(text: &str, dialect: Dialect) -> Identifiers {
    let mut found = Identifiers::default();
    // The script has been scanned successfully before, so that an error is not expected here.
    for token in scan(text, dialect).unwrap_or_default() {
        match token.kind {
            TokenKind::Name(name) => found.add(&name),
            TokenKind::Literal(Value::Text(literal)) => found.add_literal(&literal),
            TokenKind::Literal(_) | TokenKind::Symbol(_) | TokenKind::End => {}
        }
    }
    found
}

impl Scanner<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    fn push(&mut self, kind: TokenKind, at: usize) {
        let inside = matches!(self.brackets.last(), Some(b'(' | b'['));
        let after_newline = std::mem::take(&mut self.newline) && !inside;
        self.tokens.push(Token { kind, at, after_newline });
    }

    fn run(&mut self) -> Result<(), ScriptError> {
        loop {
            self.skip_blank()?;
            let at = self.at;
            let Some(c) = self.peek() else {
                self.push(TokenKind::End, at);
                return Ok(());
            };
            if c.is_ascii_digit() || (c == '.' && self.byte(1).is_ascii_digit()) {
                self.number()?;
            } else if is_name_start(c) {
                self.name();
            } else if c == '"' || c == '\'' {
                self.quoted(c)?;
            } else {
                self.symbol()?;
            }
        }
    }

    fn skip_blank(&mut self) -> Result<(), ScriptError> {
        loop {
            match self.peek() {
                Some('\n') => {
                    self.newline = true;
                    self.at += 1;
                }
                Some(' ' | '\t' | '\r' | '\u{c}') => self.at += 1,
                Some('/') if self.byte(1) == b'/' => self.skip_line(),
                Some('#') if self.byte(1) == b'#' => self.skip_line(),
                Some('/') if self.byte(1) == b'*' => {
                    let Some(len) = self.rest()[2..].find("*/") else {
                        return Err(syntax(self.text, self.at, "the comment is not closed"));
                    };
                    self.at += len + 4;
                }
                _ => return Ok(()),
            }
        }
    }

    fn skip_line(&mut self) {
        self.at = self.rest().find('\n').map_or(self.text.len(), |len| self.at + len);
    }

    fn name(&mut self) {
        let at = self.at;
        let len = self.rest().find(|c| !is_name_part(c)).unwrap_or(self.rest().len());
        self.at += len;
        let name = Arc::from(&self.text[at..self.at]);
        self.push(TokenKind::Name(name), at);
    }

    fn symbol(&mut self) -> Result<(), ScriptError> {
        let at = self.at;
        let found = SYMBOLS
            .iter()
            .find(|symbol| self.rest().starts_with(**symbol) && has_symbol(symbol, self.dialect));
        let Some(symbol) = found else {
            let c = self.peek().unwrap_or(' ');
            return Err(syntax(self.text, at, format!("unexpected character `{c}`")));
        };
        match *symbol {
            "(" | "[" | "{" => {
                self.push(TokenKind::Symbol(symbol), at);
                self.brackets.push(symbol.as_bytes()[0]);
            }
            ")" | "]" | "}" => {
                let open = match *symbol {
                    ")" => b'(',
                    "]" => b'[',
                    _ => b'{',
                };
                if self.brackets.last() != Some(&open) {
                    return Err(syntax(self.text, at, format!("`{symbol}` has no matching opening bracket")));
                }
                self.push(TokenKind::Symbol(symbol), at);
                self.brackets.pop();
            }
            _ => self.push(TokenKind::Symbol(symbol), at),
        }
        self.at += symbol.len();
        Ok(())
    }

    fn number(&mut self) -> Result<(), ScriptError> {
        let at = self.at;
        let bytes = self.text.as_bytes();
        if self.byte(0) == b'0' && matches!(self.byte(1), b'x' | b'X') {
            let len = bytes[at + 2..].iter().take_while(|b| b.is_ascii_hexdigit()).count();
            let value =
                i64::from_str_radix(&self.text[at + 2..at + 2 + len], 16).ok().filter(|v| *v <= 0x7fff_ffff);
            let Some(value) = value else {
                return Err(unsupported(self.text, at, "this hexadecimal number"));
            };
            self.at += 2 + len;
            return self.finish_number(at, Value::Integer(value as i32));
        }
        let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
        let mut end = at + digits(at);
        let mut real = false;
        // Accepts `1.5`, but not `1..5` or `1.toString()`.
        if bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
            real = true;
            end += 1 + digits(end + 1);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let len = digits(end + 1 + sign);
            if len > 0 {
                real = true;
                end += 1 + sign + len;
            }
        }
        let letter_after_point =
            bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_alphabetic);
        if letter_after_point {
            return Err(unsupported(self.text, end, "a point after a number"));
        }
        let plain = &self.text[at..end];
        let short = plain.starts_with('.') || !plain.contains('.');
        if real
            && ((short && self.dialect == Dialect::Jexl2)
                || plain.starts_with('.') && !plain.contains(['e', 'E']))
        {
            // Both versions require digits before the point.
            return Err(unsupported(self.text, at, "this number format"));
        }
        let suffix = bytes.get(end).map_or(0, u8::to_ascii_lowercase);
        let too_long = || unsupported(self.text, at, "a number of this length");
        let (value, suffix_len) = match suffix {
            b'l' if !real => (Value::Long(plain.parse().map_err(|_| too_long())?), 1),
            b'h' if !real => (Value::BigInteger(parse_wide(plain).ok_or_else(too_long)?), 1),
            b'd' if real || self.dialect != Dialect::Jexl2 => {
                (Value::Double(plain.parse().map_err(|_| too_long())?), 1)
            }
            b'f' | b'b' | b'd' | b'g' | b'h' | b'i' => {
                return Err(unsupported(self.text, end, "this suffix of a number"));
            }
            _ if real => (Value::Double(plain.parse().map_err(|_| too_long())?), 0),
            _ => (self.integer(at, plain)?, 0),
        };
        self.at = end + suffix_len;
        self.finish_number(at, value)
    }

    fn integer(&self, at: usize, plain: &str) -> Result<Value, ScriptError> {
        let octal = plain.len() > 1 && plain.starts_with('0');
        let value = if octal {
            i128::from_str_radix(plain, 8).map_err(|_| {
                syntax(self.text, at, format!("`{plain}` begins with 0 but is not an octal number"))
            })?
        } else {
            parse_wide(plain).ok_or_else(|| unsupported(self.text, at, "a number of this length"))?
        };
        if let Ok(value) = i32::try_from(value) {
            return Ok(Value::Integer(value));
        }
        Ok(i64::try_from(value).map_or(Value::BigInteger(value), Value::Long))
    }

    fn finish_number(&mut self, at: usize, value: Value) -> Result<(), ScriptError> {
        if self.peek().is_some_and(is_name_part) {
            return Err(syntax(self.text, self.at, "a name directly after a number"));
        }
        self.push(TokenKind::Literal(value), at);
        Ok(())
    }

    fn quoted(&mut self, quote: char) -> Result<(), ScriptError> {
        let at = self.at;
        self.at += 1;
        let mut current = String::new();
        loop {
            let Some(c) = self.peek() else {
                return Err(syntax(self.text, at, "the string has no closing quote"));
            };
            match c {
                _ if c == quote => break,
                '\n' | '\r' => {
                    return Err(syntax(self.text, at, "the string has no closing quote on its line"));
                }
                '\\' => self.escape(quote, &mut current)?,
                _ => {
                    current.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        self.at += 1;
        self.push(TokenKind::Literal(Value::Text(current.into())), at);
        Ok(())
    }

    /// Reads an escape sequence such as `\n`; the next character is the backslash.
    fn escape(&mut self, quote: char, out: &mut String) -> Result<(), ScriptError> {
        let at = self.at;
        self.at += 1;
        let Some(c) = self.peek() else {
            return Err(syntax(self.text, at, "the string has no closing quote"));
        };
        self.at += c.len_utf8();
        match c {
            'u' => {
                let code = self
                    .rest()
                    .get(..4)
                    .and_then(|hex| u32::from_str_radix(hex, 16).ok())
                    .and_then(char::from_u32);
                let Some(code) = code else {
                    return Err(unsupported(self.text, at, "this escape sequence"));
                };
                self.at += 4;
                out.push(code);
            }
            '\\' => out.push('\\'),
            _ if c == quote => out.push(c),
            // JEXL 2 keeps the backslash before every other character. JEXL 3 keeps it only if no escape sequence begins there.
            _ if self.dialect == Dialect::Jexl2 => out.extend(['\\', c]),
            'b' => out.push('\u{8}'),
            't' => out.push('\t'),
            'n' => out.push('\n'),
            'f' => out.push('\u{c}'),
            'r' => out.push('\r'),
            _ => out.extend(['\\', c]),
        }
        Ok(())
    }
}

fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '_' | '$' | '@')
}

fn is_name_part(c: char) -> bool {
    is_name_start(c) || c.is_ascii_digit()
}
