//! The search for classes whose instances leak.

use std::collections::HashSet;

use serde::Serialize;

use crate::growth::{Growth, ROUNDS_MIN, Variation, growth};
use crate::kendall::{RankTest, Rise};
use crate::rounds::{ClassHistory, LeakRounds, ROUNDS_MAX};

/// The confidence of intervals of slopes.
const CONFIDENCE: f64 = 0.95;

/// The smallest material growth over the rounds, as a share of the live bytes.
const MATERIAL_SHARE: f64 = 0.05;

/// The settings of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeakSettings {
    /// Rounds at the start that are ignored: they load classes and fill pools.
    pub warm_up_rounds: usize,
    /// The probability of any wrong suspect among all classes without a trend.
    pub level: f64,
    /// The growth in bytes per request that has to be ruled out before the result is "no leak found". `None`: 5 % of
    /// the live bytes over the rounds.
    pub material_bytes_per_request: Option<f64>,
}

impl Default for LeakSettings {
    fn default() -> LeakSettings {
        LeakSettings { warm_up_rounds: 1, level: 0.01, material_bytes_per_request: None }
    }
}

/// A growth per request with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PerRequest {
    /// Median of the slopes of all pairs of rounds (Theil and Sen).
    pub slope: f64,
    /// Lower end of the interval of 95 %; `None` if the rounds are too few for an interval.
    pub low: Option<f64>,
    /// Upper end of the interval of 95 %.
    pub high: Option<f64>,
}

/// A class whose size rises.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RisingClass {
    /// Its name as the JVM writes it.
    pub class: String,
    /// Whether it belongs to the program rather than to the JDK.
    pub is_own: bool,
    /// Instances after the last round.
    pub instances: f64,
    /// Bytes after the last round.
    pub bytes: f64,
    /// Growth of the instances.
    pub instances_per_request: PerRequest,
    /// Growth of the bytes.
    pub bytes_per_request: PerRequest,
    /// One-sided p value of the rise of the bytes, after Holm's correction for all tested classes.
    pub p_adjusted: f64,
}

/// The result of a search.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum LeakOutcome {
    /// At least one class leaks.
    Leak,
    /// No class leaks.
    NoLeak {
        /// The smallest growth of all live objects together, in bytes per request, that would have been found in 80 % of
        /// such searches.
        smallest_found_bytes_per_request: f64,
    },
    /// The rounds do not show whether there is a leak.
    CannotTell {
        /// The reason.
        reason: CannotTellReason,
        /// The number of further rounds after which the answer can be expected. `None`: more than the maximum of rounds;
        /// then more requests per round help.
        more_rounds: Option<usize>,
    },
}

/// Why a search has no answer yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CannotTellReason {
    /// With so few rounds and so many classes, no growth can be significant.
    TooFewRounds,
    /// Classes rise, but more slowly in the last half of the rounds.
    SlowsDown,
    /// All live objects together grow, but no class grows significantly.
    OnlyTotalGrows,
    /// The variation of the live bytes hides a material growth.
    Uncertain,
}

impl CannotTellReason {
    /// The reason as a sentence without a full stop.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            CannotTellReason::TooFewRounds => "the rounds are too few for so many classes",
            CannotTellReason::SlowsDown => {
                "classes grow, but more slowly in the last half of the rounds, as caches and pools do that fill"
            }
            CannotTellReason::OnlyTotalGrows => {
                "the live memory grows, but no single class grows significantly"
            }
            CannotTellReason::Uncertain => "the live memory varies too much to rule out a material growth",
        }
    }
}

/// The result of a search with its evidence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeakReport {
    /// The result.
    pub outcome: LeakOutcome,
    /// Rounds that were judged, without the warm-up.
    pub rounds: usize,
    /// Requests between the first and the last judged round.
    pub requests: f64,
    /// Classes that could have been suspects, given their values: the number of tests of Holm's correction.
    pub tested_classes: usize,
    /// Classes that grow until the end: those of the program first, then by bytes per request.
    pub suspects: Vec<RisingClass>,
    /// Classes that grow, but more slowly in the last half.
    pub slowing: Vec<RisingClass>,
    /// Classes that grew and have stopped growing.
    pub ended: Vec<RisingClass>,
    /// Classes whose growth is significant but too small to matter: classes of the JDK below half of the material growth, and
    /// classes of the program with less than one instance per round.
    pub immaterial: Vec<RisingClass>,
    /// Growth of all live objects, in bytes per request, without the classes that have stopped growing.
    pub total_bytes_per_request: Option<PerRequest>,
    /// The growth in bytes per request that counts as material.
    pub material_bytes_per_request: f64,
}

impl LeakRounds {
    /// Searches for classes that leak.
    #[must_use]
    pub fn search(&self, settings: &LeakSettings) -> LeakReport {
        let from = settings.warm_up_rounds.min(self.requests.len());
        Search { rounds: self, from, requests: &self.requests[from..], settings, test: RankTest::default() }
            .report()
    }
}

