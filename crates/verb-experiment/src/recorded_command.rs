//! The command line of a run whose load is repeated.

/// The command line of a run.
#[derive(Debug, PartialEq, Eq)]
pub struct RecordedCommand {
    /// The plan or URL.
    pub target: String,
    /// The options, each by its long name with its dashes if it has one. Options without a value have an empty list.
    pub options: Vec<(String, Vec<String>)>,
}

impl RecordedCommand {
    /// The last value of an option.
    pub fn value(&self, name: &str) -> Option<&str> {
        let (_, values) = self.options.iter().find(|(option, _)| option == name)?;
        values.last().map(String::as_str)
    }

    /// The words of the options, without those with the given names.
    pub fn words_without(&self, names: &[&str]) -> Vec<String> {
        let kept = self.options.iter().filter(|(name, _)| !names.contains(&name.as_str()));
        let words = kept.flat_map(|(name, values)| match &values[..] {
            [] => vec![name.clone()],
            values if name.starts_with("--") => {
                values.iter().map(|value| format!("{name}={value}")).collect()
            }
            values => values.iter().flat_map(|value| [name.clone(), value.clone()]).collect(),
        });
        words.collect()
    }
}
