//! The probe as a separate process.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use super::setup::Bench;
use crate::process;

/// A probe that runs on the server's core; it ends with its owner.
#[derive(Debug)]
pub struct Probe {
    child: Child,
    /// Where it listens, on 127.0.0.1.
    pub port: u16,
    stamps: PathBuf,
}

impl Probe {
    /// Starts one; `stall` as the probe reads it.
    pub fn start(bench: &Bench, stall: Option<&str>) -> Result<Self> {
        let stamps = tempfile::tempdir_in(bench.work.path())?.keep().join("stamps.txt");
        let mut command = Command::new(&bench.busyhour);
        command
            .args(["demo-server", "probe", "--port", "0", "--until-stdin-closes", "--stamps"])
            .arg(&stamps);
        if let Some(stall) = stall {
            command.args(["--stall", stall]);
        }
        // It inherits the core of this thread.
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("the probe does not start")?;
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut line)?;
        }
        let port = line.trim().rsplit(':').next().and_then(|port| port.parse().ok());
        let mut probe = Self { child, port: 0, stamps };
        probe.port = port.with_context(|| format!("the probe does not print its address: {line:?}"))?;
        Ok(probe)
    }

    /// The address for requests.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// CPU seconds it has used.
    pub fn cpu_s(&self) -> Result<f64> {
        process::cpu_s(self.child.id())
    }

    /// Ends it; gives its stamps in nanoseconds.
    pub fn end(mut self) -> Result<Vec<u64>> {
        drop(self.child.stdin.take());
        // Its summary goes nowhere, which is no failure of the stamps.
        self.child.wait()?;
        let text = std::fs::read_to_string(&self.stamps).context("the probe left no stamps")?;
        let stamps = read(&text)?;
        ensure!(stamps.is_sorted(), "the probe's stamps are not in order");
        Ok(stamps)
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        // It may have ended already; either way it is gone after this.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The stamps in the probe's file: one a line, after lines that begin with `#`.
fn read(text: &str) -> Result<Vec<u64>> {
    ensure!(text.starts_with("# busyhour probe stamps version 1\n"), "stamps of another version");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.parse().with_context(|| format!("{line:?} is no stamp"))).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn stamps_are_read() {
        let text = "# busyhour probe stamps version 1\n# requests 2\n5\n7\n";
        assert_eq!(super::read(text).unwrap(), [5, 7]);
        assert!(super::read("# busyhour probe stamps version 1\nx\n").is_err());
        assert!(super::read("5\n7\n").is_err());
    }
}
