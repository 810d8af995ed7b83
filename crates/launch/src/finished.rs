//! The end of a run: its outcome, thresholds and files.

use std::error::Error;
use std::path::{Path, PathBuf};

use busyhour_analysis::thresholds::{Criterion, Judge, ThresholdStop};
use busyhour_analysis::{RunFacts, Summary};
use busyhour_compile::Started;
use busyhour_diagnostic::io_hints::chain;
use busyhour_record::{Manifest, ResultFileConfig, RunDir};
use busyhour_report::write_reports;
use busyhour_results::{RecordReading, ResultsInput, add_arrivals, add_observed, judge_record, run_measures};
use busyhour_sample::{IntervalCounts, RunEnd, RunTotals};

use crate::files::make_private;
use crate::users::RunUserCounts;

/// A run that has ended. Its directory is complete.
#[derive(Debug)]
pub struct FinishedRun {
    /// The run directory.
    pub dir: RunDir,
    /// The manifest, with the outcome.
    pub manifest: Manifest,
    /// The results, with caveats and the outcomes of the thresholds.
    pub summary: Summary,
    /// The files that were written: results, reports and the log.
    pub files: Vec<PathBuf>,
    /// The log.
    pub log: PathBuf,
    /// Messages for the user about problems at the end of the run.
    pub warnings: Vec<String>,
    /// Whether some results could not be written.
    pub is_incomplete: bool,
    /// Whether the thresholds could be evaluated. If not, they count as failed.
    pub are_thresholds_known: bool,
    /// The threshold that stopped the run, if one did.
    pub stopped_by: Option<ThresholdStop>,
    /// The reason why the program failed, if it did.
    pub failure: Option<String>,
    /// Whether no request was sent although the share of the load was not empty.
    pub nothing_sent: bool,
    /// The part of the load that is missing because a generator on another machine was lost.
    pub lost_load: Option<String>,
    /// The counts since the last [`RunHandle::take_interval`](crate::RunHandle::take_interval).
    pub last_interval: IntervalCounts,
    /// The counts of the whole run, as JMeter's summary counts them.
    pub all_intervals: IntervalCounts,
    /// The numbers of users at the end.
    pub users: RunUserCounts,
}

impl FinishedRun {
    /// How the run ended.
    #[must_use]
    pub fn end(&self) -> RunEnd {
        self.manifest.outcome.as_ref().map_or(RunEnd::Failed, |outcome| outcome.end)
    }

    /// Whether a threshold fails the run, or the thresholds could not be evaluated.
    #[must_use]
    pub fn has_failed_thresholds(&self) -> bool {
        !self.are_thresholds_known || self.summary.thresholds.iter().any(|threshold| threshold.fails_run)
    }
}

/// A run whose samples are recorded.
pub(crate) struct RecordedRun<'r> {
    pub(crate) dir: RunDir,
    pub(crate) manifest: Manifest,
    pub(crate) main: &'r ResultFileConfig,
    pub(crate) started: &'r Started,
    pub(crate) totals: &'r RunTotals,
    pub(crate) criteria: &'r [Criterion],
    /// Evaluates the thresholds during the run; `None` if they must be evaluated from the record.
    pub(crate) judge: Option<Judge>,
    pub(crate) log: &'r Path,
    pub(crate) stopped_by: Option<ThresholdStop>,
    pub(crate) failure: Option<String>,
    pub(crate) warnings: Vec<String>,
    /// Whether the share of the load has no users and no arrivals.
    pub(crate) is_empty_share: bool,
    pub(crate) lost_load: Option<String>,
    /// Whether results of generators on other machines are lost.
    pub(crate) lacks_results: bool,
    pub(crate) last_interval: IntervalCounts,
    pub(crate) all_intervals: IntervalCounts,
    pub(crate) users: RunUserCounts,
}

/// Removes the files that observers announced but did not write from the manifest. An observer may find nothing to observe, for example
/// if the targets are on other machines.
fn drop_missing_parts(dir: &RunDir, manifest: &mut Manifest) {
    let own = RunDir::recorder_parts();
    manifest.parts.retain(|part| own.contains(part) || dir.part_path(part).exists());
}

impl RecordedRun<'_> {
    /// Evaluates the run and writes its files.
    pub(crate) fn finish(mut self) -> FinishedRun {
        drop_missing_parts(&self.dir, &mut self.manifest);
        let mut summary = Summary::new(RunFacts::from_manifest(&self.manifest), self.totals);
        let mut finished = Files {
            written: self.result_files(),
            is_incomplete: self.lacks_results || !self.totals.events.is_empty(),
            warnings: self.warnings,
        };
        if let Err(error) = self.dir.write_manifest(&self.manifest) {
            finished.fail(&error);
        }
        if let Err(error) = add_arrivals(&self.dir, &mut summary) {
            finished.fail(&error);
        }
        add_observed(&self.dir, Some(&self.manifest), &mut summary);
        let are_thresholds_known = match judge(self.judge, &self.dir, self.criteria, &mut summary) {
            Ok(()) => true,
            Err(error) => {
                finished.warnings.push(format!("the thresholds could not be judged: {}", chain(&error)));
                false
            }
        };
        match write_reports(&self.dir, &summary) {
            Ok(paths) => finished.written.extend(paths),
            Err(error) => finished.fail(&error),
        }
        finished.warnings.extend(make_private(&self.dir));
        let interrupted = summary.run.generator.interrupted_samples;
        FinishedRun {
            nothing_sent: self.totals.total.samples == 0 && interrupted == 0 && !self.is_empty_share,
            dir: self.dir,
            manifest: self.manifest,
            summary,
            files: finished.written,
            log: self.log.to_owned(),
            warnings: finished.warnings,
            is_incomplete: finished.is_incomplete,
            are_thresholds_known,
            stopped_by: self.stopped_by,
            failure: self.failure,
            lost_load: self.lost_load,
            last_interval: self.last_interval,
            all_intervals: self.all_intervals,
            users: self.users,
        }
    }

    fn result_files(&self) -> Vec<PathBuf> {
        let listeners = self.started.listeners.iter().map(|file| &file.path);
        let listeners = listeners.filter(|path| !path.as_os_str().is_empty());
        std::iter::once(&self.main.path).chain(listeners).cloned().collect()
    }
}

/// The files written so far.
struct Files {
    written: Vec<PathBuf>,
    is_incomplete: bool,
    warnings: Vec<String>,
}

impl Files {
    fn fail(&mut self, error: &(dyn Error + 'static)) {
        self.warnings.push(chain(error));
        self.is_incomplete = true;
    }
}

/// Evaluates the thresholds.
fn judge(
    judge: Option<Judge>,
    dir: &RunDir,
    criteria: &[Criterion],
    summary: &mut Summary,
) -> Result<(), busyhour_results::ReadRunError> {
    if criteria.is_empty() {
        return Ok(());
    }
    summary.thresholds = match judge {
        Some(judge) => judge.finish(&run_measures(summary)),
        None => {
            let record = [ResultsInput::path(dir.path())];
            judge_record(&record, &RecordReading::default(), summary, criteria.to_vec())?
        }
    };
    // A threshold may fail while the run is already ending normally.
    let is_stopped = summary.run.stopped_by.is_some();
    summary.thresholds.iter_mut().for_each(|threshold| threshold.stopped_run &= is_stopped);
    Ok(())
}
