//! JMeter's dashboard folder (`-e -o DIR`): the files that scripts and links expect there.

use std::path::{Path, PathBuf};

use busyhour_analysis::Summary;
use busyhour_record::{RunDir, RunDirError};
use busyhour_results::SystemRecord;
use maud::{PreEscaped, html};

use crate::page::html_report_with_system;
use crate::statistics::statistics_json;

/// Why a dashboard cannot be written.
#[derive(Debug)]
pub enum DashboardError {
    /// The directory is not empty.
    NotEmpty(PathBuf),
    /// The directory or a file in it cannot be created.
    Write(RunDirError),
}

impl std::fmt::Display for DashboardError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            DashboardError::NotEmpty(path) => {
                write!(f, "cannot write a report into {}: the folder is not empty", path.display())
            }
            DashboardError::Write(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for DashboardError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            DashboardError::NotEmpty(_) => None,
            DashboardError::Write(error) => std::error::Error::source(error),
        }
    }
}

impl From<RunDirError> for DashboardError {
    fn from(error: RunDirError) -> DashboardError {
        DashboardError::Write(error)
    }
}

/// A page of JMeter's dashboard, and the sections of `index.html` with the same content.
struct Page {
    /// Path of the file below `content/pages`.
    file: &'static str,
    /// JMeter's title of the page.
    title: &'static str,
    /// Sections of the report: id and heading. The page redirects to the first one.
    sections: &'static [(&'static str, &'static str)],
}

/// The pages below `content/pages`, named as JMeter 5.6.3 names them.
const PAGES: &[Page] = &[
    Page {
        file: "OverTime.html",
        title: "Over Time",
        sections: &[
            ("times", "Response time over time"),
            ("rate", "Rate and errors"),
            ("users", "Users"),
            ("traffic", "Sent and received"),
        ],
    },
    Page {
        file: "ResponseTimes.html",
        title: "Response Times",
        sections: &[("distribution", "Distribution"), ("labels", "Labels"), ("slowest", "Slowest requests")],
    },
    Page {
        file: "Throughput.html",
        title: "Throughput",
        sections: &[("rate", "Rate and errors"), ("labels", "Labels"), ("errors", "Errors")],
    },
    Page {
        file: "CustomsGraphs.html",
        title: "Customs Graphs",
        sections: &[("times", "Response time over time")],
    },
];

/// Name of the folder in JMeter's dashboard that contains style sheets and libraries.
const STYLE_FOLDER: &str = "sbadmin2-1.0.7";

const STYLE_README: &str = "index.html contains its styles and scripts, so it needs no file of this folder.\n\
     The folder exists because scripts that archive or copy JMeter's dashboard name it.\n";

/// Checks that a dashboard can be written into `dir`: it must be missing or, as JMeter requires, empty. Call this function
/// before the run, so that this error does not occur only at the end of the run.
///
/// # Errors
/// If the directory is not empty, is not a directory, or cannot be created.
pub fn prepare_dashboard(dir: &Path) -> Result<(), DashboardError> {
    let io = |source| RunDirError::Io { path: dir.to_owned(), source };
    std::fs::create_dir_all(dir).map_err(io)?;
    match std::fs::read_dir(dir).map_err(io)?.next() {
        None => Ok(()),
        Some(_) => Err(DashboardError::NotEmpty(dir.to_owned())),
    }
}

/// Writes JMeter's dashboard files into `dir` and returns the paths of the two main files: `index.html` and
/// `statistics.json`. `run` is the directory of the run, if there is one. If the system was observed, `index.html`
/// contains the observations. The pages below `content/pages` redirect to the sections of `index.html`.
///
/// # Errors
/// Errors of the file system.
pub fn write_dashboard(
    dir: &Path,
    summary: &Summary,
    run: Option<&RunDir>,
) -> Result<[PathBuf; 2], DashboardError> {
    let create = |dir: PathBuf| match std::fs::create_dir_all(&dir) {
        Ok(()) => Ok(dir),
        Err(source) => Err(RunDirError::Io { path: dir, source }),
    };
    let pages = create(dir.join("content/pages"))?;
    let styles = create(dir.join(STYLE_FOLDER))?;
    let (html, json) = (dir.join("index.html"), dir.join("statistics.json"));
    let system = run.and_then(|run| SystemRecord::of_summary(run, summary));
    RunDir::write_whole(&html, html_report_with_system(summary, system.as_ref()).as_bytes())?;
    RunDir::write_whole(&json, statistics_json(summary).as_bytes())?;
    for page in PAGES {
        RunDir::write_whole(&pages.join(page.file), page.html().as_bytes())?;
    }
    RunDir::write_whole(&styles.join("README.txt"), STYLE_README.as_bytes())?;
    Ok([html, json])
}

impl Page {
    fn html(&self) -> String {
        let Page { title, sections, .. } = self;
        let target = sections.first().map_or("", |(id, _)| id);
        let page = html! {
            (PreEscaped("<!doctype html>"))
            html lang="en" {
                head {
                    meta charset="utf-8";
                    title { (title) }
                    meta http-equiv="refresh" content={ "0; url=../../index.html#" (target) };
                }
                body {
                    p {
                        "The report is one page. The plots of JMeter's page \u{201c}" (title)
                        "\u{201d} are in these sections:"
                    }
                    ul {
                        @for (id, heading) in *sections {
                            li { a href={ "../../index.html#" (id) } { (heading) } }
                        }
                    }
                }
            }
            "\n"
        };
        page.into_string()
    }
}
