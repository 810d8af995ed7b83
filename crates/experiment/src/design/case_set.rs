//! The cases of an experiment: the combinations of levels that are compared.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How cases are formed from factors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DesignKind {
    /// All combinations of levels.
    #[default]
    FullFactorial,
    /// The base case, and one case for every other level of every factor.
    OneAtATime,
    /// The two levels of a single factor.
    Paired,
}

/// A factor with the names of its levels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesignFactor {
    /// The name.
    pub name: String,
    /// The names of the levels.
    pub levels: Vec<String>,
    /// The level of the base case, as an index.
    pub base: usize,
}

/// A case. It is identified by its number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// The number, counted from 1. The base case has the number 1.
    pub number: u32,
    /// The factors that are not at their base level, with the level, as indices in ascending order.
    pub changed: Vec<(usize, usize)>,
}

/// The factors and cases of an experiment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseSet {
    kind: DesignKind,
    factors: Vec<DesignFactor>,
    cases: Vec<Case>,
}

/// Why there are no cases.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CasesError {
    /// There is no factor.
    #[error("the experiment has no factors")]
    NoFactors,
    /// A factor has fewer than two levels.
    #[error("the factor {0:?} has fewer than two levels")]
    FewLevels(String),
    /// The base level of a factor does not exist.
    #[error("the base level of the factor {0:?} does not exist")]
    NoBase(String),
    /// A paired design has one factor with two levels.
    #[error(
        "a paired design compares the two levels of one factor; this one has {factors} factors and {levels} levels"
    )]
    NotPaired {
        /// The number of factors.
        factors: usize,
        /// The number of levels of all factors.
        levels: usize,
    },
    /// There are too many cases.
    #[error("the design has {cases} cases, more than {limit}")]
    TooMany {
        /// The number of cases, in digits or as a power of ten.
        cases: String,
        /// The largest number.
        limit: u64,
    },
}

impl CaseSet {
    /// Forms the cases of `factors`, at most `limit`.
    ///
    /// # Errors
    /// The factors do not allow the design, or there are more cases than `limit`.
    pub fn new(kind: DesignKind, factors: Vec<DesignFactor>, limit: u64) -> Result<CaseSet, CasesError> {
        check(kind, &factors)?;
        let count = CaseCount::of(kind, factors.iter().map(|factor| factor.levels.len()));
        if !count.is_at_most(limit.min(u64::from(u32::MAX))) {
            return Err(CasesError::TooMany { cases: count.to_string(), limit });
        }
        let changed = match kind {
            DesignKind::FullFactorial | DesignKind::Paired => combinations(&factors),
            DesignKind::OneAtATime => single_changes(&factors),
        };
        let cases = changed.into_iter().zip(1..).map(|(changed, number)| Case { number, changed }).collect();
        Ok(CaseSet { kind, factors, cases })
    }

    /// The design.
    #[must_use]
    pub fn kind(&self) -> DesignKind {
        self.kind
    }

    /// The factors.
    #[must_use]
    pub fn factors(&self) -> &[DesignFactor] {
        &self.factors
    }

    /// The cases, by their number.
    #[must_use]
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// The number of cases.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.cases.len() as u32
    }

    /// The case with a number.
    #[must_use]
    pub fn case(&self, number: u32) -> Option<&Case> {
        self.cases.get((number as usize).checked_sub(1)?)
    }

    /// The level of a factor in a case, as indices.
    #[must_use]
    pub fn level(&self, case: &Case, factor: usize) -> usize {
        match case.changed.binary_search_by_key(&factor, |(factor, _)| *factor) {
            Ok(at) => case.changed[at].1,
            Err(_) => self.factors[factor].base,
        }
    }

    /// The name of a case: its changed factors with their levels, or "base".
    #[must_use]
    pub fn case_name(&self, case: &Case) -> String {
        if case.changed.is_empty() {
            return "base".to_owned();
        }
        let parts: Vec<String> = case
            .changed
            .iter()
            .map(|(factor, level)| {
                let factor = &self.factors[*factor];
                format!("{}={}", factor.name, factor.levels[*level])
            })
            .collect();
        parts.join(", ")
    }
}

fn check(kind: DesignKind, factors: &[DesignFactor]) -> Result<(), CasesError> {
    if factors.is_empty() {
        return Err(CasesError::NoFactors);
    }
    if let Some(factor) = factors.iter().find(|factor| factor.levels.len() < 2) {
        return Err(CasesError::FewLevels(factor.name.clone()));
    }
    if let Some(factor) = factors.iter().find(|factor| factor.base >= factor.levels.len()) {
        return Err(CasesError::NoBase(factor.name.clone()));
    }
    let levels = factors.iter().map(|factor| factor.levels.len()).sum();
    if kind == DesignKind::Paired && (factors.len() != 1 || levels != 2) {
        return Err(CasesError::NotPaired { factors: factors.len(), levels });
    }
    Ok(())
}

/// A number of cases, which may exceed any integer type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CaseCount {
    exact: Option<u64>,
    log10: f64,
}

