//! The network at a moment, and how one event makes the next.

use crate::customer::{Customers, NOBODY, NOT_DRAWN};
use crate::events::{Due, Event, EventQueue};
use crate::random::Stream;
use crate::routing::{Asking, OUTSIDE, Sight, Strategy, Target};
use crate::sampler::Sampler;
use crate::station::{Blocked, Hop, Serving, Station};
use crate::tally::Tally;
use busyhour_queueing::network::WhenFull;

/// A law and the stream that it is drawn from.
#[derive(Debug)]
pub(crate) struct Law {
    pub(crate) sampler: Sampler,
    pub(crate) stream: Stream,
}

impl Law {
    #[inline]
    fn draw_s(&mut self) -> f64 {
        self.sampler.draw_s(&mut self.stream)
    }
}

/// Where customers of a class go from a place.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) strategy: Strategy,
    pub(crate) stream: Stream,
}

/// A class of customers.
#[derive(Debug)]
pub(crate) struct Class {
    /// Interarrival time or think time.
    pub(crate) outside: Law,
    pub(crate) is_closed: bool,
    /// The place of its priority among all, 0 for the highest.
    pub(crate) level: usize,
}

/// Why a replication cannot continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// Nothing can happen any more: customers block each other.
    Deadlock,
    /// Things happen for ever without any time passing.
    Standstill,
    /// More customers than fit into memory.
    Flood,
}

/// Places that do not take time, in a row, after which a customer is held to go round for ever.
const HOPS_MAX: usize = 10_000;
/// Events at one time after which the clock is considered stuck, in addition to some for each customer.
const SIMULTANEOUS_MAX: u64 = 1_000_000;
/// Customers beyond the population of closed classes.
const CUSTOMERS_MAX: usize = 2_000_000;

/// The network in motion. What is observed of class c at station s has the number s · classes + c; the system
/// as a whole comes after the last station.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) now_s: f64,
    pub(crate) events: EventQueue,
    pub(crate) customers: Customers,
    pub(crate) stations: Vec<Station>,
    pub(crate) classes: Vec<Class>,
    /// Service laws, where a class is served.
    pub(crate) services: Vec<Option<Law>>,
    /// From each station, and after the last from outside, by class.
    pub(crate) routes: Vec<Route>,
    /// What a class becomes at a station that switches classes.
    pub(crate) switching: Vec<Stream>,
    pub(crate) tally: Tally,
    /// Customers that must be placed before the next event, and stations with free room.
    pub(crate) moves: Vec<(u32, Hop)>,
    pub(crate) freed: Vec<u16>,
    pub(crate) customers_max: usize,
    pub(crate) visits: u64,
    pub(crate) halt: Option<Halt>,
    pub(crate) simultaneous: u64,
}

impl World {
    /// Closed customers at a random point of their think time, as in a system without waiting, and the first arrivals
    /// of open classes.
    pub(crate) fn begin(&mut self, users: &[u64]) {
        for (class, &users) in users.iter().enumerate() {
            if !self.classes[class].is_closed {
                let at_s = self.classes[class].outside.draw_s();
                self.events.plan(at_s, Event::Arrival(class as u32));
                continue;
            }
            for _ in 0..users {
                let law = &mut self.classes[class].outside;
                let at_s = law.sampler.rest_s(&mut law.stream);
                let customer = self.customers.make(class as u16, NOBODY);
                self.events.plan(at_s, Event::ThinkEnd(customer));
            }
        }
        self.customers_max = self.customers.count() + CUSTOMERS_MAX;
    }

    /// Processes this many events, or fewer if the simulation cannot continue; returns their number.
    pub(crate) fn run(&mut self, events: u64) -> u64 {
        for done in 0..events {
            let Some(due) = self.events.take() else {
                self.halt = Some(Halt::Deadlock);
                return done;
            };
            if due.at_s > self.now_s {
                self.now_s = due.at_s;
                self.simultaneous = 0;
            } else {
                self.simultaneous += 1;
                if self.simultaneous > SIMULTANEOUS_MAX + 10 * self.customers.count() as u64 {
                    self.halt = Some(Halt::Standstill);
                }
            }
            self.tally.advance(due.at_s);
            self.happen(due);
            if self.halt.is_some() {
                return done + 1;
            }
        }
        events
    }

