//! The notation for bytes in plans and in the plugin's messages.

/// Parses bytes from a text such as `0x01 0xff` or `01ff 02`.
///
/// # Errors
/// If a part is not a byte.
pub(crate) fn parse(text: &str) -> Result<Vec<u8>, ()> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let mut bytes = Vec::new();
    for element in text.split(' ').filter(|element| !element.is_empty()) {
        if element.starts_with("0x") {
            let value = busyhour_java::decode_long(element).ok_or(())?;
            // Java: `Integer.decode(…).byteValue()`
            bytes.push(i32::try_from(value).map_err(|_| ())? as u8);
            continue;
        }
        let digits: Vec<char> = element.chars().collect();
        for pair in digits.chunks(2) {
            let pair: String = pair.iter().collect();
            bytes.push(i32::from_str_radix(&pair, 16).map_err(|_| ())? as u8);
        }
    }
    Ok(bytes)
}

/// Formats at most `most` bytes as `0x01 0xff`, followed by `more` if there are more.
pub(crate) fn format_bytes(bytes: &[u8], most: usize, more: &str) -> String {
    let texts: Vec<String> = bytes.iter().take(most).map(|byte| format!("{byte:#04x}")).collect();
    let rest = if bytes.len() > most { more } else { "" };
    format!("{}{rest}", texts.join(" "))
}

/// Whether `whole` contains `part`; false if `part` is empty.
pub(crate) fn contains(whole: &[u8], part: &[u8]) -> bool {
    !part.is_empty() && whole.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_parsed_and_formatted() {
        assert_eq!(parse("0x01 0xfF  0a1B 7"), Ok(vec![1, 255, 10, 27, 7]));
        assert_eq!(parse("  "), Ok(Vec::new()));
        assert!(parse("hello").is_err() && parse("0xzz").is_err());
        assert_eq!(format_bytes(&[0, 255, 16], 2, " ..."), "0x00 0xff ...");
        assert_eq!(format_bytes(&[], 2, " ..."), "");
        assert!(contains(b"abc", b"bc") && !contains(b"abc", b"") && !contains(b"a", b"ab"));
    }
}
