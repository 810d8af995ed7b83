//! Tests even and jittered arrivals, replays, and their division into shares.

use busyhour_arrivals::{ArrivalProcess, LoadShare};

use super::parse;

fn stamps(process: &ArrivalProcess) -> Vec<u64> {
    process.schedule(7).map(|arrival| arrival.at_ns).collect()
}

#[test]
fn even_arrivals_are_exactly_even() {
    let expected: Vec<u64> = (0..10_000).map(|k| k * 1_000_000).collect();
    assert_eq!(stamps(&parse("even(1000/s) for 10s")), expected);
    // The gap is not a whole number of nanoseconds. Each arrival is rounded to the nearest nanosecond, without drift.
    let thirds = stamps(&parse("even(300/s) for 1h"));
    assert_eq!(thirds.len(), 1_080_000);
    assert!(thirds.iter().zip(0_u128..).all(|(at, k)| u128::from(*at) == (k * 20_000_000 + 3) / 6));
}

#[test]
fn even_arrivals_of_a_ramp_are_where_the_expected_number_is_a_whole_number() {
    for text in ["ramp(0/s → 100/s) over 10s even", "ramp(100/s → 0/s) over 10s even"] {
        let process = parse(text);
        let arrivals: Vec<_> = process.schedule(0).collect();
        assert_eq!(arrivals.len(), 500, "{text}");
        for arrival in arrivals {
            let (at, rate) = (arrival.at_ns, process.rate_at(arrival.at_ns));
            let error = (process.cumulative(at) - arrival.index as f64).abs();
            assert!(error <= rate * 1e-9 + 1e-9, "{text}: number {} is off by {error}", arrival.index);
        }
    }
}

#[test]
fn even_stages_continue_the_phase_of_preceding_even_stages() {
    let ms = |text: &str| -> Vec<u64> { stamps(&parse(text)).iter().map(|at| at / 1_000_000).collect() };
    assert_eq!(ms("even(10/s) for 250ms, even(3/s) for 1s"), [0, 100, 200, 416, 750, 1083]);
    assert_eq!(ms("even(10/s) for 250ms, pause 1s, even(10/s) for 250ms"), [0, 100, 200, 1300, 1400]);
    assert_eq!(ms("even(10/s) for 300ms, pause 1s, even(10/s) for 150ms"), [0, 100, 200, 1300, 1400]);
    assert_eq!(ms("even(10/s) for 250ms, even(10/s) for 250ms count 3"), [0, 100, 200, 250, 350, 450]);
}

#[test]
fn each_cell_has_one_jittered_arrival() {
    let process = parse("jittered(10/s) for 100s, ramp(10/s → 90/s) over 10s jittered");
    let mut cells = vec![0; 1_500];
    for arrival in process.schedule(3) {
        cells[process.cumulative(arrival.at_ns) as usize] += 1;
    }
    assert!(cells.iter().all(|count| *count == 1));
}

#[test]
fn a_replay_keeps_its_gaps() {
    let mut process = parse("pause 1s, replay(a.jtl) speed 2, even(10/s) for 200ms");
    assert_eq!(process.unresolved(), Some("a.jtl"));
    assert_eq!(stamps(&process).len(), 2);
    let read = |name: &str| match name {
        "a.jtl" => Ok(vec![5_000_000_400, 5_000_000_000, 5_000_000_000, 5_000_001_000]),
        other => Err(other.to_owned()),
    };
    process.resolve(read).unwrap();
    assert_eq!(process.unresolved(), None);
    let begin = 1_000_000_000;
    assert_eq!(
        stamps(&process),
        [begin, begin, begin + 200, begin + 500, begin + 501, begin + 501 + 100_000_000]
    );
    assert_eq!(process.expected_count(), 6.0);
    assert_eq!(process.cumulative(begin + 200), 2.0);

    let mut cut = parse("replay(a.jtl) for 400ns");
    cut.resolve(read).unwrap();
    assert_eq!(stamps(&cut), [0, 0]);
    assert_eq!(cut.duration_ns(), 400);
    assert_eq!(parse("replay(b.jtl)").resolve(read), Err("b.jtl".to_owned()));
}

#[test]
fn equal_shares_of_even_arrivals_interleave() {
    let process = parse("even(1000/s) for 6s");
    for of in [1, 2, 3, 7, 10] {
        for part in 0..of {
            let share = LoadShare::part(part, of).unwrap();
            let found: Vec<u64> = process.schedule(0).share(share).map(|arrival| arrival.at_ns).collect();
            let expected: Vec<u64> = (part..6_000).step_by(of as usize).map(|k| k * 1_000_000).collect();
            assert_eq!(found, expected, "{part} of {of}");
        }
    }
}
