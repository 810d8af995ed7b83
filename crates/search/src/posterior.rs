//! The posterior distribution of the pass curve: the probability that a trial passes, over the logarithm of the load.
//!
//! The curve is logistic: P(pass) = λ + (1 − 2λ) / (1 + exp((x − m) / width)). Here x is the logarithm of the load, m that of the
//! half-pass load, at which half of the trials pass, and λ a small share of outcomes that have nothing to do with the load.
//!
//! Shorter trials have a larger width: either it grows with the root of the ratio of lengths, as sampling errors do, or it stays
//! the same, as the variation between runs does. Both are weighed.

/// Share of outcomes in each direction that do not depend on the load.
const LAPSE: f64 = 0.005;

/// Distance from the half-pass load, in widths, of the load that passes with a probability of 95 %: the logit of
/// (0.95 − λ) / (1 − 2λ).
pub(crate) const ANSWER_DISTANCE: f64 = 3.044_522_437_723_423;

/// The probability of each tail outside an interval.
pub(crate) const TAIL: f64 = 0.025;
const FIFTH: f64 = 0.05;

/// The quantile of a normal distribution with [`TAIL`] above.
const NORMAL_TAIL: f64 = 1.959_964;

/// Distance from the half-pass load, in widths, of the loads with 10 % and 90 %, without lapses.
pub(crate) const TENTH_DISTANCE: f64 = 2.197_224_577_336_219;

/// The widths of the grid.
const WIDTHS: usize = 22;
const WIDTH_MIN: f64 = 0.000_3;
const WIDTH_MAX: f64 = 0.4;

/// The prior of the width is lognormal, with a part at the smallest width: a limit such as the size of a pool is a cliff.
const CLIFF_SHARE: f64 = 0.15;
const WIDTH_MEDIAN: f64 = 0.018;
const WIDTH_SD: f64 = 1.0;

/// The exponents with which the width grows with the ratio of the full to the actual length, and their prior probabilities. A
/// wrong growth leads to an answer that is too high, so that no growth has the larger probability.
const GROWTHS: [(f64, f64); 2] = [(0.0, 0.75), (0.5, 0.25)];

/// Half-pass loads of one width, evenly over the part of the range with weight: fewer with more trials, which narrow the part. Their
/// number times that of different trials.
const POINTS: std::ops::RangeInclusive<usize> = 40..=160;
const POINTS_AND_TRIALS: usize = 480;

/// Additional half-pass loads around a guess, and their distance from it in standard errors.
const AROUND_GUESS: usize = 24;
const GUESS_DISTANCE: f64 = 6.0;

/// The half-pass loads of a width are narrowed at most this many times, to the part within this difference of the logarithm.
const ZOOMS: usize = 10;
const LOG_WEIGHT_RANGE: f64 = 16.0;

/// Curves with less weight than this share of the largest one are dropped.
const WEIGHT_MIN: f64 = 1e-8;

/// Widths below this share of the distance of neighbouring half-pass loads are raised to it, so that nothing between them is missed.
const SMOOTHING: f64 = 0.4;

/// Below this distance from the half-pass load, in widths, the curve is computed; beyond, it has its limit.
const DISTANCE_MAX: f64 = 16.0;

/// Share of the prior that is spread evenly over the range if there is a guess.
const EVEN_SHARE: f64 = 0.2;

/// The outcome of a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Observation {
    /// Logarithm of the load.
    pub x: f64,
    /// The length as a share of the full length, at most 1.
    pub share: f64,
    /// Whether it passed.
    pub passed: bool,
}

/// The prior distribution of the half-pass load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Prior {
    /// Smallest and largest logarithm of the half-pass load.
    pub low: f64,
    pub high: f64,
    /// Logarithm of a guess, and its standard error.
    pub guess: Option<(f64, f64)>,
}

impl Prior {
    /// The density, up to a factor: a constant, plus a peak with the tails of Student's t with 3 degrees of freedom.
    fn density(&self, half_pass: f64) -> f64 {
        let even = 1.0 / (self.high - self.low);
        let Some((center, scale)) = self.guess else { return even };
        let t = (half_pass - center) / scale;
        let peak = 2.0 / (std::f64::consts::PI * 3.0_f64.sqrt() * (1.0 + t * t / 3.0).powi(2) * scale);
        EVEN_SHARE * even + (1.0 - EVEN_SHARE) * peak
    }
}

/// A distribution by its quantiles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Quantiles {
    pub low: f64,
    /// The value that 5 % are below.
    pub fifth: f64,
    pub median: f64,
    pub high: f64,
}

