//! What-if analyses: solves or simulates a model for all combinations of values of its parameters.

use std::path::Path;

use busyhour_queueing::network::QueueingNetwork;
use busyhour_queueing::solve::{SolveError, SolveSettings, solve};
use busyhour_simulation::{SimulationSettings, simulate};

use crate::answers::{ModelResult, NoResult};
use crate::error::WhatIfError;
use crate::model_file::{ModelFile, network_of};
use crate::vary::{Vary, set};

/// Maximum number of combinations.
const POINTS_MAX: usize = 10_000;

/// One combination of values, with its result.
pub struct Point {
    /// The values, in the order of the parameters.
    pub values: Vec<String>,
    /// The result, or the reason why there is none.
    pub result: Result<ModelResult, NoResult>,
}

/// A model and its results for all combinations of values.
pub struct WhatIfResults {
    /// The model as it was read, without changed values.
    pub model: ModelFile,
    /// The results for all combinations; the last parameter varies fastest.
    pub points: Vec<Point>,
}

impl WhatIfResults {
    /// The reason why no combination has a result; `None` if at least one has.
    #[must_use]
    pub fn unanswered(&self) -> Option<&NoResult> {
        let first = self.points.first()?.result.as_ref().err()?;
        self.points.iter().all(|point| point.result.is_err()).then_some(first)
    }
}

/// The varied parameters of a what-if analysis, and the settings for solving and simulating.
pub struct WhatIf<'a> {
    /// The varied parameters.
    pub vary: &'a [Vary],
    /// Settings for solving the model; `None` if all combinations are simulated.
    pub solve: Option<SolveSettings>,
    /// Settings for simulating combinations that have no solution.
    pub simulation: SimulationSettings,
}

impl WhatIf<'_> {
    /// Solves or simulates the model, which was read from `path`, for all combinations of values.
    pub fn evaluate(&self, model: ModelFile, path: &Path) -> Result<WhatIfResults, WhatIfError> {
        let count = self.vary.iter().map(|vary| vary.values.len()).try_fold(1_usize, usize::checked_mul);
        if count.is_none_or(|count| count > POINTS_MAX) {
            return Err(WhatIfError::TooMany(POINTS_MAX));
        }
        let directory = path.parent().unwrap_or(Path::new(""));
        let points = self
            .combinations()
            .into_iter()
            .map(|values| {
                let network = self.network(&model, &values, directory)?;
                Ok(Point { values, result: self.answer(&network) })
            })
            .collect::<Result<_, _>>()?;
        Ok(WhatIfResults { model, points })
    }

    fn combinations(&self) -> Vec<Vec<String>> {
        let mut combinations = vec![Vec::new()];
        for vary in self.vary {
            combinations = combinations
                .iter()
                .flat_map(|before: &Vec<String>| {
                    vary.values
                        .iter()
                        .map(move |value| [before.as_slice(), std::slice::from_ref(value)].concat())
                })
                .collect();
        }
        combinations
    }

    /// The model with one combination of values.
    fn network(
        &self,
        model: &ModelFile,
        values: &[String],
        directory: &Path,
    ) -> Result<QueueingNetwork, WhatIfError> {
        let mut table = model.table.clone();
        for (vary, value) in self.vary.iter().zip(values) {
            set(&mut table, &vary.path, value).map_err(|source| WhatIfError::Parameter {
                path: vary.path.clone(),
                value: value.clone(),
                source,
            })?;
        }
        network_of(table, &model.name, directory).map_err(|findings| {
            let given = self.vary.iter().zip(values);
            let given: Vec<String> = given.map(|(vary, value)| format!("{}={value}", vary.path)).collect();
            WhatIfError::Invalid { values: given.join(", "), findings }
        })
    }

    /// Solves the network if its solution is exact or if an approximation was requested; otherwise simulates the network.
    fn answer(&self, network: &QueueingNetwork) -> Result<ModelResult, NoResult> {
        if let Some(settings) = self.solve {
            match solve(network, settings) {
                Ok(solution) => return Ok(ModelResult::from(&solution)),
                Err(SolveError::NoProductForm(_)) => {}
                Err(error) => return Err(NoResult::Unsolved(error)),
            }
        }
        simulate(network, &self.simulation)
            .map(|found| ModelResult::from(&found))
            .map_err(NoResult::Simulation)
    }
}
