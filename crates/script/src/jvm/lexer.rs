//! The lexer of Groovy and BeanShell scripts.

use std::sync::Arc;

use super::diagnostic::{syntax, unsupported};
use super::literals;
use crate::decimal::Decimal;
use crate::java_like::JavaLike;
use crate::{Identifiers, ScriptError, Value};

/// A part of a Groovy string with embedded code.
#[derive(Debug, Clone)]
pub(super) enum Piece {
    Text(String),
    /// Code between these offsets of the script.
    Code(usize, usize),
}

#[derive(Debug, Clone)]
pub(super) enum TokenKind {
    /// An identifier or a keyword.
    Name(Arc<str>),
    Literal(Value),
    /// A string with embedded code (Groovy's `GString`).
    Join(Vec<Piece>),
    /// An operator, bracket or separator.
    Symbol(&'static str),
    End,
}

#[derive(Debug, Clone)]
pub(super) struct Token {
    pub kind: TokenKind,
    pub at: usize,
    /// Whether a line ends before the token, outside of parentheses and square brackets.
    pub after_newline: bool,
    /// Whether no white space separates the token from the previous token.
    pub is_adjacent: bool,
}

/// The symbols of both languages. Longer symbols come first, so that the first match is the longest one.
const SYMBOLS: &[&str] = &[
    "...", "<=>", "?=", "==~", "===", "!==", "**=", "<<=", "..<", "?.", "?:", "*.", ".&", "::", "->", "=~",
    "==", "!=", "<=", ">=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<",
    "**", "..", "(", ")", "[", "]", "{", "}", ";", ",", ".", "=", "<", ">", "!", "~", "?", ":", "+", "-",
    "*", "/", "%", "&", "|", "^", "@",
];

/// Operators of Groovy that BeanShell does not have.
const GROOVY_SYMBOLS: &[&str] =
    &["<=>", "?=", "==~", "===", "!==", "**=", "..<", "?.", "?:", "*.", ".&", "->", "=~", "**", "..", "::"];

struct Lexer<'t> {
    text: &'t str,
    language: JavaLike,
    at: usize,
    tokens: Vec<Token>,
    brackets: Vec<u8>,
    after_newline: bool,
}

/// Splits `text[from..to]` into tokens; their offsets refer to the whole text.
pub(super) fn scan(
    text: &str,
    from: usize,
    to: usize,
    language: JavaLike,
) -> Result<Vec<Token>, ScriptError> {
    let mut lexer = Lexer {
        text: &text[..to],
        language,
        at: from,
        tokens: Vec::new(),
        brackets: Vec::new(),
        after_newline: false,
    };
    lexer.run()?;
    Ok(lexer.tokens)
}

/// The names in a script that has been parsed.
pub(super) fn identifiers(text: &str, language: JavaLike) -> Identifiers {
    let mut found = Identifiers::default();
    let mut ranges = vec![(0, text.len())];
    while let Some((from, to)) = ranges.pop() {
        // The script has been scanned successfully before, so that an error is not expected here.
        for token in scan(text, from, to, language).unwrap_or_default() {
            match token.kind {
                TokenKind::Name(name) => found.add(&name),
                TokenKind::Literal(Value::Text(literal)) => found.add_literal(&literal),
                TokenKind::Join(pieces) => ranges.extend(pieces.iter().filter_map(|piece| match piece {
                    Piece::Text(_) => None,
                    Piece::Code(from, to) => Some((*from, *to)),
                })),
                TokenKind::Literal(_) | TokenKind::Symbol(_) | TokenKind::End => {}
            }
        }
    }
    found
}

fn starts_name(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == '$'
}

