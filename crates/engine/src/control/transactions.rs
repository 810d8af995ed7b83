//! Transaction controllers, in both modes.

use busyhour_program::element::StopUser;
use busyhour_program::ids::ControllerId;

use super::{Flags, Next, Step, Walk};
use crate::transaction::Transaction;

impl<P> Walk<'_, P> {
    fn begin_transaction(&mut self, id: ControllerId) -> Box<Transaction> {
        let mut label = String::new();
        self.group_controller(id).name.render(self.user, &mut label);
        Box::new(Transaction::begin(label, self.user.now()))
    }

    pub(crate) fn next_of_transaction(
        &mut self,
        id: ControllerId,
        include_timers: bool,
    ) -> Result<Next, StopUser> {
        // JMeter counts a call on each level of its recursion when a child controller has no sampler.
        let mut levels = 1;
        loop {
            if self.turn() {
                return Ok(Next::Yield);
            }
            if self.state(id).flags.contains(Flags::FIRST) {
                let transaction = self.begin_transaction(id);
                self.state(id).transaction = Some(transaction);
            }
            let is_last = self.state(id).current as usize == self.child_count(id);
            match self.generic_next(id)? {
                Step::Again => levels += 1,
                Step::Answer(Next::Yield) => return Ok(Next::Yield),
                Step::Answer(Next::Nothing) if is_last => {
                    let now = self.user.now();
                    if let Some(mut transaction) = self.state(id).transaction.take() {
                        if !include_timers {
                            transaction.time_ns += now.since(transaction.previous_end);
                        }
                        transaction.result.times.idle_ns += transaction.time_ns;
                        transaction.result.times.end = now;
                        transaction.write_message();
                        if transaction.result.outcome.success {
                            transaction.result.outcome.code.push_str("200");
                        }
                        transaction.open = false;
                        self.place.made.push(transaction);
                    }
                    return Ok(Next::Nothing);
                }
                Step::Answer(found) => {
                    if let Some(transaction) = &mut self.state(id).transaction {
                        transaction.calls += levels;
                    }
                    return Ok(found);
                }
            }
        }
    }

    pub(crate) fn next_of_parent_transaction(
        &mut self,
        id: ControllerId,
        include_timers: bool,
    ) -> Result<Next, StopUser> {
        if self.state(id).transaction.as_ref().is_some_and(|transaction| transaction.done) {
            self.state(id).transaction = None;
            return Ok(Next::Nothing);
        }
        if self.state(id).flags.contains(Flags::FIRST) {
            let transaction = self.begin_transaction(id);
            self.state(id).transaction = Some(transaction);
        }
        let sub = loop {
            if self.turn() {
                return Ok(Next::Yield);
            }
            match self.generic_next(id)? {
                Step::Again => {}
                Step::Answer(Next::Yield) => return Ok(Next::Yield),
                Step::Answer(sub) => break sub,
            }
        };
        let now = self.user.now();
        if let Some(transaction) = &mut self.state(id).transaction {
            transaction.sub = sub;
            if sub == Next::Nothing {
                transaction.finish_parent(now, include_timers);
            }
        }
        Ok(Next::Transaction(id))
    }
}
