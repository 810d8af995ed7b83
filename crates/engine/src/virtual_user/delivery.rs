//! Sends a sample to listeners, to transactions, and to the user to which a branch belongs.

use std::sync::Arc;

use busyhour_program::controller::ControllerKind;
use busyhour_program::element::Processor;
use busyhour_program::group::Group;
use busyhour_program::ids::ControllerId;
use busyhour_program::result::SampleResult;
use busyhour_program::run::LogLevel;
use busyhour_program::sampler::{Protocol, SamplerPackage};
use busyhour_sample::SampleFlags;

use super::state::VirtualUser;
use crate::checks::check_assertions;
use crate::control::UserPosition;
use crate::reporting::{Destination, record_result};
use crate::transaction::Transaction;

impl<P: Protocol> VirtualUser<P> {
    /// Runs the assertions and listeners of a transaction in parent mode that has ended.
    pub(super) fn end_transaction(
        &mut self,
        group: &Group<P>,
        id: ControllerId,
        mut result: SampleResult,
        in_transaction: bool,
    ) -> SampleResult {
        let ControllerKind::Transaction(settings) = &group.controllers[id.0 as usize].kind else {
            return result;
        };
        self.fill_users(&mut result);
        check_assertions(&mut self.user, &settings.assertions, &mut result, self.program.notes_assertions());
        self.set_last_sample_ok(result.outcome.success);
        if !in_transaction {
            self.add_to_outer_transactions(group, id, &result);
            if !self.stores_for_parent(&result) {
                self.run_listeners(&settings.sample_listeners, &mut result);
                self.record(&result, settings.listeners, SampleFlags::TRANSACTION);
            }
        }
        result
    }

    /// Runs the listeners on a transaction's sample.
    fn run_listeners(&mut self, sample_listeners: &[Arc<dyn Processor>], result: &mut SampleResult) {
        if !sample_listeners.is_empty() {
            std::mem::swap(&mut self.user.result, result);
            for listener in sample_listeners {
                listener.process(&mut self.user);
            }
            std::mem::swap(&mut self.user.result, result);
        }
    }

    /// Adds the sample of a parent-mode transaction to the transactions around it.
    fn add_to_outer_transactions(&mut self, group: &Group<P>, id: ControllerId, result: &SampleResult) {
        let around = |package: &&SamplerPackage<P>| package.ancestors.contains(&id);
        let last = self.last_package.map(|last| &group.samplers[last.0 as usize]).filter(around);
        let Some(package) = last.or_else(|| group.samplers.iter().find(around)) else { return };
        for ancestor in package.ancestors.iter().skip_while(|ancestor| **ancestor != id).skip(1) {
            add_to_transaction(&mut self.place, group, *ancestor, result, 0);
        }
    }

    /// Sends the user's sample to listeners and transactions.
    pub(super) fn notify(
        &mut self,
        group: &Group<P>,
        package: &SamplerPackage<P>,
        transaction: Option<ControllerId>,
    ) {
        // The sample of a parent-mode transaction replaces the samples in it, also for the transaction
        // controllers directly below it, which JMeter counts among its listeners.
        let inner = match transaction {
            Some(id) => {
                package.ancestors.iter().position(|ancestor| *ancestor == id).unwrap_or(0).saturating_sub(1)
            }
            None => package.ancestors.len(),
        };
        if transaction.is_none() && self.side.is_some() {
            let result = std::mem::take(&mut self.user.result);
            let gathered = self.stores_for_parent(&result);
            if !gathered {
                self.store_for_outer_transactions(group, package, &result);
            }
            self.user.result = result;
            if gathered {
                return;
            }
        }
        let result = &self.user.result;
        for ancestor in &package.ancestors[..inner] {
            add_to_transaction(&mut self.place, group, *ancestor, result, self.late_ns);
        }
        let variables = &self.program.sample_variables;
        let Some(id) = transaction else {
            // A script may have renamed the sample.
            let label = package.label_id.filter(|_| package.label.as_literal() == Some(&result.label));
            let listeners = package.listeners;
            let details = self.program.details_shown_by(listeners);
            let destination = Destination { listeners, flags: SampleFlags::NONE, details };
            record_result(&self.core, &self.user, variables, result, label, destination);
            return;
        };
        if let Some(listeners) = package.listeners_in_transaction {
            // The main record contains only the transaction; these listeners receive the sample.
            let flags = SampleFlags::LISTENERS_ONLY;
            let details = self.program.details_shown_by(listeners);
            record_result(
                &self.core,
                &self.user,
                variables,
                result,
                None,
                Destination { listeners, flags, details },
            );
        }
        if let Some(transaction) = self.place.states[id.0 as usize].transaction.as_mut() {
            transaction.began_with(result, self.late_ns);
            transaction.add_child(result.clone(), true);
        }
    }

    /// Reports the transactions that ended during the walk.
    pub(super) fn report_made(&mut self, group: &Group<P>) {
        if self.place.made.is_empty() {
            return;
        }
        // JMeter reports such transactions to the listeners of the last sampler; before the first sampler there are none.
        let Some(last) = self.last_package else {
            self.place.made.clear();
            self.user.log(LogLevel::Warn, "a transaction ended before the first sampler: it is not recorded");
            return;
        };
        let last = &group.samplers[last.0 as usize];
        if self.is_part_of_parent_sample() {
            // The samples in the transaction are not sent to listeners (see `is_part_of_parent_sample`), so the transaction is not either.
            self.place.made.clear();
            return;
        }
        for transaction in std::mem::take(&mut self.place.made) {
            let Transaction { mut result, .. } = *transaction;
            if result.users.all == 0 {
                self.fill_users(&mut result);
            }
            self.run_listeners(&last.sample_listeners.all, &mut result);
            self.record(&result, last.listeners, SampleFlags::TRANSACTION);
        }
    }

    fn record(&mut self, result: &SampleResult, listeners: u32, flags: SampleFlags) {
        let details = self.program.details_shown_by(listeners);
        let variables = &self.program.sample_variables;
        record_result(
            &self.core,
            &self.user,
            variables,
            result,
            None,
            Destination { listeners, flags, details },
        );
    }
}

/// Adds a sample to a transaction controller that contains its sampler.
pub(super) fn add_to_transaction<P>(
    place: &mut UserPosition,
    group: &Group<P>,
    id: ControllerId,
    result: &SampleResult,
    late_ns: u64,
) {
    if let ControllerKind::Transaction(settings) = &group.controllers[id.0 as usize].kind
        && !settings.parent
        && let Some(transaction) = place.states[id.0 as usize].transaction.as_mut()
    {
        transaction.began_with(result, late_ns);
        transaction.add_sample(result, settings.include_timers);
    }
}
