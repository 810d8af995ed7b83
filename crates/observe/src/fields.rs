//! Reads the whitespace-separated fields of `/proc` and `/sys` without allocation.

/// The lines of a text that are not empty, without line ends.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

/// The fields of a line.
pub(crate) fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty())
}

/// A decimal number; `None` if the field is anything else or too large.
pub(crate) fn number(field: &[u8]) -> Option<u64> {
    if field.is_empty() || field.len() > 20 {
        return None;
    }
    field.iter().try_fold(0u64, |value, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    })
}

/// A hexadecimal number; `None` if the field is anything else or too large.
pub(crate) fn hex(field: &[u8]) -> Option<u64> {
    if field.is_empty() || field.len() > 16 {
        return None;
    }
    field.iter().try_fold(0u64, |value, byte| Some(value << 4 | u64::from((*byte as char).to_digit(16)?)))
}

/// The first `N` fields of a line as numbers; `None` if there are fewer fields, or if one is not a number.
pub(crate) fn numbers<const N: usize>(line: &[u8]) -> Option<[u64; N]> {
    let mut values = [0; N];
    let mut fields = fields(line);
    for value in &mut values {
        *value = number(fields.next()?)?;
    }
    Some(values)
}

/// Splits a line at the first occurrence of a byte.
pub(crate) fn split_once(line: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let position = line.iter().position(|byte| *byte == at)?;
    Some((&line[..position], &line[position + 1..]))
}

/// A name from a file as text.
pub(crate) fn text(field: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(field)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact_or_refused() {
        for (field, value) in [
            (&b"0"[..], Some(0)),
            (b"18446744073709551615", Some(u64::MAX)),
            (b"18446744073709551616", None),
            (b"-1", None),
            (b"1.5", None),
            (b"", None),
            (b"000000000000000000001", None),
        ] {
            assert_eq!(number(field), value, "{}", text(field));
        }
        assert_eq!(hex(b"1F90"), Some(8080));
        assert_eq!(hex(b"ffffffffffffffff"), Some(u64::MAX));
        assert_eq!(hex(b"g"), None);
        assert_eq!(numbers::<2>(b" 1  2 3\t"), Some([1, 2]));
        assert_eq!(numbers::<4>(b"1 2 3"), None);
        assert_eq!(numbers::<2>(b"1 x"), None);
    }
}
