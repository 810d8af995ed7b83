//! The order of caveats.

use busyhour_analysis::Caveat;

/// How much a caveat matters: whether results are missing or wrong, whether times are affected, or neither.
pub(crate) fn rank(caveat: &Caveat) -> u8 {
    match caveat {
        Caveat::SamplesLost { .. }
        | Caveat::RecorderFailed { .. }
        | Caveat::OutputLost { .. }
        | Caveat::CoresAbandoned { .. }
        | Caveat::ManyErrors { .. }
        | Caveat::NoSamples
        | Caveat::RecordCut
        | Caveat::BadRows { .. } => 1,
        // The same run reads otherwise in its run directory.
        Caveat::OneClock => 0,
        Caveat::GeneratorBusy { .. }
        | Caveat::GeneratorStalled { .. }
        | Caveat::RecorderStalled { .. }
        | Caveat::CpuStolen { .. }
        | Caveat::LateStarts { .. }
        | Caveat::Unsteady(_)
        | Caveat::MixedPhases { .. }
        | Caveat::StoppedByError { .. }
        | Caveat::Unfinished => 2,
        // Rates before and after differ by orders of magnitude.
        Caveat::Plan { kind, .. } if kind == "backed-off" => 2,
        Caveat::Arrivals(_) => 4,
        _ => 3,
    }
}
