//! Other methods, after their published sources.

/// The result of a method.
pub struct Found {
    /// The load that it returns: the largest one that passed.
    pub load: Option<f64>,
    pub trials: u32,
}

/// Runs a trial at a load, and returns the logarithm of the tested quantity divided by its limit.
type Trial<'a> = &'a mut dyn FnMut(f64) -> f64;

/// Doubles the load from `start` until a trial fails, then bisects until neighbouring loads differ by less than 1 % (Nighthawk,
/// `ExponentialSearchStepController`).
pub fn bisection(start: f64, trial: Trial<'_>) -> Found {
    let (mut load, mut trials) = (start, 1);
    let mut bottom = None;
    while trial(load) <= 0.0 {
        bottom = Some(load);
        load *= 2.0;
        trials += 1;
    }
    let Some(mut bottom) = bottom else { return Found { load: None, trials } };
    let (mut top, mut previous) = (load, load);
    loop {
        load = f64::midpoint(bottom, top);
        if (load / previous - 1.0).abs() < 0.01 {
            return Found { load: Some(bottom), trials };
        }
        trials += 1;
        if trial(load) <= 0.0 {
            bottom = load
        } else {
            top = load
        }
        previous = load;
    }
}

/// Largest number of trials of the isotonic method.
const TRIALS_MAX: u32 = 25;

/// Doubles the load until a trial fails, tries three loads between, and then the roots of a monotone cubic through the
/// isotonic regression of the excesses, until the largest load that passed and the smallest that failed differ by less than
/// 5 % (AIPerf, `smooth_isotonic` with its default of no replicates).
pub fn smooth_isotonic(start: f64, trial: Trial<'_>) -> Found {
    let mut state = Isotonic { points: Vec::new(), passed: None, failed: None };
    let mut load = start;
    while state.failed.is_none() && state.trials() < TRIALS_MAX {
        state.add(load, trial(load));
        load *= 2.0;
    }
    let (Some(passed), Some(failed)) = (state.passed, state.failed) else {
        return Found { load: state.passed, trials: state.trials() };
    };
    for quarter in [0.25, 0.5, 0.75] {
        let load = passed + quarter * (failed - passed);
        state.add(load, trial(load));
    }
    while state.trials() < TRIALS_MAX && !state.is_narrow() {
        let load = state.root();
        state.add(load, trial(load));
    }
    Found { load: state.passed, trials: state.trials() }
}

struct Isotonic {
    /// Loads and excesses.
    points: Vec<(f64, f64)>,
    passed: Option<f64>,
    failed: Option<f64>,
}

impl Isotonic {
    fn trials(&self) -> u32 {
        self.points.len() as u32
    }

    /// Outcomes that contradict earlier ones do not move the bracket.
    fn add(&mut self, load: f64, excess: f64) {
        self.points.push((load, excess));
        if excess <= 0.0 {
            if self.failed.is_none_or(|failed| load < failed) {
                self.passed = Some(self.passed.map_or(load, |passed| passed.max(load)));
            }
        } else if self.passed.is_none_or(|passed| load > passed) {
            self.failed = Some(self.failed.map_or(load, |failed| failed.min(load)));
        }
    }

    fn is_narrow(&self) -> bool {
        self.passed.zip(self.failed).is_none_or(|(passed, failed)| (failed - passed) / failed < 0.05)
    }

    /// The load inside the bracket where the curve is 0, or its middle.
    fn root(&self) -> f64 {
        let (Some(low), Some(high)) = (self.passed, self.failed) else { return f64::NAN };
        let (x, y) = rising(&self.points);
        let slopes = monotone_slopes(&x, &y);
        let value = |at: f64| hermite(&x, &y, &slopes, at);
        if value(low) > 0.0 || value(high) <= 0.0 {
            return f64::midpoint(low, high);
        }
        let (mut below, mut above) = (low, high);
        for _ in 0..40 {
            let middle = f64::midpoint(below, above);
            if value(middle) <= 0.0 { below = middle } else { above = middle }
        }
        // Strictly inside, so that the bracket narrows.
        let margin = 0.01 * (high - low);
        below.clamp(low + margin, high - margin)
    }
}

/// Isotonic regression of the mean excesses.
fn rising(points: &[(f64, f64)]) -> (Vec<f64>, Vec<f64>) {
    let mut sorted = points.to_vec();
    sorted.sort_by(|one, two| one.0.total_cmp(&two.0));
    let loads = sorted.chunk_by(|one, two| one.0 == two.0);
    let means: Vec<(f64, f64)> = loads
        .map(|same| (same[0].0, same.iter().map(|point| point.1).sum::<f64>() / same.len() as f64))
        .collect();
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for (_, mean) in &means {
        let mut pool = (*mean, 1);
        while let Some(last) = pools.last().filter(|last| last.0 > pool.0) {
            let count = last.1 + pool.1;
            pool = ((last.0 * last.1 as f64 + pool.0 * pool.1 as f64) / count as f64, count);
            pools.pop();
        }
        pools.push(pool);
    }
    let values = pools.iter().flat_map(|(value, count)| std::iter::repeat_n(*value, *count)).collect();
    (means.iter().map(|mean| mean.0).collect(), values)
}

/// Slopes of a monotone cubic: harmonic means of neighbouring secants (Fritsch and Butland).
fn monotone_slopes(x: &[f64], y: &[f64]) -> Vec<f64> {
    let secant = |at: usize| (y[at + 1] - y[at]) / (x[at + 1] - x[at]);
    (0..x.len())
        .map(|at| {
            if at == 0 || at + 1 == x.len() {
                return secant(at.min(x.len() - 2));
            }
            let (before, after) = (secant(at - 1), secant(at));
            if before * after <= 0.0 { 0.0 } else { 2.0 / (1.0 / before + 1.0 / after) }
        })
        .collect()
}

fn hermite(x: &[f64], y: &[f64], slopes: &[f64], at: f64) -> f64 {
    let left = x.partition_point(|x| *x <= at).clamp(1, x.len() - 1) - 1;
    let width = x[left + 1] - x[left];
    let t = (at - x[left]) / width;
    let (t2, t3) = (t * t, t * t * t);
    (2.0 * t3 - 3.0 * t2 + 1.0) * y[left]
        + (t3 - 2.0 * t2 + t) * width * slopes[left]
        + (3.0 * t2 - 2.0 * t3) * y[left + 1]
        + (t3 - t2) * width * slopes[left + 1]
}
