//! Exact mean values by convolution, for centres with several servers or a speed that depends on the load.
//!
//! The constant of normalization G(n) (Buzen, CACM 16, 1973) is the coefficient of z^n in a product over the centres:
//! with s = Σ D_r z_r, a centre of speeds α contributes Φ(s) = Σ_j s^j/(α(1)⋯α(j)), and all delays together
//! exp(Σ Z_r z_r). From its last speed on a centre's series is geometric, so that it is multiplied in by a recursion.
//! Everything is a sum of products of positive numbers (of [`Scaled`] size): nothing cancels, which is what makes the
//! usual recursion for the probability of an empty multi-server centre lose all its digits (Chandy & Sauer, CACM 23,
//! 1980; Reiser, Performance Evaluation 1, 1981).
//!
//! Then X_r(N) = G(N − e_r)/G(N), and since the customers at a centre are a derivative of log G,
//! Q_kr(N) = D_kr [Φ′_k ∏_{j≠k} Φ_j](N − e_r)/G(N).

use super::closed_network::{Centre, ClosedMeans, ClosedNetwork};
use super::scaled::Scaled;

/// What convolution finds.
#[derive(Clone, Debug, PartialEq)]
pub struct Convolved {
    /// The mean values.
    pub means: ClosedMeans,
    /// For centres with several speeds: the probability of 0, 1, … customers there, for as many as speeds differ
    /// (one less than there are speeds). Empty for all others.
    pub few: Vec<Vec<f64>>,
}

/// All populations from none to the whole, in an order in which one customer less comes before.
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
    fn has(&self, index: usize, class: usize) -> bool {
        !(index / self.strides[class]).is_multiple_of(self.sides[class])
    }

    /// Multiplies by s = Σ D_r z_r, in place.
    fn times_s(&self, series: &mut [Scaled], demands_s: &[f64], factor: f64) {
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
                if *demand_s > 0.0 && self.has(at, class) {
                    sum = sum.plus(series[at - self.strides[class]].times(demand_s * factor));
                }
            }
            series[at] = sum;
        }
    }

    /// Divides by 1 − s·factor, in place.
    fn over_one_less_s(&self, series: &mut [Scaled], demands_s: &[f64], factor: f64) {
        if let [demand_s] = demands_s {
            for at in 1..self.size {
                series[at] = series[at].plus(series[at - 1].times(demand_s * factor));
            }
            return;
        }
        for at in 0..self.size {
            let mut sum = series[at];
            for (class, demand_s) in demands_s.iter().enumerate() {
                if *demand_s > 0.0 && self.has(at, class) {
                    sum = sum.plus(series[at - self.strides[class]].times(demand_s * factor));
                }
            }
            series[at] = sum;
        }
    }

    /// exp(Σ Z_r z_r): all delays.
    fn delays(&self, delays_s: &[f64]) -> Vec<Scaled> {
        let mut series = vec![Scaled::ONE; self.size];
        for at in 1..self.size {
            // One customer less of the first class that is there.
            let class = (0..self.sides.len()).find(|class| self.has(at, *class)).unwrap_or_default();
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

/// A centre where customers wait.
struct Queue<'n> {
    at: usize,
    demands_s: &'n [f64],
    speeds: &'n [f64],
}

impl Queue<'_> {
    fn last(&self) -> f64 {
        self.speeds.last().copied().unwrap_or(1.0)
    }

    /// Multiplies by Φ: Σ_{j<L−1} s^j/A(j) + s^{L−1}/A(L−1) / (1 − s/α(L)).
    fn multiply_in(&self, lattice: &Lattice, series: &mut Vec<Scaled>) {
        let [slow @ .., last] = self.speeds else { return };
        let mut sum = if slow.is_empty() { Vec::new() } else { vec![Scaled::ZERO; series.len()] };
        for speed in slow {
            add(&mut sum, series, 1.0);
            lattice.times_s(series, self.demands_s, 1.0 / speed);
        }
        lattice.over_one_less_s(series, self.demands_s, 1.0 / last);
        if !slow.is_empty() {
            add(&mut sum, series, 1.0);
            *series = sum;
        }
    }

    /// Multiplies by Φ′ = Σ_{i≥0} (i+1)s^i/A(i+1); `few` gets the terms of Φ at the whole population before that.
    fn multiply_derivative(
        &self,
        lattice: &Lattice,
        mut series: Vec<Scaled>,
        few: &mut Vec<Scaled>,
    ) -> Vec<Scaled> {
        let [slow @ .., last] = self.speeds else { return series };
        let mut sum = vec![Scaled::ZERO; series.len()];
        for (i, speed) in slow.iter().enumerate() {
            few.push(series[lattice.size - 1]);
            // s^i/A(i) is there; the term has 1/A(i+1).
            add(&mut sum, &series, (i + 1) as f64 / speed);
            lattice.times_s(&mut series, self.demands_s, 1.0 / speed);
        }
        // s^{L−1}/A(L−1) is there: W = that/α(L); L·W/(1 − x) + x·W/(1 − x)² with x = s/α(L).
        lattice.over_one_less_s(&mut series, self.demands_s, 1.0 / last);
        add(&mut sum, &series, self.speeds.len() as f64 / last);
        lattice.times_s(&mut series, self.demands_s, 1.0 / last);
        lattice.over_one_less_s(&mut series, self.demands_s, 1.0 / last);
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
    let mut found = Found {
        lattice: &lattice,
        derivatives: vec![vec![Scaled::ZERO; classes]; network.centres.len()],
        few: vec![Vec::new(); network.centres.len()],
        whole: Scaled::ZERO,
        one_less: vec![Scaled::ZERO; classes],
    };
    // Centres of one speed come first: their derivative is made of the whole product.
    queues.sort_by_key(|queue| queue.speeds.len() > 1);
    let (plain, dependent) = queues.split_at(queues.partition_point(|queue| queue.speeds.len() == 1));
    let mut series = lattice.delays(&delays_s);
    for queue in plain {
        queue.multiply_in(&lattice, &mut series);
    }
    let base = series.clone();
    for queue in dependent {
        queue.multiply_in(&lattice, &mut series);
    }
    found.take_whole(&series);
    for queue in plain {
        // Φ′ = Φ²/α: the centre once more.
        let mut twice = series.clone();
        lattice.over_one_less_s(&mut twice, queue.demands_s, 1.0 / queue.last());
        found.take_derivative(queue.at, &twice, 1.0 / queue.last());
    }
    drop(series);
    found.leave_one_out(dependent, base);

    let rates_per_s: Vec<f64> = network
        .classes
        .iter()
        .zip(&found.one_less)
        .map(|(class, less)| if class.users == 0 { 0.0 } else { less.over(found.whole) })
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
                        found.derivatives[at][class].over(found.whole) * demand_s
                    } else {
                        rates_per_s[class] * demand_s
                    }
                })
                .collect()
        })
        .collect();
    let few =
        found.few.iter().map(|terms| terms.iter().map(|term| term.over(found.whole)).collect()).collect();
    Convolved { means: ClosedMeans { rates_per_s, queues: means }, few }
}

