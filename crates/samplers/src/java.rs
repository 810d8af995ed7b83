//! Behaviour of Java's library that is visible in samplers and their messages.

/// `Long.decode`: decimal, `0x…`, `#…` or octal, with a sign.
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

/// `Integer.parseInt`; spaces are invalid.
pub fn parse_int(text: &str) -> Option<i32> {
    text.parse().ok()
}

/// `String.length`: units of UTF-16.
pub fn length(text: &str) -> u64 {
    text.encode_utf16().count() as u64
}

/// A Boolean value as JMeter reads it from a text.
pub fn truth(text: &str) -> bool {
    text.eq_ignore_ascii_case("true")
}

/// Bytes as hexadecimal digits, as JMeter writes them.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| char::from(DIGITS[usize::from(value)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Decodes hexadecimal digits.
///
/// # Errors
/// The message of JMeter's exception.
pub fn from_hex(text: &str) -> Result<Vec<u8>, String> {
    let digits: Vec<char> = text.chars().collect();
    if !digits.len().is_multiple_of(2) {
        return Err("Hex-encoded binary string contains an uneven no. of digits".into());
    }
    digits
        .chunks_exact(2)
        .map(|pair| match (pair[0].to_digit(16), pair[1].to_digit(16)) {
            (Some(high), Some(low)) => Ok((high * 16 + low) as u8),
            _ => Err(format!(
                "Hex-encoded binary string contains an invalid hex digit in '{}{}'",
                pair[0], pair[1]
            )),
        })
        .collect()
}

/// The entries of a `HashMap` in Java's order of iteration: by the keys' buckets in a table whose size is a power of
/// two. The last of several entries with the same key counts, at the position of the first.
pub fn hash_map(entries: impl IntoIterator<Item = (String, String)>) -> Vec<(String, String)> {
    let mut map: Vec<(String, String)> = Vec::new();
    for (key, value) in entries {
        match map.iter_mut().find(|(known, _)| *known == key) {
            Some((_, before)) => *before = value,
            None => map.push((key, value)),
        }
    }
    // The table grows when three quarters of its buckets are used.
    let mut places = 16;
    while map.len() * 4 > places * 3 {
        places *= 2;
    }
    map.sort_by_key(|(key, _)| {
        let hash =
            key.encode_utf16().fold(0_u32, |hash, unit| hash.wrapping_mul(31).wrapping_add(u32::from(unit)));
        (hash ^ (hash >> 16)) as usize & (places - 1)
    });
    map
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_a_base() {
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
    fn bytes_as_digits_and_back() {
        assert_eq!(hex(&[0, 0xAB, 0xff]), "00abff");
        assert_eq!(from_hex("00aBfF"), Ok(vec![0, 0xAB, 0xFF]));
        assert!(from_hex("abc").unwrap_err().contains("uneven"));
        assert!(from_hex("zz").unwrap_err().ends_with("'zz'"));
        assert_eq!(length("a\u{1f600}"), 3);
    }
}
