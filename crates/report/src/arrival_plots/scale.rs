//! Axes that end at round numbers.

use crate::numbers::rate;

/// A round upper end of an axis that includes `most`, and the distance of its ticks.
pub(super) fn scale(most: f64) -> (f64, f64) {
    if most <= 0.0 || !most.is_finite() {
        return (1.0, 0.5);
    }
    let rough = most / 4.0;
    let decade = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|f| f * decade >= rough * 0.999).unwrap_or(10.0);
    let step = factor * decade;
    ((most / step).ceil() * step, step)
}

/// The text of a tick, on an axis with ticks every `step`.
pub(super) fn tick(value: f64, step: f64) -> String {
    if step >= 1.0 {
        return rate(value).trim_end_matches(".0").to_owned();
    }
    let places = (-step.log10()).ceil().max(0.0) as usize + usize::from(step.to_string().ends_with("25"));
    format!("{value:.places$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_round_numbers() {
        assert_eq!(scale(0.0), (1.0, 0.5));
        assert_eq!(scale(404.0), (600.0, 200.0));
        assert_eq!(scale(1000.0), (1000.0, 250.0));
        let (top, step) = scale(0.07);
        assert!(top >= 0.07 && (top / step).fract() < 1e-6 && tick(step, step) == "0.02");
    }
}
