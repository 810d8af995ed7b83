//! Exact mean value analysis of several classes.

use super::closed_network::{ClosedMeans, ClosedNetwork};
use super::single;

/// Exact mean values by the recursion of Reiser & Lavenberg (JACM 27, 1980) over all populations, for centres that
/// serve one customer at a time. An arriving customer finds the mean queues of the network without that customer.
/// Speeds are assumed to be 1; [`super::exact`] uses another method otherwise.
#[must_use]
pub fn exact(network: &ClosedNetwork) -> ClosedMeans {
    if let [class] = network.classes[..] {
        return one_class(network, class.users, class.think_s);
    }
    let (centres, classes) = (network.centres.len(), network.classes.len());
    let sides: Vec<usize> = network
        .classes
        .iter()
        .map(|class| usize::try_from(class.users).unwrap_or(usize::MAX - 1) + 1)
        .collect();
    let strides: Vec<usize> =
        sides.iter().scan(1, |stride, side| Some(std::mem::replace(stride, *stride * side))).collect();
    let size: usize = sides.iter().product();
    let is_queue: Vec<f64> =
        network.centres.iter().map(|centre| if centre.speeds.is_some() { 1.0 } else { 0.0 }).collect();

    // Customers at each centre, for each population.
    let mut totals = vec![0.0; size * centres];
    let mut present = vec![0_usize; classes];
    let mut rates_per_s = vec![0.0; classes];
    let mut residences_s = vec![0.0; centres * classes];
    for at in 1..size {
        for (count, side) in present.iter_mut().zip(&sides) {
            *count += 1;
            if *count < *side {
                break;
            }
            *count = 0;
        }
        for class in 0..classes {
            if present[class] == 0 {
                rates_per_s[class] = 0.0;
                continue;
            }
            let one_less = (at - strides[class]) * centres;
            let mut cycle_s = network.classes[class].think_s;
            for centre in 0..centres {
                let waiting = is_queue[centre] * totals[one_less + centre];
                let residence_s = network.centres[centre].demands_s[class] * (1.0 + waiting);
                residences_s[centre * classes + class] = residence_s;
                cycle_s += residence_s;
            }
            rates_per_s[class] = present[class] as f64 / cycle_s;
        }
        for centre in 0..centres {
            totals[at * centres + centre] = (0..classes)
                .filter(|class| present[*class] > 0)
                .map(|class| rates_per_s[class] * residences_s[centre * classes + class])
                .sum();
        }
    }
    let queues = (0..centres)
        .map(|centre| {
            (0..classes).map(|class| rates_per_s[class] * residences_s[centre * classes + class]).collect()
        })
        .collect();
    ClosedMeans { rates_per_s, queues }
}

/// For one class, the recursion of [`single`] needs memory for one population only.
fn one_class(network: &ClosedNetwork, users: u64, think_s: f64) -> ClosedMeans {
    let delays_s: f64 = network
        .centres
        .iter()
        .filter(|centre| centre.speeds.is_none())
        .map(|centre| centre.demands_s[0])
        .sum();
    let demands_s: Vec<f64> = network
        .centres
        .iter()
        .filter(|centre| centre.speeds.is_some())
        .map(|centre| centre.demands_s[0])
        .collect();
    let found = single::exact(users, think_s + delays_s, &demands_s);
    let mut waiting = found.queues.iter();
    let queues = network
        .centres
        .iter()
        .map(|centre| match centre.speeds {
            Some(_) => vec![waiting.next().copied().unwrap_or_default()],
            None => vec![found.rate_per_s * centre.demands_s[0]],
        })
        .collect();
    ClosedMeans { rates_per_s: vec![found.rate_per_s], queues }
}
