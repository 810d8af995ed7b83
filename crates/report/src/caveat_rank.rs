//! The order of caveats.

use busyhour_analysis::Caveat;

/// The rank of a caveat; lower ranks are more important. It depends on whether results are missing or wrong, whether times are
/// affected, or neither.
pub(crate) fn rank(caveat: &Caveat) -> u8 {
    match caveat {
        Caveat::SamplesLost { .. }
        | Caveat::RecorderFailed { .. }
        | Caveat::OutputLost { .. }
        | Caveat::CoresAbandoned { .. }
        | Caveat::ManyErrors { .. }
        | Caveat::NoSamples
        | Caveat::RecordTailMissing
        | Caveat::NotStartedByTool { .. }
        | Caveat::FailedRequestsMissing { .. }
        | Caveat::OmittedRequests(_)
        | Caveat::BadRows { .. } => 1,
        // Ranked first, because the run directory of the same run gives different figures.
        Caveat::OnlyActualStarts => 0,
        Caveat::GeneratorBusy { .. }
        | Caveat::GeneratorStalled { .. }
        | Caveat::RecorderStalled { .. }
        | Caveat::CpuStolen { .. }
        | Caveat::CpuThrottled { .. }
        | Caveat::LateStarts { .. }
        | Caveat::Unsteady(_)
        | Caveat::MixedPhases { .. }
        | Caveat::StoppedByError { .. }
        | Caveat::RunOutcomeMissing => 2,
        // The rates before and after this caveat's change differ by orders of magnitude.
        Caveat::Plan { kind, .. } if kind == "backed-off" => 2,
        Caveat::Arrivals(_) => 4,
        _ => 3,
    }
}
