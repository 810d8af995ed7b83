//! Parsing and formatting of numbers.

/// `Double.toString`: at least one digit after the point, scientific notation outside [10⁻³, 10⁷).
///
/// The digits are the shortest that identify the value, as in Java 19 and later; older versions sometimes print one more digit.
#[must_use]
pub fn double_to_string(value: f64) -> String {
    if value.is_nan() || value.is_infinite() {
        return special(value);
    }
    let scientific = format!("{:e}", value.abs());
    layout(value.is_sign_negative(), value.abs(), &scientific)
}

/// `Float.toString`; see [`double_to_string`].
#[must_use]
pub fn float_to_string(value: f32) -> String {
    if value.is_nan() || value.is_infinite() {
        return special(f64::from(value));
    }
    let scientific = format!("{:e}", value.abs());
    // The conversion to `f64` is exact, so the thresholds of the notation are compared exactly.
    layout(value.is_sign_negative(), f64::from(value.abs()), &scientific)
}

fn special(value: f64) -> String {
    if value.is_nan() {
        "NaN".into()
    } else if value > 0.0 {
        "Infinity".into()
    } else {
        "-Infinity".into()
    }
}

fn layout(negative: bool, magnitude: f64, scientific: &str) -> String {
    let sign = if negative { "-" } else { "" };
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if magnitude == 0.0 {
        return format!("{sign}0.0");
    }
    if (1e-3..1e7).contains(&magnitude) {
        if exponent < 0 {
            let zeros = "0".repeat((-exponent - 1) as usize);
            return format!("{sign}0.{zeros}{digits}");
        }
        let whole_len = exponent as usize + 1;
        let (whole, fraction) = if digits.len() > whole_len {
            (digits[..whole_len].to_owned(), digits[whole_len..].to_owned())
        } else {
            (format!("{digits}{}", "0".repeat(whole_len - digits.len())), "0".to_owned())
        };
        return format!("{sign}{whole}.{fraction}");
    }
    let fraction = if digits.len() > 1 { &digits[1..] } else { "0" };
    format!("{sign}{}.{fraction}E{exponent}", &digits[..1])
}

/// `Double.parseDouble` without hexadecimal notation. Surrounding white space and a type suffix are allowed.
#[must_use]
pub fn parse_double(text: &str) -> Option<f64> {
    let text = text.trim_matches(|c: char| c <= ' ');
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let negative = text.starts_with('-');
    let magnitude = match unsigned {
        "NaN" => return Some(f64::NAN),
        "Infinity" => f64::INFINITY,
        _ => {
            let plain = unsigned.strip_suffix(['f', 'F', 'd', 'D']).unwrap_or(unsigned);
            let numeric =
                plain.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
            if !numeric || !plain.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
                return None;
            }
            plain.parse::<f64>().ok()?
        }
    };
    Some(if negative { -magnitude } else { magnitude })
}

/// `Long.parseLong`: an optional sign and ASCII digits, without surrounding space.
#[must_use]
pub fn parse_long(text: &str) -> Option<i64> {
    i64::try_from(parse_wide(text)?).ok()
}

/// `new BigInteger(text)`, limited to 128 bits.
#[must_use]
pub fn parse_wide(text: &str) -> Option<i128> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// `Integer.parseInt`: an optional sign and ASCII digits, without surrounding space.
#[must_use]
pub fn parse_int(text: &str) -> Option<i32> {
    text.parse().ok()
}

/// `Long.decode`: decimal, `0x…`, `#…` or octal, with a sign.
#[must_use]
pub fn decode_long(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let hex = ["0x", "0X", "#"].iter().find_map(|prefix| digits.strip_prefix(prefix));
    let (digits, radix) = match hex {
        Some(digits) => (digits, 16),
        None if digits.len() > 1 && digits.starts_with('0') => (&digits[1..], 8),
        None => (digits, 10),
    };
    if digits.starts_with(['-', '+']) {
        return None;
    }
    let value = i128::from_str_radix(digits, radix).ok()?;
    i64::try_from(if negative { -value } else { value }).ok()
}

/// Digits in groups of three, as `MessageFormat` writes whole numbers in English: `1,234`.
#[must_use]
pub fn group_digits(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_print_as_in_java() {
        for (value, text) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (-1.5, "-1.5"),
            (100.0, "100.0"),
            (0.001, "0.001"),
            (0.0001, "1.0E-4"),
            (1234567.0, "1234567.0"),
            (1e7, "1.0E7"),
            (12345678.9, "1.23456789E7"),
            (1.0e10, "1.0E10"),
            (100.0 / 3.0, "33.333333333333336"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(double_to_string(value), text);
        }
        assert_eq!(float_to_string(12345678.9), "1.2345679E7");
    }

    #[test]
    fn numbers_are_parsed_as_in_java() {
        assert_eq!(parse_double(" 1.5d "), Some(1.5));
        assert_eq!(parse_double("-Infinity"), Some(f64::NEG_INFINITY));
        assert_eq!(parse_double("inf"), None);
        assert_eq!(parse_double(""), None);
        assert_eq!(parse_long("+5"), Some(5));
        assert_eq!(parse_long(" 5"), None);
        assert_eq!(parse_long("9223372036854775808"), None);
    }

    #[test]
    fn numbers_with_prefixes_are_decoded_as_in_java() {
        for (text, expected) in [
            ("0xFF", Some(255)),
            ("#ff", Some(255)),
            ("-0X10", Some(-16)),
            ("017", Some(15)),
            ("0", Some(0)),
            ("+9", Some(9)),
            ("08", None),
            (" 1", None),
            ("", None),
            ("--1", None),
            ("-9223372036854775808", Some(i64::MIN)),
            ("9223372036854775808", None),
        ] {
            assert_eq!(decode_long(text), expected, "{text:?}");
        }
    }

    #[test]
    fn digits_are_grouped_from_the_right() {
        let cases = [("", ""), ("12", "12"), ("123", "123"), ("1234", "1,234"), ("1234567", "1,234,567")];
        for (digits, grouped) in cases {
            assert_eq!(group_digits(digits), grouped);
        }
    }
}
