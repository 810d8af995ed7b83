//! `busyhour lab server cells`: a Java server with known leaks, failures and CPU costs.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use busyhour_demo::{
    ACCESS_LOG, CONSOLE_LOG, CellConfiguration, CellConfigurations, CellsError, CellsLogLevel, CellsOptions,
    CellsServer, GC_LOG, GarbageCollector, SERVER_LOG,
};
use busyhour_diagnostic::io_hints;
use busyhour_record::RunDir;
use busyhour_terminal::command_error::CommandError;
use busyhour_terminal::exit::{Exit, complain, hinted, print, say};
use clap::{Args, ValueEnum};

use super::server_end::ServerEnd;

/// The directory in which each emulator creates its own directory.
const PARENT: &str = "busyhour-lab";

/// Maximum number of threads, and maximum number of beans.
const WORKERS_MAX: i64 = 10_000;
const BEANS_MAX: i64 = 1_000_000;

/// Maximum time to wait for a bean; it fits into the emulator's number of milliseconds.
const BEAN_WAIT_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// Options of the cells emulator. All are optional, so that options that were given can be rejected for other servers.
#[derive(Clone, Debug, Default, PartialEq, Args)]
#[command(next_help_heading = "Cells emulator")]
pub(crate) struct CellsArgs {
    /// Directory for its logs (default: a new one in busyhour-lab); existing logs are appended to.
    #[arg(long, value_name = "DIR")]
    pub(super) dir: Option<PathBuf>,
    /// File with other configurations; cells.toml in the directory of the logs contains those in use.
    #[arg(long, value_name = "FILE")]
    pub(super) configurations: Option<PathBuf>,
    /// Factor for the CPU time of all requests, such as 0.1 for a tenth (default: 1).
    #[arg(long, value_name = "FACTOR", value_parser = cpu_factor)]
    pub(super) cpu_factor: Option<f64>,
    /// Number of threads that serve requests (default: 10).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=WORKERS_MAX))]
    pub(super) workers: Option<u32>,
    /// Number of beans of each cell; a bean serves one request at a time (default: 30).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=BEANS_MAX))]
    pub(super) beans: Option<u32>,
    /// Time that a request waits for a bean before it fails (default: 30s).
    #[arg(long, value_name = "TIME", value_parser = bean_wait)]
    pub(super) bean_wait: Option<Duration>,
    /// Contents of the server log (default: info).
    #[arg(long, value_name = "LEVEL")]
    pub(super) log_level: Option<LogLevel>,
    /// Initial and maximum size of the heap, such as 256m or 1g (default: the JVM's).
    #[arg(long, value_name = "SIZE", value_parser = heap_bytes)]
    pub(super) heap: Option<u64>,
    /// Garbage collector (default: the JVM's).
    #[arg(long, value_name = "NAME")]
    pub(super) collector: Option<CollectorName>,
    /// Option of the JVM; may be given several times.
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    pub(super) java_option: Vec<String>,
    /// Directory of a JDK, version 11 or later (default: JAVA_HOME, or javac on the PATH).
    #[arg(long, value_name = "DIR")]
    pub(super) java_home: Option<PathBuf>,
}

/// The names of [`CellsArgs`], for messages.
pub(crate) const OPTION_NAMES: &str = "--dir, --configurations, --cpu-factor, --workers, --beans, --bean-wait, \
    --log-level, --heap, --collector, --java-option and --java-home";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum LogLevel {
    /// Failed requests.
    Error,
    /// Also the start and the end.
    Info,
    /// Also each call of a cell.
    Debug,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum CollectorName {
    Serial,
    Parallel,
    G1,
    #[value(alias = "zgc")]
    Z,
    Shenandoah,
    /// Never collects.
    Epsilon,
}

impl CellsArgs {
    /// The options of the emulator. This reads the file with the configurations and creates the directory for the logs.
    pub(super) fn options(&self, port: u16) -> Result<CellsOptions, CommandError> {
        let configurations = match &self.configurations {
            Some(path) => read_configurations(path)?,
            None => CellConfigurations::built_in().map_err(|error| error.to_string())?,
        };
        let dir = match &self.dir {
            Some(dir) => dir.clone(),
            None => new_dir()?,
        };
        let mut options = CellsOptions::new(dir, configurations);
        options.port = port;
        options.cpu_factor = self.cpu_factor.unwrap_or(options.cpu_factor);
        options.workers = self.workers.unwrap_or(options.workers);
        options.beans = self.beans.unwrap_or(options.beans);
        options.bean_wait = self.bean_wait.unwrap_or(options.bean_wait);
        options.log_level = match self.log_level {
            Some(LogLevel::Error) => CellsLogLevel::Error,
            Some(LogLevel::Info) | None => CellsLogLevel::Info,
            Some(LogLevel::Debug) => CellsLogLevel::Debug,
        };
        options.heap_bytes = self.heap;
        options.collector = self.collector.map(|name| match name {
            CollectorName::Serial => GarbageCollector::Serial,
            CollectorName::Parallel => GarbageCollector::Parallel,
            CollectorName::G1 => GarbageCollector::G1,
            CollectorName::Z => GarbageCollector::Z,
            CollectorName::Shenandoah => GarbageCollector::Shenandoah,
            CollectorName::Epsilon => GarbageCollector::Epsilon,
        });
        options.java_options = self.java_option.clone();
        options.java_home = self.java_home.clone().or_else(jdk_of_environment);
        Ok(options)
    }
}

/// The directory in JAVA_HOME, if it is a JDK. A runtime environment is ignored, so that a `javac` on the path is used.
fn jdk_of_environment() -> Option<PathBuf> {
    let home = PathBuf::from(std::env::var_os("JAVA_HOME")?);
    let bin = home.join("bin");
    (bin.join("javac").exists() || bin.join("javac.exe").exists()).then_some(home)
}

fn read_configurations(path: &Path) -> Result<CellConfigurations, CommandError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("cannot read {}: {}", path.display(), io_hints::with_hint(&error)))?;
    CellConfigurations::parse(&text).map_err(|error| format!("{}: {error}", path.display()).into())
}

