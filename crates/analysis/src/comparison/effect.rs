//! The effect of a change on one measure: how large it is, how well that is known, and what follows.

use busyhour_stats::{Contrast, KnownMean, Selection};
use serde::{Deserialize, Serialize};

use super::measure::{Measure, Measured};

/// How an interval came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectMethod {
    /// Student's t over the values of whole runs, several on either side (Welch): what varies within runs and from run to
    /// run is in it.
    Runs,
    /// The same with one run on one side, which is taken to vary as the others do.
    RunsOfOneSide,
    /// Stationary block bootstrap within the one run of either side: what varies from run to run is not in it.
    Blocks,
}

impl EffectMethod {
    /// A word or two for a table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            EffectMethod::Runs => "runs",
            EffectMethod::RunsOfOneSide => "runs, one side",
            EffectMethod::Blocks => "blocks",
        }
    }
}

/// What an effect comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Better by more than the margin: the whole interval lies beyond it.
    Better,
    /// Better, but perhaps by less than the margin.
    PerhapsBetter,
    /// As good as the same: the whole interval lies within the margin.
    Alike,
    /// No difference was seen: the interval holds zero, and reaches beyond the margin on one side at most.
    NotSeen,
    /// Worse, but perhaps by less than the margin.
    PerhapsWorse,
    /// Worse by more than the margin: the whole interval lies beyond it.
    Worse,
    /// The interval holds the margins of both sides, or there is none: nothing can be said.
    TooLittleData,
}

impl Verdict {
    /// What it is called for `measure`.
    #[must_use]
    pub const fn words(self, measure: Measure) -> &'static str {
        match (self, measure) {
            (Verdict::Alike, _) => "alike",
            (Verdict::NotSeen, _) => "no difference seen",
            (Verdict::TooLittleData, _) => "too little data",
            (Verdict::Better, Measure::Throughput) => "higher",
            (Verdict::PerhapsBetter, Measure::Throughput) => "higher, maybe only slightly",
            (Verdict::Worse, Measure::Throughput) => "lower",
            (Verdict::PerhapsWorse, Measure::Throughput) => "lower, maybe only slightly",
            (Verdict::Better, Measure::ErrorShare) => "fewer",
            (Verdict::PerhapsBetter, Measure::ErrorShare) => "fewer, maybe only slightly",
            (Verdict::Worse, Measure::ErrorShare) => "more",
            (Verdict::PerhapsWorse, Measure::ErrorShare) => "more, maybe only slightly",
            (Verdict::Better, _) => "faster",
            (Verdict::PerhapsBetter, _) => "faster, maybe only slightly",
            (Verdict::Worse, _) => "slower",
            (Verdict::PerhapsWorse, _) => "slower, maybe only slightly",
        }
    }

    /// Whether a difference was seen.
    #[must_use]
    pub const fn is_difference(self) -> bool {
        matches!(self, Verdict::Better | Verdict::PerhapsBetter | Verdict::PerhapsWorse | Verdict::Worse)
    }
}

/// A value with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The estimate.
    pub value: f64,
    /// Lower end; `None` when it is unbounded.
    pub low: Option<f64>,
    /// Upper end; `None` when it is unbounded.
    pub high: Option<f64>,
}

impl Interval {
    fn new(value: f64, low: f64, high: f64) -> Interval {
        let end = |end: f64| end.is_finite().then_some(end);
        Interval { value, low: end(low), high: end(high) }
    }
}

/// The effect on one measure of one label.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// What is compared.
    pub measure: Measure,
    /// Before: ms, per second, or a share; over several runs their geometric mean (shares: mean). `None` when a run has
    /// too few samples for it.
    pub base: Option<f64>,
    /// After, likewise.
    pub new: Option<f64>,
    /// Each run before.
    pub base_runs: Vec<Option<f64>>,
    /// Each run after.
    pub new_runs: Vec<Option<f64>>,
    /// After over before; `None` for shares, and when nothing can be said.
    pub ratio: Option<Interval>,
    /// After − before, in the unit of the measure (over several runs of their means); `None` when nothing can be said.
    pub difference: Option<Interval>,
    /// Two-sided p-value of no difference, not corrected for the number of questions.
    pub p_value: Option<f64>,
    /// Share of such intervals that hold the true value, 0 to 1: of differences that are claimed it is the more the more is
    /// asked; of the others it is what a single question has, or as much more as it takes to hold zero.
    pub confidence: f64,
    /// How the intervals came about.
    pub method: Option<EffectMethod>,
    /// What it comes to.
    pub verdict: Verdict,
}

