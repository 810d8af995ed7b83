//! Output files of all verbs: `-o FILE`. The extension determines the content.

use std::path::{Path, PathBuf};

use busyhour_diagnostic::io_hints::chain;
use busyhour_record::RunDir;

use crate::command_error::CommandError;
use crate::exit::{Exit, complain, note};

/// The content of an output file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// A page.
    Html,
    /// JSON.
    Json,
    /// CSV.
    Csv,
    /// Markdown.
    Markdown,
    /// The outcome of thresholds as JUnit XML.
    Junit,
    /// Samples in Apache Parquet.
    Parquet,
    /// A model in TOML.
    Toml,
    /// A directory with JMeter's dashboard.
    Dashboard,
}

/// The extensions of files, and the content for each of them.
const EXTENSIONS: [(&str, OutputKind); 9] = [
    ("html", OutputKind::Html),
    ("htm", OutputKind::Html),
    ("json", OutputKind::Json),
    ("csv", OutputKind::Csv),
    ("md", OutputKind::Markdown),
    ("xml", OutputKind::Junit),
    ("parquet", OutputKind::Parquet),
    ("toml", OutputKind::Toml),
    ("", OutputKind::Dashboard),
];

impl OutputKind {
    /// The kind of the file at `path`. A directory, or a path without a known extension, is for JMeter's dashboard.
    pub fn of(path: &Path) -> OutputKind {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let known = EXTENSIONS.iter().find(|(known, _)| extension.eq_ignore_ascii_case(known));
        known.filter(|_| !path.is_dir()).map_or(OutputKind::Dashboard, |(_, kind)| *kind)
    }

    /// The name of the kind in messages, such as `.json`.
    const fn name(self) -> &'static str {
        match self {
            OutputKind::Html => ".html",
            OutputKind::Json => ".json",
            OutputKind::Csv => ".csv",
            OutputKind::Markdown => ".md",
            OutputKind::Junit => ".xml (JUnit)",
            OutputKind::Parquet => ".parquet",
            OutputKind::Toml => ".toml",
            OutputKind::Dashboard => "a directory",
        }
    }
}

/// An output file.
#[derive(Clone, Debug)]
pub struct OutputFile {
    /// Its path.
    pub path: PathBuf,
    /// Its content.
    pub kind: OutputKind,
}

/// The files of `-o`; an error if a verb cannot write one of their kinds.
pub fn output_files(paths: &[PathBuf], written: &[OutputKind]) -> Result<Vec<OutputFile>, CommandError> {
    let file = |path: &PathBuf| {
        let kind = OutputKind::of(path);
        if written.contains(&kind) {
            return Ok(OutputFile { path: path.clone(), kind });
        }
        let is_folder = path.is_dir() && kind == OutputKind::Dashboard;
        let what = if is_folder { "is a directory; " } else { "" };
        let names: Vec<&str> = written.iter().map(|kind| kind.name()).collect();
        let names = match &names[..] {
            [one] => (*one).to_owned(),
            [first @ .., last] => format!("{} or {last}", first.join(", ")),
            [] => "–".to_owned(),
        };
        Err(format!("-o {}: {what}this command writes {names}", path.display()).into())
    };
    paths.iter().map(file).collect()
}

/// The requested files, and whether JSON is printed. `json_file` is the value of `--json` in its old form. For a kind of
/// file that is not in `written`, it prints an error and returns the exit code.
pub fn requested(
    output: &[PathBuf],
    json: bool,
    json_file: Option<&PathBuf>,
    written: &[OutputKind],
) -> Result<(Vec<OutputFile>, bool), Exit> {
    let is_stdout = |path: &PathBuf| path.as_os_str() == "-";
    let mut files = output_files(output, written).map_err(|message| complain(Exit::Usage, &message))?;
    let json_path = json_file.filter(|path| !is_stdout(path));
    files.extend(json_path.map(|path| OutputFile { path: path.clone(), kind: OutputKind::Json }));
    Ok((files, json || json_file.is_some_and(is_stdout)))
}

/// Writes text files. `text` returns the content of each file.
pub fn write_files(
    files: &[OutputFile],
    text: &mut dyn FnMut(OutputKind) -> Result<String, CommandError>,
) -> Result<(), Exit> {
    for file in files {
        let contents = text(file.kind).map_err(|error| complain(Exit::Internal, &error))?;
        RunDir::write_whole(&file.path, contents.as_bytes())
            .map_err(|error| complain(Exit::Internal, &chain(&error)))?;
    }
    Ok(())
}

/// Prints the names of the files that were written.
pub fn note_written(files: &[OutputFile]) {
    files.iter().for_each(|file| note(&format!("wrote {}", file.path.display())));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_is_the_kind() {
        for (path, kind) in [
            ("a.html", OutputKind::Html),
            ("a/b.JSON", OutputKind::Json),
            ("a.b.csv", OutputKind::Csv),
            ("summary.md", OutputKind::Markdown),
            ("junit.xml", OutputKind::Junit),
            ("report", OutputKind::Dashboard),
            ("report-2024.12.01", OutputKind::Dashboard),
            (".", OutputKind::Dashboard),
        ] {
            assert_eq!(OutputKind::of(Path::new(path)), kind, "{path}");
        }
        let wrong =
            output_files(&["a.csv".into()], &[OutputKind::Html, OutputKind::Json, OutputKind::Dashboard]);
        assert_eq!(
            wrong.unwrap_err().to_string(),
            "-o a.csv: this command writes .html, .json or a directory"
        );
    }
}
