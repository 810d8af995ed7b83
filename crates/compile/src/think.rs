//! Think times in text form: `1s`, `uniform(0s, 2s)`, `exponential(1s)`, `lognormal(1s, cov 0.5)`.

use std::sync::Arc;

use busyhour_diagnostic::Diagnostic;
use busyhour_engine::think::{ThinkLaw, ThinkTimer};
use busyhour_plan::Element;
use busyhour_program::element::Timer;

use crate::context::Context;
use crate::setting_error::SettingError;

/// The property of a Constant Timer with the distribution of its delay. JMeter ignores it and uses the constant delay.
const THINK: &str = "busyhour.think";

/// Parses a think time.
///
/// # Errors
/// The text is invalid; the message contains the valid forms.
pub fn think_law(text: &str) -> Result<ThinkLaw, SettingError> {
    let wrong = |message: String| Err(SettingError::new(message));
    let time = |text: &str| {
        busyhour_arrivals::time_ns(text.trim())
            .map_err(|error| SettingError::new(format!("{:?}: {}", text.trim(), error.message)))
    };
    let Some((name, rest)) = text.trim().split_once('(') else { return time(text).map(ThinkLaw::Constant) };
    let Some(inside) = rest.strip_suffix(')') else {
        return wrong("the closing parenthesis is missing".into());
    };
    let parts: Vec<&str> = inside.split(',').map(str::trim).collect();
    match (name.trim().to_ascii_lowercase().as_str(), parts.as_slice()) {
        ("constant", [mean]) => Ok(ThinkLaw::Constant(time(mean)?)),
        ("exponential", [mean]) => Ok(ThinkLaw::Exponential(time(mean)?)),
        ("uniform", [low, high]) => match (time(low)?, time(high)?) {
            (low, high) if low <= high => Ok(ThinkLaw::Uniform(low, high)),
            _ => wrong("the first time must not be longer than the second".into()),
        },
        ("lognormal", [mean, cov]) => {
            let number = cov.strip_prefix("cov").unwrap_or(cov).trim();
            match number.parse::<f64>() {
                Ok(cov) if cov.is_finite() && cov >= 0.0 => Ok(ThinkLaw::Lognormal(time(mean)?, cov)),
                _ => wrong(format!("{number:?} is not a coefficient of variation")),
            }
        }
        ("constant" | "exponential" | "uniform" | "lognormal", _) => wrong(format!(
            "{name} has different arguments: constant(1s), exponential(1s), uniform(0s, 2s), lognormal(1s, cov 0.5)"
        )),
        _ => wrong(format!("{name:?} is unknown: use constant, uniform, exponential or lognormal")),
    }
}

/// The think time of a Constant Timer. `None` if the timer does not have the property [`THINK`]; `Some(None)` if the property is
/// invalid.
pub(crate) fn native<'p>(context: &mut Context<'p>, element: Element<'p>) -> Option<Option<Arc<dyn Timer>>> {
    let property = element.property(THINK)?;
    let text = context.now(property.text().unwrap_or(""));
    if text.trim().is_empty() {
        return None;
    }
    Some(match think_law(&text) {
        Ok(law) => Some(Arc::new(ThinkTimer(law))),
        Err(error) => {
            let finding =
                Diagnostic::error("invalid-think-time", format!("the think time {text:?}: {error}"));
            context.findings.add(property.locate(finding));
            None
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn think_times_are_parsed() {
        const S: u64 = 1_000_000_000;
        assert_eq!(think_law("1500ms"), Ok(ThinkLaw::Constant(S * 3 / 2)));
        assert_eq!(think_law(" Exponential( 10s ) "), Ok(ThinkLaw::Exponential(10 * S)));
        assert_eq!(think_law("uniform(0s, 2s)"), Ok(ThinkLaw::Uniform(0, 2 * S)));
        assert_eq!(think_law("lognormal(1s, cov 0.5)"), Ok(ThinkLaw::Lognormal(S, 0.5)));
        for wrong in [
            "",
            "1",
            "10",
            "gamma(1s)",
            "uniform(2s, 1s)",
            "uniform(1s)",
            "exponential(1s",
            "lognormal(1s, -1)",
        ] {
            assert!(think_law(wrong).is_err(), "{wrong}");
        }
    }
}
