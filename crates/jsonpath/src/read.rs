//! Parses JSON as in json-smart's permissive mode. Supports the syntax that occurs in responses.

use std::collections::HashMap;

use busyhour_slices::run_on_other_thread;

use crate::value::Value;

/// The text is not JSON, even in permissive mode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("net.minidev.json.parser.ParseException: Unexpected {unexpected}")]
pub struct NotJson {
    /// The unexpected character or token and its position, as in json-smart's message.
    pub unexpected: String,
}

/// The result of Java's `String.length`: the number of UTF-16 code units.
fn utf16_length(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

/// Maximum nesting depth of arrays and objects; the same limit as in json-smart.
const DEPTH_MAX: u32 = 400;

/// Parses a value and ignores the text after it. As in json-smart, strings may be unquoted or have single quotes, and extra
/// commas are allowed. An HTML page is therefore a single string.
///
/// # Errors
/// An array, object or string is not closed, or a key is missing.
pub fn read(text: &str) -> Result<Value, NotJson> {
    run_on_other_thread(text.len(), || parse_value(text))
}

fn parse_value(text: &str) -> Result<Value, NotJson> {
    let mut reader = Reader { text, bytes: text.as_bytes(), at: 0, depth: 0 };
    reader.skip_space();
    if reader.at == text.len() {
        return Ok(Value::Text(String::new()));
    }
    reader.value(b"")
}

/// Members of an object, in the order of their first appearance.
#[derive(Default)]
struct Members {
    all: Vec<(String, Value)>,
    /// Position of each key in `all`; empty while there are at most [`LINEAR_MAX`] members.
    positions: HashMap<String, usize>,
}

/// Number of members up to which keys are found by a linear search.
const LINEAR_MAX: usize = 16;

impl Members {
    fn set(&mut self, key: String, value: Value) {
        let existing = if self.all.len() <= LINEAR_MAX {
            self.all.iter().position(|(known, _)| *known == key)
        } else {
            if self.positions.is_empty() {
                self.positions = self.all.iter().map(|(key, _)| key.clone()).zip(0..).collect();
            }
            self.positions.get(&key).copied()
        };
        match existing {
            Some(position) => self.all[position].1 = value,
            None => {
                if !self.positions.is_empty() {
                    self.positions.insert(key.clone(), self.all.len());
                }
                self.all.push((key, value));
            }
        }
    }
}

struct Reader<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    depth: u32,
}

