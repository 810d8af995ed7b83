//! The contents of result files, as far as JMeter's properties determine them.

use busyhour_program::run::JmeterProperties;
use busyhour_record::SaveConfig;

use crate::setting_error::SettingError;

/// The save configuration that the properties specify.
///
/// # Errors
/// A delimiter or time stamp format is invalid or not supported.
pub(crate) fn save_config(properties: &JmeterProperties) -> Result<SaveConfig, SettingError> {
    let all = properties.all();
    let get = |name: &str| {
        all.binary_search_by(|(known, _)| known.as_str().cmp(name)).ok().map(|at| all[at].1.as_str())
    };
    SaveConfig::from_properties(get).map_err(|error| SettingError::new(error.to_string()))
}

/// Names of the variables that are saved with each sample (`sample_variables`).
pub(crate) fn sample_variables(properties: &JmeterProperties) -> Vec<String> {
    let Some(text) = properties.get("sample_variables") else { return Vec::new() };
    // Names may contain spaces (`__jm__Thread Group__idx`) and are not trimmed; empty names at the end are ignored.
    let mut names: Vec<String> = text.split(',').map(str::to_owned).collect();
    while names.len() > 1 && names.last().is_some_and(String::is_empty) {
        names.pop();
    }
    names
}

/// The prefix of file names that are relative to the plan's folder.
pub(crate) fn base_prefix(properties: &JmeterProperties) -> String {
    properties.get("jmeter.save.saveservice.base_prefix").unwrap_or_else(|| "~/".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_saved_variables_may_contain_spaces() {
        let names = |text: &str| {
            let properties = JmeterProperties::default();
            properties.set("sample_variables", text);
            sample_variables(&properties)
        };
        assert_eq!(names("__jm__Thread Group__idx,b"), ["__jm__Thread Group__idx", "b"]);
        assert_eq!(names("a, b,,"), ["a", " b"]);
        assert!(sample_variables(&JmeterProperties::default()).is_empty());
    }
}
