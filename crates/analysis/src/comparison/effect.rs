//! The effect of a change on one measure: the estimate, its confidence interval and the verdict.

use busyhour_stats::{Contrast, MeanWithError, Selection};
use serde::{Deserialize, Serialize};

use super::measure::{Measure, Measured};

/// How a confidence interval was computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectMethod {
    /// Student's t (Welch) over the values of several runs on each side. It includes the variation within and between runs.
    Runs,
    /// Student's t with a single run on one side. The variation between runs of that side is assumed to equal that of the other.
    RunsOfOneSide,
    /// Stationary block bootstrap within a single run on each side. It does not include the variation between runs.
    Blocks,
}

impl EffectMethod {
    /// Short name for tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            EffectMethod::Runs => "runs",
            EffectMethod::RunsOfOneSide => "runs, one side",
            EffectMethod::Blocks => "blocks",
        }
    }
}

/// The verdict on an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Better by more than the margin: the whole interval is beyond the margin.
    Better,
    /// Better, possibly by less than the margin.
    PerhapsBetter,
    /// Practically equivalent: the whole interval is within the margins.
    #[serde(rename = "alike")]
    Equivalent,
    /// No difference detected: the interval contains zero, and exceeds the margin on at most one side.
    #[serde(rename = "not_seen")]
    NoDifferenceDetected,
    /// Worse, possibly by less than the margin.
    PerhapsWorse,
    /// Worse by more than the margin: the whole interval is beyond the margin.
    Worse,
    /// Inconclusive: the interval contains both margins, or is unknown.
    #[serde(rename = "too_little_data")]
    Inconclusive,
}

impl Verdict {
    /// The text of the verdict for a measure.
    #[must_use]
    pub const fn describe(self, measure: Measure) -> &'static str {
        match (self, measure) {
            (Verdict::Equivalent, _) => "alike",
            (Verdict::NoDifferenceDetected, _) => "no difference detected",
            (Verdict::Inconclusive, _) => "too little data",
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

    /// Whether a difference was detected.
    #[must_use]
    pub const fn is_difference(self) -> bool {
        matches!(self, Verdict::Better | Verdict::PerhapsBetter | Verdict::PerhapsWorse | Verdict::Worse)
    }
}

/// An estimate with its confidence interval.
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
pub struct LabelEffect {
    /// The measure.
    pub measure: Measure,
    /// Value before the change, in ms, per second, or as a share: the geometric mean of the runs (for shares, the mean). `None` if
    /// a run has too few samples.
    pub base: Option<f64>,
    /// Value after the change.
    pub new: Option<f64>,
    /// Values of the runs before the change.
    pub base_runs: Vec<Option<f64>>,
    /// Values of the runs after the change.
    pub new_runs: Vec<Option<f64>>,
    /// Value after divided by value before; `None` for shares, and if unknown.
    pub ratio: Option<Interval>,
    /// Value after minus value before, in the unit of the measure (for several runs, the difference of their means); `None` if
    /// unknown.
    pub difference: Option<Interval>,
    /// Two-sided p-value of the hypothesis that there is no difference, not adjusted for multiple tests.
    pub p_value: Option<f64>,
    /// Confidence of the intervals, 0 to 1. For reported differences it increases with the number of tests. For other effects it is
    /// the confidence of a single test, or a higher one if the interval would otherwise exclude zero.
    pub confidence: f64,
    /// How the intervals were computed.
    pub method: Option<EffectMethod>,
    /// The verdict.
    pub verdict: Verdict,
}

/// Effects within these margins are immaterial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Margins {
    /// Relative margin of times and throughput: 0.05 is ± 5 %.
    pub relative: f64,
    /// Absolute margin of the share of errors: 0.001 is ± 0.1 percentage points.
    pub errors: f64,
}

impl Default for Margins {
    fn default() -> Margins {
        Margins { relative: 0.05, errors: 0.001 }
    }
}

/// An effect before all effects are tested together.
pub(super) struct RawEffect {
    measure: Measure,
    base: Vec<Option<f64>>,
    new: Vec<Option<f64>>,
    /// The contrast on the scale of the test: logarithms for ratios.
    judged: Option<(Contrast, EffectMethod)>,
    /// The contrast in the unit of the measure.
    plain: Option<Contrast>,
}