impl Reader<'_> {
    fn skip_space(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// Position in UTF-16 code units, as in Java.
    fn position(&self) -> usize {
        self.text.get(..self.at).map_or(self.at, utf16_length)
    }

    /// The error for the next character. `kind` is json-smart's name for it; json-smart reports the position `back`
    /// characters earlier.
    fn unexpected<T>(&self, kind: &str, back: usize) -> Result<T, NotJson> {
        let position = self.position().saturating_sub(back);
        let unexpected = match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            Some(character) if kind == "character" => {
                format!("character ({character}) at position {position}.")
            }
            Some(character) => format!("{kind} {character} at position {position}."),
            None => return self.unexpected_end("null"),
        };
        Err(NotJson { unexpected })
    }

    fn unexpected_character<T>(&self) -> Result<T, NotJson> {
        self.unexpected("character", 0)
    }

    /// The error for the end of the text; `token` is the last token that json-smart reports.
    fn unexpected_end<T>(&self, token: &str) -> Result<T, NotJson> {
        let position = self.position().saturating_sub(1);
        Err(NotJson { unexpected: format!("End Of File position {position}: {token}") })
    }

    /// Parses a value. An unquoted string ends at one of `stops`.
    fn value(&mut self, stops: &[u8]) -> Result<Value, NotJson> {
        self.skip_space();
        match self.bytes.get(self.at) {
            None => self.unexpected_end("EOF"),
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(&quote @ (b'"' | b'\'')) => self.quoted(quote).map(Value::Text),
            Some(b':' | b'}' | b']') => self.unexpected_character(),
            Some(_) => Ok(word_value(self.word(stops))),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Value, NotJson>) -> Result<Value, NotJson> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return self.unexpected_character();
        }
        self.at += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn word(&mut self, stops: &[u8]) -> &str {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(|byte| !stops.contains(byte)) {
            self.at += 1;
        }
        self.text[start..self.at].trim()
    }

    fn array(&mut self) -> Result<Value, NotJson> {
        let mut items = Vec::new();
        loop {
            self.skip_space();
            match self.bytes.get(self.at) {
                Some(b']') => {
                    self.at += 1;
                    return Ok(Value::Array(items));
                }
                Some(b',') => self.at += 1,
                None => return self.unexpected_end("EOF"),
                Some(b':' | b'}') => return self.unexpected_character(),
                Some(_) => items.push(self.value(b",]")?),
            }
        }
    }

    fn object(&mut self) -> Result<Value, NotJson> {
        let mut members = Members::default();
        loop {
            self.skip_space();
            let key = match self.bytes.get(self.at) {
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Value::Object(members.all));
                }
                Some(b',') => {
                    self.at += 1;
                    continue;
                }
                Some(b':' | b'{' | b'[' | b']') | None => return self.unexpected_character(),
                Some(&quote @ (b'"' | b'\'')) => self.quoted(quote)?,
                Some(_) => self.word(b":").to_owned(),
            };
            self.skip_space();
            if self.bytes.get(self.at) != Some(&b':') {
                return self.unexpected("character", 1);
            }
            self.at += 1;
            let value = self.value(b",}")?;
            members.set(key, value);
            self.skip_space();
            match self.bytes.get(self.at) {
                Some(b',' | b'}') => {}
                Some(b']') => return self.unexpected_end("null"),
                _ => return self.unexpected("token", 1),
            }
        }
    }

    fn quoted(&mut self, quote: u8) -> Result<String, NotJson> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let start = self.at;
            while self.bytes.get(self.at).is_some_and(|&byte| byte != quote && byte != b'\\') {
                self.at += 1;
            }
            out.push_str(&self.text[start..self.at]);
            match self.bytes.get(self.at) {
                None => {
                    let position = self.position();
                    return Err(NotJson { unexpected: format!("End Of File position {position}: null") });
                }
                Some(b'\\') => self.escape(&mut out)?,
                Some(_) => {
                    self.at += 1;
                    return Ok(out);
                }
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Result<(), NotJson> {
        self.at += 1;
        let Some(escaped) = self.text.get(self.at..).and_then(|rest| rest.chars().next()) else {
            return self.unexpected_character();
        };
        self.at += escaped.len_utf8();
        out.push(match escaped {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\x08',
            'f' => '\x0c',
            'u' => {
                let first = self.hex()?;
                let may_be_pair =
                    (0xD800..0xDC00).contains(&first) && self.bytes[self.at..].starts_with(b"\\u");
                if may_be_pair {
                    let after_first = self.at;
                    self.at += 2;
                    let second = self.hex()?;
                    if let Some(Ok(character)) = char::decode_utf16([first, second]).next() {
                        out.push(character);
                        return Ok(());
                    }
                    self.at = after_first;
                }
                char::from_u32(u32::from(first)).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            other => other,
        });
        Ok(())
    }

    fn hex(&mut self) -> Result<u16, NotJson> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.bytes.get(self.at).and_then(|byte| char::from(*byte).to_digit(16));
            let Some(digit) = digit.and_then(|digit| u16::try_from(digit).ok()) else {
                return self.unexpected("unicode escape sequence", 0);
            };
            unit = unit * 16 + digit;
            self.at += 1;
        }
        Ok(unit)
    }
}

