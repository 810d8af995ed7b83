//! The server-sent events that a page receives. `ui/src/live_model.ts` declares the same structure.

use std::collections::BTreeMap;
use std::sync::Arc;

use busyhour_launch::LoadState;
use serde::Serialize;

use crate::live_run::LiveRun;
use crate::slices::{Slice, Slices};

use crate::system::{ShownSeries, SystemHistory};
use crate::words::{caveats, changes, label_row, system_marks, threshold_lines, words};

/// Version of the page's data model. It must equal the version that `report` writes.
const MODEL_VERSION: u32 = 1;

/// Maximum number of labels in an event, which bounds its size.
const LABELS_SHOWN: usize = 20;

/// Maximum length of a label's name in an event, in characters.
const LABEL_CHARS_MAX: usize = 120;

#[derive(Serialize)]
struct WholeModel<'c> {
    model: Model,
    status: Status<'c>,
}

#[derive(Serialize)]
struct Second<'c> {
    at: usize,
    over_time: Columns<Number>,
    heat: Vec<(u16, u64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    curve: Option<Curve>,
    status: Status<'c>,
}

#[derive(Serialize)]
struct Model {
    version: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    over_time: Option<OverTime>,
    #[serde(skip_serializing_if = "Option::is_none")]
    heat: Option<Heat>,
    #[serde(skip_serializing_if = "Option::is_none")]
    curve: Option<Curve>,
    labels: [(); 0],
}

#[derive(Serialize)]
struct OverTime {
    from_s: u64,
    step_s: u64,
    #[serde(flatten)]
    columns: Columns<Vec<Number>>,
}

type Number = Option<f64>;

/// The columns of the run over time. `offered` and `sessions` are present only if the run has arrivals.
#[derive(Serialize)]
struct Columns<T> {
    #[serde(skip_serializing_if = "Option::is_none")]
    offered: Option<T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sessions: Option<T>,
    ended: T,
    errors: T,
    users: T,
    p50: T,
    p95: T,
    p99: T,
    received_kib: T,
    sent_kib: T,
}

#[derive(Serialize)]
struct Heat {
    from_s: u64,
    step_s: u64,
    edges_ms: Vec<f64>,
    columns: Vec<Vec<(u16, u64)>>,
}

#[derive(Serialize)]
struct Curve {
    percentile: Vec<f64>,
    response_ms: Vec<f64>,
    service_ms: Vec<f64>,
}

#[derive(Serialize)]
struct Mark {
    at_s: f64,
    words: String,
}

#[derive(Serialize)]
struct Status<'c> {
    words: BTreeMap<&'c str, String>,
    labels: Vec<[String; 8]>,
    state: &'c str,
    factor: f64,
    changes: Vec<String>,
    caveats: Vec<String>,
    thresholds: Vec<[String; 3]>,
    marks: Vec<Mark>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<System>,
}

/// The observed system. The names of its series and their last values are in `words`.
#[derive(Serialize)]
struct System {
    series: Vec<SystemSeries>,
    /// Times of the latest marks in s.
    marks_s: Vec<f64>,
    /// The texts of the latest marks.
    marks: Vec<String>,
}

#[derive(Serialize)]
struct SystemSeries {
    /// The upper end of the value axis.
    top: f64,
    /// Times in s, and values.
    points: Vec<(f64, f64)>,
}