/// Effects within these are as good as none.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Margins {
    /// Of times and throughput: 0.05 is 5 %, up or down.
    pub relative: f64,
    /// Of the share of errors, absolute: 0.001 is 0.1 percentage points.
    pub errors: f64,
}

impl Default for Margins {
    fn default() -> Margins {
        Margins { relative: 0.05, errors: 0.001 }
    }
}

/// An effect before it is judged together with the others.
pub(super) struct RawEffect {
    measure: Measure,
    base: Vec<Option<f64>>,
    new: Vec<Option<f64>>,
    /// On the scale on which it is judged: logarithms for ratios.
    judged: Option<(Contrast, EffectMethod)>,
    /// In the unit of the measure.
    plain: Option<Contrast>,
}

/// A threshold is a difference of two doubles.
const ROUNDING: f64 = 1e-12;

/// On which scale a value is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scale {
    Logarithm,
    Plain,
}

impl RawEffect {
    pub(super) fn new(measure: Measure, base: &[Option<Measured>], new: &[Option<Measured>]) -> RawEffect {
        let values =
            |side: &[Option<Measured>]| side.iter().map(|run| run.map(|m| m.value)).collect::<Vec<_>>();
        let whole = |side: &[Option<Measured>]| -> Option<Vec<Measured>> { side.iter().copied().collect() };
        let both = whole(base).zip(whole(new));
        let on = |scale| both.as_ref().and_then(|(base, new)| contrast(measure, scale, base, new));
        let scale = if measure.by_ratio() { Scale::Logarithm } else { Scale::Plain };
        RawEffect {
            measure,
            base: values(base),
            new: values(new),
            judged: on(scale),
            plain: on(Scale::Plain).map(|(contrast, _)| contrast),
        }
    }

    /// The p-value; not a number when nothing can be said.
    pub(super) fn p_value(&self) -> f64 {
        self.judged.map_or(f64::NAN, |(contrast, _)| contrast.p_value())
    }

    /// The effect judged with all others of `selection`, each of which alone would be tested at `false_rate`.
    pub(super) fn judge(self, margins: &Margins, selection: &Selection, false_rate: f64) -> Effect {
        let p_value = self.p_value();
        let claimed = selection.rejected > 0 && p_value <= 1.0 - selection.confidence + ROUNDING;
        let confidence = if claimed { selection.confidence } else { 1.0 - false_rate.min(p_value) };
        let interval = |contrast: &Contrast| {
            let half = contrast.half_width(confidence);
            // On the other scale, or in the last digit, zero could be left out all the same.
            let half = if claimed { half } else { half.max(contrast.difference.abs()) };
            (contrast.difference, contrast.difference - half, contrast.difference + half)
        };
        let judged = self.judged.map(|(contrast, _)| interval(&contrast));
        let ratio = judged
            .filter(|_| self.measure.by_ratio())
            .map(|(value, low, high)| Interval::new(value.exp(), low.exp(), high.exp()));
        let difference = self.plain.as_ref().map(interval).map(|(value, low, high)| {
            let least = if self.measure == Measure::ErrorShare { -1.0 } else { f64::NEG_INFINITY };
            Interval::new(value, low.max(least), high.min(-least))
        });
        let margin = if self.measure.by_ratio() { margins.relative.ln_1p() } else { margins.errors };
        Effect {
            base: middle(self.measure, &self.base),
            new: middle(self.measure, &self.new),
            verdict: judged.map_or(Verdict::TooLittleData, |(_, low, high)| {
                verdict(low, high, margin, self.measure.more_is_better())
            }),
            measure: self.measure,
            base_runs: self.base,
            new_runs: self.new,
            ratio,
            difference,
            p_value: self.judged.map(|_| p_value),
            confidence,
            method: self.judged.map(|(_, method)| method),
        }
    }
}

