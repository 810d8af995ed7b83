//! Divides a load into shares for several generators.

use std::fmt;

use crate::arrival::Arrival;

/// The rule by which the arrivals of a stage are divided into shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShareRule {
    /// By the arrival's mark, independently of other arrivals: thinning, which preserves Poisson processes.
    ByMark,
    /// By the arrival's number, in turn, which preserves even arrivals.
    ByIndex,
}

/// Why a load cannot be divided.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShareError {
    /// The part does not exist.
    #[error("there is no part {part} of {of}: parts are numbered from 0")]
    NoSuchPart {
        /// The requested part.
        part: u64,
        /// The number of parts.
        of: u64,
    },
    /// All weights are 0.
    #[error("a load cannot be divided into parts of size 0")]
    NothingToDivide,
    /// Cut points out of order or out of range.
    #[error("cut points must be increasing fractions between 0 and 1")]
    CutsOutOfOrder,
    /// The common denominator is larger than 2^64.
    #[error("these fractions have no common denominator below 2^64")]
    TooFine,
}

/// A rational part (from, to] of a load.
///
/// Shares result from dividing the whole load, and shares of it, repeatedly. The leaves of the resulting tree are disjoint and
/// together the whole load. A share stores how it was divided, because assigning arrivals in turn requires the number of parts.
/// Therefore shares of *different* divisions complement each other by mark, but not by index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadShare {
    from: Fraction,
    to: Fraction,
    steps: Vec<DivisionStep>,
}

/// One division of a share, for arrivals that are assigned by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DivisionStep {
    /// The `part`-th of every `of` arrivals.
    Turn { part: u64, of: u64 },
    /// `weight` of every `total` arrivals, spread as evenly as possible.
    Weighted { weight: u64, total: u64 },
    /// The complement of `Weighted` with these numbers.
    Rest { weight: u64, total: u64 },
}

impl DivisionStep {
    /// The arrival's number within the part, if it is assigned to the part.
    fn number_within(self, number: u64) -> Option<u64> {
        match self {
            DivisionStep::Turn { part, of } => (number % of == part).then_some(number / of),
            DivisionStep::Weighted { weight, total } => {
                let before = assigned_before(number, weight, total);
                (assigned_before(number.checked_add(1)?, weight, total) > before).then_some(before)
            }
            DivisionStep::Rest { weight, total } => {
                let before = assigned_before(number, weight, total);
                (assigned_before(number.checked_add(1)?, weight, total) == before).then_some(number - before)
            }
        }
    }
}

/// How many of the first `number` arrivals are assigned to a part of `weight` of `total`: ⌈number · weight / total⌉, which
/// distributes them as a balanced (Sturmian) word.
fn assigned_before(number: u64, weight: u64, total: u64) -> u64 {
    let total = u128::from(total.max(1));
    (u128::from(number) * u128::from(weight)).div_ceil(total) as u64
}

impl LoadShare {
    /// The whole load.
    pub const WHOLE: LoadShare =
        LoadShare { from: Fraction { numerator: 0, denominator: 1 }, to: Fraction::ONE, steps: Vec::new() };

    /// The `part`-th, from 0, of `of` equal parts of the whole.
    pub fn part(part: u64, of: u64) -> Result<LoadShare, ShareError> {
        LoadShare::WHOLE.part_of(part, of)
    }

    /// The `part`-th, from 0, of `of` equal parts of this share.
    pub fn part_of(&self, part: u64, of: u64) -> Result<LoadShare, ShareError> {
        if part >= of {
            return Err(ShareError::NoSuchPart { part, of });
        }
        let mut share = self.clone();
        share.from = self.point(part, of)?;
        share.to = self.point(part + 1, of)?;
        if of > 1 {
            share.steps.push(DivisionStep::Turn { part, of });
        }
        Ok(share)
    }

    /// Parts of this share with sizes proportional to `weights`, in their order. A part of weight 0 is empty.
    pub fn divide(&self, weights: &[u64]) -> Result<Vec<LoadShare>, ShareError> {
        let mut total = 0_u64;
        for weight in weights {
            total = total.checked_add(*weight).ok_or(ShareError::TooFine)?;
        }
        if total == 0 {
            return Err(ShareError::NothingToDivide);
        }
        if weights.iter().all(|weight| *weight == weights[0]) {
            let of = weights.len() as u64;
            return (0..of).map(|part| self.part_of(part, of)).collect();
        }
        // Each part takes its evenly distributed share of the arrivals that the preceding parts left.
        let mut rest = self.steps.clone();
        let mut passed = 0;
        let mut shares = Vec::with_capacity(weights.len());
        for &weight in weights {
            let left = total - passed;
            let mut steps = rest.clone();
            steps.push(DivisionStep::Weighted { weight, total: left });
            rest.push(DivisionStep::Rest { weight, total: left });
            let from = self.point(passed, total)?;
            passed += weight;
            shares.push(LoadShare { from, to: self.point(passed, total)?, steps });
        }
        Ok(shares)
    }

