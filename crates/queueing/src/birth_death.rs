//! The number of customers at one station with Poisson arrivals, from the balance equations of birth-death processes.

use crate::mva::Scaled;

/// A series ends when the remaining terms are less than this share of the sum.
const NEGLIGIBLE: f64 = 1e-17;

/// A station in equilibrium with Poisson arrivals of load ρ = λ·E\[S\]. The probability of n customers is
/// p(n) ∝ ρⁿ/(α(1)⋯α(n)), where α(n) is the speed with n customers. The last speed also applies to more customers.
#[derive(Clone, Copy, Debug)]
pub struct BirthDeath<'s> {
    /// Offered load ρ, in servers.
    pub load: f64,
    /// Speeds in servers; at least one value.
    pub speeds: &'s [f64],
}

impl BirthDeath<'_> {
    /// The speed with many customers.
    fn last_speed(&self) -> f64 {
        self.speeds.last().copied().unwrap_or(1.0)
    }

    /// Load divided by the last speed. An equilibrium exists if it is below 1.
    #[must_use]
    pub fn utilization(&self) -> f64 {
        self.load / self.last_speed()
    }

    fn speed(&self, customers: usize) -> f64 {
        self.speeds.get(customers - 1).copied().unwrap_or(self.last_speed())
    }

    /// Returns S(n) = Σ_j C(n+j, j) ∏_{i≤j} ρ/α(n+i), and the mean of j weighted by the terms of this sum. n =
    /// `present` is the number of permanent customers of closed classes, and j is the number of customers of the
    /// Poisson stream. The station serves all customers at equal speeds.
    fn sum_and_mean(&self, present: usize) -> (Scaled, f64) {
        let x = self.utilization();
        // The series has about 40/(1 − x) relevant terms.
        if x > 0.9 && (1.0 - x) * (self.speeds.len() as f64) < 1.0 {
            return self.sum_near_saturation(present);
        }
        self.sum_by_terms(present)
    }

    /// [`Self::sum_and_mean`] for a load near the last speed. If all speeds were equal to the last one, S would be
    /// (1 − x)^−(n+1), and j would have a negative binomial distribution. The differences for small numbers of customers are
    /// subtracted. The subtraction loses precision only if they are nearly the whole sum, which is not the case at such a
    /// load.
    fn sum_near_saturation(&self, present: usize) -> (Scaled, f64) {
        let (x, last) = (self.utilization(), self.last_speed());
        let slow = self.speeds.len().saturating_sub(present + 1);
        let mut whole = Scaled::ONE;
        // Ratio of the true term for j customers to the negative binomial term; here for j = 0.
        let mut slower = 1.0;
        for i in 1..=slow {
            let speed = self.speed(present + i);
            whole = whole.times(last / speed);
            slower *= speed / last;
        }
        for _ in 0..=present {
            whole = whole.times(1.0 / (1.0 - x));
        }
        let mut probability = (1.0 - x).powf((present + 1) as f64);
        let (mut excess, mut weighted_excess) = (0.0, 0.0);
        for j in 0..slow {
            let difference = probability * (1.0 - slower);
            excess += difference;
            weighted_excess += j as f64 * difference;
            probability *= (present + j + 1) as f64 / (j + 1) as f64 * x;
            slower *= last / self.speed(present + j + 1);
        }
        let mean = ((present + 1) as f64 * x / (1.0 - x) - weighted_excess) / (1.0 - excess);
        (whole.times(1.0 - excess), mean)
    }

    fn sum_by_terms(&self, present: usize) -> (Scaled, f64) {
        let x = self.utilization();
        let mut term = Scaled::ONE;
        let (mut sum, mut weighted) = (term, Scaled::ZERO);
        for j in 1_usize.. {
            let ratio = (present + j) as f64 / j as f64 * self.load / self.speed(present + j);
            term = term.times(ratio);
            sum = sum.plus(term);
            weighted = weighted.plus(term.times(j as f64));
            // Beyond the last speed, the ratios decrease towards x.
            let falls = present + j >= self.speeds.len() && ratio < 1.0;
            if falls && term.times(j as f64 / (1.0 - x)).over(weighted) < NEGLIGIBLE * (1.0 - ratio) {
                break;
            }
        }
        (sum, weighted.over(sum))
    }

    /// Mean number of customers of the Poisson stream while `present` customers of closed classes are at the station;
    /// infinite without an equilibrium.
    #[must_use]
    pub fn mean_with_present(&self, present: usize) -> f64 {
        if self.load == 0.0 {
            return 0.0;
        }
        if self.utilization() >= 1.0 {
            return f64::INFINITY;
        }
        if present + 1 >= self.speeds.len() {
            let x = self.utilization();
            return (present + 1) as f64 * x / (1.0 - x);
        }
        self.sum_and_mean(present).1
    }

    /// Mean number of customers without customers of closed classes.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.mean_with_present(0)
    }

    /// The speeds that remain for closed classes; 1 − ρ for one server. A mixed network has the product form of the closed
    /// network with these speeds (Lavenberg, *Computer Performance Modeling Handbook*, 1983).
    #[must_use]
    pub fn remaining_speeds(&self) -> Vec<f64> {
        if self.load == 0.0 {
            return self.speeds.to_vec();
        }
        let mut remaining = Vec::with_capacity(self.speeds.len());
        let mut previous = self.sum_and_mean(0).0;
        for (n, speed) in (1..self.speeds.len()).zip(self.speeds) {
            let sum = self.sum_and_mean(n).0;
            remaining.push(speed * previous.over(sum));
            previous = sum;
        }
        remaining.push(self.last_speed() - self.load);
        remaining
    }
}

