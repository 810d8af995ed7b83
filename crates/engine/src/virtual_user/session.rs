//! A user that serves arrivals: session after session, each as a fresh visitor.

use std::rc::Rc;
use std::sync::Arc;

use busyhour_program::run::Stop;
use busyhour_program::sampler::Protocol;
use busyhour_record::{ArrivalRecord, Fate};

use super::{Active, VirtualUser};
use crate::control::{ROOT, Walk};
use crate::open::desk::{Attendance, Call, Ticket};

impl<P: Protocol> VirtualUser<P> {
    /// Serves arrivals until the desk closes. What the visitor before left behind (variables, cookies, caches, elements'
    /// state) is gone for the next; its connections are used again, as long as the group's iterations go on as the
    /// same user.
    pub(crate) async fn serve(mut self, mut desk: Attendance) {
        let run = Arc::clone(&self.user.run);
        let program = Arc::clone(&self.program);
        let group = &program.groups[self.user.group as usize];
        let core = Rc::clone(&self.core);
        let is_stopped = || run.stop() != Stop::No;
        while let Some(call) = desk.next(is_stopped).await {
            let (Call::Now(ticket) | Call::Ahead(ticket)) = call;
            // All that can be done before its time is done then: what is left is little, and warm.
            self.become_visitor(&ticket);
            P::visitor_changed(&mut self.session, group.same_user);
            if matches!(call, Call::Ahead(_)) && !desk.hold(ticket, &core.timers, is_stopped).await {
                continue;
            }
            let _active = Active::enter(&run, self.user.group);
            self.begin_arrival(&ticket);
            self.live(group).await;
        }
    }

    /// Serves arrivals until the desk closes, each with one more pass as the same user, who rests in between: the groups
    /// of jmeter-plugins. Ends when the passes are used up or the user is told to stop.
    pub(crate) async fn serve_on(mut self, mut desk: Attendance) {
        let run = Arc::clone(&self.user.run);
        let program = Arc::clone(&self.program);
        let group = &program.groups[self.user.group as usize];
        self.set_last_sample_ok(true);
        Walk::new(group, &mut self.place, &mut self.user).initialize(ROOT);
        while let Some(call) = desk.next(|| run.stop() != Stop::No).await {
            let (Call::Now(ticket) | Call::Ahead(ticket)) = call;
            let _active = Active::enter(&run, self.user.group);
            self.user.serve_arrival(ticket.arrival);
            self.begin_arrival(&ticket);
            loop {
                self.iterate(group).await;
                let mut walk = Walk::new(group, &mut self.place, &mut self.user);
                if walk.is_over(ROOT) || !self.goes_on() {
                    return;
                }
                if Walk::new(group, &mut self.place, &mut self.user).is_between_passes() {
                    break;
                }
            }
        }
    }

    fn become_visitor(&mut self, ticket: &Ticket) {
        self.user.begin_session(ticket.arrival);
        self.place.begin_again();
        self.side = None;
        self.last_package = None;
    }

    fn begin_arrival(&mut self, ticket: &Ticket) {
        self.steps = 0;
        self.previous_end = ticket.scheduled;
        let now = self.user.now();
        self.late_ns = now.since(ticket.scheduled);
        let fate = if ticket.waited { Fate::Waited { until: now } } else { Fate::Begun { at: now } };
        let record = ArrivalRecord { group: self.user.group, scheduled: ticket.scheduled, fate };
        self.core.record_arrival(&record);
    }
}
