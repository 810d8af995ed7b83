//! Options for reading results that JMeter's properties set.

use crate::command_error::CommandError;
use std::collections::HashMap;

use busyhour_record::{ApdexLimits, ReadSettings, SaveConfig};
use busyhour_runs::ResultsOptions;

/// JMeter's properties for the limits of its Application Performance Index, in ms.
pub(crate) const APDEX_PROPERTIES: [&str; 2] =
    ["jmeter.reportgenerator.apdex_satisfied_threshold", "jmeter.reportgenerator.apdex_tolerated_threshold"];

/// The options for reading results that JMeter's properties set.
pub(crate) fn results_options(properties: &HashMap<String, String>) -> Result<ResultsOptions, CommandError> {
    let get = |name: &str| properties.get(name).map(String::as_str);
    let save = SaveConfig::from_properties(get).map_err(|error| error.to_string())?;
    // Without such properties, the default columns of several JMeter releases are tried.
    let has_columns = properties.keys().any(|name| name.starts_with("jmeter.save.saveservice."));
    Ok(ResultsOptions {
        read: ReadSettings {
            stamps_are_ends: !save.timestamp_is_start,
            unnamed: has_columns.then_some(save),
            ..ReadSettings::default()
        },
        apdex: apdex_limits(properties)?,
        ..ResultsOptions::default()
    })
}

/// The limits of the Application Performance Index that JMeter's properties set.
pub(crate) fn apdex_limits(properties: &HashMap<String, String>) -> Result<ApdexLimits, CommandError> {
    let mut limits = ApdexLimits::default();
    let [satisfied, tolerated] = APDEX_PROPERTIES.map(|name| {
        let Some(text) = properties.get(name) else { return Ok(None) };
        let ms: Option<f64> = text.trim().parse().ok().filter(|ms| (0.0..1e12).contains(ms));
        ms.map(Some).ok_or_else(|| format!("{name}={text}: not a number of milliseconds"))
    });
    let ns = |ms: f64| (ms * 1e6).round() as u64;
    if let Some(ms) = satisfied? {
        limits.satisfied_ns = ns(ms);
    }
    if let Some(ms) = tolerated? {
        limits.tolerated_ns = ns(ms);
    }
    Ok(limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_set_the_format_of_files() {
        let property = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let properties = HashMap::from([
            property(APDEX_PROPERTIES[0], "300"),
            property("jmeter.save.saveservice.url", "false"),
            property("sampleresult.timestamp.start", "false"),
        ]);
        let made = results_options(&properties).unwrap_or_default();
        assert_eq!((made.apdex.satisfied_ns, made.apdex.tolerated_ns), (300_000_000, 1_500_000_000));
        assert!(made.read.stamps_are_ends && made.read.unnamed.is_some_and(|save| !save.url));
        assert!(results_options(&HashMap::new()).is_ok_and(|made| made.read.unnamed.is_none()));
        assert!(results_options(&HashMap::from([property(APDEX_PROPERTIES[1], "x")])).is_err());
    }
}