impl Quantiles {
    /// The quantiles from a function of the share below.
    pub(crate) fn of(at: impl Fn(f64) -> f64) -> Quantiles {
        Quantiles { low: at(TAIL), fifth: at(FIFTH), median: at(0.5), high: at(1.0 - TAIL) }
    }

    /// The standard deviation of a normal distribution with the same interval.
    pub(crate) fn deviation(&self) -> f64 {
        (self.high - self.low) / (2.0 * NORMAL_TAIL)
    }
}

/// A possible pass curve with its weight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Curve {
    pub half_pass: f64,
    pub width: f64,
    growth: f64,
    pub weight: f64,
}

impl Curve {
    /// Logarithm of the largest load that passes with a probability of at least 95 %.
    pub(crate) fn answer(&self) -> f64 {
        self.half_pass - ANSWER_DISTANCE * self.width
    }

    /// The probability that a trial of this share of the full length passes.
    pub(crate) fn pass_probability(&self, x: f64, share: f64) -> f64 {
        curve((x - self.half_pass) / width_of(self.width, self.growth, share))
    }
}

fn width_of(width: f64, growth: f64, share: f64) -> f64 {
    width * share.powf(-growth)
}

fn curve(distance: f64) -> f64 {
    let logistic = if distance > DISTANCE_MAX {
        0.0
    } else if distance < -DISTANCE_MAX {
        1.0
    } else {
        1.0 / (1.0 + distance.exp())
    };
    LAPSE + (1.0 - 2.0 * LAPSE) * logistic
}

/// The posterior distribution of the pass curve.
#[derive(Debug, Clone)]
pub(crate) struct Posterior {
    curves: Vec<Curve>,
    /// The half-pass load.
    pub half_pass: Quantiles,
    /// The logarithm of the largest load that passes with a probability of at least 95 %.
    pub answer: Quantiles,
    /// The expected width.
    pub width: f64,
}

/// Trials with the same load, length and outcome.
struct Group {
    observation: Observation,
    count: i32,
}

impl Posterior {
    /// Computes the distribution.
    pub(crate) fn new(prior: &Prior, observations: &[Observation]) -> Posterior {
        let groups = grouped(observations);
        let ratio = (WIDTH_MAX / WIDTH_MIN).powf(1.0 / (WIDTHS - 1) as f64);
        let mut curves = Vec::with_capacity(GROWTHS.len() * WIDTHS * (POINTS.start() + AROUND_GUESS));
        for (growth, probability) in GROWTHS {
            for width in (0..WIDTHS).map(|at| WIDTH_MIN * ratio.powi(at as i32)) {
                let log_prior = (probability * width_prior(width, ratio)).ln();
                let of_width = points_of_width(prior, &groups, growth, width);
                curves.extend(of_width.iter().map(|point| Curve {
                    half_pass: point.half_pass,
                    width,
                    growth,
                    weight: point.log_weight + log_prior,
                }));
            }
        }
        let highest = curves.iter().map(|curve| curve.weight).fold(f64::NEG_INFINITY, f64::max);
        for curve in &mut curves {
            curve.weight = (curve.weight - highest).exp();
        }
        curves.retain(|curve| curve.weight > WEIGHT_MIN);
        let total: f64 = curves.iter().map(|curve| curve.weight).sum();
        for curve in &mut curves {
            curve.weight /= total;
        }
        let width = curves.iter().map(|curve| curve.weight * curve.width).sum();
        let half_pass = quantiles(&curves, |curve| curve.half_pass);
        let answer = quantiles(&curves, Curve::answer);
        Posterior { curves, half_pass, answer, width }
    }

    /// The smallest width that a curve can have.
    pub(crate) fn smallest_width(&self) -> f64 {
        WIDTH_MIN
    }

    /// The possible curves.
    pub(crate) fn curves(&self) -> &[Curve] {
        &self.curves
    }

    /// The expected value of a quantity.
    pub(crate) fn mean(&self, of: impl Fn(&Curve) -> f64) -> f64 {
        self.curves.iter().map(|curve| curve.weight * of(curve)).sum()
    }

    /// The standard deviation of the half-pass load.
    pub(crate) fn half_pass_sd(&self) -> f64 {
        let mean = self.mean(|curve| curve.half_pass);
        self.mean(|curve| (curve.half_pass - mean).powi(2)).sqrt()
    }

    /// The quantiles of a quantity.
    pub(crate) fn quantiles(&self, of: impl Fn(&Curve) -> f64) -> Quantiles {
        quantiles(&self.curves, of)
    }
}

