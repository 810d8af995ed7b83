//! The effects of a design, each as one difference per block.

use serde::{Deserialize, Serialize};

use super::table::ResponseTable;
use crate::design::{CaseSet, DesignKind};

/// Largest number of interactions. Designs with more have only main effects, because every further test widens the intervals of
/// all others.
pub const INTERACTIONS_MAX: usize = 50;

/// The level, interaction or case that has an effect. Factors and levels are indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum EffectKind {
    /// A level of a factor instead of its base level. In a full factorial, it is averaged over the levels of all other factors,
    /// otherwise the others have their base level.
    Main {
        /// The factor.
        factor: usize,
        /// The level.
        level: usize,
    },
    /// The change of the effect of a level by a level of another factor, averaged over the remaining factors.
    Interaction {
        /// The two factors.
        factors: [usize; 2],
        /// Their levels.
        levels: [usize; 2],
    },
    /// A case instead of the base case.
    Case {
        /// The number of the case, counted from 1.
        case: u32,
    },
}

/// The differences of an effect, one for each block that has all values of the effect.
pub(super) struct EffectDifferences {
    pub(super) kind: EffectKind,
    pub(super) differences: Vec<f64>,
}

/// The main effects and interactions of a design, and the number of interactions that were omitted.
pub(super) fn design_effects(cases: &CaseSet, table: &ResponseTable) -> (Vec<EffectDifferences>, usize) {
    match cases.kind() {
        DesignKind::OneAtATime | DesignKind::Paired => (single_changes(cases, table), 0),
        DesignKind::FullFactorial => {
            let mut effects = main_effects(cases, table);
            let interactions = interactions_count(cases);
            if interactions > INTERACTIONS_MAX {
                return (effects, interactions);
            }
            effects.extend(pairs(cases.factors().len()).flat_map(|pair| interactions_of(cases, table, pair)));
            (effects, 0)
        }
    }
}

/// Number of interactions of two factors in a full factorial.
pub(super) fn interactions_count(cases: &CaseSet) -> usize {
    let levels = || cases.factors().iter().map(|factor| factor.levels.len() - 1);
    let (total, squares) = (levels().sum::<usize>(), levels().map(|levels| levels * levels).sum::<usize>());
    (total * total - squares) / 2
}

/// The difference of every case from the base case.
pub(super) fn case_differences(cases: &CaseSet, table: &ResponseTable) -> Vec<EffectDifferences> {
    (2..=cases.count())
        .map(|case| EffectDifferences {
            kind: EffectKind::Case { case },
            differences: table.differences(case, 1),
        })
        .collect()
}

fn single_changes(cases: &CaseSet, table: &ResponseTable) -> Vec<EffectDifferences> {
    let changes = cases.cases().iter().filter_map(|case| Some((case.number, *case.changed.first()?)));
    changes
        .map(|(case, (factor, level))| EffectDifferences {
            kind: EffectKind::Main { factor, level },
            differences: table.differences(case, 1),
        })
        .collect()
}

fn pairs(count: usize) -> impl Iterator<Item = [usize; 2]> {
    (0..count).flat_map(move |first| (first + 1..count).map(move |second| [first, second]))
}

fn main_effects(cases: &CaseSet, table: &ResponseTable) -> Vec<EffectDifferences> {
    let mut effects = Vec::new();
    for (at, factor) in cases.factors().iter().enumerate() {
        let level_of: Vec<usize> = cases.cases().iter().map(|case| cases.level(case, at)).collect();
        let count = factor.levels.len();
        let means: Vec<Vec<Option<f64>>> =
            table.rows().map(|row| group_means(row, &level_of, count)).collect();
        for level in (0..count).filter(|level| *level != factor.base) {
            let differences = means.iter().filter_map(|means| Some(means[level]? - means[factor.base]?));
            effects.push(EffectDifferences {
                kind: EffectKind::Main { factor: at, level },
                differences: differences.collect(),
            });
        }
    }
    effects
}

fn interactions_of(cases: &CaseSet, table: &ResponseTable, pair: [usize; 2]) -> Vec<EffectDifferences> {
    let [first, second] = pair.map(|at| &cases.factors()[at]);
    let width = second.levels.len();
    let group_of: Vec<usize> = cases
        .cases()
        .iter()
        .map(|case| cases.level(case, pair[0]) * width + cases.level(case, pair[1]))
        .collect();
    let means: Vec<Vec<Option<f64>>> =
        table.rows().map(|row| group_means(row, &group_of, first.levels.len() * width)).collect();
    let mut effects = Vec::new();
    for one in (0..first.levels.len()).filter(|level| *level != first.base) {
        for two in (0..width).filter(|level| *level != second.base) {
            let of = |means: &[Option<f64>], one: usize, two: usize| means[one * width + two];
            let differences = means.iter().filter_map(|means| {
                let changed = of(means, one, two)? - of(means, one, second.base)?;
                let unchanged = of(means, first.base, two)? - of(means, first.base, second.base)?;
                Some(changed - unchanged)
            });
            effects.push(EffectDifferences {
                kind: EffectKind::Interaction { factors: pair, levels: [one, two] },
                differences: differences.collect(),
            });
        }
    }
    effects
}

/// The mean of each group of cases in a block; `None` for a group with a missing value, because a mean of the others would also
/// contain the effects of other factors.
fn group_means(row: &[Option<f64>], group_of: &[usize], groups: usize) -> Vec<Option<f64>> {
    let mut sums = vec![(0_u32, Some(0.0)); groups];
    for (value, group) in row.iter().zip(group_of) {
        let (count, sum) = &mut sums[*group];
        *count += 1;
        *sum = sum.zip(*value).map(|(sum, value)| sum + value);
    }
    sums.into_iter().map(|(count, sum)| sum.map(|sum| sum / f64::from(count))).collect()
}
