//! Everything that the summary of a run contains about its observed system and its agents.

use busyhour_analysis::Summary;
use busyhour_record::{Manifest, RunDir};

use crate::agents::add_agents;
use crate::explanation::add_explanation;
use crate::neighbours::add_neighbours;
use crate::system_figures::add_system;

/// Adds the figures of the observed system, the explanation of slow requests, the neighbours and the agents to the summary of a run.
pub fn add_observed(dir: &RunDir, manifest: Option<&Manifest>, summary: &mut Summary) {
    add_system(dir, manifest, summary);
    add_explanation(dir, manifest, summary);
    add_neighbours(dir.path(), summary);
    add_agents(dir.path(), summary);
}