/// What the interval from `low` to `high` comes to, in which no difference is 0.
fn verdict(low: f64, high: f64, margin: f64, more_is_better: bool) -> Verdict {
    let (low, high) = if more_is_better { (-high, -low) } else { (low, high) };
    // From here on more is worse.
    if low.is_nan() || high.is_nan() || (low < -margin && high > margin) {
        Verdict::TooLittleData
    } else if low >= -margin && high <= margin {
        Verdict::Alike
    } else if low > margin {
        Verdict::Worse
    } else if high < -margin {
        Verdict::Better
    } else if low > 0.0 {
        Verdict::PerhapsWorse
    } else if high < 0.0 {
        Verdict::PerhapsBetter
    } else {
        Verdict::NotSeen
    }
}

/// The typical value of some runs: their geometric mean, or the mean of shares.
pub(super) fn middle(measure: Measure, runs: &[Option<f64>]) -> Option<f64> {
    let runs: Option<Vec<f64>> = runs.iter().copied().collect();
    let runs = runs.filter(|runs| !runs.is_empty())?;
    if let [only] = runs[..] {
        return Some(only);
    }
    let n = runs.len() as f64;
    if measure.by_ratio() && runs.iter().all(|value| *value > 0.0) {
        return Some((runs.iter().map(|value| value.ln()).sum::<f64>() / n).exp());
    }
    Some(runs.iter().sum::<f64>() / n)
}

/// The contrast of two sides, all of whose runs have the measure; `None` when their variance is unknown.
///
/// Several runs on both sides: a run is one value, whatever varies in it or from it to the next (Kalibera and Jones,
/// "Rigorous benchmarking in reasonable time", ISMM 2013: of nested levels only the highest that is repeated matters for
/// the interval). A side never counts as more precise than its runs could be if they did not differ at all: with two
/// or three runs that agree by chance, or by the step of their clock, the variance between them would be far too small.
fn contrast(
    measure: Measure,
    scale: Scale,
    base: &[Measured],
    new: &[Measured],
) -> Option<(Contrast, EffectMethod)> {
    let scaled =
        |side: &[Measured]| side.iter().map(|run| Scaled::of(measure, run, scale)).collect::<Vec<_>>();
    let (base, new) = (scaled(base), scaled(new));
    let (first, second, method) = match (base.len(), new.len()) {
        (0, _) | (_, 0) => return None,
        (1, 1) => (within(&base)?, within(&new)?, EffectMethod::Blocks),
        (1, _) => (like_the_others(&base[0], &new)?, between(&new)?, EffectMethod::RunsOfOneSide),
        (_, 1) => (between(&base)?, like_the_others(&new[0], &base)?, EffectMethod::RunsOfOneSide),
        (_, _) => (between(&base)?, between(&new)?, EffectMethod::Runs),
    };
    let contrast = Contrast::between(&first, &second);
    if method == EffectMethod::RunsOfOneSide {
        // Both variances rest on the same runs: together they are known no better than by those.
        let freedom = contrast.freedom.min(first.freedom).min(second.freedom);
        return Some((Contrast { freedom, ..contrast }, method));
    }
    Some((contrast, method))
}

/// A value on the scale on which it is looked at.
struct Scaled {
    value: f64,
    resolution: f64,
    /// Variance within the run and its degrees of freedom.
    within: Option<(f64, f64)>,
}

impl Scaled {
    fn of(measure: Measure, run: &Measured, scale: Scale) -> Scaled {
        let Measured { value, resolution, within } = *run;
        let on_logarithms = measure.by_ratio();
        match scale {
            Scale::Logarithm => Scaled {
                // What reads as 0 is less than half a step.
                value: value.max(resolution).ln(),
                // The larger of the two sides of a value: what is below it.
                resolution: if resolution > 0.0 { -(1.0 - resolution / value).max(0.0).ln() } else { 0.0 },
                within: within.map(|within| (within.standard_error.powi(2), within.freedom)),
            },
            Scale::Plain => {
                let factor = if on_logarithms { value } else { 1.0 };
                let variance = |error: f64| (factor * error).powi(2);
                Scaled {
                    value,
                    resolution,
                    within: within.map(|within| (variance(within.standard_error), within.freedom)),
                }
            }
        }
    }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len() as f64;
    values.sum::<f64>() / n
}

