//! Java's ways of writing and reading numbers.

/// `Double.toString`: at least one digit after the point, computerised scientific notation outside [10⁻³, 10⁷).
///
/// The digits are the shortest that identify the value (Java 19 and later; older ones now and then print one more).
pub(crate) fn double_to_java(value: f64) -> String {
    if value.is_nan() || value.is_infinite() {
        return special(value);
    }
    let scientific = format!("{:e}", value.abs());
    layout(value.is_sign_negative(), value.abs(), &scientific)
}

/// `Float.toString`, likewise.
pub(crate) fn float_to_java(value: f32) -> String {
    if value.is_nan() || value.is_infinite() {
        return special(f64::from(value));
    }
    let scientific = format!("{:e}", value.abs());
    // The threshold is compared in the wider type, exactly.
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

/// `Double.parseDouble`, save for hexadecimal notation: white space around and a suffix of type are allowed.
pub(crate) fn java_parse_double(text: &str) -> Option<f64> {
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

/// `Long.parseLong`: an optional sign and ASCII digits, nothing around them.
pub(crate) fn java_parse_long(text: &str) -> Option<i64> {
    i64::try_from(java_parse_big(text)?).ok()
}

/// `new BigInteger(text)`, as far as 128 bits go.
pub(crate) fn java_parse_big(text: &str) -> Option<i128> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
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
            assert_eq!(double_to_java(value), text);
        }
        assert_eq!(float_to_java(12345678.9), "1.2345679E7");
    }

    #[test]
    fn numbers_read_as_in_java() {
        assert_eq!(java_parse_double(" 1.5d "), Some(1.5));
        assert_eq!(java_parse_double("-Infinity"), Some(f64::NEG_INFINITY));
        assert_eq!(java_parse_double("inf"), None);
        assert_eq!(java_parse_double(""), None);
        assert_eq!(java_parse_long("+5"), Some(5));
        assert_eq!(java_parse_long(" 5"), None);
        assert_eq!(java_parse_long("9223372036854775808"), None);
    }
}
