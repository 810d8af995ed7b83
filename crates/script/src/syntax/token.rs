//! The scanner: a text becomes tokens.

use std::sync::Arc;

use super::{Dialect, syntax_error, unsupported};
use crate::java_like::Decimal;
use crate::number::java_parse_big;
use crate::{ScriptError, Value};

/// A part of a Groovy text with expressions in it.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    Text(String),
    /// Byte range of an expression within the script.
    Code(usize, usize),
}

#[derive(Debug, Clone)]
pub(crate) enum TokenKind {
    Literal(Value),
    Join(Vec<Part>),
    Name(Arc<str>),
    /// An operator or a bracket.
    Sign(&'static str),
    End,
}

#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub at: usize,
    /// Whether a line ends before the token, outside of round and square brackets.
    pub after_newline: bool,
}

/// Longest first, so that the first match is the right one.
const SIGNS: &[&str] = &[
    "<=>", "==~", "===", "!==", "...", ">>>", "<<=", ">>=", "**=", "?.[", "&&", "||", "==", "!=", "<=", ">=",
    "=~", "!~", "=^", "=$", "!^", "!$", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "++", "--", "?:",
    "??", "?.", "*.", "->", "..", "<<", ">>", "**", "::", ".&", "(", ")", "[", "]", "{", "}", ";", ",", ".",
    "?", ":", "=", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^", "~", "!", "@", "#", "`", "\\",
];

/// Signs that only some languages have; in the others their parts stand alone.
fn sign_exists(sign: &str, dialect: Dialect) -> bool {
    match sign {
        "=^" | "=$" | "!^" | "!$" | "??" => dialect == Dialect::Jexl3,
        "=~" | "!~" => dialect != Dialect::BeanShell,
        "++" | "--" | "<<" | ">>" | ">>>" | "<<=" | ">>=" => !dialect.is_jexl(),
        "==~" | "<=>" | "===" | "!==" | "*." | ".&" | "**" | "**=" | "?.[" => dialect == Dialect::Groovy,
        "?." => matches!(dialect, Dialect::Groovy | Dialect::Jexl3),
        ".." | "..." | "->" => dialect != Dialect::Jexl2,
        "?:" => dialect != Dialect::BeanShell,
        "+=" | "-=" | "*=" | "/=" | "%=" | "&=" | "|=" | "^=" => dialect != Dialect::Jexl2,
        _ => true,
    }
}

pub(crate) struct Scanner<'t> {
    text: &'t str,
    dialect: Dialect,
    at: usize,
    tokens: Vec<Token>,
    brackets: Vec<u8>,
    newline: bool,
    ends_in_comment: bool,
}

