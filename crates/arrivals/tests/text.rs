//! The text form: what it reads, what it prints, what it says to mistakes.

use busyhour_arrivals::{ArrivalProcess, Law};

fn parse(text: &str) -> ArrivalProcess {
    ArrivalProcess::parse(text).unwrap_or_else(|error| panic!("{}", error.render(text)))
}

#[test]
fn the_example_of_the_manual() {
    let text =
        "poisson(500/s) for 60s, ramp(500/s → 2000/s) over 5min poisson, pause 10s, even(100/s) for 1min";
    let process = parse(text);
    assert_eq!(
        process.to_string(),
        "poisson(500/s) for 1min, ramp(500/s → 2000/s) over 5min poisson, pause 10s, even(100/s) for 1min"
    );
    assert_eq!(parse(&process.to_string()), process);
    assert_eq!(process.duration_ns(), 430_000_000_000);
    assert_eq!(process.expected_count(), 30_000.0 + 375_000.0 + 6_000.0);
    assert_eq!(process.rate_at(0), 500.0);
    assert_eq!(process.rate_at(210_000_000_000), 1250.0);
    assert_eq!(process.rate_at(365_000_000_000), 0.0);
    assert_eq!(process.rate_at(370_000_000_000), 100.0);
    assert_eq!(process.rate_at(430_000_000_000), 0.0);
    assert_eq!(process.cumulative(60_000_000_000), 30_000.0);
    assert_eq!(process.cumulative(365_000_000_000), 405_000.0);
    assert_eq!(process.cumulative(u64::MAX), 411_000.0);
    assert_eq!(process.law(), Law::Mixed);
    let arrivals: Vec<_> = process.schedule(1).collect();
    assert!((arrivals.len() as f64 - 411_000.0).abs() < 5.0 * 405_000.0_f64.sqrt());
    assert!(arrivals.windows(2).all(|pair| pair[0].at_ns <= pair[1].at_ns));
    assert_eq!(arrivals.iter().filter(|arrival| arrival.stage == 3).count(), 6_000);
    assert!(arrivals.iter().all(|arrival| arrival.stage != 2));
}