fn continues_name(c: char) -> bool {
    starts_name(c) || c.is_numeric()
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn groovy(&self) -> bool {
        self.language == JavaLike::Groovy
    }

    fn push(&mut self, kind: TokenKind, at: usize, blank: bool) {
        let inside = matches!(self.brackets.last(), Some(b'(' | b'['));
        let after_newline = std::mem::take(&mut self.after_newline) && !inside;
        self.tokens.push(Token { kind, at, after_newline, is_adjacent: !blank });
    }

    fn run(&mut self) -> Result<(), ScriptError> {
        loop {
            let before = self.at;
            self.skip_blank()?;
            let blank = self.at > before;
            let at = self.at;
            let Some(c) = self.rest().chars().next() else {
                self.push(TokenKind::End, at, true);
                return Ok(());
            };
            let digit_follows = self.rest()[c.len_utf8()..].starts_with(|c: char| c.is_ascii_digit());
            if c.is_ascii_digit() || (c == '.' && digit_follows && !self.follows_value()) {
                self.number(blank)?;
            } else if starts_name(c) && !(c == '$' && self.rest().starts_with("$/") && self.groovy()) {
                let len = self.rest().find(|c| !continues_name(c)).unwrap_or(self.rest().len());
                self.at += len;
                self.push(TokenKind::Name(Arc::from(&self.text[at..self.at])), at, blank);
            } else if c == '"' || c == '\'' {
                self.quoted(c, blank)?;
            } else if c == '/' && self.groovy() && !self.follows_value() {
                self.slashy(blank)?;
            } else if c == '$' && self.groovy() {
                self.dollar_slashy(blank)?;
            } else {
                self.symbol(blank)?;
            }
        }
    }

    /// Whether the previous token ends a value. In this case, a slash is a division, and a point selects a member.
    fn follows_value(&self) -> bool {
        match self.tokens.last().map(|token| &token.kind) {
            Some(TokenKind::Name(name)) => !matches!(
                &**name,
                "return" | "in" | "case" | "assert" | "else" | "throw" | "println" | "print"
            ),
            Some(TokenKind::Literal(_) | TokenKind::Join(_)) => true,
            Some(TokenKind::Symbol(symbol)) => matches!(*symbol, ")" | "]" | "}"),
            _ => false,
        }
    }

    fn skip_blank(&mut self) -> Result<(), ScriptError> {
        loop {
            let rest = self.rest();
            if rest.starts_with("//") || (self.at == 0 && rest.starts_with("#!")) {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let Some(len) = comment.find("*/") else {
                    return Err(syntax(self.text, self.at, "the comment is not closed"));
                };
                self.at += len + 4;
            } else if rest.starts_with("\\\n") || rest.starts_with("\\\r\n") {
                self.at += 2;
            } else {
                match rest.chars().next() {
                    Some('\n') => {
                        self.after_newline = true;
                        self.at += 1;
                    }
                    Some(c) if c.is_whitespace() || c == '\u{feff}' => self.at += c.len_utf8(),
                    _ => return Ok(()),
                }
            }
        }
    }

    fn symbol(&mut self, blank: bool) -> Result<(), ScriptError> {
        let at = self.at;
        let groovy = self.groovy();
        let found = SYMBOLS
            .iter()
            .find(|symbol| self.rest().starts_with(**symbol) && (groovy || !GROOVY_SYMBOLS.contains(symbol)));
        let Some(symbol) = found else {
            return Err(syntax(self.text, at, "unexpected character"));
        };
        let open = match *symbol {
            ")" => b'(',
            "]" => b'[',
            "}" => b'{',
            _ => 0,
        };
        if open != 0 && self.brackets.last() != Some(&open) {
            return Err(syntax(self.text, at, format!("`{symbol}` has no matching opening bracket")));
        }
        self.push(TokenKind::Symbol(symbol), at, blank);
        if open != 0 {
            self.brackets.pop();
        }
        if matches!(*symbol, "(" | "[" | "{") {
            self.brackets.push(symbol.as_bytes()[0]);
        }
        self.at += symbol.len();
        Ok(())
    }

    fn number(&mut self, blank: bool) -> Result<(), ScriptError> {
        let at = self.at;
        let bytes = self.text.as_bytes();
        let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
        let groovy = self.groovy();
        let radix = match (byte(at), byte(at + 1)) {
            (b'0', b'x' | b'X') => 16,
            (b'0', b'b' | b'B') if groovy => 2,
            _ => 10,
        };
        if radix != 10 {
            let len = bytes[at + 2..].iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
            let digits = self.text[at + 2..at + 2 + len].replace('_', "");
            let long = digits.ends_with(['l', 'L']);
            let value = u64::from_str_radix(digits.trim_end_matches(['l', 'L']), radix)
                .map_err(|_| unsupported(self.text, at, "this number"))?;
            let value = match u32::try_from(value) {
                Ok(value) if !long => Value::Integer(value as i32),
                _ => Value::Long(value as i64),
            };
            self.at = at + 2 + len;
            self.push(TokenKind::Literal(value), at, blank);
            return Ok(());
        }
        let digits = |from: usize| {
            bytes[from..].iter().take_while(|b| b.is_ascii_digit() || (groovy && **b == b'_')).count()
        };
        let mut end = at + digits(at);
        let mut real = false;
        if byte(end) == b'.' && byte(end + 1).is_ascii_digit() {
            real = true;
            end += 1 + digits(end + 1);
        } else if byte(end) == b'.'
            && !groovy
            && !byte(end + 1).is_ascii_alphabetic()
            && byte(end + 1) != b'_'
        {
            real = true;
            end += 1;
        }
        if matches!(byte(end), b'e' | b'E') {
            let sign = usize::from(matches!(byte(end + 1), b'+' | b'-'));
            let len = digits(end + 1 + sign);
            if len > 0 {
                real = true;
                end += 1 + sign + len;
            }
        }
        if byte(end) == b'.' && !groovy {
            return Err(syntax(self.text, end, "a point after a number"));
        }
        let plain = self.text[at..end].replace('_', "");
        let suffix = byte(end).to_ascii_lowercase();
        let refused = || unsupported(self.text, at, "this number");
        let (value, taken) = match suffix {
            b'l' if !real => (Value::Long(plain.parse().map_err(|_| refused())?), 1),
            b'i' if !real && groovy => (Value::Integer(plain.parse().map_err(|_| refused())?), 1),
            b'g' if !real && groovy => (Value::BigInteger(plain.parse().map_err(|_| refused())?), 1),
            b'g' if groovy => (Value::Decimal(Decimal::parse(&plain).ok_or_else(refused)?), 1),
            b'd' => (Value::Double(plain.parse().map_err(|_| refused())?), 1),
            b'f' => (Value::Float(plain.parse().map_err(|_| refused())?), 1),
            _ if real && groovy => (Value::Decimal(Decimal::parse(&plain).ok_or_else(refused)?), 0),
            _ if real => (Value::Double(plain.parse().map_err(|_| refused())?), 0),
            _ => (self.integer(at, &plain)?, 0),
        };
        self.at = end + taken;
        if self.rest().starts_with(starts_name) {
            return Err(syntax(self.text, self.at, "a name directly after a number"));
        }
        self.push(TokenKind::Literal(value), at, blank);
        Ok(())
    }

    fn integer(&self, at: usize, plain: &str) -> Result<Value, ScriptError> {
        let octal = plain.len() > 1 && plain.starts_with('0');
        let value = i128::from_str_radix(plain, if octal { 8 } else { 10 })
            .map_err(|_| syntax(self.text, at, format!("`{plain}` is not a number")))?;
        if let Ok(value) = i32::try_from(value) {
            return Ok(Value::Integer(value));
        }
        match i64::try_from(value) {
            _ if !self.groovy() => Err(syntax(self.text, at, format!("`{plain}` is too large for an int"))),
            Ok(value) => Ok(Value::Long(value)),
            Err(_) => Ok(Value::BigInteger(value)),
        }
    }

    fn quoted(&mut self, quote: char, blank: bool) -> Result<(), ScriptError> {
        let at = self.at;
        let groovy = self.groovy();
        let triple: String = [quote; 3].iter().collect();
        let long = groovy && self.rest().starts_with(&triple);
        self.at += if long { 3 } else { 1 };
        let mut pieces = Vec::new();
        let mut current = String::new();
        loop {
            let Some(c) = self.rest().chars().next() else {
                return Err(syntax(self.text, at, "the string has no closing quote"));
            };
            if long && self.rest().starts_with(&triple) {
                self.at += 3;
                break;
            }
            match c {
                _ if c == quote && !long => {
                    self.at += 1;
                    break;
                }
                '\n' | '\r' if !long => {
                    return Err(syntax(self.text, at, "the string has no closing quote on its line"));
                }
                '\\' => self.escape(&mut current)?,
                '$' if groovy && quote == '"' => {
                    pieces.push(Piece::Text(std::mem::take(&mut current)));
                    self.interpolation(&mut pieces)?;
                }
                '\r' if self.rest().starts_with("\r\n") => self.at += 1,
                _ => {
                    current.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        let kind = if !pieces.is_empty() {
            pieces.push(Piece::Text(current));
            TokenKind::Join(pieces)
        } else if !groovy && quote == '\'' {
            let mut units = current.encode_utf16();
            match (units.next(), units.next()) {
                (Some(unit), None) => TokenKind::Literal(Value::Character(unit)),
                _ => return Err(syntax(self.text, at, "a char in single quotes must be one character")),
            }
        } else if !groovy {
            TokenKind::Literal(Value::Text(literals::interned(&current)))
        } else {
            TokenKind::Literal(Value::Text(current.into()))
        };
        self.push(kind, at, blank);
        Ok(())
    }

    /// Reads an escape sequence such as `\n`; the next character is the backslash.
    fn escape(&mut self, out: &mut String) -> Result<(), ScriptError> {
        let at = self.at;
        self.at += 1;
        let Some(c) = self.rest().chars().next() else {
            return Err(syntax(self.text, at, "the string has no closing quote"));
        };
        self.at += c.len_utf8();
        match c {
            'u' => {
                let rest = self.rest().trim_start_matches('u');
                let skipped = self.rest().len() - rest.len();
                let code =
                    rest.get(..4).and_then(|hex| u32::from_str_radix(hex, 16).ok()).and_then(char::from_u32);
                let Some(code) = code else {
                    return Err(unsupported(self.text, at, "this escape sequence"));
                };
                self.at += skipped + 4;
                out.push(code);
            }
            '\\' | '"' | '\'' => out.push(c),
            'b' => out.push('\u{8}'),
            't' => out.push('\t'),
            'n' => out.push('\n'),
            'f' => out.push('\u{c}'),
            'r' => out.push('\r'),
            '0'..='7' => {
                let mut value = c.to_digit(8).unwrap_or(0);
                while let Some(digit) = self.rest().chars().next().and_then(|c| c.to_digit(8)) {
                    if value * 8 + digit > 255 {
                        break;
                    }
                    value = value * 8 + digit;
                    self.at += 1;
                }
                out.extend(char::from_u32(value));
            }
            '$' if self.groovy() => out.push('$'),
            '\n' if self.groovy() => {}
            _ => return Err(syntax(self.text, at, "invalid escape sequence")),
        }
        Ok(())
    }

    /// Reads `${…}` or `$name.name`; the next character is the dollar sign.
    fn interpolation(&mut self, pieces: &mut Vec<Piece>) -> Result<(), ScriptError> {
        let at = self.at;
        if !self.rest().starts_with("${") {
            let name_len =
                |rest: &str| rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            let from = at + 1;
            let first = &self.text[from..];
            let mut to = from + name_len(first);
            if to == from || first.starts_with(|c: char| c.is_ascii_digit()) {
                return Err(syntax(
                    self.text,
                    at,
                    "a dollar sign in a double-quoted string must be followed by a name or by `{`",
                ));
            }
            while self.text[to..].starts_with('.')
                && self.text[to + 1..].starts_with(|c: char| c.is_alphabetic() || c == '_')
            {
                to += 1 + name_len(&self.text[to + 1..]);
            }
            pieces.push(Piece::Code(from, to));
            self.at = to;
            return Ok(());
        }
        let from = at + 2;
        let (mut depth, mut quote) = (0_u32, None);
        let mut escaped = false;
        for (offset, c) in self.text[from..].char_indices() {
            if escaped {
                escaped = false;
                continue;
            }
            match (c, quote) {
                ('\\', _) => escaped = true,
                (c, Some(open)) if c == open => quote = None,
                (_, Some(_)) => {}
                ('"' | '\'', None) => quote = Some(c),
                ('{', None) => depth += 1,
                ('}', None) if depth == 0 => {
                    self.at = from + offset + 1;
                    pieces.push(Piece::Code(from, from + offset));
                    return Ok(());
                }
                ('}', None) => depth -= 1,
                _ => {}
            }
        }
        Err(syntax(self.text, at, "`${` in a string has no closing brace"))
    }

    /// Reads Groovy's `/pattern/`.
    fn slashy(&mut self, blank: bool) -> Result<(), ScriptError> {
        self.delimited(("/", "/"), &[("\\/", '/')], blank, "the pattern has no closing slash")
    }

    /// Reads Groovy's `$/text/$`, in which `$$` is a dollar sign and `$/` a slash.
    fn dollar_slashy(&mut self, blank: bool) -> Result<(), ScriptError> {
        self.delimited(("$/", "/$"), &[("$$", '$'), ("$/", '/')], blank, "the string has no closing `/$`")
    }

    /// Reads a string between two delimiters, with these escape sequences and `${…}`.
    fn delimited(
        &mut self,
        (start, end): (&str, &str),
        escapes: &[(&str, char)],
        blank: bool,
        unclosed: &str,
    ) -> Result<(), ScriptError> {
        let at = self.at;
        self.at += start.len();
        let mut pieces = Vec::new();
        let mut current = String::new();
        loop {
            let rest = self.rest();
            let Some(c) = rest.chars().next() else {
                return Err(syntax(self.text, at, unclosed));
            };
            if rest.starts_with(end) {
                self.at += end.len();
                break;
            }
            if let Some((escape, meant)) = escapes.iter().find(|(escape, _)| rest.starts_with(escape)) {
                current.push(*meant);
                self.at += escape.len();
            } else if c == '$' && rest[1..].starts_with(|c: char| c == '{' || c.is_alphabetic() || c == '_') {
                pieces.push(Piece::Text(std::mem::take(&mut current)));
                self.interpolation(&mut pieces)?;
            } else {
                current.push(c);
                self.at += c.len_utf8();
            }
        }
        let kind = if pieces.is_empty() {
            TokenKind::Literal(Value::Text(current.into()))
        } else {
            pieces.push(Piece::Text(current));
            TokenKind::Join(pieces)
        };
        self.push(kind, at, blank);
        Ok(())
    }
}
