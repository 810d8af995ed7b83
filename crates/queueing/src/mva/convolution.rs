//! Exact mean values by convolution, for centres with several servers or load-dependent speeds.
//!
//! The normalization constant G(n) (Buzen, CACM 16, 1973) is the coefficient of z^n in a product over the centres:
//! with s = Σ D_r z_r, a centre of speeds α contributes Φ(s) = Σ_j s^j/(α(1)⋯α(j)), and all delays together contribute
//! exp(Σ Z_r z_r). The series of a centre is geometric from its last speed on, so a recursion can multiply the product by it.
//! All terms are products of positive numbers (stored as [`Scaled`]), so there is no cancellation. In contrast, the usual
//! recursion for the probability of an empty multi-server centre subtracts and can lose all digits (Chandy & Sauer, CACM 23,
//! 1980; Reiser, Performance Evaluation 1, 1981).
//!
//! The throughput is X_r(N) = G(N − e_r)/G(N), where e_r is one customer of class r. The number of customers at a centre is a
//! derivative of log G:
//! Q_kr(N) = D_kr [Φ′_k ∏_{j≠k} Φ_j](N − e_r)/G(N).

use super::closed_network::{Centre, ClosedMeans, ClosedNetwork};
use super::scaled::Scaled;

/// The results of convolution.
#[derive(Clone, Debug, PartialEq)]
pub struct Convolved {
    /// The mean values.
    pub means: ClosedMeans,
    /// For centres with L > 1 speeds: the probabilities of 0, 1, …, L − 2 customers at the centre. Empty for all others.
    pub marginals: Vec<Vec<f64>>,
}

/// All populations from empty to full. A population with one customer less has a smaller index.
struct Lattice {
    /// N_r + 1.
    sides: Vec<usize>,
    strides: Vec<usize>,
    size: usize,
}

impl Lattice {
    fn new(network: &ClosedNetwork) -> Self {
        let mut size = 1;
        let (mut sides, mut strides) = (Vec::new(), Vec::new());
        for class in &network.classes {
            let side = usize::try_from(class.users).unwrap_or(usize::MAX - 1) + 1;
            sides.push(side);
            strides.push(size);
            size *= side;
        }
        Self { sides, strides, size }
    }

    /// Whether the population at `index` has a customer of `class`.
    #[inline]
    fn has_customer(&self, index: usize, class: usize) -> bool {
        !(index / self.strides[class]).is_multiple_of(self.sides[class])
    }

    /// Multiplies by s = Σ D_r z_r, in place.
    fn multiply_by_s(&self, series: &mut [Scaled], demands_s: &[f64], factor: f64) {
        if let [demand_s] = demands_s {
            for at in (1..self.size).rev() {
                series[at] = series[at - 1].times(demand_s * factor);
            }
            series[0] = Scaled::ZERO;
            return;
        }
        for at in (0..self.size).rev() {
            let mut sum = Scaled::ZERO;
            for (class, demand_s) in demands_s.iter().enumerate() {
                if *demand_s > 0.0 && self.has_customer(at, class) {
                    sum = sum.plus(series[at - self.strides[class]].times(demand_s * factor));
                }
            }
            series[at] = sum;
        }
    }

    /// Divides by 1 − s·factor, in place.
    fn divide_by_one_minus_s(&self, series: &mut [Scaled], demands_s: &[f64], factor: f64) {
        if let [demand_s] = demands_s {
            for at in 1..self.size {
                series[at] = series[at].plus(series[at - 1].times(demand_s * factor));
            }
            return;
        }
        for at in 0..self.size {
            let mut sum = series[at];
            for (class, demand_s) in demands_s.iter().enumerate() {
                if *demand_s > 0.0 && self.has_customer(at, class) {
                    sum = sum.plus(series[at - self.strides[class]].times(demand_s * factor));
                }
            }
            series[at] = sum;
        }
    }

    /// The series exp(Σ Z_r z_r) of all delays.
    fn delay_series(&self, delays_s: &[f64]) -> Vec<Scaled> {
        let mut series = vec![Scaled::ONE; self.size];
        for at in 1..self.size {
            // Computed from the population with one customer less of its first class.
            let class = (0..self.sides.len()).find(|class| self.has_customer(at, *class)).unwrap_or_default();
            let present = (at / self.strides[class]) % self.sides[class];
            series[at] = series[at - self.strides[class]].times(delays_s[class] / present as f64);
        }
        series
    }
}

