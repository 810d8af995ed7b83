//! The state of a simulated network, and the processing of events.

use busyhour_queueing::network::WhenFull;

use crate::customer::{Customers, NO_CUSTOMER, NOT_DRAWN};
use crate::events::{Due, Event, EventQueue};
use crate::random::Stream;
use crate::routing::{OUTSIDE, RoutedCustomer, StationView, Strategy, Target};
use crate::sampler::Sampler;
use crate::station::{Blocked, Hop, Serving, Station};
use crate::tally::ObservationTally;

/// The sampler of a distribution of times, and its random stream.
#[derive(Debug)]
pub(crate) struct TimeSource {
    pub(crate) sampler: Sampler,
    pub(crate) stream: Stream,
}

impl TimeSource {
    #[inline]
    fn draw_s(&mut self) -> f64 {
        self.sampler.draw_s(&mut self.stream)
    }
}

/// The routing strategy of a class at a place, and its random stream.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) strategy: Strategy,
    pub(crate) stream: Stream,
}

/// A class of customers.
#[derive(Debug)]
pub(crate) struct Class {
    /// Interarrival time (open class) or think time (closed class).
    pub(crate) outside: TimeSource,
    pub(crate) is_closed: bool,
    /// Rank of its priority among all priorities; 0 is the highest.
    pub(crate) level: usize,
}

/// Why a replication cannot continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// Customers block each other.
    Deadlock,
    /// Events follow each other without end while simulated time does not pass.
    Standstill,
    /// There are more customers of open classes than [`CUSTOMERS_MAX`].
    TooManyCustomers,
}

/// Number of consecutive visits to routers after which a customer is considered to circulate without end.
const HOPS_MAX: usize = 10_000;
/// Number of simultaneous events after which simulated time is considered to have stopped, in addition to ten per customer.
const SIMULTANEOUS_MAX: u64 = 1_000_000;
/// Maximum number of customers in addition to the population of closed classes.
const CUSTOMERS_MAX: usize = 2_000_000;

/// A simulated network. The observations of class c at station s have the index s · classes + c. The observations of the whole
/// system follow those of the last station.
#[derive(Debug)]
pub(crate) struct Simulator {
    pub(crate) now_s: f64,
    pub(crate) events: EventQueue,
    pub(crate) customers: Customers,
    pub(crate) stations: Vec<Station>,
    pub(crate) classes: Vec<Class>,
    /// Service times by station and class; `None` for classes that the station does not serve.
    pub(crate) services: Vec<Option<TimeSource>>,
    /// Routing by place and class; the places are all stations, followed by the outside of the network.
    pub(crate) routes: Vec<Route>,
    /// Random streams for class switches, by station and class.
    pub(crate) switching: Vec<Stream>,
    pub(crate) tally: ObservationTally,
    /// Customers to be placed before the next event.
    pub(crate) moves: Vec<(u32, Hop)>,
    /// Stations that have room again, so that waiting customers are admitted before the next event.
    pub(crate) freed: Vec<u16>,
    pub(crate) customers_max: usize,
    /// Number of visits that started.
    pub(crate) visits: u64,
    pub(crate) halt: Option<Halt>,
    /// Number of events since simulated time last advanced.
    pub(crate) simultaneous: u64,
}

impl Simulator {
    /// Schedules the first arrivals of open classes. Each closed customer starts at a random point of a think time, whose end is
    /// scheduled.
    pub(crate) fn start(&mut self, users: &[u64]) {
        for (class, &users) in users.iter().enumerate() {
            if !self.classes[class].is_closed {
                let at_s = self.classes[class].outside.draw_s();
                self.events.schedule(at_s, Event::Arrival(class as u32));
                continue;
            }
            for _ in 0..users {
                let law = &mut self.classes[class].outside;
                let at_s = law.sampler.draw_residual_s(&mut law.stream);
                let customer = self.customers.create(class as u16, NO_CUSTOMER);
                self.events.schedule(at_s, Event::ThinkEnd(customer));
            }
        }
        self.customers_max = self.customers.count() + CUSTOMERS_MAX;
    }

