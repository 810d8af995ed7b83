//! CPU time that the hypervisor gives to other machines. It is measured, not inferred: only its level is judged.

/// Stolen time is reported from this share of the requested CPU time on.
pub const STEAL_SHARE_MIN: f64 = 0.05;

/// Number of readings over which the share is computed.
const READINGS: usize = 20;

/// Minimum number of these readings in which some time was stolen, because a single stall is not a neighbour.
const STOLEN_MIN: usize = 10;

/// Stolen time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StolenTime {
    /// When it was found, in seconds.
    pub found_s: f64,
    /// Its start in seconds.
    pub from_s: f64,
    /// The last reading with stolen time, in seconds.
    pub to_s: f64,
    /// Stolen time, divided by the CPU time that the machine requested (used and stolen), since the start.
    pub share: f64,
}

/// Watches stolen time.
#[derive(Clone, Debug, Default)]
pub struct StealWatch {
    last: std::collections::VecDeque<(f64, f64, f64)>,
    found: Option<StolenTime>,
    /// Stolen and requested time since the start of the steal that was found.
    sums: (f64, f64),
}

impl StealWatch {
    /// Processes the CPU time of the machine since the previous reading, in cores: used, and stolen. Returns whether
    /// stolen time was found with this reading.
    pub fn add(&mut self, at_s: f64, used: f64, stolen: f64) -> bool {
        if !(used.is_finite() && stolen.is_finite()) || used < 0.0 || stolen < 0.0 {
            return false;
        }
        self.last.push_back((at_s, used, stolen));
        if self.last.len() > READINGS {
            self.last.pop_front();
        }
        if let Some(found) = &mut self.found {
            if stolen > 0.0 {
                found.to_s = at_s;
            }
            self.sums = (self.sums.0 + stolen, self.sums.1 + used + stolen);
            found.share = self.sums.0 / self.sums.1.max(f64::MIN_POSITIVE);
            return false;
        }
        let (stolen, requested) = self
            .last
            .iter()
            .fold((0.0, 0.0), |(stolen, all), (_, used, one)| (stolen + one, all + used + one));
        let with = self.last.iter().filter(|(_, _, stolen)| *stolen > 0.0).count();
        let is_found =
            self.last.len() == READINGS && with >= STOLEN_MIN && stolen >= STEAL_SHARE_MIN * requested;
        if is_found {
            let first = self.last.iter().find(|(_, _, stolen)| *stolen > 0.0);
            let from_s = first.map_or(at_s, |(at, ..)| *at);
            self.sums = (stolen, requested);
            self.found = Some(StolenTime { found_s: at_s, from_s, to_s: at_s, share: stolen / requested });
        }
        is_found
    }

    /// The steal that was found.
    #[must_use]
    pub fn found(&self) -> Option<&StolenTime> {
        self.found.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stolen_time_is_found_by_its_share() {
        let mut watch = StealWatch::default();
        for second in 0..100 {
            assert!(!watch.add(f64::from(second), 0.8, 0.02), "2.4 %");
        }
        let found: Vec<i32> = (100..140).filter(|second| watch.add(f64::from(*second), 0.8, 0.1)).collect();
        assert_eq!(found.len(), 1);
        let stolen = watch.found().unwrap();
        assert!(stolen.share > 0.05 && stolen.share < 0.12, "{stolen:?}");
        assert!((stolen.to_s - 139.0).abs() < 1e-9);
    }

    #[test]
    fn a_single_stall_is_not_a_neighbour() {
        let mut watch = StealWatch::default();
        assert!((0..60).all(|second| !watch.add(
            f64::from(second),
            0.5,
            if second == 30 { 1.5 } else { 0.0 }
        )));
    }
}
