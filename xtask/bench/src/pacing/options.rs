//! Options of the pacing bench.

use std::time::Duration;

use crate::options::Program;

/// A section of the bench.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Section {
    /// Poisson arrivals.
    Poisson,
    /// Even arrivals.
    Even,
    /// Even arrivals on a server that stalls for a tenth of the run.
    Stall,
}

/// A generator that can be excluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Generator {
    /// A loop with the kernel's timer.
    Bare,
    /// This project's program.
    Busyhour,
    /// Apache JMeter.
    Jmeter,
    /// k6.
    K6,
    /// vegeta.
    Vegeta,
    /// wrk2.
    Wrk2,
}

/// The options of `pacing`.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Section to measure; repeat it for several (default: all)
    #[arg(long, value_name = "SECTION")]
    only: Vec<Section>,
    /// Generator to exclude; repeat it for several
    #[arg(long, value_name = "GENERATOR")]
    without: Vec<Generator>,
    /// The program to measure, which also runs as the probe.
    #[command(flatten)]
    pub program: Program,
    /// Requests per second
    #[arg(long = "rate", value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(10..))]
    pub rate_per_s: u32,
    /// Interleaved rounds of each comparison
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
    pub rounds: u64,
    /// Length of a run
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(4..))]
    seconds: u64,
    /// Length of a run of JMeter in poisson and even, the first half of which warms it up
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u64).range(4..))]
    jmeter_seconds: u64,
}

impl Options {
    /// Whether a section is selected.
    pub fn includes(&self, section: Section) -> bool {
        self.only.is_empty() || self.only.contains(&section)
    }

    /// Whether a generator is not excluded.
    pub fn allows(&self, generator: Generator) -> bool {
        !self.without.contains(&generator)
    }

    /// The duration of a run.
    pub fn run(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }

    /// The duration of a run of JMeter.
    pub fn jmeter_run(&self) -> Duration {
        Duration::from_secs(self.jmeter_seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::parse;

    #[test]
    fn options_are_parsed_and_invalid_values_rejected() {
        let options: Options = parse("--only stall --without jmeter --rate 500 --seconds 5").unwrap();
        assert!(options.includes(Section::Stall) && !options.includes(Section::Even));
        assert!(!options.allows(Generator::Jmeter) && options.allows(Generator::K6));
        assert_eq!((options.rate_per_s, options.run()), (500, Duration::from_secs(5)));
        assert!(parse::<Options>("").unwrap().includes(Section::Poisson));
        for invalid in ["--only beer", "--rounds", "--rounds 0", "--rate 1", "--without nginx", "--fast yes"]
        {
            assert!(parse::<Options>(invalid).is_err(), "{invalid}");
        }
    }
}
