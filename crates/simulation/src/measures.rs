//! The measures of stations and classes.

use busyhour_queueing::network::{QueueingNetwork, StationKind, WhenFull};
use busyhour_stats::Estimate;

use crate::histogram::Histogram;
use crate::inference::{Cut, Ratio, percentiles};
use crate::result::{ClassResult, Measure, Reason, StationMeasures, StationResult, Unconverged};
use crate::tally::Sums;
use crate::validity::{Validity, Verdict};

/// Passes of each customer of a closed class, in each replication, before anything of it is held to be known.
const ROUNDS_MIN: f64 = 5.0;

/// Some of what is observed, added up.
type Pick<'f> = &'f dyn Fn(&[Sums]) -> Sums;

/// Everything that was observed of a network, without the start-up.
pub(crate) struct Measured<'m> {
    pub(crate) network: &'m QueueingNetwork,
    pub(crate) cuts: Vec<Cut<'m>>,
    pub(crate) confidence: f64,
    pub(crate) validity: &'m Validity,
}

/// What is known of a measure whose interval the laws make invalid: the value without an interval, and nothing where the mean
/// is infinite.
fn as_valid(found: Option<Estimate>, verdict: &Verdict) -> Option<Estimate> {
    match verdict {
        None => found,
        Some((Reason::InfiniteMean, _)) => None,
        Some(_) => found.map(|found| Estimate { low: f64::NEG_INFINITY, high: f64::INFINITY, ..found }),
    }
}

