//! The responses of a trial.

use std::collections::BTreeMap;
use std::path::Path;

use busyhour_experiment::{ResponseMeasure, ResponseVariable, TrialQuantile};
use busyhour_limits::files::read_input_text;
use busyhour_record::RunDir;
use busyhour_results::{AggregateSettings, ReadSettings, ResultsInput, aggregate_inputs, series_path};
use busyhour_sample::{Nanos, RunTotals, SampleKind, Totals};
use busyhour_series::{SeriesQuery, read_series};
use serde_json::Value;

/// Largest length of a JSON file with a response, in bytes.
const JSON_BYTES_MAX: u64 = 64 << 20;

/// The shares of requests for which trials have quantiles.
const SHARES: [f64; 15] =
    [0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999, 0.9999];

/// The responses of a run.
#[derive(Debug, Default)]
pub(crate) struct Responses {
    /// The values by the texts of the responses; `None` for unavailable ones.
    pub(crate) values: BTreeMap<String, Option<f64>>,
    /// Quantiles of the response times of all requests. None is beyond the second-slowest request.
    pub(crate) quantiles: Vec<TrialQuantile>,
    /// Why responses are unavailable.
    pub(crate) reasons: Vec<String>,
}

/// The responses of a run, and why some are unavailable.
pub(crate) fn responses(run: &Path, responses: &[ResponseVariable], window_s: (f64, f64)) -> Responses {
    let mut reasons = Vec::new();
    let totals = totals(run, window_s);
    let values = responses.iter().map(|response| {
        let found = match (&response.measure, &totals) {
            (ResponseMeasure::Number { file, path }, _) => number_of_file(run, file, path),
            (ResponseMeasure::Series(name), _) => series_mean(run, name, window_s),
            (_, Ok(totals)) => of_totals(response, totals, window_s.1 - window_s.0),
            (_, Err(reason)) => Err(reason.clone()),
        };
        let text = String::from(response.clone());
        let value = found
            .map_err(|reason| reasons.push(format!("{} is unavailable: {reason}", response.title())))
            .ok();
        (text, value)
    });
    let values = values.collect();
    let quantiles = totals.map_or_else(|_| Vec::new(), |totals| quantiles(&totals.total));
    Responses { values, quantiles, reasons }
}

fn quantiles(of: &Totals) -> Vec<TrialQuantile> {
    let known = SHARES.into_iter().filter(|share| of.samples as f64 * (1.0 - share) >= 1.0);
    known.map(|share| TrialQuantile { share, ms: of.response.quantile_ms(share) }).collect()
}

fn totals(run: &Path, window_s: (f64, f64)) -> Result<RunTotals, String> {
    let settings = AggregateSettings { window_s: Some(window_s), ..AggregateSettings::default() };
    let inputs = vec![ResultsInput::path(run)];
    let read = aggregate_inputs(inputs, &ReadSettings::default(), &settings, &mut |_| (), &mut |_| {});
    let (replayed, ()) = read.map_err(|error| error.to_string())?;
    Ok(replayed.totals)
}

fn of_totals(response: &ResponseVariable, totals: &RunTotals, length_s: f64) -> Result<f64, String> {
    let of: &Totals = match &response.label {
        None => &totals.total,
        Some(name) => {
            let mut labels = totals.labels.iter().filter(|label| label.kind != SampleKind::SubResult);
            let found = labels.find(|label| label.name == *name);
            &found.ok_or_else(|| format!("there is no label {name:?}"))?.totals
        }
    };
    if of.samples == 0 {
        return Err("no request started in the measured part".to_owned());
    }
    let times = &of.response;
    match &response.measure {
        ResponseMeasure::Mean => Ok(times.mean_ms()),
        ResponseMeasure::Percentile(percent) => Ok(times.quantile_ms(percent / 100.0)),
        ResponseMeasure::InterquartileRange => Ok(times.quantile_ms(0.75) - times.quantile_ms(0.25)),
        ResponseMeasure::Max => Ok(times.max_ms()),
        ResponseMeasure::Throughput => Ok(of.samples as f64 / length_s),
        ResponseMeasure::Errors => Ok(of.errors as f64 / of.samples as f64),
        ResponseMeasure::Concurrency => Ok(of.samples as f64 / length_s * times.mean_ms() / 1e3),
        ResponseMeasure::Series(_) | ResponseMeasure::Number { .. } => {
            Err("it is not a measure of requests".to_owned())
        }
    }
}

