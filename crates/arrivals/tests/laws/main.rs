//! The laws of the schedules, each over 200 fixed seeds: p-values of tests that are right must be uniform.

mod p_values;

mod deterministic;
mod fixed_count;
mod mmpp;
mod poisson;
mod renewal;

use busyhour_arrivals::ArrivalProcess;

fn parse(text: &str) -> ArrivalProcess {
    ArrivalProcess::parse(text).unwrap_or_else(|error| panic!("{}", error.render(text)))
}
