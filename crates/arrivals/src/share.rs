//! Divides a load into shares for several generators.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::arrival::Arrival;
use crate::division::Division;
use crate::fraction::{Fraction, greatest_common_divisor};

/// The rule by which the arrivals of a stage are divided into shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShareRule {
    /// By the arrival's random number ([`Arrival::mark`]), independently of other arrivals. Each share of a Poisson process is a
    /// Poisson process.
    ByMark,
    /// By the arrival's number ([`Arrival::index`]): the shares take arrivals in turn. Equal shares of even arrivals are even.
    ByIndex,
}

/// The error if a load cannot be divided, or a text is not a valid share.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShareError {
    /// There is no part with this number.
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
    /// Cut points are out of order or out of range.
    #[error("cut points must be increasing fractions between 0 and 1")]
    CutsOutOfOrder,
    /// The common denominator is larger than 2^64.
    #[error("these fractions have no common denominator below 2^64")]
    TooFine,
    /// The text is not in the notation of shares.
    #[error(
        "{0:?} is not a share of the load; the second of three equal parts is 2/3, the first of two parts with the weights \
         3 and 1 is 1/3:1"
    )]
    NotAShare(String),
    /// The text names a part that does not exist.
    #[error("{text:?} is not a share of the load: the parts have the numbers 1 to {parts}")]
    NumberOutOfRange {
        /// The text.
        text: String,
        /// The number of parts.
        parts: u64,
    },
}

/// A share of a load: the part [from, to) of its arrivals and users, where `from` and `to` are rational numbers from 0 to 1.
///
/// Shares result from repeatedly dividing the whole load and its shares. The leaves of the resulting tree are disjoint;
/// together they are the whole load. A share stores the divisions that led to it, because the number of parts is needed to assign
/// arrivals and users in turn. Therefore, shares of *different* divisions, such as `1/2` with `3/4` and `4/4`, are
/// complementary only for arrivals divided with [`ShareRule::ByMark`].
///
/// Users and the starts of shared timers are assigned by number, like arrivals with [`ShareRule::ByIndex`]: part number `part`
/// of `of` equal parts has the users whose number (from 0) is `part` modulo `of`.
///
/// # Notation
///
/// The notation, which serde also uses, numbers parts from 1: `2/3` is the second of three equal parts, `1/3:1` the first of
/// two parts with the weights 3 and 1, `2/3, 1/2` the first half of the second third, and `1/1` the whole load.
///
/// ```
/// use busyhour_arrivals::LoadShare;
///
/// let share: LoadShare = "2/3".parse().unwrap();
/// assert_eq!(share, LoadShare::part(1, 3).unwrap());
/// // Of ten users it has those with the numbers 1, 4 and 7.
/// assert_eq!((share.count_below(10), share.nth(0), share.nth(2)), (3, Some(1), Some(7)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadShare {
    from: Fraction,
    to: Fraction,
    divisions: Vec<Division>,
}

impl LoadShare {
    /// The whole load.
    pub const WHOLE: LoadShare = LoadShare { from: Fraction::ZERO, to: Fraction::ONE, divisions: Vec::new() };

    /// Part number `part` (from 0) of `of` equal parts of the whole load.
    pub fn part(part: u64, of: u64) -> Result<LoadShare, ShareError> {
        LoadShare::WHOLE.part_of(part, of)
    }

    /// Part number `part` (from 0) of `of` equal parts of this share.
    pub fn part_of(&self, part: u64, of: u64) -> Result<LoadShare, ShareError> {
        if part >= of {
            return Err(ShareError::NoSuchPart { part, of });
        }
        let mut share = self.clone();
        share.from = self.point(part, of)?;
        share.to = self.point(part + 1, of)?;
        if of > 1 {
            share.divisions.push(Division::Equal { part, of });
        }
        Ok(share)
    }

