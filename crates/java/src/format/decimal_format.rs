//! Patterns of `java.text.DecimalFormat` for whole numbers, as in `000`, `#,##0.00` and `user_000`, with English
//! symbols.

use super::error::FormatError;

/// A compiled pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecimalFormat {
    positive: (String, String),
    negative: (String, String),
    digits: Digits,
    /// 100 for percent, 1000 for per mille, else 1.
    factor: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Digits {
    integer_min: usize,
    fraction_min: usize,
    /// Number of digits between separators; `None` if there are no separators.
    group: Option<usize>,
    /// Whether the decimal point is printed although no digit follows.
    point: bool,
}

impl DecimalFormat {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// Java rejects the pattern, or it contains scientific notation or a currency.
    pub fn new(pattern: &str) -> Result<Self, FormatError> {
        if pattern.is_empty() {
            let digits = Digits { integer_min: 0, fraction_min: 0, group: Some(3), point: false };
            return Ok(Self {
                positive: Default::default(),
                negative: ("-".into(), "".into()),
                digits,
                factor: 1,
            });
        }
        let mut factor = 1;
        let (positive, digits, rest) = sub_pattern(pattern, &mut factor)?;
        let digits = Digits::parse(&digits).ok_or_else(|| malformed(pattern))?;
        let usual = (format!("-{}", positive.0), positive.1.clone());
        // From the pattern for negative numbers, Java uses only prefix and suffix.
        let negative = match rest.filter(|rest| !rest.is_empty()) {
            None => usual,
            Some(rest) => match sub_pattern(rest, &mut factor)? {
                (_, _, Some(_)) => {
                    return Err(format!("Unquoted special character ';' in pattern \"{pattern}\"").into());
                }
                (around, ..) if around == positive => usual,
                (around, ..) => around,
            },
        };
        Ok(Self { positive, negative, digits, factor })
    }

    /// Appends a whole number.
    pub fn format_integer(&self, value: i64, out: &mut String) {
        use std::fmt::Write as _;
        let scaled = i128::from(value) * i128::from(self.factor);
        let (prefix, suffix) = if scaled < 0 { &self.negative } else { &self.positive };
        out.push_str(prefix);
        let magnitude = scaled.unsigned_abs();
        let digits = &self.digits;
        let width = if magnitude == 0 { 0 } else { magnitude.ilog10() as usize + 1 };
        // Java prints at least one digit.
        let least = if digits.fraction_min == 0 { digits.integer_min.max(1) } else { digits.integer_min };
        let width = width.max(least);
        match digits.group {
            None if width == 0 => {}
            None => {
                let _ = write!(out, "{magnitude:0width$}");
            }
            Some(group) => {
                for position in (0..width).rev() {
                    let digit =
                        u32::try_from(position).ok().and_then(|position| 10_u128.checked_pow(position));
                    let digit = digit.map_or(0, |power| (magnitude / power % 10) as u8);
                    out.push(char::from(b'0' + digit));
                    if position > 0 && position % group == 0 {
                        out.push(',');
                    }
                }
            }
        }
        if digits.point || digits.fraction_min > 0 {
            out.push('.');
            out.extend(std::iter::repeat_n('0', digits.fraction_min));
        }
        out.push_str(suffix);
    }
}

fn malformed(pattern: &str) -> String {
    format!("Malformed pattern \"{pattern}\"")
}

/// The prefix and suffix, the digits, and the part of the pattern after a `;`.
type SubPattern<'p> = ((String, String), String, Option<&'p str>);

fn sub_pattern<'p>(pattern: &'p str, factor: &mut i64) -> Result<SubPattern<'p>, FormatError> {
    let (mut prefix, mut suffix, mut digits) = (String::new(), String::new(), String::new());
    let mut characters = pattern.char_indices().peekable();
    let mut quoted = false;
    while let Some((at, c)) = characters.next() {
        let around = if digits.is_empty() { &mut prefix } else { &mut suffix };
        match c {
            '\'' if characters.next_if(|next| next.1 == '\'').is_some() => around.push('\''),
            '\'' => quoted = !quoted,
            _ if quoted => around.push(c),
            // Java appends digits after other text to the digits before it.
            '0' | '#' | ',' | '.' => digits.push(c),
            '%' | '\u{2030}' => {
                *factor = if c == '%' { 100 } else { 1000 };
                around.push(c);
            }
            ';' => return Ok(((prefix, suffix), digits, Some(&pattern[at + 1..]))),
            'E' if !digits.is_empty() => {
                return Err(format!("scientific notation is not supported: \"{pattern}\"").into());
            }
            '\u{a4}' => return Err(format!("currencies are not supported: \"{pattern}\"").into()),
            _ => around.push(c),
        }
    }
    if quoted { Err(malformed(pattern).into()) } else { Ok(((prefix, suffix), digits, None)) }
}

