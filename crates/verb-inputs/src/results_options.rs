//! Options for reading results that JMeter's properties set.

use busyhour_terminal::command_error::CommandError;
use std::collections::HashMap;

use busyhour_record::SaveConfig;
use busyhour_results::{ReadSettings, ResultsOptions};
use busyhour_sample::ApdexLimits;

/// The options for reading results that JMeter's properties set.
pub fn results_options(properties: &HashMap<String, String>) -> Result<ResultsOptions, CommandError> {
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
        apdex: ApdexLimits::from_properties(get).map_err(|error| error.to_string())?,
        ..ResultsOptions::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_set_the_format_of_files() {
        let property = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let properties = HashMap::from([
            property("jmeter.reportgenerator.apdex_satisfied_threshold", "300"),
            property("jmeter.save.saveservice.url", "false"),
            property("sampleresult.timestamp.start", "false"),
        ]);
        let made = results_options(&properties).unwrap_or_default();
        assert_eq!(made.apdex.satisfied_ns, 300_000_000);
        assert!(
            made.read.stamps_are_ends
                && made.read.unnamed.is_some_and(|save| !save.shown.has(busyhour_record::JtlColumn::Url))
        );
        assert!(results_options(&HashMap::new()).is_ok_and(|made| made.read.unnamed.is_none()));
        assert!(
            results_options(&HashMap::from([property(
                "jmeter.reportgenerator.apdex_tolerated_threshold",
                "x"
            )]))
            .is_err()
        );
    }
}
