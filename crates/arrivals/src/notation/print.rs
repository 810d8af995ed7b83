//! Prints a process in canonical notation.

use std::fmt;

use crate::law::Law;
use crate::process::ArrivalProcess;
use crate::stage::{Per, Process, Rate, Stage};

/// The canonical notation, without the start times of replayed files. Parsing this notation gives the same process.
impl fmt::Display for ArrivalProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.stages().is_empty() {
            return f.write_str("pause 0s");
        }
        for (number, stage) in self.stages().iter().enumerate() {
            if number > 0 {
                f.write_str(", ")?;
            }
            stage.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = Time(self.duration_ns());
        let (word, cov, count) = match &self.process {
            Process::Pause => return write!(f, "pause {time}"),
            Process::Mmpp(mmpp) => {
                let [a, b] = mmpp.states;
                let (time_a, time_b) = (Time(a.sojourn_ns), Time(b.sojourn_ns));
                return write!(f, "mmpp({} for {time_a}, {} for {time_b}) for {time}", a.rate, b.rate);
            }
            Process::Replay(replay) => {
                let file = &replay.file;
                let bare = !file.contains(')') && !file.starts_with(['"', '\'']) && file.trim() == file;
                match (bare, file.contains('"')) {
                    (true, _) => write!(f, "replay({file})")?,
                    (false, false) => write!(f, "replay(\"{file}\")")?,
                    (false, true) => write!(f, "replay('{file}')")?,
                }
                if replay.speed != 1.0 {
                    write!(f, " speed {}", replay.speed)?;
                }
                return replay.limit_ns.map_or(Ok(()), |limit| write!(f, " for {}", Time(limit)));
            }
            Process::Poisson => ("poisson", None, None),
            Process::Even { count } => ("even", None, *count),
            Process::Jittered => ("jittered", None, None),
            Process::Gamma { cov } => ("gamma", Some(cov), None),
            Process::Weibull { cov } => ("weibull", Some(cov), None),
            Process::FixedCount { count, .. } => ("fixed", None, Some(*count)),
        };
        if self.rate_begin == self.rate_end {
            write!(f, "{word}({}", self.rate_begin)?;
            if let Some(cov) = cov {
                write!(f, ", cov {cov}")?;
            }
            write!(f, ") for {time}")?;
        } else {
            write!(f, "ramp({} → {}) over {time} {word}", self.rate_begin, self.rate_end)?;
            if let Some(cov) = cov {
                write!(f, " cov {cov}")?;
            }
        }
        if let Some(count) = count {
            write!(f, " count {count}")?;
        }
        match self.process {
            Process::FixedCount { java_random: Some(state), .. } => write!(f, " java_random {state}"),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.per {
            Per::Millisecond => "ms",
            Per::Second => "s",
            Per::Minute => "min",
            Per::Hour => "h",
            Per::Day => "d",
        };
        write!(f, "{}/{unit}", self.value)
    }
}

/// A time in nanoseconds, formatted in the largest unit that divides it without a remainder.
struct Time(u64);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [
            (3_600_000_000_000, "h"),
            (60_000_000_000, "min"),
            (1_000_000_000, "s"),
            (1_000_000, "ms"),
            (1_000, "us"),
        ];
        match units.iter().find(|(unit, _)| self.0 > 0 && self.0.is_multiple_of(*unit)) {
            Some((unit, name)) => write!(f, "{}{name}", self.0 / unit),
            None if self.0 == 0 => f.write_str("0s"),
            None => write!(f, "{}ns", self.0),
        }
    }
}

/// The name of the law in reports.
impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Law::Poisson => f.write_str("Poisson"),
            Law::Even => f.write_str("even"),
            Law::Jittered => f.write_str("uniformly jittered"),
            Law::Renewal { cov } => write!(f, "renewal with CoV {cov}"),
            Law::Bursty => f.write_str("bursty (two-state MMPP)"),
            Law::Replay => f.write_str("replayed"),
            Law::FixedCount => f.write_str("random with a fixed count"),
            Law::Mixed => f.write_str("of several laws"),
            Law::NoArrivals => f.write_str("none"),
        }
    }
}
