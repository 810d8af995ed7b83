//! Stations that serve all customers simultaneously.
//!
//! With processor sharing, all customers of a class are served at the same speed. One number per class therefore describes the
//! progress of all of them: the *attained* service of a customer that has been present from the start. A customer finishes when
//! this number has grown by its own service time (the virtual time of Parekh and Gallager, IEEE/ACM Trans. Networking 1, 1993).
//! An arrival or departure takes logarithmic time in the number of customers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The customers of one class.
#[derive(Debug, Default)]
struct ClassShare {
    /// Attained service in seconds, since it was last set to 0.
    attained_s: f64,
    /// Customers in the order in which they finish. A key consists of the attained service at the finish (as bits, which have
    /// the same order as the number), the arrival number, and the customer.
    finishes: BinaryHeap<Reverse<(u64, u64, u32)>>,
    /// Speed at which each customer is served, in servers.
    speed: f64,
}

/// The customers of a station with processor sharing.
#[derive(Debug)]
pub(crate) struct Sharing {
    classes: Vec<ClassShare>,
    /// Weights of the classes. A customer with weight 2 is served twice as fast as a customer with weight 1.
    weights: Vec<f64>,
    /// Total speed with 1, 2, … customers, in servers; the last value applies to all larger numbers of customers.
    capacity: Vec<f64>,
    /// Maximum speed of a customer: 1 for equal servers, infinite for one server with load-dependent speed.
    speed_max: f64,
    present: usize,
    arrivals: u64,
    at_s: f64,
}

impl Sharing {
    /// A station with `servers` equal servers.
    pub(crate) fn servers(servers: u32, weights: Vec<f64>) -> Self {
        let capacity = (1..=servers).map(f64::from).collect();
        Self::new(capacity, 1.0, weights)
    }

    /// A station with one server whose speed depends on the number of customers.
    pub(crate) fn load_dependent(speeds: Vec<f64>, weights: Vec<f64>) -> Self {
        Self::new(speeds, f64::INFINITY, weights)
    }

    fn new(capacity: Vec<f64>, speed_max: f64, weights: Vec<f64>) -> Self {
        let classes = weights.iter().map(|_| ClassShare::default()).collect();
        Self { classes, weights, capacity, speed_max, present: 0, arrivals: 0, at_s: 0.0 }
    }

    /// Number of servers that a class keeps busy.
    #[inline]
    pub(crate) fn busy(&self, class: usize) -> f64 {
        let share = &self.classes[class];
        if self.speed_max.is_finite() {
            share.speed * share.finishes.len() as f64
        } else {
            // The single server is shared, so this is the class's share of it.
            let total = self.current_capacity();
            if total > 0.0 { share.speed * share.finishes.len() as f64 / total } else { 0.0 }
        }
    }

    fn current_capacity(&self) -> f64 {
        match self.present {
            0 => 0.0,
            present => self.capacity[present.min(self.capacity.len()) - 1],
        }
    }

    /// Adds a customer with the service time `service_s`.
    pub(crate) fn add(&mut self, now_s: f64, class: usize, customer: u32, service_s: f64) {
        self.progress(now_s);
        self.arrivals += 1;
        let share = &mut self.classes[class];
        if share.finishes.is_empty() {
            // No customer depends on the old value any more, and small numbers are more precise.
            share.attained_s = 0.0;
        }
        share.finishes.push(Reverse(((share.attained_s + service_s).to_bits(), self.arrivals, customer)));
        self.present += 1;
        self.distribute_capacity();
    }

    /// Removes the customer that finishes next if its service has ended. `None` if its service has not ended, because the speed
    /// decreased after the event was scheduled.
    pub(crate) fn remove_finished(&mut self, now_s: f64) -> Option<(usize, u32)> {
        let (class, at_s) = self.next_finish()?;
        // The tolerance is for rounding errors.
        if at_s > now_s * (1.0 + 4.0 * f64::EPSILON) {
            return None;
        }
        self.progress(now_s);
        let share = &mut self.classes[class];
        let Reverse((finish, _, customer)) = share.finishes.pop()?;
        share.attained_s = share.attained_s.max(f64::from_bits(finish));
        self.present -= 1;
        self.distribute_capacity();
        Some((class, customer))
    }

    /// The time of the next end of service if no customer arrives before.
    pub(crate) fn next_s(&self) -> Option<f64> {
        self.next_finish().map(|(_, at_s)| at_s)
    }

    /// The class of the customer that finishes next, and the time of its end of service.
    fn next_finish(&self) -> Option<(usize, f64)> {
        let mut next: Option<(usize, f64)> = None;
        for (class, share) in self.classes.iter().enumerate() {
            let Some(Reverse((finish, _, _))) = share.finishes.peek() else { continue };
            let wait_s = (f64::from_bits(*finish) - share.attained_s).max(0.0) / share.speed;
            let at_s = self.at_s + wait_s;
            if at_s.is_finite() && next.is_none_or(|(_, next_s)| at_s < next_s) {
                next = Some((class, at_s));
            }
        }
        next
    }

    /// Serves all customers until `now_s`.
    fn progress(&mut self, now_s: f64) {
        let passed_s = now_s - self.at_s;
        self.at_s = now_s;
        for share in &mut self.classes {
            if !share.finishes.is_empty() {
                share.attained_s += share.speed * passed_s;
            }
        }
    }

