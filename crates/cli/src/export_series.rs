//! Exports the observed series of a run to a file.

use std::fs::File;
use std::io::{BufReader, BufWriter, IsTerminal as _};
use std::path::{Path, PathBuf};

use busyhour_diagnostic::io_hints::{chain, with_hint};
use busyhour_export::{
    ExportError, ExportedSeries, SeriesSelection, export_series_csv, export_series_parquet,
};
use busyhour_record::RunDir;
use busyhour_results::series_path;
use busyhour_terminal::exit::{Exit, note, say};

/// The run, the selected series and the output of an export.
pub(crate) struct SeriesExport<'a> {
    /// A run directory, or a series file.
    pub(crate) input: &'a Path,
    /// The output file; `None` for standard output.
    pub(crate) output: Option<&'a str>,
    pub(crate) is_parquet: bool,
    /// Name of the run in the metadata of the file.
    pub(crate) name: Option<&'a str>,
    pub(crate) selection: SeriesSelection,
}

/// Exports the series. Returns false if the reader of a pipe ended before the end of the export.
pub(crate) fn export_series(export: &SeriesExport<'_>) -> Result<bool, (Exit, String)> {
    let path = series_file(export.input)?;
    let refused = |error: &std::io::Error| {
        (Exit::Refused, format!("cannot read {}: {}", path.display(), with_hint(error)))
    };
    let input = BufReader::with_capacity(1 << 16, File::open(&path).map_err(|error| refused(&error))?);
    if export.is_parquet && export.output.is_none() && std::io::stdout().is_terminal() {
        let text = "a Parquet file cannot be written to a terminal: add -o series.parquet";
        return Err((Exit::Usage, text.into()));
    }
    match write(export, input) {
        Ok(exported) => {
            if exported.damaged_end.is_some() {
                let shown = path.display();
                say(&format!(
                    "warning: {shown} is cut off or damaged at its end; the readable part was exported"
                ));
            }
            if exported.rows == 0 {
                say("warning: no value was selected");
            }
            if export.output.is_some() {
                note(&format!("{} values of {} series", exported.rows, exported.series));
            }
            Ok(true)
        }
        Err(ExportError::Io { source, .. })
            if export.output.is_none() && source.kind() == std::io::ErrorKind::BrokenPipe =>
        {
            Ok(false)
        }
        Err(error) => {
            let exit = match &error {
                ExportError::Series(_) => Exit::Refused,
                ExportError::NotBuilt { .. } => Exit::Usage,
                _ => Exit::Internal,
            };
            Err((exit, chain(&error)))
        }
    }
}

fn write(export: &SeriesExport<'_>, input: BufReader<File>) -> Result<ExportedSeries, ExportError> {
    let (target, selection) = (export.output.unwrap_or("standard output"), &export.selection);
    let run = export.name.map_or_else(|| export.input.display().to_string(), str::to_owned);
    match (export.output, export.is_parquet) {
        (None, false) => {
            export_series_csv(input, selection, BufWriter::new(std::io::stdout().lock()), target)
        }
        (None, true) => export_series_parquet(input, selection, || Ok(std::io::stdout()), &run, target),
        (Some(path), false) => {
            let file =
                File::create(path).map_err(|source| ExportError::Io { target: target.to_owned(), source })?;
            export_series_csv(input, selection, BufWriter::new(file), target)
        }
        (Some(path), true) => {
            let began = std::cell::Cell::new(false);
            let create = || File::create(path).inspect(|_| began.set(true));
            let exported = export_series_parquet(input, selection, create, &run, target);
            // A Parquet file without its footer is unreadable.
            if exported.is_err() && began.get() && Path::new(path).is_file() {
                let _ = std::fs::remove_file(path);
            }
            exported
        }
    }
}

/// The series file of a run directory, or `input` itself if it is a file.
fn series_file(input: &Path) -> Result<PathBuf, (Exit, String)> {
    if !input.is_dir() {
        return Ok(input.to_owned());
    }
    let dir = RunDir::open(input);
    // A directory that contains only an observation has no manifest.
    let manifest = dir.read_manifest().ok();
    series_path(&dir, manifest.as_ref()).ok_or_else(|| {
        let text = format!("{} contains no observed series: the run was not observed", input.display());
        (Exit::Refused, text)
    })
}
