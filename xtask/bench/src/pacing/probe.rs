//! The probe as a separate process.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use super::setup::Bench;
use crate::process;

/// A probe that runs on the server's core; it is terminated when dropped.
#[derive(Debug)]
pub struct Probe {
    child: Child,
    /// Its port on 127.0.0.1.
    pub port: u16,
    stamps: PathBuf,
}

impl Probe {
    /// Starts a probe; `stall` is the value of its option `--stall`.
    pub fn start(bench: &Bench, stall: Option<&str>) -> Result<Self> {
        let stamps = tempfile::tempdir_in(bench.work.path())?.keep().join("stamps.txt");
        let mut command = Command::new(&bench.busyhour);
        command
            .args(["lab", "server", "probe", "--port", "0", "--until-stdin-closes", "--stamps"])
            .arg(&stamps);
        if let Some(stall) = stall {
            command.args(["--stall", stall]);
        }
        // The child inherits the core of this thread.
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("the probe cannot be started")?;
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut line)?;
        }
        let port = line.trim().rsplit(':').next().and_then(|port| port.parse().ok());
        let mut probe = Self { child, port: 0, stamps };
        probe.port = port.with_context(|| format!("the probe did not print its address: {line:?}"))?;
        Ok(probe)
    }

    /// The address for requests.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// The CPU seconds of the probe.
    pub fn cpu_s(&self) -> Result<f64> {
        process::cpu_s(self.child.id())
    }

    /// Ends the probe; returns the arrival times in nanoseconds.
    pub fn end(mut self) -> Result<Vec<u64>> {
        drop(self.child.stdin.take());
        // The exit code is ignored: the probe cannot print its summary, but its stamps are complete.
        self.child.wait()?;
        let text = std::fs::read_to_string(&self.stamps).context("the probe wrote no stamps")?;
        let stamps = parse(&text)?;
        ensure!(stamps.is_sorted(), "the probe's stamps are not in order");
        Ok(stamps)
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        // Errors are ignored, because the probe may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Parses the probe's file: one stamp per line, after lines that begin with `#`.
fn parse(text: &str) -> Result<Vec<u64>> {
    ensure!(
        text.starts_with("# busyhour probe stamps version 1\n"),
        "the stamps have an unsupported version"
    );
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.parse().with_context(|| format!("{line:?} is not a stamp"))).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn stamps_are_parsed() {
        let text = "# busyhour probe stamps version 1\n# requests 2\n5\n7\n";
        assert_eq!(super::parse(text).unwrap(), [5, 7]);
        assert!(super::parse("# busyhour probe stamps version 1\nx\n").is_err());
        assert!(super::parse("5\n7\n").is_err());
    }
}
