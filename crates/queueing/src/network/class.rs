//! Classes of customers.

use super::law::TimeLaw;

/// A class of customers with the same behaviour.
#[derive(Clone, Debug, PartialEq)]
pub struct CustomerClass {
    /// Unique name.
    pub name: String,
    /// The number of customers, or their arrival process.
    pub load: ClassLoad,
    /// Priority at stations with priorities: higher numbers first. Default 0.
    pub priority: i32,
}

/// The load of a class.
#[derive(Clone, Debug, PartialEq)]
pub enum ClassLoad {
    /// A fixed number of customers. Each of them has a think time outside the network between two passes.
    Closed {
        /// Number of customers.
        users: u64,
        /// The think time; zero for batch work.
        think: TimeLaw,
    },
    /// Customers that arrive from outside and leave.
    Open {
        /// The time between two arrivals; exponential for a Poisson process.
        interarrival: TimeLaw,
    },
}

impl CustomerClass {
    /// A closed class with exponential think times of mean `think_s`.
    #[must_use]
    pub fn closed(name: impl Into<String>, users: u64, think_s: f64) -> Self {
        let think = if think_s == 0.0 {
            TimeLaw::Deterministic { mean_s: 0.0 }
        } else {
            TimeLaw::Exponential { mean_s: think_s }
        };
        Self { name: name.into(), load: ClassLoad::Closed { users, think }, priority: 0 }
    }

    /// An open class with Poisson arrivals.
    #[must_use]
    pub fn open(name: impl Into<String>, rate_per_s: f64) -> Self {
        let interarrival = TimeLaw::Exponential { mean_s: 1.0 / rate_per_s };
        Self { name: name.into(), load: ClassLoad::Open { interarrival }, priority: 0 }
    }

    /// Whether the number of customers is fixed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(self.load, ClassLoad::Closed { .. })
    }

    /// Number of customers of a closed class; `None` for an open class.
    #[must_use]
    pub fn users(&self) -> Option<u64> {
        match self.load {
            ClassLoad::Closed { users, .. } => Some(users),
            ClassLoad::Open { .. } => None,
        }
    }

    /// Mean think time Z of a closed class in seconds; `None` for an open class.
    #[must_use]
    pub fn think_s(&self) -> Option<f64> {
        match &self.load {
            ClassLoad::Closed { think, .. } => Some(think.mean_s()),
            ClassLoad::Open { .. } => None,
        }
    }

    /// Arrivals per second of an open class; `None` for a closed class.
    #[must_use]
    pub fn rate_per_s(&self) -> Option<f64> {
        match &self.load {
            ClassLoad::Closed { .. } => None,
            ClassLoad::Open { interarrival } => Some(1.0 / interarrival.mean_s()),
        }
    }
}