    #[inline]
    fn happen(&mut self, due: Due) {
        match due.event {
            Event::ServiceEnd(customer) => {
                if self.customers[customer].due == due.sequence {
                    self.end_service(customer);
                }
            }
            Event::Arrival(class) => {
                let gap_s = self.classes[class as usize].outside.draw_s();
                self.events.plan(self.now_s + gap_s, Event::Arrival(class));
                if self.customers.count() >= self.customers_max {
                    self.halt = Some(Halt::Flood);
                    return;
                }
                let customer = self.customers.make(class as u16, NOBODY);
                self.begin_pass(customer);
            }
            Event::ThinkEnd(customer) => self.begin_pass(customer),
            Event::StationDue(station) => {
                if self.stations[station as usize].due.0 == due.sequence {
                    self.stations[station as usize].due.0 = 0;
                    self.station_due(station as usize);
                }
            }
        }
        while !(self.moves.is_empty() && self.freed.is_empty()) {
            if let Some((customer, hop)) = self.moves.pop() {
                self.go(customer, OUTSIDE, hop);
            } else if let Some(station) = self.freed.pop() {
                self.admit_from_before(usize::from(station));
            }
        }
    }

    #[inline]
    pub(crate) fn number(&self, station: usize, class: u16) -> usize {
        station * self.classes.len() + usize::from(class)
    }

    /// The number of a class in the system as a whole.
    #[inline]
    fn system(&self, class: u16) -> usize {
        self.number(self.stations.len(), class)
    }

    #[inline]
    fn begin_pass(&mut self, customer: u32) {
        let now_s = self.now_s;
        let this = &mut self.customers[customer];
        this.entered_s = now_s;
        this.home = this.class;
        let class = this.class;
        self.tally.comes(self.system(class));
        let hop = self.next_hop(OUTSIDE, class, 0);
        self.go(customer, OUTSIDE, hop);
    }

    /// A pass ends, in success or without.
    fn end_pass(&mut self, customer: u32, success: bool) {
        let this = self.customers[customer];
        if this.parent != NOBODY {
            self.customers.free(customer);
            self.sibling_is_gone(this.parent);
            return;
        }
        let system = self.system(this.home);
        if success {
            self.tally.leaves(system, self.now_s - this.entered_s);
        } else {
            self.tally.gives_up(system);
        }
        let class = &mut self.classes[usize::from(this.class)];
        if class.is_closed {
            let think_s = class.outside.draw_s();
            self.events.plan(self.now_s + think_s, Event::ThinkEnd(customer));
        } else {
            self.customers.free(customer);
        }
    }

    /// Selects a target from a place, skipping stations that only route. The customer has not left the place yet.
    #[inline]
    fn next_hop(&mut self, from: Target, class: u16, visits_due: u32) -> Hop {
        let hop = self.choose(from, from, class, visits_due);
        if hop.target == OUTSIDE
            || !matches!(self.stations[usize::from(hop.target)].serving, Serving::Through(_))
        {
            return hop;
        }
        self.pass_through(from, hop)
    }

    /// Follows a hop through stations that only route, for a customer that leaves `leaving`.
    fn pass_through(&mut self, leaving: Target, mut hop: Hop) -> Hop {
        for _ in 0..HOPS_MAX {
            if hop.target == OUTSIDE {
                return hop;
            }
            let station = usize::from(hop.target);
            let Serving::Through(switches) = &self.stations[station].serving else { return hop };
            let number = self.number(station, hop.class);
            self.tally.comes(number);
            let to = &switches[usize::from(hop.class)];
            if !to.is_empty() {
                let at: f64 = rand::Rng::random(&mut self.switching[number]);
                let became = to.iter().find(|(up_to, _)| at < *up_to).or(to.last());
                hop.class = became.map_or(hop.class, |(_, class)| *class);
            }
            hop = self.choose(leaving, hop.target, hop.class, hop.visits_due);
            self.tally.leaves(number, 0.0);
        }
        self.halt = Some(Halt::Standstill);
        Hop { target: OUTSIDE, ..hop }
    }

    /// Selects a target from a place, for a customer that leaves the station `leaving`, which may be an earlier one.
    #[inline]
    fn choose(&mut self, leaving: Target, from: Target, class: u16, visits_due: u32) -> Hop {
        let count = self.classes.len();
        let place = if from == OUTSIDE { self.stations.len() } else { usize::from(from) };
        let number = place * count + usize::from(class);
        let Self { routes, stations, tally, .. } = self;
        let Route { strategy, stream } = &mut routes[number];
        if let Strategy::Only(target) = strategy {
            return Hop { target: *target, class, visits_due: 0 };
        }
        let of_class = tally.at(number).present;
        let asking = Asking { from, of_class, visits_due };
        let (target, visits_due) = strategy.choose(asking, stream, |target| {
            if target == OUTSIDE {
                return Sight::default();
            }
            let station = &stations[usize::from(target)];
            let seen = tally.at(usize::from(target) * count + usize::from(class));
            // The customer counts as having left.
            let own = u32::from(target == leaving);
            Sight {
                present: station.present.saturating_sub(own),
                in_service: station.in_service.saturating_sub(own),
                servers: station.servers,
                last_response_s: seen.last_response_s,
                last_service_s: seen.last_service_s,
            }
        });
        Hop { target, class, visits_due }
    }

