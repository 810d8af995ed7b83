//! The subset of Java's `SimpleDateFormat` patterns that result files use.

use std::fmt;

use jiff::{Timestamp, Zoned, tz::TimeZone};

/// A parsed pattern.
#[derive(Debug, Clone)]
pub(crate) struct DateFormat {
    parts: Vec<Part>,
    zone: TimeZone,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Field(char, usize),
}

/// The reason why a pattern cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BadPattern {
    Letter(char),
    OpenQuote,
}

impl fmt::Display for BadPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadPattern::Letter(letter) => write!(f, "the pattern letter {letter:?} is not supported"),
            BadPattern::OpenQuote => f.write_str("a quote is not closed"),
        }
    }
}

/// The supported pattern letters.
const LETTERS: &str = "yuMLdHhKkmsSEaDzZX";

impl DateFormat {
    /// Parses `pattern`, for times in local time.
    pub(crate) fn parse(pattern: &str) -> Result<DateFormat, BadPattern> {
        DateFormat::parse_in(pattern, TimeZone::system())
    }

    pub(crate) fn parse_in(pattern: &str, zone: TimeZone) -> Result<DateFormat, BadPattern> {
        let mut parts = Vec::new();
        let mut chars = pattern.chars().peekable();
        while let Some(c) = chars.next() {
            if c == '\'' {
                if chars.next_if_eq(&'\'').is_some() {
                    push_text(&mut parts, '\'');
                    continue;
                }
                loop {
                    match chars.next() {
                        None => return Err(BadPattern::OpenQuote),
                        Some('\'') if chars.next_if_eq(&'\'').is_some() => push_text(&mut parts, '\''),
                        Some('\'') => break,
                        Some(other) => push_text(&mut parts, other),
                    }
                }
            } else if c.is_ascii_alphabetic() {
                if !LETTERS.contains(c) {
                    return Err(BadPattern::Letter(c));
                }
                let mut width = 1;
                while chars.next_if_eq(&c).is_some() {
                    width += 1;
                }
                parts.push(Part::Field(c, width));
            } else {
                push_text(&mut parts, c);
            }
        }
        Ok(DateFormat { parts, zone })
    }

    /// Appends the time `ms`, in ms since 1970.
    pub(crate) fn format(&self, ms: i64, out: &mut Vec<u8>) {
        let stamp = Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH);
        let at = stamp.to_zoned(self.zone.clone());
        for part in &self.parts {
            match part {
                Part::Text(text) => out.extend_from_slice(text.as_bytes()),
                Part::Field(letter, width) => field(&at, *letter, *width, out),
            }
        }
    }
}

fn push_text(parts: &mut Vec<Part>, c: char) {
    if let Some(Part::Text(text)) = parts.last_mut() {
        text.push(c);
    } else {
        parts.push(Part::Text(c.to_string()));
    }
}

fn field(at: &Zoned, letter: char, width: usize, out: &mut Vec<u8>) {
    let hour = at.hour();
    let number = match letter {
        'y' | 'u' if letter == 'y' && width == 2 => i64::from(at.year().rem_euclid(100)),
        'y' => i64::from(at.year()),
        // Day of the week; Monday is 1.
        'u' => i64::from(at.weekday().to_monday_one_offset()),
        'M' | 'L' if width >= 3 => {
            let name = at.strftime(if width == 3 { "%b" } else { "%B" }).to_string();
            return out.extend_from_slice(name.as_bytes());
        }
        'M' | 'L' => i64::from(at.month()),
        'd' => i64::from(at.day()),
        'D' => i64::from(at.day_of_year()),
        'H' => i64::from(hour),
        'k' => i64::from(if hour == 0 { 24 } else { hour }),
        'K' => i64::from(hour % 12),
        'h' => i64::from(if hour % 12 == 0 { 12 } else { hour % 12 }),
        'm' => i64::from(at.minute()),
        's' => i64::from(at.second()),
        'S' => i64::from(at.millisecond()),
        'E' => {
            let name = at.strftime(if width <= 3 { "%a" } else { "%A" }).to_string();
            return out.extend_from_slice(name.as_bytes());
        }
        'a' => return out.extend_from_slice(if hour < 12 { b"AM" } else { b"PM" }),
        'z' => return out.extend_from_slice(at.strftime("%Z").to_string().as_bytes()),
        'Z' => return out.extend_from_slice(at.strftime("%z").to_string().as_bytes()),
        'X' if at.offset().seconds() == 0 => return out.push(b'Z'),
        'X' => {
            let colon = at.strftime("%:z").to_string();
            let text = match width {
                1 => colon.get(..3).unwrap_or_default().to_owned(),
                2 => colon.replace(':', ""),
                _ => colon,
            };
            return out.extend_from_slice(text.as_bytes());
        }
        _ => return,
    };
    out.extend_from_slice(format!("{number:0width$}").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(pattern: &str, ms: i64) -> String {
        let mut out = Vec::new();
        DateFormat::parse_in(pattern, TimeZone::UTC).unwrap().format(ms, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn patterns_are_formatted_as_by_simple_date_format() {
        // 2024-02-03T04:05:06.007Z, a Saturday.
        let ms = 1_706_933_106_007;
        assert_eq!(show("yyyy/MM/dd HH:mm:ss.SSS", ms), "2024/02/03 04:05:06.007");
        assert_eq!(show("d.M.yy h:m:s a", ms), "3.2.24 4:5:6 AM");
        assert_eq!(show("EEE, dd MMM yyyy HH:mm:ss Z", ms), "Sat, 03 Feb 2024 04:05:06 +0000");
        assert_eq!(show("yyyy-MM-dd'T'HH:mm:ssXXX", ms), "2024-02-03T04:05:06Z");
        assert_eq!(show("''yy 'o''clock' D u", ms), "'24 o'clock 34 6");
    }

    #[test]
    fn unsupported_patterns_are_rejected() {
        assert_eq!(DateFormat::parse("yyyy-ww").unwrap_err(), BadPattern::Letter('w'));
        assert_eq!(DateFormat::parse("yyyy 'x").unwrap_err(), BadPattern::OpenQuote);
    }
}
