//! Visit ratios: how often a pass of a class visits each station.

use crate::network::{Place, QueueingNetwork, Strategy};

/// Visits of a class by station.
///
/// In a network with routes, they are the solution of the traffic equations v_j = Σ_i v_i p_ij with one departure from
/// outside per pass. Round robin has the same long-run shares as fixed probabilities. State-dependent strategies are
/// assumed to have equal shares, which is exact only if the stations are identical.
///
/// `None` if a class never leaves a part of the network.
#[must_use]
pub fn visits(network: &QueueingNetwork, class: &str) -> Option<Vec<f64>> {
    if network.routes.is_empty() {
        return Some(network.stations.iter().map(|station| station.visits(class)).collect());
    }
    let stations = network.stations.len();
    // (I − Pᵀ) v = p_outside
    let mut rows = vec![vec![0.0; stations + 1]; stations];
    for (at, row) in rows.iter_mut().enumerate() {
        row[at] = 1.0;
    }
    let mut add = |from: Option<usize>, place: &Place| {
        let Some(route) = network.route(place, class) else { return };
        for (to, share) in shares(&route.strategy) {
            let Place::Station(name) = to else { continue };
            let Some(to) = network.station(name) else { continue };
            match from {
                Some(from) => rows[to][from] -= share,
                None => rows[to][stations] += share,
            }
        }
    };
    add(None, &Place::Outside);
    for (at, station) in network.stations.iter().enumerate() {
        add(Some(at), &Place::Station(station.name.clone()));
    }
    solve(rows).map(|visits| visits.into_iter().map(|visits| visits.max(0.0)).collect())
}

/// The long-run share of each place.
fn shares(strategy: &Strategy) -> Vec<(&Place, f64)> {
    if let Some(shares) = strategy.probabilities() {
        return shares;
    }
    if let Strategy::WeightedRoundRobin(to) = strategy {
        let sum: f64 = to.iter().map(|(_, weight)| f64::from(*weight)).sum();
        return to.iter().map(|(place, weight)| (place, f64::from(*weight) / sum)).collect();
    }
    let mut places = strategy.places();
    places.sort();
    places.dedup();
    let share = 1.0 / places.len() as f64;
    places.into_iter().map(|place| (place, share)).collect()
}

/// Gaussian elimination with partial pivoting; the right-hand side is the last column.
fn solve(mut rows: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let size = rows.len();
    for column in 0..size {
        let pivot =
            (column..size).max_by(|a, b| rows[*a][column].abs().total_cmp(&rows[*b][column].abs()))?;
        if rows[pivot][column].abs() < 1e-12 {
            return None;
        }
        rows.swap(column, pivot);
        let (above, below) = rows.split_at_mut(column + 1);
        let lead = &above[column];
        for row in below {
            let factor = row[column] / lead[column];
            if factor != 0.0 {
                row[column..]
                    .iter_mut()
                    .zip(&lead[column..])
                    .for_each(|(value, lead)| *value -= factor * lead);
            }
        }
    }
    let mut found = vec![0.0; size];
    for at in (0..size).rev() {
        let known: f64 = (at + 1..size).map(|other| rows[at][other] * found[other]).sum();
        found[at] = (rows[at][size] - known) / rows[at][at];
    }
    Some(found)
}
