//! A program that runs the plan.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use xtask_common::jmeter::JMeter;
use xtask_common::process::tail;

use super::rows::{self, Row};

/// The maximum duration of a run in addition to its load: start, filling, end.
const PATIENCE: Duration = Duration::from_secs(120);

/// The program that runs the plan.
#[derive(Debug)]
pub enum ComparedProgram {
    /// The reference.
    JMeter(JMeter),
    /// This project's binary.
    Busyhour(PathBuf),
}

/// The output of a run.
#[derive(Debug)]
pub struct RunOutput {
    /// The result rows.
    pub rows: Vec<Row>,
    /// The lines of the log with errors.
    pub errors: Vec<String>,
}

impl ComparedProgram {
    /// The name in messages.
    pub fn name(&self) -> &'static str {
        match self {
            Self::JMeter(_) => "JMeter",
            Self::Busyhour(_) => "Busyhour",
        }
    }

    /// Runs `plan` in `folder`, which must exist.
    ///
    /// # Errors
    /// The program cannot be started, does not end, fails, or writes no readable rows.
    pub fn run(
        &self,
        plan: &Path,
        properties: &[(&str, String)],
        folder: &Path,
        load_s: u64,
    ) -> Result<RunOutput> {
        let mut command = match self {
            Self::JMeter(jmeter) => jmeter.command(),
            Self::Busyhour(program) => Command::new(program),
        };
        command.args(["-n", "-l", "rows.jtl", "-j", "run.log", "-t"]).arg(plan);
        for (name, value) in properties {
            command.arg(format!("-J{name}={value}"));
        }
        let output = folder.join("output.log");
        let file = File::create(&output)?;
        command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file).current_dir(folder);
        let mut child = command.spawn().with_context(|| format!("cannot start {}", self.name()))?;
        let (start, limit) = (Instant::now(), PATIENCE + Duration::from_secs(load_s));
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if start.elapsed() > limit {
                child.kill()?;
                child.wait()?;
                anyhow::bail!("{} did not end within {limit:?}:\n{}", self.name(), tail(&output));
            }
            thread::sleep(Duration::from_millis(50));
        };
        ensure!(status.success(), "{} failed ({status}):\n{}", self.name(), tail(&output));
        let log = fs::read_to_string(folder.join("run.log")).unwrap_or_default();
        let errors = log.lines().filter(|line| line.contains(" ERROR "));
        let errors = errors.map(|line| format!("{}: {line}", self.name())).collect();
        Ok(RunOutput { rows: rows::read(&folder.join("rows.jtl"))?, errors })
    }
}
