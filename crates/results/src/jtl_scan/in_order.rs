//! Sorts rows by their start while only a part of them is in memory.
//!
//! Logs are written when samples end, so the row of a long sample follows rows that started later. The *lag* of a row
//! is the time from its start to the latest start of any row before it in the file. No lag exceeds the duration of the
//! longest sample. Rows that started earlier than the latest start minus the greatest lag are in their final order.

use busyhour_sample::LogRow;

use super::error::OutOfOrder;

/// Number of rows that are sorted at once. Sorting is fastest if they fit into the cache.
const PART: usize = 1 << 16;

/// Maximum number of rows in memory. A row takes about 64 bytes.
pub const HELD_ROWS_MAX: usize = 1 << (PLACE_BITS - 1);

/// Number of bits of a sort key for the index of a row.
const PLACE_BITS: u32 = 23;

/// Number of bits of a sort key for the start in ns: up to 2199 s.
const KEY_TIME_BITS: u32 = u64::BITS - PLACE_BITS;

/// Passes on rows sorted by start; rows with equal starts keep their order.
pub(super) struct InOrder {
    held: Vec<LogRow>,
    /// Number of rows at the front of `held` that are already sorted.
    sorted: usize,
    /// Indices into `held`, sorted by start.
    places: Vec<u32>,
    /// Buffers whose memory is reused.
    keys: Vec<u64>,
    spare: Vec<LogRow>,
    /// Number of rows in `held` at which they are sorted.
    sort_at: usize,
    /// Number of rows that are sorted at once, and maximum number of rows in memory.
    part: usize,
    held_max: usize,
    /// The greatest lag in ns, if it is known from a first reading.
    window_ns: Option<u64>,
    lag_ns: u64,
    latest_ns: i64,
    passed_ns: i64,
    /// Whether a row followed later rows that were already passed on, or too many rows were in memory.
    failed: bool,
}

impl InOrder {
    /// `window_ns` is the greatest lag in ns if it is known from a first reading. Without it, twice the greatest lag so far is
    /// used; a row with a greater lag may then be found too late.
    pub(super) fn new(window_ns: Option<u64>) -> InOrder {
        InOrder {
            held: Vec::new(),
            sorted: 0,
            places: Vec::new(),
            keys: Vec::new(),
            spare: Vec::new(),
            sort_at: PART,
            part: PART,
            held_max: HELD_ROWS_MAX,
            window_ns,
            lag_ns: 0,
            latest_ns: i64::MIN,
            passed_ns: i64::MIN,
            failed: false,
        }
    }

    /// Adds the next row of the log.
    #[inline]
    pub(super) fn push(&mut self, row: LogRow, pass: &mut impl FnMut(&LogRow)) {
        if row.start_ns >= self.latest_ns {
            self.latest_ns = row.start_ns;
        } else {
            self.lag_ns = self.lag_ns.max(self.latest_ns.abs_diff(row.start_ns));
            self.failed |= row.start_ns < self.passed_ns;
        }
        if self.failed {
            // After a failure, only the greatest lag is determined.
            self.held = Vec::new();
            self.sorted = 0;
            return;
        }
        self.held.push(row);
        if self.held.len() >= self.sort_at {
            self.pass_part(pass);
        }
    }

    #[cold]
    fn pass_part(&mut self, pass: &mut impl FnMut(&LogRow)) {
        let window = self.window_ns.unwrap_or_else(|| self.lag_ns.saturating_mul(2));
        let safe = self.latest_ns.saturating_sub(i64::try_from(window).unwrap_or(i64::MAX));
        self.pass_before(safe, pass);
        self.failed = self.held.len() + self.part > self.held_max;
        self.sort_at = (self.held.len() + self.held.len().max(self.part)).min(self.held_max);
    }

    /// Passes on the rows that started before `safe_ns`; the rest stays in memory.
    fn pass_before(&mut self, safe_ns: i64, pass: &mut impl FnMut(&LogRow)) {
        self.order();
        let is_safe = |at: &u32| self.held[*at as usize].start_ns < safe_ns;
        let count = self.places.partition_point(is_safe);
        for at in &self.places[..count] {
            pass(&self.held[*at as usize]);
        }
        if let Some(last) = count.checked_sub(1) {
            self.passed_ns = self.held[self.places[last] as usize].start_ns;
        }
        self.spare.clear();
        self.spare.extend(self.places[count..].iter().map(|at| self.held[*at as usize]));
        std::mem::swap(&mut self.held, &mut self.spare);
        self.sorted = self.held.len();
    }

    /// Sorts the indices of the rows in memory by start.
    fn order(&mut self) {
        let (old, new) = self.held.split_at(self.sorted);
        // Rows are large, so keys that consist of start and index are sorted instead. This also keeps the order of rows with
        // equal starts.
        let least = new.iter().map(|row| row.start_ns).min().unwrap_or_default();
        let most = new.iter().map(|row| row.start_ns).max().unwrap_or_default();
        self.keys.clear();
        if most.abs_diff(least) < 1 << KEY_TIME_BITS {
            let key = |(at, row): (u64, &LogRow)| row.start_ns.abs_diff(least) << PLACE_BITS | at;
            self.keys.extend((0..).zip(new).map(key));
            self.keys.sort_unstable();
            self.keys.iter_mut().for_each(|key| *key &= (1 << PLACE_BITS) - 1);
        } else {
            self.keys.extend(0..new.len() as u64);
            self.keys.sort_by_key(|at| new[*at as usize].start_ns);
        }
        // The kept rows are already sorted, and precede new rows with equal starts.
        self.places.clear();
        let mut kept = 0;
        for at in &self.keys {
            let start_ns = new[*at as usize].start_ns;
            while kept < old.len() && old[kept].start_ns <= start_ns {
                self.places.push(kept as u32);
                kept += 1;
            }
            self.places.push((old.len() as u64 + at) as u32);
        }
        self.places.extend(kept as u32..old.len() as u32);
    }

    /// Passes on the remaining rows; returns the greatest lag in ns.
    pub(super) fn finish(mut self, pass: &mut impl FnMut(&LogRow)) -> Result<u64, OutOfOrder> {
        if self.failed {
            return Err(OutOfOrder { lag_ns: self.lag_ns });
        }
        self.order();
        for at in &self.places {
            pass(&self.held[*at as usize]);
        }
        Ok(self.lag_ns)
    }
}

#[cfg(test)]
impl InOrder {
    /// An instance that sorts `part` rows at once.
    pub(super) fn in_parts(window_ns: Option<u64>, part: usize) -> InOrder {
        InOrder { sort_at: part, part, ..InOrder::new(window_ns) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_need_too_much_memory_are_rejected() {
        let row = |start_ns| LogRow {
            start_ns,
            elapsed_ns: 0,
            latency_ns: None,
            late_ns: None,
            bytes: None,
            label: 0,
            group: None,
            thread: None,
            user: None,
            success: true,
        };
        let rows = 4 * PART as i64;
        for window_ns in [None, Some(rows as u64)] {
            let mut order = InOrder { held_max: 2 * PART, ..InOrder::new(window_ns) };
            let mut passed = 0;
            // The rows are in reverse order, so nothing may be passed on before the end.
            (0..rows).rev().for_each(|start| order.push(row(start), &mut |_| passed += 1));
            assert_eq!(order.finish(&mut |_| ()), Err(OutOfOrder { lag_ns: rows as u64 - 1 }));
            assert_eq!(passed, 0);
        }
    }
}