impl CaseCount {
    /// The number of cases for factors with these numbers of levels.
    pub(crate) fn of(kind: DesignKind, levels: impl Iterator<Item = usize>) -> CaseCount {
        let one = CaseCount { exact: Some(1), log10: 0.0 };
        match kind {
            DesignKind::FullFactorial | DesignKind::Paired => {
                levels.fold(one, |count, levels| count.times(levels as u64))
            }
            DesignKind::OneAtATime => {
                let exact = 1 + levels.map(|levels| levels.saturating_sub(1) as u64).sum::<u64>();
                CaseCount { exact: Some(exact), log10: (exact as f64).log10() }
            }
        }
    }

    /// The number multiplied by another one.
    pub(crate) fn times(self, factor: u64) -> CaseCount {
        CaseCount {
            exact: self.exact.and_then(|exact| exact.checked_mul(factor)),
            log10: self.log10 + (factor as f64).log10(),
        }
    }

    /// The number plus another one.
    pub(crate) fn plus(self, more: u64) -> CaseCount {
        let exact = self.exact.and_then(|exact| exact.checked_add(more));
        CaseCount { exact, log10: exact.map_or(self.log10, |exact| (exact as f64).log10()) }
    }

    pub(crate) fn is_at_most(self, limit: u64) -> bool {
        self.exact.is_some_and(|exact| exact <= limit)
    }
}

impl std::fmt::Display for CaseCount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.exact.filter(|exact| *exact < 1_000_000_000) {
            Some(exact) => write!(f, "{exact}"),
            None => write!(f, "about 10^{:.0}", self.log10),
        }
    }
}

/// All combinations of levels. The base levels come first, and the last factor changes fastest.
fn combinations(factors: &[DesignFactor]) -> Vec<Vec<(usize, usize)>> {
    let mut all = vec![Vec::new()];
    for (at, factor) in factors.iter().enumerate() {
        let changes: Vec<Option<usize>> = std::iter::once(None)
            .chain((0..factor.levels.len()).filter(|level| *level != factor.base).map(Some))
            .collect();
        all = all
            .iter()
            .flat_map(|before| {
                changes.iter().map(move |level| {
                    let mut changed = before.clone();
                    changed.extend(level.map(|level| (at, level)));
                    changed
                })
            })
            .collect();
    }
    all
}

fn single_changes(factors: &[DesignFactor]) -> Vec<Vec<(usize, usize)>> {
    let changes = factors.iter().enumerate().flat_map(|(at, factor)| {
        let others = (0..factor.levels.len()).filter(move |level| *level != factor.base);
        others.map(move |level| vec![(at, level)])
    });
    std::iter::once(Vec::new()).chain(changes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factor(name: &str, levels: usize, base: usize) -> DesignFactor {
        let levels = (0..levels).map(|level| format!("{name}{level}")).collect();
        DesignFactor { name: name.to_owned(), levels, base }
    }

    fn names(kind: DesignKind, factors: Vec<DesignFactor>) -> Vec<String> {
        let set = CaseSet::new(kind, factors, 100).unwrap();
        set.cases().iter().map(|case| set.case_name(case)).collect()
    }

    #[test]
    fn a_full_factorial_contains_every_combination_once() {
        let found = names(DesignKind::FullFactorial, vec![factor("a", 2, 1), factor("b", 3, 0)]);
        assert_eq!(found, ["base", "b=b1", "b=b2", "a=a0", "a=a0, b=b1", "a=a0, b=b2"]);
    }

    #[test]
    fn one_at_a_time_changes_one_factor() {
        let found = names(DesignKind::OneAtATime, vec![factor("a", 2, 0), factor("b", 3, 1)]);
        assert_eq!(found, ["base", "a=a1", "b=b0", "b=b2"]);
    }

    #[test]
    fn levels_of_a_case_are_found() {
        let set =
            CaseSet::new(DesignKind::FullFactorial, vec![factor("a", 2, 1), factor("b", 3, 0)], 6).unwrap();
        let levels: Vec<_> =
            set.cases().iter().map(|case| (set.level(case, 0), set.level(case, 1))).collect();
        assert_eq!(levels, [(1, 0), (1, 1), (1, 2), (0, 0), (0, 1), (0, 2)]);
        assert_eq!((set.case(6).unwrap().number, set.case(0), set.case(7)), (6, None, None));
    }

    #[test]
    fn impossible_designs_are_refused() {
        let error = |kind, factors| CaseSet::new(kind, factors, 1_000).unwrap_err().to_string();
        let full = DesignKind::FullFactorial;
        let texts = [
            error(full, vec![]),
            error(full, vec![factor("a", 1, 0)]),
            error(full, vec![factor("a", 2, 2)]),
            error(DesignKind::Paired, vec![factor("a", 3, 0)]),
            error(full, vec![factor("a", 2, 0); 10]),
            error(full, vec![factor("a", 2, 0); 100_000]),
            error(DesignKind::OneAtATime, vec![factor("a", 2, 0); 1_000]),
        ];
        insta::assert_snapshot!(texts.join("\n"));
    }
}
