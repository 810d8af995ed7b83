//! Tests properties of schedules with random texts, seeds and divisions.

use busyhour_arrivals::{Arrival, ArrivalProcess, LoadShare, ShareRule, jmeter, pick};
use proptest::prelude::*;

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        (0_u32..2_000).prop_map(|n| n.to_string()),
        (0.001_f64..500.0).prop_map(|x| x.to_string()),
        Just("1_000".to_owned()),
    ]
}

fn rate() -> impl Strategy<Value = String> {
    (number(), prop::sample::select(vec!["/s", "/min", "/h", "/d", " per second"]))
        .prop_map(|(number, unit)| number + unit)
}

fn time() -> impl Strategy<Value = String> {
    (number(), prop::sample::select(vec!["ms", "s", "us", "ns", "s 20ms"])).prop_map(|(n, unit)| n + unit)
}

fn law() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["poisson", "even", "jittered", "fixed"])
}

fn stage() -> impl Strategy<Value = String> {
    let cov = 0.01_f64..20.0;
    let renewal = prop::sample::select(vec!["gamma", "weibull"]);
    prop_oneof![
        (law(), rate(), time()).prop_map(|(law, rate, time)| format!("{law}({rate}) for {time}")),
        (rate(), rate(), time(), law())
            .prop_map(|(a, b, time, law)| format!("ramp({a} → {b}) over {time} {law}")),
        (renewal.clone(), rate(), cov.clone(), time())
            .prop_map(|(law, rate, cov, time)| format!("{law}({rate}, cov {cov}) for {time}")),
        (rate(), rate(), time(), renewal, cov)
            .prop_map(|(a, b, time, law, cov)| format!("ramp({a} → {b}) over {time} {law} cov {cov}")),
        (1_u32..1_000, rate(), time())
            .prop_map(|(a, b, time)| format!("mmpp({a}/s for 10ms, {b} for 1s) for {time}")),
        time().prop_map(|time| format!("pause {time}")),
        (prop::sample::select(vec!["a.jtl", "\"a (2).jtl\"", "'\"'"]), number())
            .prop_map(|(file, speed)| format!("replay({file}) speed 1{speed} for 3s")),
        (rate(), time(), 0_u32..50).prop_map(|(rate, time, n)| format!("even({rate}) for {time} count {n}")),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(stage(), 1..5).prop_map(|stages| stages.join(", "))
}

/// Random sequences of tokens of the grammar, most of them invalid.
fn random_tokens() -> impl Strategy<Value = String> {
    let pieces = vec![
        "poisson",
        "ramp",
        "mmpp",
        "replay",
        "gamma",
        "pause",
        "rate",
        "even_arrivals",
        "(",
        ")",
        ",",
        "→",
        "->",
        "/",
        "s",
        "min",
        "per",
        "for",
        "over",
        "cov",
        "count",
        "speed",
        "1",
        "500/s",
        "60s",
        "1e308",
        "1e9/s",
        "0",
        "99999999999999999999",
        ".",
        "_",
        "-",
        "é",
        " ",
        "\n",
        "\"",
        "/*",
        "//",
        "1.5",
        "20",
        "0.01",
    ];
    prop::collection::vec(prop::sample::select(pieces), 0..14).prop_map(|pieces| pieces.concat())
}

/// One stage of every law.
const MIXED: &str = "poisson(300/s) for 1s, even(100/s) for 1s, gamma(100/s, cov 2) for 1s, pause 1s, \
    mmpp(50/s for 100ms, 500/s for 100ms) for 1s, fixed(100/s) for 1s, jittered(100/s) for 1s, \
    ramp(0/s → 200/s) over 1s, ramp(200/s → 0/s) over 1s even";

fn check_schedule(process: &ArrivalProcess) -> Result<(), TestCaseError> {
    let mut last = 0;
    for arrival in process.schedule(5).take(200) {
        prop_assert!(arrival.at_ns >= last);
        last = arrival.at_ns;
        let stage = &process.stages()[arrival.stage as usize];
        prop_assert!(stage.begin_ns <= arrival.at_ns && arrival.at_ns < stage.end_ns);
    }
    let mut previous = 0.0;
    for part in 0..=16 {
        let at_ns = process.duration_ns() / 16 * part;
        let cumulative = process.cumulative(at_ns);
        prop_assert!(cumulative >= previous * (1.0 - 1e-12), "{cumulative} after {previous}");
        prop_assert!(process.rate_at(at_ns) >= 0.0);
        previous = cumulative;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn printing_and_parsing_round_trips(text in text()) {
            // Some texts are invalid, such as an MMPP whose rates are 0.
        if let Ok(process) = ArrivalProcess::parse(&text) {
            let printed = process.to_string();
            let again = ArrivalProcess::parse(&printed);
            prop_assert_eq!(again.as_ref(), Ok(&process), "{} → {}", &text, &printed);
            prop_assert_eq!(again.unwrap().to_string(), printed);
            check_schedule(&process)?;
                    }
                }

    #[test]
    fn no_text_panics(text in prop_oneof![any::<String>(), random_tokens()]) {
            for parsed in [ArrivalProcess::parse(&text), jmeter::parse(&text)] {
                match parsed {
                    Ok(process) => check_schedule(&process)?,
                Err(error) => {
                    prop_assert!(error.at <= text.len());
                    prop_assert!(error.render(&text).contains('^'));
                }
            }
        }
    }

    #[test]
    fn shares_are_disjoint_and_complete(
        cuts in prop::collection::btree_set((1_u64..60, 1_u64..60), 0..6),
        again in prop::collection::vec(0_u64..5, 1..5),
        seed in any::<u64>(),
    ) {
        // Distinct sorted fractions, where one of the shares is divided again.
        let mut cuts: Vec<(u64, u64)> = cuts.into_iter().filter(|(a, b)| a < b).collect();
        cuts.sort_by(|(a, b), (c, d)| (a * d).cmp(&(c * b)));
        cuts.dedup_by(|(a, b), (c, d)| *a * *d == *c * *b);
        let mut shares = LoadShare::cut(&cuts).unwrap();
        if again.iter().any(|weight| *weight > 0) {
            let divided = shares.remove(shares.len() / 2);
            shares.extend(divided.divide(&again).unwrap());
        }
        prop_assert!((shares.iter().map(LoadShare::size).sum::<f64>() - 1.0).abs() < 1e-12);

        let process = ArrivalProcess::parse(MIXED).unwrap();
        let whole: Vec<Arrival> = process.schedule(seed).collect();
        let mut together: Vec<Arrival> =
            shares.iter().flat_map(|share| process.schedule(seed).share(share.clone())).collect();
        together.sort_by_key(|arrival| arrival.index);
        prop_assert_eq!(together, whole);
    }

    /// `contains_number`, `count_below` and `nth` are consistent, for shares of shares of any sizes.
    #[test]
    fn numbers_of_a_share_are_consistent(
        weights in prop::collection::vec(0_u64..9, 1..5),
        again in prop::collection::vec(0_u64..5, 1..4),
    ) {
        prop_assume!([&weights, &again].iter().all(|all| all.iter().any(|weight| *weight > 0)));
        let outer = LoadShare::WHOLE.divide(&weights).unwrap();
        let shares: Vec<LoadShare> = outer.iter().flat_map(|share| share.divide(&again).unwrap()).collect();
        prop_assert_eq!(shares.iter().filter(|share| share.is_first()).count(), 1);
        for share in &shares {
            let numbers: Vec<u64> = (0..300).filter(|number| share.contains_number(*number)).collect();
            let ranked: Vec<u64> =
                (0..).map_while(|rank| share.nth(rank)).take_while(|number| *number < 300).collect();
            prop_assert_eq!(&ranked, &numbers);
            for below in 0..300 {
                prop_assert_eq!(share.count_below(below), numbers.partition_point(|number| *number < below) as u64);
            }
            prop_assert_eq!(share.to_string().parse(), Ok(share.clone()));
        }
        prop_assert_eq!(shares.iter().map(|share| share.count_below(u64::MAX)).map(u128::from).sum::<u128>(), u128::from(u64::MAX));
    }

    /// Among the first n arrivals, for any n, the number of a share's arrivals deviates from its expectation by at most the
    /// number of parts.
    #[test]
    fn shares_by_index_are_evenly_distributed(weights in prop::collection::vec(0_u64..20, 1..6)) {
        prop_assume!(weights.iter().any(|weight| *weight > 0));
        let total: u64 = weights.iter().sum();
        for (share, weight) in LoadShare::WHOLE.divide(&weights).unwrap().iter().zip(&weights) {
            let mut taken = 0_u64;
            for index in 0..500 {
                let arrival = Arrival { index, at_ns: 0, stage: 0, mark: 0 };
                taken += u64::from(share.contains(&arrival, ShareRule::ByIndex));
                let due = (index + 1) as f64 * *weight as f64 / total as f64;
                prop_assert!((taken as f64 - due).abs() <= weights.len() as f64, "{} of {}", taken, due);
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_schedule() {
    let process = ArrivalProcess::parse(MIXED).unwrap();
    let arrivals: Vec<Arrival> = process.schedule(1).collect();
    assert_eq!(arrivals, process.schedule(1).collect::<Vec<_>>());
    assert_ne!(arrivals, process.schedule(2).collect::<Vec<_>>());
    assert!(arrivals.iter().zip(0..).all(|(arrival, index)| arrival.index == index));
}

/// A seed must yield the same schedule in later versions and on other machines. A change must be listed in the changelog.
#[test]
fn schedules_are_the_same_as_in_earlier_versions() {
    let process = ArrivalProcess::parse(MIXED).unwrap();
    let mut sum = 0_u64;
    let mut lines = String::new();
    for (number, arrival) in process.schedule(20_260).enumerate() {
        sum = sum.rotate_left(7) ^ arrival.at_ns ^ arrival.mark;
        if number % 200 == 0 {
            lines.push_str(&format!("{} {} {:016x}\n", arrival.index, arrival.at_ns, arrival.mark));
        }
    }
    insta::assert_snapshot!(format!("{lines}all {sum:016x}"), @r"
    0 8108742 df0ac17b579657b3
    200 633540538 94e66cbb85a589b6
    400 1620000000 98cb232670f165cf
    600 4329483071 fe2fae8d711a14fb
    800 5314322641 85957602d43f5a1f
    1000 7612235675 faa9c6f7b82add28
    all 4f27b2c39a5a176e
    ");
}

#[test]
fn extreme_rates_and_durations_do_not_overflow() {
    for text in [
        "poisson(1e9/s) for 36500d",
        "even(1e9/s) for 36500d",
        "jittered(1e7/s) for 36500d",
        "ramp(0/s → 1e9/s) over 36500d",
        "ramp(1e9/s → 0/s) over 36500d even",
        "gamma(1e7/s, cov 20) for 36500d",
        "weibull(1e7/s, cov 0.01) for 36500d",
        "fixed(1e9/s) for 36500d",
        "mmpp(1e9/s for 36500d, 0/s for 1ns) for 36500d",
        "poisson(1e9/s) for 1ns",
        "even(1/d) for 36500d",
    ] {
        let process = ArrivalProcess::parse(text).unwrap();
        let mut last = 0;
        for arrival in process.schedule(9).take(10_000) {
            assert!(arrival.at_ns >= last && arrival.at_ns < process.duration_ns(), "{text}");
            last = arrival.at_ns;
        }
        assert!(process.expected_count().is_finite(), "{text}");
    }
    let fast = ArrivalProcess::parse("poisson(1e7/s) for 10ms").unwrap();
    assert!((fast.schedule(1).count() as f64 - 1e5).abs() < 4.0 * 1e5_f64.sqrt());
}

#[test]
fn groups_are_chosen_by_weight_and_independently_of_shares() {
    let process = ArrivalProcess::parse("poisson(10000/s) for 10s").unwrap();
    let share = LoadShare::part(0, 2).unwrap();
    let mut counts = [[0_u32; 3]; 2];
    for arrival in process.schedule(4) {
        let group = pick(&[1.0, 0.0, 3.0], arrival.mark);
        counts[usize::from(share.contains(&arrival, ShareRule::ByMark))][group] += 1;
    }
    for half in counts {
        assert_eq!(half[1], 0);
        let n = f64::from(half[0] + half[2]);
        assert!((n - 50_000.0).abs() < 4.0 * 25_000_f64.sqrt());
        assert!((f64::from(half[0]) - n / 4.0).abs() < 4.0 * (n * 0.1875).sqrt(), "{half:?}");
    }
    assert_eq!(pick(&[], 7), 0);
    assert_eq!(pick(&[0.0, f64::NAN, -1.0], 7), 0);
    assert_eq!(pick(&[0.0, 1e-300, f64::INFINITY], u64::MAX), 1);
}

#[test]
fn shares_have_a_notation() {
    let share = LoadShare::part(1, 3).unwrap().part_of(0, 2).unwrap();
    assert_eq!((share.lower(), share.upper()), ((1, 3), (1, 2)));
    assert_eq!(share.to_string(), "2/3, 1/2");
    assert_eq!((LoadShare::WHOLE.to_string(), LoadShare::default()), ("1/1".into(), LoadShare::WHOLE));
    assert!(LoadShare::WHOLE.is_whole() && LoadShare::WHOLE.is_first());
    assert_eq!(LoadShare::WHOLE.divide(&[3, 1]).unwrap()[1].to_string(), "2/3:1");
    for (text, share) in [
        ("1/1", LoadShare::WHOLE),
        (" 2/3 ,1/2", share),
        ("3/3:0:1", LoadShare::WHOLE.divide(&[3, 0, 1]).unwrap().remove(2)),
        ("1/2:2", LoadShare::part(0, 2).unwrap()),
    ] {
        assert_eq!(text.parse(), Ok(share.clone()), "{text}");
        assert_eq!(share.to_string().parse(), Ok(share), "{text}");
    }
    let message = |text: &str| text.parse::<LoadShare>().unwrap_err().to_string();
    insta::assert_snapshot!(
        ["", "half", "0/2", "3/2", "1/0", "3/5:1", "1/0:0", "1/2:", "+1/2", "1/2, 2"].map(message).join("\n")
    );
}

/// The errors of divisions.
#[test]
fn impossible_divisions_are_errors() {
    assert!(LoadShare::part(3, 3).is_err());
    assert!(LoadShare::part(0, 0).is_err());
    assert!(LoadShare::WHOLE.divide(&[0, 0]).is_err());
    assert!(LoadShare::WHOLE.divide(&[]).is_err());
    assert!(LoadShare::WHOLE.divide(&[u64::MAX, 1]).is_err());
    assert!(LoadShare::cut(&[(1, 2), (1, 3)]).is_err());
    assert!(LoadShare::cut(&[(1, 0)]).is_err());
    assert!(LoadShare::cut(&[(3, 3)]).is_err());
    assert_eq!(LoadShare::cut(&[]).unwrap()[0].size(), 1.0);
    assert!(LoadShare::part(1, u64::MAX).unwrap().part_of(1, 3).is_err());
}
