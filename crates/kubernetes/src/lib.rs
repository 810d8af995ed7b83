//! Renders the Kubernetes objects of a distributed run: the hub, the agents and the controller.
//!
//! ```text
//! RunSettings, HubContents ──▶ objects ──▶ YAML to apply, a Kustomize directory, or a Helm chart
//! ```
//!
//! Nothing is read or written here, and no cluster is contacted. The objects need no operator, no custom resource and no rights
//! beyond one namespace.

mod agents;
mod controller;
mod error;
mod helm;
mod hub;
mod kustomize;
mod names;
mod network;
mod object;
mod pod;
mod secrets;
mod settings;
mod values;

pub use error::ManifestError;
pub use helm::helm_chart;
pub use kustomize::kustomize_directory;
pub use names::name_from;
pub use object::KubeObject;
pub use secrets::SECRET_BYTES_MAX;
pub use settings::{
    HubAddress, HubContents, MountedFile, OutputFile, ResultStorage, RunSettings, Spread, Toleration,
};

use secrets::{hub_secret, plan_secret};
use values::Values;

/// The objects of a run, in the order in which they are applied.
///
/// # Errors
/// A name or a quantity is not valid, or the files of the plan are too large.
pub fn manifests(settings: &RunSettings, hub: &HubContents) -> Result<Vec<KubeObject>, ManifestError> {
    settings.check()?;
    let mut objects: Vec<KubeObject> = namespace(settings).into_iter().collect();
    objects.push(hub_secret(settings, hub));
    objects.push(plan_secret(settings)?);
    objects.extend(workloads(settings, &Values::of(settings)));
    Ok(objects)
}

/// The objects without the Secrets and the Namespace.
fn workloads(settings: &RunSettings, values: &Values) -> Vec<KubeObject> {
    let mut objects = network::policies(settings, values);
    objects.extend([
        hub::service(settings, values),
        hub::deployment(settings, values),
        agents::job(settings, values),
        controller::job(settings, values),
    ]);
    objects
}

/// The Namespace, if it is to be created. Its pods must comply with the strictest of Kubernetes's standards.
fn namespace(settings: &RunSettings) -> Option<KubeObject> {
    let name = settings.namespace.as_ref().filter(|_| settings.creates_namespace)?;
    Some(KubeObject::new(
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
