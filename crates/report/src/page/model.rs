//! The data that the script draws, as JSON in the page; `ui/src/model.ts` declares the same structure.

use busyhour_analysis::explanation::Explanation;
use busyhour_analysis::incidents::Incident;
use busyhour_analysis::{DistributionPoint, HeatMap, RowSeries, Summary, describe_stall, reported_stalls};
use busyhour_results::SystemRecord;
use busyhour_sample::{ControlEvent, Stall};
use serde::Serialize;

use super::bundle::MODEL_VERSION;
use super::steps::Steps;
use super::system::{EventModel, SystemModel};
use crate::incident_lines::what;
use crate::terminal_text::shown_label;

/// The data of a run's page.
#[derive(Serialize)]
pub(super) struct PageModel<'s> {
    version: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    over_time: Option<Steps>,
    #[serde(skip_serializing_if = "Option::is_none")]
    heat: Option<&'s HeatMap>,
    #[serde(skip_serializing_if = "Option::is_none")]
    curve: Option<Curve>,
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<Part>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    marks: Vec<Mark>,
    labels: Vec<LabelModel<'s>>,
    /// Marks of the observed system.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    events: Vec<EventModel>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<SystemModel>,
}

/// A time at which the load was changed or the generator stalled, or the time of an incident.
#[derive(Serialize)]
pub(super) struct Mark {
    at_s: f64,
    /// End of an incident; its duration is shaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    to_s: Option<f64>,
    /// Whether the mark is a stall of the generator.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stall: bool,
    words: String,
}

impl Mark {
    pub(super) fn of(event: &ControlEvent) -> Mark {
        Mark { at_s: event.at_ns.as_secs_f64(), to_s: None, stall: false, words: event.description() }
    }

    /// The start of a stall, and its end if it is long enough to be visible.
    fn of_stall(stall: &Stall) -> impl Iterator<Item = Mark> {
        const SEEN_NS: u64 = 1_000_000_000;
        let mark = |at_s: f64, words: String| Mark { at_s, to_s: None, stall: true, words };
        let begin = mark(stall.at_ns as f64 / 1e9, describe_stall(stall));
        let end_s = stall.at_ns.saturating_add(stall.length_ns) as f64 / 1e9;
        let end =
            (stall.length_ns >= SEEN_NS).then(|| mark(end_s, format!("end of: {}", describe_stall(stall))));
        std::iter::once(begin).chain(end)
    }

    fn of_incident(incident: &Incident, run_end_s: f64) -> Mark {
        let to_s = incident.to_s.unwrap_or(run_end_s).max(incident.from_s);
        Mark {
            at_s: incident.from_s,
            to_s: Some(to_s),
            stall: false,
            words: format!("incident: {}", what(incident)),
        }
    }

    /// The times in which the named cause was present: the longest ones.
    fn of_evidence(explanation: &Explanation) -> Vec<Mark> {
        const WINDOWS_MAX: usize = 60;
        let Some(evidence) = explanation.main() else { return Vec::new() };
        let mut windows = evidence.windows_s.clone();
        windows.sort_by(|a, b| (b.1 - b.0).total_cmp(&(a.1 - a.0)));
        windows.truncate(WINDOWS_MAX);
        windows.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mark = |(from_s, to_s): (f64, f64)| Mark {
            at_s: from_s,
            to_s: Some(to_s),
            stall: false,
            words: format!("{}: {}", evidence.cause.id(), evidence.source),
        };
        windows.into_iter().map(mark).collect()
    }

    fn all(summary: &Summary) -> Vec<Mark> {
        let run = &summary.run;
        let end_s = summary.series.second.last().map_or(0.0, |last| (last + 1) as f64);
        let stalls = reported_stalls(&run.generator.stalls).flat_map(Mark::of_stall);
        let incidents = summary.incidents.iter().map(|incident| Mark::of_incident(incident, end_s));
        let evidence = summary.explanation.iter().flat_map(Mark::of_evidence);
        run.events.iter().map(Mark::of).chain(stalls).chain(incidents).chain(evidence).collect()
    }
}

/// A part of the run, in s from the start of the run.
#[derive(Serialize)]
struct Part {
    from_s: f64,
    to_s: f64,
}

/// Data of a label in addition to its row in the table.
#[derive(Serialize)]
struct LabelModel<'s> {
    label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    series: Option<&'s RowSeries>,
    #[serde(skip_serializing_if = "Option::is_none")]
    curve: Option<Curve>,
}

/// A quantile function by column.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Curve {
    percentile: Vec<f64>,
    response_ms: Vec<f64>,
    /// Omitted if it is the same as the response time.
    #[serde(skip_serializing_if = "Option::is_none")]
    service_ms: Option<Vec<f64>>,
}

impl Curve {
    /// The curve of these points; `None` if there are fewer than two.
    pub(super) fn of(points: &[DistributionPoint]) -> Option<Curve> {
        if points.len() < 2 {
            return None;
        }
        let column = |of: fn(&DistributionPoint) -> f64| points.iter().map(of).collect::<Vec<_>>();
        let (response_ms, service_ms) = (column(|point| point.response_ms), column(|point| point.service_ms));
        Some(Curve {
            percentile: column(|point| point.percentile),
            service_ms: (service_ms != response_ms).then_some(service_ms),
            response_ms,
        })
    }
}

impl<'s> PageModel<'s> {
    /// The model of a run with its slices.
    pub(super) fn of(
        summary: &'s Summary,
        steps: Option<Steps>,
        system: Option<&SystemRecord>,
    ) -> PageModel<'s> {
        PageModel {
            version: MODEL_VERSION,
            over_time: steps,
            heat: summary.heat.as_ref(),
            curve: Curve::of(&summary.distribution),
            window: summary.window.as_ref().map(|window| Part { from_s: window.from_s, to_s: window.to_s }),
            marks: Mark::all(summary),
            labels: summary
                .labels
                .iter()
                .map(|row| LabelModel {
                    label: shown_label(&row.label),
                    series: row.series.as_ref(),
                    curve: Curve::of(&row.distribution),
                })
                .collect(),
            events: system.map(EventModel::all).unwrap_or_default(),
            system: system.and_then(SystemModel::of),
        }
    }
}