/// What is kept of the series.
struct Found<'l> {
    lattice: &'l Lattice,
    /// [Φ′ ∏ Φ](N − e_r) by centre and class.
    derivatives: Vec<Vec<Scaled>>,
    /// Terms of Φ times the rest at N.
    few: Vec<Vec<Scaled>>,
    /// G(N).
    whole: Scaled,
    /// G(N − e_r).
    one_less: Vec<Scaled>,
}

impl Found<'_> {
    fn without_one(&self, series: &[Scaled]) -> Vec<Scaled> {
        let last = self.lattice.size - 1;
        let less = |class| {
            if self.lattice.has(last, class) {
                series[last - self.lattice.strides[class]]
            } else {
                Scaled::ZERO
            }
        };
        (0..self.lattice.sides.len()).map(less).collect()
    }

    fn take_whole(&mut self, series: &[Scaled]) {
        self.whole = series[self.lattice.size - 1];
        self.one_less = self.without_one(series);
    }

    fn take_derivative(&mut self, at: usize, series: &[Scaled], factor: f64) {
        self.derivatives[at] = self.without_one(series).into_iter().map(|term| term.times(factor)).collect();
    }

    /// The derivative of each of `queues` needs the product of all others: `rest` has those that are not among them,
    /// and each half of them takes in the other half.
    fn leave_one_out(&mut self, queues: &[Queue<'_>], rest: Vec<Scaled>) {
        match queues {
            [] => {}
            [queue] => {
                let mut few = Vec::new();
                let derivative = queue.multiply_derivative(self.lattice, rest, &mut few);
                self.take_derivative(queue.at, &derivative, 1.0);
                self.few[queue.at] = few;
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
