//! Save Responses to a file: writes the body of each result to a file.
//!
//! Writing blocks the core that runs the user (in JMeter: the user's thread).

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use busyhour_program::element::Processor;
use busyhour_program::result::{Retention, SampleResult};
use busyhour_program::run::LogLevel;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;

/// Settings of the element; the properties are named `FileSaver.…`.
#[derive(Clone, Debug, Default)]
pub struct SaveResponsesSettings {
    /// `filename`: prefix of the file names.
    pub file_name: Template,
    /// `variablename`: the variable to set to the name of the file.
    pub variable: Template,
    /// `errorsonly`: save only failed results.
    pub errors_only: bool,
    /// `successonly`: save only successful results.
    pub successes_only: bool,
    /// `skipautonumber`: add no number to the file name.
    pub without_number: bool,
    /// `skipsuffix`: add no suffix for the content type to the file name.
    pub without_suffix: bool,
    /// `addTimstamp`: add the start time of the test, in minutes, to the name.
    pub with_start: bool,
    /// `numberPadLen`: the minimum number of digits of the number.
    pub digits_min: usize,
    /// `ignoreTC`: skip the samples of transaction controllers.
    pub without_transactions: bool,
    /// Names with this prefix (`~/`) are relative to the plan's folder.
    pub base_prefix: String,
    /// The plan's folder.
    pub base_dir: PathBuf,
}

/// The listener.
#[derive(Debug)]
pub struct SaveResponses {
    settings: SaveResponsesSettings,
    written: AtomicU64,
    start: OnceLock<String>,
}

impl SaveResponses {
    /// Creates the listener from its settings.
    #[must_use]
    pub fn new(settings: SaveResponsesSettings) -> Self {
        Self { settings, written: AtomicU64::new(0), start: OnceLock::new() }
    }

    /// Saves a result and its sub-results. `number` counts them.
    fn save_all(&self, user: &mut UserState, result: &mut SampleResult, number: &mut u32) {
        self.save(user, result, *number);
        *number += 1;
        for sub in &mut result.sub_results {
            self.save_all(user, sub, number);
        }
    }

    fn save(&self, user: &mut UserState, result: &mut SampleResult, number: u32) {
        let settings = &self.settings;
        let is_skipped = (settings.without_transactions && is_transaction(result))
            || (settings.errors_only && result.outcome.success)
            || (settings.successes_only && !result.outcome.success);
        if is_skipped {
            return;
        }
        let name = self.next_name(user, &result.content_type);
        let variable = settings.variable.text(user).into_owned();
        match (variable.is_empty(), number) {
            (true, _) => {}
            (false, 0) => user.variables.set(&variable, &name),
            (false, number) => user.variables.set(&format!("{variable}{number}"), &name),
        }
        let path = Path::new(&name);
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty())
            && let Err(error) = fs::create_dir_all(folder)
        {
            user.log(LogLevel::Error, &format!("Cannot create the folder {}: {error}", folder.display()));
            return;
        }
        if let Err(error) = fs::write(path, &result.body) {
            user.log(
                LogLevel::Error,
                &format!("Error saving the sample {} in {name}: {error}", result.label),
            );
        }
        result.file_name = Some(name.into());
    }

    fn next_name(&self, user: &mut UserState, content_type: &str) -> String {
        let settings = &self.settings;
        let mut name =
            resolve_file_name(&settings.file_name.text(user), &settings.base_prefix, &settings.base_dir);
        if settings.with_start {
            name.push_str(self.start.get_or_init(|| format_start(user)));
        }
        if !settings.without_number {
            let number = self.written.fetch_add(1, Ordering::Relaxed) + 1;
            name.push_str(&format!("{number:0width$}", width = settings.digits_min));
        }
        if !settings.without_suffix {
            name.push('.');
            name.push_str(suffix(content_type));
        }
        name
    }
}

impl Processor for SaveResponses {
    fn process(&self, user: &mut UserState) {
        let mut result = std::mem::take(&mut user.result);
        self.save_all(user, &mut result, &mut 0);
        user.result = result;
    }

    fn retention(&self) -> Retention {
        Retention { body: true, ..Retention::default() }
    }
}

