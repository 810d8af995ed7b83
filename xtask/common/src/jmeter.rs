//! Installs Apache JMeter 5.6.3 from its Maven artifacts. It is the reference of the conformance cases and a peer in
//! the bench.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

const VERSION: &str = "5.6.3";

/// The parts of JMeter that plans with supported elements use.
const ARTIFACTS: [&str; 9] = [
    "ApacheJMeter",
    "ApacheJMeter_core",
    "ApacheJMeter_http",
    "ApacheJMeter_components",
    "ApacheJMeter_functions",
    "ApacheJMeter_java",
    "ApacheJMeter_tcp",
    "ApacheJMeter_native",
    "ApacheJMeter_config",
];

/// The packages that JMeter's own start script opens for reflection; without them, XStream fails on Java 17.
const OPENED_PACKAGES: [&str; 4] =
    ["java.desktop/sun.awt", "java.base/java.lang", "java.base/java.util", "java.base/java.text"];

/// An installation of JMeter on this machine.
#[derive(Debug, Clone)]
pub struct JMeter {
    home: PathBuf,
}

impl JMeter {
    /// Finds JMeter in the cache directory (`BUSYHOUR_JMETER_HOME` overrides it); fetches it with Maven if it is
    /// missing.
    ///
    /// # Errors
    /// Java, Maven or an artifact is missing.
    pub fn obtain() -> Result<Self> {
        ensure!(works("java", "-version"), "java is missing (apt-get install default-jre-headless)");
        let home = directory()?;
        if !is_complete(&home) {
            ensure!(works("mvn", "--version"), "mvn is missing (apt-get install maven)");
            eprintln!("fetching JMeter {VERSION} through Maven into {}", home.display());
            assemble(&home)?;
        }
        Ok(Self { home })
    }

    /// A command that starts this JMeter, to which arguments can be added. The heap is 1 GiB as in JMeter's script.
    pub fn command(&self) -> Command {
        let mut command = Command::new("java");
        for package in OPENED_PACKAGES {
            command.arg("--add-opens").arg(format!("{package}=ALL-UNNAMED"));
        }
        command.args([
            "-Xms1g",
            "-Xmx1g",
            "-XX:MaxMetaspaceSize=256m",
            "-XX:+UseG1GC",
            "-XX:MaxGCPauseMillis=100",
        ]);
        command.arg("-Djava.awt.headless=true").arg("-jar").arg(self.home.join("bin/ApacheJMeter.jar"));
        command
    }
}

fn works(program: &str, argument: &str) -> bool {
    let status = Command::new(program).arg(argument).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

fn directory() -> Result<PathBuf> {
    match std::env::var_os("BUSYHOUR_JMETER_HOME") {
        Some(home) => Ok(home.into()),
        None => Ok(cache_directory()?.join(format!("jmeter-{VERSION}"))),
    }
}

/// The cache directory of the tools.
///
/// # Errors
/// The environment contains neither a cache nor a home directory.
pub fn cache_directory() -> Result<PathBuf> {
    let cache = match std::env::var_os("XDG_CACHE_HOME") {
        Some(cache) => PathBuf::from(cache),
        None => Path::new(&std::env::var_os("HOME").context("neither HOME nor XDG_CACHE_HOME is set")?)
            .join(".cache"),
    };
    Ok(cache.join("busyhour"))
}

fn is_complete(home: &Path) -> bool {
    ["bin/ApacheJMeter.jar", "bin/jmeter.properties", "lib/ext"].iter().all(|part| home.join(part).exists())
}

/// Arranges the artifacts as in JMeter's distribution: the launcher in `bin`, its parts in `lib/ext`, the dependencies
/// in `lib`.
fn assemble(home: &Path) -> Result<()> {
    let work = home.with_extension("partial");
    let _ = fs::remove_dir_all(&work);
    fs::create_dir_all(&work)?;
    fs::write(work.join("pom.xml"), pom())?;
    maven(&work, &["dependency:copy-dependencies", "-DoutputDirectory=jars", "-DincludeScope=runtime"])?;
    maven(
        &work,
        &[
            "dependency:unpack-dependencies",
            "-DoutputDirectory=config",
            "-DincludeArtifactIds=ApacheJMeter_config",
        ],
    )?;

    for folder in ["bin", "lib/ext", "lib/junit"] {
        fs::create_dir_all(home.join(folder))?;
    }
    copy_tree(&work.join("config/bin"), &home.join("bin"))?;
    let mut launcher = None;
    for entry in fs::read_dir(work.join("jars"))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name == format!("ApacheJMeter-{VERSION}.jar") {
            launcher = Some(entry.path());
        } else if name.starts_with("ApacheJMeter_") {
            fs::copy(entry.path(), home.join("lib/ext").join(name))?;
        } else {
            fs::copy(entry.path(), home.join("lib").join(name))?;
        }
    }
    // Last: its presence means that the installation is complete.
    let launcher = launcher.context("Maven did not deliver the launcher jar")?;
    fs::copy(launcher, home.join("bin/ApacheJMeter.jar"))?;
    fs::remove_dir_all(&work)?;
    Ok(())
}

fn pom() -> String {
    let mut pom = String::from(
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion>\
         <groupId>busyhour</groupId><artifactId>jmeter</artifactId><version>1</version><dependencies>",
    );
    for artifact in ARTIFACTS {
        pom += &format!(
            "<dependency><groupId>org.apache.jmeter</groupId><artifactId>{artifact}</artifactId>\
             <version>{VERSION}</version></dependency>"
        );
    }
    pom + "</dependencies></project>"
}

fn maven(directory: &Path, arguments: &[&str]) -> Result<()> {
    let output = Command::new("mvn").args(["-q", "-B"]).args(arguments).current_dir(directory).output()?;
    if !output.status.success() {
        bail!("mvn {} failed:\n{}", arguments.join(" "), String::from_utf8_lossy(&output.stdout));
    }
    Ok(())
}

fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("{} is missing", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
