//! A Kustomize directory with the objects of a run.

use serde_json::{Value, json};

use crate::error::ManifestError;
use crate::hub;
use crate::object::yaml;
use crate::pod::labels;
use crate::secrets::{PLAN, hub_files, plan_files};
use crate::settings::{HubContents, OutputFile, RunSettings};
use crate::values::Values;
use crate::{namespace, workloads};

/// The files of a Kustomize directory. `kubectl apply --server-side -k DIR` creates the objects. The files of the hub are below
/// `hub`, the plan and its files below `plan`.
///
/// # Errors
/// A name or a quantity is not valid, or the files of the plan are too large.
pub fn kustomize_directory(
    settings: &RunSettings,
    hub: &HubContents,
) -> Result<Vec<OutputFile>, ManifestError> {
    settings.check()?;
    let objects = namespace(settings).into_iter().chain(workloads(settings, &Values::of_kustomize(settings)));
    let mut resources = Vec::new();
    let mut files = Vec::new();
    for object in objects {
        let path = format!("resources/{}", object.file_name());
        files.push(OutputFile { path: path.clone(), contents: object.yaml().into_bytes(), is_secret: false });
        resources.push(path);
    }
    let kustomization = kustomization(settings, hub, &resources)?;
    files.insert(
        0,
        OutputFile {
            path: "kustomization.yaml".into(),
            contents: yaml(&kustomization).into_bytes(),
            is_secret: false,
        },
    );
    files.extend(contents(settings, hub)?);
    Ok(files)
}

/// The files of the hub and of the plan, as Kustomize directories and Helm charts contain them.
pub(crate) fn contents(settings: &RunSettings, hub: &HubContents) -> Result<Vec<OutputFile>, ManifestError> {
    let hub_files = hub_files(settings, hub).map(|(name, text)| OutputFile {
        path: hub_path(name),
        contents: text.into_bytes(),
        is_secret: name != "nats.conf",
    });
    let plan_files = plan_files(settings)?;
    let plan_files = plan_files.values().map(|file| OutputFile {
        path: plan_path(&file.path),
        contents: file.contents.clone(),
        is_secret: false,
    });
    Ok(hub_files.into_iter().chain(plan_files).collect())
}

/// Where a file of the hub is. The configuration contains no secret and is not a file of `busyhour cluster init`.
pub(crate) fn hub_path(name: &str) -> String {
    if name == "nats.conf" { name.to_owned() } else { format!("hub/{name}") }
}

/// Where a file of the plan is.
pub(crate) fn plan_path(path: &str) -> String {
    format!("plan/{path}")
}

fn kustomization(
    settings: &RunSettings,
    hub: &HubContents,
    resources: &[String],
) -> Result<Value, ManifestError> {
    let hub_entries: Vec<String> =
        hub_files(settings, hub).iter().map(|(name, _)| format!("{name}={}", hub_path(name))).collect();
    let plan_entries: Vec<String> =
        plan_files(settings)?.iter().map(|(key, file)| format!("{key}={}", plan_path(&file.path))).collect();
    let secret = |role: &str, files: Vec<String>| {
        json!({
            "name": settings.object(role),
            "files": files,
            "options": { "disableNameSuffixHash": true, "labels": labels(settings, role) },
        })
    };
    let mut kustomization = json!({
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
    });
    if let Some(namespace) = &settings.namespace {
        kustomization["namespace"] = json!(namespace);
    }
    kustomization["resources"] = json!(resources);
    kustomization["secretGenerator"] = json!([secret(hub::ROLE, hub_entries), secret(PLAN, plan_entries)]);
    Ok(kustomization)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::tests::{hub, settings};

    #[test]
    fn the_directory_contains_what_it_refers_to() {
        let files = kustomize_directory(&settings(), &hub()).unwrap();
        let text = String::from_utf8(files[0].contents.clone()).unwrap();
        assert!(text.contains("namespace: load\n"), "{text}");
        for file in &files[1..] {
            assert!(text.contains(&file.path), "{} is not in\n{text}", file.path);
        }
        let secret: Vec<&str> =
            files.iter().filter(|file| file.is_secret).map(|file| file.path.as_str()).collect();
        assert_eq!(
            secret,
            [
                "hub/authorization.conf",
                "hub/server.pem",
                "hub/server.key",
                "hub/agent.json",
                "hub/controller.json"
            ]
        );
    }
}