/// Rounds to three decimals; plots show no more.
fn round(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

fn columns_of(slice: &Slice, is_open: bool) -> Columns<Number> {
    let per_s = |count: u64| Some(round(slice.per_s(count)));
    let [p50, p95, p99] = slice.percentiles.map(|value| value.map(round));
    Columns {
        offered: is_open.then(|| per_s(slice.offered)),
        sessions: is_open.then(|| per_s(slice.begun)),
        ended: per_s(slice.ended),
        errors: per_s(slice.errors),
        users: slice.users.map(f64::from),
        p50,
        p95,
        p99,
        received_kib: Some(round(slice.per_s(slice.bytes) / 1024.0)),
        sent_kib: Some(round(slice.per_s(slice.sent_bytes) / 1024.0)),
    }
}

fn over_time(slices: &Slices, is_open: bool) -> OverTime {
    let rows: Vec<Columns<Number>> = slices.all().iter().map(|slice| columns_of(slice, is_open)).collect();
    let column = |of: fn(&Columns<Number>) -> Number| rows.iter().map(of).collect::<Vec<_>>();
    let columns = Columns {
        offered: is_open.then(|| column(|row| row.offered.flatten())),
        sessions: is_open.then(|| column(|row| row.sessions.flatten())),
        ended: column(|row| row.ended),
        errors: column(|row| row.errors),
        users: column(|row| row.users),
        p50: column(|row| row.p50),
        p95: column(|row| row.p95),
        p99: column(|row| row.p99),
        received_kib: column(|row| row.received_kib),
        sent_kib: column(|row| row.sent_kib),
    };
    OverTime { from_s: 0, step_s: slices.step_s(), columns }
}

/// The bands of a slice and their numbers of requests. Band numbers are relative to the lowest band of the run, `least`.
fn heat_column(slice: &Slice, least: u16) -> Vec<(u16, u64)> {
    slice.heat.iter().map(|(band, count)| (band.saturating_sub(least), *count)).collect()
}

fn heat(slices: &Slices) -> Option<Heat> {
    let (least, most) = slices.bands()?;
    let per_decade = busyhour_sample::HEAT_BANDS_PER_DECADE as f64;
    Some(Heat {
        from_s: 0,
        step_s: slices.step_s(),
        edges_ms: (least..=most + 1).map(|band| 10f64.powf(f64::from(band) / per_decade - 3.0)).collect(),
        columns: slices.all().iter().map(|slice| heat_column(slice, least)).collect(),
    })
}

fn curve(run: &LiveRun) -> Option<Curve> {
    let points = run.curve();
    let column = |of: usize| points.iter().map(|point| round(point[of])).collect::<Vec<_>>();
    // Percentiles are not rounded: 99.9995 would become 100.
    let percentile = points.iter().map(|point| point[0]).collect();
    (points.len() > 1).then(|| Curve { percentile, response_ms: column(1), service_ms: column(2) })
}

fn status_of<'c>(run: &LiveRun, state: &'c LoadState, unwritten: u64) -> Status<'c> {
    let row = |label: &crate::live_run::LiveLabel| {
        let mut cells = label_row(label);
        cells[0] = busyhour_diagnostic::printable(&cells[0]);
        if cells[0].chars().count() > LABEL_CHARS_MAX {
            cells[0] = cells[0].chars().take(LABEL_CHARS_MAX - 1).chain(['…']).collect();
        }
        cells
    };
    Status {
        words: words(run, state),
        labels: run.busiest(LABELS_SHOWN).into_iter().map(row).collect(),
        state: state.phase.name(),
        factor: state.factor,
        changes: changes(state),
        caveats: caveats(run, unwritten),
        thresholds: threshold_lines(run),
        marks: state
            .changes
            .iter()
            .map(|event| Mark { at_s: event.at_ns.as_secs_f64(), words: event.description() })
            .collect(),
        system: run.system().is_observed().then(|| system(run.system())),
    }
}

fn system(history: &SystemHistory) -> System {
    // Three digits are enough for a plot of 60 pixels, and keep events small.
    let tenth = |seconds: f64| (seconds * 10.0).round() / 10.0;
    let series = |shown: ShownSeries| SystemSeries {
        top: shown.top,
        points: shown.points.iter().map(|(at_s, value)| (tenth(*at_s), round(*value))).collect(),
    };
    System {
        series: history.shown().into_iter().map(series).collect(),
        marks_s: history.marks().map(|(_, mark)| tenth(mark.from.0 as f64 / 1e9)).collect(),
        marks: system_marks(history),
    }
}

/// An event in the format of server-sent events. The data is one line, because the JSON contains no line ends.
fn event(name: &str, data: &impl Serialize) -> Arc<str> {
    // Strings, numbers and lists can always be serialized.
    format!("event: {name}\ndata: {}\n\n", serde_json::to_string(data).unwrap_or_default()).into()
}

/// The event with everything that the page shows.
pub(crate) fn model(run: &LiveRun, state: &LoadState, unwritten: u64) -> Arc<str> {
    let is_open = run.total().arrivals.is_some();
    let has_seconds = !run.slices().all().is_empty();
    let model = Model {
        version: MODEL_VERSION,
        over_time: has_seconds.then(|| over_time(run.slices(), is_open)),
        heat: heat(run.slices()),
        curve: curve(run),
        labels: [],
    };
    event("model", &WholeModel { model, status: status_of(run, state, unwritten) })
}

/// The event for the last second; `None` if no second has ended yet.
pub(crate) fn second(run: &LiveRun, state: &LoadState, unwritten: u64) -> Option<Arc<str>> {
    let slices = run.slices();
    let slice = slices.all().last()?;
    let least = slices.bands().map_or(0, |(least, _)| least);
    let second = Second {
        at: slices.all().len() - 1,
        over_time: columns_of(slice, run.total().arrivals.is_some()),
        heat: heat_column(slice, least),
        curve: curve(run),
        status: status_of(run, state, unwritten),
    };
    Some(event("second", &second))
}

