//! Stations at which arrivals affect customers in service: preemption, load-dependent speeds and processor sharing.

use crate::events::Event;
use crate::simulator::Simulator;
use crate::station::{PreemptionRule, Serving};

/// Relative tolerance for rounding errors of sums of times.
const ROUNDING: f64 = 1.0 + 4.0 * f64::EPSILON;

impl Simulator {
    pub(crate) fn enter_preemptive(&mut self, customer: u32, at: usize, index: usize) {
        let station = &mut self.stations[at];
        let Serving::Preemptive(rule, served) = &mut station.serving else { return };
        let level = |class: u16| self.classes[usize::from(class)].level;
        let own_level = level(self.customers[customer].class);
        if station.in_service < station.servers {
            station.in_service += 1;
            served.push(customer);
            self.start_service(customer, index);
            return;
        }
        // The preempted customer is the one that arrived first, or the last arrival of the lowest priority level. A blocked
        // customer cannot be preempted, because its service has ended.
        let rank = |id: &u32| {
            let other = &self.customers[*id];
            match rule {
                PreemptionRule::FirstArrival => (0, u64::MAX - other.order),
                PreemptionRule::LowerLevel => (level(other.class), other.order),
            }
        };
        let victim = (0..served.len())
            .filter(|&slot| self.customers[served[slot]].due != 0)
            .max_by_key(|&slot| rank(&served[slot]))
            .filter(|&slot| {
                *rule == PreemptionRule::FirstArrival || level(self.customers[served[slot]].class) > own_level
            });
        let Some(slot) = victim else {
            station.waiting.add(customer, 0.0, own_level);
            return;
        };
        let victim = std::mem::replace(&mut served[slot], customer);
        let this = &mut self.customers[victim];
        this.remaining_s = (this.remaining_s - (self.now_s - this.served_from_s)).max(0.0);
        this.due = 0;
        let (class, victim_level) = (this.class, level(this.class));
        station.waiting.put_back(victim, victim_level);
        let victim_index = self.index(at, class);
        self.tally.add_busy(victim_index, -1.0);
        self.start_service(customer, index);
    }

    pub(crate) fn leave_preemptive(&mut self, customer: u32, at: usize, index: usize) {
        self.tally.add_busy(index, -1.0);
        let service_s = self.now_s - self.customers[customer].served_from_s;
        self.tally.record_service(index, service_s);
        let station = &mut self.stations[at];
        let Serving::Preemptive(_, served) = &mut station.serving else { return };
        served.retain(|&other| other != customer);
        if let Some(next) = station.waiting.next() {
            served.push(next);
            let next_index = self.index(at, self.customers[next].class);
            self.start_service(next, next_index);
        } else {
            station.in_service -= 1;
        }
    }

    pub(crate) fn enter_load_dependent(&mut self, customer: u32, at: usize, index: usize) {
        let service_s = self.draw_service(index);
        self.customers[customer].remaining_s = service_s;
        self.progress_load_dependent(at);
        let own_level = self.classes[usize::from(self.customers[customer].class)].level;
        let station = &mut self.stations[at];
        let Serving::LoadDependent(server) = &mut station.serving else { return };
        match server.customer {
            None => self.serve_load_dependent(at, Some(customer)),
            Some(served) => {
                let class = self.customers[served].class;
                let level = self.classes[usize::from(class)].level;
                let preempts = match server.preemption {
                    None => false,
                    Some(PreemptionRule::FirstArrival) => true,
                    Some(PreemptionRule::LowerLevel) => own_level < level,
                };
                // A blocked customer keeps its server.
                if preempts && !server.blocked {
                    station.waiting.put_back(served, level);
                    let victim_index = self.index(at, class);
                    self.tally.add_busy(victim_index, -1.0);
                    self.serve_load_dependent(at, Some(customer));
                } else {
                    station.waiting.add(customer, service_s, own_level);
                    self.schedule_load_dependent(at);
                }
            }
        }
    }

    pub(crate) fn leave_load_dependent(&mut self, at: usize, index: usize) {
        self.tally.add_busy(index, -1.0);
        let Serving::LoadDependent(server) = &mut self.stations[at].serving else { return };
        let service_s = self.now_s - server.since_s;
        self.tally.record_service(index, service_s);
        let next = self.stations[at].waiting.next();
        self.serve_load_dependent(at, next);
    }

