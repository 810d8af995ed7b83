//! Numbers of models for people.

/// Digits that are shown of a number.
const DIGITS: i32 = 6;

/// A number with six significant digits, without the zeros at its end: `135.208`, `0.0395991`, `12`.
pub(crate) fn figure(value: f64) -> String {
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

/// The same; a dash for what is not known.
pub(crate) fn figure_or_dash(value: Option<f64>) -> String {
    value.map_or_else(|| "–".into(), figure)
}

/// A time in seconds as milliseconds.
pub(crate) fn ms(value_s: Option<f64>) -> String {
    figure_or_dash(value_s.map(|value_s| value_s * 1e3))
}

/// A share in percent.
pub(crate) fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".into(), |share| format!("{:.2}", share * 100.0))
}

/// Half the width of an interval, with two digits; a dash where it is none.
pub(crate) fn two_digits(half: f64) -> String {
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
    fn six_digits_are_shown() {
        let told: Vec<_> =
            [135.208_381, 0.039_599_1, 12.0, 0.0, 1e6, 123_456_789.0, 1e12, 1e-9].map(figure).into();
        let wanted = ["135.208", "0.0395991", "12", "0", "1000000", "123456789", "1.00000e12", "1.00000e-9"];
        assert_eq!(told, wanted);
        assert_eq!((ms(Some(0.05)), ms(None), percent(Some(0.5))), ("50".into(), "–".into(), "50.00".into()));
    }
}
