//! Thresholds: reads them from the command line and from files, evaluates them during a run, and writes files for CI.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use busyhour_analysis::Summary;
use busyhour_analysis::thresholds::{Criterion, CriterionError, Meaning, ThresholdReport};
use busyhour_diagnostic::io_hints::chain;
use busyhour_diagnostic::{Diagnostic, Span};
use busyhour_limits::files::{INPUT_BYTES, read_input_text};
use busyhour_record::RunDir;
use busyhour_report::{summary_markdown, thresholds_junit};
use busyhour_terminal::command_error::CommandError;
use clap::Args;
use serde::Deserialize;
use toml::Spanned;

/// Environment variable with the file of a GitHub step summary.
const STEP_SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// The thresholds on the command line, and the files for their outcome.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Thresholds")]
pub struct ThresholdArgs {
    /// Condition that must hold, e.g. 'p95 < 800ms'.
    ///
    /// Other examples: 'p95 of checkout < 800ms over 30s', 'errors < 1%'; or a Taurus criterion with its action: 'avg-rt>150ms
    /// for 10s, stop as failed'. May be given several times; see docs/thresholds.md.
    #[arg(long, value_name = "CRITERION")]
    threshold: Vec<String>,
    /// Condition that must not occur, as a Taurus criterion: 'rc5xx>20 for 5s'. May be given several times.
    #[arg(long, value_name = "CRITERION", hide_short_help = true)]
    fail_if: Vec<String>,
    /// File with thresholds (TOML); may be given several times.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    thresholds: Vec<PathBuf>,
    /// Write the outcome of the thresholds as JUnit XML.
    #[arg(long, value_name = "FILE", hide = true)]
    junit: Option<PathBuf>,
    /// Append a summary in Markdown to this file (default: the file in GITHUB_STEP_SUMMARY).
    #[arg(long, value_name = "FILE", hide = true)]
    summary_md: Option<PathBuf>,
    /// Write the outcome of the thresholds as JSON (schema: docs/thresholds.schema.json).
    #[arg(long, value_name = "FILE", hide = true)]
    thresholds_json: Option<PathBuf>,
}

/// The files for the outcome of thresholds.
#[derive(Clone, Debug, Default)]
pub struct ThresholdFiles {
    junit: Option<PathBuf>,
    markdown: Option<PathBuf>,
    json: Option<PathBuf>,
}

impl ThresholdFiles {
    /// Whether the command line names a file that needs thresholds.
    pub fn are_requested(&self) -> bool {
        self.junit.is_some() || self.json.is_some()
    }
}

impl ThresholdArgs {
    /// Reads the criteria, or returns all errors in them.
    pub fn read(self) -> Result<(Vec<Criterion>, ThresholdFiles), CommandError> {
        let (mut criteria, mut wrong) = (Vec::new(), Vec::new());
        for path in &self.thresholds {
            match read_input_text(path, INPUT_BYTES) {
                Ok(text) => match read_file(&text, &path.display().to_string()) {
                    Ok(read) => criteria.extend(read),
                    Err(findings) => wrong.extend(findings.iter().map(Diagnostic::to_string)),
                },
                Err(error) => {
                    let why = busyhour_diagnostic::io_hints::with_hint(&error);
                    wrong.push(format!("cannot read the thresholds {}: {why}", path.display()));
                }
            }
        }
        let given =
            [("--threshold", self.threshold, Meaning::Require), ("--fail-if", self.fail_if, Meaning::FailIf)];
        for (flag, texts, meaning) in given {
            for text in texts {
                match Criterion::parse(&text, meaning) {
                    Ok(criterion) => criteria.push(criterion),
                    Err(error) => wrong.push(pointed(flag, &error)),
                }
            }
        }
        if !wrong.is_empty() {
            return Err(wrong.join("\n").into());
        }
        let step = std::env::var_os(STEP_SUMMARY).filter(|path| !path.is_empty()).map(PathBuf::from);
        let files = ThresholdFiles {
            junit: self.junit,
            markdown: self.summary_md.or(step),
            json: self.thresholds_json,
        };
        Ok((criteria, files))
    }
}

/// The message for an error in a criterion, with a marker below the position of the error.
fn pointed(flag: &str, error: &CriterionError) -> String {
    let marked =
        error.text.get(error.offset..error.offset + error.len).unwrap_or_default().chars().count().max(1);
    let mut text = format!(
        "{flag}: {error}\n  {}\n  {}{}",
        error.text,
        " ".repeat(error.column() - 1),
        "^".repeat(marked)
    );
    if let Some(hint) = &error.hint {
        text.push_str(&format!("\n  hint: {hint}"));
    }
    text
}

/// The content of a thresholds file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    /// Conditions that must hold.
    #[serde(default)]
    require: Vec<Spanned<String>>,
    /// Conditions that must not occur.
    #[serde(default)]
    fail_if: Vec<Spanned<String>>,
    /// Criteria with names.
    #[serde(default)]
    named: std::collections::BTreeMap<String, Spanned<String>>,
}