/// Creates a new directory whose name contains the current time.
fn new_dir() -> Result<PathBuf, CommandError> {
    let now_ms = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let dir = RunDir::create_in(Path::new(PARENT), "cells", i64::try_from(now_ms).unwrap_or_default())
        .map_err(|error| io_hints::chain(&error))?;
    Ok(dir.path().to_owned())
}

fn cpu_factor(text: &str) -> Result<f64, CommandError> {
    let factor = text.parse::<f64>().ok().filter(|factor| (0.0..=1_000.0).contains(factor));
    factor.ok_or_else(|| "expected a number from 0 to 1000".into())
}

fn bean_wait(text: &str) -> Result<Duration, CommandError> {
    let wait = super::quantities::duration(text)?;
    if wait <= BEAN_WAIT_MAX { Ok(wait) } else { Err("it must be at most 24h".into()) }
}

/// Parses a size as the JVM does: a whole number with k, m or g.
pub(super) fn heap_bytes(text: &str) -> Result<u64, CommandError> {
    let (digits, shift) = match text.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&text[..at], 10),
        Some((at, 'm' | 'M')) => (&text[..at], 20),
        Some((at, 'g' | 'G')) => (&text[..at], 30),
        _ => return Err("expected a whole number with a unit: 64m, 1g".into()),
    };
    let number = digits.parse::<u64>().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()));
    match number.and_then(|number| number.checked_mul(1 << shift)) {
        Some(bytes) if (2 << 20..=1 << 44).contains(&bytes) => Ok(bytes),
        Some(_) => Err("it must be 2m to 16384g".into()),
        None => Err("expected a whole number with a unit: 64m, 1g".into()),
    }
}

/// Starts an emulator. If that fails, it prints the error and removes the directory that was made for it.
pub(super) fn start(args: &CellsArgs, options: &CellsOptions) -> Result<CellsServer, Exit> {
    CellsServer::start(options).map_err(|error| {
        if args.dir.is_none() {
            // `remove_dir` only removes an empty directory.
            let _ = std::fs::remove_dir(&options.dir);
        }
        let (exit, message) = explain(&error, options);
        complain(exit, &message)
    })
}

/// Starts an emulator and waits for its end.
pub(crate) fn serve(args: &CellsArgs, port: u16, until_stdin_closes: bool) -> Exit {
    let options = match args.options(port) {
        Ok(options) => options,
        Err(message) => return complain(Exit::Refused, &message),
    };
    let failed = |error: &CellsError| {
        let (exit, message) = explain(error, &options);
        complain(exit, &message)
    };
    let server = match start(args, &options) {
        Ok(server) => server,
        Err(exit) => return exit,
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return complain(Exit::Internal, &format!("cannot start the emulator: {error}")),
    };
    let served = runtime.block_on(async {
        // This is created before the address is printed, so that a signal immediately after the output ends the emulator
        // properly.
        let end = match ServerEnd::new(until_stdin_closes) {
            Ok(end) => end,
            Err(error) => {
                return Err(complain(Exit::Internal, &format!("cannot listen for signals: {error}")));
            }
        };
        let dir = options.dir.display();
        print(&format!("{}http://{}\n", super::server_end::LISTENING, server.address()));
        say(&format!("process {}; {SERVER_LOG}, {ACCESS_LOG} and {GC_LOG} are in {dir}", server.pid()));
        if !until_stdin_closes {
            say("Ctrl-C ends the emulator");
        }
        server.serve(end.wait()).await.map_err(|error| failed(&error))
    });
    match served {
        Ok(()) => Exit::Completed,
        Err(exit) => exit,
    }
}

