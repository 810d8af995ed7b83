//! The first sentence of the report of a result file: the reasons to doubt its numbers.

use crate::arrival_caveat::ArrivalCaveat;
use crate::caveat::{Caveat, ReportedCaveat};

/// Maximum number of doubts in the sentence.
const DOUBTS_MAX: usize = 2;

/// The rank of a caveat that gives a reason to doubt numbers, lower ranks first: missing or failed requests, requests that were never
/// sent, mixed parts, and uncertain percentiles. `None` for caveats that describe the file or the load.
fn rank(caveat: &Caveat) -> Option<u8> {
    match caveat {
        Caveat::NotStartedByTool { .. }
        | Caveat::FailedRequestsMissing { .. }
        | Caveat::RecordTailMissing
        | Caveat::BadRows { .. }
        | Caveat::InputsDoNotOverlap
        | Caveat::ManyErrors { .. } => Some(0),
        Caveat::OmittedRequests(_) => Some(1),
        Caveat::Arrivals(ArrivalCaveat::Stall { .. }) => Some(2),
        Caveat::Unsteady(_) | Caveat::MixedPhases { .. } => Some(3),
        Caveat::FewSamplesBeyond(_) => Some(4),
        Caveat::MixedLabels { .. } | Caveat::SharedLabels { .. } => Some(5),
        Caveat::ThinTail { .. } => Some(6),
        Caveat::Arrivals(
            ArrivalCaveat::Bunched { .. }
            | ArrivalCaveat::PeriodicStarts { .. }
            | ArrivalCaveat::ResponseInCycle { .. }
            | ArrivalCaveat::MillisecondStamps { .. }
            | ArrivalCaveat::CoarseClocks { .. },
        ) => Some(7),
        _ => None,
    }
}

/// The sentence.
pub(super) fn sentence(caveats: &[ReportedCaveat]) -> String {
    let mut doubts: Vec<(u8, &str)> = caveats
        .iter()
        .filter_map(|reported| Some((rank(&reported.caveat)?, reported.message.as_str())))
        .collect();
    // The sort is stable, so that caveats of the same rank keep their order.
    doubts.sort_by_key(|(rank, _)| *rank);
    doubts.truncate(DOUBTS_MAX);
    if doubts.is_empty() {
        return "The file gives no reason to doubt its numbers, but it contains only actual starts."
            .to_owned();
    }
    let messages: Vec<&str> = doubts.into_iter().map(|(_, message)| message).collect();
    format!("Doubt these numbers: {}.", messages.join("; "))
}