    /// Divides the whole load at these fractions (numerator, denominator), which must increase strictly between 0 and 1. Returns one
    /// share more than there are fractions.
    pub fn cut(points: &[(u64, u64)]) -> Result<Vec<LoadShare>, ShareError> {
        let mut common = 1_u64;
        for &(_, denominator) in points {
            if denominator == 0 {
                return Err(ShareError::CutsOutOfOrder);
            }
            let factor = denominator / greatest_common_divisor(common, denominator);
            common = common.checked_mul(factor).ok_or(ShareError::TooFine)?;
        }
        let mut weights = Vec::with_capacity(points.len() + 1);
        let mut last = 0;
        for &(numerator, denominator) in points {
            let point = numerator.checked_mul(common / denominator).ok_or(ShareError::CutsOutOfOrder)?;
            if point <= last || point >= common {
                return Err(ShareError::CutsOutOfOrder);
            }
            weights.push(point - last);
            last = point;
        }
        weights.push(common - last);
        LoadShare::WHOLE.divide(&weights)
    }

    /// Whether the share contains an arrival of a stage with this rule.
    pub fn contains(&self, arrival: &Arrival, rule: ShareRule) -> bool {
        match rule {
            ShareRule::ByMark => {
                let mark = u128::from(arrival.mark);
                self.from.of_marks() <= mark && mark < self.to.of_marks()
            }
            ShareRule::ByIndex => {
                self.from != self.to
                    && self.steps.iter().try_fold(arrival.index, |n, step| step.number_within(n)).is_some()
            }
        }
    }

    /// Lower end as (numerator, denominator), in lowest terms.
    pub fn lower(&self) -> (u64, u64) {
        (self.from.numerator, self.from.denominator)
    }

    /// Upper end as (numerator, denominator), in lowest terms.
    pub fn upper(&self) -> (u64, u64) {
        (self.to.numerator, self.to.denominator)
    }

    /// The size of the share: 1 for the whole.
    pub fn size(&self) -> f64 {
        self.to.value() - self.from.value()
    }

    /// from + (to − from) · numerator / denominator.
    fn point(&self, numerator: u64, denominator: u64) -> Result<Fraction, ShareError> {
        // The ends are not recomputed, so that the marks of a part are always among those of its parent.
        if numerator == 0 {
            return Ok(self.from);
        }
        if numerator == denominator {
            return Ok(self.to);
        }
        self.from.between(self.to, numerator, denominator).ok_or(ShareError::TooFine)
    }
}

/// As (from, to].
impl fmt::Display for LoadShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {}]", self.from, self.to)
    }
}

/// A fraction in [0, 1], in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fraction {
    numerator: u64,
    denominator: u64,
}

impl Fraction {
    const ONE: Fraction = Fraction { numerator: 1, denominator: 1 };

    fn value(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// The number of marks below the fraction: ⌊fraction · 2^64⌋.
    fn of_marks(self) -> u128 {
        (u128::from(self.numerator) << 64) / u128::from(self.denominator)
    }

    fn between(self, to: Fraction, numerator: u64, denominator: u64) -> Option<Fraction> {
        let common = u128::from(self.denominator).checked_mul(u128::from(to.denominator))?;
        let from = u128::from(self.numerator) * u128::from(to.denominator);
        let width = u128::from(to.numerator) * u128::from(self.denominator) - from;
        let (from, width, common) = lowest_terms(from, width, common);
        let top = from
            .checked_mul(u128::from(denominator))?
            .checked_add(width.checked_mul(u128::from(numerator))?)?;
        let bottom = common.checked_mul(u128::from(denominator))?;
        let (top, _, bottom) = lowest_terms(top, 0, bottom);
        Some(Fraction { numerator: u64::try_from(top).ok()?, denominator: u64::try_from(bottom).ok()? })
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.denominator {
            1 => write!(f, "{}", self.numerator),
            _ => write!(f, "{}/{}", self.numerator, self.denominator),
        }
    }
}

fn greatest_common_divisor<T>(mut a: T, mut b: T) -> T
where
    T: Copy + Default + PartialEq + std::ops::Rem<Output = T>,
{
    while b != T::default() {
        (a, b) = (b, a % b);
    }
    a
}

fn lowest_terms(a: u128, b: u128, c: u128) -> (u128, u128, u128) {
    let divisor = greatest_common_divisor(greatest_common_divisor(a, b), c).max(1);
    (a / divisor, b / divisor, c / divisor)
}
