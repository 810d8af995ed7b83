//! The analysis of one response.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::block_contrast::{BlockContrast, t_quantile};
use super::contrasts::{EffectDifferences, EffectKind, case_differences, design_effects};
use super::holm::holm;
use super::power::{effect_of_shift, smallest_shift};
use super::table::ResponseTable;
use crate::design::CaseSet;
use crate::scale::ResponseScale;

/// Settings of the analysis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnalysisSettings {
    /// The probability that an effect is claimed although there is none. After repeated looks, the probability of the
    /// last look.
    pub error: f64,
}

impl Default for AnalysisSettings {
    fn default() -> AnalysisSettings {
        AnalysisSettings { error: 0.05 }
    }
}

/// An interval of a change, in percent or in percentage points.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EffectInterval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl EffectInterval {
    /// The interval, if both of its ends are finite.
    fn of(low: f64, high: f64) -> Option<EffectInterval> {
        (low.is_finite() && high.is_finite()).then_some(EffectInterval { low, high })
    }
}

/// An effect on a response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// The level, interaction or case that has the effect.
    #[serde(flatten)]
    pub kind: EffectKind,
    /// Number of blocks that have all values of the effect.
    pub blocks: usize,
    /// The change, in percent or in percentage points. `None` without blocks.
    pub change: Option<f64>,
    /// Interval of the change, at the confidence of the analysis. `None` for fewer than two blocks, if the difference is the same in
    /// all of them, or if it is not finite.
    pub interval: Option<EffectInterval>,
    /// The p value of the hypothesis that there is no effect.
    pub p: Option<f64>,
    /// The p value, adjusted for the number of effects.
    pub p_adjusted: Option<f64>,
    /// Whether the effect was detected.
    pub is_detected: bool,
    /// The smallest increase that such an experiment would have found in 9 of 10 cases, in percent or in percentage points.
    pub smallest: Option<f64>,
}

impl Effect {
    /// The lower bound of the size of the effect: the end of its interval that is closest to no effect. 0 if the effect
    /// was not detected.
    fn at_least(&self, scale: ResponseScale) -> f64 {
        match self.interval {
            Some(interval) if self.is_detected => {
                scale.from_percent(interval.low).abs().min(scale.from_percent(interval.high).abs())
            }
            _ => 0.0,
        }
    }

    /// Half the width of the interval on the scale of the analysis.
    fn half_width(&self, scale: ResponseScale) -> Option<f64> {
        let interval = self.interval?;
        let width = scale.from_percent(interval.high) - scale.from_percent(interval.low);
        // A ratio that rounds to −100 % has no logarithm.
        Some(width / 2.0).filter(|half| half.is_finite())
    }

    /// The size of the estimate on the scale of the analysis. On this scale, halving and doubling have the same size.
    fn size(&self, scale: ResponseScale) -> f64 {
        self.change.map_or(0.0, |change| scale.from_percent(change).abs())
    }
}

/// A factor with its largest effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankedFactor {
    /// The factor, as an index.
    pub factor: usize,
    /// The main effect of the level with the largest effect.
    pub largest: Effect,
    /// Half the width of the widest interval of its levels, on the scale of the analysis (logarithms of ratios). `None` if one of
    /// them is unavailable.
    pub widest: Option<f64>,
}

/// A case with its difference from the base case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseSummary {
    /// The number of the case, counted from 1.
    pub case: u32,
    /// Number of its trials.
    pub trials: usize,
    /// The mean over the trials: for ratios the geometric mean. `None` without trials.
    pub value: Option<f64>,
    /// 95 % interval of the mean, which includes the variation between blocks. `None` for fewer than two trials.
    pub interval: Option<EffectInterval>,
    /// The change from the base case; `None` for the base case itself. These effects are adjusted among each other.
    pub change: Option<Effect>,
}

/// The effects on one response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExperimentAnalysis {
    /// How values are compared.
    pub scale: ResponseScale,
    /// Number of blocks with at least one value.
    pub blocks: usize,
    /// Number of cells, each a block and a case, without a usable value.
    pub missing: usize,
    /// Number of values that were not usable: values of 0 or below cannot be compared by ratios.
    pub unusable: usize,
    /// Confidence of the intervals of the effects. At this level, an effect is detected exactly if its interval does
    /// not contain the value of no effect.
    pub confidence: f64,
    /// Main effects, followed by interactions.
    pub effects: Vec<Effect>,
    /// Number of interactions that were not estimated, because there are too many.
    pub interactions_omitted: usize,
    /// The factors by their largest effect: first by the lower bound of its size, then by its estimate.
    pub factors: Vec<RankedFactor>,
    /// Confidence of the intervals of the changes of cases.
    pub cases_confidence: f64,
    /// The cases.
    pub cases: Vec<CaseSummary>,
}

