//! The configuration of a cells emulator, and the arguments of its Java process.

use std::path::PathBuf;
use std::time::Duration;

use super::configurations::CellConfigurations;
use super::files::{CLASSES, GC_LOG};

/// The class with the main method.
const MAIN_CLASS: &str = "busyhour.cells.Cells";

/// A garbage collector of the JVM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of the collectors")]
pub enum GarbageCollector {
    Serial,
    Parallel,
    G1,
    Z,
    Shenandoah,
    /// Epsilon, which never collects: the process ends when the heap is full.
    Epsilon,
}

impl GarbageCollector {
    fn option(self) -> &'static str {
        match self {
            Self::Serial => "-XX:+UseSerialGC",
            Self::Parallel => "-XX:+UseParallelGC",
            Self::G1 => "-XX:+UseG1GC",
            Self::Z => "-XX:+UseZGC",
            Self::Shenandoah => "-XX:+UseShenandoahGC",
            Self::Epsilon => "-XX:+UseEpsilonGC",
        }
    }
}

/// The contents of the server log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellsLogLevel {
    /// Failed requests.
    Error,
    /// Failed requests, and the start and the end of the server.
    Info,
    /// All of these, and one line per call of a cell.
    Debug,
}

impl CellsLogLevel {
    fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Info => "info",
            Self::Debug => "debug",
        }
    }
}

/// The configuration of a cells emulator.
#[derive(Clone, Debug)]
pub struct CellsOptions {
    /// Port on 127.0.0.1; 0 selects a free port.
    pub port: u16,
    /// Directory for the logs, the source and the compiled classes. It is created if it does not exist; existing logs are
    /// appended to.
    pub dir: PathBuf,
    /// The configurations.
    pub configurations: CellConfigurations,
    /// Factor for the number of draws of all cells, finite and at least 0.
    pub cpu_factor: f64,
    /// Number of threads that serve requests, at least 1.
    pub workers: u32,
    /// Number of beans of each cell, at least 1.
    pub beans: u32,
    /// The time that a request waits for a bean before it fails.
    pub bean_wait: Duration,
    /// The contents of the server log.
    pub log_level: CellsLogLevel,
    /// Size of the heap in bytes, initial and maximum; with `None`, the JVM determines it.
    pub heap_bytes: Option<u64>,
    /// The garbage collector; with `None`, the JVM selects it.
    pub collector: Option<GarbageCollector>,
    /// Additional options of the JVM, which take precedence over the others.
    pub java_options: Vec<String>,
    /// Directory of the JDK; `None` uses the `javac` on the path.
    pub java_home: Option<PathBuf>,
}

impl CellsOptions {
    /// Options with these configurations, a free port and the pool sizes at the beginning of the study: 10 worker threads
    /// and 30 beans of each cell.
    #[must_use]
    pub fn new(dir: impl Into<PathBuf>, configurations: CellConfigurations) -> Self {
        Self {
            port: 0,
            dir: dir.into(),
            configurations,
            cpu_factor: 1.0,
            workers: 10,
            beans: 30,
            bean_wait: Duration::from_secs(30),
            log_level: CellsLogLevel::Info,
            heap_bytes: None,
            collector: None,
            java_options: Vec::new(),
            java_home: None,
        }
    }

    /// The arguments of `java`, which runs in [`Self::dir`].
    pub(super) fn java_arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        if let Some(bytes) = self.heap_bytes {
            arguments.extend([format!("-Xms{bytes}"), format!("-Xmx{bytes}")]);
        }
        // Some collectors are experimental in some versions of Java.
        arguments.push("-XX:+UnlockExperimentalVMOptions".into());
        arguments.extend(self.collector.map(|collector| collector.option().to_owned()));
        arguments.push(format!("-Xlog:gc*:file={GC_LOG}:time,uptime,level,tags:filecount=5,filesize=20m"));
        // If threads of the server end because the heap is full, the server accepts connections but never responds.
        arguments.push("-XX:+ExitOnOutOfMemoryError".into());
        arguments.extend(self.java_options.iter().cloned());
        arguments.extend(["-cp".into(), CLASSES.into(), MAIN_CLASS.into()]);
        arguments.extend([
            format!("port={}", self.port),
            format!("workers={}", self.workers),
            format!("beans={}", self.beans),
            format!("bean-wait-ms={}", self.bean_wait.as_millis().min(i32::MAX as u128)),
            format!("log-level={}", self.log_level.name()),
        ]);
        arguments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_the_user_come_after_the_others_and_before_the_class() {
        let mut options = CellsOptions::new("logs", CellConfigurations::built_in().unwrap());
        let plain = options.java_arguments();
        assert!(!plain.iter().any(|argument| argument.starts_with("-Xm") || argument.ends_with("GC")));
        options.heap_bytes = Some(256 << 20);
        options.collector = Some(GarbageCollector::G1);
        options.java_options = vec!["-XX:-ExitOnOutOfMemoryError".into(), "-Xmx1g".into()];
        options.bean_wait = Duration::from_secs(u64::MAX);
        let line = options.java_arguments().join(" ");
        assert_eq!(
            line,
            "-Xms268435456 -Xmx268435456 -XX:+UnlockExperimentalVMOptions -XX:+UseG1GC \
             -Xlog:gc*:file=gc.log:time,uptime,level,tags:filecount=5,filesize=20m -XX:+ExitOnOutOfMemoryError \
             -XX:-ExitOnOutOfMemoryError -Xmx1g -cp classes busyhour.cells.Cells port=0 workers=10 beans=30 \
             bean-wait-ms=2147483647 log-level=info"
        );
    }
}
