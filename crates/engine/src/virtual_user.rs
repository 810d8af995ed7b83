//! A virtual user: runs one sampler after another, with the elements around each.

mod delivery;
mod flow;
mod holding;
mod parallel;
mod session;
mod state;

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use busyhour_program::Program;
use busyhour_program::group::{Group, OnError};
use busyhour_program::ids::{ControllerId, SamplerId};
use busyhour_program::result::SampleResult;
use busyhour_program::run::{LogLevel, Stop};
use busyhour_program::sampler::{Protocol, SamplerKind, SamplerPackage};
use busyhour_program::symbols::LAST_SAMPLE_OK;
use busyhour_program::user::{CoreAccess, LogicalAction, UserState};
use busyhour_program::variables::VariableValue;
use busyhour_sample::{ActiveUsers, Nanos};
use holding::within;

pub(crate) use state::VirtualUser;

use crate::checks::check_assertions;
use crate::control::{Next, UserPosition, Walk, release};
use crate::core::Core;
use crate::core_share::CoreShare;
use crate::reporting::fill;

/// Number of samples without I/O after which a user lets others run; such samples never yield on their own.
const STEPS_PER_TURN: u32 = 64;

/// Counts a sample as interrupted when its user is dropped during it.
struct InFlight<'c>(Option<&'c Core>);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        if let Some(core) = self.0 {
            core.interrupted.set(core.interrupted.get() + 1);
        }
    }
}

/// Counts a user as active until it ends, in any way.
struct Active<'u>(&'u Core, u32);

impl<'u> Active<'u> {
    fn enter(core: &'u Core, group: u32) -> Self {
        let run = &core.run;
        core.record_users(1);
        run.active.fetch_add(1, Ordering::Relaxed);
        run.started.fetch_add(1, Ordering::Relaxed);
        run.groups[group as usize].active.fetch_add(1, Ordering::Relaxed);
        run.groups[group as usize].started.fetch_add(1, Ordering::Relaxed);
        Self(core, group)
    }
}

