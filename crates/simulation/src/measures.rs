//! Computes the measures of stations and classes.

use busyhour_queueing::network::{QueueingNetwork, StationKind, WhenFull};
use busyhour_stats::Estimate;

use crate::histogram::Histogram;
use crate::inference::{Ratio, TruncatedTally, percentiles};
use crate::result::{ClassResult, MeasureKind, Reason, StationMeasures, StationResult, Unconverged};
use crate::tally::BatchSums;
use crate::validity::{Validity, Verdict};

/// Minimum number of passes per customer of a closed class in each replication. With fewer passes, measures are not converged.
const PASSES_MIN: f64 = 5.0;

/// Selects some of the observations of a batch and adds them up.
type Selection<'f> = &'f dyn Fn(&[BatchSums]) -> BatchSums;

/// The observations of a network after the start-up.
pub(crate) struct Measurements<'m> {
    pub(crate) network: &'m QueueingNetwork,
    pub(crate) replications: Vec<TruncatedTally<'m>>,
    pub(crate) confidence: f64,
    pub(crate) validity: &'m Validity,
}

/// Removes the interval of an estimate if the verdict is that it is invalid, and the estimate itself if the mean is
/// infinite.
fn remove_invalid(estimate: Option<Estimate>, verdict: &Verdict) -> Option<Estimate> {
    match verdict {
        None => estimate,
        Some((Reason::InfiniteMean, _)) => None,
        Some(_) => {
            estimate.map(|estimate| Estimate { low: f64::NEG_INFINITY, high: f64::INFINITY, ..estimate })
        }
    }
}

