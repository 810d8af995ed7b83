//! A fixed number of independent points, as in the random arrivals of Apache JMeter's Open Model Thread Group.

use crate::java_random::JavaRandom;
use crate::linear_rate::NS_PER_S;
use crate::random::Source;
use crate::stage::Stage;

/// The two layers of points in a stage of JMeter 5.6.3: uniform points according to the lower of the two rates, and the
/// remaining points. The density of the remaining points rises from 0 or falls to 0. The number of points in each layer
/// is fixed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layers {
    flat: u64,
    slope: u64,
    density: Density,
}

impl Layers {
    /// Uniform points only.
    pub(crate) fn flat(count: u64) -> Layers {
        Layers { flat: count, slope: 0, density: Density::Flat }
    }

    pub(crate) fn new(stage: &Stage, count: u64) -> Layers {
        let (begin, end) = (stage.rate_begin.per_s(), stage.rate_end.per_s());
        let seconds = stage.duration_ns() as f64 / NS_PER_S;
        let flat = match begin == end {
            true => count,
            false => ((begin.min(end) * seconds) as u64).min(count),
        };
        let density = if begin < end { Density::Rising } else { Density::Falling };
        Layers { flat, slope: count - flat, density }
    }
}

/// Generates both layers in order of time, without storing a list, and merges them.
#[derive(Clone, Debug)]
pub(crate) struct FixedCount {
    source: Source,
    layers: [Layer; 2],
    duration_ns: u64,
}

/// Generates the remaining points of one layer in ascending order; `left` is their number.
#[derive(Clone, Copy, Debug)]
struct Layer {
    density: Density,
    left: u64,
    /// The fraction of the interval that is above the last point.
    above: f64,
    /// The next point, if it has already been drawn.
    next_ns: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
enum Density {
    Flat,
    Rising,
    Falling,
}

impl FixedCount {
    pub(crate) fn new(source: Source, layers: Layers, duration_ns: u64) -> FixedCount {
        let layers = [Layer::new(Density::Flat, layers.flat), Layer::new(layers.density, layers.slope)];
        FixedCount { source, layers, duration_ns }
    }

    pub(crate) fn next_ns(&mut self) -> Option<u64> {
        for layer in &mut self.layers {
            layer.draw(&mut self.source, self.duration_ns);
        }
        let [flat, slope] = &mut self.layers;
        let earlier = match (flat.next_ns, slope.next_ns) {
            (Some(a), Some(b)) if b < a => slope,
            (Some(_), _) => flat,
            (None, _) => slope,
        };
        earlier.next_ns.take()
    }
}

impl Layer {
    fn new(density: Density, left: u64) -> Layer {
        Layer { density, left, above: 1.0, next_ns: None }
    }

    /// Draws the next point unless one has been drawn. The smallest of m uniform points on the remaining interval leaves the
    /// fraction V^(1/m) of it above, where V is uniform (Devroye, "Non-Uniform Random Variate Generation", 1986, V.3).
    fn draw(&mut self, source: &mut Source, duration_ns: u64) {
        if self.next_ns.is_some() || self.left == 0 {
            return;
        }
        self.above *= libm::exp(-source.exponential() / self.left as f64);
        self.left -= 1;
        let part = match self.density {
            Density::Flat => 1.0 - self.above,
            Density::Rising => (1.0 - self.above).sqrt(),
            Density::Falling => 1.0 - self.above.sqrt(),
        };
        self.next_ns = Some(((part * duration_ns as f64) as u64).min(duration_ns - 1));
    }
}

/// Exactly the points that JMeter generates for a random seed: they are drawn in random order and sorted.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    /// The points in descending order, so that the next one is at the end of the list.
    offsets_ns: Vec<u64>,
}

impl Listed {
    pub(crate) fn new(state: u64, layers: Layers, duration_ns: u64) -> Listed {
        let mut random = JavaRandom::from_state(state);
        let mut offsets_ns = Vec::with_capacity((layers.flat + layers.slope) as usize);
        let mut place =
            |part: f64| offsets_ns.push(((part * duration_ns as f64).round() as u64).min(duration_ns - 1));
        for _ in 0..layers.flat {
            place(random.next_double());
        }
        for _ in 0..layers.slope {
            let root = random.next_double().sqrt();
            place(if matches!(layers.density, Density::Falling) { 1.0 - root } else { root });
        }
        offsets_ns.sort_unstable_by(|a, b| b.cmp(a));
        Listed { offsets_ns }
    }

    pub(crate) fn next_ns(&mut self) -> Option<u64> {
        self.offsets_ns.pop()
    }
}