/// A search in progress.
struct Search<'a> {
    rounds: &'a LeakRounds,
    from: usize,
    requests: &'a [f64],
    settings: &'a LeakSettings,
    test: RankTest,
}

/// The classes whose growth is significant, by its kind.
#[derive(Default)]
struct Found {
    suspects: Vec<RisingClass>,
    slowing: Vec<RisingClass>,
    ended: Vec<RisingClass>,
    immaterial: Vec<RisingClass>,
    /// Positions of the classes that have stopped growing.
    is_ended: HashSet<usize>,
}

impl Found {
    fn rank(&mut self) {
        [&mut self.suspects, &mut self.slowing, &mut self.ended, &mut self.immaterial]
            .into_iter()
            .for_each(|classes| rank(classes));
    }
}

/// The sizes of all live objects together.
struct Total {
    values: Vec<f64>,
    growth: Option<PerRequest>,
    material: f64,
}

impl Search<'_> {
    fn report(mut self) -> LeakReport {
        let rises: Vec<(usize, Rise)> = (0..self.rounds.histories.len())
            .map(|at| (at, self.test.rise(&self.rounds.histories[at].bytes[self.from..])))
            .collect();
        let tested = testable(rises, self.settings.level);
        let tested_classes = tested.len();
        let material = self.material();
        let mut found =
            if self.requests.len() < ROUNDS_MIN { Found::default() } else { self.classes(tested, material) };
        found.rank();
        let (total, growth) = self.total(&found.is_ended);
        let outcome = if found.suspects.is_empty() {
            let total = Total { values: total, growth, material };
            self.outcome_without_suspects(&total, !found.slowing.is_empty(), tested_classes)
        } else {
            LeakOutcome::Leak
        };
        LeakReport {
            outcome,
            rounds: self.requests.len(),
            requests: self.span(),
            tested_classes,
            suspects: found.suspects,
            slowing: found.slowing,
            ended: found.ended,
            immaterial: found.immaterial,
            total_bytes_per_request: growth,
            material_bytes_per_request: material,
        }
    }

    /// The classes whose growth is significant, by its kind.
    fn classes(&mut self, tested: Vec<(usize, f64)>, material: f64) -> Found {
        let mut found = Found::default();
        for (at, p_adjusted) in adjusted(tested).take_while(|(_, p)| *p <= self.settings.level) {
            let history = &self.rounds.histories[at];
            let class = self.rising(history, p_adjusted);
            match growth(&mut self.test, self.requests, &history.bytes[self.from..]) {
                Growth::Ended => {
                    found.is_ended.insert(at);
                    found.ended.push(class);
                }
                _ if !self.is_material(&class, material) => found.immaterial.push(class),
                Growth::Lasting => found.suspects.push(class),
                Growth::Slowing => found.slowing.push(class),
            }
        }
        found
    }

    /// Whether a growth matters. Objects of the program may hold larger ones, so that their own bytes do not count.
    fn is_material(&self, class: &RisingClass, material: f64) -> bool {
        let rounds = (self.requests.len().max(2) - 1) as f64;
        let (instances, bytes) = (class.instances_per_request.slope, class.bytes_per_request);
        // An interval with 0 means a few steps between equal values: significant, but without a rate.
        let has_rate = bytes.low.is_none_or(|low| low > 0.0);
        let is_one_per_round = class.is_own && instances * self.span() >= 0.999 * rounds;
        has_rate && (is_one_per_round || bytes.slope >= material / 2.0)
    }

    /// The requests from the first to the last round.
    fn span(&self) -> f64 {
        self.requests.last().unwrap_or(&0.0) - self.requests.first().unwrap_or(&0.0)
    }

    /// The growth in bytes per request that is material.
    fn material(&self) -> f64 {
        let sum = |at| self.rounds.histories.iter().map(|history| history.bytes[at]).sum::<f64>();
        let mut live: Vec<f64> = (self.from..self.rounds.len()).map(sum).collect();
        live.sort_by(f64::total_cmp);
        let median = live.get(live.len() / 2).copied().unwrap_or(0.0);
        let share = if self.span() > 0.0 { MATERIAL_SHARE * median / self.span() } else { 0.0 };
        self.settings.material_bytes_per_request.unwrap_or(share)
    }

    fn rising(&mut self, history: &ClassHistory, p_adjusted: f64) -> RisingClass {
        let none = PerRequest { slope: 0.0, low: None, high: None };
        RisingClass {
            class: history.class.clone(),
            is_own: history.is_own,
            instances: history.instances.last().copied().unwrap_or(0.0),
            bytes: history.bytes.last().copied().unwrap_or(0.0),
            instances_per_request: self.per_request(&history.instances[self.from..]).unwrap_or(none),
            bytes_per_request: self.per_request(&history.bytes[self.from..]).unwrap_or(none),
            p_adjusted,
        }
    }

    fn per_request(&mut self, values: &[f64]) -> Option<PerRequest> {
        let slope = self.test.slope(self.requests, values, CONFIDENCE)?;
        let (low, high) = slope.interval.unzip();
        Some(PerRequest { slope: slope.value, low, high })
    }

    /// The live bytes after each round without the classes that have stopped growing, and their growth.
    fn total(&mut self, is_ended: &HashSet<usize>) -> (Vec<f64>, Option<PerRequest>) {
        let mut values = vec![0.0; self.requests.len()];
        let histories = self.rounds.histories.iter().enumerate();
        for (_, history) in histories.filter(|(at, _)| !is_ended.contains(at)) {
            history.bytes[self.from..].iter().zip(&mut values).for_each(|(bytes, sum)| *sum += bytes);
        }
        let growth = self.per_request(&values);
        (values, growth)
    }

    fn outcome_without_suspects(&mut self, total: &Total, has_slowing: bool, tested: usize) -> LeakOutcome {
        let cannot_tell = |reason, more_rounds| LeakOutcome::CannotTell { reason, more_rounds };
        let rounds = self.requests.len();
        let level = self.settings.level;
        let needed = rounds_for(tested, level);
        if rounds < needed {
            return cannot_tell(CannotTellReason::TooFewRounds, Some(needed - rounds));
        }
        let doubled = (2 * rounds <= ROUNDS_MAX).then_some(rounds);
        if has_slowing {
            return cannot_tell(CannotTellReason::SlowsDown, doubled);
        }
        let rise = self.test.rise(&total.values);
        let is_material = total.growth.is_some_and(|growth| growth.slope >= total.material);
        if rise.p <= level
            && is_material
            && growth(&mut self.test, self.requests, &total.values) == Growth::Lasting
        {
            return cannot_tell(CannotTellReason::OnlyTotalGrows, doubled);
        }
        // A class that leaks has to be significant among the tested ones, and so does the growth here.
        let level = level / tested.max(1) as f64;
        let variation =
            Variation::of(&mut self.test, self.requests, &total.values, level, total.material / 2.0);
        match variation.smallest_found(&mut self.test) {
            Some(smallest) if smallest <= total.material => {
                LeakOutcome::NoLeak { smallest_found_bytes_per_request: smallest }
            }
            _ => {
                let needed = variation.rounds_needed(&mut self.test, total.material);
                cannot_tell(CannotTellReason::Uncertain, needed.map(|needed| needed - rounds))
            }
        }
    }
}

