//! What kind of server a process is.

use std::path::Path;

use memchr::memmem;

use crate::proc_root::{ProcRoot, read_bounded};

/// Bytes of the list of mapped files that are searched.
const MAPS_MAX: usize = 1 << 20;

/// A kind of server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ServerKind {
    /// A Java virtual machine, also one inside another program.
    Jvm,
    /// PostgreSQL.
    PostgreSql,
    /// MySQL or MariaDB.
    MySql,
    /// nginx.
    Nginx,
    /// Apache httpd.
    Httpd,
    /// Node.js.
    Node,
    /// Python.
    Python,
    /// Anything else.
    Other,
}

/// Names of programs.
const NAMES: [(&str, ServerKind); 12] = [
    ("java", ServerKind::Jvm),
    ("postgres", ServerKind::PostgreSql),
    ("postmaster", ServerKind::PostgreSql),
    ("mysqld", ServerKind::MySql),
    ("mariadbd", ServerKind::MySql),
    ("nginx", ServerKind::Nginx),
    ("openresty", ServerKind::Nginx),
    ("httpd", ServerKind::Httpd),
    ("apache2", ServerKind::Httpd),
    ("node", ServerKind::Node),
    ("nodejs", ServerKind::Node),
    ("python", ServerKind::Python),
];

impl ServerKind {
    /// The name that is shown to users.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Jvm => "JVM",
            Self::PostgreSql => "PostgreSQL",
            Self::MySql => "MySQL",
            Self::Nginx => "nginx",
            Self::Httpd => "Apache httpd",
            Self::Node => "Node.js",
            Self::Python => "Python",
            Self::Other => "other",
        }
    }

    /// The kind of a process: by the file of its program, by its command if that may not be read, or by the library of a JVM.
    pub(super) fn of_process(root: &ProcRoot, pid: u32, program: Option<&Path>, command: &str) -> ServerKind {
        let program = program.and_then(Path::file_name).map(|name| name.to_string_lossy());
        let by_name = program.as_deref().map_or(ServerKind::Other, kind_of_name);
        if by_name != ServerKind::Other {
            return by_name;
        }
        let maps = read_bounded(&root.process(pid, "maps"), MAPS_MAX).unwrap_or_default();
        if memmem::find(&maps, b"/libjvm.so").is_some() {
            return ServerKind::Jvm;
        }
        // A program can change the name of its command. The name counts only if the program's file is not known.
        if program.is_none() { kind_of_name(command) } else { ServerKind::Other }
    }
}

/// The kind of a program with this name. Versions may follow: `python3.12`, `postgres: writer`, `node22`.
fn kind_of_name(name: &str) -> ServerKind {
    let known = |name: &str| NAMES.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind);
    let stem = name.split([':', ' ']).next().unwrap_or(name);
    // The whole name is looked up first: `apache2` ends with a digit that is not a version.
    let without_version = || stem.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    known(stem).or_else(|| known(without_version())).unwrap_or(ServerKind::Other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_programs_may_contain_versions() {
        for (name, kind) in [
            ("java", ServerKind::Jvm),
            ("python3.12", ServerKind::Python),
            ("postgres: writer", ServerKind::PostgreSql),
            ("postgres", ServerKind::PostgreSql),
            ("mariadbd", ServerKind::MySql),
            ("node22", ServerKind::Node),
            ("nginx (deleted)", ServerKind::Nginx),
            ("apache2", ServerKind::Httpd),
            ("javac", ServerKind::Other),
            ("", ServerKind::Other),
        ] {
            assert_eq!(kind_of_name(name), kind, "{name}");
        }
    }
}
