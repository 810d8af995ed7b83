//! Hexadecimal digits in JMeter's format.

use busyhour_program::ElementError;

/// Encodes bytes as lower-case hexadecimal digits, as JMeter does.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| char::from(DIGITS[usize::from(value)]);
    let mut text = String::with_capacity(2 * bytes.len());
    text.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]));
    text
}

/// Decodes hexadecimal digits.
///
/// # Errors
/// The message of JMeter's exception.
pub fn from_hex(text: &str) -> Result<Vec<u8>, ElementError> {
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
            )
            .into()),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_encoded_and_decoded() {
        assert_eq!(hex(&[0, 0xAB, 0xff]), "00abff");
        assert_eq!(from_hex("00aBfF"), Ok(vec![0, 0xAB, 0xFF]));
        assert!(from_hex("abc").unwrap_err().message().contains("uneven"));
        assert!(from_hex("zz").unwrap_err().message().ends_with("'zz'"));
    }
}