/// Erlang's B: the share of Poisson arrivals of load ρ that `servers` servers without waiting room reject.
#[must_use]
pub fn erlang_b(servers: u32, load: f64) -> f64 {
    (1..=servers).fold(1.0, |lost, server| load * lost / (f64::from(server) + load * lost))
}

/// Erlang's C: the share of arrivals at M/M/m that wait; 1 if the load is m or more.
#[must_use]
pub fn erlang_c(servers: u32, load: f64) -> f64 {
    let utilization = load / f64::from(servers);
    if utilization >= 1.0 {
        return 1.0;
    }
    let lost = erlang_b(servers, load);
    lost / (1.0 - utilization * (1.0 - lost))
}

/// M/M/m: `servers` servers, first come, first served.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MultiServer {
    /// Number of servers m.
    pub servers: u32,
    /// Arrival rate λ per second.
    pub rate_per_s: f64,
    /// Mean service time in seconds.
    pub service_s: f64,
}

impl MultiServer {
    /// P(R > t). R is the service time plus, for customers that wait, an exponential waiting time with rate mμ − λ.
    #[must_use]
    pub fn response_beyond(&self, t_s: f64) -> f64 {
        let waits = erlang_c(self.servers, self.rate_per_s * self.service_s);
        let service_rate = 1.0 / self.service_s;
        let waiting_rate = f64::from(self.servers) * service_rate - self.rate_per_s;
        let difference = waiting_rate - service_rate;
        // (1 − e^{−dt})/d, which is t if the rates are equal.
        let between =
            if (difference * t_s).abs() < 1e-12 { t_s } else { -(-difference * t_s).exp_m1() / difference };
        (-service_rate * t_s).exp() * (1.0 + waits * service_rate * between)
    }

    /// The response time in seconds that the given share of requests does not exceed; `None` without an equilibrium.
    #[must_use]
    pub fn response_quantile_s(&self, share: f64) -> Option<f64> {
        if self.rate_per_s * self.service_s >= f64::from(self.servers) || !(0.0..1.0).contains(&share) {
            return None;
        }
        let beyond = 1.0 - share;
        let mut high = self.service_s;
        while self.response_beyond(high) > beyond {
            high *= 2.0;
        }
        let mut low = 0.0;
        // Bisection to the precision of a double.
        while high - low > 1e-14 * high {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if self.response_beyond(middle) > beyond { low = middle } else { high = middle }
        }
        Some(0.5 * (low + high))
    }
}

/// The equilibrium of an M/M/m/K station, which rejects arrivals while K customers are present.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossEquilibrium {
    /// The share of arrivals that are lost.
    pub lost: f64,
    /// Mean number of customers.
    pub mean: f64,
}

