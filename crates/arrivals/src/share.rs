//! Shares of a load: parts that several generators run, and that together are the whole.

use std::fmt;

use crate::schedule::Arrival;

/// How the arrivals of a stage are dealt to shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShareRule {
    /// By the arrival's mark, independently of all others: thinning, which leaves a Poisson process Poisson.
    ByMark,
    /// By the arrival's number, in turn: even arrivals stay even.
    ByIndex,
}

/// Why a load cannot be divided so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShareError {
    /// There is no such part.
    #[error("there is no part {part} of {of}: parts count from 0")]
    NoSuchPart {
        /// The part asked for.
        part: u64,
        /// The number of parts.
        of: u64,
    },
    /// Nothing to divide by.
    #[error("a load cannot be divided into parts of no size")]
    NothingToDivide,
    /// Cut points out of order or out of range.
    #[error("cut points must be fractions that ascend between 0 and 1")]
    CutsOutOfOrder,
    /// The common denominator is larger than 2^64.
    #[error("these fractions have no common denominator below 2^64")]
    TooFine,
}

/// A rational part (from, to] of a load.
///
/// Shares come from dividing the whole, and parts of it again; the leaves of any such tree are disjoint and together
/// the whole. A share knows how it was cut, because arrivals that are dealt in turn can only be dealt evenly by those
/// who know the number of players: shares of *different* divisions fit together by mark, but not by index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadShare {
    from: Fraction,
    to: Fraction,
    deals: Vec<Deal>,
}

/// One step from a share to a part of it, for arrivals dealt by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deal {
    /// The `part`-th of each `of`.
    Turn { part: u64, of: u64 },
    /// `weight` of each `total`, as evenly spread as whole numbers can be.
    Weighted { weight: u64, total: u64 },
    /// What a `Weighted` with these numbers leaves.
    Rest { weight: u64, total: u64 },
}

impl Deal {
    /// The arrival's number within the part, if it is dealt to it.
    fn number_within(self, number: u64) -> Option<u64> {
        match self {
            Deal::Turn { part, of } => (number % of == part).then_some(number / of),
            Deal::Weighted { weight, total } => {
                let before = dealt_before(number, weight, total);
                (dealt_before(number.checked_add(1)?, weight, total) > before).then_some(before)
            }
            Deal::Rest { weight, total } => {
                let before = dealt_before(number, weight, total);
                (dealt_before(number.checked_add(1)?, weight, total) == before).then_some(number - before)
            }
        }
    }
}

/// How many of the first `number` go to `weight` of `total`: ⌈number · weight / total⌉, which spreads them as a
/// balanced (Sturmian) word.
fn dealt_before(number: u64, weight: u64, total: u64) -> u64 {
    let total = u128::from(total.max(1));
    (u128::from(number) * u128::from(weight)).div_ceil(total) as u64
}

impl LoadShare {
    /// All of it.
    pub const WHOLE: LoadShare =
        LoadShare { from: Fraction { numerator: 0, denominator: 1 }, to: Fraction::ONE, deals: Vec::new() };

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
            share.deals.push(Deal::Turn { part, of });
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
        // One part after another takes its evenly spread due of what the parts before it left.
        let mut rest = self.deals.clone();
        let mut passed = 0;
        let mut shares = Vec::with_capacity(weights.len());
        for &weight in weights {
            let left = total - passed;
            let mut deals = rest.clone();
            deals.push(Deal::Weighted { weight, total: left });
            rest.push(Deal::Rest { weight, total: left });
            let from = self.point(passed, total)?;
            passed += weight;
            shares.push(LoadShare { from, to: self.point(passed, total)?, deals });
        }
        Ok(shares)
    }

    /// The whole, cut at these fractions (numerator, denominator), which ascend strictly between 0 and 1: one share
    /// more than there are cuts.
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

    /// Whether the arrival, of a stage with this rule, is this share's.
    pub fn takes(&self, arrival: &Arrival, rule: ShareRule) -> bool {
        match rule {
            ShareRule::ByMark => {
                let mark = u128::from(arrival.mark);
                self.from.of_marks() <= mark && mark < self.to.of_marks()
            }
            ShareRule::ByIndex => {
                self.from != self.to
                    && self.deals.iter().try_fold(arrival.index, |n, deal| deal.number_within(n)).is_some()
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
        // The ends stay the very fractions they are, so that a part's marks never leave its parent's.
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

    /// How many marks lie below: ⌊fraction · 2^64⌋.
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
