//! Renders the Kubernetes objects of a distributed run: the hub, the agents and the controller.
//!
//! ```text
//! RunSettings, HubFiles ──▶ objects ──▶ YAML to apply, a Kustomize directory, or a Helm chart
//! ```
//!
//! Nothing is read or written here, and no cluster is contacted. The objects need no operator, no custom resource and no rights
//! beyond one namespace.

mod agents;
mod controller;
mod document;
mod error;
mod helm;
mod hub;
mod kustomize;
mod names;
mod network;
mod pod;
mod secrets;
mod settings;
mod values;

pub use document::Document;
pub use error::ManifestError;
pub use helm::helm_chart;
pub use kustomize::kustomize_directory;
pub use names::name_from;
pub use secrets::SECRET_BYTES_MAX;
pub use settings::{HubAddress, HubFiles, OutputFile, PlanFile, Results, RunSettings, Spread};

use secrets::{hub_secret, plan_secret};
use values::Values;

/// The objects of a run, in the order in which they are applied.
///
/// # Errors
/// A name or a quantity is not valid, or the files of the plan are too large.
pub fn manifests(settings: &RunSettings, hub: &HubFiles) -> Result<Vec<Document>, ManifestError> {
    settings.check()?;
    let mut documents: Vec<Document> = namespace(settings).into_iter().collect();
    documents.push(hub_secret(settings, hub));
    documents.push(plan_secret(settings)?);
    documents.extend(workloads(settings, &Values::of(settings)));
    Ok(documents)
}

/// The objects without the Secrets and the Namespace.
fn workloads(settings: &RunSettings, values: &Values) -> Vec<Document> {
    let mut documents = network::policies(settings, values);
    documents.extend([
        hub::service(settings, values),
        hub::deployment(settings, values),
        agents::job(settings, values),
        controller::job(settings, values),
    ]);
    documents
}

/// The Namespace, if it is to be created. Its pods must comply with the strictest of Kubernetes's standards.
fn namespace(settings: &RunSettings) -> Option<Document> {
    let name = settings.namespace.as_ref().filter(|_| settings.creates_namespace)?;
    Some(Document::new(
        "Namespace",
        name,
        serde_json::json!({
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {
                "name": name,
                "labels": { "pod-security.kubernetes.io/enforce": "restricted" },
            },
        }),
    ))
}
