//! Which part of a loss treatments recover: the cases that are compared.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::factor::Factor;
use crate::design::CaseSet;

/// A case: the levels of factors, by the names of the factors. Other factors have their base level.
pub type CaseLevels = BTreeMap<String, String>;

/// The cases for which the recovered part of a loss is computed: (treated − with) / (without − with).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RecoveryPlan {
    /// The case without the loss.
    pub without: CaseLevels,
    /// The case with the loss.
    pub with: CaseLevels,
    /// The cases with the loss and a treatment.
    pub treated: Vec<CaseLevels>,
}

/// The numbers of the cases of a recovery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoveryCases {
    /// The case without the loss.
    pub without: u32,
    /// The case with the loss.
    pub with: u32,
    /// The treated cases.
    pub treated: Vec<u32>,
}

impl RecoveryPlan {
    /// The numbers of the cases. Treated cases that the design does not contain are omitted; `None` if one of the others is
    /// missing, or all treated ones are.
    #[must_use]
    pub fn cases(&self, cases: &CaseSet) -> Option<RecoveryCases> {
        let treated: Vec<u32> = self.treated.iter().filter_map(|levels| case_number(cases, levels)).collect();
        let (without, with) = (case_number(cases, &self.without)?, case_number(cases, &self.with)?);
        (!treated.is_empty()).then_some(RecoveryCases { without, with, treated })
    }

    /// All cases, with the key of the file and the index within it.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'static str, Option<usize>, &CaseLevels)> {
        let treated = self.treated.iter().enumerate().map(|(at, levels)| ("treated", Some(at), levels));
        [("without", None, &self.without), ("with", None, &self.with)].into_iter().chain(treated)
    }
}

/// The number of the case with these levels.
pub(super) fn case_number(cases: &CaseSet, levels: &CaseLevels) -> Option<u32> {
    let factors = cases.factors();
    let wanted = |at: usize| match levels.get(&factors[at].name) {
        Some(name) => factors[at].levels.iter().position(|level| level == name),
        None => Some(factors[at].base),
    };
    let wanted: Option<Vec<usize>> = (0..factors.len()).map(wanted).collect();
    let wanted = wanted?;
    let known = levels.keys().all(|name| factors.iter().any(|factor| factor.name == *name));
    let is_wanted = |case: &&crate::design::Case| {
        wanted.iter().enumerate().all(|(at, level)| cases.level(case, at) == *level)
    };
    cases.cases().iter().find(is_wanted).filter(|_| known).map(|case| case.number)
}

/// The factor or level that does not exist, for messages.
pub(super) fn unknown_part(factors: &[Factor], levels: &CaseLevels) -> Option<String> {
    levels.iter().find_map(|(name, level)| match factors.iter().find(|factor| factor.name == *name) {
        None => Some(format!("there is no factor {name:?}")),
        Some(factor) if factor.levels.iter().all(|known| known.name != *level) => {
            Some(format!("the factor {name:?} has no level {level:?}"))
        }
        Some(_) => None,
    })
}
