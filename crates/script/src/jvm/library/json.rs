//! The classes `JsonSlurper`, `JsonOutput` and `JsonBuilder`.

use super::super::fault::{Fault, Outcome, thrown, unsupported};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::value::V;
use super::{print, time};
use crate::Value;
use crate::decimal::Decimal;

/// Maximum nesting depth of a JSON text.
const DEPTH_MAX: u32 = 100;

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: u32,
}

/// Parses JSON. Maps preserve the order of members; integers become `Integer`, `Long` or `BigInteger`, and other numbers
/// `BigDecimal`.
pub fn parse(machine: &mut Machine<'_>, text: &str) -> Outcome {
    machine.spend_text(text.len() * 16)?;
    if text.trim().is_empty() {
        return Err(thrown("IllegalArgumentException", "Text must not be null or empty"));
    }
    let mut reader = Reader { text, at: 0, depth: 0 };
    let value = reader.value()?;
    reader.skip_blank();
    if reader.at < text.len() {
        return Err(reader.unexpected_character());
    }
    Ok(value)
}

impl Reader<'_> {
    fn unexpected_character(&self) -> Fault {
        let found = self.text[self.at..].chars().next();
        thrown(
            "JsonException",
            match found {
                Some(c) => format!(
                    "Unable to determine the current character, it is not a string, number, array, or object: '{c}'"
                ),
                None => "the JSON text ends too early".into(),
            },
        )
    }

    fn skip_blank(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
    }

    fn accept(&mut self, sign: char) -> bool {
        self.skip_blank();
        let found = self.text[self.at..].starts_with(sign);
        if found {
            self.at += 1;
        }
        found
    }

    fn expect(&mut self, sign: char) -> Result<(), Fault> {
        if self.accept(sign) { Ok(()) } else { Err(self.unexpected_character()) }
    }

    fn value(&mut self) -> Outcome {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(unsupported("JSON of this depth"));
        }
        self.skip_blank();
        let rest = &self.text[self.at..];
        let value = match rest.bytes().next() {
            Some(b'{') => self.object()?,
            Some(b'[') => self.array()?,
            Some(b'"') => V::text(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => {
                let words = [("true", V::truth(true)), ("false", V::truth(false)), ("null", V::NULL)];
                let Some((word, value)) = words.into_iter().find(|(word, _)| rest.starts_with(word)) else {
                    return Err(self.unexpected_character());
                };
                self.at += word.len();
                value
            }
        };
        self.depth -= 1;
        Ok(value)
    }

    fn object(&mut self) -> Outcome {
        self.at += 1;
        let V::Map(map) = V::map(Vec::new()) else { return Err(self.unexpected_character()) };
        if self.accept('}') {
            return Ok(V::Map(map));
        }
        loop {
            self.skip_blank();
            if !self.text[self.at..].starts_with('"') {
                return Err(self.unexpected_character());
            }
            let key = self.string()?;
            self.expect(':')?;
            let value = self.value()?;
            map.put(V::text(&key), value);
            if self.accept('}') {
                return Ok(V::Map(map));
            }
            self.expect(',')?;
        }
    }

    fn array(&mut self) -> Outcome {
        self.at += 1;
        let mut items = Vec::new();
        if self.accept(']') {
            return Ok(V::list(items));
        }
        loop {
            items.push(self.value()?);
            if self.accept(']') {
                return Ok(V::list(items));
            }
            self.expect(',')?;
        }
    }

    fn string(&mut self) -> Result<String, Fault> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(len) = rest.find(['"', '\\']) else { return Err(self.unexpected_character()) };
            out.push_str(&rest[..len]);
            self.at += len + 1;
            if rest[len..].starts_with('"') {
                return Ok(out);
            }
            let escape = self.text[self.at..].chars().next().ok_or_else(|| self.unexpected_character())?;
            self.at += escape.len_utf8();
            match escape {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                'r' => out.push('\r'),
                'b' => out.push('\u{8}'),
                'f' => out.push('\u{c}'),
                'u' => {
                    let mut units = vec![self.unit()?];
                    while (0xd800..0xdc00).contains(units.last().unwrap_or(&0))
                        && self.text[self.at..].starts_with("\\u")
                    {
                        self.at += 2;
                        units.push(self.unit()?);
                    }
                    out.push_str(&String::from_utf16_lossy(&units));
                }
                other => out.push(other),
            }
        }
    }

    fn unit(&mut self) -> Result<u16, Fault> {
        let unit =
            self.text.get(self.at..self.at + 4).and_then(|digits| u16::from_str_radix(digits, 16).ok());
        self.at += 4;
        unit.ok_or_else(|| thrown("JsonException", "invalid escape sequence"))
    }

    fn number(&mut self) -> Outcome {
        let rest = &self.text[self.at..];
        let len =
            rest.find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E')).unwrap_or(rest.len());
        let digits = &rest[..len];
        self.at += len;
        if digits.contains(['.', 'e', 'E']) {
            return Decimal::parse(digits)
                .map(|value| V::Plain(Value::Decimal(value)))
                .ok_or_else(|| thrown("JsonException", format!("`{digits}` is not a number")));
        }
        if let Ok(value) = digits.parse::<i32>() {
            return Ok(V::int(i64::from(value)));
        }
        if let Ok(value) = digits.parse::<i64>() {
            return Ok(V::long(value));
        }
        digits
            .parse()
            .map(|value| V::Plain(Value::BigInteger(value)))
            .map_err(|_| thrown("JsonException", format!("`{digits}` is not a number")))
    }
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    out.push('"');
}

