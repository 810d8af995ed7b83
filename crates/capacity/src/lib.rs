//! Capacity models as users have them: in files, with measurements to fit and to compare, and with parameters to vary.
//! Reads the models and measurements that `busyhour-queueing` and `busyhour-simulation` compute with, and reports their errors.
//!
//! | item | purpose |
//! |---|---|
//! | [`ModelFile`] | a model in Busyhour's notation or in a file of Java Modelling Tools |
//! | [`MeasurementSources`] | runs, tables of measurements and recorded utilization, read as points of a model |
//! | [`Vary`], [`WhatIf`] | varied parameters, and the answers for all combinations of their values |
//! | [`PageMap`], [`LogOfPages`] | the load of a log in pages, for numbers of real web users |
//! | [`numbers`] | how numbers of models are formatted |

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

pub use answers::{Answer, AnswerValue, ClassAnswer, StationAnswer, Unanswered};
pub use error::{CapacityError, MeasurementsError, ModelFileError, WhatIfError};
pub use measurements::{MeasurementSources, Measurements};
pub use model_file::ModelFile;
pub use page_map::{Page, PageMap};
pub use pages_of_log::{LogOfPages, measure_pages};
pub use vary::{Vary, vary};
pub use what_if::{Point, Varied, WhatIf};
