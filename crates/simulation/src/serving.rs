//! Stations at which later customers affect those in service: preemption, load-dependent speeds, processor sharing.

use crate::events::Event;
use crate::station::{Interrupts, Serving};
use crate::world::World;

/// Beyond what sums of times are rounded by.
const ROUNDING: f64 = 1.0 + 4.0 * f64::EPSILON;

impl World {
    pub(crate) fn enter_interrupting(&mut self, customer: u32, at: usize, number: usize) {
        let station = &mut self.stations[at];
        let Serving::Interrupted(rule, served) = &mut station.serving else { return };
        let level = |class: u16| self.classes[usize::from(class)].level;
        let own_level = level(self.customers[customer].class);
        if station.in_service < station.servers {
            station.in_service += 1;
            served.push(customer);
            self.start(customer, number);
            return;
        }
        // The customer that has been there longest, or the last one of the lowest level. A blocked customer, whose
        // service is finished, cannot be preempted.
        let rank = |id: &u32| {
            let other = &self.customers[*id];
            match rule {
                Interrupts::Last => (0, u64::MAX - other.order),
                Interrupts::Level => (level(other.class), other.order),
            }
        };
        let victim = (0..served.len())
            .filter(|&place| self.customers[served[place]].due != 0)
            .max_by_key(|&place| rank(&served[place]))
            .filter(|&place| {
                *rule == Interrupts::Last || level(self.customers[served[place]].class) > own_level
            });
        let Some(place) = victim else {
            station.waiting.put(customer, 0.0, own_level);
            return;
        };
        let victim = std::mem::replace(&mut served[place], customer);
        let this = &mut self.customers[victim];
        this.left_s = (this.left_s - (self.now_s - this.served_from_s)).max(0.0);
        this.due = 0;
        let (class, victim_level) = (this.class, level(this.class));
        station.waiting.put_back(victim, victim_level);
        let victims = self.number(at, class);
        self.tally.works(victims, -1.0);
        self.start(customer, number);
    }

    pub(crate) fn leave_interrupted(&mut self, customer: u32, at: usize, number: usize) {
        self.tally.works(number, -1.0);
        let service_s = self.now_s - self.customers[customer].served_from_s;
        self.tally.was_served(number, service_s);
        let station = &mut self.stations[at];
        let Serving::Interrupted(_, served) = &mut station.serving else { return };
        served.retain(|&other| other != customer);
        if let Some(next) = station.waiting.take() {
            served.push(next);
            let next_number = self.number(at, self.customers[next].class);
            self.start(next, next_number);
        } else {
            station.in_service -= 1;
        }
    }

    pub(crate) fn enter_paced(&mut self, customer: u32, at: usize, number: usize) {
        let service_s = self.draw_service(number);
        self.customers[customer].left_s = service_s;
        self.progress_paced(at);
        let own_level = self.classes[usize::from(self.customers[customer].class)].level;
        let station = &mut self.stations[at];
        let Serving::Paced(pace) = &mut station.serving else { return };
        match pace.customer {
            None => self.serve_paced(at, Some(customer)),
            Some(served) => {
                let class = self.customers[served].class;
                let level = self.classes[usize::from(class)].level;
                let interrupts = match pace.interrupts {
                    None => false,
                    Some(Interrupts::Last) => true,
                    Some(Interrupts::Level) => own_level < level,
                };
                // A blocked customer stays in its server.
                if interrupts && !pace.blocked {
                    station.waiting.put_back(served, level);
                    let victims = self.number(at, class);
                    self.tally.works(victims, -1.0);
                    self.serve_paced(at, Some(customer));
                } else {
                    station.waiting.put(customer, service_s, own_level);
                    self.plan_paced(at);
                }
            }
        }
    }

    pub(crate) fn leave_paced(&mut self, at: usize, number: usize) {
        self.tally.works(number, -1.0);
        let Serving::Paced(pace) = &mut self.stations[at].serving else { return };
        let service_s = self.now_s - pace.since_s;
        self.tally.was_served(number, service_s);
        let next = self.stations[at].waiting.take();
        self.serve_paced(at, next);
    }