impl Measured<'_> {
    fn count(&self) -> usize {
        self.network.classes.len()
    }

    fn system(&self, class: usize) -> usize {
        self.network.stations.len() * self.count() + class
    }

    fn ratio(
        &self,
        above: &dyn Fn(&[Sums]) -> f64,
        below: Option<&dyn Fn(&[Sums]) -> f64>,
    ) -> Option<Estimate> {
        Ratio { above, below }.estimate(&self.cuts, self.confidence)
    }

    fn throughput(&self, pick: Pick<'_>) -> Option<Estimate> {
        self.ratio(&|batch| pick(batch).done, None)
    }

    fn response(&self, pick: Pick<'_>) -> Option<Estimate> {
        self.ratio(&|batch| pick(batch).response_s, Some(&|batch| pick(batch).done))
    }

    fn customers(&self, pick: Pick<'_>) -> Option<Estimate> {
        self.ratio(&|batch| pick(batch).present_s, None)
    }

    fn lost(&self, pick: Pick<'_>) -> Option<Estimate> {
        self.ratio(&|batch| pick(batch).lost, None)
    }

    /// As a share of all visits that end here.
    fn lost_share(&self, pick: Pick<'_>) -> Option<Estimate> {
        self.ratio(
            &|batch| pick(batch).lost,
            Some(&|batch| {
                let sums = pick(batch);
                sums.lost + sums.done
            }),
        )
    }

    /// `None` where there is no number of servers.
    fn utilization(&self, station: usize, pick: Pick<'_>) -> Option<Estimate> {
        let StationKind::Queue(queue) = &self.network.stations[station].kind else { return None };
        let found = self.ratio(&|batch| pick(batch).busy_s, None)?;
        Some(found.scaled(1.0 / f64::from(queue.servers)))
    }

    /// Whether anybody was ever seen there.
    fn is_visited(&self, observed: std::ops::Range<usize>) -> bool {
        self.cuts.iter().any(|cut| {
            (cut.from..cut.tally.count()).any(|at| {
                let seen = &cut.tally.batch(at)[observed.clone()];
                seen.iter().any(|sums| sums.done > 0.0 || sums.present_s > 0.0 || sums.lost > 0.0)
            })
        })
    }

    /// Whether the customers of a closed class have hardly gone round: what they do depends on what they did a round ago,
    /// which a shorter time cannot show however much happens in it.
    fn is_too_short(&self, class: usize) -> bool {
        let Some(users) = self.network.classes[class].users().filter(|&users| users > 0) else {
            return false;
        };
        let at = self.system(class);
        self.cuts.iter().any(|cut| {
            let done: f64 = (cut.from..cut.tally.count()).map(|batch| cut.tally.batch(batch)[at].done).sum();
            done < ROUNDS_MIN * users as f64
        })
    }

    fn histograms(&self, observed: std::ops::Range<usize>) -> Vec<Histogram> {
        let joined = |cut: &Cut<'_>| {
            let mut all = Histogram::default();
            observed.clone().for_each(|at| all.merge(cut.tally.responses(at)));
            all
        };
        self.cuts.iter().map(joined).collect()
    }

    /// A class in the whole system.
    pub(crate) fn class(&self, class: usize) -> ClassResult {
        let at = self.system(class);
        let pick: Pick<'_> = &|batch| batch[at];
        let drops = self.network.stations.iter().any(|station| {
            matches!(&station.kind, StationKind::Queue(queue)
                if queue.capacity.is_some_and(|room| room.when_full == WhenFull::Drop))
        });
        let valid = |measure, found| as_valid(found, &self.validity.class(class, measure));
        ClassResult {
            name: self.network.classes[class].name.clone(),
            throughput_per_s: valid(Measure::Throughput, self.throughput(pick)),
            response_s: valid(Measure::Response, self.response(pick)),
            customers: valid(Measure::Customers, self.customers(pick)),
            lost_per_s: if drops { valid(Measure::Throughput, self.lost(pick)) } else { None },
            lost_share: if drops { valid(Measure::Throughput, self.lost_share(pick)) } else { None },
            percentiles: percentiles(&self.histograms(at..at + 1), self.confidence),
        }
    }

    /// A station.
    pub(crate) fn station(&self, station: usize) -> StationResult {
        let (count, first) = (self.count(), station * self.count());
        let systems = self.system(0)..self.system(0) + count;
        let total = self.at_station(station, first..first + count, systems);
        let classes = (0..count)
            .filter(|class| self.is_visited(first + class..first + class + 1))
            .map(|class| {
                let (own, system) = (first + class, self.system(class));
                let name = self.network.classes[class].name.clone();
                // With one class it is the total.
                let found = if count == 1 {
                    total.clone()
                } else {
                    self.at_station(station, own..own + 1, system..system + 1)
                };
                (name, found)
            })
            .collect();
        let serves = matches!(
            self.network.stations[station].kind,
            StationKind::Queue(_) | StationKind::Delay { .. } | StationKind::Join
        );
        StationResult { name: self.network.stations[station].name.clone(), serves, total, classes }
    }

    fn at_station(
        &self,
        station: usize,
        observed: std::ops::Range<usize>,
        systems: std::ops::Range<usize>,
    ) -> StationMeasures {
        if !self.is_visited(observed.clone()) {
            return StationMeasures::default();
        }
        let pick: Pick<'_> = &|batch| add(&batch[observed.clone()]);
        let drops = matches!(&self.network.stations[station].kind, StationKind::Queue(queue)
            if queue.capacity.is_some_and(|room| room.when_full == WhenFull::Drop));
        let valid = |measure, found| as_valid(found, &self.validity.station(station, measure));
        let residence_s =
            self.ratio(&|batch| pick(batch).present_s, Some(&|batch| add(&batch[systems.clone()]).done));
        StationMeasures {
            throughput_per_s: valid(Measure::Throughput, self.throughput(pick)),
            response_s: valid(Measure::Response, self.response(pick)),
            customers: valid(Measure::Customers, self.customers(pick)),
            utilization: valid(Measure::Utilization, self.utilization(station, pick)),
            residence_s: valid(Measure::Response, residence_s),
            lost_per_s: if drops { valid(Measure::Throughput, self.lost(pick)) } else { None },
            lost_share: if drops { valid(Measure::Throughput, self.lost_share(pick)) } else { None },
            percentiles: percentiles(&self.histograms(observed.clone()), self.confidence),
        }
    }

    /// The measures that must be estimated: X and R of each class in the system; X, R, Q and U of each station with
    /// service, over all classes. The result has those that are less precise than requested, have not settled, or
    /// have no finite moments; the latter with the width of the interval they would have.
    pub(crate) fn unconverged(&self, precision: f64, unsettled: &[bool]) -> Vec<Unconverged> {
        let mut found = Vec::new();
        let too_short: Vec<bool> = (0..self.count()).map(|class| self.is_too_short(class)).collect();
        let mut judge =
            |station: Option<usize>, class: Option<usize>, measure, estimate: Option<Estimate>| {
                // A queue that grows makes neither its throughput nor its utilization uncertain.
                let grows = matches!(measure, Measure::Customers | Measure::Response);
                let place = station.or(class.map(|class| self.network.stations.len() + class));
                let relative = estimate.map(|estimate| relative_width(&estimate));
                let verdict = match (station, class) {
                    (Some(station), _) => self.validity.station(station, measure),
                    (None, Some(class)) => self.validity.class(class, measure),
                    (None, None) => None,
                };
                let reason = match relative {
                    _ if verdict.is_some() => verdict.as_ref().map_or(Reason::Wide, |(reason, _)| *reason),
                    _ if grows && place.is_some_and(|place| unsettled[place]) => Reason::NotSteady,
                    _ if class.is_some_and(|class| too_short[class]) => Reason::TooLittle,
                    Some(relative) if relative <= precision => return,
                    Some(relative) if relative.is_finite() => Reason::Wide,
                    _ => Reason::TooLittle,
                };
                found.push(Unconverged {
                    station: station.map(|at| self.network.stations[at].name.clone()),
                    class: class.map(|at| self.network.classes[at].name.clone()),
                    measure,
                    relative: relative.filter(|relative| relative.is_finite()),
                    reason,
                    heavy_tail: verdict.map(|(_, law)| law),
                });
            };
        for class in 0..self.count() {
            if self.network.classes[class].users() == Some(0) {
                continue;
            }
            let at = self.system(class);
            let pick: Pick<'_> = &|batch| batch[at];
            judge(None, Some(class), Measure::Throughput, self.throughput(pick));
            judge(None, Some(class), Measure::Response, self.response(pick));
        }
        for (at, station) in self.network.stations.iter().enumerate() {
            let first = at * self.count();
            let observed = first..first + self.count();
            let serves = matches!(station.kind, StationKind::Queue(_) | StationKind::Delay { .. });
            if !serves || !self.is_visited(observed.clone()) {
                continue;
            }
            let pick: Pick<'_> = &|batch| add(&batch[observed.clone()]);
            judge(Some(at), None, Measure::Throughput, self.throughput(pick));
            judge(Some(at), None, Measure::Response, self.response(pick));
            judge(Some(at), None, Measure::Customers, self.customers(pick));
            if let Some(utilization) = self.utilization(at, pick) {
                judge(Some(at), None, Measure::Utilization, Some(utilization));
            }
        }
        found
    }
}

fn add(parts: &[Sums]) -> Sums {
    let mut all = Sums::default();
    parts.iter().for_each(|part| all.add(part));
    all
}

/// Half the interval's width over the value; 0 of a value that is 0 for certain.
fn relative_width(estimate: &Estimate) -> f64 {
    let half = estimate.half_width();
    if half == 0.0 { 0.0 } else { half / estimate.value.abs() }
}