impl Drop for Active<'_> {
    fn drop(&mut self) {
        let run = &self.0.run;
        self.0.record_users(-1);
        run.active.fetch_sub(1, Ordering::Relaxed);
        run.finished.fetch_add(1, Ordering::Relaxed);
        run.groups[self.1 as usize].active.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<P: Protocol> VirtualUser<P> {
    /// User `number` (from 0) of a group, planned to start at `start`.
    pub(crate) fn new(
        program: Arc<Program<P>>,
        core: Rc<Core>,
        group: u32,
        number: u32,
        start: Nanos,
        end_time: Option<Nanos>,
    ) -> Self {
        let access: Rc<dyn CoreAccess> = Rc::clone(&core) as _;
        let mut user = UserState::new(Arc::clone(&core.run), Some(access), group, number);
        user.end_time = end_time;
        let session = P::session(&user);
        let place = UserPosition::new(program.groups[group as usize].controllers.len());
        let last_ok = user.variables.names().find(LAST_SAMPLE_OK);
        Self {
            program,
            core,
            user,
            session,
            place,
            last_package: None,
            next_intended_start: start,
            late_ns: 0,
            last_ok,
            steps: 0,
            holds: false,
            pause_end: Nanos::ZERO,
            side: None,
        }
    }

    /// Makes the user end after a pass if its core has too many users of the group.
    pub(crate) fn follow_level(&mut self, share: Rc<CoreShare>) {
        self.place.level = Some(share);
    }

    /// Runs until the user has completed its group's work or is stopped.
    ///
    /// The user belongs to the async block. The future of an `async fn` would have space for it twice: as an argument and as a
    /// variable.
    pub(crate) fn run(mut self) -> impl Future<Output = ()> {
        self.holds = true;
        async move {
            let core = Rc::clone(&self.core);
            let _active = Active::enter(&core, self.user.group);
            let program = Arc::clone(&self.program);
            let group = &program.groups[self.user.group as usize];
            self.live(group).await;
        }
    }

    /// Runs all iterations.
    async fn live(&mut self, group: &Group<P>) {
        self.set_last_sample_ok(true);
        let root = self.root();
        Walk::new(group, &mut self.place, &mut self.user).initialize(root);
        while self.continues_iterating() {
            self.iterate(group).await;
            if self.user.running && self.is_over(group) {
                self.user.running = false;
            }
        }
        for section in group.sections() {
            release(section, &mut self.user);
        }
    }

    /// Runs samples until the walk finds nothing more or a jump starts something else.
    async fn iterate(&mut self, group: &Group<P>) {
        loop {
            if self.holds && self.user.run.control.is_paused() {
                // Boxed, so that the future of a user that never waits needs no space for this one.
                Box::pin(self.hold()).await;
                if !self.continues_iterating() {
                    return;
                }
            }
            let Some(next) = self.next(group) else { return };
            match next {
                Next::Nothing => {
                    // A user whose passes contain no sampler must end with the schedule, too (JMeter's never ends).
                    self.stop_if_time_is_over(self.user.now());
                    // A user that has completed its work need not yield: it ends, or takes the next arrival of an open workload.
                    if self.user.running && !self.is_over(group) {
                        self.pause_between(true).await;
                    }
                    return;
                }
                Next::Yield if self.place.waits.is_some() => self.wait_for_lock().await,
                Next::Yield => {
                    self.stop_if_time_is_over(self.user.now());
                    self.pause_between(true).await;
                }
                next => {
                    self.process(group, next).await;
                    let failed = self.on_error(group) == OnError::StartNextLoop && !self.last_sample_ok();
                    if self.user.action != LogicalAction::Continue || failed {
                        let action =
                            if failed { LogicalAction::NextIterationOfThread } else { self.user.action };
                        self.jump(group, action);
                        self.user.action = LogicalAction::Continue;
                        self.set_last_sample_ok(true);
                        self.pause_between(false).await;
                        return;
                    }
                    self.pause_between(false).await;
                }
            }
            if !self.continues_iterating() {
                return;
            }
        }
    }

    /// Lets other users run: immediately, or after many samples without I/O.
    async fn pause_between(&mut self, at_once: bool) {
        self.steps += 1;
        if at_once || self.steps >= STEPS_PER_TURN {
            self.steps = 0;
            tokio::task::yield_now().await;
        }
    }

    fn continues_iterating(&self) -> bool {
        self.user.running && self.user.run.stop() == Stop::No
    }

    /// The next step of the walk; `None` if the user must stop.
    fn next(&mut self, group: &Group<P>) -> Option<Next> {
        if group.population.is_some() && self.is_group_over() {
            self.user.running = false;
            return None;
        }
        let root = self.root();
        let next = Walk::new(group, &mut self.place, &mut self.user).next_sampler(root);
        if self.place.iterations_begun > 0 {
            self.place.iterations_begun = 0;
            P::iteration_started(&mut self.session, &mut self.user, group.same_user);
        }
        self.report_made(group);
        match next {
            Ok(next) => Some(next),
            Err(stop) => {
                let mut line = self.name();
                line.push_str(" stops: ");
                line.push_str(&stop.0);
                self.user.log(LogLevel::Info, &line);
                self.user.running = false;
                None
            }
        }
    }

    fn is_group_over(&self) -> bool {
        self.user.run.groups[self.user.group as usize].over.load(Ordering::Relaxed)
    }

    fn name(&self) -> String {
        let mut name = String::new();
        self.user.thread_name(&mut name);
        name
    }

    fn set_last_sample_ok(&mut self, ok: bool) {
        let text = if ok { "true" } else { "false" };
        match self.last_ok {
            Some(slot) if self.user.variables.slot(slot) == Some(text) => {}
            Some(slot) => self.user.variables.set_slot_value(slot, VariableValue::Static(text)),
            None => self.user.variables.set_value(LAST_SAMPLE_OK, VariableValue::Static(text)),
        }
    }

    fn last_sample_ok(&self) -> bool {
        self.user.variables.get(LAST_SAMPLE_OK) == Some("true")
    }

    /// Processes one step of the walk: a sampler, or a transaction in parent mode.
    async fn process(&mut self, group: &Group<P>, next: Next) {
        if let Next::Sampler(sampler) = next {
            self.execute(group, sampler, None).await;
            self.stop_if_time_is_over(self.next_intended_start);
            return;
        }
        let mut chain: Vec<ControllerId> = Vec::new();
        let mut inner = next;
        let mut ended = false;
        while let Next::Transaction(id) = inner {
            chain.push(id);
            let Some(transaction) = &self.place.states[id.0 as usize].transaction else { break };
            if transaction.done {
                ended = true;
                break;
            }
            inner = transaction.sub;
        }
        if let (Next::Sampler(sampler), false) = (inner, ended) {
            self.execute(group, sampler, chain.last().copied()).await;
        }
        self.stop_if_time_is_over(self.next_intended_start);
        while let Some(id) = chain.pop() {
            if !ended && self.user.running && self.user.run.stop() == Stop::No {
                break;
            }
            ended = false;
            let parent = chain.last().copied();
            let Some(transaction) = self.place.states[id.0 as usize].transaction.as_mut() else { continue };
            let result = std::mem::take(&mut transaction.result);
            let result = self.end_transaction(group, id, result, parent.is_some());
            if let Some(parent) = parent
                && let Some(transaction) = self.place.states[parent.0 as usize].transaction.as_mut()
            {
                transaction.began_with(&result, 0);
                transaction.add_child(result, true);
            }
        }
    }

    fn stop_if_time_is_over(&mut self, now: Nanos) {
        if self.user.end_time.is_some_and(|end| now >= end) {
            self.user.running = false;
        }
    }

    /// Runs one sampler with its pre-processors, timers, post-processors, assertions and listeners.
    async fn execute(&mut self, group: &Group<P>, id: SamplerId, transaction: Option<ControllerId>) {
        let package = &group.samplers[id.0 as usize];
        if self.last_package != Some(id) || package.label_id.is_none() {
            let mut name = std::mem::take(&mut self.user.sampler_name);
            name.clear();
            package.label.render(&mut self.user, &mut name);
            self.user.sampler_name = name;
        }
        self.user.request = None;
        for processor in &package.before {
            match processor.gate() {
                Some(gate) => gate.wait(&mut self.user).await,
                None => processor.process(&mut self.user),
            }
            if std::mem::take(&mut self.user.sample_abandoned) {
                self.next_intended_start = self.user.now() - self.late_ns;
                return;
            }
        }
        if self.user.requested_sleep_ns > 0 {
            self.sleep_off().await;
        }
        self.last_package = Some(id);
        let Some(intended) = self.wait(package).await else { return };
        if self.core.is_behind() {
            self.core.settle().await;
        }
        match &package.kind {
            SamplerKind::Flow(action) => {
                self.act(package, action).await;
                // A jump takes no time, but the intended start must still advance to the current time.
                self.next_intended_start = self.user.now() - self.late_ns;
                return;
            }
            SamplerKind::Parallel(parallel) => {
                // Boxed, so that users without parallel branches need no space for this future.
                let made = Box::pin(self.run_side_by_side(group, id, parallel, intended)).await;
                if !made {
                    self.next_intended_start = self.user.now() - self.late_ns;
                    return;
                }
                self.next_intended_start = self.user.result.times.end;
            }
            SamplerKind::Immediate(sampler) => {
                sampler.sample(&mut self.user, &package.label, intended);
                if self.user.requested_sleep_ns > 0 {
                    self.sleep_off().await;
                }
                self.next_intended_start = self.user.result.times.end;
            }
            SamplerKind::Protocol(protocol) => {
                let limit_ns = self.limit_of(package);
                let core = Rc::clone(&self.core);
                let mut in_flight = InFlight(Some(&core));
                // The start is needed only if there is a limit, and most samples have none.
                let begun = if limit_ns.is_some() { self.user.now() } else { Nanos::ZERO };
                self.user.interrupt_at = limit_ns.map(|limit_ns| begun + limit_ns);
                let limit_ns = limit_ns.filter(|_| protocol.is_interruptible());
                let in_time = {
                    let (user, session) = (&mut self.user, &mut self.session);
                    let sampling = protocol.sample(user, session, &package.label, intended, package.keep);
                    let mut sampling = std::pin::pin!(sampling);
                    match limit_ns {
                        None => {
                            sampling.as_mut().await;
                            true
                        }
                        Some(limit_ns) => within(&core, begun + limit_ns, sampling).await,
                    }
                };
                in_flight.0 = None;
                if !in_time {
                    self.interrupt(package, protocol, begun, intended);
                }
                self.next_intended_start = protocol.ended(&self.user);
            }
        }
        self.finish_sample(group, package, transaction);
        if self.user.requested_sleep_ns > 0 {
            self.sleep_off().await;
        }
        let pause_ns = self.user.run.failure_pause_ns.load(Ordering::Relaxed);
        if pause_ns > 0 && !self.last_sample_ok() {
            self.user.requested_sleep_ns = pause_ns;
            self.sleep_off().await;
            // The next request is not late because of the pause.
            self.next_intended_start = self.user.now();
        }
        self.late_ns = 0;
    }

    /// Waits for the sleep time that scripts requested, without blocking the core. Callers first check whether there is any,
    /// because an unnecessary future costs more than the check.
    async fn sleep_off(&mut self) {
        let until = self.user.now() + std::mem::take(&mut self.user.requested_sleep_ns);
        self.core.timers.sleep_until(until).await;
        self.steps = 0;
    }

    /// Processes the end of a sample: processors, assertions, listeners, and the group's action on errors.
    fn finish_sample(
        &mut self,
        group: &Group<P>,
        package: &SamplerPackage<P>,
        transaction: Option<ControllerId>,
    ) {
        if self.user.result.marks.ignore {
            let ok = self.user.result.outcome.success;
            self.set_last_sample_ok(ok);
        } else {
            let users = self.active_users();
            fill(&mut self.user.result, users);
            for processor in &package.after {
                processor.process(&mut self.user);
                if std::mem::take(&mut self.user.sample_abandoned) {
                    return;
                }
            }
            if !package.assertions.is_empty() {
                let mut result = std::mem::take(&mut self.user.result);
                let all = self.program.notes_assertions();
                check_assertions(&mut self.user, &package.assertions, &mut result, all);
                self.user.result = result;
            }
            let ok = self.user.result.outcome.success;
            self.set_last_sample_ok(ok);
            if !self.user.result.marks.ignore {
                // Samples nested in a Parallel Controller's sample are not sent to listeners.
                let silent = self.is_part_of_parent_sample();
                let sample_listeners = match transaction {
                    _ if silent => &[][..],
                    Some(_) => &package.sample_listeners.in_transaction,
                    None => &package.sample_listeners.all,
                };
                for listener in sample_listeners {
                    listener.process(&mut self.user);
                }
                if std::mem::take(&mut self.user.sample_abandoned) {
                    return;
                }
                self.notify(group, package, transaction);
                if !self.user.result.outcome.success && !silent {
                    self.react_to_failure(&package.on_failure);
                }
            }
        }
        let on_error = self.on_error(group);
        let result = &self.user.result;
        let failed = !result.outcome.success;
        let (stop_user, stop_test, stop_now) = (
            result.after.stop_user || (failed && on_error == OnError::StopUser),
            result.after.stop_test || (failed && on_error == OnError::StopTest),
            result.after.stop_test_now || (failed && on_error == OnError::StopTestNow),
        );
        if result.after.next != LogicalAction::Continue {
            self.user.action = result.after.next;
        }
        if stop_user {
            self.stop(None, "Stop Thread");
        }
        if failed && matches!(on_error, OnError::StopTest | OnError::StopTestNow) {
            self.note_failed_sample("its thread group stops the test after a failed sample");
        }
        if stop_test {
            self.stop(Some(Stop::Graceful), "Shutdown Test");
        }
        if stop_now {
            self.stop(Some(Stop::Now), "Stop Test Now");
        }
    }

    /// Logs that the sample failed, and the consequence.
    pub(super) fn note_failed_sample(&self, consequence: &str) {
        let result = &self.user.result;
        self.user
            .run
            .note_error(format!("{:?} failed ({}): {consequence}", result.label, result.outcome.code));
    }

    fn stop(&mut self, test: Option<Stop>, what: &str) {
        let mut line = String::from(what);
        line.push_str(" detected by thread: ");
        self.user.thread_name(&mut line);
        self.user.log(LogLevel::Info, &line);
        self.user.running = false;
        if let Some(stop) = test {
            self.user.run.stop_by_plan(stop);
        }
    }

    fn fill_users(&self, result: &mut SampleResult) {
        result.users = self.active_users();
    }

    /// Number of active users in this user's group and in all groups.
    fn active_users(&self) -> ActiveUsers {
        let run = &self.user.run;
        let group = run.groups[self.user.group as usize].active.load(Ordering::Relaxed);
        ActiveUsers { group, all: run.active.load(Ordering::Relaxed) }
    }

    /// Waits for the timers of the sampler; returns the intended start, or `None` if the user must stop instead.
    async fn wait(&mut self, package: &SamplerPackage<P>) -> Option<Nanos> {
        let mut intended = self.next_intended_start;
        if !package.timers.is_empty() {
            let mut wait_ns = 0u64;
            let mut think_ns = 0u64;
            let mut slot = None;
            for timer in &package.timers {
                if let Some(gate) = timer.gate() {
                    gate.wait(&mut self.user).await;
                }
                let delay = timer.delay(&mut self.user);
                wait_ns = wait_ns.saturating_add(delay.wait_ns);
                if delay.slot.is_none() {
                    think_ns = think_ns.saturating_add(delay.wait_ns);
                }
                slot = slot.max(delay.slot);
            }
            // Delays are added: think times follow the slot of a timer that controls the rate.
            intended = slot.unwrap_or(intended) + think_ns;
            // The user may have been stopped by a timer whose schedule is over.
            if wait_ns > 0 && self.user.running {
                let until = self.user.now() + wait_ns;
                if self.user.end_time.is_some_and(|end| until > end) {
                    self.user.running = false;
                    return None;
                }
                self.core.timers.sleep_until(until).await;
                self.steps = 0;
            }
        }
        if !self.continues_iterating() {
            self.user.running = false;
            return None;
        }
        // Without timers, the intended start is the end of the previous sample. No sample starts before its intended start.
        let intended = if package.timers.is_empty() { intended } else { intended.min(self.user.now()) };
        Some(intended.max(self.pause_end))
    }
}

#[cfg(test)]
mod tests;
