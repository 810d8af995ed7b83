//! A fixed number of independent points: what Apache JMeter's Open Model Thread Group calls random arrivals.

use crate::random::Source;

/// JMeter 5.6.3 fills a stage in two layers: as many uniform points as the lower of the two rates gives, and the rest
/// with a density that rises from or falls to 0. Both numbers are fixed. Here each layer is generated in order, so
/// that no list is kept, and the two are merged.
#[derive(Clone, Debug)]
pub(crate) struct FixedCount {
    source: Source,
    layers: [Layer; 2],
    duration_ns: u64,
}

/// Ascending order statistics of `left` + … independent points of one density.
#[derive(Clone, Copy, Debug)]
struct Layer {
    density: Density,
    left: u64,
    /// The part of the uniform law above the last point.
    above: f64,
    /// The point to come, if it was drawn already.
    next_ns: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
enum Density {
    Flat,
    Rising,
    Falling,
}

impl FixedCount {
    pub(crate) fn new(
        source: Source,
        begin_per_s: f64,
        end_per_s: f64,
        duration_ns: u64,
        count: u64,
    ) -> FixedCount {
        let seconds = duration_ns as f64 / 1e9;
        let mut flat = ((begin_per_s.min(end_per_s) * seconds) as u64).min(count);
        if begin_per_s == end_per_s {
            flat = count;
        }
        let slope = if begin_per_s < end_per_s { Density::Rising } else { Density::Falling };
        let layers = [Layer::new(Density::Flat, flat), Layer::new(slope, count - flat)];
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

    /// Draws the next point if none is waiting. The smallest of m uniforms on what is left leaves the part V^(1/m)
    /// above it (Devroye, "Non-Uniform Random Variate Generation", 1986, V.3).
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
