//! Processes and threads of a cgroup, and their limit.

use busyhour_series::Metric;

use crate::declared::DeclaredSeries;
use crate::fields::{fields, number};
use crate::proc_root::KeptFile;
use crate::reading::Reading;

use super::locate::CgroupPath;

static TASKS: Metric = Metric::gauge("container_threads", "Threads of the cgroup.");
static LIMIT: Metric = Metric::gauge("container_threads_max", "Limit of threads.");

#[derive(Debug)]
pub(super) struct TaskReader {
    current: Option<KeptFile>,
    max: Option<KeptFile>,
    current_series: DeclaredSeries,
    max_series: DeclaredSeries,
}

impl TaskReader {
    pub(super) fn new(path: &CgroupPath) -> TaskReader {
        let file = |name: &str| {
            let file = path.unified_file(name).or_else(|| path.controller_file("pids", name));
            file.map(|file| KeptFile::new(file, 4096))
        };
        TaskReader {
            current: file("pids.current"),
            max: file("pids.max"),
            current_series: DeclaredSeries::new(&TASKS),
            max_series: DeclaredSeries::new(&LIMIT),
        }
    }

    pub(super) fn read(&mut self, reading: &mut Reading<'_>) {
        match self.current.as_mut().map(KeptFile::read) {
            Some(Ok(bytes)) => {
                if let Some(tasks) = fields(bytes).next().and_then(number) {
                    self.current_series.set(reading, tasks as f64);
                }
            }
            Some(Err(error)) => reading.unavailable(&TASKS, &format!("pids.current: {error}")),
            None => {
                reading.unavailable(
                    &TASKS,
                    "the pids controller is not enabled for this cgroup, or it is the root",
                );
            }
        }
        // Without a limit, the file contains `max`.
        if let Some(Ok(bytes)) = self.max.as_mut().map(KeptFile::read)
            && let Some(max) = fields(bytes).next().and_then(number)
        {
            self.max_series.set(reading, max as f64);
        }
    }
}