/// The mean of some runs as precise as the runs themselves tell.
fn within(runs: &[Scaled]) -> Option<KnownMean> {
    let known: Option<Vec<(f64, f64)>> = runs.iter().map(|run| run.within).collect();
    let known = known?;
    let n = runs.len() as f64;
    let variance = known.iter().map(|(variance, _)| variance).sum::<f64>() / (n * n);
    let shares: f64 = known.iter().map(|(variance, freedom)| variance * variance / freedom).sum();
    let freedom = (variance * n * n).powi(2) / shares;
    let least = known.iter().map(|(_, freedom)| *freedom).fold(f64::INFINITY, f64::min);
    Some(KnownMean {
        value: mean(runs.iter().map(|run| run.value)),
        variance,
        freedom: if freedom.is_finite() { freedom } else { least },
        resolution: mean(runs.iter().map(|run| run.resolution)),
    })
}

/// The mean of some runs as precise as their differences tell.
fn between(runs: &[Scaled]) -> Option<KnownMean> {
    let values: Vec<f64> = runs.iter().map(|run| run.value).collect();
    let found = KnownMean::of_values(&values)?;
    let found = KnownMean { resolution: mean(runs.iter().map(|run| run.resolution)), ..found };
    Some(match within(runs) {
        Some(least) if least.variance > found.variance => least,
        _ => found,
    })
}