/// Tolerance for the rounding error of 1 − confidence.
const ROUNDING: f64 = 1e-12;

/// The scale of a value.
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
        let scale = if measure.is_compared_by_ratio() { Scale::Logarithm } else { Scale::Plain };
        RawEffect {
            measure,
            base: values(base),
            new: values(new),
            judged: on(scale),
            plain: on(Scale::Plain).map(|(contrast, _)| contrast),
        }
    }

    /// The p-value; NaN if unknown.
    pub(super) fn p_value(&self) -> f64 {
        self.judged.map_or(f64::NAN, |(contrast, _)| contrast.p_value())
    }

    /// Judges the effect. `selection` is the result of all tests together; `false_rate` is the level of a single test.
    pub(super) fn judge(self, margins: &Margins, selection: &Selection, false_rate: f64) -> LabelEffect {
        let p_value = self.p_value();
        let is_difference = selection.rejected > 0 && p_value <= 1.0 - selection.confidence + ROUNDING;
        let confidence = if is_difference { selection.confidence } else { 1.0 - false_rate.min(p_value) };
        let interval = |contrast: &Contrast| {
            let half = contrast.half_width(confidence);
            // On the other scale, or because of rounding, the interval could exclude zero without a detected difference.
            let half = if is_difference { half } else { half.max(contrast.difference.abs()) };
            (contrast.difference, contrast.difference - half, contrast.difference + half)
        };
        let judged = self.judged.map(|(contrast, _)| interval(&contrast));
        let ratio = judged
            .filter(|_| self.measure.is_compared_by_ratio())
            .map(|(value, low, high)| Interval::new(value.exp(), low.exp(), high.exp()));
        let difference = self.plain.as_ref().map(interval).map(|(value, low, high)| {
            let least = if self.measure == Measure::ErrorShare { -1.0 } else { f64::NEG_INFINITY };
            Interval::new(value, low.max(least), high.min(-least))
        });
        let margin =
            if self.measure.is_compared_by_ratio() { margins.relative.ln_1p() } else { margins.errors };
        LabelEffect {
            base: middle(self.measure, &self.base),
            new: middle(self.measure, &self.new),
            verdict: judged.map_or(Verdict::Inconclusive, |(_, low, high)| {
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

/// The verdict on an interval of differences.
fn verdict(low: f64, high: f64, margin: f64, more_is_better: bool) -> Verdict {
    let (low, high) = if more_is_better { (-high, -low) } else { (low, high) };
    // From here on, larger values are worse.
    if low.is_nan() || high.is_nan() || (low < -margin && high > margin) {
        Verdict::Inconclusive
    } else if low >= -margin && high <= margin {
        Verdict::Equivalent
    } else if low > margin {
        Verdict::Worse
    } else if high < -margin {
        Verdict::Better
    } else if low > 0.0 {
        Verdict::PerhapsWorse
    } else if high < 0.0 {
        Verdict::PerhapsBetter
    } else {
        Verdict::NoDifferenceDetected
    }
}

/// The mean of several runs: the geometric mean, or for shares the arithmetic mean.
pub(super) fn middle(measure: Measure, runs: &[Option<f64>]) -> Option<f64> {
    let runs: Option<Vec<f64>> = runs.iter().copied().collect();
    let runs = runs.filter(|runs| !runs.is_empty())?;
    if let [only] = runs[..] {
        return Some(only);
    }
    let n = runs.len() as f64;
    if measure.is_compared_by_ratio() && runs.iter().all(|value| *value > 0.0) {
        return Some((runs.iter().map(|value| value.ln()).sum::<f64>() / n).exp());
    }
    Some(runs.iter().sum::<f64>() / n)
}

/// The contrast of two sides; `None` if a variance is unknown.
///
/// With several runs on both sides, each run contributes one value (Kalibera and Jones, "Rigorous benchmarking in reasonable time",
/// ISMM 2013: if measurements are nested, only the highest level that is repeated matters for the interval). The variance of a
/// side is at least the variance within its runs: if two or three runs agree by chance, or because of the resolution of their
/// clock, the variance between them would be far too small.
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
        (1, _) => (with_variance_of(&base[0], &new)?, between(&new)?, EffectMethod::RunsOfOneSide),
        (_, 1) => (between(&base)?, with_variance_of(&new[0], &base)?, EffectMethod::RunsOfOneSide),
        (_, _) => (between(&base)?, between(&new)?, EffectMethod::Runs),
    };
    let contrast = Contrast::between(&first, &second);
    if method == EffectMethod::RunsOfOneSide {
        // Both variances are estimated from the same runs, so the degrees of freedom do not add up.
        let freedom = contrast.freedom.min(first.freedom).min(second.freedom);
        return Some((Contrast { freedom, ..contrast }, method));
    }
    Some((contrast, method))
}

/// A run's value of a measure, on a [`Scale`].
struct Scaled {
    value: f64,
    resolution: f64,
    /// Variance within the run and its degrees of freedom.
    within: Option<(f64, f64)>,
}

impl Scaled {
    fn of(measure: Measure, run: &Measured, scale: Scale) -> Scaled {
        let Measured { value, resolution, within } = *run;
        let on_logarithms = measure.is_compared_by_ratio();
        match scale {
            Scale::Logarithm => Scaled {
                // A recorded 0 is a time below the resolution.
                value: value.max(resolution).ln(),
                // On the logarithmic scale the resolution is larger below a value than above it.
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

/// The mean of several runs, with the variance within the runs.
fn within(runs: &[Scaled]) -> Option<MeanWithError> {
    let known: Option<Vec<(f64, f64)>> = runs.iter().map(|run| run.within).collect();
    let known = known?;
    let n = runs.len() as f64;
    let variance = known.iter().map(|(variance, _)| variance).sum::<f64>() / (n * n);
    let shares: f64 = known.iter().map(|(variance, freedom)| variance * variance / freedom).sum();
    let freedom = (variance * n * n).powi(2) / shares;
    let least = known.iter().map(|(_, freedom)| *freedom).fold(f64::INFINITY, f64::min);
    Some(MeanWithError {
        value: mean(runs.iter().map(|run| run.value)),
        variance,
        freedom: if freedom.is_finite() { freedom } else { least },
        resolution: mean(runs.iter().map(|run| run.resolution)),
    })
}

/// The mean of several runs, with the variance between them, or the variance within them if that is larger.
fn between(runs: &[Scaled]) -> Option<MeanWithError> {
    let values: Vec<f64> = runs.iter().map(|run| run.value).collect();
    let found = MeanWithError::of_values(&values)?;
    let found = MeanWithError { resolution: mean(runs.iter().map(|run| run.resolution)), ..found };
    Some(match within(runs) {
        Some(least) if least.variance > found.variance => least,
        _ => found,
    })
}

/// A single run, with the variance between `others`, or the variance within it if that is larger.
fn with_variance_of(run: &Scaled, others: &[Scaled]) -> Option<MeanWithError> {
    let of_mean = between(others)?;
    let variance = of_mean.variance * others.len() as f64;
    let alone = MeanWithError { value: run.value, variance, resolution: run.resolution, ..of_mean };
    Some(match run.within {
        Some((least, freedom)) if least > variance => MeanWithError { variance: least, freedom, ..alone },
        _ => alone,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::measure::RunPrecision;
    use super::*;

    impl RawEffect {
        /// Judges the effect as the only test.
        fn judge_alone(self) -> LabelEffect {
            let selection = busyhour_stats::select(&[self.p_value()], 0.05);
            self.judge(&Margins::default(), &selection, 0.05)
        }
    }

    fn run(value: f64) -> Option<Measured> {
        Some(Measured { value, resolution: 0.0, within: None })
    }

    fn precise(value: f64, standard_error: f64) -> Option<Measured> {
        let within = Some(RunPrecision { standard_error, freedom: 50.0, block_s: 1.0 });
        Some(Measured { value, resolution: 0.0, within })
    }

    #[test]
    fn the_verdict_depends_on_the_position_of_the_interval() {
        let margin = 0.05;
        for (low, high, more, less) in [
            (0.06, 0.10, Verdict::Worse, Verdict::Better),
            (0.01, 0.10, Verdict::PerhapsWorse, Verdict::PerhapsBetter),
            (0.01, 0.04, Verdict::Equivalent, Verdict::Equivalent),
            (-0.01, 0.04, Verdict::Equivalent, Verdict::Equivalent),
            (-0.01, 0.10, Verdict::NoDifferenceDetected, Verdict::NoDifferenceDetected),
            (-0.10, 0.10, Verdict::Inconclusive, Verdict::Inconclusive),
            (-0.10, -0.06, Verdict::Better, Verdict::Worse),
            (f64::NAN, f64::NAN, Verdict::Inconclusive, Verdict::Inconclusive),
            (f64::NEG_INFINITY, f64::INFINITY, Verdict::Inconclusive, Verdict::Inconclusive),
        ] {
            assert_eq!(verdict(low, high, margin, false), more, "{low} {high}");
            assert_eq!(verdict(low, high, margin, true), less, "{low} {high}");
        }
    }

    #[test]
    fn one_run_each_is_compared_by_the_block_bootstrap() {
        let effect = RawEffect::new(Measure::Mean, &[precise(10.0, 0.01)], &[precise(12.0, 0.01)]);
        let effect = effect.judge_alone();
        let ratio = effect.ratio.unwrap();
        assert_eq!((effect.method, effect.verdict), (Some(EffectMethod::Blocks), Verdict::Worse));
        // t with 100 degrees of freedom, times √2, times 1 %.
        let half = 1.984 * 2.0_f64.sqrt() * 0.01;
        assert!((ratio.value - 1.2).abs() < 1e-9);
        assert!((ratio.high.unwrap() - 1.2 * half.exp()).abs() < 1e-4);
        let difference = effect.difference.unwrap();
        assert!((difference.value - 2.0).abs() < 1e-9 && difference.low.unwrap() > 1.6);
    }

    #[test]
    fn missing_precision_or_samples_give_too_little_data() {
        for new in [run(12.0), None] {
            let effect = RawEffect::new(Measure::P95, &[precise(10.0, 0.01)], &[new]);
            let effect = effect.judge_alone();
            assert_eq!((effect.verdict, effect.ratio), (Verdict::Inconclusive, None));
            assert_eq!(effect.base, Some(10.0));
        }
    }

    #[test]
    fn intervals_of_detected_differences_exclude_zero_and_others_contain_it() {
        for new in [10.1, 10.25, 10.3, 11.0] {
            let effect = || RawEffect::new(Measure::Mean, &[precise(10.0, 0.01)], &[precise(new, 0.01)]);
            let p = effect().p_value();
            let selection = busyhour_stats::select(&[p, 0.001, 0.9, 0.9], 0.05);
            let found = effect().judge(&Margins::default(), &selection, 0.05);
            let low = found.ratio.unwrap().low.unwrap();
            let is_difference = selection.rejected == 2;
            assert_eq!(is_difference, low > 1.0 + 1e-9, "{p} {low}");
            let confidence = if is_difference { 0.975 } else { 1.0 - p.min(0.05) };
            assert!((found.confidence - confidence).abs() < 1e-9, "{p} {}", found.confidence);
        }
    }

    #[test]
    fn the_variance_between_runs_is_at_least_the_variance_within_them() {
        let agreeing = [precise(10.0, 0.05), precise(10.0, 0.05)];
        let effect = RawEffect::new(Measure::Mean, &agreeing, &agreeing).judge_alone();
        let ratio = effect.ratio.unwrap();
        assert!(ratio.high.unwrap() > 1.08, "{ratio:?}");
        assert_eq!(effect.method, Some(EffectMethod::Runs));
    }

    #[test]
    fn one_run_against_several_uses_the_variance_of_the_several() {
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
        assert_eq!(none.verdict, Verdict::Inconclusive);
    }

    proptest! {
        #[test]
        fn ratios_do_not_depend_on_the_unit(
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
