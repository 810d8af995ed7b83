//! The parser of Prometheus's text formats: damaged texts with fixed seeds, and large ones.

mod prometheus_soundness;

use busyhour_observe::prometheus::text::{Samples, TextFormat};
use rand::SeedableRng as _;
use rand::{Rng as _, rngs::StdRng};

const SEEDS: &[&str] = &[
    "# HELP http_requests_total Requests.\n# TYPE http_requests_total counter\n\
     http_requests_total{method=\"post\",code=\"200\"} 1027 1395066363000\n\
     http_requests_total{method=\"a,}\\\"\\\\\\n\",code=\"400\",}    3 1395066363000.5\n\
     # TYPE t summary\nt{quantile=\"0.5\"} 4773\nt_sum 1.7560473e+07\nt_count 2693\n\nmetric_without_labels 12.47\n",
    "# TYPE \"rpc.time\" histogram\n{\"rpc.time_bucket\",le=\"+Inf\",\"k8s.pod\"=\"é\"} 4 # {trace_id=\"x\"} 0.5 1.5\n\
     foo_created 1520430000.123\n# UNIT foo seconds\nx NaN\ny -Inf\n# EOF\n",
];

/// The inserted texts: everything that the parser treats specially.
const PIECES: &[&str] = &[
    "\"", "\\", "\\n", "{", "}", ",", "=", "#", " ", "\t", "\n", "\r\n", "# TYPE ", "# HELP ", "# EOF",
    "NaN", "+Inf", "1e999", "_total", "_bucket", "\u{feff}", "é", "0", "-", ":",
];

#[test]
fn damaged_texts_satisfy_the_invariants() {
    let mut random = StdRng::seed_from_u64(9_464);
    for seed in SEEDS {
        prometheus_soundness::check(seed);
        for _ in 0..1_500 {
            let mut characters: Vec<char> = seed.chars().collect();
            for _ in 0..random.random_range(1..6) {
                let at = random.random_range(0..characters.len());
                match random.random_range(0..3) {
                    0 => drop(characters.remove(at)),
                    1 => characters.truncate(at.max(10)),
                    _ => {
                        let piece = PIECES[random.random_range(0..PIECES.len())];
                        drop(characters.splice(at..at, piece.chars()));
                    }
                }
            }
            prometheus_soundness::check(&characters.into_iter().collect::<String>());
        }
    }
}

#[test]
fn a_million_samples_are_read() {
    let mut text = String::new();
    for family in 0..1_000 {
        text.push_str(&format!("# TYPE f{family}_total counter\n"));
        for series in 0..1_000 {
            text.push_str(&format!("f{family}_total{{series=\"{series}\",zone=\"a\"}} {series}\n"));
        }
    }
    let samples = Samples::new(&text, TextFormat::Prometheus);
    let sum: f64 = samples.map(|sample| sample.expect("all lines are valid").value).sum();
    assert_eq!(sum, 1_000.0 * 499_500.0);
}

#[test]
fn a_line_with_a_million_parts_is_refused_in_linear_time() {
    let labels: String = (0..1_000_000).map(|n| format!("l{n}=\"\",")).collect();
    let quotes = "\\\"".repeat(1_000_000);
    let names: String = "a".repeat(1_000_000);
    for text in [format!("x{{{labels}}} 1"), format!("x{{a=\"{quotes}\"}} 1"), format!("{names} 1")] {
        let results: Vec<_> = Samples::new(&text, TextFormat::Prometheus).collect();
        assert!(matches!(results[..], [Err(_)]));
    }
}
