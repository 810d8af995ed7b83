//! Formats the numbers in models.

/// Number of significant digits.
const DIGITS: i32 = 6;

/// Formats a number with six significant digits, without trailing zeros: `135.208`, `0.0395991`, `12`.
#[must_use]
pub fn figure(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if !value.is_finite() {
        return "–".into();
    }
    let magnitude = value.abs().log10().floor() as i32;
    if !(-5..9).contains(&magnitude) {
        return format!("{value:.5e}");
    }
    let decimals = usize::try_from(DIGITS - 1 - magnitude).unwrap_or(0);
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Like [`figure`]; an unknown value is formatted as a dash.
#[must_use]
pub fn figure_or_dash(value: Option<f64>) -> String {
    value.map_or_else(|| "–".into(), figure)
}

/// Formats a time, given in seconds, in milliseconds.
#[must_use]
pub fn ms(value_s: Option<f64>) -> String {
    figure_or_dash(value_s.map(|value_s| value_s * 1e3))
}

/// Formats a share in per cent.
#[must_use]
pub fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".into(), |share| format!("{:.2}", share * 100.0))
}

/// Formats half the width of an interval with two digits; a dash if there is no interval.
#[must_use]
pub fn two_digits(half: f64) -> String {
    if half <= 0.0 || !half.is_finite() {
        return "–".into();
    }
    let decimals = usize::try_from(1 - half.log10().floor() as i32).unwrap_or(0);
    format!("{half:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_six_significant_digits() {
        let shown: Vec<_> =
            [135.208_381, 0.039_599_1, 12.0, 0.0, 1e6, 123_456_789.0, 1e12, 1e-9].map(figure).into();
        let expected =
            ["135.208", "0.0395991", "12", "0", "1000000", "123456789", "1.00000e12", "1.00000e-9"];
        assert_eq!(shown, expected);
        assert_eq!((ms(Some(0.05)), ms(None), percent(Some(0.5))), ("50".into(), "–".into(), "50.00".into()));
    }
}
