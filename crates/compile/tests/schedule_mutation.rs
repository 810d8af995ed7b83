//! A short deterministic fuzz run over schedules: tables with unusual numbers, and invalid ones.

mod schedule_soundness;

use proptest::prelude::*;
use schedule_soundness::check;

/// Contents of cells: numbers at the limits, and invalid ones.
const CELLS: &[&str] = &[
    "0",
    "1",
    "5",
    "60",
    "-1",
    "1000000",
    "1000001",
    "2147483647",
    "-2147483648",
    "4294967296",
    "9223372036854775807",
    "99999999999999999999",
    "0.5",
    "1e300",
    "-1e300",
    "1e-300",
    "NaN",
    "inf",
    "",
    " ",
    " 7 ",
    "M",
    "S",
    "${users}",
    "${__P(users,3)}",
    "${__P(",
    "ü",
    "rate(5/s) random_arrivals(1 min)",
];

/// Properties of the command line that replace tables.
const PROFILES: &[&str] = &[
    "const(10,10s) line(10,100,1m) step(5,25,5,1h)",
    "step(0,4000000000,1,1s)",
    "const(4294967295,9000000000000000000)const(1,9000000000000000000)const(1,9000000000000000000)",
    "spawn(1,1s,1m,1h,1m30s) spawn(2147483647,0,0,0,0)",
    "spawn(-2147483648,0,0,0,0)spawn(-2147483648,0,0,0,0)spawn(9,1,1,1,1)",
    "rate(1/s) even_arrivals(1 s) rate(1e9/s)",
    "rate(1000000000000/ms) random_arrivals(100000 days)",
    "pause(-1 s) rate(0/s) random_arrivals(0)",
    "const(",
    "spawn(,,,,)",
];

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        cases: 16,
        rng_seed: proptest::test_runner::RngSeed::Fixed(20_261_122),
        ..ProptestConfig::default()
    })]
    #[test]
    fn unusual_tables_violate_no_invariant(
        rows in proptest::collection::vec(proptest::collection::vec(proptest::sample::select(CELLS), 1..7), 0..5),
    ) {
        let rows: Vec<String> = rows.iter().map(|row| row.join(",")).collect();
        check(rows.join("\n").as_bytes());
    }

    #[test]
    fn random_bytes_violate_no_invariant(source in proptest::collection::vec(any::<u8>(), 0..80)) {
        check(&source);
    }

    #[test]
    fn tables_of_numbers_violate_no_invariant(text in "([0-9]{1,4},){4,8}[0-9]{1,4}(\n([0-9]{1,3},){4}[0-9]{1,3}){0,3}") {
        check(text.as_bytes());
    }
}

#[test]
fn profiles_violate_no_invariant() {
    for profile in PROFILES {
        check(profile.as_bytes());
        for end in profile.char_indices().map(|(at, _)| at).step_by(7) {
            check(&profile.as_bytes()[..end]);
        }
    }
}
