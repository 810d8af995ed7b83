//! Stations that serve all customers simultaneously.
//!
//! With processor sharing all customers of a class progress at the same speed, so that one number per class describes
//! the progress of all of them: the *attained* service of a customer that was present from the start. A customer is
//! finished when that number has grown by its own service time (the virtual time of Parekh and Gallager, IEEE/ACM
//! Trans. Networking 1, 1993). An arrival or departure costs the logarithm of the number of customers present.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Customers of one class.
#[derive(Debug, Default)]
struct Shared {
    /// Service attained since this was 0, in seconds.
    attained_s: f64,
    /// Customers by the attained service at which they finish (as bits, which have the same order as the numbers),
    /// the earliest on top.
    done: BinaryHeap<Reverse<(u64, u64, u32)>>,
    /// Speed of each customer: 1 is a whole server.
    speed: f64,
}

/// The customers of a station in shared service.
#[derive(Debug)]
pub(crate) struct Sharing {
    classes: Vec<Shared>,
    /// Shares of the classes: with weights 2 and 1 a customer of the first class is served twice as fast.
    weights: Vec<f64>,
    /// What so many customers get together, in servers: the first is for one. The last is for all greater numbers.
    capacity: Vec<f64>,
    /// No customer gets more than one server, unless the capacity depends on the load; then it is one server.
    speed_max: f64,
    present: usize,
    came: u64,
    at_s: f64,
}

impl Sharing {
    /// `servers` equal servers.
    pub(crate) fn servers(servers: u32, weights: Vec<f64>) -> Self {
        let capacity = (1..=servers).map(f64::from).collect();
        Self::new(capacity, 1.0, weights)
    }

    /// One server whose speed depends on how many it serves.
    pub(crate) fn load_dependent(speeds: Vec<f64>, weights: Vec<f64>) -> Self {
        Self::new(speeds, f64::INFINITY, weights)
    }

    fn new(capacity: Vec<f64>, speed_max: f64, weights: Vec<f64>) -> Self {
        let classes = weights.iter().map(|_| Shared::default()).collect();
        Self { classes, weights, capacity, speed_max, present: 0, came: 0, at_s: 0.0 }
    }

    /// How many servers a class keeps busy.
    #[inline]
    pub(crate) fn busy(&self, class: usize) -> f64 {
        let shared = &self.classes[class];
        if self.speed_max.is_finite() {
            shared.speed * shared.done.len() as f64
        } else {
            // One server, and this is the class's share of it.
            let total = self.capacity_now();
            if total > 0.0 { shared.speed * shared.done.len() as f64 / total } else { 0.0 }
        }
    }

    fn capacity_now(&self) -> f64 {
        match self.present {
            0 => 0.0,
            present => self.capacity[present.min(self.capacity.len()) - 1],
        }
    }

    /// Adds a customer with the service time `service_s`.
    pub(crate) fn come(&mut self, now_s: f64, class: usize, customer: u32, service_s: f64) {
        self.progress(now_s);
        self.came += 1;
        let shared = &mut self.classes[class];
        if shared.done.is_empty() {
            // No customer uses the old origin any more; small numbers keep their precision.
            shared.attained_s = 0.0;
        }
        shared.done.push(Reverse(((shared.attained_s + service_s).to_bits(), self.came, customer)));
        self.present += 1;
        self.share_out();
    }

    /// Removes the customer that finishes first if it is due. `None` if not: the station was expected to be faster.
    pub(crate) fn leave(&mut self, now_s: f64) -> Option<(usize, u32)> {
        let (class, at_s) = self.soonest()?;
        // What the last steps were rounded by.
        if at_s > now_s * (1.0 + 4.0 * f64::EPSILON) {
            return None;
        }
        self.progress(now_s);
        let shared = &mut self.classes[class];
        let Reverse((due, _, customer)) = shared.done.pop()?;
        shared.attained_s = shared.attained_s.max(f64::from_bits(due));
        self.present -= 1;
        self.share_out();
        Some((class, customer))
    }

    /// The time of the next end of service if no customer arrives before.
    pub(crate) fn next_s(&self) -> Option<f64> {
        self.soonest().map(|(_, at_s)| at_s)
    }

    fn soonest(&self) -> Option<(usize, f64)> {
        let mut best: Option<(usize, f64)> = None;
        for (class, shared) in self.classes.iter().enumerate() {
            let Some(Reverse((due, _, _))) = shared.done.peek() else { continue };
            let wait_s = (f64::from_bits(*due) - shared.attained_s).max(0.0) / shared.speed;
            let at_s = self.at_s + wait_s;
            if at_s.is_finite() && best.is_none_or(|(_, soonest)| at_s < soonest) {
                best = Some((class, at_s));
            }
        }
        best
    }

    /// Serves everybody until now.
    fn progress(&mut self, now_s: f64) {
        let passed_s = now_s - self.at_s;
        self.at_s = now_s;
        for shared in &mut self.classes {
            if !shared.done.is_empty() {
                shared.attained_s += shared.speed * passed_s;
            }
        }
    }

