//! Numbers as GCViewer prints them: a maximum number of decimals, thousands separated by commas, halves to even.

/// A number with at most `decimals` decimals.
pub(crate) fn number(value: f64, decimals: usize) -> String {
    let fixed = fixed(value, decimals);
    match fixed.split_once('.') {
        Some((whole, fraction)) => {
            let fraction = fraction.trim_end_matches('0');
            if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }
        }
        None => fixed,
    }
}

/// A number with exactly `decimals` decimals.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    // Rust rounds the exact binary value, halves to even, as java.text.DecimalFormat does.
    let text = format!("{value:.decimals$}");
    let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |digits| ("-", digits));
    let (whole, fraction) =
        digits.split_once('.').map_or((digits, None), |(whole, part)| (whole, Some(part)));
    let mut grouped = String::from(sign);
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if let Some(fraction) = fraction {
        grouped.push('.');
        grouped.push_str(fraction);
    }
    grouped
}

/// An amount of memory, given in KiB: in M from 10 MiB on, in K from 10 KiB on, otherwise in B. This also applies to
/// negative amounts.
pub(crate) fn memory(kib: f64) -> (String, &'static str) {
    let bytes = kib * 1024.0;
    if bytes >= 10.0 * 1024.0 * 1024.0 {
        (number(bytes / 1024.0 / 1024.0, 3), "M")
    } else if bytes >= 10.0 * 1024.0 {
        (number(bytes / 1024.0, 3), "K")
    } else {
        (number(bytes, 0), "B")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_shortened() {
        assert_eq!(number(7_230.806_02, 3), "7,230.806");
        assert_eq!(number(0.0, 2), "0");
        assert_eq!(number(0.125, 2), "0.12", "halves are rounded to even");
        assert_eq!(number(-4_508_672.0, 0), "-4,508,672");
        assert_eq!(number(1000.0, 2), "1,000");
        assert_eq!(fixed(8.5, 1), "8.5");
        assert_eq!(fixed(100.0, 1), "100.0");
    }

    #[test]
    fn memory_has_the_largest_unit_that_leaves_two_digits() {
        assert_eq!(memory(96.0 * 1024.0), ("96".into(), "M"));
        assert_eq!(memory(10240.0), ("10".into(), "M"));
        assert_eq!(memory(8192.0), ("8,192".into(), "K"));
        assert_eq!(memory(9.0), ("9,216".into(), "B"));
        assert_eq!(memory(-4403.0), ("-4,508,672".into(), "B"));
    }
}