/// The number at a path of a JSON file of the run directory, such as `arrivals.0.observed.cov.value`.
fn number_of_file(run: &Path, file: &str, path: &str) -> Result<f64, String> {
    let text =
        read_input_text(&run.join(file), JSON_BYTES_MAX).map_err(|error| format!("{file}: {error}"))?;
    let content: Value = serde_json::from_str(&text).map_err(|error| format!("{file}: {error}"))?;
    number_at(&content, path).map_err(|reason| format!("{reason} in {file}"))
}

/// The number at a path: keys and indices, `last` for the last member of a list, and `KEY=VALUE` for the only member with this
/// value.
fn number_at(content: &Value, path: &str) -> Result<f64, String> {
    let mut at = content;
    for step in path.split('.') {
        at = step_into(at, step)?;
    }
    if let Some(reason) = at.get("unavailable").and_then(Value::as_str) {
        return Err(reason.to_owned());
    }
    at.as_f64().ok_or_else(|| format!("{path} is not a number"))
}

fn step_into<'v>(at: &'v Value, step: &str) -> Result<&'v Value, String> {
    let missing = || format!("there is no {step:?}");
    let Value::Array(list) = at else { return at.get(step).ok_or_else(missing) };
    if let Some((key, wanted)) = step.split_once('=') {
        let mut found = list.iter().filter(|member| member.get(key).and_then(Value::as_str) == Some(wanted));
        let first = found.next().ok_or_else(missing)?;
        return match found.count() {
            0 => Ok(first),
            others => Err(format!("{} members have {step}", others + 1)),
        };
    }
    let found =
        if step == "last" { list.last() } else { step.parse().ok().and_then(|index: usize| list.get(index)) };
    found.ok_or_else(missing)
}

/// The mean of the only observed series with this name.
fn series_mean(run: &Path, name: &str, (from_s, to_s): (f64, f64)) -> Result<f64, String> {
    let at = |seconds: f64| Nanos((seconds * 1e9) as u64);
    let query = SeriesQuery { from: at(from_s), to: at(to_s), ..SeriesQuery::default() };
    let run = RunDir::open(run);
    let manifest = run.read_manifest().ok();
    let path = series_path(&run, manifest.as_ref()).ok_or("nothing was observed")?;
    let set = read_series(&path, &query).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut found = set.series.iter().filter(|series| series.info.name == name && !series.points.is_empty());
    let Some(series) = found.next() else { return Err("no series with this name has values".to_owned()) };
    let others = found.count();
    if others > 0 {
        return Err(format!("{} series have this name; observe fewer sources", others + 1));
    }
    Ok(series.points.iter().map(|point| point.mean).sum::<f64>() / series.points.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_to_a_number_or_names_what_is_missing() {
        let content = serde_json::json!({
            "a": [{"kind": "x", "n": 1}, {"kind": "y y", "n": [2, 3.5]}, {"kind": "x", "n": 4}],
            "b": {"unavailable": "it was not recorded"},
        });
        let found = |path: &str| number_at(&content, path);
        assert_eq!(found("a.0.n"), Ok(1.0));
        assert_eq!(found("a.kind=y y.n.last"), Ok(3.5));
        let reasons: Vec<String> = ["a.kind=x.n", "a.kind=z.n", "a.7.n", "b", "a", "c.d"]
            .map(|path| found(path).unwrap_err())
            .to_vec();
        assert_eq!(
            reasons,
            [
                "2 members have kind=x",
                "there is no \"kind=z\"",
                "there is no \"7\"",
                "it was not recorded",
                "a is not a number",
                "there is no \"c\"",
            ]
        );
    }
}
