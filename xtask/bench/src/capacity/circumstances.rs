//! What the processors of the machine did during a run.

use anyhow::Result;

use crate::machine;
use crate::process::{self, Running};

/// What the processors did during a run, as shares of its time.
#[derive(Debug, Clone, Copy)]
pub struct Circumstances {
    /// CPU of the generator, start-up included: 1 is all of its core.
    pub generator: f64,
    /// What the host took from all cores of this machine together: 1 is as much as one core.
    pub steal: Option<f64>,
    /// What other processes of this machine used, the bench and the kernel among them: 1 is as much as one core.
    pub others: Option<f64>,
}

/// CPU seconds up to a moment: of the host, of all processes and the host, of the shop.
#[derive(Debug, Clone, Copy)]
pub struct CpuTimes {
    steal_s: Option<f64>,
    busy_s: Option<f64>,
    shop_s: f64,
}

impl CpuTimes {
    /// The times until now.
    ///
    /// # Errors
    /// Fails when the shop has ended.
    pub fn now(shop: &Running) -> Result<CpuTimes> {
        let shop_s = process::cpu_s(shop.pid())?;
        Ok(CpuTimes { steal_s: machine::steal_s(), busy_s: machine::busy_s(), shop_s })
    }

    /// From then on, with a generator that used so much.
    pub fn since(&self, before: &CpuTimes, generator_s: f64, seconds: f64) -> Circumstances {
        let between = |after: Option<f64>, before: Option<f64>| Some(after? - before?);
        let steal_s = between(self.steal_s, before.steal_s);
        let others_s = between(self.busy_s, before.busy_s)
            .zip(steal_s)
            .map(|(busy_s, steal_s)| busy_s - steal_s - generator_s - (self.shop_s - before.shop_s));
        Circumstances {
            generator: generator_s / seconds,
            steal: steal_s.map(|steal_s| steal_s / seconds),
            others: others_s.map(|others_s| others_s.max(0.0) / seconds),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_no_process_of_the_bench_used_is_of_others() {
        let before = CpuTimes { steal_s: Some(1.0), busy_s: Some(10.0), shop_s: 3.0 };
        let after = CpuTimes { steal_s: Some(1.5), busy_s: Some(20.0), shop_s: 8.0 };
        let found = after.since(&before, 2.5, 10.0);
        assert_eq!((found.generator, found.steal, found.others), (0.25, Some(0.05), Some(0.2)));
        let unknown = CpuTimes { busy_s: None, ..after };
        assert_eq!(unknown.since(&before, 2.5, 10.0).others, None);
    }
}
