//! The figures that tools report about their runs.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use xtask_common::results;

use super::generators::{Prepared, Tool};
use super::setup::Bench;
use super::stamps::quantile;

/// The figures that a tool reports; NaN if it does not report them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reported {
    /// The median.
    pub p50_ms: f64,
    /// The 95th percentile.
    pub p95_ms: f64,
    /// The 99th percentile.
    pub p99_ms: f64,
    /// The maximum.
    pub max_ms: f64,
    /// The number of requests in these figures.
    pub requests: f64,
    /// The number of dropped arrivals.
    pub dropped: f64,
}

/// Reads the reported figures, one entry for each clock.
pub fn read(bench: &Bench, tool: Tool, prepared: &Prepared) -> Result<Vec<(String, Reported)>> {
    let name = tool.name();
    Ok(match tool {
        Tool::Bare { .. } => Vec::new(),
        Tool::Busyhour { .. } => {
            let summary = json(&prepared.run_dir().join("summary.json"))?;
            vec![
                (format!("{name}: response time"), busyhour(&summary, "response")),
                (format!("{name}: service time"), busyhour(&summary, "service")),
            ]
        }
        // All of them write the same format.
        Tool::BusyhourPlan(_) | Tool::JMeterConstant(_) | Tool::JMeterPrecise(_) | Tool::JMeterOpen => {
            vec![(name, jmeter(&prepared.rows())?)]
        }
        Tool::K6 => vec![(name, k6(&json(&prepared.summary())?))],
        Tool::Vegeta => {
            let mut report = Command::new(bench.vegeta.as_ref().context("vegeta is missing")?);
            let output = report.args(["report", "-type=json"]).arg(prepared.results()).output()?;
            ensure!(output.status.success(), "vegeta report: {}", String::from_utf8_lossy(&output.stderr));
            vec![(name, vegeta(&serde_json::from_slice(&output.stdout)?))]
        }
        Tool::Wrk2 => vec![(name, wrk2(&fs::read_to_string(&prepared.log)?))],
    })
}

/// The arrival process and the seed of a run of Busyhour.
pub fn schedule_of_run(run_dir: &Path) -> Option<(String, u64)> {
    let summary = json(&run_dir.join("summary.json")).ok()?;
    let open = summary["run"]["open"].get(0)?;
    Some((open["process"].as_str()?.to_owned(), open["seed"].as_u64()?))
}

/// The median and p99 of the lateness of starts that the generator reports, in nanoseconds; NaN if it does not report
/// them.
pub fn own_lateness_ns(tool: Tool, prepared: &Prepared) -> (f64, f64) {
    let found = match tool {
        Tool::Busyhour { .. } => json(&prepared.run_dir().join("summary.json")).ok().map(|summary| {
            let late = &summary["arrivals"][0]["lateness"];
            (number(&late["p50_ns"]), number(&late["p99_ns"]))
        }),
        Tool::Bare { .. } => fs::read_to_string(&prepared.log).ok().and_then(|text| {
            let (p50, p99) = text.trim().split_once(' ')?;
            Some((p50.parse().ok()?, p99.parse().ok()?))
        }),
        _ => None,
    };
    found.unwrap_or((f64::NAN, f64::NAN))
}