fn add(sum: &mut [Scaled], series: &[Scaled], factor: f64) {
    for (sum, term) in sum.iter_mut().zip(series) {
        *sum = sum.plus(term.times(factor));
    }
}

/// A centre that is not a delay.
struct Queue<'n> {
    at: usize,
    demands_s: &'n [f64],
    speeds: &'n [f64],
}

impl Queue<'_> {
    fn last_speed(&self) -> f64 {
        self.speeds.last().copied().unwrap_or(1.0)
    }

    /// Multiplies by Φ = Σ_{j<L−1} s^j/A(j) + s^{L−1}/A(L−1) / (1 − s/α(L)). L is the number of speeds, and A(j) = α(1)⋯α(j).
    fn multiply_in(&self, lattice: &Lattice, series: &mut Vec<Scaled>) {
        let [slow @ .., last] = self.speeds else { return };
        let mut sum = if slow.is_empty() { Vec::new() } else { vec![Scaled::ZERO; series.len()] };
        for speed in slow {
            add(&mut sum, series, 1.0);
            lattice.multiply_by_s(series, self.demands_s, 1.0 / speed);
        }
        lattice.divide_by_one_minus_s(series, self.demands_s, 1.0 / last);
        if !slow.is_empty() {
            add(&mut sum, series, 1.0);
            *series = sum;
        }
    }

    /// Multiplies by Φ′ = Σ_{i≥0} (i+1)s^i/A(i+1), and appends the terms of Φ at the full population to `terms`.
    fn multiply_derivative(
        &self,
        lattice: &Lattice,
        mut series: Vec<Scaled>,
        terms: &mut Vec<Scaled>,
    ) -> Vec<Scaled> {
        let [slow @ .., last] = self.speeds else { return series };
        let mut sum = vec![Scaled::ZERO; series.len()];
        for (i, speed) in slow.iter().enumerate() {
            terms.push(series[lattice.size - 1]);
            // The series contains s^i/A(i), and the term has 1/A(i+1).
            add(&mut sum, &series, (i + 1) as f64 / speed);
            lattice.multiply_by_s(&mut series, self.demands_s, 1.0 / speed);
        }
        // The series contains s^{L−1}/A(L−1). With W = s^{L−1}/A(L) and x = s/α(L), the rest is L·W/(1 − x) + x·W/(1 − x)².
        lattice.divide_by_one_minus_s(&mut series, self.demands_s, 1.0 / last);
        add(&mut sum, &series, self.speeds.len() as f64 / last);
        lattice.multiply_by_s(&mut series, self.demands_s, 1.0 / last);
        lattice.divide_by_one_minus_s(&mut series, self.demands_s, 1.0 / last);
        add(&mut sum, &series, 1.0 / last);
        sum
    }
}