/// Implements `JsonOutput.toJson`.
pub fn write(machine: &mut Machine<'_>, value: &V) -> Result<String, Fault> {
    let mut out = String::new();
    write_value(machine, value, &mut out, 0)?;
    Ok(out)
}

fn write_value(machine: &mut Machine<'_>, value: &V, out: &mut String, depth: u32) -> Result<(), Fault> {
    if depth > DEPTH_MAX {
        return Err(unsupported("JSON of this depth"));
    }
    machine.spend(1)?;
    machine.check_stack()?;
    machine.check_text(out.len())?;
    match value {
        V::Plain(Value::Text(text)) => {
            machine.spend_text(text.len())?;
            quote(text, out);
        }
        V::Plain(Value::Character(unit)) => quote(&String::from_utf16_lossy(&[*unit]), out),
        V::Plain(plain) => out.push_str(&plain.to_java_string()),
        V::List(_) | V::Array(_) => {
            out.push('[');
            for (at, item) in value.items().unwrap_or_default().iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_value(machine, item, out, depth + 1)?;
            }
            out.push(']');
        }
        V::Map(map) => {
            out.push('{');
            for (at, (key, value)) in map.ordered().iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                quote(&print::java(machine, key)?, out);
                out.push(':');
                write_value(machine, value, out, depth + 1)?;
            }
            out.push('}');
        }
        V::Object(object) => match &**object {
            Object::Date(ms) => {
                let text = time::format(
                    machine,
                    "yyyy-MM-dd'T'HH:mm:ssZ",
                    ms.get(),
                    Some(&jiff::tz::TimeZone::UTC),
                )?;
                quote(&text, out);
            }
            Object::Builder(text, _) => quote(&text.borrow().clone(), out),
            Object::Uuid(text) => quote(text, out),
            Object::Json(content) => {
                let content = content.borrow().clone();
                write_value(machine, &content, out, depth + 1)?;
            }
            _ => return Err(unsupported(format!("JSON of {}", value.kind()))),
        },
        other => return Err(unsupported(format!("JSON of {}", other.kind()))),
    }
    Ok(())
}

/// Implements `JsonOutput.prettyPrint`, which indents by four spaces per level.
pub fn pretty_print(text: &str) -> String {
    let mut out = String::new();
    let mut level = 0_usize;
    let mut chars = text.chars().peekable();
    let line = |out: &mut String, level: usize| {
        out.push('\n');
        out.push_str(&"    ".repeat(level));
    };
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                out.push('"');
                let mut escaped = false;
                for c in chars.by_ref() {
                    out.push(c);
                    if escaped {
                        escaped = false;
                    } else if c == '\\' {
                        escaped = true;
                    } else if c == '"' {
                        break;
                    }
                }
            }
            '{' | '[' => {
                out.push(c);
                level += 1;
                line(&mut out, level);
            }
            '}' | ']' => {
                level = level.saturating_sub(1);
                line(&mut out, level);
                out.push(c);
            }
            ',' => {
                out.push(',');
                line(&mut out, level);
            }
            ':' => out.push_str(": "),
            c if c.is_whitespace() => {}
            c => out.push(c),
        }
    }
    out
}