    /// Divides this share into parts with sizes proportional to `weights`, in their order. A part of weight 0 is empty.
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
        let weights: Arc<[u64]> = weights.into();
        let mut passed = 0;
        let mut shares = Vec::with_capacity(weights.len());
        for (part, weight) in weights.iter().enumerate() {
            let mut divisions = self.divisions.clone();
            divisions.push(Division::Weighted { part, weights: Arc::clone(&weights) });
            let from = self.point(passed, total)?;
            passed += weight;
            shares.push(LoadShare { from, to: self.point(passed, total)?, divisions });
        }
        Ok(shares)
    }

    /// Divides the whole load at these fractions (numerator, denominator), which must increase strictly and be between 0
    /// and 1. Returns one share more than there are fractions.
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

    /// Whether the share contains an arrival of a stage whose arrivals are divided by this rule.
    pub fn contains(&self, arrival: &Arrival, rule: ShareRule) -> bool {
        match rule {
            ShareRule::ByMark => {
                let mark = u128::from(arrival.mark);
                self.from.of_marks() <= mark && mark < self.to.of_marks()
            }
            ShareRule::ByIndex => self.contains_number(arrival.index),
        }
    }

    /// Whether the share contains the user, or the start of a shared timer, with this number (from 0).
    pub fn contains_number(&self, number: u64) -> bool {
        self.divisions.iter().try_fold(number, |number, division| division.rank_of(number)).is_some()
    }

    /// How many of the numbers below `number` the share contains.
    pub fn count_below(&self, number: u64) -> u64 {
        self.divisions.iter().fold(number, |number, division| division.count_below(number))
    }

    /// The number of the user or start that has the given rank in the share; both count from 0. `None` if the share is empty or
    /// the number exceeds 2^64.
    pub fn nth(&self, rank: u64) -> Option<u64> {
        self.divisions.iter().rev().try_fold(rank, |rank, division| division.number_of(rank))
    }

    /// Whether the share is the whole load.
    pub fn is_whole(&self) -> bool {
        self.from == Fraction::ZERO && self.to == Fraction::ONE
    }

    /// Whether the share contains the first user. Exactly one of the shares of a load does.
    pub fn is_first(&self) -> bool {
        self.contains_number(0)
    }

    /// Lower end of the share (inclusive) as (numerator, denominator), in lowest terms.
    pub fn lower(&self) -> (u64, u64) {
        (self.from.numerator, self.from.denominator)
    }

    /// Upper end of the share (exclusive) as (numerator, denominator), in lowest terms.
    pub fn upper(&self) -> (u64, u64) {
        (self.to.numerator, self.to.denominator)
    }

    /// The size of the share: 1 for the whole.
    pub fn size(&self) -> f64 {
        self.to.value() - self.from.value()
    }

    /// The part of this share that a text such as `2/3` or `1/3:1` (for parts with the weights 3 and 1) names.
    fn part_in_notation(&self, text: &str) -> Result<LoadShare, ShareError> {
        let not_a_share = || ShareError::NotAShare(text.to_owned());
        let number = |digits: &str| match digits.bytes().all(|byte| byte.is_ascii_digit()) {
            true => digits.parse::<u64>().map_err(|_| not_a_share()),
            false => Err(not_a_share()),
        };
        let (part, parts) = text.split_once('/').ok_or_else(not_a_share)?;
        let part = number(part)?;
        let weights = parts.split(':').map(number).collect::<Result<Vec<u64>, _>>()?;
        let parts = match weights.as_slice() {
            [of] => *of,
            weights => weights.len() as u64,
        };
        let Some(part) = part.checked_sub(1).filter(|part| *part < parts) else {
            return Err(match parts {
                0 => ShareError::NothingToDivide,
                parts => ShareError::NumberOutOfRange { text: text.to_owned(), parts },
            });
        };
        match weights.as_slice() {
            [of] => self.part_of(part, *of),
            // `part` is smaller than the number of parts returned.
            weights => Ok(self.divide(weights)?.swap_remove(part as usize)),
        }
    }

    /// The fraction from + (to − from) · numerator / denominator.
    fn point(&self, numerator: u64, denominator: u64) -> Result<Fraction, ShareError> {
        // If the point is an end of the share, that end is returned unchanged, so that a part has no marks that its parent
        // does not have.
        if numerator == 0 {
            return Ok(self.from);
        }
        if numerator == denominator {
            return Ok(self.to);
        }
        self.from.between(self.to, numerator, denominator).ok_or(ShareError::TooFine)
    }
}

impl Default for LoadShare {
    fn default() -> LoadShare {
        LoadShare::WHOLE
    }
}

/// Formats the share in its notation.
impl fmt::Display for LoadShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.divisions.is_empty() {
            return f.write_str("1/1");
        }
        for (depth, division) in self.divisions.iter().enumerate() {
            if depth > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{division}")?;
        }
        Ok(())
    }
}

impl FromStr for LoadShare {
    type Err = ShareError;

    fn from_str(text: &str) -> Result<LoadShare, ShareError> {
        text.split(',').try_fold(LoadShare::WHOLE, |share, part| share.part_in_notation(part.trim()))
    }
}

impl Serialize for LoadShare {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for LoadShare {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<LoadShare, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