    /// Places a customer that is nowhere: at a station, outside, or in front of a full station.
    #[inline]
    fn go(&mut self, customer: u32, from: Target, hop: Hop) {
        self.customers[customer].class = hop.class;
        if hop.target == OUTSIDE {
            self.end_pass(customer, true);
            return;
        }
        let station = &mut self.stations[usize::from(hop.target)];
        if station.is_full() {
            if station.when_full == WhenFull::Drop {
                let number = self.number(usize::from(hop.target), hop.class);
                self.tally.is_refused(number);
                self.end_pass(customer, false);
            } else {
                station.before.push_back(Blocked { customer, from, hop });
            }
            return;
        }
        self.enter(customer, hop);
    }

    /// A visit starts; there is room.
    #[inline]
    fn enter(&mut self, customer: u32, hop: Hop) {
        let (now_s, at) = (self.now_s, usize::from(hop.target));
        let number = self.number(at, hop.class);
        self.visits += 1;
        let order = self.visits;
        let this = &mut self.customers[customer];
        this.class = hop.class;
        this.station = hop.target;
        this.visits_due = hop.visits_due;
        this.came_s = now_s;
        this.left_s = NOT_DRAWN;
        this.order = order;
        self.tally.comes(number);
        let station = &mut self.stations[at];
        station.present += 1;
        match &mut station.serving {
            Serving::ToTheEnd => {
                if station.in_service < station.servers {
                    station.in_service += 1;
                    self.start(customer, number);
                } else {
                    let mut service_s = 0.0;
                    if station.draws_on_arrival {
                        service_s = self.services[number].as_mut().map_or(0.0, Law::draw_s);
                        self.customers[customer].left_s = service_s;
                    }
                    let level = self.classes[usize::from(hop.class)].level;
                    self.stations[at].waiting.put(customer, service_s, level);
                }
            }
            Serving::Delay => {
                let service_s = self.services[number].as_mut().map_or(0.0, Law::draw_s);
                let due = self.events.plan(now_s + service_s, Event::ServiceEnd(customer));
                self.customers[customer].due = due;
            }
            Serving::Interrupted(..) => self.enter_interrupting(customer, at, number),
            Serving::Paced(_) => self.enter_paced(customer, at, number),
            Serving::Shared(_) => self.enter_shared(customer, at, number),
            Serving::Fork(_) => self.fork(customer, at),
            Serving::Join => self.join(customer),
            // Customers never stay at these stations.
            Serving::Through(_) => {}
        }
    }

    /// A server starts or resumes the service of a customer.
    #[inline]
    pub(crate) fn start(&mut self, customer: u32, number: usize) {
        let this = &mut self.customers[customer];
        if this.left_s < 0.0 {
            this.left_s = self.services[number].as_mut().map_or(0.0, Law::draw_s);
        }
        this.served_from_s = self.now_s;
        this.due = self.events.plan(self.now_s + this.left_s, Event::ServiceEnd(customer));
        self.tally.works(number, 1.0);
    }

    /// Draws how long a service takes.
    pub(crate) fn draw_service(&mut self, number: usize) -> f64 {
        self.services[number].as_mut().map_or(0.0, Law::draw_s)
    }

    /// A service ends: the customer moves on, or stays and blocks the server.
    #[inline]
    pub(crate) fn end_service(&mut self, customer: u32) {
        let this = &mut self.customers[customer];
        this.due = 0;
        let (from, class, visits_due) = (this.station, this.class, this.visits_due);
        let hop = self.next_hop(from, class, visits_due);
        if hop.target != OUTSIDE && hop.target != from {
            let next = &mut self.stations[usize::from(hop.target)];
            if next.is_full() && next.when_full == WhenFull::Block {
                next.before.push_back(Blocked { customer, from, hop });
                self.stations[usize::from(from)].blocked += 1;
                if self.stations[usize::from(from)].is_stuck() && !self.deadlocked().is_empty() {
                    self.halt = Some(Halt::Deadlock);
                }
                return;
            }
        }
        self.leave(customer);
        self.go(customer, from, hop);
    }