/// One run that is taken to vary as `others` do.
fn like_the_others(run: &Scaled, others: &[Scaled]) -> Option<KnownMean> {
    let of_mean = between(others)?;
    let variance = of_mean.variance * others.len() as f64;
    let alone = KnownMean { value: run.value, variance, resolution: run.resolution, ..of_mean };
    Some(match run.within {
        Some((least, freedom)) if least > variance => KnownMean { variance: least, freedom, ..alone },
        _ => alone,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::measure::Within;
    use super::*;

    impl RawEffect {
        /// Judged as the only question.
        fn judge_alone(self) -> Effect {
            let selection = busyhour_stats::select(&[self.p_value()], 0.05);
            self.judge(&Margins::default(), &selection, 0.05)
        }
    }

    fn run(value: f64) -> Option<Measured> {
        Some(Measured { value, resolution: 0.0, within: None })
    }

    fn precise(value: f64, standard_error: f64) -> Option<Measured> {
        let within = Some(Within { standard_error, freedom: 50.0, stretch_s: 1.0 });
        Some(Measured { value, resolution: 0.0, within })
    }

    #[test]
    fn verdicts_follow_from_where_the_interval_lies() {
        let margin = 0.05;
        for (low, high, more, less) in [
            (0.06, 0.10, Verdict::Worse, Verdict::Better),
            (0.01, 0.10, Verdict::PerhapsWorse, Verdict::PerhapsBetter),
            (0.01, 0.04, Verdict::Alike, Verdict::Alike),
            (-0.01, 0.04, Verdict::Alike, Verdict::Alike),
            (-0.01, 0.10, Verdict::NotSeen, Verdict::NotSeen),
            (-0.10, 0.10, Verdict::TooLittleData, Verdict::TooLittleData),
            (-0.10, -0.06, Verdict::Better, Verdict::Worse),
            (f64::NAN, f64::NAN, Verdict::TooLittleData, Verdict::TooLittleData),
            (f64::NEG_INFINITY, f64::INFINITY, Verdict::TooLittleData, Verdict::TooLittleData),
        ] {
            assert_eq!(verdict(low, high, margin, false), more, "{low} {high}");
            assert_eq!(verdict(low, high, margin, true), less, "{low} {high}");
        }
    }

    #[test]
    fn one_run_each_rests_on_its_blocks() {
        let effect = RawEffect::new(Measure::Mean, &[precise(10.0, 0.01)], &[precise(12.0, 0.01)]);
        let effect = effect.judge_alone();
        let ratio = effect.ratio.unwrap();
        assert_eq!((effect.method, effect.verdict), (Some(EffectMethod::Blocks), Verdict::Worse));
        // t of 100 degrees of freedom times the root of 2 times 1 %.
        let half = 1.984 * 2.0_f64.sqrt() * 0.01;
        assert!((ratio.value - 1.2).abs() < 1e-9);
        assert!((ratio.high.unwrap() - 1.2 * half.exp()).abs() < 1e-4);
        let difference = effect.difference.unwrap();
        assert!((difference.value - 2.0).abs() < 1e-9 && difference.low.unwrap() > 1.6);
    }

    #[test]
    fn without_precision_or_samples_nothing_is_said() {
        for new in [run(12.0), None] {
            let effect = RawEffect::new(Measure::P95, &[precise(10.0, 0.01)], &[new]);
            let effect = effect.judge_alone();
            assert_eq!((effect.verdict, effect.ratio), (Verdict::TooLittleData, None));
            assert_eq!(effect.base, Some(10.0));
        }
    }

    #[test]
    fn what_is_claimed_leaves_out_zero_and_what_is_not_holds_it() {
        for new in [10.1, 10.25, 10.3, 11.0] {
            let effect = || RawEffect::new(Measure::Mean, &[precise(10.0, 0.01)], &[precise(new, 0.01)]);
            let p = effect().p_value();
            let selection = busyhour_stats::select(&[p, 0.001, 0.9, 0.9], 0.05);
            let found = effect().judge(&Margins::default(), &selection, 0.05);
            let low = found.ratio.unwrap().low.unwrap();
            let claimed = selection.rejected == 2;
            assert_eq!(claimed, low > 1.0 + 1e-9, "{p} {low}");
            let confidence = if claimed { 0.975 } else { 1.0 - p.min(0.05) };
            assert!((found.confidence - confidence).abs() < 1e-9, "{p} {}", found.confidence);
        }
    }

    #[test]
    fn runs_that_agree_by_chance_are_no_more_precise_than_each_is() {
        let agreeing = [precise(10.0, 0.05), precise(10.0, 0.05)];
        let effect = RawEffect::new(Measure::Mean, &agreeing, &agreeing).judge_alone();
        let ratio = effect.ratio.unwrap();
        assert!(ratio.high.unwrap() > 1.08, "{ratio:?}");
        assert_eq!(effect.method, Some(EffectMethod::Runs));
    }

    #[test]
    fn one_run_against_several_is_taken_to_vary_as_they_do() {
        let base = [run(10.0), run(10.4), run(9.7), run(10.2)];
        let effect = RawEffect::new(Measure::Mean, &base, &[run(10.3)]).judge_alone();
        assert_eq!(effect.method, Some(EffectMethod::RunsOfOneSide));
        let ratio = effect.ratio.unwrap();
        assert!(ratio.low.unwrap() < 1.0 && ratio.high.unwrap() > 1.0);
        let turned = RawEffect::new(Measure::Mean, &[run(10.3)], &base).judge_alone();
        assert!((turned.ratio.unwrap().value * ratio.value - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_coarse_clock_widens_intervals() {
        let coarse = |value: f64| Some(Measured { resolution: 0.5, ..precise(value, 0.001).unwrap() });
        let judge = |base, new| RawEffect::new(Measure::P50, &[base], &[new]).judge_alone();
        let ratio = judge(coarse(4.0), coarse(4.0)).ratio.unwrap();
        assert!(ratio.low.unwrap() < 0.78 && ratio.high.unwrap() > 1.28, "{ratio:?}");
        let none = judge(coarse(0.0), coarse(0.0));
        assert_eq!(none.verdict, Verdict::TooLittleData);
    }

    proptest! {
        #[test]
        fn units_do_not_matter(
            base in proptest::collection::vec(1.0..100.0_f64, 2..5),
            new in proptest::collection::vec(1.0..100.0_f64, 2..5),
            factor in 0.01..100.0_f64,
        ) {
            let judged = |factor: f64| {
                let side = |values: &[f64]| values.iter().map(|v| run(v * factor)).collect::<Vec<_>>();
                RawEffect::new(Measure::Mean, &side(&base), &side(&new)).judge_alone()
            };
            let (one, other) = (judged(1.0), judged(factor));
            prop_assert_eq!(one.verdict, other.verdict);
            let (a, b) = (one.ratio.unwrap(), other.ratio.unwrap());
            prop_assert!((a.value / b.value - 1.0).abs() < 1e-9);
            prop_assert!((a.low.unwrap_or(0.0) - b.low.unwrap_or(0.0)).abs() < 1e-6 * a.value);
        }
    }
}