impl Digits {
    /// Parses digits such as `#,##0.0#`.
    fn parse(text: &str) -> Option<Self> {
        let (integer, fraction) = match text.split_once('.') {
            Some((integer, fraction)) => (integer, Some(fraction)),
            None => (text, None),
        };
        let group = integer.rfind(',').map(|at| integer.len() - at - 1);
        if group == Some(0) {
            return None;
        }
        let plain: String = integer.chars().filter(|&c| c != ',').collect();
        let optional = plain.find('0').unwrap_or(plain.len());
        if plain[optional..].contains('#') {
            return None;
        }
        let decimals = fraction.unwrap_or_default();
        let required = decimals.find('#').unwrap_or(decimals.len());
        if decimals.contains([',', '.']) || decimals[required..].contains('0') {
            return None;
        }
        let point = fraction.is_some() && decimals.is_empty() && !text.is_empty();
        Some(Self { integer_min: plain.len() - optional, fraction_min: required, group, point })
    }
}

#[cfg(test)]
mod tests {
    use super::DecimalFormat;

    /// The texts of 7, −7, 0 and 1234567 in Java 17 for each pattern.
    const RECORDED: &[(&str, &str)] = &[
        ("0", "7 | -7 | 0 | 1234567"),
        ("000", "007 | -007 | 000 | 1234567"),
        ("#", "7 | -7 | 0 | 1234567"),
        ("#,##0.00", "7.00 | -7.00 | 0.00 | 1,234,567.00"),
        ("0.", "7. | -7. | 0. | 1234567."),
        ("0.txt", "7.txt | -7.txt | 0.txt | 1234567.txt"),
        ("#.##", "7 | -7 | 0 | 1234567"),
        ("#.", "7. | -7. | 0. | 1234567."),
        ("'test'#'.txt'", "test7.txt | -test7.txt | test0.txt | test1234567.txt"),
        ("test0.txt", "test7.txt | -test7.txt | test0.txt | test1234567.txt"),
        ("###", "7 | -7 | 0 | 1234567"),
        ("#00", "07 | -07 | 00 | 1234567"),
        ("0.0#", "7.0 | -7.0 | 0.0 | 1234567.0"),
        ("00.00", "07.00 | -07.00 | 00.00 | 1234567.00"),
        (".00", "7.00 | -7.00 | .00 | 1234567.00"),
        ("#,###", "7 | -7 | 0 | 1,234,567"),
        ("%0", "%700 | -%700 | %0 | %123456700"),
        ("0%", "700% | -700% | 0% | 123456700%"),
        ("0;(0)", "7 | (7) | 0 | 1234567"),
        ("0;-0", "7 | -7 | 0 | 1234567"),
        ("-0", "-7 | --7 | -0 | -1234567"),
        ("a'b'0", "ab7 | -ab7 | ab0 | ab1234567"),
        ("''0", "'7 | -'7 | '0 | '1234567"),
        ("0.###", "7 | -7 | 0 | 1234567"),
        ("##0.##", "7 | -7 | 0 | 1234567"),
        ("", "7 | -7 | 0 | 1,234,567"),
        ("abc", "abc7 | -abc7 | abc0 | abc1234567"),
        ("1", "17 | -17 | 10 | 11234567"),
        ("'#'0", "#7 | -#7 | #0 | #1234567"),
        ("user_000", "user_007 | -user_007 | user_000 | user_1234567"),
        ("user-#", "user-7 | -user-7 | user-0 | user-1234567"),
        ("#,##,##0", "7 | -7 | 0 | 1,234,567"),
        ("0‰", "7000‰ | -7000‰ | 0‰ | 1234567000‰"),
        ("000;neg000", "007 | neg007 | 000 | 1234567"),
        ("a", "a7 | -a7 | a0 | a1234567"),
        ("0'.'0", "07. | -07. | 00. | 1234567."),
        ("#,#", "7 | -7 | 0 | 1,2,3,4,5,6,7"),
        ("00,00", "00,07 | -00,07 | 00,00 | 1,23,45,67"),
        ("a,0", "a7 | -a7 | a0 | a1,2,3,4,5,6,7"),
        ("0.00%", "700.00% | -700.00% | 0.00% | 123456700.00%"),
        ("a0b0", "a07b | -a07b | a00b | a1234567b"),
    ];

    #[test]
    fn integers_are_formatted_as_in_java() {
        for (pattern, recorded) in RECORDED {
            let format = DecimalFormat::new(pattern).expect(pattern);
            let texts = [7, -7, 0, 1_234_567].map(|value| {
                let mut text = String::new();
                format.format_integer(value, &mut text);
                text
            });
            assert_eq!(texts.join(" | "), *recorded, "{pattern}");
        }
    }

    #[test]
    fn patterns_that_java_rejects_are_rejected() {
        for pattern in ["0#", "#0#", "0.#0", "0,", "0.0.0", "0'x", "0;a;b"] {
            assert!(DecimalFormat::new(pattern).is_err(), "{pattern}");
        }
        assert!(DecimalFormat::new("0E0").is_err_and(|message| message.contains("not supported")));
    }

    #[test]
    fn the_minimum_long_is_formatted_with_all_digits() {
        let mut text = String::new();
        DecimalFormat::new("#,##0%").expect("a pattern").format_integer(i64::MIN, &mut text);
        assert_eq!(text, "-922,337,203,685,477,580,800%");
    }
}
