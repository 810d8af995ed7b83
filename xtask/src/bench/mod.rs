//! `cargo xtask bench http`: Busyhour beside wrk and JMeter on one machine, the server on one core and the
//! generator on another. `cargo xtask bench pacing` is in [`pacing`], `cargo xtask bench
//! report` in [`report`], `cargo xtask bench capacity` in [`capacity`].

mod capacity;
mod floor;
mod launch;
mod machine;
mod nginx;
mod pacing;
mod peers;
pub(crate) mod process;
mod report;
pub(crate) mod results;
mod simulate;
pub(crate) mod table;
mod throughput;
mod ticket;
mod users;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};

use crate::jmeter::JMeter;
use crate::options::{Given, told_usage};
use machine::Cores;

/// How to call it.
pub const USAGE: &str = "\
usage: cargo xtask bench http [OPTION…]

  --only SECTION     throughput, users, launch or ticket; may be given more than once (default: all)
  --without PEER     leave out wrk, jmeter or busyhour; may be given more than once
  --busyhour PATH    the program to measure (default: builds the release profile of this checkout)
  --profile NAME     the profile to build with (default release; dev shows only that the bench works)
  --rounds N         interleaved rounds of each comparison (default 3)
  --seconds N        length of a run of wrk and Busyhour (default 8)
  --jmeter-seconds N length of a run of JMeter, the first half of which warms it up (default 30)";

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Throughput,
    Users,
    Launch,
    Ticket,
}

const SECTIONS: [(&str, Section); 4] = [
    ("throughput", Section::Throughput),
    ("users", Section::Users),
    ("launch", Section::Launch),
    ("ticket", Section::Ticket),
];

impl Section {
    fn measure(self, bench: &Bench) -> Result<()> {
        match self {
            Self::Throughput => throughput::run(bench),
            Self::Users => users::run(bench),
            Self::Launch => launch::run(bench),
            Self::Ticket => ticket::run(bench),
        }
    }
}

#[derive(Debug)]
struct Options {
    only: Vec<Section>,
    without: Vec<&'static str>,
    busyhour: Option<PathBuf>,
    profile: String,
    rounds: usize,
    run: Duration,
    jmeter_run: Duration,
}

impl Options {
    fn read(words: &[String]) -> Result<Self> {
        let mut options = Self {
            only: Vec::new(),
            without: Vec::new(),
            busyhour: None,
            profile: "release".to_owned(),
            rounds: 3,
            run: Duration::from_secs(8),
            jmeter_run: Duration::from_secs(30),
        };
        let mut given = Given::new(words, USAGE);
        while let Some(name) = given.next() {
            match name {
                "--only" => options.only.push(given.one_of(&SECTIONS)?),
                "--without" => options.without.push(given.name_of(&["wrk", "jmeter", "busyhour"])?),
                "--busyhour" => options.busyhour = Some(given.path()?),
                "--profile" => options.profile = given.text()?.into(),
                "--rounds" => options.rounds = given.number(1)?,
                "--seconds" => options.run = given.seconds(3)?,
                "--jmeter-seconds" => options.jmeter_run = given.seconds(10)?,
                _ => bail!(given.unknown()),
            }
        }
        Ok(options)
    }

    fn wants(&self, section: Section) -> bool {
        self.only.is_empty() || self.only.contains(&section)
    }
}

/// Everything that the sections share.
#[derive(Debug)]
struct Bench {
    options: Options,
    root: PathBuf,
    work: tempfile::TempDir,
    cores: Cores,
    wrk: Option<PathBuf>,
    nginx: Option<PathBuf>,
    jmeter: Option<JMeter>,
    busyhour: Option<PathBuf>,
}

/// The benches: what each is called, how it is called, and who runs it.
const BENCHES: [(&str, &str, fn(&[String]) -> Result<()>); 5] = [
    ("http", USAGE, |words| http(Options::read(words)?)),
    ("pacing", pacing::USAGE, pacing::run),
    ("report", report::USAGE, report::run),
    ("simulate", simulate::USAGE, simulate::run),
    ("capacity", capacity::USAGE, capacity::run),
];

