//! The limits of the Application Performance Index.

/// JMeter's properties for the two limits, in ms: first the one for satisfied users, then the one for tolerating users.
const PROPERTIES: [&str; 2] =
    ["jmeter.reportgenerator.apdex_satisfied_threshold", "jmeter.reportgenerator.apdex_tolerated_threshold"];

/// The limits of the Application Performance Index (APDEX).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApdexLimits {
    /// Maximum response time at which a user is satisfied, in ns.
    pub satisfied_ns: u64,
    /// Maximum response time at which a user is still tolerating, in ns.
    pub tolerated_ns: u64,
}

impl Default for ApdexLimits {
    /// JMeter's defaults: 500 ms and 1,500 ms (`jmeter.reportgenerator.apdex_satisfied_threshold` and `…_tolerated_threshold`).
    fn default() -> Self {
        ApdexLimits { satisfied_ns: 500_000_000, tolerated_ns: 1_500_000_000 }
    }
}

/// A property whose value is not a limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name}={value}: not a number of milliseconds")]
pub struct ApdexPropertyError {
    /// Name of the property.
    pub name: &'static str,
    /// Value of the property.
    pub value: String,
}

impl ApdexLimits {
    /// The limits from JMeter's properties; `get` returns the value of a property.
    ///
    /// # Errors
    /// A value is not a number of milliseconds.
    pub fn from_properties<'p>(
        get: impl Fn(&str) -> Option<&'p str>,
    ) -> Result<ApdexLimits, ApdexPropertyError> {
        let limit_ns = |name: &'static str, default_ns: u64| {
            let Some(text) = get(name) else { return Ok(default_ns) };
            let ms: Option<f64> = text.trim().parse().ok().filter(|ms| (0.0..1e12).contains(ms));
            let ns = ms.map(|ms| (ms * 1e6).round() as u64);
            ns.ok_or_else(|| ApdexPropertyError { name, value: text.to_owned() })
        };
        let default = ApdexLimits::default();
        let [satisfied, tolerated] = PROPERTIES;
        Ok(ApdexLimits {
            satisfied_ns: limit_ns(satisfied, default.satisfied_ns)?,
            tolerated_ns: limit_ns(tolerated, default.tolerated_ns)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_set_the_limits() {
        let given = |name: &str| (name == PROPERTIES[0]).then_some(" 300 ");
        let limits = ApdexLimits::from_properties(given).unwrap();
        assert_eq!((limits.satisfied_ns, limits.tolerated_ns), (300_000_000, 1_500_000_000));
        let error = ApdexLimits::from_properties(|_| Some("x")).unwrap_err();
        assert_eq!(error.to_string(), format!("{}=x: not a number of milliseconds", PROPERTIES[0]));
        assert!(ApdexLimits::from_properties(|_| Some("-1")).is_err());
    }
}
