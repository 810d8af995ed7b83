//! The CPU usage of the machine during a run.

use anyhow::Result;

use crate::machine;
use crate::process::{self, Running};

/// The CPU usage during a run, in shares of its duration.
#[derive(Debug, Clone, Copy)]
pub struct Circumstances {
    /// The CPU time of the generator, including its start: 1 is one full core.
    pub generator: f64,
    /// The CPU time that the hypervisor stole from all cores of this machine: 1 is one full core.
    pub steal: Option<f64>,
    /// The CPU time of other processes on this machine, including the bench and the kernel: 1 is one full core.
    pub others: Option<f64>,
}

/// CPU seconds until a point in time: stolen by the hypervisor, of all processes including steal, of the shop.
#[derive(Debug, Clone, Copy)]
pub struct CpuTimes {
    steal_s: Option<f64>,
    busy_s: Option<f64>,
    shop_s: f64,
}

impl CpuTimes {
    /// Reads the current CPU times.
    ///
    /// # Errors
    /// The shop has terminated.
    pub fn now(shop: &Running) -> Result<CpuTimes> {
        let shop_s = process::cpu_s(shop.pid())?;
        Ok(CpuTimes { steal_s: machine::steal_s(), busy_s: machine::busy_s(), shop_s })
    }

    /// The CPU usage since `before`, if the generator used `generator_s` seconds.
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
    fn cpu_time_outside_of_the_bench_belongs_to_others() {
        let before = CpuTimes { steal_s: Some(1.0), busy_s: Some(10.0), shop_s: 3.0 };
        let after = CpuTimes { steal_s: Some(1.5), busy_s: Some(20.0), shop_s: 8.0 };
        let found = after.since(&before, 2.5, 10.0);
        assert_eq!((found.generator, found.steal, found.others), (0.25, Some(0.05), Some(0.2)));
        let unknown = CpuTimes { busy_s: None, ..after };
        assert_eq!(unknown.since(&before, 2.5, 10.0).others, None);
    }
}
