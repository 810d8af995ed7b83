//! Runs JMeter's own batch tests of release 5.6.3. Listeners in the plans write a CSV file and an XML file. Both must equal the
//! expected files (except for line ends), and the log must not contain errors.
//!
//! The files of these tests belong to JMeter and are not part of this repository.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A plan of the batch tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchTestPlan {
    /// The name of the plan and of its files.
    pub name: &'static str,
    /// Additional arguments of the run.
    pub arguments: &'static [&'static str],
}

const fn plain(name: &'static str) -> BatchTestPlan {
    BatchTestPlan { name, arguments: &[] }
}

/// The plans for which JMeter 5.6.3 itself writes the expected files on all machines.
pub const BATCH_TEST_PLANS: [BatchTestPlan; 13] = [
    plain("Bug62239"),
    plain("BUG_62847"),
    plain("Bug52968"),
    plain("Bug50898"),
    plain("Bug55375"),
    BatchTestPlan { name: "Bug54685", arguments: &["-Jsample_variables=REFERENCE,JSESSIONID"] },
    plain("HTMLParserTestFile_2"),
    plain("TestHeaderManager"),
    plain("BatchTestLocal"),
    plain("Bug56243"),
    plain("Bug56811"),
    plain("TestResultStatusAction"),
    plain("TestSchedulerWithTimer"),
];

/// The result of comparing the lines of a file with those of the expected file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LineComparison {
    /// Number of lines that both files contain in the same order.
    pub equal: usize,
    /// Number of lines of the expected file.
    pub expected: usize,
    /// Number of lines of the written file.
    pub written: usize,
}

impl LineComparison {
    /// Whether the files are equal.
    #[must_use]
    pub const fn all(&self) -> bool {
        self.equal == self.expected && self.equal == self.written
    }
}

/// The result of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchTestOutcome {
    /// The plan.
    pub plan: BatchTestPlan,
    /// The comparison of the CSV file.
    pub csv: LineComparison,
    /// The comparison of the XML file.
    pub xml: LineComparison,
    /// Descriptions of the deviations; empty if there are none.
    pub problems: Vec<String>,
}

/// The directory with JMeter's test files next to this workspace; `None` if it does not exist.
#[must_use]
pub fn peer_files(workspace: &Path) -> Option<PathBuf> {
    workspace.join("../shared/jmeter-testfiles/testfiles").canonicalize().ok()
}

impl BatchTestPlan {
    /// Whether the plan's samples read the test files, so that sizes of files affect results.
    fn reads_pages(&self) -> bool {
        self.name == "HTMLParserTestFile_2"
    }

    /// Runs the plan as JMeter's build does. `folder` must be empty; the test files are linked or copied to it.
    ///
    /// # Errors
    /// A file cannot be read or linked, or the program cannot be run.
    pub fn run(&self, program: &Path, testfiles: &Path, folder: &Path) -> io::Result<BatchTestOutcome> {
        if self.reads_pages() {
            copy_with_release_line_ends(testfiles, &folder.join("testfiles"))?;
        } else {
            link(testfiles, &folder.join("testfiles"))?;
        }
        let output = Command::new(program)
            .args(["-n", "-t", &format!("testfiles/{}.jmx", self.name)])
            .args(["-q", "testfiles/jmeter-batch.properties", "-j", "jmeter.log"])
            .args(["-Jmodule=Module", "-Gmodule=Module", &format!("-JCSVFILE={}.csv", self.name)])
            .args(self.arguments)
            .current_dir(folder)
            .stdin(Stdio::null())
            .output()?;
        let mut problems = Vec::new();
        if !output.status.success() {
            let printed = String::from_utf8_lossy(&output.stderr);
            let errors: Vec<_> = printed.lines().filter(|line| line.starts_with("error")).take(4).collect();
            problems.push(format!("{}: {}", output.status, errors.join("; ")));
        }
        let compare = |extension: &str, problems: &mut Vec<String>| -> io::Result<LineComparison> {
            let name = format!("{}.{extension}", self.name);
            let expected = lines(&fs::read(testfiles.join(&name))?);
            let written = fs::read(folder.join(&name)).map(|bytes| lines(&bytes)).unwrap_or_default();
            problems.extend(first_difference(&name, &expected, &written));
            let equal = common_line_count(&expected, &written);
            Ok(LineComparison { equal, expected: expected.len(), written: written.len() })
        };
        let csv = compare("csv", &mut problems)?;
        let xml = compare("xml", &mut problems)?;
        let log = fs::read_to_string(folder.join("jmeter.log")).unwrap_or_default();
        problems.extend(log.lines().filter(|line| line.contains(" ERROR ")).map(str::to_owned));
        Ok(BatchTestOutcome { plan: *self, csv, xml, problems })
    }
}

/// Links the files of a folder. Pages and style sheets are copied instead, with the line ends of JMeter's release, because the
/// expected files contain their sizes.
fn copy_with_release_line_ends(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, copy) = (entry.path(), to.join(entry.file_name()));
        let kind = path.extension().and_then(|extension| extension.to_str());
        if path.is_dir() {
            copy_with_release_line_ends(&path, &copy)?;
        } else if matches!(kind, Some("html" | "htm" | "css")) {
            let text = String::from_utf8_lossy(&fs::read(&path)?).replace("\r\n", "\n");
            fs::write(copy, text.replace('\n', "\r\n"))?;
        } else {
            link(&path, &copy)?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(from, to)
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The lines of a file without their line ends. If the file ends with a line end, an empty line follows, so that it differs from
/// a file without one.
fn lines(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes).replace("\r\n", "\n").split('\n').map(str::to_owned).collect()
}

fn first_difference(name: &str, expected: &[String], written: &[String]) -> Option<String> {
    if written.is_empty() {
        return Some(format!("{name} was not written"));
    }
    let at = (0..expected.len().max(written.len())).find(|at| expected.get(*at) != written.get(*at))?;
    let line_text =
        |lines: &[String]| lines.get(at).map_or("(the end)".to_owned(), |line| line.trim().to_owned());
    Some(format!(
        "{name} line {}\n    in JMeter: {}\n    here:      {}",
        at + 1,
        line_text(expected),
        line_text(written)
    ))
}

/// The length of the longest common subsequence of the two lists of lines.
fn common_line_count(left: &[String], right: &[String]) -> usize {
    let mut previous = vec![0; right.len() + 1];
    for line in left {
        let mut row = vec![0; right.len() + 1];
        for (at, other) in right.iter().enumerate() {
            row[at + 1] = if line == other { previous[at] + 1 } else { row[at].max(previous[at + 1]) };
        }
        previous = row;
    }
    previous.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_compared_in_their_order() {
        let (left, right) = (lines(b"a\r\nb\nc\n"), lines(b"a\nc\nd\n"));
        assert_eq!(common_line_count(&left, &right), 3, "a, c and the empty text after the last line end");
        let reported = first_difference("x", &left, &right).unwrap();
        assert_eq!(reported, "x line 2\n    in JMeter: b\n    here:      c");
        assert_eq!(first_difference("x", &left, &lines(b"a\nb\nc\n")), None);
        assert!(first_difference("x", &lines(b"a\n"), &lines(b"a")).is_some());
    }
}