/// The event with the status, without plots: `status` after a change, `end` at the end of the run.
pub(crate) fn status(name: &str, run: &LiveRun, state: &LoadState, unwritten: u64) -> Arc<str> {
    event(name, &status_of(run, state, unwritten))
}

#[cfg(test)]
mod tests {
    use busyhour_sample::{ArrivalsInSecond, Snapshot};
    use serde_json::Value;

    use super::*;
    use crate::live_run::tests::snapshot;
    use crate::slices::SliceChange;

    fn data(event: &str) -> Value {
        let (_, data) = event.split_once("\ndata: ").unwrap();
        serde_json::from_str(data).unwrap()
    }

    /// Applies the event of a second to a model, as the page's function `withSecond` does.
    fn set(model: &mut Value, second: &Value) {
        let at = second["at"].as_u64().unwrap() as usize;
        let put = |list: &mut Value, value: Value| {
            let list = list.as_array_mut().unwrap();
            if at < list.len() { list[at] = value } else { list.push(value) }
        };
        for (name, value) in second["over_time"].as_object().unwrap() {
            put(&mut model["over_time"][name], value.clone());
        }
        put(&mut model["heat"]["columns"], second["heat"].clone());
        model["curve"] = second["curve"].clone();
    }

    #[test]
    fn a_model_updated_by_each_second_equals_the_complete_model() {
        let mut run = LiveRun::new();
        let state = LoadState::default();
        let mut grown_model = Value::Null;
        for number in 0..600 {
            // The number of requests grows, and new maximums occur now and then.
            let times: Vec<u64> = (1..=3 + number % 7).map(|n| n * 1_000_000 * (1 + number / 100)).collect();
            let grown = run.add(
                &Snapshot {
                    arrivals: Some(ArrivalsInSecond {
                        scheduled: number,
                        begun: 2,
                        ..ArrivalsInSecond::default()
                    }),
                    ..snapshot(number, &[("a", &times, 1)])
                },
                &[],
            );
            let whole = data(&model(&run, &state, 0))["model"].clone();
            match grown {
                SliceChange::All => grown_model = whole.clone(),
                SliceChange::Last => set(&mut grown_model, &data(&second(&run, &state, 0).unwrap())),
            }
            assert_eq!(grown_model, whole, "second {number}");
        }
    }

    #[test]
    fn sessions_are_not_shown_as_requests() {
        let mut run = LiveRun::new();
        let arrivals = ArrivalsInSecond { scheduled: 3, begun: 2, ..ArrivalsInSecond::default() };
        // Sessions with several requests each.
        run.take(&Snapshot { arrivals: Some(arrivals), ..snapshot(0, &[("a", &[1_000_000; 9], 0)]) }, &[]);
        let whole = data(&model(&run, &LoadState::default(), 0));
        let over = &whole["model"]["over_time"];
        assert_eq!(
            (&over["offered"][0], &over["sessions"][0], &over["ended"][0]),
            (&3.0.into(), &2.0.into(), &9.0.into())
        );
        assert!(over["started"].is_null(), "starts of requests are not counted: {over}");
        let words = &whole["status"]["words"];
        assert_eq!(words["offered-all"], "3 arrivals");
        assert_eq!(words["started-all"], "2 sessions");
        assert_eq!(words["completed-all"], "9 requests");
    }

    #[test]
    fn events_stay_small_with_many_labels() {
        let labels: Vec<String> = (0..500).map(|n| format!("{n:03} {}", "long name ".repeat(60))).collect();
        let times: Vec<u64> = (1..200).map(|n| n * n * 10_000).collect();
        let rows: Vec<(&str, &[u64], usize)> =
            labels.iter().map(|label| (label.as_str(), times.as_slice(), 1)).collect();
        let mut run = LiveRun::new();
        (0..20).for_each(|number| run.take(&snapshot(number, &rows), &[]));
        let state = LoadState::default();
        let event = second(&run, &state, 0).unwrap();
        assert!(event.len() < 10_000, "{} bytes", event.len());
        assert_eq!(event.matches('\n').count(), 3, "one event");
        assert!(model(&run, &state, 0).len() < 100_000);
        assert_eq!(data(&event)["status"]["labels"].as_array().unwrap().len(), LABELS_SHOWN);
    }

    #[test]
    fn the_model_is_empty_before_the_first_second() {
        let run = LiveRun::new();
        assert!(second(&run, &LoadState::default(), 0).is_none());
        let whole = data(&model(&run, &LoadState::default(), 0));
        assert_eq!(whole["model"], serde_json::json!({ "version": 1, "labels": [] }));
        assert_eq!(whole["status"]["state"], "running");
    }
}
