//! The load engine: programs, virtual users, controllers, timers, the clock and the Sampler trait.