    /// Assigns a customer, or none, to the server.
    fn serve_paced(&mut self, at: usize, customer: Option<u32>) {
        let station = &mut self.stations[at];
        let Serving::Paced(pace) = &mut station.serving else { return };
        pace.customer = customer;
        pace.blocked = false;
        pace.since_s = self.now_s;
        station.in_service = u32::from(customer.is_some());
        if let Some(customer) = customer {
            self.customers[customer].served_from_s = self.now_s;
            let number = self.number(at, self.customers[customer].class);
            self.tally.works(number, 1.0);
        }
        self.plan_paced(at);
    }

    /// Takes off what was done since the speed last changed.
    fn progress_paced(&mut self, at: usize) {
        let Serving::Paced(pace) = &self.stations[at].serving else { return };
        let Some(customer) = pace.customer else { return };
        let this = &mut self.customers[customer];
        this.left_s = (this.left_s - pace.speed * (self.now_s - this.served_from_s)).max(0.0);
        this.served_from_s = self.now_s;
    }

    /// Sets the speed for the customers that are present and schedules the end of service.
    fn plan_paced(&mut self, at: usize) {
        let station = &mut self.stations[at];
        let Serving::Paced(pace) = &mut station.serving else { return };
        let Some(customer) = pace.customer.filter(|_| !pace.blocked) else { return };
        let place = (station.present.max(1) as usize).min(pace.speeds.len());
        pace.speed = pace.speeds[place - 1];
        let at_s = self.now_s + self.customers[customer].left_s / pace.speed;
        self.plan_due(at, at_s);
    }

    /// Schedules the event of a station, unless an earlier one is scheduled: that one will be too early and schedule
    /// another.
    fn plan_due(&mut self, at: usize, at_s: f64) {
        let station = &mut self.stations[at];
        if at_s.is_finite() && (station.due.0 == 0 || at_s < station.due.1) {
            let sequence = self.events.plan(at_s, Event::StationDue(at as u32));
            station.due = (sequence, at_s);
        }
    }

    pub(crate) fn enter_shared(&mut self, customer: u32, at: usize, number: usize) {
        let service_s = self.draw_service(number);
        let class = usize::from(self.customers[customer].class);
        let Serving::Shared(sharing) = &mut self.stations[at].serving else { return };
        sharing.come(self.now_s, class, customer, service_s);
        self.note_shared(at);
    }

    /// Notes how many servers work for whom, and plans the next departure.
    fn note_shared(&mut self, at: usize) {
        let count = self.classes.len();
        let station = &mut self.stations[at];
        let Serving::Shared(sharing) = &station.serving else { return };
        for class in 0..count {
            self.tally.works_now(at * count + class, sharing.busy(class));
        }
        station.in_service = station.present.min(station.servers);
        if let Some(at_s) = sharing.next_s() {
            self.plan_due(at, at_s.max(self.now_s));
        }
    }

    /// The event of a station: a customer is finished, or the event was too early.
    pub(crate) fn station_due(&mut self, at: usize) {
        let now_s = self.now_s;
        match &mut self.stations[at].serving {
            Serving::Shared(sharing) => {
                let left = sharing.leave(now_s);
                self.note_shared(at);
                if let Some((_, customer)) = left {
                    self.end_service(customer);
                    // The customer has left and is no longer present.
                    let station = &mut self.stations[at];
                    station.in_service = station.present.min(station.servers);
                }
            }
            Serving::Paced(pace) => {
                let Some(customer) = pace.customer else { return };
                let this = &self.customers[customer];
                let done_s = this.served_from_s + this.left_s / pace.speed;
                if done_s > now_s * ROUNDING {
                    self.plan_due(at, done_s);
                    return;
                }
                pace.blocked = true;
                self.customers[customer].left_s = 0.0;
                self.end_service(customer);
            }
            _ => {}
        }
    }
}