/// The exit code and the message for an error of the emulator.
fn explain(error: &CellsError, options: &CellsOptions) -> (Exit, String) {
    let console = options.dir.join(CONSOLE_LOG);
    match error {
        CellsError::NoJdk { source, .. } | CellsError::Spawn(source) => {
            let hint = "install a JDK, version 11 or later (on Debian: apt-get install default-jdk-headless), or select \
                        one with --java-home DIR";
            (Exit::Internal, hinted(format!("{error}: {source}"), hint))
        }
        CellsError::OldJdk { .. } | CellsError::UnknownJdk { .. } | CellsError::Compile { .. } => {
            let hint = "select a JDK, version 11 or later, with --java-home DIR or the variable JAVA_HOME";
            (Exit::Internal, hinted(error.to_string(), hint))
        }
        CellsError::Port { .. } => {
            let hint = "choose another port with --port, or 0 for a free one";
            (Exit::Internal, hinted(error.to_string(), hint))
        }
        CellsError::Refused(_) => (Exit::Refused, error.to_string()),
        CellsError::NotReady { .. } | CellsError::TooSlow { .. } => {
            let hint = format!(
                "options of the JVM come from --heap, --collector and --java-option; its output is in {}",
                console.display()
            );
            (Exit::Internal, hinted(error.to_string(), &hint))
        }
        CellsError::OutOfMemory => {
            let leaking: Vec<String> = options
                .configurations
                .all()
                .iter()
                .filter(|configuration| configuration.leaks())
                .map(|configuration| CellConfiguration::number(configuration).to_string())
                .collect();
            let hint = match leaking.is_empty() {
                true => "give it more memory with --heap".to_owned(),
                false => format!(
                    "these configurations leak on purpose: {}; --heap gives them more memory",
                    leaking.join(", ")
                ),
            };
            (Exit::Internal, hinted(error.to_string(), &hint))
        }
        _ => (Exit::Internal, io_hints::chain(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_parsed_as_by_the_jvm() {
        for (text, bytes) in [("64m", 64 << 20), ("1G", 1 << 30), ("4096k", 4 << 20)] {
            assert_eq!(heap_bytes(text), Ok(bytes), "{text}");
        }
        for (text, words) in [
            ("", "with a unit"),
            ("64", "with a unit"),
            ("m", "with a unit"),
            ("+64m", "with a unit"),
            ("1.5g", "with a unit"),
            ("64é", "with a unit"),
            ("99999999999999999g", "with a unit"),
            ("1m", "2m to 16384g"),
            ("99999g", "2m to 16384g"),
        ] {
            let message = heap_bytes(text).unwrap_err().to_string();
            assert!(message.contains(words), "{text}: {message}");
        }
    }

    #[test]
    fn factors_and_waits_have_limits() {
        assert_eq!((cpu_factor("0"), cpu_factor("0.1")), (Ok(0.0), Ok(0.1)));
        assert!(["-1", "NaN", "inf", "1001", "much"].iter().all(|text| cpu_factor(text).is_err()));
        assert_eq!(bean_wait("500ms"), Ok(Duration::from_millis(500)));
        assert!(bean_wait("25h").is_err() && bean_wait("30").is_err());
    }

    #[test]
    fn given_options_replace_the_defaults() {
        let args = CellsArgs { dir: Some("logs".into()), ..CellsArgs::default() };
        let options = args.options(0).unwrap();
        assert_eq!((options.workers, options.beans, options.cpu_factor), (10, 30, 1.0));
        assert_eq!((options.heap_bytes, options.collector), (None, None));
        let args = CellsArgs {
            cpu_factor: Some(0.5),
            workers: Some(50),
            beans: Some(100),
            bean_wait: Some(Duration::from_secs(1)),
            log_level: Some(LogLevel::Debug),
            heap: Some(64 << 20),
            collector: Some(CollectorName::Serial),
            java_option: vec!["-Xss1m".into()],
            java_home: Some("jdk".into()),
            ..args
        };
        let options = args.options(80).unwrap();
        assert_eq!((options.port, options.workers, options.beans, options.cpu_factor), (80, 50, 100, 0.5));
        assert_eq!((options.bean_wait, options.log_level), (Duration::from_secs(1), CellsLogLevel::Debug));
        assert_eq!((options.heap_bytes, options.collector), (Some(64 << 20), Some(GarbageCollector::Serial)));
        assert_eq!(options.java_options, ["-Xss1m"]);
        assert_eq!(options.java_home, Some("jdk".into()));
    }

    #[test]
    fn the_error_of_a_full_heap_names_the_leaking_configurations() {
        let options = CellsArgs { dir: Some("logs".into()), ..CellsArgs::default() }.options(0).unwrap();
        let (exit, message) = explain(&CellsError::OutOfMemory, &options);
        assert_eq!(exit, Exit::Internal);
        assert!(message.contains("leak on purpose: 1, 2, 7;"), "{message}");
    }
}
