//! Factors, and the settings of their levels.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A factor: a setting whose effect the experiment measures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Factor {
    /// Unique name.
    pub name: String,
    /// The level of the base case; default: the first level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The levels; at least two.
    #[serde(rename = "level", default)]
    pub levels: Vec<FactorLevel>,
}

/// A level of a factor, with its settings. A level without settings changes nothing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FactorLevel {
    /// Name; unique within the factor.
    pub name: String,
    /// Number of users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub users: Option<u64>,
    /// Arrivals of an open load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// Properties of the plan.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: BTreeMap<String, String>,
    /// Environment variables of the system under test.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// Options of the Java virtual machine, added to JAVA_TOOL_OPTIONS of the system under test.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jvm_options: Vec<String>,
    /// Options of `busyhour run`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Changes of files, undone after the trial.
    #[serde(rename = "patch", default, skip_serializing_if = "Vec::is_empty")]
    pub patches: Vec<FilePatch>,
    /// Names of the treatments that are active during the trial.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub treatments: Vec<String>,
}

/// Replaces a text in a file, or the whole file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FilePatch {
    /// The file, relative to the directory of the system under test.
    pub file: String,
    /// The text to replace. It must occur once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub find: Option<String>,
    /// The new text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replace: Option<String>,
    /// Instead of `find` and `replace`: the file that replaces the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with: Option<String>,
}

/// Something that a level sets. If two factors set the same thing, their effects cannot be distinguished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum SettingKey<'f> {
    Users,
    Schedule,
    Property(&'f str),
    Variable(&'f str),
    Option(&'f str),
    Patch(&'f str, Option<&'f str>),
    Treatment(&'f str),
}

impl SettingKey<'_> {
    /// The setting for messages.
    pub(super) fn describe(self) -> String {
        match self {
            SettingKey::Users => "the number of users".to_owned(),
            SettingKey::Schedule => "the schedule".to_owned(),
            SettingKey::Property(name) => format!("the property {name:?}"),
            SettingKey::Variable(name) => format!("the environment variable {name:?}"),
            SettingKey::Option(name) => format!("the option {name:?}"),
            SettingKey::Patch(file, _) => format!("the same part of the file {file:?}"),
            SettingKey::Treatment(name) => format!("the treatment {name:?}"),
        }
    }
}

impl FactorLevel {
    /// Everything that the level sets, with the key of the file that sets it. Options of virtual machines are not included,
    /// because factors may set different ones.
    pub(super) fn setting_keys(&self) -> impl Iterator<Item = (&'static str, SettingKey<'_>)> {
        let options = self.options.iter().filter_map(|option| option.strip_prefix('-').map(|_| option));
        let option_name = |option: &'_ String| -> usize { option.find('=').unwrap_or(option.len()) };
        (self.users.iter().map(|_| ("users", SettingKey::Users)))
            .chain(self.schedule.iter().map(|_| ("schedule", SettingKey::Schedule)))
            .chain(self.properties.keys().map(|name| ("properties", SettingKey::Property(name))))
            .chain(self.environment.keys().map(|name| ("environment", SettingKey::Variable(name))))
            .chain(options.map(move |option| ("options", SettingKey::Option(&option[..option_name(option)]))))
            .chain(
                self.patches
                    .iter()
                    .map(|patch| ("patch", SettingKey::Patch(&patch.file, patch.find.as_deref()))),
            )
            .chain(self.treatments.iter().map(|name| ("treatments", SettingKey::Treatment(name))))
    }

    /// Whether the level sets the same as another one.
    pub(super) fn sets_the_same_as(&self, other: &FactorLevel) -> bool {
        FactorLevel { name: String::new(), ..self.clone() }
            == FactorLevel { name: String::new(), ..other.clone() }
    }
}
