//! Parses and formats numbers like JMeter.

/// The result of Java's `Integer.parseInt`; 0 for an invalid number, as in JMeter.
pub(crate) fn integer(text: &str) -> i32 {
    busyhour_java::parse_int(text).unwrap_or(0)
}

/// The result of Java's `Long.parseLong`; 0 for an invalid number, as in JMeter.
pub(crate) fn long(text: &str) -> i64 {
    busyhour_java::parse_long(text).unwrap_or(0)
}

/// An integer in the format of Java's `MessageFormat` in English, such as `-1,234`.
pub(crate) fn grouped(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", busyhour_java::group_digits(&number.unsigned_abs().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_numbers_are_zero() {
        assert_eq!((integer("-1"), integer(" 1"), long("x")), (-1, 0, 0));
        assert_eq!((grouped(1_234_567), grouped(-1_234)), ("1,234,567".into(), "-1,234".into()));
    }
}