/// Scans `text[from..to]`; places are those of the whole text. Also tells whether the text ends in a comment that
/// runs to the end of its line.
pub(crate) fn scan(
    text: &str,
    from: usize,
    to: usize,
    dialect: Dialect,
) -> Result<(Vec<Token>, bool), ScriptError> {
    let mut scanner = Scanner {
        text: &text[..to],
        dialect,
        at: from,
        tokens: Vec::new(),
        brackets: Vec::new(),
        newline: false,
        ends_in_comment: false,
    };
    scanner.run()?;
    Ok((scanner.tokens, scanner.ends_in_comment))
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
            } else if is_name_start(c, self.dialect) {
                self.name();
            } else if c == '"' || c == '\'' {
                self.quoted(c)?;
            } else {
                self.sign()?;
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
                Some('#') if self.byte(1) == b'#' && self.dialect.is_jexl() => self.skip_line(),
                Some('/') if self.byte(1) == b'*' => {
                    let Some(len) = self.rest()[2..].find("*/") else {
                        return Err(syntax_error(self.text, self.at, "the comment has no end"));
                    };
                    self.at += len + 4;
                }
                _ => return Ok(()),
            }
        }
    }

    fn skip_line(&mut self) {
        let end = self.rest().find('\n');
        self.ends_in_comment = end.is_none();
        self.at = end.map_or(self.text.len(), |len| self.at + len);
    }

    fn name(&mut self) {
        let at = self.at;
        let dialect = self.dialect;
        let len = self.rest().find(|c| !is_name_part(c, dialect)).unwrap_or(self.rest().len());
        self.at += len;
        let name = Arc::from(&self.text[at..self.at]);
        self.push(TokenKind::Name(name), at);
    }

    fn sign(&mut self) -> Result<(), ScriptError> {
        let at = self.at;
        let found =
            SIGNS.iter().find(|sign| self.rest().starts_with(**sign) && sign_exists(sign, self.dialect));
        let Some(sign) = found else {
            let c = self.peek().unwrap_or(' ');
            return Err(syntax_error(self.text, at, format!("`{c}` is no part of the language")));
        };
        match *sign {
            "(" | "[" | "{" => {
                self.push(TokenKind::Sign(sign), at);
                self.brackets.push(sign.as_bytes()[0]);
            }
            ")" | "]" | "}" => {
                let open = match *sign {
                    ")" => b'(',
                    "]" => b'[',
                    _ => b'{',
                };
                if self.brackets.last() != Some(&open) {
                    return Err(syntax_error(self.text, at, format!("`{sign}` closes nothing")));
                }
                self.push(TokenKind::Sign(sign), at);
                self.brackets.pop();
            }
            _ => self.push(TokenKind::Sign(sign), at),
        }
        self.at += sign.len();
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
        // `1.5` but not `1..5` or `1.toString()`.
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
        if letter_after_point && self.dialect != Dialect::Groovy {
            return Err(unsupported(self.text, end, "a point behind a number"));
        }
        let plain = &self.text[at..end];
        let short = plain.starts_with('.') || !plain.contains('.');
        if real
            && ((short && self.dialect == Dialect::Jexl2)
                || plain.starts_with('.') && !plain.contains(['e', 'E']))
        {
            // Both versions of JEXL want digits before the point, Groovy too; of BeanShell it is not certain.
            return Err(unsupported(self.text, at, "this way to write a number"));
        }
        let suffix = bytes.get(end).map_or(0, u8::to_ascii_lowercase);
        let jexl = self.dialect.is_jexl();
        let too_long = || unsupported(self.text, at, "a number of this length");
        let (value, suffix_len) = match suffix {
            b'l' if !real => (Value::Long(plain.parse().map_err(|_| too_long())?), 1),
            b'h' if !real && jexl => (Value::BigInteger(java_parse_big(plain).ok_or_else(too_long)?), 1),
            b'g' if !real && self.dialect == Dialect::Groovy => {
                (Value::BigInteger(java_parse_big(plain).ok_or_else(too_long)?), 1)
            }
            b'd' if real || self.dialect != Dialect::Jexl2 => {
                (Value::Double(plain.parse().map_err(|_| too_long())?), 1)
            }
            b'f' if !jexl && self.dialect == Dialect::Groovy => {
                (Value::Float(plain.parse().map_err(|_| too_long())?), 1)
            }
            b'f' | b'b' | b'd' | b'g' | b'h' | b'i' => {
                return Err(unsupported(self.text, end, "this suffix of a number"));
            }
            _ if real && self.dialect == Dialect::Groovy => {
                (Value::Decimal(Decimal::parse(plain).ok_or_else(too_long)?), 0)
            }
            _ if real => (Value::Double(plain.parse().map_err(|_| too_long())?), 0),
            _ => (self.whole(at, plain)?, 0),
        };
        self.at = end + suffix_len;
        self.finish_number(at, value)
    }

    fn whole(&self, at: usize, plain: &str) -> Result<Value, ScriptError> {
        let octal = plain.len() > 1 && plain.starts_with('0');
        let value = if octal {
            i128::from_str_radix(plain, 8).map_err(|_| {
                syntax_error(self.text, at, format!("`{plain}` begins with 0 but is no octal number"))
            })?
        } else {
            java_parse_big(plain).ok_or_else(|| unsupported(self.text, at, "a number of this length"))?
        };
        if let Ok(value) = i32::try_from(value) {
            return Ok(Value::Integer(value));
        }
        match (i64::try_from(value), self.dialect) {
            (_, Dialect::BeanShell) => {
                Err(syntax_error(self.text, at, format!("`{plain}` is too large for an int")))
            }
            (Ok(value), _) => Ok(Value::Long(value)),
            (Err(_), _) => Ok(Value::BigInteger(value)),
        }
    }

    fn finish_number(&mut self, at: usize, value: Value) -> Result<(), ScriptError> {
        if self.peek().is_some_and(|c| is_name_part(c, self.dialect)) {
            return Err(syntax_error(self.text, self.at, "a number runs into a name"));
        }
        self.push(TokenKind::Literal(value), at);
        Ok(())
    }

    fn quoted(&mut self, quote: char) -> Result<(), ScriptError> {
        let at = self.at;
        let triple = self.dialect == Dialect::Groovy
            && self.rest().starts_with([quote; 3].iter().collect::<String>().as_str());
        if triple {
            return Err(unsupported(self.text, at, "a text in triple quotes"));
        }
        self.at += 1;
        let interpolates = self.dialect == Dialect::Groovy && quote == '"';
        let mut parts = Vec::new();
        let mut current = String::new();
        loop {
            let Some(c) = self.peek() else {
                return Err(syntax_error(self.text, at, "the text has no closing quote"));
            };
            match c {
                _ if c == quote => break,
                '\n' | '\r' => {
                    return Err(syntax_error(self.text, at, "the text has no closing quote in its line"));
                }
                '\\' => self.escape(quote, &mut current)?,
                '$' if interpolates => {
                    parts.push(Part::Text(std::mem::take(&mut current)));
                    parts.push(self.interpolation()?);
                }
                _ => {
                    current.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        self.at += 1;
        let kind = if !parts.is_empty() {
            parts.push(Part::Text(current));
            TokenKind::Join(parts)
        } else if self.dialect == Dialect::BeanShell && quote == '\'' {
            let mut units = current.encode_utf16();
            match (units.next(), units.next()) {
                (Some(unit), None) => TokenKind::Literal(Value::Character(unit)),
                _ => {
                    return Err(syntax_error(self.text, at, "a char in single quotes must be one character"));
                }
            }
        } else {
            TokenKind::Literal(Value::Text(current.into()))
        };
        self.push(kind, at);
        Ok(())
    }

    /// `\n` and its like; the backslash is next.
    fn escape(&mut self, quote: char, out: &mut String) -> Result<(), ScriptError> {
        let at = self.at;
        self.at += 1;
        let Some(c) = self.peek() else {
            return Err(syntax_error(self.text, at, "the text has no closing quote"));
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
                    return Err(unsupported(self.text, at, "this escape in a text"));
                };
                self.at += 4;
                out.push(code);
            }
            '\\' => out.push('\\'),
            _ if c == quote => out.push(c),
            // JEXL 2 keeps the backslash before all others, JEXL 3 before those that mean nothing.
            _ if self.dialect == Dialect::Jexl2 => out.extend(['\\', c]),
            'b' => out.push('\u{8}'),
            't' => out.push('\t'),
            'n' => out.push('\n'),
            'f' => out.push('\u{c}'),
            'r' => out.push('\r'),
            _ if self.dialect == Dialect::Jexl3 => out.extend(['\\', c]),
            '"' | '\'' => out.push(c),
            '$' if self.dialect == Dialect::Groovy => out.push('$'),
            _ => return Err(unsupported(self.text, at, "this escape in a text")),
        }
        Ok(())
    }

    /// `${…}` or `$name`; the dollar is next.
    fn interpolation(&mut self) -> Result<Part, ScriptError> {
        let at = self.at;
        if self.byte(1) != b'{' {
            let from = at + 1;
            let len = self.text[from..]
                .find(|c: char| !(c.is_alphanumeric() || c == '_'))
                .unwrap_or(self.text.len() - from);
            let name = &self.text[from..from + len];
            if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
                return Err(syntax_error(
                    self.text,
                    at,
                    "a dollar sign in a text in double quotes must begin a name",
                ));
            }
            self.at = from + len;
            let mut after = self.rest().chars();
            if after.next() == Some('.') && after.next().is_some_and(|c| is_name_start(c, self.dialect)) {
                return Err(unsupported(self.text, self.at, "a property behind `$name` in a text"));
            }
            return Ok(Part::Code(from, from + len));
        }
        let from = at + 2;
        let mut depth = 0_u32;
        for (offset, byte) in self.text.as_bytes()[from..].iter().enumerate() {
            match byte {
                b'{' => depth += 1,
                b'}' if depth == 0 => {
                    self.at = from + offset + 1;
                    return Ok(Part::Code(from, from + offset));
                }
                b'}' => depth -= 1,
                b'\n' => break,
                _ => {}
            }
        }
        Err(syntax_error(self.text, at, "`${` in a text has no closing brace"))
    }
}

pub(crate) fn is_name_start(c: char, dialect: Dialect) -> bool {
    c.is_ascii_alphabetic()
        || c == '_'
        || c == '$'
        || (c == '@' && dialect.is_jexl())
        || (!c.is_ascii() && c.is_alphabetic() && !dialect.is_jexl())
}

fn is_name_part(c: char, dialect: Dialect) -> bool {
    is_name_start(c, dialect) || c.is_ascii_digit()
}