/// The equilibrium of a station with a capacity of `capacity` customers; it exists for any load.
#[must_use]
pub fn lossy(load: f64, speeds: &[f64], capacity: u32) -> LossEquilibrium {
    let mut term = Scaled::ONE;
    let (mut sum, mut weighted) = (term, Scaled::ZERO);
    for n in 1..=capacity {
        let speed = speeds.get(n as usize - 1).or(speeds.last()).copied().unwrap_or(1.0);
        term = term.times(load / speed);
        sum = sum.plus(term);
        weighted = weighted.plus(term.times(f64::from(n)));
    }
    LossEquilibrium { lost: term.over(sum), mean: weighted.over(sum) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servers(count: u32) -> Vec<f64> {
        (1..=count).map(f64::from).collect()
    }

    #[test]
    fn independent_solvers_agree() {
        let found = BirthDeath { load: 0.75, speeds: &[1.0] }.mean();
        assert!((found - 3.0).abs() < 1e-12);
        assert_eq!(format!("{:.8}", erlang_c(4, 3.0)), "0.50943396");
        let found = BirthDeath { load: 3.0, speeds: &servers(4) }.mean();
        assert_eq!(format!("{found:.8} {:.8}", found / 12.0), "4.52830189 0.37735849");
    }

    #[test]
    fn the_series_agrees_with_erlangs_formula() {
        for (count, load) in [(1, 0.999), (3, 0.1), (64, 63.0), (1000, 980.0)] {
            let by_formula = load + erlang_c(count, load) * load / (f64::from(count) - load);
            let by_series = BirthDeath { load, speeds: &servers(count) }.mean();
            assert!((by_series / by_formula - 1.0).abs() < 1e-11, "{count} {load}: {by_series} {by_formula}");
        }
    }

    #[test]
    fn quantiles_match_known_values() {
        // M/M/1: the response time is exponential of rate μ − λ.
        let one = MultiServer { servers: 1, rate_per_s: 0.75, service_s: 1.0 };
        let p95 = one.response_quantile_s(0.95).unwrap();
        assert!((p95 - 4.0 * 20.0_f64.ln()).abs() < 1e-10);
        // λ such that mμ − λ = μ: the singular point of the formula.
        let two = MultiServer { servers: 2, rate_per_s: 1.0, service_s: 1.0 };
        let waits = erlang_c(2, 1.0);
        assert!((two.response_beyond(2.0) - (-2.0_f64).exp() * (1.0 + 2.0 * waits)).abs() < 1e-12);
        assert_eq!(
            MultiServer { servers: 2, rate_per_s: 2.0, service_s: 1.0 }.response_quantile_s(0.5),
            None
        );
    }

    #[test]
    fn a_station_without_waiting_room_loses_by_erlangs_b() {
        let found = lossy(8.0, &servers(10), 10);
        assert!((found.lost - erlang_b(10, 8.0)).abs() < 1e-14);
        // M/M/1/K at load 1: all states are equally likely.
        let found = lossy(1.0, &[1.0], 4);
        assert!((found.lost - 0.2).abs() < 1e-14 && (found.mean - 2.0).abs() < 1e-14);
    }

    #[test]
    fn speeds_that_remain_for_closed_classes() {
        assert_eq!(BirthDeath { load: 0.25, speeds: &[1.0] }.remaining_speeds(), [0.75]);
        // Two servers: S(0) = 1 + ρ + ρ²/2/(1 − ρ/2), S(1) = (1 − ρ/2)^−2.
        let (rho, x) = (0.5_f64, 0.25_f64);
        let remaining = BirthDeath { load: rho, speeds: &servers(2) }.remaining_speeds();
        let first = (1.0 + rho + rho * rho / 2.0 / (1.0 - x)) * (1.0 - x).powi(2);
        assert!((remaining[0] - first).abs() < 1e-12 && (remaining[1] - 1.5).abs() < 1e-12);
    }

    /// Near saturation both methods agree; the closed form takes a bounded number of steps at any load.
    #[test]
    fn near_saturation_the_series_agrees_with_the_closed_form() {
        let table = [1.0, 1.7, 2.5, 2.9, 3.5];
        let servers: Vec<f64> = (1..=64).map(f64::from).collect();
        for speeds in [&table[..], &servers, &[2.0]] {
            let least = 1.0 - 1.0 / speeds.len() as f64;
            for x in [least.max(0.9) + 1e-3, 0.995, 0.9995] {
                let station = BirthDeath { load: x * speeds[speeds.len() - 1], speeds };
                for present in [0, 1, 3, 4, 5, 40, 63, 70] {
                    let (sum, mean) = station.sum_by_terms(present);
                    let (quick_sum, quick_mean) = station.sum_near_saturation(present);
                    assert!(
                        (quick_sum.over(sum) - 1.0).abs() < 1e-9,
                        "{x} {present}: {}",
                        quick_sum.over(sum)
                    );
                    assert!((quick_mean / mean - 1.0).abs() < 1e-9, "{x} {present}: {quick_mean} {mean}");
                }
            }
        }
        let saturated = BirthDeath { load: 64.0 * (1.0 - 1e-12), speeds: &servers };
        assert!((saturated.mean() * 1e-12 - 1.0).abs() < 1e-3, "{}", saturated.mean());
    }
}