/// Reads the criteria of a file of thresholds, in the order of the file.
fn read_file(text: &str, name: &str) -> Result<Vec<Criterion>, Vec<Diagnostic>> {
    let file: File = toml::from_str(text).map_err(|error| {
        let at = error.span().unwrap_or_default();
        let finding = Diagnostic::error("thresholds-file", error.message().to_owned())
            .in_file(name)
            .at(Span::locate(text, at.start, at.len()))
            .with_hint(
                "the file has `require = [\"p95 of checkout < 800ms\"]`, `fail-if = [\"rc5xx>20 for 5s\"]` and a table \
                 `[named]` of `\"a name\" = \"criterion\"`",
            );
        vec![finding]
    })?;
    let unnamed =
        |texts: Vec<Spanned<String>>, meaning| texts.into_iter().map(move |text| (None, text, meaning));
    let mut all: Vec<_> = unnamed(file.require, Meaning::Require)
        .chain(unnamed(file.fail_if, Meaning::FailIf))
        .chain(file.named.into_iter().map(|(name, text)| (Some(name), text, Meaning::Require)))
        .collect();
    all.sort_by_key(|(_, criterion, _)| criterion.span().start);
    let (mut criteria, mut findings) = (Vec::new(), Vec::new());
    for (given, criterion, meaning) in all {
        match Criterion::parse(criterion.get_ref(), meaning) {
            Ok(read) => criteria.push(Criterion { name: given.or(read.name.clone()), ..read }),
            Err(error) => {
                let literal = criterion.span();
                // The position is exact only if the quoted text has no escape sequences.
                let is_plain =
                    text.get(literal.start + 1..literal.end - 1) == Some(criterion.get_ref().as_str());
                let (from, len) = if is_plain {
                    (literal.start + 1 + error.offset, error.len)
                } else {
                    (literal.start, literal.len())
                };
                let mut finding = Diagnostic::error("criterion", error.message.clone())
                    .in_file(name)
                    .at(Span::locate(text, from, len))
                    .with_cause(format!("the criterion is: {}", error.text));
                if let Some(hint) = error.hint {
                    finding = finding.with_hint(hint);
                }
                findings.push(finding);
            }
        }
    }
    if findings.is_empty() { Ok(criteria) } else { Err(findings) }
}

impl ThresholdFiles {
    /// Writes the files requested on the command line. Returns the paths of the written files, and error messages.
    pub fn write(&self, source: &str, summary: &Summary) -> (Vec<PathBuf>, Vec<String>) {
        let report = ThresholdReport::new(source.to_owned(), summary.thresholds.clone());
        let (mut written, mut failed) = (Vec::new(), Vec::new());
        let mut note = |path: &Path, error: Option<String>| match error {
            None => written.push(path.to_owned()),
            Some(error) => failed.push(error),
        };
        let whole = |path: &Path, text: String| {
            RunDir::write_whole(path, text.as_bytes()).err().map(|error| chain(&error))
        };
        if let Some(path) = &self.junit {
            note(path, whole(path, thresholds_junit(summary)));
        }
        if let Some(path) = &self.json {
            note(path, whole(path, report.to_json()));
        }
        if let Some(path) = &self.markdown {
            // The file is appended to, because other steps of a CI job write to it as well.
            let appended = std::fs::OpenOptions::new()
                .create(true)
                .append(true)
                .open(path)
                .and_then(|mut file| file.write_all(summary_markdown(summary).as_bytes()));
            note(
                path,
                appended.err().map(|error| {
                    format!(
                        "cannot write {}: {}",
                        path.display(),
                        busyhour_diagnostic::io_hints::with_hint(&error)
                    )
                }),
            );
        }
        (written, failed)
    }
}

/// Whether a threshold fails the run.
pub fn has_failed(summary: &Summary) -> bool {
    summary.thresholds.iter().any(|threshold| threshold.fails_run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_in_order() {
        let text = r#"
            fail-if = ["avg-rt of IndexPage>150ms for 10s"]
            require = [
                "errors < 1%", # of all requests
                'p95 of "a, b" < 800ms over 30s',
            ]
            [named]
            "z first" = "max < 5s"
            "a second" = "rc5xx>20 for 5s, stop as failed"
        "#;
        let read: Vec<_> = read_file(text, "t.toml").unwrap().iter().map(Criterion::to_string).collect();
        assert_eq!(
            read,
            [
                "fail if mean of 'IndexPage' > 150ms for 10s, stop as failed",
                "require fail < 1%",
                "require p95 of 'a, b' < 800ms over 30s",
                "z first: require max < 5000ms",
                "a second: fail if rc5?? > 20 for 5s, stop as failed",
            ]
        );
    }

    #[test]
    fn errors_in_a_file_have_their_line() {
        let text = "require = [\n  \"p95 off checkout < 800ms\",\n  \"errors < 101%\",\n]\n";
        let reported: Vec<_> =
            read_file(text, "t.toml").unwrap_err().iter().map(Diagnostic::to_string).collect();
        insta::assert_snapshot!(reported.join("\n"));
        let error = read_file("reqire = []\n", "t.toml").unwrap_err();
        assert_eq!(error[0].location().as_deref(), Some("t.toml:1:1"));
        insta::assert_snapshot!(pointed(
            "--threshold",
            &Criterion::parse("añadir: p95 of ž < 5q", Meaning::Require).unwrap_err()
        ));
    }
}