    /// Processes `events` events, or fewer if the simulation cannot continue; returns the number of processed events.
    pub(crate) fn run(&mut self, events: u64) -> u64 {
        for done in 0..events {
            let Some(due) = self.events.pop() else {
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
            self.process(due);
            if self.halt.is_some() {
                return done + 1;
            }
        }
        events
    }

    #[inline]
    fn process(&mut self, due: Due) {
        match due.event {
            Event::ServiceEnd(customer) => {
                if self.customers[customer].due == due.sequence {
                    self.end_service(customer);
                }
            }
            Event::Arrival(class) => {
                let gap_s = self.classes[class as usize].outside.draw_s();
                self.events.schedule(self.now_s + gap_s, Event::Arrival(class));
                if self.customers.count() >= self.customers_max {
                    self.halt = Some(Halt::TooManyCustomers);
                    return;
                }
                let customer = self.customers.create(class as u16, NO_CUSTOMER);
                self.start_pass(customer);
            }
            Event::ThinkEnd(customer) => self.start_pass(customer),
            Event::StationDue(station) => {
                if self.stations[station as usize].due.0 == due.sequence {
                    self.stations[station as usize].due.0 = 0;
                    self.station_due(station as usize);
                }
            }
        }
        while !(self.moves.is_empty() && self.freed.is_empty()) {
            if let Some((customer, hop)) = self.moves.pop() {
                self.place(customer, OUTSIDE, hop);
            } else if let Some(station) = self.freed.pop() {
                self.admit_waiting(usize::from(station));
            }
        }
    }

    #[inline]
    pub(crate) fn index(&self, station: usize, class: u16) -> usize {
        station * self.classes.len() + usize::from(class)
    }

    /// The index of the observations of a class in the whole system.
    #[inline]
    fn system_index(&self, class: u16) -> usize {
        self.index(self.stations.len(), class)
    }

    #[inline]
    fn start_pass(&mut self, customer: u32) {
        let now_s = self.now_s;
        let this = &mut self.customers[customer];
        this.entered_s = now_s;
        this.initial_class = this.class;
        let class = this.class;
        self.tally.arrive(self.system_index(class));
        let hop = self.next_hop(OUTSIDE, class, 0);
        self.place(customer, OUTSIDE, hop);
    }

    /// Ends a pass, which was either completed or lost.
    fn end_pass(&mut self, customer: u32, is_completed: bool) {
        let this = self.customers[customer];
        if this.parent != NO_CUSTOMER {
            self.customers.free(customer);
            self.sibling_done(this.parent);
            return;
        }
        let system = self.system_index(this.initial_class);
        if is_completed {
            self.tally.depart(system, self.now_s - this.entered_s);
        } else {
            self.tally.abort(system);
        }
        let class = &mut self.classes[usize::from(this.class)];
        if class.is_closed {
            let think_s = class.outside.draw_s();
            self.events.schedule(self.now_s + think_s, Event::ThinkEnd(customer));
        } else {
            self.customers.free(customer);
        }
    }

    /// Chooses the next target of a customer that is still at the place `from`, and follows routers to their targets.
    #[inline]
    fn next_hop(&mut self, from: Target, class: u16, further_visits: u32) -> Hop {
        let hop = self.choose_target(from, from, class, further_visits);
        if hop.target == OUTSIDE
            || !matches!(self.stations[usize::from(hop.target)].serving, Serving::Router(_))
        {
            return hop;
        }
        self.pass_through(from, hop)
    }

    /// Follows routers from a hop to its final target, for a customer that leaves the station `leaving`.
    fn pass_through(&mut self, leaving: Target, mut hop: Hop) -> Hop {
        for _ in 0..HOPS_MAX {
            if hop.target == OUTSIDE {
                return hop;
            }
            let station = usize::from(hop.target);
            let Serving::Router(switches) = &self.stations[station].serving else { return hop };
            let index = self.index(station, hop.class);
            self.tally.arrive(index);
            let to = &switches[usize::from(hop.class)];
            if !to.is_empty() {
                let uniform: f64 = rand::Rng::random(&mut self.switching[index]);
                let switched = to.iter().find(|(up_to, _)| uniform < *up_to).or(to.last());
                hop.class = switched.map_or(hop.class, |(_, class)| *class);
            }
            hop = self.choose_target(leaving, hop.target, hop.class, hop.further_visits);
            self.tally.depart(index, 0.0);
        }
        self.halt = Some(Halt::Standstill);
        Hop { target: OUTSIDE, ..hop }
    }

    /// Chooses a target from the place `from`. The customer leaves the station `leaving`, which differs from `from` if it has
    /// passed through routers.
    #[inline]
    fn choose_target(&mut self, leaving: Target, from: Target, class: u16, further_visits: u32) -> Hop {
        let count = self.classes.len();
        let place = if from == OUTSIDE { self.stations.len() } else { usize::from(from) };
        let index = place * count + usize::from(class);
        let Self { routes, stations, tally, .. } = self;
        let Route { strategy, stream } = &mut routes[index];
        if let Strategy::Fixed(target) = strategy {
            return Hop { target: *target, class, further_visits: 0 };
        }
        let class_present = tally.observed(index).present;
        let customer = RoutedCustomer { from, class_present, further_visits };
        let (target, further_visits) = strategy.choose(customer, stream, |target| {
            if target == OUTSIDE {
                return StationView::default();
            }
            let station = &stations[usize::from(target)];
            let observed = tally.observed(usize::from(target) * count + usize::from(class));
            // The customer itself is not counted at the station that it leaves.
            let own = u32::from(target == leaving);
            StationView {
                present: station.present.saturating_sub(own),
                in_service: station.in_service.saturating_sub(own),
                servers: station.servers,
                last_response_s: observed.last_response_s,
                last_service_s: observed.last_service_s,
            }
        });
        Hop { target, class, further_visits }
    }

    /// Moves a customer that left `from` to its target: into a station, outside, or into the queue in front of a full station.
    #[inline]
    fn place(&mut self, customer: u32, from: Target, hop: Hop) {
        self.customers[customer].class = hop.class;
        if hop.target == OUTSIDE {
            self.end_pass(customer, true);
            return;
        }
        let station = &mut self.stations[usize::from(hop.target)];
        if station.is_full() {
            if station.when_full == WhenFull::Drop {
                let index = self.index(usize::from(hop.target), hop.class);
                self.tally.reject(index);
                self.end_pass(customer, false);
            } else {
                station.waiting_for_room.push_back(Blocked { customer, from, hop });
            }
            return;
        }
        self.start_visit(customer, hop);
    }

    /// Starts a visit to a station that is not full.
    #[inline]
    fn start_visit(&mut self, customer: u32, hop: Hop) {
        let (now_s, at) = (self.now_s, usize::from(hop.target));
        let index = self.index(at, hop.class);
        self.visits += 1;
        let order = self.visits;
        let this = &mut self.customers[customer];
        this.class = hop.class;
        this.station = hop.target;
        this.further_visits = hop.further_visits;
        this.arrived_s = now_s;
        this.remaining_s = NOT_DRAWN;
        this.order = order;
        self.tally.arrive(index);
        let station = &mut self.stations[at];
        station.present += 1;
        match &mut station.serving {
            Serving::NonPreemptive => {
                if station.in_service < station.servers {
                    station.in_service += 1;
                    self.start_service(customer, index);
                } else {
                    let mut service_s = 0.0;
                    if station.draws_on_arrival {
                        service_s = self.services[index].as_mut().map_or(0.0, TimeSource::draw_s);
                        self.customers[customer].remaining_s = service_s;
                    }
                    let level = self.classes[usize::from(hop.class)].level;
                    self.stations[at].waiting.add(customer, service_s, level);
                }
            }
            Serving::Delay => {
                let service_s = self.services[index].as_mut().map_or(0.0, TimeSource::draw_s);
                let due = self.events.schedule(now_s + service_s, Event::ServiceEnd(customer));
                self.customers[customer].due = due;
            }
            Serving::Preemptive(..) => self.enter_preemptive(customer, at, index),
            Serving::LoadDependent(_) => self.enter_load_dependent(customer, at, index),
            Serving::Shared(_) => self.enter_shared(customer, at, index),
            Serving::Fork(_) => self.fork(customer, at),
            Serving::Join => self.join(customer),
            // Routers are skipped by `pass_through`.
            Serving::Router(_) => {}
        }
    }

    /// Starts or resumes the service of a customer.
    #[inline]
    pub(crate) fn start_service(&mut self, customer: u32, index: usize) {
        let this = &mut self.customers[customer];
        if this.remaining_s < 0.0 {
            this.remaining_s = self.services[index].as_mut().map_or(0.0, TimeSource::draw_s);
        }
        this.served_from_s = self.now_s;
        this.due = self.events.schedule(self.now_s + this.remaining_s, Event::ServiceEnd(customer));
        self.tally.add_busy(index, 1.0);
    }

    /// Draws a service time in seconds.
    pub(crate) fn draw_service(&mut self, index: usize) -> f64 {
        self.services[index].as_mut().map_or(0.0, TimeSource::draw_s)
    }

    /// Ends a service: the customer moves on, or stays and blocks the server.
    #[inline]
    pub(crate) fn end_service(&mut self, customer: u32) {
        let this = &mut self.customers[customer];
        this.due = 0;
        let (from, class, further_visits) = (this.station, this.class, this.further_visits);
        let hop = self.next_hop(from, class, further_visits);
        if hop.target != OUTSIDE && hop.target != from {
            let next = &mut self.stations[usize::from(hop.target)];
            if next.is_full() && next.when_full == WhenFull::Block {
                next.waiting_for_room.push_back(Blocked { customer, from, hop });
                self.stations[usize::from(from)].blocked += 1;
                if self.stations[usize::from(from)].is_stuck() && !self.deadlocked().is_empty() {
                    self.halt = Some(Halt::Deadlock);
                }
                return;
            }
        }
        self.end_visit(customer);
        self.place(customer, from, hop);
    }

    /// Ends a visit, and starts the service of the next customer.
    #[inline]
    fn end_visit(&mut self, customer: u32) {
        let this = &self.customers[customer];
        let (class, at, arrived_s, served_from_s) =
            (this.class, usize::from(this.station), this.arrived_s, this.served_from_s);
        let index = self.index(at, class);
        let response_s = self.now_s - arrived_s;
        self.tally.depart(index, response_s);
        let station = &mut self.stations[at];
        station.present -= 1;
        if station.capacity != u32::MAX {
            self.freed.push(at as u16);
        }
        match &mut station.serving {
            Serving::NonPreemptive => {
                self.tally.add_busy(index, -1.0);
                self.tally.record_service(index, self.now_s - served_from_s);
                if let Some(next) = station.waiting.next() {
                    let next_index = self.index(at, self.customers[next].class);
                    self.start_service(next, next_index);
                } else {
                    station.in_service -= 1;
                }
            }
            Serving::Preemptive(..) => self.leave_preemptive(customer, at, index),
            Serving::LoadDependent(_) => self.leave_load_dependent(at, index),
            Serving::Shared(_) | Serving::Delay => self.tally.record_service(index, response_s),
            Serving::Fork(_) | Serving::Join | Serving::Router(_) => {}
        }
    }

    /// Admits customers that wait for room at a station, until it is full.
    fn admit_waiting(&mut self, at: usize) {
        while !self.stations[at].is_full() {
            let Some(Blocked { customer, from, hop }) = self.stations[at].waiting_for_room.pop_front() else {
                return;
            };
            if from != OUTSIDE {
                self.stations[usize::from(from)].blocked -= 1;
                self.end_visit(customer);
            }
            self.start_visit(customer, hop);
        }
    }

    /// The stations of a deadlock. All customers in service at each of these stations wait for room at another of these
    /// stations.
    pub(crate) fn deadlocked(&self) -> Vec<usize> {
        let mut stuck: Vec<bool> = self.stations.iter().map(Station::is_stuck).collect();
        // A customer that waits for a station outside the deadlock can continue. The station that it blocks is therefore not part
        // of the deadlock.
        loop {
            let mut changed = false;
            for (at, station) in self.stations.iter().enumerate() {
                if stuck[at] {
                    continue;
                }
                for blocked in &station.waiting_for_room {
                    if blocked.from != OUTSIDE && std::mem::take(&mut stuck[usize::from(blocked.from)]) {
                        changed = true;
                    }
                }
            }
            if !changed {
                return (0..stuck.len()).filter(|&at| stuck[at]).collect();
            }
        }
    }

    /// Splits a customer into siblings. The customer itself is not at any station until the siblings are joined.
    fn fork(&mut self, customer: u32, at: usize) {
        let this = self.customers[customer];
        let index = self.index(at, this.class);
        self.stations[at].present -= 1;
        self.tally.depart(index, 0.0);
        let Serving::Fork(to) = &self.stations[at].serving else { return };
        let mut siblings = 0;
        for &(target, count) in to {
            for _ in 0..count {
                let sibling = self.customers.create(this.class, customer);
                siblings += 1;
                self.customers[sibling].entered_s = self.now_s;
                self.moves.push((sibling, Hop { target, class: this.class, further_visits: 0 }));
            }
        }
        let this = &mut self.customers[customer];
        (this.siblings, this.joined) = (siblings, NO_CUSTOMER);
        if self.customers.count() >= self.customers_max {
            self.halt = Some(Halt::TooManyCustomers);
        }
        // `moves` is a stack, so the first branch must be on top to be placed first.
        let first = self.moves.len() - siblings as usize;
        self.moves[first..].reverse();
        // A branch may start with routers.
        for at in first..self.moves.len() {
            let (_, hop) = self.moves[at];
            self.moves[at].1 = self.pass_through(OUTSIDE, hop);
        }
    }

    /// Handles the arrival of a customer at a join. The customer waits for its siblings; the last sibling merges them.
    fn join(&mut self, customer: u32) {
        let parent = self.customers[customer].parent;
        if parent == NO_CUSTOMER {
            self.end_visit(customer);
            let this = self.customers[customer];
            let hop = self.next_hop(this.station, this.class, 0);
            self.moves.push((customer, hop));
            return;
        }
        self.customers[customer].joined = self.customers[parent].joined;
        self.customers[parent].joined = customer;
        self.sibling_done(parent);
    }

    /// Counts a sibling that arrived at the join, was lost, or went outside. After the last sibling, the parent continues.
    fn sibling_done(&mut self, parent: u32) {
        let this = &mut self.customers[parent];
        this.siblings -= 1;
        if this.siblings > 0 {
            return;
        }
        let mut next = std::mem::replace(&mut this.joined, NO_CUSTOMER);
        if next == NO_CUSTOMER {
            // All siblings were lost or went outside without reaching a join.
            self.end_pass(parent, false);
            return;
        }
        let (class, at) = (this.class, self.customers[next].station);
        while next != NO_CUSTOMER {
            let sibling = next;
            next = self.customers[sibling].joined;
            self.end_visit(sibling);
            self.customers.free(sibling);
        }
        let hop = self.next_hop(at, class, 0);
        self.moves.push((parent, hop));
    }
}
