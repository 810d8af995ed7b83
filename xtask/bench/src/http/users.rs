//! Many users with a think time of one second: the memory per user.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use xtask_common::results;
use xtask_common::table::{Table, median, number};

use super::nginx::{Nginx, Scheme, body_path};
use super::peers::Peer;
use super::setup::Bench;
use crate::machine::KernelMemory;
use crate::process::{self, Usage};

/// The numbers of users; the others are compared with the first one.
const USERS: [u64; 3] = [1, 1_000, 5_000];

/// The state of each user in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Variant {
    /// One sampler and a timer.
    Plain,
    /// With a cookie manager and a cache manager, and a server that sends data for both.
    CookiesAndCache,
    /// The plain plan over HTTPS.
    Https,
}

impl Variant {
    const ALL: [(Self, &str); 3] = [
        (Self::Plain, "one sampler"),
        (Self::CookiesAndCache, "with cookies and cache"),
        (Self::Https, "over HTTPS"),
    ];

    fn scheme(self) -> Scheme {
        if self == Self::Https { Scheme::Https } else { Scheme::Http }
    }
}

/// Runs the section and prints the results.
pub fn run(bench: &Bench) -> Result<()> {
    let mut nginx = Nginx::start(bench)?;
    for (variant, what) in Variant::ALL {
        // JMeter is only measured with the plain plan.
        let mut peers = Peer::available(bench);
        peers.retain(|&peer| variant == Variant::Plain || peer == Peer::Busyhour);
        if peers.is_empty() {
            continue;
        }
        println!("\n## Users with 1 s think time: {what}, median of {} rounds\n", bench.options.rounds);
        let plan = plan(bench, variant)?;
        let mut rows = Vec::new();
        for _ in 0..bench.options.rounds {
            for &peer in &peers {
                for users in USERS {
                    rows.push((peer, users, measure(bench, &mut nginx, peer, variant, &plan, users)?));
                }
            }
        }
        print!("{}", table(&peers, &rows));
    }
    Ok(())
}

/// A run, and the kernel's memory before it.
struct Run {
    usage: Usage,
    kernel_before: KernelMemory,
    failures: u64,
}

impl Run {
    /// NaN if the process had ended before it could be read.
    fn resident_kib(&self) -> f64 {
        match self.usage.window.1.resident_kib {
            0 => f64::NAN,
            kib => kib as f64,
        }
    }

    fn buffers_kib(&self) -> f64 {
        self.usage.window.1.kernel.tcp_buffers_kib.saturating_sub(self.kernel_before.tcp_buffers_kib) as f64
    }

    fn slab_kib(&self) -> f64 {
        self.usage.window.1.kernel.slab_kib.saturating_sub(self.kernel_before.slab_kib) as f64
    }
}

fn measure(
    bench: &Bench,
    nginx: &mut Nginx,
    peer: Peer,
    variant: Variant,
    plan: &std::path::Path,
    users: u64,
) -> Result<Run> {
    // One third of the run starts the users; the rest allows a few passes of each.
    let run = peer.run_duration(bench).max(Duration::from_secs(12));
    let ramp = run / 3;
    let port = if variant.scheme() == Scheme::Https { nginx.tls_port } else { nginx.port };
    let prefix =
        if variant == Variant::CookiesAndCache { "/session?n=".to_owned() } else { body_path(100) + "?n=" };
    let properties = [
        ("HOST", "127.0.0.1".to_owned()),
        ("PORT", port.to_string()),
        ("USERS", users.to_string()),
        ("RAMPUP", ramp.as_secs().to_string()),
        ("DURATION", run.as_secs().to_string()),
        ("PATH_PREFIX", prefix),
    ];
    let kernel_before = KernelMemory::read();
    let prepared = peer.prepare(bench, plan, &properties)?;
    // The JVM needs some seconds before its first user starts.
    let late = if peer == Peer::JMeter { Duration::from_secs(5) } else { Duration::from_secs(1) };
    let window = ramp + late..run - Duration::from_secs(1);
    let usage =
        process::measure(prepared.command, &bench.cores, &prepared.log, window, &mut || nginx.requests())?;
    let (_, failures) = results::count(&prepared.rows)?;
    std::fs::remove_file(&prepared.rows)?;
    Ok(Run { usage, kernel_before, failures })
}

