//! `busyhour lab server probe`: a server that records when each request arrived.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::net::TcpListener;
use std::path::Path;

use busyhour_demo::{ProbeOptions, ProbeRecord, ProbeServer};
use busyhour_stats::{DispersionCounter, GapStatistics};
use busyhour_terminal::command_error::CommandError;
use busyhour_terminal::exit::{Exit, complain, note, print};

use super::args::ServerArgs;

/// Gaps below this number of nanoseconds are typical of timers that fire in bunches.
const SHORT_NS: u64 = 50_000;

/// Width in nanoseconds of the windows whose counts are compared.
const WINDOW_NS: u64 = 100_000_000;

/// Serves requests until `ended` returns, which runs on another thread. Then prints statistics.
pub(crate) fn serve(listener: TcpListener, args: &ServerArgs, ended: impl FnOnce() + Send + 'static) -> Exit {
    let mut stalls = args.stall.clone();
    stalls.sort_by_key(|stall| stall.after);
    if let Some(two) = stalls.windows(2).find(|two| two[1].after < two[0].after + two[0].length) {
        return complain(
            Exit::Usage,
            &format!("--stall: the stall at {:?} begins before the previous stall ends", two[1].after),
        );
    }
    let options = ProbeOptions { stalls, delay: args.delay.unwrap_or_default() };
    // The file is created before the load starts, so that an invalid path is reported at once.
    let stamps = match args.stamps.as_deref().map(|path| File::create(path).map(|file| (path, file))) {
        Some(Err(error)) => {
            return complain(
                Exit::Internal,
                &format!(
                    "cannot write {}: {}",
                    shown(args),
                    busyhour_diagnostic::io_hints::with_hint(&error)
                ),
            );
        }
        Some(Ok(stamps)) => Some(stamps),
        None => None,
    };
    let failed = |error: std::io::Error| complain(Exit::Internal, &format!("the probe fails: {error}"));
    let probe = match ProbeServer::new(listener, options) {
        Ok(probe) => probe,
        Err(error) => return failed(error),
    };
    let stopper = probe.stopper();
    let wait = move || {
        ended();
        // If the probe cannot be woken, it ends at its next event.
        let _ = stopper.stop();
    };
    if let Err(error) = std::thread::Builder::new().name("until the end".into()).spawn(wait) {
        return failed(error);
    }
    let record = match probe.run() {
        Ok(record) => record,
        Err(error) => return failed(error),
    };
    print(&summary(&record));
    match stamps.map(|(path, file)| write(&record, path, file)) {
        Some(Err(message)) => complain(Exit::ResultsLost, &message),
        _ => Exit::Completed,
    }
}

fn shown(args: &ServerArgs) -> String {
    args.stamps.as_deref().map(|path| path.display().to_string()).unwrap_or_default()
}

fn write(record: &ProbeRecord, path: &Path, file: File) -> Result<(), CommandError> {
    let mut out = BufWriter::with_capacity(1 << 18, file);
    let failed = |error: std::io::Error| {
        format!("cannot write {}: {}", path.display(), busyhour_diagnostic::io_hints::with_hint(&error))
    };
    record.write(&mut out).and_then(|()| out.flush()).map_err(failed)?;
    note(&format!("wrote {}", path.display()));
    Ok(())
}

/// The statistics of the arrivals, as text.
fn summary(record: &ProbeRecord) -> String {
    let stamps = &record.stamps_ns;
    let span_s = match (stamps.first(), stamps.last()) {
        (Some(first), Some(last)) => (last - first) as f64 / 1e9,
        _ => 0.0,
    };
    let mut out = format!(
        "{} requests on {} connections in {span_s:.3} s\n",
        stamps.len() as u64 + record.stamps_omitted,
        record.connections
    );
    if record.stamps_omitted > 0 {
        out += &format!("the arrival times of the last {} requests were not stored\n", record.stamps_omitted);
    }
    let gaps = GapStatistics::of_stamps(stamps);
    let (Some(rate), Some(cov)) = (gaps.rate(), gaps.coefficient_of_variation()) else {
        return out + "too few requests for statistics\n";
    };
    let mut dispersion = DispersionCounter::new(WINDOW_NS);
    stamps.iter().for_each(|&stamp| dispersion.add(stamp));
    let short = stamps.windows(2).filter(|pair| pair[1] - pair[0] < SHORT_NS).count() as f64;
    let short_share = short / (stamps.len() - 1) as f64;
    let rate_per_s = rate.value * 1e9;
    let expected = 1.0 - (-rate_per_s * SHORT_NS as f64 / 1e9).exp();
    let index =
        dispersion.index().map_or_else(|| "unavailable".to_owned(), |index| format!("{:.2}", index.value));
    out += &format!(
        "                          seen  Poisson\n\
         rate per s           {rate_per_s:>9.1}\n\
         CoV of gaps          {:>9.2}     1.00\n\
         dispersion, 100 ms   {index:>9}     1.00\n\
         gaps below 50 µs     {:>7.1} % {:>6.1} %\n",
        cov.value,
        100.0 * short_share,
        100.0 * expected
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use insta::assert_snapshot;

    #[test]
    fn even_arrivals_are_reported_as_even() {
        let stamps_ns = (0..5_001).map(|k| 7_000_000_000 + k * 1_000_000).collect();
        let record = ProbeRecord { stamps_ns, requests: 5_001, connections: 50, ..ProbeRecord::default() };
        assert_snapshot!(summary(&record), @r"
        5001 requests on 50 connections in 5.000 s
                                  seen  Poisson
        rate per s              1000.0
        CoV of gaps               0.00     1.00
        dispersion, 100 ms        0.00     1.00
        gaps below 50 µs         0.0 %    4.9 %
        ");
        assert_snapshot!(summary(&ProbeRecord::default()), @r"
        0 requests on 0 connections in 0.000 s
        too few requests for statistics
        ");
    }
}