    /// Distributes the capacity among the customers by weight. If a customer would get more than `speed_max`, the excess is
    /// distributed among the others.
    fn distribute_capacity(&mut self) {
        let mut capacity = self.current_capacity();
        let mut total: f64 = 0.0;
        for (share, weight) in self.classes.iter_mut().zip(&self.weights) {
            share.speed = 0.0;
            total += weight * share.finishes.len() as f64;
        }
        // Each round except the last sets at least one class to the maximum speed, so there are at most as many rounds as
        // classes.
        while total > 0.0 {
            let per_weight = capacity / total;
            let mut changed = false;
            for (share, weight) in self.classes.iter_mut().zip(&self.weights) {
                let count = share.finishes.len() as f64;
                if count > 0.0 && share.speed == 0.0 && weight * per_weight >= self.speed_max {
                    share.speed = self.speed_max;
                    capacity -= count * self.speed_max;
                    total -= weight * count;
                    changed = true;
                }
            }
            if !changed {
                for (share, weight) in self.classes.iter_mut().zip(&self.weights) {
                    if !share.finishes.is_empty() && share.speed == 0.0 {
                        share.speed = weight * per_weight;
                    }
                }
                return;
            }
            if self.classes.iter().all(|share| share.finishes.is_empty() || share.speed > 0.0) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All departing customers with their departure times.
    fn departures(mut station: Sharing, arrivals: &[(f64, usize, f64)]) -> Vec<(f64, u32)> {
        let mut out = Vec::new();
        let mut arrivals = arrivals.iter().enumerate().peekable();
        loop {
            let next = station.next_s().unwrap_or(f64::INFINITY);
            match arrivals.peek() {
                Some((_, (at_s, _, _))) if *at_s < next => {
                    let (id, (at_s, class, service_s)) = arrivals.next().unwrap();
                    station.add(*at_s, *class, id as u32, *service_s);
                }
                _ if next.is_finite() => {
                    let (_, id) = station.remove_finished(next).unwrap();
                    out.push((next, id));
                }
                _ => return out,
            }
        }
    }

    fn assert_near(found: &[(f64, u32)], expected: &[(f64, u32)]) {
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (a, b) in found.iter().zip(expected) {
            assert!((a.0 - b.0).abs() < 1e-12 && a.1 == b.1, "{found:?} for {expected:?}");
        }
    }

    #[test]
    fn one_server_is_shared_evenly() {
        // The first customer is alone for 1 s. Its remaining 1 s takes 2 s at half speed, until second 3. The second customer
        // then has 1 s left.
        let found = departures(Sharing::servers(1, vec![1.0]), &[(0.0, 0, 2.0), (1.0, 0, 2.0)]);
        assert_near(&found, &[(3.0, 0), (4.0, 1)]);
    }

    #[test]
    fn three_customers_share_two_servers() {
        let found =
            departures(Sharing::servers(2, vec![1.0]), &[(0.0, 0, 2.0), (0.0, 0, 2.0), (0.0, 0, 4.0)]);
        // Each customer gets 2/3 of a server until second 3, when two of them finish. The third customer needs 2 s more on its
        // own server.
        assert_near(&found, &[(3.0, 0), (3.0, 1), (5.0, 2)]);
    }

    #[test]
    fn weights_share_capacity_up_to_one_server_each() {
        // With the weights 3 and 1, the customers get 3/4 and 1/4 of the server.
        let found = departures(Sharing::servers(1, vec![3.0, 1.0]), &[(0.0, 0, 3.0), (0.0, 1, 3.0)]);
        assert_near(&found, &[(4.0, 0), (6.0, 1)]);
        // With two servers, the first customer's share would be 3/2 servers, but a customer can use only one. So each gets one
        // server.
        let found = departures(Sharing::servers(2, vec![3.0, 1.0]), &[(0.0, 0, 3.0), (0.0, 1, 3.0)]);
        assert_near(&found, &[(3.0, 0), (3.0, 1)]);
        // The first of three customers would get 5/7 of two servers, which is more than one. It gets one server, and each of
        // the others gets half of the other server.
        let arrivals = [(0.0, 0, 2.0), (0.0, 1, 2.0), (0.0, 1, 2.0)];
        let found = departures(Sharing::servers(2, vec![5.0, 1.0]), &arrivals);
        assert_near(&found, &[(2.0, 0), (3.0, 1), (3.0, 2)]);
    }

    #[test]
    fn the_speed_may_depend_on_the_load() {
        // The speed is 1 for one customer and 1.5 for two.
        let station = Sharing::load_dependent(vec![1.0, 1.5], vec![1.0]);
        let found = departures(station, &[(0.0, 0, 3.0), (0.0, 0, 1.5)]);
        assert_near(&found, &[(2.0, 1), (3.5, 0)]);
    }

    #[test]
    fn busy_servers_are_the_sum_of_the_speeds() {
        let mut station = Sharing::servers(4, vec![1.0, 2.0]);
        station.add(0.0, 0, 0, 1.0);
        station.add(0.0, 1, 1, 1.0);
        assert_eq!((station.busy(0), station.busy(1)), (1.0, 1.0));
        let mut station = Sharing::load_dependent(vec![1.0, 3.0], vec![1.0, 2.0]);
        station.add(0.0, 0, 0, 1.0);
        station.add(0.0, 1, 1, 1.0);
        assert!((station.busy(0) - 1.0 / 3.0).abs() < 1e-12 && (station.busy(1) - 2.0 / 3.0).abs() < 1e-12);
    }
}
