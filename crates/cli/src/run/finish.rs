//! The end of a run: writes its files and prints its result.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};

use busyhour_analysis::{RunFacts, Summary};
use busyhour_compile::Started;
use busyhour_program::run::Properties;
use busyhour_record::{Manifest, ResultFileConfig, RunDir, RunEnd, RunTotals};
use busyhour_report::{RunShow, Written, end_of_run, write_dashboard, write_reports};
use busyhour_runs::add_arrivals;

use crate::exit::{self, say};
use crate::io_hints::chain;
use crate::outcome::Results;
use crate::output::{Output, open_page, report_command};
use crate::run::files;
use crate::run_request::RunRequest;
use crate::thresholds::{Thresholds, Watch};

/// A run that has ended, with everything that its files and its result are made of.
pub(crate) struct EndedRun<'r> {
    pub(crate) request: &'r RunRequest,
    pub(crate) manifest: &'r Manifest,
    pub(crate) dir: &'r RunDir,
    pub(crate) main: &'r ResultFileConfig,
    pub(crate) log_path: &'r Path,
    pub(crate) started: &'r Started,
    pub(crate) totals: &'r RunTotals,
}

/// The files written so far, and whether some could not be written.
struct Files {
    written: Vec<String>,
    lost: bool,
}

impl Files {
    fn add<E: Error + 'static>(&mut self, written: Result<[PathBuf; 2], E>) {
        match written {
            Ok(paths) => self.written.extend(paths.iter().map(|path| path.display().to_string())),
            Err(error) => self.fail(&error),
        }
    }

    fn fail(&mut self, error: &(dyn Error + 'static)) {
        say(&format!("warning: {}", chain(error)));
        self.lost = true;
    }
}

impl EndedRun<'_> {
    /// Writes the files of the end, prints the result and then `failure`, if the program failed.
    pub(crate) fn finish(&self, thresholds: Option<Watch>, failure: Option<&str>) -> Results {
        let mut summary = Summary::new(RunFacts::from_manifest(self.manifest), self.totals);
        let mut files = Files { written: self.result_files(), lost: !self.totals.events.is_empty() };
        if let Err(error) = self.dir.write_manifest(self.manifest) {
            files.fail(&error);
        }
        if let Err(error) = add_arrivals(self.dir, &mut summary) {
            files.fail(&error);
        }
        let is_judged = self.judge(thresholds, &mut summary);
        files.add(write_reports(self.dir, &summary));
        if let Some(dashboard) = &self.request.dashboard {
            files.add(write_dashboard(dashboard, &summary));
        }
        files::make_private(self.dir);
        let (paths, failures) =
            self.request.thresholds.write(&self.dir.path().display().to_string(), &summary);
        files.written.extend(paths.iter().map(|path| path.display().to_string()));
        for error in &failures {
            say(&format!("warning: {error}"));
            files.lost = true;
        }
        files.written.push(self.log_path.display().to_string());
        self.print_result(&summary, &files.written);
        if let Some(failure) = failure {
            say(&format!("error: {failure}"));
        }
        Results {
            lost: files.lost,
            failed: !is_judged || Thresholds::failed(&summary),
            nothing_sent: self.report_errors(&summary),
        }
    }

    fn result_files(&self) -> Vec<String> {
        let listeners = self.started.listeners.iter().map(|file| &file.path);
        let listeners = listeners.filter(|path| !path.as_os_str().is_empty());
        std::iter::once(&self.main.path).chain(listeners).map(|path| path.display().to_string()).collect()
    }

    /// Evaluates the thresholds; returns false if that is impossible, so that they count as failed.
    fn judge(&self, thresholds: Option<Watch>, summary: &mut Summary) -> bool {
        let Some(thresholds) = thresholds else { return true };
        match thresholds.finish(self.dir, summary, &self.request.thresholds.criteria) {
            Ok(results) => {
                summary.thresholds = results;
                // A threshold may fail while the run is completing by itself.
                let is_stopped = summary.run.stopped_by.is_some();
                summary.thresholds.iter_mut().for_each(|threshold| threshold.stopped_run &= is_stopped);
                true
            }
            Err(error) => {
                say(&format!("warning: {error}"));
                false
            }
        }
    }

    fn print_result(&self, summary: &Summary, written: &[String]) {
        let out = Output::of_stdout();
        let page = self.dir.report_path();
        let written = Written {
            files: written.to_vec(),
            page: Some(std::path::absolute(&page).unwrap_or(page)),
            has_links: out.has_links,
            details_command: Some(report_command(&[self.dir.path()])),
        };
        let show = RunShow { details: self.request.show.details || !out.is_terminal, ..self.request.show };
        exit::print(&end_of_run(summary, show, &written, out.look));
        if self.request.open_report
            && let Some(page) = &written.page
        {
            open_page(page);
        }
        if self.request.as_jmeter {
            exit::print("... end of run\n");
        }
    }

    /// Prints why the run was stopped or sent nothing; returns whether it sent nothing.
    fn report_errors(&self, summary: &Summary) -> bool {
        if let Some(error) = &summary.run.error {
            say(&format!("error: the run was stopped by an error: {error}"));
        }
        let nothing_sent = self.totals.total.samples == 0 && summary.run.generator.interrupted_samples == 0;
        if nothing_sent && matches!(summary.run.end, Some(RunEnd::Completed | RunEnd::StoppedByPlan)) {
            say(&format!(
                "error: no request was sent: every user ended before its first sampler\n  hint: see {} for the reason",
                self.log_path.display()
            ));
        }
        nothing_sent
    }
}

/// Warns about properties of `-J` that were never read, which are probably misspelt, except those in `warned`.
pub(crate) fn warn_of_unused(request: &RunRequest, properties: &Properties, warned: &[String]) {
    for name in unread(request, properties).filter(|name| !warned.contains(name)) {
        say(&format!(
            "warning: the property {name} of -J was never used\n  hint: compare its name with the plan's ${{__P(…)}}"
        ));
    }
}

/// Properties of `-J` that nothing has read so far, each once.
pub(crate) fn unread<'r>(
    request: &'r RunRequest,
    properties: &Properties,
) -> impl Iterator<Item = &'r String> {
    let given =
        request.flags.jmeter.iter().filter(|(name, value)| !value.is_empty() && !properties.is_read(name));
    given.map(|(name, _)| name).collect::<BTreeSet<_>>().into_iter()
}
