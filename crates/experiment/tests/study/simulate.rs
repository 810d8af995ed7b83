//! Simulated trials of an experiment.

use busyhour_experiment::{
    CaseSet, Design, DesignFactor, DesignKind, DesignPlan, ResponseScale, ResponseTable, TrialOrder,
    TrialValue,
};
use rand::{Rng as _, SeedableRng as _};
use rand_distr::{Exp1, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The variation of the results of trials.
#[derive(Clone, Copy, Debug)]
pub enum Noise {
    /// Normal, on the logarithmic scale, with this standard deviation.
    Normal(f64),
    /// Student's t with 3 degrees of freedom on the logarithmic scale, with this standard deviation: every 70th trial deviates by
    /// more than three of them.
    HeavyTailed(f64),
    /// Normal, and every tenth trial is slower by 30 %, for example because of a backup.
    Disturbed(f64),
    /// The mean response time of 2,000 requests to one server with exponential service times at 50 % utilization. All cases of a
    /// block have the same arrivals; the speed of the server varies from trial to trial with a standard deviation of 1 %.
    Queue,
}

impl Noise {
    pub fn name(self) -> String {
        match self {
            Noise::Normal(sd) => format!("normal, {:.0} %", 100.0 * sd),
            Noise::HeavyTailed(sd) => format!("heavy-tailed, {:.0} %", 100.0 * sd),
            Noise::Disturbed(sd) => {
                format!("normal, {:.0} %, and every tenth trial slower by 30 %", 100.0 * sd)
            }
            Noise::Queue => "queue, 2,000 requests".to_owned(),
        }
    }
}

/// How the machine changes over the experiment.
#[derive(Clone, Copy, Debug)]
pub enum Drift {
    None,
    /// Steal rises linearly from 0 to this share of the CPU time.
    Ramp(f64),
    /// After half of the time, everything takes this much longer.
    Step(f64),
}

impl Drift {
    pub fn name(self) -> String {
        match self {
            Drift::None => "none".to_owned(),
            Drift::Ramp(steal) => format!("steal rises to {:.0} %", 100.0 * steal),
            Drift::Step(slower) => format!("{:.0} % slower from half of the time", 100.0 * slower),
        }
    }

    /// The factor of all times at a share of the experiment.
    fn factor(self, share: f64) -> f64 {
        match self {
            Drift::None => 1.0,
            Drift::Ramp(steal) => 1.0 / (1.0 - steal * share),
            Drift::Step(slower) => {
                if share < 0.5 {
                    1.0
                } else {
                    1.0 + slower
                }
            }
        }
    }
}

/// The experiments that are simulated.
#[derive(Clone, Copy)]
pub struct Simulated {
    pub noise: Noise,
    pub drift: Drift,
    pub order: TrialOrder,
    pub blocks: u32,
}

impl Simulated {
    pub fn interleaved(noise: Noise, blocks: u32) -> Simulated {
        Simulated { noise, drift: Drift::None, order: TrialOrder::Interleaved, blocks }
    }

    pub fn design(&self, kind: DesignKind, levels: &[usize], seed: u64) -> Design {
        let factors = levels.iter().enumerate().map(|(at, levels)| DesignFactor {
            name: format!("factor {at}"),
            levels: (0..*levels).map(|level| level.to_string()).collect(),
            base: 0,
        });
        let plan = DesignPlan {
            blocks: self.blocks,
            order: self.order,
            warm_up: 0,
            seed,
            attempts_max: 3,
            trials_max: 100_000,
        };
        Design::new(kind, factors.collect(), plan).unwrap()
    }

    /// The results of all trials in their order. `slower` is the factor of the service time in each case.
    pub fn values(&self, design: &Design, seed: u64, slower: impl Fn(u32) -> f64) -> Vec<TrialValue> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let count = design.trials_count() as f64;
        let levels: Vec<f64> =
            (0..=self.blocks).map(|_| (0.05 * random.sample::<f64, _>(StandardNormal)).exp()).collect();
        design
            .trials()
            .enumerate()
            .map(|(at, trial)| {
                let factor = slower(trial.id.case)
                    * self.drift.factor(at as f64 / (count - 1.0))
                    * noise_factor(self.noise, &mut random);
                let value = match self.noise {
                    Noise::Queue => mean_response(factor, trial.arrivals_seed, &mut random),
                    Noise::Normal(_) | Noise::HeavyTailed(_) | Noise::Disturbed(_) => {
                        100.0 * levels[trial.id.block as usize] * factor
                    }
                };
                TrialValue { block: trial.id.block, case: trial.id.case, value }
            })
            .collect()
    }
}

pub fn table(cases: &CaseSet, values: &[TrialValue]) -> ResponseTable {
    ResponseTable::new(cases.count(), ResponseScale::Ratio, values.iter().copied()).unwrap()
}

fn noise_factor(noise: Noise, random: &mut Xoshiro256PlusPlus) -> f64 {
    let mut normal = || random.sample::<f64, _>(StandardNormal);
    match noise {
        Noise::Normal(sd) => (sd * normal()).exp(),
        Noise::HeavyTailed(sd) => {
            let squares = (normal().powi(2) + normal().powi(2) + normal().powi(2)) / 3.0;
            // The variance of Student's t with 3 degrees of freedom is 3.
            (sd * normal() / (3.0 * squares).sqrt()).exp()
        }
        Noise::Disturbed(sd) => {
            let factor = (sd * normal()).exp();
            factor * if random.random::<f64>() < 0.1 { 1.3 } else { 1.0 }
        }
        Noise::Queue => (0.01 * normal()).exp(),
    }
}

/// The mean response time of a queue with Poisson arrivals at 0.5 per unit of time (recursion of Lindley).
fn mean_response(service: f64, arrivals_seed: u64, random: &mut Xoshiro256PlusPlus) -> f64 {
    const REQUESTS: u32 = 2_000;
    let mut arrivals = Xoshiro256PlusPlus::seed_from_u64(arrivals_seed);
    let (mut wait, mut sum) = (0.0_f64, 0.0);
    for _ in 0..REQUESTS {
        let response = wait + service * random.sample::<f64, _>(Exp1);
        sum += response;
        wait = (response - arrivals.sample::<f64, _>(Exp1) / 0.5).max(0.0);
    }
    sum / f64::from(REQUESTS)
}
