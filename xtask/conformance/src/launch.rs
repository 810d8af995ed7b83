//! Starts JMeter in an environment that makes its behaviour depend only on the plan, and waits for the end of programs.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use xtask_common::jmeter::JMeter;

/// A command that starts JMeter with a separate home and working directory, a fixed locale and time zone, and options
/// for a fast start. Arguments can be added.
pub fn jmeter(jmeter: &JMeter, home: &Path, plugins: &[PathBuf]) -> Command {
    let mut command = jmeter.command();
    let flags = "-XX:TieredStopAtLevel=1 -Duser.language=en -Duser.country=US -Duser.timezone=UTC -Dfile.encoding=UTF-8";
    command.env("JAVA_TOOL_OPTIONS", format!("{flags} -Duser.home={}", home.display()));
    if !plugins.is_empty() {
        let jars: Vec<_> = plugins.iter().map(|jar| jar.display().to_string()).collect();
        command.arg(format!("-Jsearch_paths={}", jars.join(";")));
    }
    // The Java version is part of the User-Agent header: it must not depend on the recording machine.
    command.arg("-Djava.version=17.0.15");
    command.current_dir(home);
    command
}

/// Runs a program to its end and discards its output.
///
/// # Errors
/// The program cannot be started, or does not end in time and is killed.
pub fn run_to_end(mut command: Command, time_max: Duration) -> Result<ExitStatus> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().with_context(|| format!("cannot start {name}"))?;
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if start.elapsed() > time_max {
            child.kill()?;
            child.wait()?;
            bail!("{name} did not end within {time_max:?}");
        }
        thread::sleep(Duration::from_millis(20));
    }
}