/// The plan of a variant: the project's plan with the elements that the variant adds.
fn plan(bench: &Bench, variant: Variant) -> Result<PathBuf> {
    let original = bench.plan("one-request-think.jmx");
    let text = std::fs::read_to_string(&original).with_context(|| original.display().to_string())?;
    let text = match variant {
        Variant::Plain => return Ok(original),
        Variant::Https => replace_once(&text, PROTOCOL_HTTP, &PROTOCOL_HTTP.replace(">http<", ">https<"))?,
        Variant::CookiesAndCache => {
            let text = replace_once(&text, GROUP_START, &format!("{MANAGERS}{GROUP_START}"))?;
            // Always the same address, because the cache of every user would grow otherwise.
            replace_once(&text, "${__counter(FALSE,)}", "1")?
        }
    };
    let path = bench.work.path().join("users.jmx");
    std::fs::write(&path, text)?;
    Ok(path)
}

const PROTOCOL_HTTP: &str = "<stringProp name=\"HTTPSampler.protocol\">http</stringProp>";
const GROUP_START: &str = "<ThreadGroup ";
const MANAGERS: &str = "\
<CookieManager guiclass=\"CookiePanel\" testclass=\"CookieManager\" testname=\"Cookies\">\
<collectionProp name=\"CookieManager.cookies\"/><boolProp name=\"CookieManager.clearEachIteration\">false</boolProp>\
<boolProp name=\"CookieManager.controlledByThreadGroup\">false</boolProp></CookieManager><hashTree/>\
<CacheManager guiclass=\"CacheManagerGui\" testclass=\"CacheManager\" testname=\"Cache\">\
<boolProp name=\"clearEachIteration\">false</boolProp><boolProp name=\"useExpires\">true</boolProp>\
<boolProp name=\"CacheManager.controlledByThread\">false</boolProp></CacheManager><hashTree/>";

fn replace_once(text: &str, from: &str, to: &str) -> Result<String> {
    ensure!(text.contains(from), "the plan does not contain {from}");
    Ok(text.replacen(from, to, 1))
}

fn table(peers: &[Peer], rows: &[(Peer, u64, Run)]) -> Table {
    let mut table = Table::new(&[
        "generator",
        "users",
        "requests/s",
        "resident MiB",
        "KiB per user",
        "beyond 25 MiB",
        "kernel buffers KiB per user",
        "kernel slab KiB per user",
        "core used",
        "failures",
    ]);
    for &peer in peers {
        let runs =
            |users: u64| rows.iter().filter(move |row| row.0 == peer && row.1 == users).map(|row| &row.2);
        let base_kib = median(runs(USERS[0]).map(Run::resident_kib));
        for users in USERS.into_iter().filter(|&users| runs(users).next().is_some()) {
            let median_of = |pick: fn(&Run) -> f64| median(runs(users).map(pick));
            let per_user = |kib: f64| if users > 1 { number(kib / users as f64) } else { number(f64::NAN) };
            let resident_kib = median_of(Run::resident_kib);
            table.row([
                peer.name().to_owned(),
                users.to_string(),
                number(median_of(|run| run.usage.window_rate())),
                number(resident_kib / 1024.0),
                per_user(resident_kib - base_kib),
                per_user(resident_kib - 25.0 * 1024.0),
                per_user(median_of(Run::buffers_kib)),
                per_user(median_of(Run::slab_kib)),
                format!("{:.1} %", 100.0 * median_of(|run| run.usage.window_load())),
                runs(users).map(|run| run.failures).sum::<u64>().to_string(),
            ]);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_contains_the_parts_that_variants_replace() {
        let path = xtask_common::project::root().join("plans/one-request-think.jmx");
        let text = std::fs::read_to_string(path).unwrap();
        for part in [PROTOCOL_HTTP, GROUP_START, "${__counter(FALSE,)}"] {
            assert_eq!(text.matches(part).count(), 1, "{part}");
        }
        assert!(replace_once(&text, "<Beer", "").is_err());
    }
}