/// Exact mean values.
#[must_use]
pub fn means(network: &ClosedNetwork) -> Convolved {
    let lattice = Lattice::new(network);
    let classes = network.classes.len();
    let mut delays_s: Vec<f64> = network.classes.iter().map(|class| class.think_s).collect();
    let mut queues = Vec::new();
    for (at, centre) in network.centres.iter().enumerate() {
        match centre {
            Centre { demands_s, speeds: Some(speeds) } if !speeds.is_empty() => {
                queues.push(Queue { at, demands_s, speeds });
            }
            Centre { demands_s, .. } => {
                delays_s.iter_mut().zip(demands_s).for_each(|(sum, demand_s)| *sum += demand_s);
            }
        }
    }
    let mut found = Coefficients {
        lattice: &lattice,
        derivatives: vec![vec![Scaled::ZERO; classes]; network.centres.len()],
        terms: vec![Vec::new(); network.centres.len()],
        full: Scaled::ZERO,
        one_less: vec![Scaled::ZERO; classes],
    };
    // Centres with one speed come first, because their derivatives are computed from the product of all centres.
    queues.sort_by_key(|queue| queue.speeds.len() > 1);
    let (independent, dependent) = queues.split_at(queues.partition_point(|queue| queue.speeds.len() == 1));
    let mut series = lattice.delay_series(&delays_s);
    for queue in independent {
        queue.multiply_in(&lattice, &mut series);
    }
    let base = series.clone();
    for queue in dependent {
        queue.multiply_in(&lattice, &mut series);
    }
    found.set_normalization(&series);
    for queue in independent {
        // Φ′ = Φ²/α: the centre is multiplied in a second time.
        let mut twice = series.clone();
        lattice.divide_by_one_minus_s(&mut twice, queue.demands_s, 1.0 / queue.last_speed());
        found.set_derivative(queue.at, &twice, 1.0 / queue.last_speed());
    }
    drop(series);
    found.leave_one_out(dependent, base);

    let rates_per_s: Vec<f64> = network
        .classes
        .iter()
        .zip(&found.one_less)
        .map(|(class, less)| if class.users == 0 { 0.0 } else { less.over(found.full) })
        .collect();
    let is_queue: Vec<bool> =
        (0..network.centres.len()).map(|at| queues.iter().any(|queue| queue.at == at)).collect();
    let means = (0..network.centres.len())
        .map(|at| {
            (0..classes)
                .map(|class| {
                    let demand_s = network.centres[at].demands_s[class];
                    if network.classes[class].users == 0 || demand_s == 0.0 {
                        0.0
                    } else if is_queue[at] {
                        found.derivatives[at][class].over(found.full) * demand_s
                    } else {
                        rates_per_s[class] * demand_s
                    }
                })
                .collect()
        })
        .collect();
    let marginals =
        found.terms.iter().map(|terms| terms.iter().map(|term| term.over(found.full)).collect()).collect();
    Convolved { means: ClosedMeans { rates_per_s, queues: means }, marginals }
}

/// The coefficients of the series that determine the mean values.
struct Coefficients<'l> {
    lattice: &'l Lattice,
    /// [Φ′ ∏ Φ](N − e_r) by centre and class.
    derivatives: Vec<Vec<Scaled>>,
    /// Terms of Φ times the product of the other centres at N, by centre.
    terms: Vec<Vec<Scaled>>,
    /// The normalization constant G(N).
    full: Scaled,
    /// The normalization constants G(N − e_r) by class r.
    one_less: Vec<Scaled>,
}

impl Coefficients<'_> {
    /// The coefficients at N − e_r by class.
    fn one_less(&self, series: &[Scaled]) -> Vec<Scaled> {
        let last = self.lattice.size - 1;
        let coefficient = |class| {
            if self.lattice.has_customer(last, class) {
                series[last - self.lattice.strides[class]]
            } else {
                Scaled::ZERO
            }
        };
        (0..self.lattice.sides.len()).map(coefficient).collect()
    }

    fn set_normalization(&mut self, series: &[Scaled]) {
        self.full = series[self.lattice.size - 1];
        self.one_less = self.one_less(series);
    }

    fn set_derivative(&mut self, at: usize, series: &[Scaled], factor: f64) {
        self.derivatives[at] = self.one_less(series).into_iter().map(|term| term.times(factor)).collect();
    }

    /// Computes the derivatives of `queues`. Each derivative needs the product of all other centres. `rest` is the
    /// product of the centres that are not in `queues`. Each half of `queues` is handled with the other half multiplied
    /// into `rest`.
    fn leave_one_out(&mut self, queues: &[Queue<'_>], rest: Vec<Scaled>) {
        match queues {
            [] => {}
            [queue] => {
                let mut terms = Vec::new();
                let derivative = queue.multiply_derivative(self.lattice, rest, &mut terms);
                self.set_derivative(queue.at, &derivative, 1.0);
                self.terms[queue.at] = terms;
            }
            _ => {
                let (left, right) = queues.split_at(queues.len() / 2);
                let mut with_right = rest.clone();
                right.iter().for_each(|queue| queue.multiply_in(self.lattice, &mut with_right));
                self.leave_one_out(left, with_right);
                let mut with_left = rest;
                left.iter().for_each(|queue| queue.multiply_in(self.lattice, &mut with_left));
                self.leave_one_out(right, with_left);
            }
        }
    }
}
