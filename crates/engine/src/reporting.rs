//! Converts a result to rows of the record.

use busyhour_program::result::{SampleResult, ShownDetails};
use busyhour_program::user::UserState;
use busyhour_sample::{ActiveUsers, Detail, LabelId, Sample, SampleFlags, SampleTimes};

use crate::core::Core;

/// Stores the number of active users in a result and in its direct sub-results, which also get its thread name. As in JMeter,
/// deeper sub-results are unchanged.
pub(crate) fn fill(result: &mut SampleResult, users: ActiveUsers) {
    result.users = users;
    for sub in &mut result.sub_results {
        sub.users = users;
        sub.marks.unnamed_thread = false;
    }
}

/// The details of a result for result files that show more than a row.
fn detail(result: &SampleResult, shown: ShownDetails) -> Detail {
    let body = shown.body || (shown.body_on_error && !result.outcome.success);
    let mut detail = Detail {
        label: result.label.clone(),
        times: result.times,
        users: result.users,
        outcome: result.outcome.clone(),
        content: result.content.clone(),
        sizes: result.sizes,
        unnamed_thread: result.marks.unnamed_thread,
        sample_count: 1,
        error_count: u32::from(!result.outcome.success),
        url: (!result.url.is_empty()).then(|| result.url.clone()),
        assertions: result.assertions.clone(),
        response_headers: result.response_headers.clone(),
        request_headers: result.request_headers.clone(),
        sampler_data: (!result.request_data.is_empty()).then(|| result.request_data.clone()),
        body: if body { result.body.clone() } else { Vec::new() },
        file_name: result.file_name.as_deref().unwrap_or_default().to_owned(),
        children: result.sub_results.iter().map(|sub| detail(sub, shown)).collect(),
        ..Detail::default()
    };
    if let Some(own) = &result.protocol_detail {
        own.write_to(&mut detail);
    }
    detail
}

/// Where a result is reported, and with which details.
#[derive(Clone, Copy)]
pub(crate) struct Destination {
    /// Number of the set of listeners that receive it.
    pub(crate) listeners: u32,
    /// Flags that select the figures in which the result counts.
    pub(crate) flags: SampleFlags,
    /// The details that result files show in addition to its row.
    pub(crate) details: Option<ShownDetails>,
}

/// Sends a result and its sub-results to the recorder. `label` is the number of its label if it is known.
pub(crate) fn record_result(
    core: &Core,
    user: &UserState,
    variables: &[busyhour_program::variables::Slot],
    result: &SampleResult,
    label: Option<LabelId>,
    destination: Destination,
) {
    let Destination { listeners, flags, details } = destination;
    const FEW: usize = 16;
    let mut few = [""; FEW];
    let many: Vec<&str>;
    // JMeter writes an unset variable as `null`.
    let value = |slot: &busyhour_program::variables::Slot| user.variables.slot(*slot).unwrap_or("null");
    let values: &[&str] = if variables.len() <= FEW {
        for (place, slot) in few.iter_mut().zip(variables) {
            *place = value(slot);
        }
        &few[..variables.len()]
    } else {
        many = variables.iter().map(value).collect();
        &many
    };
    let mut own = flags;
    if result.url.is_empty() {
        own = own | SampleFlags::NO_URL;
    }
    if result.marks.unnamed_thread {
        own = own | SampleFlags::NO_THREAD;
    }
    let detail = details.map(|details| Box::new(detail(result, details)));
    let sample = Sample {
        label: label.unwrap_or_else(|| core.label(&result.label)),
        times: SampleTimes { intended: result.times.intended.min(result.times.start), ..result.times },
        users: result.users,
        group: user.group,
        user: user.number + 1,
        outcome: result.outcome.as_str(),
        content: result.content.as_str(),
        failure_message: result.failure_message(),
        sizes: result.sizes,
        url: &result.url,
        sample_count: 1,
        error_count: u32::from(!result.outcome.success),
        flags: own,
        listeners,
        variables: values,
    };
    core.record_with(&sample, detail);
    let in_transaction = flags.contains(SampleFlags::TRANSACTION);
    for sub in &result.sub_results {
        let kept = SampleFlags(flags.0 & SampleFlags::LISTENERS_ONLY.0);
        // A transaction within a transaction is recorded as a transaction, and a sample in a transaction as a request of the
        // plan. Only a sub-result of a sampler is not a request of the plan.
        let kind = if !in_transaction {
            SampleFlags::SUB_RESULT
        } else if sub.marks.is_transaction {
            SampleFlags::TRANSACTION | SampleFlags::TRANSACTION_CHILD
        } else {
            SampleFlags::TRANSACTION_CHILD
        };
        // Of the details, the row of a sub-result contains only the name of a file.
        let details = details.filter(|_| sub.file_name.is_some());
        let destination = Destination { listeners, flags: kept | kind, details };
        record_result(core, user, variables, sub, None, destination);
    }
}