    /// Assigns a customer to the server, or none.
    fn serve_load_dependent(&mut self, at: usize, customer: Option<u32>) {
        let station = &mut self.stations[at];
        let Serving::LoadDependent(server) = &mut station.serving else { return };
        server.customer = customer;
        server.blocked = false;
        server.since_s = self.now_s;
        station.in_service = u32::from(customer.is_some());
        if let Some(customer) = customer {
            self.customers[customer].served_from_s = self.now_s;
            let index = self.index(at, self.customers[customer].class);
            self.tally.add_busy(index, 1.0);
        }
        self.schedule_load_dependent(at);
    }

    /// Subtracts from the remaining service time the service received since the last change of speed.
    fn progress_load_dependent(&mut self, at: usize) {
        let Serving::LoadDependent(server) = &self.stations[at].serving else { return };
        let Some(customer) = server.customer else { return };
        let this = &mut self.customers[customer];
        this.remaining_s = (this.remaining_s - server.speed * (self.now_s - this.served_from_s)).max(0.0);
        this.served_from_s = self.now_s;
    }

    /// Sets the speed for the current number of customers and schedules the end of service.
    fn schedule_load_dependent(&mut self, at: usize) {
        let station = &mut self.stations[at];
        let Serving::LoadDependent(server) = &mut station.serving else { return };
        let Some(customer) = server.customer.filter(|_| !server.blocked) else { return };
        let present = (station.present.max(1) as usize).min(server.speeds.len());
        server.speed = server.speeds[present - 1];
        let at_s = self.now_s + self.customers[customer].remaining_s / server.speed;
        self.schedule_station(at, at_s);
    }

    /// Schedules the event of a station, unless an earlier event is already scheduled. If the earlier event turns out to be too
    /// early, it schedules the next one.
    fn schedule_station(&mut self, at: usize, at_s: f64) {
        let station = &mut self.stations[at];
        if at_s.is_finite() && (station.due.0 == 0 || at_s < station.due.1) {
            let sequence = self.events.schedule(at_s, Event::StationDue(at as u32));
            station.due = (sequence, at_s);
        }
    }

    pub(crate) fn enter_shared(&mut self, customer: u32, at: usize, index: usize) {
        let service_s = self.draw_service(index);
        let class = usize::from(self.customers[customer].class);
        let Serving::Shared(sharing) = &mut self.stations[at].serving else { return };
        sharing.add(self.now_s, class, customer, service_s);
        self.update_shared(at);
    }

    /// Records the number of busy servers of each class, and schedules the next departure.
    fn update_shared(&mut self, at: usize) {
        let count = self.classes.len();
        let station = &mut self.stations[at];
        let Serving::Shared(sharing) = &station.serving else { return };
        for class in 0..count {
            self.tally.set_busy(at * count + class, sharing.busy(class));
        }
        station.in_service = station.present.min(station.servers);
        if let Some(at_s) = sharing.next_s() {
            self.schedule_station(at, at_s.max(self.now_s));
        }
    }

    /// Processes the event of a station: ends a service, unless the event was too early.
    pub(crate) fn station_due(&mut self, at: usize) {
        let now_s = self.now_s;
        match &mut self.stations[at].serving {
            Serving::Shared(sharing) => {
                let departed = sharing.remove_finished(now_s);
                self.update_shared(at);
                if let Some((_, customer)) = departed {
                    self.end_service(customer);
                    // The customer may have left the station since the event was scheduled.
                    let station = &mut self.stations[at];
                    station.in_service = station.present.min(station.servers);
                }
            }
            Serving::LoadDependent(server) => {
                let Some(customer) = server.customer else { return };
                let this = &self.customers[customer];
                let done_s = this.served_from_s + this.remaining_s / server.speed;
                if done_s > now_s * ROUNDING {
                    self.schedule_station(at, done_s);
                    return;
                }
                server.blocked = true;
                self.customers[customer].remaining_s = 0.0;
                self.end_service(customer);
            }
            _ => {}
        }
    }
}