/// The value of an unquoted word: `null`, a boolean, a number, or a string.
fn word_value(word: &str) -> Value {
    match word {
        "null" => return Value::Null,
        "true" => return Value::Bool(true),
        "false" => return Value::Bool(false),
        _ => {}
    }
    let unsigned = word.strip_prefix(['-', '+']).unwrap_or(word);
    if !unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return Value::Text(word.to_owned());
    }
    if unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return match word.parse() {
            Ok(number) => Value::Integer(number),
            Err(_) => Value::BigInteger(word.to_owned()),
        };
    }
    let number_like = unsigned
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'-' | b'+'));
    match word.parse::<f64>() {
        Ok(number) if number_like => {
            // json-smart parses a long number as `BigDecimal` if a double would change it.
            if word.len() > 18 && busyhour_java::double_to_string(number) != word {
                Value::Decimal(word.to_owned())
            } else {
                Value::Double(number)
            }
        }
        _ => Value::Text(word.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extracted_text(text: &str) -> String {
        match read(text) {
            Ok(value) => value.extracted().unwrap_or_else(|| "NULL".into()),
            Err(_) => "not JSON".to_owned(),
        }
    }

    #[test]
    fn values_match_json_smart() {
        // Recorded from json-smart 2.5.0 through Jayway JSONPath 2.8.0.
        for (text, expected) in [
            ("<html><body>x</body></html>", "<html><body>x</body></html>"),
            (r#"{"a":1"#, "not JSON"),
            (r#"{'a':'b',c:d,"e":01}"#, r#"{"a":"b","c":"d","e":1}"#),
            (r#"{"a":1} x"#, r#"{"a":1}"#),
            ("hello world", "hello world"),
            (r#""str""#, "str"),
            ("12", "12"),
            (r#"{"a":1,}"#, r#"{"a":1}"#),
            ("[1,2,]", "[1,2]"),
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
            (
                "[12345678901234567890123,123456789.123456789123,1.10,1e5]",
                "[12345678901234567890123,123456789.123456789123,1.1,100000.0]",
            ),
            (
                r#"{"zeta":1,"alpha":2,"id":"7","name":"n","createdAt":"2020","value":1.50,"nested":{"q":1,"b":{"y":1,"x":2}},"aVeryLongKeyName":[],"k1":1,"k2":2,"k3":3,"k4":4,"k5":5}"#,
                r#"{"zeta":1,"k1":1,"k2":2,"k3":3,"k4":4,"k5":5,"nested":{"q":1,"b":{"y":1,"x":2}},"createdAt":"2020","aVeryLongKeyName":[],"alpha":2,"name":"n","id":"7","value":1.5}"#,
            ),
            ("[\"a/b\\u00e9\\u2028\\u007f\\t\"]", "[\"a\\/bé\\u2028\\u007F\\t\"]"),
        ] {
            assert_eq!(extracted_text(text), expected, "{text}");
        }
    }

    #[test]
    fn messages_match_json_smart() {
        // Recorded as above.
        for (text, expected) in [
            (r#"{"a":1"#, "End Of File position 5: null"),
            (r#"{"x":"#, "End Of File position 4: EOF"),
            (r#"{"a":"x"#, "End Of File position 7: null"),
            (r#"{"a""#, "End Of File position 3: null"),
            ("{", "End Of File position 0: null"),
            ("[1", "End Of File position 1: EOF"),
            ("[1,", "End Of File position 2: EOF"),
            (r#"{"a":1,"#, "End Of File position 6: null"),
            (r#"{"a":}"#, "character (}) at position 5."),
            (r#"{"a" 1}"#, "character (1) at position 4."),
            (r#"{"a":[1,2}"#, "End Of File position 9: EOF"),
            (r#"{"a":1]"#, "End Of File position 6: null"),
            (r#"{"a":"x" "b":1}"#, "token \" at position 8."),
            (r#"{"a":"\u12"}"#, "unicode escape sequence \" at position 10."),
            ("{]", "character (]) at position 1."),
            (r#"{"é":"#, "End Of File position 4: EOF"),
        ] {
            assert_eq!(read(text), Err(NotJson { unexpected: expected.to_owned() }), "{text}");
        }
        assert_eq!(read("  "), Ok(Value::Text(String::new())));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_parsed_or_rejected(text in ".{0,60}") {
            let _ = read(&text);
        }

        #[test]
        fn brackets_are_parsed_or_rejected(text in r#"[\[\]{}:,"'\\a1 .u-]{0,60}"#) {
            let _ = read(&text);
        }
    }
}