fn json(path: &Path) -> Result<Value> {
    let text = fs::read_to_string(path).with_context(|| format!("no {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| path.display().to_string())
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

fn busyhour(summary: &Value, clock: &str) -> Reported {
    let times = &summary["total"][clock];
    Reported {
        p50_ms: number(&times["p50"]),
        p95_ms: number(&times["p95"]),
        p99_ms: number(&times["p99"]),
        max_ms: number(&times["max"]),
        requests: number(&summary["total"]["samples"]),
        dropped: number(&summary["run"]["arrivals"]["dropped"]),
    }
}

/// The quantiles of JMeter's `elapsed` over all rows, as in its reports.
fn jmeter(rows: &Path) -> Result<Reported> {
    let mut elapsed_ms = results::elapsed_ms(rows)?;
    elapsed_ms.sort_unstable();
    let at = |share| quantile(&elapsed_ms, share);
    Ok(Reported {
        p50_ms: at(0.5),
        p95_ms: at(0.95),
        p99_ms: at(0.99),
        max_ms: at(1.0),
        requests: elapsed_ms.len() as f64,
        dropped: f64::NAN,
    })
}

fn k6(summary: &Value) -> Reported {
    let times = &summary["metrics"]["http_req_duration"];
    // Without drops, k6 does not write this metric.
    let dropped = summary["metrics"]["dropped_iterations"]["count"].as_f64().unwrap_or(0.0);
    Reported {
        p50_ms: number(&times["med"]),
        p95_ms: number(&times["p(95)"]),
        p99_ms: number(&times["p(99)"]),
        max_ms: number(&times["max"]),
        requests: number(&summary["metrics"]["http_reqs"]["count"]),
        dropped,
    }
}

fn vegeta(report: &Value) -> Reported {
    let ms = |name: &str| number(&report["latencies"][name]) / 1e6;
    Reported {
        p50_ms: ms("50th"),
        p95_ms: ms("95th"),
        p99_ms: ms("99th"),
        max_ms: ms("max"),
        requests: number(&report["requests"]),
        dropped: f64::NAN,
    }
}

/// Parses the lines `value percentile count 1/(1-percentile)` of wrk2's detailed spectrum; a quantile is the first
/// value at or above a percentile.
fn wrk2(output: &str) -> Reported {
    let spectrum: Vec<(f64, f64, f64)> = output
        .lines()
        .filter_map(|line| {
            let numbers: Vec<f64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
            match numbers[..] {
                [value, share, count, ..] if share <= 1.0 => Some((value, share, count)),
                _ => None,
            }
        })
        .collect();
    let at = |share: f64| spectrum.iter().find(|line| line.1 >= share).map_or(f64::NAN, |line| line.0);
    Reported {
        p50_ms: at(0.5),
        p95_ms: at(0.95),
        p99_ms: at(0.99),
        max_ms: spectrum.last().map_or(f64::NAN, |line| line.0),
        requests: spectrum.last().map_or(f64::NAN, |line| line.2),
        dropped: f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_output_of_each_tool_is_parsed() {
        let summary = json!({
            "run": {"arrivals": {"dropped": 3}},
            "total": {"samples": 20, "response": {"p50": 0.1, "p95": 1000.0, "p99": 1800.0, "max": 2000.5}}
        });
        let found = busyhour(&summary, "response");
        assert_eq!((found.p95_ms, found.max_ms, found.requests, found.dropped), (1000.0, 2000.5, 20.0, 3.0));
        assert!(busyhour(&summary, "service").p95_ms.is_nan());

        let found = k6(&json!({"metrics": {
            "http_req_duration": {"med": 0.2, "p(95)": 1.0, "p(99)": 1689.0, "max": 1999.0},
            "http_reqs": {"count": 18850}, "dropped_iterations": {"count": 1150}
        }}));
        assert_eq!((found.p99_ms, found.dropped, found.requests), (1689.0, 1150.0, 18850.0));

        let found = vegeta(
            &json!({"latencies": {"50th": 300_000, "95th": 1_000_000_000_u64, "99th": 1_803_000_000_u64,
            "max": 1_999_000_000_u64}, "requests": 20000}),
        );
        assert_eq!((found.p50_ms, found.p99_ms), (0.3, 1803.0));
    }

    #[test]
    fn the_spectrum_of_wrk2_is_parsed() {
        let output = "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency   101.35ms  347.71ms   2.00s    91.93%\n\
            \x20 Latency Distribution (HdrHistogram - Recorded Latency)\n 50.000%    1.01ms\n\
            \x20 Detailed Percentile spectrum:\n       Value   Percentile   TotalCount 1/(1-Percentile)\n\n\
            \x20      0.036     0.000000            1         1.00\n       1.010     0.500000         5000         2.00\n\
            \x20   999.935     0.950000         9500        20.00\n    1800.191     0.990625         9907       106.67\n\
            \x20   2000.895     1.000000        10000          inf\n#[Mean    =      101.350, StdDeviation   =      347.710]\n";
        let found = wrk2(output);
        assert_eq!((found.p50_ms, found.p95_ms, found.p99_ms), (1.010, 999.935, 1800.191));
        assert_eq!((found.max_ms, found.requests), (2000.895, 10_000.0));
        assert!(wrk2("nothing").p50_ms.is_nan());
    }
}