    /// A visit ends, and the server takes the next.
    #[inline]
    fn leave(&mut self, customer: u32) {
        let this = &self.customers[customer];
        let (class, at, came_s, served_from_s) =
            (this.class, usize::from(this.station), this.came_s, this.served_from_s);
        let number = self.number(at, class);
        let response_s = self.now_s - came_s;
        self.tally.leaves(number, response_s);
        let station = &mut self.stations[at];
        station.present -= 1;
        if station.capacity != u32::MAX {
            self.freed.push(at as u16);
        }
        match &mut station.serving {
            Serving::ToTheEnd => {
                self.tally.works(number, -1.0);
                self.tally.was_served(number, self.now_s - served_from_s);
                if let Some(next) = station.waiting.take() {
                    let next_number = self.number(at, self.customers[next].class);
                    self.start(next, next_number);
                } else {
                    station.in_service -= 1;
                }
            }
            Serving::Interrupted(..) => self.leave_interrupted(customer, at, number),
            Serving::Paced(_) => self.leave_paced(at, number),
            Serving::Shared(_) | Serving::Delay => self.tally.was_served(number, response_s),
            Serving::Fork(_) | Serving::Join | Serving::Through(_) => {}
        }
    }

    /// Room becomes free at a station that customers wait for.
    fn admit_from_before(&mut self, at: usize) {
        while !self.stations[at].is_full() {
            let Some(Blocked { customer, from, hop }) = self.stations[at].before.pop_front() else { return };
            if from != OUTSIDE {
                self.stations[usize::from(from)].blocked -= 1;
                self.leave(customer);
            }
            self.enter(customer, hop);
        }
    }

    /// Stations at which every customer waits for room at another one of them.
    pub(crate) fn deadlocked(&self) -> Vec<usize> {
        let mut stuck: Vec<bool> = self.stations.iter().map(Station::is_stuck).collect();
        // A customer that waits for a station that is not deadlocked will progress, and so will its station.
        loop {
            let mut changed = false;
            for (at, station) in self.stations.iter().enumerate() {
                if stuck[at] {
                    continue;
                }
                for waits in &station.before {
                    if waits.from != OUTSIDE && std::mem::take(&mut stuck[usize::from(waits.from)]) {
                        changed = true;
                    }
                }
            }
            if !changed {
                return (0..stuck.len()).filter(|&at| stuck[at]).collect();
            }
        }
    }

    /// Siblings go their ways; the customer himself is nowhere until they have met.
    fn fork(&mut self, customer: u32, at: usize) {
        let this = self.customers[customer];
        let number = self.number(at, this.class);
        self.stations[at].present -= 1;
        self.tally.leaves(number, 0.0);
        let Serving::Fork(to) = &self.stations[at].serving else { return };
        let mut siblings = 0;
        for &(target, count) in to {
            for _ in 0..count {
                let sibling = self.customers.make(this.class, customer);
                siblings += 1;
                // Only the event of the customer uses its time of arrival.
                self.customers[sibling].entered_s = self.now_s;
                self.moves.push((sibling, Hop { target, class: this.class, visits_due: 0 }));
            }
        }
        let this = &mut self.customers[customer];
        (this.siblings, this.joined) = (siblings, NOBODY);
        if self.customers.count() >= self.customers_max {
            self.halt = Some(Halt::Flood);
        }
        // The first branch first.
        let begun = self.moves.len() - siblings as usize;
        self.moves[begun..].reverse();
        // A branch that begins with a station that only sends on.
        for at in begun..self.moves.len() {
            let (_, hop) = self.moves[at];
            self.moves[at].1 = self.pass_through(OUTSIDE, hop);
        }
    }

    /// A customer arrives at a join: it waits for its siblings, and the last one merges them.
    fn join(&mut self, customer: u32) {
        let parent = self.customers[customer].parent;
        if parent == NOBODY {
            self.leave(customer);
            let this = self.customers[customer];
            let hop = self.next_hop(this.station, this.class, 0);
            self.moves.push((customer, hop));
            return;
        }
        self.customers[customer].joined = self.customers[parent].joined;
        self.customers[parent].joined = customer;
        self.sibling_is_gone(parent);
    }

    /// One sibling fewer is under way: come to the join, lost, or gone outside.
    fn sibling_is_gone(&mut self, parent: u32) {
        let this = &mut self.customers[parent];
        this.siblings -= 1;
        if this.siblings > 0 {
            return;
        }
        let mut next = std::mem::replace(&mut this.joined, NOBODY);
        if next == NOBODY {
            // All were lost or went outside without a join.
            self.end_pass(parent, false);
            return;
        }
        let (class, at) = (this.class, self.customers[next].station);
        while next != NOBODY {
            let sibling = next;
            next = self.customers[sibling].joined;
            self.leave(sibling);
            self.customers.free(sibling);
        }
        let hop = self.next_hop(at, class, 0);
        self.moves.push((parent, hop));
    }
}
