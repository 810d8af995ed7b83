//! Reads capacity models from files, measurements for fitting and checking models, and parameters to vary. The crates
//! `busyhour-queueing` and `busyhour-simulation` compute results from these inputs. Errors are reported with their positions.
//!
//! | item | purpose |
//! |---|---|
//! | [`ModelFile`] | a model in Busyhour's notation or in a file of Java Modelling Tools |
//! | [`MeasurementSources`] | runs, tables of measurements and recorded utilization, read as measured points of a model |
//! | [`Vary`], [`WhatIf`] | parameters to vary, and the results for all combinations of their values |
//! | [`PageMap`], [`MeasuredWebLoad`] | the load in a log, measured in pages; numbers of real web users are computed from this load |
//! | [`numbers`] | the formatting of numbers in models |

mod answers;
mod error;
mod measurements;
mod model_file;
pub mod numbers;
mod page_map;
mod pages_of_log;
mod points_file;
mod utilization_file;
mod vary;
mod what_if;

pub use answers::{ModelClassResult, ModelResult, ModelStationResult, NoResult, ResultValue};
pub use error::{CapacityError, MeasurementsError, ModelFileError, WhatIfError};
pub use measurements::{MeasurementSources, Measurements};
pub use model_file::ModelFile;
pub use page_map::{Page, PageMap};
pub use pages_of_log::{MeasuredWebLoad, measure_pages};
pub use vary::{Vary, vary};
pub use what_if::{Point, WhatIf, WhatIfResults};
