//! Losses of agents during a run, and the agents that take over their shares.

use std::sync::Arc;
use std::time::Duration;

use busyhour_program::run::Stop;

use super::super::replacement::{AFTER_LEASE_NS, JOIN_NS, Vacancy, recruit};
use super::super::settings::{Loss, OnAgentLoss};
use super::{Course, Follow};
use crate::messages::{LoadOrder, Order};

/// Time in ns without a report after which an agent is lost. It reports twice per second.
const LOST_NS: u64 = 2_500_000_000;

impl Follow<'_> {
    /// Records that an agent takes no part in the run any more.
    pub(super) fn fail(&self, course: &mut Course<'_>, at: usize, cause: &str) {
        let member = &mut course.members[at];
        if member.is_over() {
            return;
        }
        member.failure = Some(cause.to_owned());
        course.merger.end(at);
        if let (Some(lost), true) = (member.replaces, member.has_never_begun()) {
            // The share is vacant again.
            course.replaced.remove(&lost);
            (self.say)(&format!("warning: the agent {} cannot take over a share: {cause}", member.info.name));
            return;
        }
        let share = member.share.to_string();
        (self.say)(&format!(
            "warning: the agent {} does not take part: {cause}; its share {share} of the load is missing",
            member.info.name
        ));
        self.on_loss(course, at);
    }

    /// Records that an agent has ended its part of the run by itself.
    pub(super) fn leave(&self, course: &mut Course<'_>, at: usize, at_ns: u64) {
        let member = &mut course.members[at];
        let is_expected = course.stop != Stop::No || course.run.shared.stop() != Stop::No;
        // Another controller receives the report again.
        if is_expected || member.is_main_done || member.is_over() || member.left_ns.is_some() {
            return;
        }
        let correction = member.clock.correction_ns(i64::try_from(at_ns).unwrap_or(i64::MAX));
        let left_ns = at_ns.saturating_add_signed(-correction);
        member.left_ns = Some(left_ns);
        (self.say)(&format!(
            "warning: the agent {} was interrupted at {:.1} s: its share {} of the load, about {:.0} requests/s, is missing",
            member.info.name,
            left_ns as f64 / 1e9,
            member.share,
            member.rate()
        ));
        self.on_loss(course, at);
    }

    pub(super) fn on_loss(&self, course: &Course<'_>, at: usize) {
        if self.settings.on_loss == OnAgentLoss::Stop {
            let name = &course.members[at].info.name;
            course.run.shared.stop_because_of_error(Stop::Graceful, format!("the agent {name} was lost"));
        }
    }

    pub(super) fn find_losses(&self, course: &mut Course<'_>, now: u64) {
        for at in 0..course.members.len() {
            let member = &mut course.members[at];
            if member.is_over() || member.is_lost() || now.saturating_sub(member.last_message_ns) < LOST_NS {
                continue;
            }
            member.losses.push(Loss { from_ns: member.last_message_ns, to_ns: None });
            course.merger.set_lost(at, true);
            (self.say)(&format!(
                "warning: the agent {} is lost since {:.1} s: its share {} of the load, about {:.0} requests/s, is missing",
                member.info.name,
                member.last_message_ns as f64 / 1e9,
                member.share,
                member.rate()
            ));
            self.on_loss(course, at);
        }
    }

    /// Looks for agents that take over the shares of lost ones, once these have certainly stopped.
    pub(super) fn replace_lost(&self, course: &mut Course<'_>, now: u64) {
        while let Ok(mut member) = course.recruits.1.try_recv() {
            member.last_message_ns = now;
            course.merger.add_agent();
            course.seconds.add_agent(&member.directory());
            course.members.push(member);
        }
        let Some(recruiting) = &self.recruiting else { return };
        if course.started_ns == 0 || course.stop != Stop::No {
            return;
        }
        let lease_ns = u64::try_from(self.settings.lease.as_nanos()).unwrap_or(u64::MAX);
        // Every agent that joins needs a writer.
        let first = course.members.iter().filter(|member| member.replaces.is_none()).count();
        for lost in 0..course.members.len() {
            let member = &course.members[lost];
            let silent_ns = now.saturating_sub(member.last_message_ns);
            let is_silent = !member.is_over() && member.is_lost() && silent_ns >= lease_ns + AFTER_LEASE_NS;
            let is_vacant = is_silent || (member.left_ns.is_some() && member.end.is_some());
            if !is_vacant || course.replaced.len() >= first || !course.replaced.insert(lost) {
                continue;
            }
            if is_silent {
                // An agent that still receives orders, although its reports are lost, must stop, too.
                self.give_later(member, Order::Change { change: LoadOrder::StopNow, at_ns: None });
            }
            (self.say)(&format!(
                "looking for an agent that takes over the share {} of {}",
                member.share, member.info.name
            ));
            let vacancy = Vacancy { lost, seat: member.seat, share: member.share.clone() };
            let (orders, found) = (Arc::clone(self.orders), course.recruits.0.clone());
            let task = recruit(orders, self.settings.clone(), recruiting.clone(), vacancy, found);
            course.recruiters.push(tokio::spawn(task));
        }
    }

    /// Lets an agent start its part of a run that has started.
    pub(super) fn let_join(&self, course: &mut Course<'_>, at: usize) {
        let joined_ns = self.now() + JOIN_NS;
        let start_ns = i64::try_from(course.started_ns).unwrap_or(i64::MAX);
        let properties = course.members.iter().find(|member| member.share.is_first());
        let properties = properties.map(|member| member.properties.clone()).unwrap_or_default();
        let member = &mut course.members[at];
        member.start_offset_ns = member.clock.correction_ns(start_ns);
        member.joined_ns = joined_ns;
        let there = |at_ns: u64| at_ns.saturating_add_signed(member.start_offset_ns);
        let start =
            Order::Start { at_ns: there(course.started_ns), join_ns: Some(there(joined_ns)), properties };
        (self.say)(&format!(
            "the agent {} takes over the share {} from {:.1} s on",
            member.info.name,
            member.share,
            joined_ns as f64 / 1e9
        ));
        let (orders, id, name) = (Arc::clone(self.orders), member.info.id.clone(), member.info.name.clone());
        let say = Arc::clone(self.say);
        tokio::spawn(async move {
            for order in [Order::Begin, start] {
                if let Err(error) = orders.give(&id, &order, Duration::from_secs(1)).await {
                    say(&format!("warning: the agent {name} did not follow an order: {error}"));
                }
            }
        });
        self.store(course);
    }
}
