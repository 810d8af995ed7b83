//! Searches for memory leaks in rounds of load. It does no I/O.
//!
//! A round is a number of requests, a pause in which sessions time out, and a collection of all garbage. [`LeakRounds`] takes
//! the class histogram after each round, and [`LeakRounds::search`] finds the classes whose live bytes rise:
//!
//! - the rise is significant: one-sided Mann–Kendall test with the exact distribution for the ties of the class, with Holm's
//!   correction over the classes that can be significant at all (Tarone);
//! - it continues in the last half of the rounds, at no lower rate. Caches, pools and steps do not.
//!
//! Without suspects, the result states the smallest growth that would have been found, or that the rounds do not
//! suffice. [`memory_outcome`] judges the memory of a process without a histogram.
//!
//! ```
//! use busyhour_leak::{ClassSize, LeakOutcome, LeakRounds, LeakSettings};
//!
//! let mut rounds = LeakRounds::new();
//! for round in 0..9 {
//!     let carts = ClassSize { class: "shop.Cart", module: None, instances: 100 * round, bytes: 2_400 * round };
//!     rounds.push(100, [carts]).unwrap();
//! }
//! let report = rounds.search(&LeakSettings::default());
//! assert_eq!(report.outcome, LeakOutcome::Leak);
//! assert_eq!(report.suspects[0].instances_per_request.slope, 1.0);
//! ```

mod growth;
mod kendall;
mod memory;
mod rounds;
mod search;

pub use growth::ROUNDS_MIN;
pub use memory::{MemoryGrowth, MemoryOutcome, MemoryReason, MemorySize, memory_outcome};
pub use rounds::{CLASSES_MAX, ClassSize, LeakRounds, ROUNDS_MAX, RoundError};
pub use search::{CannotTellReason, LeakOutcome, LeakReport, LeakSettings, PerRequest, RisingClass};
