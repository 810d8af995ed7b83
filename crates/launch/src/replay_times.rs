//! Reads the arrival times of a log for `replay(…)`.

use std::io::{self, BufRead as _};
use std::path::{Path, PathBuf};

use busyhour_arrivals::ArrivalProcess;
use busyhour_record::{RunDir, SamplesError, SamplesReader};
use busyhour_results::{Log, LogError};
use busyhour_sample::SampleFlags;

/// An error in a file of `replay(…)`.
#[derive(Debug, thiserror::Error)]
#[error("replay({file})")]
pub struct ReplayError {
    /// The file.
    pub file: PathBuf,
    /// The reason.
    #[source]
    pub source: ReplayCause,
}

/// The reason why a file of `replay(…)` cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ReplayCause {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The record of a run directory cannot be read.
    #[error(transparent)]
    Samples(#[from] SamplesError),
    /// The file is in none of the known formats.
    #[error("{}; the file is not an access log in the common format either", busyhour_diagnostic::io_hints::chain(.0))]
    Format(LogError),
    /// The file contains no arrivals.
    #[error("the file contains no arrivals")]
    Empty,
}

/// Reads those files of the `replay(…)` stages of a process that have not been read yet. `warn` is called with each warning.
///
/// # Errors
/// A file cannot be read.
pub fn resolve_replays(
    process: &mut ArrivalProcess,
    warn: &mut dyn FnMut(String),
) -> Result<(), ReplayError> {
    process.resolve(|file| {
        read(Path::new(file), warn).map_err(|source| ReplayError { file: file.into(), source })
    })
}

/// Arrival times of a run directory, a JTL file or an access log, in nanoseconds from an arbitrary origin.
fn read(path: &Path, warn: &mut dyn FnMut(String)) -> Result<Vec<u64>, ReplayCause> {
    let stamps = if path.is_dir() { of_run(path) } else { of_file(path, warn) }?;
    if stamps.is_empty() { Err(ReplayCause::Empty) } else { Ok(stamps) }
}

/// The arrivals of a run with an open load, or the requests of a run with a closed load.
fn of_run(path: &Path) -> Result<Vec<u64>, ReplayCause> {
    let reader = SamplesReader::open(&RunDir::open(path).samples_path())?;
    let (mut requests, mut arrivals) = (Vec::new(), Vec::new());
    let beside = SampleFlags::TRANSACTION | SampleFlags::SUB_RESULT;
    reader.read_with_arrivals(
        |_, sample| {
            if sample.flags.0 & beside.0 == 0 {
                requests.push(sample.times.start.0);
            }
        },
        |_, arrival| arrivals.push(arrival.scheduled.0),
    )?;
    Ok(if arrivals.is_empty() { requests } else { arrivals })
}

fn of_file(path: &Path, warn: &mut dyn FnMut(String)) -> Result<Vec<u64>, ReplayCause> {
    let file = std::fs::File::open(path)?;
    let mut lines = std::io::BufReader::new(file);
    let mut first = Vec::new();
    lines.read_until(b'\n', &mut first)?;
    let first = String::from_utf8_lossy(&first);
    if in_brackets(&first).is_some() {
        return of_access_log(path, warn);
    }
    let mut stamps = Vec::new();
    // The scan skips rows of transactions and sub-results, which are not arrivals.
    let facts = Log::open(path)
        .and_then(|log| log.scan(|row, _| stamps.extend(u64::try_from(row.start_ns)), &mut |_| {}))
        .map_err(ReplayCause::Format)?;
    if facts.bad_rows > 0 {
        warn(format!("skipped {} rows of {} that cannot be read", facts.bad_rows, path.display()));
    }
    Ok(stamps)
}

