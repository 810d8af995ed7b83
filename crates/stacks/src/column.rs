//! Thread counts per dump.

/// How many threads of each dump have certain stacks. Dumps without such threads are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Column {
    /// Positions of dumps, ascending, and numbers of threads.
    pub(crate) counts: Vec<(u32, u32)>,
}

impl Column {
    /// Adds threads of a dump, which is the last one or a later one.
    pub(crate) fn add(&mut self, dump: u32, count: u32) {
        match self.counts.last_mut() {
            Some(last) if last.0 == dump => last.1 = last.1.saturating_add(count),
            _ => self.counts.push((dump, count)),
        }
    }

    /// The sum of columns over a number of dumps. Takes linear time.
    pub(crate) fn sum<'c>(columns: impl Iterator<Item = &'c Column>, scratch: &mut Vec<u32>) -> Column {
        let mut touched: Vec<u32> = Vec::new();
        for (dump, count) in columns.flat_map(|column| &column.counts) {
            let at = *dump as usize;
            if at >= scratch.len() {
                scratch.resize(at + 1, 0);
            }
            if scratch[at] == 0 {
                touched.push(*dump);
            }
            scratch[at] = scratch[at].saturating_add(*count);
        }
        touched.sort_unstable();
        let counts = touched.into_iter().map(|dump| (dump, std::mem::take(&mut scratch[dump as usize])));
        Column { counts: counts.collect() }
    }

    /// Sums from the first dump up to each dump, and up to the end, in `until`.
    pub(crate) fn accumulate(&self, dumps: usize, until: &mut Vec<f64>) {
        until.clear();
        until.push(0.0);
        let mut counts = self.counts.iter().peekable();
        let mut sum = 0.0;
        for dump in 0..dumps {
            if let Some((_, count)) = counts.next_if(|(at, _)| *at as usize == dump) {
                sum += f64::from(*count);
            }
            until.push(sum);
        }
    }
}
