//! Tests parsing, printing and error messages of the notation.

use busyhour_arrivals::{ArrivalProcess, Law, time_ns};

fn parse(text: &str) -> ArrivalProcess {
    ArrivalProcess::parse(text).unwrap_or_else(|error| panic!("{}", error.render(text)))
}

#[test]
fn the_example_in_the_documentation_is_parsed() {
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

#[test]
fn every_kind_of_stage_is_printed_in_canonical_notation() {
    let canonical = [
        ("500/s for 60s", "poisson(500/s) for 1min"),
        ("POISSON( 1_000 / sec ) for 1.5 s", "poisson(1000/s) for 1500ms"),
        ("100 per min over 1h", "poisson(100/min) for 1h"),
        ("even(0.25/s) for 1min 30s", "even(0.25/s) for 90s"),
        ("even(1/h) for 2d", "even(1/h) for 48h"),
        ("even(10/s) for 1s count 7", "even(10/s) for 1s count 7"),
        ("jittered(100/s) for 250us", "jittered(100/s) for 250us"),
        ("gamma(100/s, cov 0.5) for 10s", "gamma(100/s, cov 0.5) for 10s"),
        ("gamma(100/s) for 10s cov 0.5", "gamma(100/s, cov 0.5) for 10s"),
        ("weibull(100/s, cov = 2) for 10s", "weibull(100/s, cov 2) for 10s"),
        ("ramp(0/s -> 10/s) over 10s", "ramp(0/s → 10/s) over 10s poisson"),
        ("ramp(0/s to 10/s) even over 10s", "ramp(0/s → 10/s) over 10s even"),
        ("ramp(60/min → 2/s) over 10s gamma cov 3", "ramp(60/min → 2/s) over 10s gamma cov 3"),
        ("ramp(1/s → 2/s) over 10s weibull(cov 3)", "ramp(1/s → 2/s) over 10s weibull cov 3"),
        ("ramp(5/s → 5/s) over 10s", "poisson(5/s) for 10s"),
        ("fixed(10/s) for 1s", "fixed(10/s) for 1s count 10"),
        ("fixed(10/s) for 1s java_random 5", "fixed(10/s) for 1s count 10 java_random 5"),
        ("mmpp(100/s for 5s, 1000/s for 1s) for 60s", "mmpp(100/s for 5s, 1000/s for 1s) for 1min"),
        ("replay( access log.jtl )", "replay(access log.jtl)"),
        ("replay(\"a (1).jtl\") speed 2.5 for 10s", "replay(\"a (1).jtl\") speed 2.5 for 10s"),
        ("pause for 10s; pause 1ns", "pause 10s, pause 1ns"),
        ("pause 0s", "pause 0s"),
    ];
    for (text, expected) in canonical {
        let process = parse(text);
        assert_eq!(process.to_string(), expected, "{text}");
        assert_eq!(parse(expected), process, "{text}");
    }
}

#[test]
fn the_duration_of_the_last_stage_can_be_given_separately() {
    let process = ArrivalProcess::parse_for("pause 1s, poisson(5/s)", 30_000_000_000).unwrap();
    assert_eq!(process.to_string(), "pause 1s, poisson(5/s) for 30s");
    assert!(ArrivalProcess::parse_for("poisson(5/s), pause 1s", 30_000_000_000).is_err());
}

#[test]
fn a_single_time_is_parsed() {
    assert_eq!(time_ns(" 1min 30s "), Ok(90_000_000_000));
    assert_eq!(time_ns("0.5us"), Ok(500));
    assert_eq!(time_ns("18446744073709551615 ns").unwrap_err().message, "longer than a hundred years");
    assert_eq!(time_ns("1s x").unwrap_err().at, 3);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of messages")]
fn errors_have_a_position() {
    let texts = [
        "",
        "500 for 60s",
        "500rps for 60s",
        "poisson(500) for 60s",
        "poisson(500/fortnight) for 60s",
        "poisson(500/s)",
        "poisson(500/s) for 60",
        "poisson(500/s) for 5m",
        "poisson(500/s) for 60s even(100/s) for 5s",
        "poison(500/s) for 60s",
        "poisson(-1/s) for 60s",
        "poisson(2e9/s) for 60s",
        "ramp(500/s 2000/s) over 5min",
        "ramp(500/s → 2000/s)",
        "gamma(100/s) for 60s",
        "gamma(100/s, 0.5) for 60s",
        "gamma(100/s, cov 0) for 60s",
        "poisson(100/s, cov 0.5) for 60s",
        "mmpp(100/s, 1000/s) for 60s",
        "mmpp(0/s for 1s, 0/s for 1s) for 60s",
        "mmpp(1/h for 1ns, 2/h for 1us) for 60s",
        "replay() for 60s",
        "poisson(5/s) for 60s for 5s",
        "poisson(5/s) fro 60s",
        "pause 200000d",
        "even(10/s) for 1s count 11",
        "even(10/s) for 1s java_random 1",
        "fixed(1e9/s) for 1s java_random 1",
        "fixed(1/s) for 1s java_random 281474976710656",
        "poisson(500/s) for 60s,\nevn(100/s) for 5s",
    ];
    let page = |text: &str| match ArrivalProcess::parse(text) {
        Ok(process) => format!("PARSED AS {process}"),
        Err(error) => error.render(text),
    };
    insta::assert_snapshot!(texts.map(page).join("\n\n"), @r"
        expected a stage, found the end

          ^
        hint: write for example poisson(500/s) for 60s

        missing unit of a rate
          500 for 60s
             ^
        hint: write 500/s, 500/min or 500/h

        unknown unit `rps`
          500rps for 60s
             ^
        hint: write 500/s

        missing unit of a rate
          poisson(500) for 60s
                     ^
        hint: write 500/s, 500/min or 500/h

        unknown unit `fortnight`
          poisson(500/fortnight) for 60s
                      ^
        hint: the units of rates are /ms, /s, /min, /h and /d

        the duration of this stage is missing
          poisson(500/s)
                        ^
        hint: add a time: for 60s

        missing unit of a time
          poisson(500/s) for 60
                               ^
        hint: write 60s, 60ms or 60min

        unknown unit `m`
          poisson(500/s) for 5m
                              ^
        hint: write min for minutes, ms for milliseconds

        unexpected `even`
          poisson(500/s) for 60s even(100/s) for 5s
                                 ^
        hint: stages are separated by commas

        unknown kind of arrivals `poison`
          poison(500/s) for 60s
          ^
        hint: did you mean `poisson`?

        expected a rate like 500/s, found `-`
          poisson(-1/s) for 60s
                  ^
        hint: numbers must not be negative

        the rate is above 1,000,000,000/s, the resolution of times (1 ns)
          poisson(2e9/s) for 60s
                  ^

        expected `→` between the rates, found `2000`
          ramp(500/s 2000/s) over 5min
                     ^
        hint: write ramp(100/s → 500/s) or ramp(100/s -> 500/s)

        the duration of this stage is missing
          ramp(500/s → 2000/s)
                              ^
        hint: add a time: over 60s

        missing coefficient of variation of the gaps
          gamma(100/s) for 60s
          ^
        hint: write it after the rate: gamma(100/s, cov 0.5)

        expected `cov`, found `0`
          gamma(100/s, 0.5) for 60s
                       ^
        hint: write gamma(100/s, cov 0.5)

        a coefficient of variation must be between 0.01 and 20
          gamma(100/s, cov 0) for 60s
                           ^
        hint: write even(…) for equal gaps

        only gamma and weibull have a coefficient of variation as a parameter
          poisson(100/s, cov 0.5) for 60s
          ^
        hint: write gamma(100/s, cov 0.5)

        expected `for` and the mean time in this state
          mmpp(100/s, 1000/s) for 60s
                    ^
        hint: write mmpp(100/s for 5s, 1000/s for 1s) for 60s

        neither state has arrivals
          mmpp(0/s for 1s, 0/s for 1s) for 60s
          ^
        hint: write pause for a time without arrivals

        the state changes more than 10,000 times per arrival
          mmpp(1/h for 1ns, 2/h for 1us) for 60s
          ^
        hint: that is a Poisson process of the mean rate: write poisson(…)

        missing file name
          replay() for 60s
                 ^
        hint: write replay(access.jtl)

        `for` is given twice
          poisson(5/s) for 60s for 5s
                               ^

        unexpected `fro`
          poisson(5/s) fro 60s
                       ^
        hint: did you mean `for`?

        longer than a hundred years
          pause 200000d
                ^

        the count is larger than the expected number of arrivals
          even(10/s) for 1s count 11
          ^
        hint: increase the rate, or omit the count

        only fixed arrivals can be placed by java_random
          even(10/s) for 1s java_random 1
          ^

        more than 100,000,000 arrivals in a stage that JMeter's random seed places
          fixed(1e9/s) for 1s java_random 1
          ^
        hint: omit the random seed; arrivals are then generated in order, without a list

        a state must be a whole number below 2^48
          fixed(1/s) for 1s java_random 281474976710656
                                        ^

        unknown kind of arrivals `evn`
          evn(100/s) for 5s
          ^
        hint: did you mean `even`?
        ");
}
