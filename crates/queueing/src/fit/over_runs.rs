//! The bootstrap over repeated runs.

use rand::Rng;

use super::fitted::FittedModel;
use super::queue_fit::{FitData, FitPoint, refit};

/// Number of resamples.
const RESAMPLES: usize = 200;

/// Intervals of the parameters by resampling the runs with the same number of users. Empty if a number of users was measured
/// only once.
/// The n runs with the same number of users have n − 1 degrees of freedom, so their deviations are multiplied by √(n/(n − 1))
/// (Davison & Hinkley, "Bootstrap Methods and their Application", 1997, section 2.3).
pub(crate) fn bootstrap_over_runs(
    data: &FitData,
    fitted: &FittedModel,
    random: &mut (impl Rng + ?Sized),
) -> Vec<(f64, f64)> {
    let mut groups: Vec<Vec<FitPoint>> = Vec::new();
    for point in &data.points {
        match groups.iter_mut().find(|group| group[0].users == point.users) {
            Some(group) => group.push(*point),
            None => groups.push(vec![*point]),
        }
    }
    if groups.iter().any(|group| group.len() < 2) {
        return Vec::new();
    }
    let fewest = groups.iter().map(Vec::len).min().unwrap_or(2) as f64;
    let stretch = (fewest / (fewest - 1.0)).sqrt();
    let mut drawn: Vec<Vec<f64>> = Vec::new();
    for _ in 0..RESAMPLES {
        let points = groups
            .iter()
            .flat_map(|group| {
                (0..group.len()).map(|_| group[random.random_range(0..group.len())]).collect::<Vec<_>>()
            })
            .collect();
        drawn.extend(refit(&FitData { points, has_errors: data.has_errors }, fitted.form));
    }
    if drawn.len() < RESAMPLES / 2 {
        return Vec::new();
    }
    (0..fitted.parameters.len())
        .map(|at| {
            let mut values: Vec<f64> = drawn.iter().map(|parameters| parameters[at]).collect();
            values.sort_unstable_by(f64::total_cmp);
            let end = |share: f64| {
                let value = values[((values.len() - 1) as f64 * share).round() as usize];
                (fitted.parameters[at] + stretch * (value - fitted.parameters[at])).max(0.0)
            };
            (end(0.025), end(0.975))
        })
        .collect()
}
