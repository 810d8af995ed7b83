//! The CPU time of possible neighbours over time. Their number is bounded.

use crate::reading::{SuspectId, Use};

/// Maximum number of possible neighbours that are followed. Those that used the most CPU time recently are kept.
const CANDIDATES_MAX: usize = 256;

/// Minimum CPU time, in cores, of a process that is followed.
const ADMITTED: f64 = 0.003;

/// The weight of the newest reading in the moving mean that determines which candidates are kept.
const NEWEST: f64 = 0.02;

/// A possible neighbour.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) id: SuspectId,
    /// Square roots of the CPU time in cores. The square root prevents single large values from dominating.
    pub(crate) roots: Vec<f64>,
    recent: f64,
}

impl Candidate {
    /// CPU time in cores at a reading.
    pub(crate) fn cores(&self, at: usize) -> f64 {
        self.roots[at] * self.roots[at]
    }
}

/// The followed candidates.
#[derive(Clone, Debug, Default)]
pub(crate) struct Candidates {
    pub(crate) all: Vec<Candidate>,
}

impl Candidates {
    /// Adds the uses of a reading. `count` is the number of readings, including this one.
    pub(crate) fn add(&mut self, uses: &[Use], count: usize) {
        for candidate in &mut self.all {
            candidate.roots.resize(count, 0.0);
            candidate.recent *= 1.0 - NEWEST;
        }
        for one in uses {
            let cores = if one.cores.is_finite() { one.cores.max(0.0) } else { 0.0 };
            let known = self.all.iter().position(|candidate| candidate.id == one.id);
            let Some(place) = known.or_else(|| self.admit(one.id, cores, count)) else { continue };
            let candidate = &mut self.all[place];
            candidate.roots[count - 1] = cores.sqrt();
            candidate.recent += NEWEST * cores;
        }
    }

    /// A place for a new candidate: a free one, or that of the candidate that used the least CPU time recently.
    fn admit(&mut self, id: SuspectId, cores: f64, count: usize) -> Option<usize> {
        if cores < ADMITTED {
            return None;
        }
        let new = Candidate { id, roots: vec![0.0; count], recent: 0.0 };
        if self.all.len() < CANDIDATES_MAX {
            self.all.push(new);
            return Some(self.all.len() - 1);
        }
        let least = (0..self.all.len()).min_by(|a, b| self.all[*a].recent.total_cmp(&self.all[*b].recent))?;
        (self.all[least].recent < NEWEST * cores).then(|| {
            self.all[least] = new;
            least
        })
    }

    /// Discards the first readings.
    pub(crate) fn discard(&mut self, count: usize) {
        self.all.iter_mut().for_each(|candidate| drop(candidate.roots.drain(..count)));
        self.all.retain(|candidate| candidate.roots.iter().any(|root| *root > 0.0));
    }

    /// The candidate with this number.
    pub(crate) fn get(&self, id: SuspectId) -> Option<&Candidate> {
        self.all.iter().find(|candidate| candidate.id == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_of_ten_thousand_processes_remain() {
        let mut candidates = Candidates::default();
        let mut uses: Vec<Use> =
            (0..10_000).map(|number| Use { id: SuspectId(number), cores: 0.004 }).collect();
        candidates.add(&uses, 1);
        uses[9_999].cores = 0.5;
        candidates.add(&uses, 2);
        assert_eq!(candidates.all.len(), CANDIDATES_MAX);
        let large = candidates.get(SuspectId(9_999)).unwrap();
        assert!((large.cores(1) - 0.5).abs() < 1e-12 && large.cores(0) == 0.0);
        assert!(candidates.all.iter().all(|candidate| candidate.roots.len() == 2));
    }
}
