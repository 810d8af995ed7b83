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
    without: Vec<String>,
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
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let value = words.next().with_context(|| format!("{word} needs a value\n\n{USAGE}"))?;
            let number = || -> Result<u64> {
                let number = value.parse().with_context(|| format!("{word} {value}: not a number"))?;
                ensure!(number > 0, "{word} must be at least 1");
                Ok(number)
            };
            match word.as_str() {
                "--only" => {
                    let section = SECTIONS.iter().find(|(name, _)| name == value);
                    options.only.push(section.with_context(|| format!("no section {value:?}\n\n{USAGE}"))?.1);
                }
                "--without" => {
                    ensure!(["wrk", "jmeter", "busyhour"].contains(&value.as_str()), "no peer {value:?}");
                    options.without.push(value.clone());
                }
                "--busyhour" => options.busyhour = Some(value.into()),
                "--profile" => options.profile.clone_from(value),
                "--rounds" => options.rounds = usize::try_from(number()?)?,
                "--seconds" => options.run = Duration::from_secs(number()?.max(3)),
                "--jmeter-seconds" => options.jmeter_run = Duration::from_secs(number()?.max(10)),
                _ => bail!("unknown option {word}\n\n{USAGE}"),
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

/// Runs what the words ask for.
pub fn run(words: &[String]) -> Result<()> {
    match words.split_first() {
        Some((what, rest)) if what == "http" && rest.iter().any(|word| word == "--help") => {
            println!("{USAGE}");
            Ok(())
        }
        Some((what, rest)) if what == "http" => http(Options::read(rest)?),
        Some((what, rest)) if what == "pacing" && rest.iter().any(|word| word == "--help") => {
            println!("{}", pacing::USAGE);
            Ok(())
        }
        Some((what, rest)) if what == "pacing" => pacing::run(rest),
        Some((what, rest)) if what == "report" && rest.iter().any(|word| word == "--help") => {
            println!("{}", report::USAGE);
            Ok(())
        }
        Some((what, rest)) if what == "report" => report::run(rest),
        Some((what, rest)) if what == "capacity" && rest.iter().any(|word| word == "--help") => {
            println!("{}", capacity::USAGE);
            Ok(())
        }
        Some((what, rest)) if what == "capacity" => capacity::run(rest),
        Some((what, rest)) if what == "simulate" && rest.iter().any(|word| word == "--help") => {
            println!("{}", simulate::USAGE);
            Ok(())
        }
        Some((what, rest)) if what == "simulate" => simulate::run(rest),
        // Not for people: the other side of the ticket section, a process of its own so that its CPU can be told.
        Some((what, rest)) if what == floor::CLIENT => floor::client(rest),
        Some((what, rest)) if what == pacing::bare::CLIENT => pacing::bare::client(rest),
        _ => {
            let [pacing, report, simulate, capacity] =
                [pacing::USAGE, report::USAGE, simulate::USAGE, capacity::USAGE];
            bail!("{USAGE}\n\n{pacing}\n\n{report}\n\n{simulate}\n\n{capacity}")
        }
    }
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
        let wanted = |peer: &str| !options.without.iter().any(|without| without == peer);
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
            (Some(path), true) => {
                Some(std::fs::canonicalize(path).with_context(|| path.display().to_string())?)
            }
            (None, true) => {
                let built = build(&root, &options.profile, &["--package", "busyhour-cli"], "busyhour");
                keep(built, "Busyhour", &mut lacking)
            }
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
        Options::read(&words.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
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