/// The prior probability of a width of the grid, whose neighbours differ by this ratio.
fn width_prior(width: f64, ratio: f64) -> f64 {
    let z = (width / WIDTH_MEDIAN).ln() / WIDTH_SD;
    let density = (-z * z / 2.0).exp() / (WIDTH_SD * std::f64::consts::TAU.sqrt());
    let gradual = (1.0 - CLIFF_SHARE) * density * ratio.ln();
    if width <= WIDTH_MIN { CLIFF_SHARE + gradual } else { gradual }
}

/// The quantiles [`TAIL`], 0.5 and 1 − [`TAIL`] of a quantity.
fn quantiles(curves: &[Curve], of: impl Fn(&Curve) -> f64) -> Quantiles {
    let mut values: Vec<(f64, f64)> = curves.iter().map(|curve| (of(curve), curve.weight)).collect();
    values.sort_unstable_by(|one, two| one.0.total_cmp(&two.0));
    Quantiles::of(|wanted| weighted_quantile(&values, wanted))
}

/// The quantile of values in increasing order, interpolated between the middles of their weights.
pub(crate) fn weighted_quantile(values: &[(f64, f64)], wanted: f64) -> f64 {
    let (mut below, mut previous) = (0.0, None);
    for (value, weight) in values.iter().filter(|(_, weight)| *weight > 0.0) {
        let middle = below + weight / 2.0;
        if middle >= wanted {
            return match previous {
                Some((last_value, last_middle)) => {
                    last_value + (value - last_value) * (wanted - last_middle) / (middle - last_middle)
                }
                None => *value,
            };
        }
        below += weight;
        previous = Some((*value, middle));
    }
    previous.map_or(f64::NAN, |(value, _)| value)
}

fn grouped(observations: &[Observation]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for observation in observations {
        match groups.iter_mut().find(|group| group.observation == *observation) {
            Some(group) => group.count += 1,
            None => groups.push(Group { observation: *observation, count: 1 }),
        }
    }
    groups
}

/// A half-pass load with the logarithm of its weight.
#[derive(Debug, Clone, Copy)]
struct Point {
    half_pass: f64,
    log_weight: f64,
}

/// The half-pass loads of one width with their weights. They narrow to the part of the range that has weight.
fn points_of_width(prior: &Prior, groups: &[Group], growth: f64, width: f64) -> Vec<Point> {
    let widths: Vec<f64> =
        groups.iter().map(|group| width_of(width, growth, group.observation.share)).collect();
    let count = (POINTS_AND_TRIALS / groups.len().max(1)).clamp(*POINTS.start(), *POINTS.end());
    let (mut low, mut high) = (prior.low, prior.high);
    let mut zooms = 0;
    loop {
        let points = weigh(prior, groups, &widths, &spread(prior, count, low, high));
        let highest = points.iter().map(|point| point.log_weight).fold(f64::NEG_INFINITY, f64::max);
        let has_weight = |point: &Point| point.log_weight > highest - LOG_WEIGHT_RANGE;
        let first = points.iter().position(has_weight).unwrap_or(0).saturating_sub(1);
        let last = (points.iter().rposition(has_weight).unwrap_or(0) + 1).min(points.len() - 1);
        let (inner_low, inner_high) = (points[first].half_pass, points[last].half_pass);
        if inner_high - inner_low > 0.7 * (high - low) || zooms == ZOOMS {
            return points;
        }
        (low, high) = (inner_low, inner_high);
        zooms += 1;
    }
}

/// Half-pass loads over a part of the range: evenly, and more densely around a guess.
fn spread(prior: &Prior, count: usize, low: f64, high: f64) -> Vec<f64> {
    let step = (high - low) / (count - 1) as f64;
    let mut points: Vec<f64> = (0..count).map(|at| low + step * at as f64).collect();
    if let Some((center, scale)) = prior.guess
        && scale < 2.0 * step
    {
        let around =
            |at: usize| center + GUESS_DISTANCE * scale * (2.0 * at as f64 / (AROUND_GUESS - 1) as f64 - 1.0);
        points.extend((0..AROUND_GUESS).map(around).filter(|point| *point > low && *point < high));
        points.sort_unstable_by(f64::total_cmp);
    }
    points
}

fn weigh(prior: &Prior, groups: &[Group], widths: &[f64], points: &[f64]) -> Vec<Point> {
    let mut inverse_widths = vec![0.0; widths.len()];
    let weigh_one = |at: usize| {
        let half_pass = points[at];
        let cell = (points[(at + 1).min(points.len() - 1)] - points[at.saturating_sub(1)]) / 2.0;
        for (inverse, width) in inverse_widths.iter_mut().zip(widths) {
            *inverse = 1.0 / width.max(SMOOTHING * cell);
        }
        let log_prior = (prior.density(half_pass) * cell).ln();
        Point { half_pass, log_weight: log_prior + log_likelihood(groups, &inverse_widths, half_pass) }
    };
    (0..points.len()).map(weigh_one).collect()
}

