//! The values of one response in all trials.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::design::TRIALS_MAX;
use crate::scale::ResponseScale;

/// The value of a response in a finished trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TrialValue {
    /// The block, counted from 1.
    pub block: u32,
    /// The case, counted from 1.
    pub case: u32,
    /// The value.
    pub value: f64,
}

/// The values of one response by block and case.
#[derive(Debug, Clone, PartialEq)]
pub struct ResponseTable {
    scale: ResponseScale,
    cases: usize,
    /// The rows of the blocks, on the scale of the analysis.
    cells: Vec<Option<f64>>,
    unusable: usize,
}

/// Why values do not form a table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// The case does not exist, or the block is that of warm-up trials.
    #[error("there is no case {case} in block {block}")]
    Unknown {
        /// The block.
        block: u32,
        /// The case.
        case: u32,
    },
    /// A case has two values in the same block.
    #[error("the case {case} has two values in block {block}")]
    Repeated {
        /// The block.
        block: u32,
        /// The case.
        case: u32,
    },
    /// The number of blocks times the number of cases is too large.
    #[error("the table has more than {TRIALS_MAX} cells (blocks times cases)")]
    TooLarge,
}

impl ResponseTable {
    /// The table of an experiment with `cases` cases.
    ///
    /// Values that do not exist on the scale are counted and treated as missing: for ratios, values that are not above 0.
    ///
    /// # Errors
    /// A value belongs to no case or repeats another one, or the table is too large.
    pub fn new(
        cases: u32,
        scale: ResponseScale,
        values: impl IntoIterator<Item = TrialValue>,
    ) -> Result<ResponseTable, TableError> {
        let width = cases as usize;
        let mut table = ResponseTable { scale, cases: width, cells: Vec::new(), unusable: 0 };
        let mut rows = HashMap::new();
        let mut is_given = Vec::new();
        for TrialValue { block, case, value } in values {
            if case == 0 || case > cases || block == 0 {
                return Err(TableError::Unknown { block, case });
            }
            let next = rows.len();
            let row = *rows.entry(block).or_insert(next);
            if row == next {
                if (next + 1) * width > TRIALS_MAX as usize {
                    return Err(TableError::TooLarge);
                }
                table.cells.resize((next + 1) * width, None);
                is_given.resize((next + 1) * width, false);
            }
            let at = row * width + case as usize - 1;
            if std::mem::replace(&mut is_given[at], true) {
                return Err(TableError::Repeated { block, case });
            }
            table.cells[at] = scale.to_scale(value);
            table.unusable += usize::from(table.cells[at].is_none());
        }
        Ok(table)
    }

    /// The scale of the response.
    #[must_use]
    pub fn scale(&self) -> ResponseScale {
        self.scale
    }

    /// Number of cases.
    #[must_use]
    pub fn cases(&self) -> usize {
        self.cases
    }

    /// Number of blocks with at least one value.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.cells.len() / self.cases.max(1)
    }

    /// Number of values that do not exist on the scale.
    #[must_use]
    pub fn unusable(&self) -> usize {
        self.unusable
    }

    /// Number of cells, each a block and a case, without a usable value.
    #[must_use]
    pub fn missing(&self) -> usize {
        self.cells.iter().filter(|cell| cell.is_none()).count()
    }

    /// The blocks, each with the values of all cases on the scale of the analysis.
    pub fn rows(&self) -> impl Iterator<Item = &[Option<f64>]> {
        self.cells.chunks_exact(self.cases.max(1))
    }

    /// The values of a case on the scale of the analysis; cases are counted from 1.
    pub fn case_values(&self, case: u32) -> impl Iterator<Item = f64> {
        self.rows().filter_map(move |row| row.get((case as usize).checked_sub(1)?).copied().flatten())
    }

    /// The differences `case` − `base` of all blocks with both values, on the scale of the analysis.
    #[must_use]
    pub fn differences(&self, case: u32, base: u32) -> Vec<f64> {
        let of = |row: &[Option<f64>], case: u32| row.get((case as usize).checked_sub(1)?).copied().flatten();
        self.rows().filter_map(|row| Some(of(row, case)? - of(row, base)?)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(block: u32, case: u32, value: f64) -> TrialValue {
        TrialValue { block, case, value }
    }

    #[test]
    fn differences_are_formed_within_blocks() {
        let values =
            [value(2, 1, 1.0), value(1, 2, 0.3), value(2, 2, 1.5), value(1, 1, 0.1), value(7, 1, 9.0)];
        let table = ResponseTable::new(2, ResponseScale::Difference, values).unwrap();
        assert_eq!(table.differences(2, 1), [0.5, 0.3 - 0.1]);
        assert_eq!((table.blocks(), table.missing(), table.case_values(1).count()), (3, 1, 3));
        assert_eq!(table.differences(0, 1), [0.0; 0]);
    }

    #[test]
    fn values_without_a_logarithm_are_missing() {
        let values = [value(1, 1, 0.0), value(1, 2, f64::NAN), value(2, 1, -1.0), value(2, 2, 1.0)];
        let table = ResponseTable::new(2, ResponseScale::Ratio, values).unwrap();
        assert_eq!((table.unusable(), table.missing()), (3, 3));
    }

    #[test]
    fn values_that_do_not_belong_are_refused() {
        let error = |values: &[TrialValue]| {
            ResponseTable::new(2, ResponseScale::Ratio, values.iter().copied()).unwrap_err()
        };
        assert_eq!(error(&[value(1, 3, 1.0)]), TableError::Unknown { block: 1, case: 3 });
        assert_eq!(error(&[value(0, 1, 1.0)]), TableError::Unknown { block: 0, case: 1 });
        let repeated = error(&[value(1, 1, f64::NAN), value(1, 1, 1.0)]);
        assert_eq!(repeated, TableError::Repeated { block: 1, case: 1 });
        let many: Vec<TrialValue> = (1..=50_001).map(|block| value(block, 1, 1.0)).collect();
        assert_eq!(error(&many), TableError::TooLarge);
    }
}