/// The time of a line in an access log, in seconds since 1970: `… [10/Oct/2000:13:55:36 -0700] …`.
fn in_brackets(line: &str) -> Option<i64> {
    // The client address before the time may be an IPv6 address in brackets.
    line.match_indices('[').find_map(|(at, bracket)| {
        let (text, _) = line[at + bracket.len()..].split_once(']')?;
        let stamp = jiff::fmt::strtime::parse("%d/%b/%Y:%H:%M:%S %z", text).ok()?.to_timestamp().ok()?;
        Some(stamp.as_second())
    })
}

/// Reads an access log, which contains whole seconds. Requests are distributed at random (with a fixed seed) within their
/// second, because requests at the same instant would be a burst that did not happen.
fn of_access_log(path: &Path, warn: &mut dyn FnMut(String)) -> Result<Vec<u64>, ReplayCause> {
    use rand::{Rng as _, SeedableRng as _};
    let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(0);
    let file = std::fs::File::open(path)?;
    let (mut stamps, mut odd, mut buffer) = (Vec::new(), 0u64, Vec::new());
    let mut lines = std::io::BufReader::new(file);
    loop {
        buffer.clear();
        if lines.read_until(b'\n', &mut buffer)? == 0 {
            break;
        }
        match in_brackets(&String::from_utf8_lossy(&buffer)).and_then(|second| u64::try_from(second).ok()) {
            Some(second) => stamps.push(second * 1_000_000_000 + random.random_range(0..1_000_000_000)),
            None if buffer.iter().all(u8::is_ascii_whitespace) => {}
            None => odd += 1,
        }
    }
    warn(format!(
        "{} has times in whole seconds; its arrivals are spread at random within each second",
        path.display()
    ));
    if odd > 0 {
        warn(format!("skipped {odd} lines of {} without a time", path.display()));
    }
    Ok(stamps)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &Path) -> Result<Vec<u64>, String> {
        super::read(path, &mut |_| {}).map_err(|error| error.to_string())
    }

    #[test]
    fn times_are_read_from_every_kind_of_log() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, "timeStamp,elapsed,label,success\n1000,5,a,true\n1250,5,a,true\n").unwrap();
        assert_eq!(read(&path), Ok(vec![1_000_000_000, 1_250_000_000]));
        let line = |second: u32| {
            format!("127.0.0.1 - frank [10/Oct/2000:13:55:{second} -0700] \"GET /a HTTP/1.0\" 200 2326\n")
        };
        std::fs::write(&path, format!("{}{}no stamp\n", line(36), line(38))).unwrap();
        let stamps = read(&path).unwrap();
        assert_eq!(
            stamps.iter().map(|ns| ns / 1_000_000_000).collect::<Vec<_>>(),
            [971_211_336, 971_211_338]
        );
        assert_eq!(read(&path), Ok(stamps), "the same each time");
        std::fs::write(&path, format!("[::1] {}", line(36))).unwrap();
        assert_eq!(read(&path).unwrap().len(), 1, "a client in brackets");
        // The rows that JMeter writes without column names, and as XML.
        let row = |at: u32| format!("{at},5,get,200,OK,Users 1-1,text,true,,67,118,1,1,http://a/,0,0,0\n");
        std::fs::write(&path, row(1000) + &row(1400)).unwrap();
        assert_eq!(read(&path), Ok(vec![1_000_000_000, 1_400_000_000]));
        let sample =
            |at: u32| format!("<httpSample t=\"5\" ts=\"{at}\" s=\"true\" lb=\"get\" tn=\"Users 1-1\"/>\n");
        std::fs::write(
            &path,
            format!("<testResults version=\"1.2\">\n{}{}</testResults>\n", sample(7), sample(9)),
        )
        .unwrap();
        assert_eq!(read(&path), Ok(vec![7_000_000, 9_000_000]));
        std::fs::write(&path, "rubbish\n").unwrap();
        assert!(read(&path).unwrap_err().contains("access log"));
        std::fs::write(&path, "timeStamp,elapsed,label,success\n").unwrap();
        assert!(read(&path).unwrap_err().contains("no arrivals"));
    }
}
