//! Allocates large vectors, which takes seconds: the kernel provides each page when it is first written to.

use crate::error::NeighbourError;
use crate::stop::StopFlag;

/// Bytes that are written between two checks for a stop request.
const STEP_BYTES: usize = 4 << 20;

/// A vector whose elements all have this value. It is shorter if `stop` was set.
pub(crate) fn filled<T: Copy>(value: T, length: usize, stop: &StopFlag) -> Result<Vec<T>, NeighbourError> {
    let mut elements = Vec::new();
    if elements.try_reserve_exact(length).is_err() {
        let bytes = length.saturating_mul(size_of::<T>());
        return Err(NeighbourError::Allocation { bytes: bytes as u64 });
    }
    let step = STEP_BYTES / size_of::<T>().max(1);
    while elements.len() < length && !stop.is_requested() {
        elements.resize(length.min(elements.len() + step), value);
    }
    Ok(elements)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stop::EndReason;

    #[test]
    fn vectors_are_filled_until_a_stop_request() {
        let stop = StopFlag::new();
        let length = (STEP_BYTES / 8) * 2 + 1;
        let elements = filled(7u64, length, &stop).unwrap();
        assert!(elements.len() == length && elements.iter().all(|element| *element == 7));
        stop.request(EndReason::Signal);
        assert_eq!(filled(7u64, length, &stop).unwrap().len(), 0);
        let error = filled(7u64, usize::MAX / 8, &StopFlag::new()).unwrap_err();
        assert!(error.to_string().contains("does not provide"), "{error}");
    }
}