/// Runs what the words ask for.
pub fn run(words: &[String]) -> Result<()> {
    let (what, rest) = words.split_first().map_or(("", words), |(what, rest)| (what.as_str(), rest));
    match what {
        // Not for people: the other side of the ticket section, a process of its own so that its CPU can be told.
        floor::CLIENT => return floor::client(rest),
        pacing::bare::CLIENT => return pacing::bare::client(rest),
        _ => {}
    }
    let usages = || BENCHES.map(|(_, usage, _)| usage).join("\n\n");
    if matches!(what, "--help" | "-h") {
        println!("{}", usages());
        return Ok(());
    }
    let Some((_, usage, bench)) = BENCHES.into_iter().find(|(name, ..)| *name == what) else {
        bail!("{}", usages());
    };
    if told_usage(rest, usage) { Ok(()) } else { bench(rest) }
}

fn http(options: Options) -> Result<()> {
    let bench = Bench::prepare(options)?;
    let mut failed = Vec::new();
    for (name, section) in SECTIONS {
        if !bench.options.wants(section) {
            continue;
        }
        // One section that fails says nothing about the others.
        if let Err(error) = section.measure(&bench) {
            println!("\n{name} failed: {error:#}");
            failed.push(name);
        }
    }
    ensure!(failed.is_empty(), "not measured: {}", failed.join(", "));
    Ok(())
}

impl Bench {
    /// Finds or gets the peers, and says which are lacking and why.
    fn prepare(options: Options) -> Result<Self> {
        let root = crate::workspace_root();
        let wanted = |peer: &str| !options.without.contains(&peer);
        let needs_nginx = options.wants(Section::Throughput) || options.wants(Section::Users);
        let mut lacking = Vec::new();

        let wrk =
            if wanted("wrk") { keep(machine::program("wrk", "wrk"), "wrk", &mut lacking) } else { None };
        let nginx = match needs_nginx {
            true => keep(machine::program("nginx", "nginx-light"), "nginx", &mut lacking),
            false => None,
        };
        let jmeter = if wanted("jmeter") { keep(JMeter::obtain(), "JMeter", &mut lacking) } else { None };
        let busyhour = match (&options.busyhour, wanted("busyhour")) {
            (_, false) => None,
            // A path that is wrong is a mistake; a build that fails leaves the others to be measured.
            (Some(path), true) => Some(busyhour(Some(path), &options.profile)?),
            (None, true) => keep(busyhour(None, &options.profile), "Busyhour", &mut lacking),
        };

        let cores = Cores::choose()?;
        machine::raise_open_files()?;
        machine::pin(cores.server)?;
        println!("{}", machine::describe(&cores));
        for lack in &lacking {
            println!("left out: {lack}");
        }
        Ok(Self { work: tempfile::tempdir()?, options, root, cores, wrk, nginx, jmeter, busyhour })
    }

    /// A plan of the `plans` folder.
    fn plan(&self, name: &str) -> PathBuf {
        self.root.join("plans").join(name)
    }
}

fn keep<T>(found: Result<T>, name: &str, lacking: &mut Vec<String>) -> Option<T> {
    found.map_err(|error| lacking.push(format!("{name}: {error:#}"))).ok()
}

/// The program under test: the one that was given, or one that is built with `profile`.
pub(crate) fn busyhour(given: Option<&Path>, profile: &str) -> Result<PathBuf> {
    match given {
        Some(path) => std::fs::canonicalize(path).with_context(|| path.display().to_string()),
        None => build(&crate::workspace_root(), profile, &["--package", "busyhour-cli"], "busyhour"),
    }
}

/// Builds a program of this checkout; `program` is its path below the target directory of the profile.
pub(crate) fn build(root: &Path, profile: &str, what: &[&str], program: &str) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = std::process::Command::new(cargo)
        .args(["build", "--quiet", "--profile", profile])
        .args(what)
        .current_dir(root)
        .status()?;
    ensure!(status.success(), "cargo build {} failed", what.join(" "));
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let folder = if profile == "dev" { "debug" } else { profile };
    let path = target.join(folder).join(program);
    ensure!(path.exists(), "the build left no {}", path.display());
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &str) -> Result<Options> {
        Options::read(&crate::options::words(words))
    }

    #[test]
    fn options_are_read_and_mistakes_named() {
        let options = read("--only users --only launch --without jmeter --rounds 1 --seconds 5").unwrap();
        assert!(options.wants(Section::Users) && !options.wants(Section::Ticket));
        assert_eq!((options.rounds, options.run), (1, Duration::from_secs(5)));
        assert!(read("").unwrap().wants(Section::Ticket));
        for wrong in ["--only beer", "--rounds", "--rounds 0", "--seconds x", "--without sleep", "--fast yes"]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