/// Resolves a file name of a listener: a name with the prefix `base_prefix` is relative to `base_dir`.
#[must_use]
pub fn resolve_file_name(name: &str, base_prefix: &str, base_dir: &Path) -> String {
    match name.strip_prefix(base_prefix) {
        Some(rest) if !base_prefix.is_empty() => base_dir.join(rest).display().to_string(),
        _ => name.to_owned(),
    }
}

fn is_transaction(result: &SampleResult) -> bool {
    result.outcome.message.starts_with("Number of samples in transaction : ")
}

/// The part of a content type after the slash.
fn suffix(content_type: &str) -> &str {
    match content_type.split_once('/') {
        Some((_, kind)) => kind.split(';').next().unwrap_or_default(),
        None => "unknown",
    }
}

fn format_start(user: &UserState) -> String {
    let ms = i64::try_from(user.run.clock.wall_start_ms()).unwrap_or(0);
    let start = jiff::Timestamp::from_millisecond(ms).unwrap_or_default();
    start.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y%m%d-%H%M_").to_string()
}

#[cfg(test)]
mod tests {
    use busyhour_sample::SampleOutcome;

    use busyhour_program::symbols::Symbols;

    use super::*;
    use crate::testing::user;

    fn result(content_type: &str, body: &str, success: bool) -> SampleResult {
        SampleResult {
            content_type: content_type.into(),
            body: body.into(),
            outcome: SampleOutcome { success, ..SampleOutcome::default() },
            ..SampleResult::default()
        }
    }

    fn saved(dir: &Path) -> Vec<(String, String)> {
        let mut all: Vec<_> = fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| {
                (entry.file_name().to_string_lossy().into_owned(), fs::read_to_string(entry.path()).unwrap())
            })
            .collect();
        all.sort();
        all
    }

    #[test]
    fn each_result_is_saved_and_the_variable_is_set_to_the_file_name() {
        let dir = tempfile::tempdir().unwrap();
        let settings = SaveResponsesSettings {
            file_name: Template::literal("~/new/r_"),
            variable: Template::literal("file"),
            digits_min: 3,
            base_prefix: "~/".into(),
            base_dir: dir.path().to_owned(),
            ..SaveResponsesSettings::default()
        };
        let saver = SaveResponses::new(settings);
        let mut user = user(&Symbols::default());
        user.result = result("text/html;charset=utf-8", "page", true);
        user.result.sub_results.push(result("image/png", "picture", true));
        saver.process(&mut user);
        let files = saved(&dir.path().join("new"));
        assert_eq!(files, [("r_001.html".into(), "page".into()), ("r_002.png".into(), "picture".into())]);
        let name = dir.path().join("new/r_001.html").display().to_string();
        assert_eq!(user.variables.get("file"), Some(name.as_str()));
        assert_eq!(user.result.file_name.as_deref(), Some(name.as_str()));
        assert!(user.variables.get("file1").unwrap().ends_with("r_002.png"));
    }

    #[test]
    fn results_can_be_skipped_and_names_can_have_no_number_and_suffix() {
        let dir = tempfile::tempdir().unwrap();
        let settings = SaveResponsesSettings {
            file_name: Template::literal(&dir.path().join("x").display().to_string()),
            errors_only: true,
            without_number: true,
            without_suffix: true,
            with_start: true,
            without_transactions: true,
            ..SaveResponsesSettings::default()
        };
        let saver = SaveResponses::new(settings);
        let mut user = user(&Symbols::default());
        let transaction = SampleResult {
            outcome: SampleOutcome {
                message: "Number of samples in transaction : 1, number of failing samples : 1".into(),
                ..result("", "t", false).outcome
            },
            ..result("", "t", false)
        };
        for result in [result("text/plain", "good", true), transaction, result("odd", "bad", false)] {
            user.result = result;
            saver.process(&mut user);
        }
        let files = saved(dir.path());
        assert_eq!((files.len(), files[0].1.as_str()), (1, "bad"));
        // The run starts at 2023-11-14 22:13:20 UTC; the local date depends on the time zone.
        assert!(files[0].0.starts_with("x2023111") && files[0].0.ends_with('_'), "{files:?}");
        assert_eq!((suffix("odd"), suffix("a/b; c")), ("unknown", "b"));
    }
}
