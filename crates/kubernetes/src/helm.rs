//! A Helm chart with the objects of a run.

use serde_json::{Map, Value, json};

use crate::error::ManifestError;
use crate::hub;
use crate::kustomize::{contents, hub_path, plan_path};
use crate::object::{KubeObject, template, yaml};
use crate::secrets::{PLAN, hub_files, plan_files, secret};
use crate::settings::{HubContents, OutputFile, ResultStorage, RunSettings};
use crate::values::Values;
use crate::workloads;

/// The files of a Helm chart. Its values are the images, the number of agents, and their cores and memory; the namespace is that of
/// the release. The files of the hub are below `hub`, the plan and its files below `plan`.
///
/// # Errors
/// A name or a quantity is not valid, or the files of the plan are too large.
pub fn helm_chart(settings: &RunSettings, hub: &HubContents) -> Result<Vec<OutputFile>, ManifestError> {
    settings.check()?;
    let is_template = |path: &&str| path.contains("{{") || path.contains('`');
    let mut paths = std::iter::once(&settings.plan).chain(&settings.files).map(|file| file.path.as_str());
    if let Some(path) = paths.find(is_template) {
        return Err(ManifestError::Template(path.to_owned()));
    }
    let values = Values::of_chart(settings);
    let file = |path: &str, text: String| OutputFile {
        path: path.to_owned(),
        contents: text.into_bytes(),
        is_secret: false,
    };
    let mut files = vec![
        file("Chart.yaml", yaml(&chart(settings))),
        file("values.yaml", yaml(&defaults(settings))),
        file("templates/NOTES.txt", notes(settings)),
    ];
    let mut objects = secrets(settings, hub, &values)?;
    objects.extend(workloads(settings, &values));
    for object in objects {
        let path = format!("templates/{}", object.file_name());
        files.push(file(&path, template(&object.body)));
    }
    files.extend(contents(settings, hub)?);
    Ok(files)
}

fn chart(settings: &RunSettings) -> Value {
    json!({
        "apiVersion": "v2",
        "name": settings.name,
        "description": format!("Load test {} with busyhour", settings.name),
        "type": "application",
        "version": env!("CARGO_PKG_VERSION"),
        "appVersion": env!("CARGO_PKG_VERSION"),
        "kubeVersion": ">=1.29.0-0",
    })
}

fn defaults(settings: &RunSettings) -> Value {
    json!({
        "image": settings.image,
        "natsImage": settings.nats_image,
        "agents": settings.agents,
        "cores": settings.cores,
        "memory": settings.memory,
    })
}

/// The Secrets, whose contents are files of the chart.
fn secrets(
    settings: &RunSettings,
    hub: &HubContents,
    values: &Values,
) -> Result<Vec<KubeObject>, ManifestError> {
    let host = &settings.hub.service;
    let hub_data = hub_files(settings, hub).map(|(name, _)| {
        let path = hub_path(name);
        let hint = format!("{path} is missing: busyhour cluster init --dir hub --host {host}");
        (name.to_owned(), json!(format!("{{{{ required `{hint}` (.Files.Get `{path}`) | b64enc }}}}")))
    });
    let plan_data = plan_files(settings)?.into_iter().map(|(key, file)| {
        let path = plan_path(&file.path);
        (key, json!(format!("{{{{ .Files.Get `{path}` | b64enc }}}}")))
    });
    let data = |fields: Map<String, Value>| Map::from_iter([("data".to_owned(), Value::Object(fields))]);
    Ok(vec![
        secret(settings, values, hub::ROLE, data(hub_data.into_iter().collect())),
        secret(settings, values, PLAN, data(plan_data.collect())),
    ])
}

/// The commands that follow the installation.
fn notes(settings: &RunSettings) -> String {
    let name = &settings.name;
    let kubectl = "kubectl -n {{ .Release.Namespace }}";
    let copy = match &settings.results {
        ResultStorage::Pod { .. } => format!(
            "Copy the results when the run has ended, and end the pod:\n  \
             {kubectl} exec job/{name}-controller -c results -- tar -cf - . | tar -xf -\n  \
             {kubectl} exec job/{name}-controller -c results -- touch collected\n"
        ),
        ResultStorage::Claim(claim) => format!("The results are in the PersistentVolumeClaim {claim}.\n"),
    };
    format!(
        "Follow the run:\n  {kubectl} logs -f --pod-running-timeout=15m job/{name}-controller -c controller\n{copy}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::tests::{hub, settings};

    #[test]
    fn values_are_referenced_and_other_braces_are_escaped() {
        let mut settings = settings();
        settings.run_options = vec!["-Jx={{y}}".into()];
        let files = helm_chart(&settings, &hub()).unwrap();
        let text = |path: &str| {
            let file = files.iter().find(|file| file.path == path).unwrap_or_else(|| panic!("{path}"));
            String::from_utf8(file.contents.clone()).unwrap()
        };
        let agents = text("templates/shop-agents-job.yaml");
        assert!(agents.contains("completions: {{ int .Values.agents }}\n"), "{agents}");
        let controller = text("templates/shop-controller-job.yaml");
        assert!(controller.contains("-Jx={{ `{{` }}y}}"), "{controller}");
        assert!(text("values.yaml").contains("agents: 8\n"));
        assert!(text("templates/shop-hub-secret.yaml").contains("server.key"));
        assert_eq!(text("hub/server.key"), "KEY\n");
        settings.files[0].path = "{{ .Values }}.csv".into();
        assert!(matches!(helm_chart(&settings, &hub()), Err(ManifestError::Template(_))));
    }
}