impl Measurements<'_> {
    fn class_count(&self) -> usize {
        self.network.classes.len()
    }

    /// The index of the observations of a class in the whole system.
    fn system_index(&self, class: usize) -> usize {
        self.network.stations.len() * self.class_count() + class
    }

    fn ratio(
        &self,
        numerator: &dyn Fn(&[BatchSums]) -> f64,
        denominator: Option<&dyn Fn(&[BatchSums]) -> f64>,
    ) -> Option<Estimate> {
        Ratio { numerator, denominator }.estimate(&self.replications, self.confidence)
    }

    fn throughput(&self, select: Selection<'_>) -> Option<Estimate> {
        self.ratio(&|batch| select(batch).done, None)
    }

    fn response(&self, select: Selection<'_>) -> Option<Estimate> {
        self.ratio(&|batch| select(batch).response_s, Some(&|batch| select(batch).done))
    }

    fn customers(&self, select: Selection<'_>) -> Option<Estimate> {
        self.ratio(&|batch| select(batch).present_s, None)
    }

    fn lost(&self, select: Selection<'_>) -> Option<Estimate> {
        self.ratio(&|batch| select(batch).lost, None)
    }

    /// The number of lost customers divided by the number of visits that ended or were rejected.
    fn lost_share(&self, select: Selection<'_>) -> Option<Estimate> {
        self.ratio(
            &|batch| select(batch).lost,
            Some(&|batch| {
                let sums = select(batch);
                sums.lost + sums.done
            }),
        )
    }

    /// The utilization of a station; `None` if it has no servers.
    fn utilization(&self, station: usize, select: Selection<'_>) -> Option<Estimate> {
        let StationKind::Queue(queue) = &self.network.stations[station].kind else { return None };
        let found = self.ratio(&|batch| select(batch).busy_s, None)?;
        Some(found.scaled(1.0 / f64::from(queue.servers)))
    }

    /// Whether any customer was observed.
    fn is_visited(&self, observed: std::ops::Range<usize>) -> bool {
        self.replications.iter().any(|replication| {
            (replication.first_batch..replication.tally.count()).any(|at| {
                let sums = &replication.tally.batch(at)[observed.clone()];
                sums.iter().any(|sums| sums.done > 0.0 || sums.present_s > 0.0 || sums.lost > 0.0)
            })
        })
    }

    /// Whether the customers of a closed class have completed too few passes on average. Successive passes of a customer depend
    /// on each other, and a simulation of few passes does not show this dependence, regardless of the number of events.
    fn is_too_short(&self, class: usize) -> bool {
        let Some(users) = self.network.classes[class].users().filter(|&users| users > 0) else {
            return false;
        };
        let at = self.system_index(class);
        self.replications.iter().any(|&TruncatedTally { tally, first_batch }| {
            let done: f64 = (first_batch..tally.count()).map(|batch| tally.batch(batch)[at].done).sum();
            done < PASSES_MIN * users as f64
        })
    }

    fn histograms(&self, observed: std::ops::Range<usize>) -> Vec<Histogram> {
        let merged = |replication: &TruncatedTally<'_>| {
            let mut all = Histogram::default();
            observed.clone().for_each(|at| all.merge(replication.tally.responses(at)));
            all
        };
        self.replications.iter().map(merged).collect()
    }

    /// The results of a class in the whole system.
    pub(crate) fn class(&self, class: usize) -> ClassResult {
        let at = self.system_index(class);
        let select: Selection<'_> = &|batch| batch[at];
        let drops = self.network.stations.iter().any(|station| {
            matches!(&station.kind, StationKind::Queue(queue)
                if queue.capacity.is_some_and(|capacity| capacity.when_full == WhenFull::Drop))
        });
        let valid = |measure, found| remove_invalid(found, &self.validity.class(class, measure));
        ClassResult {
            name: self.network.classes[class].name.clone(),
            throughput_per_s: valid(MeasureKind::Throughput, self.throughput(select)),
            response_s: valid(MeasureKind::Response, self.response(select)),
            customers: valid(MeasureKind::Customers, self.customers(select)),
            lost_per_s: if drops { valid(MeasureKind::Throughput, self.lost(select)) } else { None },
            lost_share: if drops { valid(MeasureKind::Throughput, self.lost_share(select)) } else { None },
            percentiles: percentiles(&self.histograms(at..at + 1), self.confidence),
        }
    }

    /// The results of a station.
    pub(crate) fn station(&self, station: usize) -> StationResult {
        let (count, first) = (self.class_count(), station * self.class_count());
        let systems = self.system_index(0)..self.system_index(0) + count;
        let total = self.station_measures(station, first..first + count, systems);
        let classes = (0..count)
            .filter(|class| self.is_visited(first + class..first + class + 1))
            .map(|class| {
                let (own, system) = (first + class, self.system_index(class));
                let name = self.network.classes[class].name.clone();
                // If there is a single class, its result is the total.
                let measures = if count == 1 {
                    total.clone()
                } else {
                    self.station_measures(station, own..own + 1, system..system + 1)
                };
                (name, measures)
            })
            .collect();
        let serves = matches!(
            self.network.stations[station].kind,
            StationKind::Queue(_) | StationKind::Delay { .. } | StationKind::Join
        );
        StationResult { name: self.network.stations[station].name.clone(), serves, total, classes }
    }

    fn station_measures(
        &self,
        station: usize,
        observed: std::ops::Range<usize>,
        systems: std::ops::Range<usize>,
    ) -> StationMeasures {
        if !self.is_visited(observed.clone()) {
            return StationMeasures::default();
        }
        let select: Selection<'_> = &|batch| sum(&batch[observed.clone()]);
        let drops = matches!(&self.network.stations[station].kind, StationKind::Queue(queue)
            if queue.capacity.is_some_and(|capacity| capacity.when_full == WhenFull::Drop));
        let valid = |measure, found| remove_invalid(found, &self.validity.station(station, measure));
        let residence_s =
            self.ratio(&|batch| select(batch).present_s, Some(&|batch| sum(&batch[systems.clone()]).done));
        StationMeasures {
            throughput_per_s: valid(MeasureKind::Throughput, self.throughput(select)),
            response_s: valid(MeasureKind::Response, self.response(select)),
            customers: valid(MeasureKind::Customers, self.customers(select)),
            utilization: valid(MeasureKind::Utilization, self.utilization(station, select)),
            residence_s: valid(MeasureKind::Response, residence_s),
            lost_per_s: if drops { valid(MeasureKind::Throughput, self.lost(select)) } else { None },
            lost_share: if drops { valid(MeasureKind::Throughput, self.lost_share(select)) } else { None },
            percentiles: percentiles(&self.histograms(observed.clone()), self.confidence),
        }
    }

    /// Returns the measures that are less precise than requested, that are not steady, or whose interval is invalid because
    /// moments are infinite. An invalid interval is still reported by its relative width. Checks throughput X and response time R
    /// of each class in the system. For each queue and delay, checks X, R, number of customers Q and utilization U, over all
    /// classes.
    pub(crate) fn unconverged(&self, precision: f64, unsettled: &[bool]) -> Vec<Unconverged> {
        let mut found = Vec::new();
        let too_short: Vec<bool> = (0..self.class_count()).map(|class| self.is_too_short(class)).collect();
        let mut check =
            |station: Option<usize>, class: Option<usize>, measure, estimate: Option<Estimate>| {
                // A growing queue makes only the number of customers and the response time uncertain.
                let is_affected_by_growth = matches!(measure, MeasureKind::Customers | MeasureKind::Response);
                let place = station.or(class.map(|class| self.network.stations.len() + class));
                let relative = estimate.map(|estimate| relative_width(&estimate));
                let verdict = match (station, class) {
                    (Some(station), _) => self.validity.station(station, measure),
                    (None, Some(class)) => self.validity.class(class, measure),
                    (None, None) => None,
                };
                let reason = match relative {
                    _ if verdict.is_some() => verdict.as_ref().map_or(Reason::Wide, |(reason, _)| *reason),
                    _ if is_affected_by_growth && place.is_some_and(|place| unsettled[place]) => {
                        Reason::NotSteady
                    }
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
        for class in 0..self.class_count() {
            if self.network.classes[class].users() == Some(0) {
                continue;
            }
            let at = self.system_index(class);
            let select: Selection<'_> = &|batch| batch[at];
            check(None, Some(class), MeasureKind::Throughput, self.throughput(select));
            check(None, Some(class), MeasureKind::Response, self.response(select));
        }
        for (at, station) in self.network.stations.iter().enumerate() {
            let first = at * self.class_count();
            let observed = first..first + self.class_count();
            let serves = matches!(station.kind, StationKind::Queue(_) | StationKind::Delay { .. });
            if !serves || !self.is_visited(observed.clone()) {
                continue;
            }
            let select: Selection<'_> = &|batch| sum(&batch[observed.clone()]);
            check(Some(at), None, MeasureKind::Throughput, self.throughput(select));
            check(Some(at), None, MeasureKind::Response, self.response(select));
            check(Some(at), None, MeasureKind::Customers, self.customers(select));
            if let Some(utilization) = self.utilization(at, select) {
                check(Some(at), None, MeasureKind::Utilization, Some(utilization));
            }
        }
        found
    }
}

fn sum(parts: &[BatchSums]) -> BatchSums {
    let mut total = BatchSums::default();
    parts.iter().for_each(|part| total.add(part));
    total
}

/// Half the interval's width divided by the value; 0 if the width is 0.
fn relative_width(estimate: &Estimate) -> f64 {
    let half = estimate.half_width();
    if half == 0.0 { 0.0 } else { half / estimate.value.abs() }
}
