//! Finds a JDK, and compiles the emulator with it.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::error::{CellsError, JAVA_VERSION_MIN};
use super::files::{CLASSES, SOURCE};
use super::output_end::last_lines;

/// The source of the Java program.
const PROGRAM: &str = include_str!("../../java/Cells.java");

/// A JDK on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Jdk {
    home: PathBuf,
}

impl Jdk {
    /// Finds the JDK in `home` or, if `home` is `None`, the JDK of the `javac` on the path. `javac` itself reports its
    /// directory, because the program on the path can be a link or a script that selects one of several versions.
    pub(super) fn find(home: Option<&Path>) -> Result<Self, CellsError> {
        let javac = home.map_or_else(|| "javac".into(), |home| home.join("bin").join("javac"));
        let asked = run(Command::new(&javac).args(["-J-XshowSettings:properties", "-version"]));
        let output = match asked {
            Ok(output) => text(&output),
            Err(source) => return Err(CellsError::NoJdk { javac, source }),
        };
        match (
            property(&output, "java.home"),
            property(&output, "java.specification.version").and_then(version),
        ) {
            (Some(home), Some(version)) if version >= JAVA_VERSION_MIN => Ok(Self { home: home.into() }),
            (Some(home), Some(version)) => Err(CellsError::OldJdk { home: home.into(), version }),
            _ => Err(CellsError::UnknownJdk { javac, output: last_lines(&output) }),
        }
    }

    /// The program that runs classes.
    pub(super) fn java(&self) -> PathBuf {
        self.home.join("bin").join("java")
    }

    /// Compiles the emulator in `dir`.
    pub(super) fn compile_in(&self, dir: &Path) -> Result<(), CellsError> {
        let source = dir.join(SOURCE);
        std::fs::write(&source, PROGRAM)
            .map_err(|error| CellsError::Write { path: source, source: error })?;
        let mut javac = Command::new(self.home.join("bin").join("javac"));
        javac.args(["-encoding", "UTF-8", "-proc:none", "-d", CLASSES, SOURCE]).current_dir(dir);
        let compiled = run(&mut javac).map_err(CellsError::Spawn)?;
        if compiled.status.success() {
            Ok(())
        } else {
            Err(CellsError::Compile { home: self.home.clone(), output: last_lines(&text(&compiled)) })
        }
    }
}

fn run(command: &mut Command) -> io::Result<Output> {
    command.stdin(Stdio::null()).output()
}

/// Standard output and standard error as one text.
fn text(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes)).concat()
}

/// The value of a property in lines of the form `NAME = VALUE`.
fn property<'o>(output: &'o str, name: &str) -> Option<&'o str> {
    output.lines().find_map(|line| {
        let (found, value) = line.split_once('=')?;
        (found.trim() == name).then(|| value.trim())
    })
}

/// The number of a Java version: 8 for `1.8`, 17 for `17`.
fn version(text: &str) -> Option<u32> {
    text.strip_prefix("1.").unwrap_or(text).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_and_the_version_of_a_jdk_are_found() {
        let output = "Property settings:\n    java.home = /opt/jdk = 17\n    java.specification.version = 17\n    \
                      java.vm.specification.version = 18\njavac 17.0.15\n";
        assert_eq!(property(output, "java.home"), Some("/opt/jdk = 17"));
        assert_eq!(property(output, "java.specification.version").and_then(version), Some(17));
        assert_eq!(property(output, "specification.version"), None);
        assert_eq!(
            (version("1.8"), version("9"), version("25"), version("next")),
            (Some(8), Some(9), Some(25), None)
        );
    }

    #[test]
    fn a_missing_jdk_is_an_error() {
        let empty = tempfile::tempdir().unwrap();
        let error = Jdk::find(Some(empty.path())).unwrap_err();
        assert!(
            matches!(&error, CellsError::NoJdk { javac, .. } if javac.starts_with(empty.path())),
            "{error}"
        );
    }

    #[cfg(unix)]
    #[test]
    fn old_and_unknown_compilers_are_errors() {
        use std::os::unix::fs::PermissionsExt as _;
        let found = |script: &str| {
            let home = tempfile::tempdir().unwrap();
            let javac = home.path().join("bin/javac");
            std::fs::create_dir(home.path().join("bin")).unwrap();
            std::fs::write(&javac, format!("#!/bin/sh\n{script}\n")).unwrap();
            std::fs::set_permissions(&javac, std::fs::Permissions::from_mode(0o755)).unwrap();
            Jdk::find(Some(home.path())).unwrap_err().to_string()
        };
        let old = found("echo ' java.home = /opt/jdk8'; echo ' java.specification.version = 1.8' >&2");
        assert_eq!(old, "the JDK in /opt/jdk8 has version 8; version 11 or later is needed");
        assert!(found("echo nothing; exit 1").ends_with("javac\nnothing"));
    }
}
