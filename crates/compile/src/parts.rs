//! Parts of a program that several samplers share. Each element is compiled once, even if many samplers are in its scope.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use busyhour_engine::delays::SharedSlots;
use busyhour_engine::precise::PreciseSchedules;
use busyhour_http::SharedHttp;
use busyhour_http::auth::AuthManager;
use busyhour_http::cache::CacheManager;
use busyhour_http::cookies::CookieManager;
use busyhour_http::dns::DnsManager;
use busyhour_plan::ElementId;
use busyhour_processors::CsvFiles;
use busyhour_program::element::{Assertion, IterationStep, Processor, Timer};
use busyhour_program::user::StateId;

use crate::targets::PlanTargets;

/// Compiled elements; `None` for an element that was rejected.
pub(crate) type CompiledOnce<T> = HashMap<ElementId, Option<Arc<T>>>;

/// The parts that several samplers share.
pub(crate) struct Parts {
    pub(crate) http: Arc<SharedHttp>,
    pub(crate) csv_files: Arc<CsvFiles>,
    pub(crate) timers: CompiledOnce<dyn Timer>,
    /// The names of the timers that set a rate.
    pub(crate) rate_timers: BTreeSet<&'static str>,
    pub(crate) processors: CompiledOnce<dyn Processor>,
    pub(crate) assertions: CompiledOnce<dyn Assertion>,
    pub(crate) steps: CompiledOnce<dyn IterationStep>,
    pub(crate) cookies: CompiledOnce<CookieManager>,
    pub(crate) caches: CompiledOnce<CacheManager>,
    pub(crate) auths: CompiledOnce<AuthManager>,
    pub(crate) dns: CompiledOnce<DnsManager>,
    /// The state in which each HTTP URL Re-writing Modifier stores its value.
    pub(crate) rewriting_states: HashMap<ElementId, StateId>,
    pub(crate) schedules: Schedules,
    pub(crate) targets: PlanTargets,
}

/// The schedules that rate timers share.
pub(crate) struct Schedules {
    /// The schedule that all users share.
    pub(crate) all: Arc<SharedSlots>,
    /// The schedules of the groups.
    pub(crate) by_group: Arc<[SharedSlots]>,
    /// The schedules of Precise Throughput Timers.
    pub(crate) precise: Arc<PreciseSchedules>,
}

impl Parts {
    /// Creates the parts of a plan with at most `groups_max` groups, before any element is compiled.
    pub(crate) fn new(http: SharedHttp, base_dir: &Path, groups_max: usize) -> Self {
        Self {
            http: Arc::new(http),
            csv_files: Arc::new(CsvFiles::new(base_dir.to_owned())),
            timers: HashMap::new(),
            rate_timers: BTreeSet::new(),
            processors: HashMap::new(),
            assertions: HashMap::new(),
            steps: HashMap::new(),
            cookies: HashMap::new(),
            caches: HashMap::new(),
            auths: HashMap::new(),
            dns: HashMap::new(),
            rewriting_states: HashMap::new(),
            schedules: Schedules {
                all: Arc::default(),
                by_group: (0..groups_max).map(|_| SharedSlots::default()).collect(),
                precise: Arc::new(PreciseSchedules::new(groups_max)),
            },
            targets: PlanTargets::default(),
        }
    }
}
