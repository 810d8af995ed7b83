//! From a result to the rows of the record.

use busyhour_record::{LabelId, Sample, SampleFlags};

use crate::core::Core;
use crate::result::SampleResult;
use crate::user::UserState;

/// Notes how many users were active, in a result and in those inside it.
pub(crate) fn fill(result: &mut SampleResult, group: u32, all: u32) {
    result.users_group = group;
    result.users_all = all;
    for sub in &mut result.sub_results {
        fill(sub, group, all);
    }
}

/// Hands a result and those inside it to the recorder; `label` is its label's number, if that is known.
pub(crate) fn record_result(
    core: &Core,
    user: &UserState,
    variables: &[crate::variables::Slot],
    result: &SampleResult,
    label: Option<LabelId>,
    listeners: u32,
    flags: SampleFlags,
) {
    const FEW: usize = 16;
    let mut few = [""; FEW];
    let many: Vec<&str>;
    // JMeter writes an unset variable as the word null.
    let value = |slot: &crate::variables::Slot| user.variables.slot(*slot).unwrap_or("null");
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
    core.record(&Sample {
        label: label.unwrap_or_else(|| core.label(&result.label)),
        group: user.group,
        user: user.number + 1,
        intended: result.intended.min(result.start),
        start: result.start,
        end: result.end,
        connect_ns: result.connect_ns,
        latency_ns: result.latency_ns,
        idle_ns: result.idle_ns,
        code: &result.code,
        message: &result.message,
        data_type: result.data_type,
        encoding: &result.encoding,
        success: result.success,
        failure_message: result.failure_message(),
        bytes: result.bytes(),
        sent_bytes: result.sent_bytes,
        users_group: result.users_group,
        users_all: result.users_all,
        url: &result.url,
        sample_count: 1,
        error_count: u32::from(!result.success),
        flags: own,
        listeners,
        variables: values,
    });
    let in_transaction = flags.contains(SampleFlags::TRANSACTION);
    for sub in &result.sub_results {
        let kept = SampleFlags(flags.0 & SampleFlags::LISTENERS_ONLY.0);
        // A transaction inside one stays one; a sampler's result inside one is still a request of the plan.
        let kind = if !in_transaction {
            SampleFlags::SUB_RESULT
        } else if sub.is_transaction {
            SampleFlags::TRANSACTION | SampleFlags::TRANSACTION_CHILD
        } else {
            SampleFlags::TRANSACTION_CHILD
        };
        record_result(core, user, variables, sub, None, listeners, kept | kind);
    }
}
