//! One division of a share into parts, which assigns the numbers of the share's users or arrivals to the parts.

use std::fmt;
use std::sync::Arc;

/// One part of a division of a share.
///
/// The numbers of a share are divided among its parts. The numbers of a part are then renumbered from 0; the new number is the
/// rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Division {
    /// Part number `part` (from 0) of `of` equal parts. It has every `of`-th number.
    Equal { part: u64, of: u64 },
    /// Part number `part` (from 0) of parts whose sizes are proportional to these weights. The sum of the weights is positive
    /// and fits into u64. From the numbers that the preceding parts left over, each part takes its share, evenly distributed.
    Weighted { part: usize, weights: Arc<[u64]> },
}

impl Division {
    /// The rank of a number, if it is assigned to the part.
    pub(crate) fn rank_of(&self, number: u64) -> Option<u64> {
        match self {
            Division::Equal { part, of } => (number % of == *part).then_some(number / of),
            Division::Weighted { part, weights } => {
                let (mut number, mut left) = (number, weights.iter().sum());
                for weight in &weights[..*part] {
                    if is_assigned(number, *weight, left) {
                        return None;
                    }
                    number -= assigned_before(number, *weight, left);
                    left -= weight;
                }
                let weight = weights[*part];
                is_assigned(number, weight, left).then(|| assigned_before(number, weight, left))
            }
        }
    }

    /// How many of the numbers below `number` are assigned to the part.
    pub(crate) fn count_below(&self, number: u64) -> u64 {
        match self {
            Division::Equal { part, of } => number / of + u64::from(*part < number % of),
            Division::Weighted { part, weights } => {
                let (mut number, mut left) = (number, weights.iter().sum());
                for weight in &weights[..*part] {
                    number -= assigned_before(number, *weight, left);
                    left -= weight;
                }
                assigned_before(number, weights[*part], left)
            }
        }
    }

    /// The number that has this rank in the part; `None` if there is none below 2^64.
    pub(crate) fn number_of(&self, rank: u64) -> Option<u64> {
        match self {
            Division::Equal { part, of } => rank.checked_mul(*of)?.checked_add(*part),
            Division::Weighted { part, weights } => {
                let mut left = weights[*part..].iter().sum();
                let mut number = nth_assigned(rank, weights[*part], left)?;
                for weight in weights[..*part].iter().rev() {
                    left += weight;
                    number = nth_left(number, *weight, left)?;
                }
                Some(number)
            }
        }
    }
}

/// The notation of the part, which numbers parts from 1: `2/3`, or `1/3:1` for parts with the weights 3 and 1.
impl fmt::Display for Division {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Division::Equal { part, of } => write!(f, "{}/{of}", u128::from(*part) + 1),
            Division::Weighted { part, weights } => {
                write!(f, "{}", part + 1)?;
                for (at, weight) in weights.iter().enumerate() {
                    write!(f, "{}{weight}", if at == 0 { '/' } else { ':' })?;
                }
                Ok(())
            }
        }
    }
}

/// How many of the first `number` numbers are assigned to a part that has `weight` of the total weight `total`. The
/// result is ⌈number · weight / total⌉, which distributes the numbers as a balanced (Sturmian) word.
fn assigned_before(number: u64, weight: u64, total: u64) -> u64 {
    (u128::from(number) * u128::from(weight)).div_ceil(u128::from(total.max(1))) as u64
}

/// Whether a number is assigned to a part that has `weight` of the total weight `total`.
fn is_assigned(number: u64, weight: u64, total: u64) -> bool {
    let after = ((u128::from(number) + 1) * u128::from(weight)).div_ceil(u128::from(total.max(1)));
    after > u128::from(assigned_before(number, weight, total))
}

/// The number with the given rank among those assigned to a part that has `weight` of the total weight `total`: ⌊rank · total /
/// weight⌋.
fn nth_assigned(rank: u64, weight: u64, total: u64) -> Option<u64> {
    let number = (u128::from(rank) * u128::from(total)).checked_div(u128::from(weight))?;
    u64::try_from(number).ok()
}

/// The number with the given rank among those that are not assigned to a part with `weight` of the total weight `total`:
/// ⌈(rank + 1) · total / (total − weight)⌉ − 1.
fn nth_left(rank: u64, weight: u64, total: u64) -> Option<u64> {
    let rest = total.checked_sub(weight).filter(|rest| *rest > 0)?;
    let number = ((u128::from(rank) + 1) * u128::from(total)).div_ceil(u128::from(rest)) - 1;
    u64::try_from(number).ok()
}