/// Estimates the effects on one response.
///
/// Every effect is formed within blocks, so that differences between blocks (arrivals, the time of day) cancel out, and its
/// interval comes from the variation over the blocks. All effects of a response are one family for Holm's correction.
#[must_use]
pub fn analyse(cases: &CaseSet, table: &ResponseTable, settings: AnalysisSettings) -> ExperimentAnalysis {
    let scale = table.scale();
    let (differences, interactions_omitted) = design_effects(cases, table);
    let (effects, confidence) = effects_of(&differences, scale, settings.error);
    let (changes, cases_confidence) = effects_of(&case_differences(cases, table), scale, settings.error);
    ExperimentAnalysis {
        scale,
        blocks: table.blocks(),
        missing: table.missing(),
        unusable: table.unusable(),
        confidence,
        factors: ranked_factors(&effects, scale),
        effects,
        interactions_omitted,
        cases_confidence,
        cases: case_summaries(table, changes),
    }
}

/// The effects with adjusted p values, and the confidence of their intervals.
fn effects_of(all: &[EffectDifferences], scale: ResponseScale, error: f64) -> (Vec<Effect>, f64) {
    let contrasts: Vec<Option<BlockContrast>> =
        all.iter().map(|effect| BlockContrast::of(&effect.differences)).collect();
    let p_values: Vec<f64> = contrasts.iter().flatten().map(BlockContrast::p_value).collect();
    let corrected = holm(&p_values, error);
    let mut adjusted = corrected.adjusted.iter().copied();
    let mut shifts = BTreeMap::new();
    let effects = all.iter().zip(&contrasts).map(|(effect, contrast)| {
        let p_adjusted = contrast.and_then(|_| adjusted.next());
        let smallest = contrast.and_then(|contrast| {
            let blocks = contrast.blocks();
            let shift = *shifts.entry(blocks).or_insert_with(|| smallest_shift(blocks, corrected.confidence));
            effect_of_shift(scale, blocks, contrast.sd(), shift?)
        });
        let found = effect_of(effect, *contrast, scale, corrected.confidence);
        Effect { p_adjusted, is_detected: p_adjusted.is_some_and(|p| p <= error), smallest, ..found }
    });
    (effects.collect(), corrected.confidence)
}

/// The effect before the correction for the number of effects.
fn effect_of(
    effect: &EffectDifferences,
    contrast: Option<BlockContrast>,
    scale: ResponseScale,
    confidence: f64,
) -> Effect {
    let blocks = effect.differences.len();
    let mean = (blocks > 0).then(|| effect.differences.iter().sum::<f64>() / blocks as f64);
    let interval = contrast.and_then(|contrast| {
        let half = contrast.half_width(confidence);
        EffectInterval::of(scale.percent(contrast.mean() - half), scale.percent(contrast.mean() + half))
            .filter(|_| half.is_finite())
    });
    Effect {
        kind: effect.kind,
        blocks,
        change: mean.map(|mean| scale.percent(mean)).filter(|change| change.is_finite()),
        interval,
        p: contrast.map(|contrast| contrast.p_value()),
        p_adjusted: None,
        is_detected: false,
        smallest: None,
    }
}

fn ranked_factors(effects: &[Effect], scale: ResponseScale) -> Vec<RankedFactor> {
    let order = |one: &Effect, other: &Effect| {
        (one.at_least(scale).total_cmp(&other.at_least(scale)))
            .then(one.size(scale).total_cmp(&other.size(scale)))
    };
    let mut ranked: Vec<RankedFactor> = Vec::new();
    for effect in effects {
        let EffectKind::Main { factor, .. } = effect.kind else { continue };
        let half_width = effect.half_width(scale);
        // The effects of the levels of one factor are adjacent.
        let Some(known) = ranked.last_mut().filter(|last| last.factor == factor) else {
            ranked.push(RankedFactor { factor, largest: effect.clone(), widest: half_width });
            continue;
        };
        known.widest = known.widest.zip(half_width).map(|(one, other)| one.max(other));
        if order(effect, &known.largest).is_gt() {
            known.largest = effect.clone();
        }
    }
    ranked.sort_by(|one, other| order(&other.largest, &one.largest));
    ranked
}