/// The classes that can be significant at all (Tarone, Biometrics 46, 1990, page 515). The smallest p value that a class can
/// have depends on its ties only, so this choice does not depend on its trend. Constant classes are never tested.
fn testable(mut rises: Vec<(usize, Rise)>, level: f64) -> Vec<(usize, f64)> {
    rises.retain(|(_, rise)| rise.p_min <= level);
    rises.sort_by(|one, two| one.1.p_min.total_cmp(&two.1.p_min));
    let can_be_significant =
        |tests: usize| rises.partition_point(|(_, rise)| rise.p_min <= level / tests as f64);
    let tests = (1..=rises.len()).find(|tests| can_be_significant(*tests) <= *tests).unwrap_or(1);
    // No class passes if even the smallest p value is too large for their number; then all count as tested.
    let kept = can_be_significant(tests);
    let kept = if kept == 0 { rises.len() } else { kept };
    rises.into_iter().take(kept).map(|(at, rise)| (at, rise.p)).collect()
}

/// The p values in increasing order, after Holm's correction (Scandinavian Journal of Statistics 6, 1979, page 65).
fn adjusted(mut tested: Vec<(usize, f64)>) -> impl Iterator<Item = (usize, f64)> {
    tested.sort_by(|one, two| one.1.total_cmp(&two.1));
    let tests = tested.len();
    let mut largest: f64 = 0.0;
    tested.into_iter().enumerate().map(move |(rank, (at, p))| {
        largest = largest.max((p * (tests - rank) as f64).min(1.0));
        (at, largest)
    })
}

/// The number of rounds with which a class that always rises is significant among this many.
fn rounds_for(tests: usize, level: f64) -> usize {
    let mut p_min = 1.0;
    let is_enough = |rounds: &usize| {
        p_min /= *rounds as f64;
        p_min * tests.max(1) as f64 <= level
    };
    (1..=ROUNDS_MAX).find(is_enough).unwrap_or(ROUNDS_MAX).max(ROUNDS_MIN)
}

fn rank(classes: &mut [RisingClass]) {
    classes.sort_by(|one, two| {
        let growth = two.bytes_per_request.slope.total_cmp(&one.bytes_per_request.slope);
        two.is_own.cmp(&one.is_own).then(growth).then_with(|| one.class.cmp(&two.class))
    });
}

#[cfg(test)]
#[path = "search/tests.rs"]
mod tests;