    /// Each customer gets capacity by the weight of its class, at most one server; the remaining capacity is
    /// distributed among the others by their weights.
    fn share_out(&mut self) {
        let mut capacity = self.capacity_now();
        let mut total: f64 = 0.0;
        for (shared, weight) in self.classes.iter_mut().zip(&self.weights) {
            shared.speed = 0.0;
            total += weight * shared.done.len() as f64;
        }
        // At most as many rounds as there are classes: each but the last gives at least one class all it can take.
        while total > 0.0 {
            let per_weight = capacity / total;
            let mut changed = false;
            for (shared, weight) in self.classes.iter_mut().zip(&self.weights) {
                let count = shared.done.len() as f64;
                if count > 0.0 && shared.speed == 0.0 && weight * per_weight >= self.speed_max {
                    shared.speed = self.speed_max;
                    capacity -= count * self.speed_max;
                    total -= weight * count;
                    changed = true;
                }
            }
            if !changed {
                for (shared, weight) in self.classes.iter_mut().zip(&self.weights) {
                    if !shared.done.is_empty() && shared.speed == 0.0 {
                        shared.speed = weight * per_weight;
                    }
                }
                return;
            }
            if self.classes.iter().all(|shared| shared.done.is_empty() || shared.speed > 0.0) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All departures with their times.
    fn departures(mut station: Sharing, coming: &[(f64, usize, f64)]) -> Vec<(f64, u32)> {
        let mut out = Vec::new();
        let mut coming = coming.iter().enumerate().peekable();
        loop {
            let next = station.next_s().unwrap_or(f64::INFINITY);
            match coming.peek() {
                Some((_, (at_s, _, _))) if *at_s < next => {
                    let (id, (at_s, class, service_s)) = coming.next().unwrap();
                    station.come(*at_s, *class, id as u32, *service_s);
                }
                _ if next.is_finite() => {
                    let (_, id) = station.leave(next).unwrap();
                    out.push((next, id));
                }
                _ => return out,
            }
        }
    }

    fn close(found: &[(f64, u32)], expected: &[(f64, u32)]) {
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (a, b) in found.iter().zip(expected) {
            assert!((a.0 - b.0).abs() < 1e-12 && a.1 == b.1, "{found:?} for {expected:?}");
        }
    }

    #[test]
    fn one_server_is_shared_evenly() {
        // Alone for 1 s, then together: the first has 1 s left and gets half; done at 3. The second then has 1 left.
        let found = departures(Sharing::servers(1, vec![1.0]), &[(0.0, 0, 2.0), (1.0, 0, 2.0)]);
        close(&found, &[(3.0, 0), (4.0, 1)]);
    }

    #[test]
    fn with_two_servers_two_do_not_feel_each_other() {
        let found =
            departures(Sharing::servers(2, vec![1.0]), &[(0.0, 0, 2.0), (0.0, 0, 2.0), (0.0, 0, 4.0)]);
        // Three customers share two servers: each gets 2/3 until 3, when two finish; the third needs 2 more and has
        // its own server.
        close(&found, &[(3.0, 0), (3.0, 1), (5.0, 2)]);
    }

    #[test]
    fn weights_share_capacity_up_to_one_server_each() {
        // Weights 3 and 1 on one server: 3/4 and 1/4.
        let found = departures(Sharing::servers(1, vec![3.0, 1.0]), &[(0.0, 0, 3.0), (0.0, 1, 3.0)]);
        close(&found, &[(4.0, 0), (6.0, 1)]);
        // On two servers the first would get 3/2: it gets one, and the other the other.
        let found = departures(Sharing::servers(2, vec![3.0, 1.0]), &[(0.0, 0, 3.0), (0.0, 1, 3.0)]);
        close(&found, &[(3.0, 0), (3.0, 1)]);
        // One and two: 5/7 · 2 > 1, so one server for the first, half of the other for each of the others.
        let coming = [(0.0, 0, 2.0), (0.0, 1, 2.0), (0.0, 1, 2.0)];
        let found = departures(Sharing::servers(2, vec![5.0, 1.0]), &coming);
        close(&found, &[(2.0, 0), (3.0, 1), (3.0, 2)]);
    }

    #[test]
    fn a_speed_may_depend_on_the_load() {
        // Alone at speed 1, two together at speed 1.5.
        let station = Sharing::load_dependent(vec![1.0, 1.5], vec![1.0]);
        let found = departures(station, &[(0.0, 0, 3.0), (0.0, 0, 1.5)]);
        close(&found, &[(2.0, 1), (3.5, 0)]);
    }

    #[test]
    fn the_busy_servers_are_the_speeds() {
        let mut station = Sharing::servers(4, vec![1.0, 2.0]);
        station.come(0.0, 0, 0, 1.0);
        station.come(0.0, 1, 1, 1.0);
        assert_eq!((station.busy(0), station.busy(1)), (1.0, 1.0));
        let mut station = Sharing::load_dependent(vec![1.0, 3.0], vec![1.0, 2.0]);
        station.come(0.0, 0, 0, 1.0);
        station.come(0.0, 1, 1, 1.0);
        assert!((station.busy(0) - 1.0 / 3.0).abs() < 1e-12 && (station.busy(1) - 2.0 / 3.0).abs() < 1e-12);
    }
}
