//! Tests the distributions of schedules with 200 fixed seeds each: the p-values of valid tests must be uniform.

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