/// Multiplies the probabilities, and takes logarithms only before the product becomes too small.
fn log_likelihood(groups: &[Group], inverse_widths: &[f64], half_pass: f64) -> f64 {
    let (mut log, mut product) = (0.0, 1.0_f64);
    for (group, inverse_width) in groups.iter().zip(inverse_widths) {
        let passes = curve((group.observation.x - half_pass) * inverse_width);
        let probability = if group.observation.passed { passes } else { 1.0 - passes };
        product *= if group.count == 1 { probability } else { probability.powi(group.count) };
        if product < 1e-200 {
            log += product.max(f64::MIN_POSITIVE).ln();
            product = 1.0;
        }
    }
    log + product.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observed(outcomes: &[(f64, bool)]) -> Vec<Observation> {
        outcomes
            .iter()
            .map(|(load, passed)| Observation { x: load.ln(), share: 1.0, passed: *passed })
            .collect()
    }

    const RANGE: Prior = Prior { low: 0.0, high: 10.0, guess: None };

    #[test]
    fn the_answer_has_the_probability_to_pass() {
        let curve = Curve { half_pass: 3.0, width: 0.1, growth: 0.5, weight: 1.0 };
        assert!((curve.pass_probability(curve.answer(), 1.0) - 0.95).abs() < 1e-12);
        let tenth = curve.pass_probability(3.0 + TENTH_DISTANCE * 0.1, 1.0);
        assert!((tenth - (LAPSE + (1.0 - 2.0 * LAPSE) * 0.1)).abs() < 1e-12, "{tenth}");
        // A trial of a quarter of the length has twice the width.
        let short = curve.pass_probability(3.0 - 2.0 * ANSWER_DISTANCE * 0.1, 0.25);
        assert!((short - 0.95).abs() < 1e-12);
    }

    #[test]
    fn outcomes_narrow_the_half_pass_load_at_any_scale() {
        let prior = Posterior::new(&RANGE, &[]);
        assert!((prior.quantiles(|curve| curve.half_pass).median - 5.0).abs() < 0.05);
        let bracketed = Posterior::new(&RANGE, &observed(&[(100.0, true), (200.0, false)].repeat(2)));
        let found = bracketed.quantiles(|curve| curve.half_pass);
        assert!(found.low > 90.0_f64.ln() && found.high < 220.0_f64.ln(), "{found:?}");
        // 12 trials on each side of a narrow gap.
        let mut outcomes = vec![(497.0, true); 12];
        outcomes.extend([(503.0, false); 12]);
        let narrow = Posterior::new(&RANGE, &observed(&outcomes));
        let found = narrow.quantiles(|curve| curve.half_pass.exp());
        assert!(found.low > 494.0 && found.high < 506.0, "{found:?}");
    }

    #[test]
    fn repeated_outcomes_narrow_the_width() {
        let of =
            |outcomes: &[(f64, bool)]| Posterior::new(&RANGE, &observed(outcomes)).mean(|curve| curve.width);
        let steep = of(&[[(98.0, true); 10], [(102.0, false); 10]].concat());
        let mixed = [(90.0, true), (90.0, false), (110.0, true), (110.0, false)];
        let flat = of(&mixed.repeat(5));
        assert!(steep < 0.01 && flat > 0.1, "{steep} {flat}");
    }

    #[test]
    fn a_wrong_guess_is_overruled() {
        let prior = Prior { guess: Some((3.0, 0.1)), ..RANGE };
        let guessed = Posterior::new(&prior, &[]).quantiles(|curve| curve.half_pass);
        assert!((guessed.median - 3.0).abs() < 0.05, "{guessed:?}");
        let outcomes = observed(&[(20.0, true), (500.0, true), (700.0, true), (2_000.0, false)]);
        let found = Posterior::new(&prior, &outcomes).quantiles(|curve| curve.half_pass.exp());
        assert!(found.low > 600.0 && found.high < 2_100.0, "{found:?}");
    }

    #[test]
    fn quantiles_are_those_of_the_weights() {
        let values = [(1.0, 0.25), (2.0, 0.25), (3.0, 0.5)];
        assert_eq!(weighted_quantile(&values, 0.375), 2.0);
        assert_eq!(weighted_quantile(&values, 0.01), 1.0);
        assert_eq!(weighted_quantile(&values, 0.99), 3.0);
    }
}