fn case_summaries(table: &ResponseTable, changes: Vec<Effect>) -> Vec<CaseSummary> {
    let scale = table.scale();
    std::iter::once(None)
        .chain(changes.into_iter().map(Some))
        .zip(1..)
        .map(|(change, case)| {
            let values: Vec<f64> = table.case_values(case).collect();
            let trials = values.len();
            let mean = (trials > 0).then(|| values.iter().sum::<f64>() / trials as f64);
            let interval = BlockContrast::of(&values).and_then(|found| {
                // Identical values give an interval of width 0, because each of them was measured.
                let half = t_quantile(trials, 0.95) * found.sd() / (trials as f64).sqrt();
                EffectInterval::of(
                    scale.from_scale(found.mean() - half),
                    scale.from_scale(found.mean() + half),
                )
            });
            CaseSummary { case, trials, value: mean.map(|mean| scale.from_scale(mean)), interval, change }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::design::{CaseSet, DesignFactor, DesignKind};
    use crate::effects::table::TrialValue;

    pub(in crate::effects) fn factors(levels: &[(&str, &[&str])]) -> Vec<DesignFactor> {
        levels
            .iter()
            .map(|(name, levels)| DesignFactor {
                name: (*name).to_owned(),
                levels: levels.iter().map(|level| (*level).to_owned()).collect(),
                base: 0,
            })
            .collect()
    }

    /// A table in which the value of a case is a function of its levels, with a deterministic variation.
    fn table(cases: &CaseSet, blocks: u32, value: impl Fn(usize, usize) -> f64) -> ResponseTable {
        let values = (1..=blocks).flat_map(|block| {
            let value = &value;
            cases.cases().iter().map(move |case| {
                let level =
                    |factor| if factor < cases.factors().len() { cases.level(case, factor) } else { 0 };
                let wave = f64::from((block * 7 + case.number * 5) % 11) / 11.0 - 0.5;
                let block_factor = 1.0 + f64::from(block);
                let value = value(level(0), level(1)) * block_factor * (0.02 * wave).exp();
                TrialValue { block, case: case.number, value }
            })
        });
        ResponseTable::new(cases.count(), ResponseScale::Ratio, values).unwrap()
    }

    #[test]
    fn main_effects_and_interactions_of_a_factorial_are_found() {
        let factors = factors(&[("a", &["0", "1"]), ("b", &["0", "1", "2"])]);
        let cases = CaseSet::new(DesignKind::FullFactorial, factors, 100).unwrap();
        // a doubles the time, except with b = 2, where it has no effect.
        let table = table(&cases, 6, |a, b| if a == 1 && b != 2 { 200.0 } else { 100.0 });
        let analysis = analyse(&cases, &table, AnalysisSettings::default());
        let change = |at: usize| analysis.effects[at].change.unwrap();
        assert_eq!(analysis.effects[0].kind, EffectKind::Main { factor: 0, level: 1 });
        // The mean of the ratios 2, 2 and 1.
        assert!((change(0) - 100.0 * (4.0_f64.cbrt() - 1.0)).abs() < 2.0, "{}", change(0));
        let b2 = &analysis.effects[2];
        assert_eq!(b2.kind, EffectKind::Main { factor: 1, level: 2 });
        assert!((change(2) + 29.3).abs() < 1.0, "{b2:?}");
        let interactions = &analysis.effects[3..];
        assert_eq!(interactions.len(), 2);
        assert!(!interactions[0].is_detected && interactions[1].is_detected, "{interactions:?}");
        assert!((change(4) + 50.0).abs() < 1.0, "{interactions:?}");
        assert_eq!(analysis.factors.iter().map(|ranked| ranked.factor).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(analysis.factors[1].largest.kind, EffectKind::Main { factor: 1, level: 2 });
        for effect in &analysis.effects {
            let interval = effect.interval.unwrap();
            assert_eq!(effect.is_detected, interval.low > 0.0 || interval.high < 0.0, "{effect:?}");
        }
    }

    #[test]
    fn cases_have_values_and_changes() {
        let cases = CaseSet::new(DesignKind::Paired, factors(&[("a", &["0", "1"])]), 100).unwrap();
        let table = table(&cases, 5, |a, _| if a == 1 { 132.9 } else { 100.0 });
        let analysis = analyse(&cases, &table, AnalysisSettings::default());
        let changed = &analysis.cases[1];
        assert_eq!((analysis.cases[0].change.is_none(), changed.trials), (true, 5));
        let change = changed.change.clone().unwrap();
        assert!((change.change.unwrap() - 32.9).abs() < 2.0 && change.is_detected, "{change:?}");
        // The interval of a case contains the differences between blocks, that of the change does not.
        let (wide, narrow) = (changed.interval.unwrap(), change.interval.unwrap());
        assert!(wide.high / wide.low > 2.0 && (100.0 + narrow.high) / (100.0 + narrow.low) < 1.1);
    }

    #[test]
    fn a_missing_trial_removes_only_the_effects_of_its_block() {
        let factors = factors(&[("a", &["0", "1", "2"])]);
        let cases = CaseSet::new(DesignKind::OneAtATime, factors, 100).unwrap();
        let values = (1..=4).flat_map(|block| {
            (1..=3).filter(move |case| (block, *case) != (2, 3)).map(move |case| TrialValue {
                block,
                case,
                value: f64::from(case) + 0.01 * f64::from(block * case),
            })
        });
        let table = ResponseTable::new(3, ResponseScale::Ratio, values).unwrap();
        let analysis = analyse(&cases, &table, AnalysisSettings::default());
        assert_eq!(analysis.effects.iter().map(|effect| effect.blocks).collect::<Vec<_>>(), [4, 3]);
        assert_eq!(analysis.missing, 1);
    }

    #[test]
    fn without_values_everything_is_unavailable() {
        let cases = CaseSet::new(DesignKind::Paired, factors(&[("a", &["0", "1"])]), 100).unwrap();
        for values in [vec![], vec![TrialValue { block: 1, case: 1, value: 0.0 }]] {
            let table = ResponseTable::new(2, ResponseScale::Ratio, values).unwrap();
            let analysis = analyse(&cases, &table, AnalysisSettings::default());
            let effect = &analysis.effects[0];
            assert_eq!((effect.change, effect.interval, effect.p, effect.smallest), (None, None, None, None));
            assert!(!effect.is_detected && analysis.cases[0].value.is_none());
        }
    }

    #[test]
    fn designs_with_many_interactions_have_main_effects_only() {
        let names: Vec<String> = (0..11).map(|factor| format!("f{factor}")).collect();
        let levels: Vec<(&str, &[&str])> =
            names.iter().map(|name| (name.as_str(), &["0", "1"] as &[&str])).collect();
        let cases = CaseSet::new(DesignKind::FullFactorial, factors(&levels), 10_000).unwrap();
        let table = table(&cases, 2, |_, _| 1.0);
        let analysis = analyse(&cases, &table, AnalysisSettings::default());
        assert_eq!((analysis.effects.len(), analysis.interactions_omitted), (11, 55));
    }
    proptest! {
        #[test]
        fn all_values_are_finite_and_decisions_agree_with_intervals(
            values in prop::collection::vec(prop_oneof![
                4 => 1.0..1.5_f64,
                1 => prop::num::f64::ANY,
                1 => Just(0.0),
            ], 24),
            is_ratio in any::<bool>(),
        ) {
            let factors = factors(&[("a", &["0", "1"]), ("b", &["0", "1", "2"])]);
            let cases = CaseSet::new(DesignKind::FullFactorial, factors, 100).unwrap();
            let scale = if is_ratio { ResponseScale::Ratio } else { ResponseScale::Difference };
            let trials = values.iter().zip(0..).map(|(value, at)| TrialValue {
                block: at / 6 + 1,
                case: at % 6 + 1,
                value: *value,
            });
            let table = ResponseTable::new(6, scale, trials).unwrap();
            let analysis = analyse(&cases, &table, AnalysisSettings::default());
            let text = serde_json::to_string(&analysis).unwrap();
            prop_assert_eq!(serde_json::from_str::<ExperimentAnalysis>(&text).unwrap(), analysis.clone());
            for effect in &analysis.effects {
                if let Some(interval) = effect.interval {
                    let excludes = interval.low > 0.0 || interval.high < 0.0;
                    // At the boundary, the decision and the interval may differ by rounding.
                    let is_near = effect.p.is_some_and(|p| (p / (1.0 - analysis.confidence) - 1.0).abs() < 1e-6);
                    prop_assert!(is_near || effect.is_detected == excludes, "{effect:?}");
                }
            }
        }
    }
}
