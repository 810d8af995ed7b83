//! Texts of changes.

/// A ratio as a change in percent: `+12.3 %`.
pub(crate) fn change(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    match percent.abs() {
        p if p < 99.95 => format!("{} %", signed(percent, 1)),
        p if p < 1e6 => format!("{} %", signed(percent, 0)),
        _ => format!("x{ratio:.1e}"),
    }
}

/// Formats a change with its sign and `digits` decimals; a change that rounds to 0 has no sign.
fn signed(value: f64, digits: usize) -> String {
    let text = format!("{value:+.digits$}");
    let is_zero = !text.contains(|c: char| matches!(c, '1'..='9'));
    if is_zero { text[1..].to_owned() } else { text }
}

/// A difference of shares in percentage points.
pub(crate) fn points(difference: f64) -> String {
    format!("{} pp", signed(difference * 100.0, 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_that_rounds_to_zero_has_no_sign() {
        let ratios =
            [(1.0, "0.0 %"), (0.9999, "0.0 %"), (1.0001, "0.0 %"), (0.999, "-0.1 %"), (1.0551, "+5.5 %")];
        for (ratio, text) in ratios {
            assert_eq!(change(ratio), text);
        }
        assert_eq!((change(3.0).as_str(), change(2e6).as_str()), ("+200 %", "x2.0e6"));
        let shares = [(0.0, "0.00 pp"), (-0.000_01, "0.00 pp"), (-0.001, "-0.10 pp"), (0.02, "+2.00 pp")];
        for (share, text) in shares {
            assert_eq!(points(share), text);
        }
    }
}
