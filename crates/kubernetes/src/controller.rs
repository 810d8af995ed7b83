//! The controller: a Job that executes the run and stores its results.

use serde_json::{Value, json};

use crate::hub;
use crate::names::secret_key;
use crate::object::KubeObject;
use crate::pod::{
    INVITATION_DIR, metadata, pod_field, pod_metadata, pod_spec, resources, resources_with_disk,
    secret_volume, security, temporary_volume, wait_for_hub,
};
use crate::secrets;
use crate::settings::{ResultStorage, RunSettings};
use crate::values::Values;

/// The role of the pod.
pub(crate) const ROLE: &str = "controller";

/// Directory of the plan and its files in the pod. Relative paths of options refer to it.
const PLAN_DIR: &str = "/plan";

/// Directory for the results.
const RESULTS_DIR: &str = "/results";

/// File that ends the wait for the copy of the results. The user creates it.
const COLLECTED: &str = "/results/collected";

/// Time for the end of the run after a request to end.
const TERMINATION_S: u64 = 300;

/// The Job of the controller.
pub(crate) fn job(settings: &RunSettings, values: &Values) -> KubeObject {
    let name = settings.object(ROLE);
    KubeObject::new(
        "Job",
        &name,
        json!({
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": metadata(settings, values, &name, ROLE),
            "spec": {
                // A run is not repeated: its load would be offered twice.
                "backoffLimit": 0,
                "activeDeadlineSeconds": settings.controller_deadline_s(),
                "ttlSecondsAfterFinished": settings.ttl_s,
                "template": { "metadata": pod_metadata(settings, ROLE), "spec": spec(settings, values) },
            },
        }),
    )
}

fn spec(settings: &RunSettings, values: &Values) -> Value {
    let invitation = ("controller.json".to_owned(), "controller.json".to_owned());
    let files = std::iter::once(&settings.plan).chain(&settings.files);
    let files = files.map(|file| (secret_key(&file.path), file.path.clone())).collect();
    let mut containers = vec![container(settings, values)];
    let results = match &settings.results {
        ResultStorage::Pod { .. } => {
            containers.push(keeper(settings, values));
            temporary_volume("results", &settings.disk)
        }
        ResultStorage::Claim(claim) => {
            json!({ "name": "results", "persistentVolumeClaim": { "claimName": claim } })
        }
    };
    let mut own = json!({
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": TERMINATION_S,
        "initContainers": [wait_for_hub(settings, values)],
        "containers": containers,
        "volumes": [
            secret_volume("invitation", &settings.object(hub::ROLE), vec![invitation]),
            secret_volume("plan", &settings.object(secrets::PLAN), files),
            results,
            temporary_volume("tmp", &settings.disk),
        ],
    });
    if let ResultStorage::Pod { .. } = settings.results {
        // The image of the controller has no program that sends signals; that of the keeper does.
        own["shareProcessNamespace"] = json!(true);
    }
    pod_spec(settings, own)
}

fn container(settings: &RunSettings, values: &Values) -> Value {
    let mut args = vec![
        "run".to_owned(),
        format!("{PLAN_DIR}/{}", settings.plan.path.replace('$', "$$")),
        "--on".into(),
        format!("{INVITATION_DIR}/controller.json"),
        "--agents".into(),
        values.agents_text.clone(),
        "--wait-for-agents".into(),
        format!("{}s", settings.wait_for_agents_s()),
        "--dir".into(),
        format!("{RESULTS_DIR}/$(POD_NAME)"),
    ];
    // Kubernetes replaces $(NAME) in arguments, and $$ with $.
    args.extend(values.run_options.iter().map(|option| option.replace('$', "$$")));
    json!({
        "name": "controller",
        "image": values.image,
        "args": args,
        "workingDir": PLAN_DIR,
        "env": [pod_field("POD_NAME", "metadata.name")],
        "resources": resources_with_disk("2", "2Gi", &settings.disk),
        "securityContext": security(),
        "volumeMounts": [
            { "name": "invitation", "mountPath": INVITATION_DIR, "readOnly": true },
            { "name": "plan", "mountPath": PLAN_DIR, "readOnly": true },
            { "name": "results", "mountPath": RESULTS_DIR },
            { "name": "tmp", "mountPath": "/tmp" },
        ],
    })
}

/// A container that keeps the pod until the results are copied: files of finished pods cannot be read. Its image contains the
/// programs that `kubectl cp` needs.
fn keeper(settings: &RunSettings, values: &Values) -> Value {
    // It ends before the deadline of the Job, so that the Job does not fail because nobody copies the results.
    let seconds = settings.controller_deadline_s() - 60;
    // Kubernetes replaces $$ with $.
    let script = format!(
        "trap 'exit 0' TERM; n=0; until [ -e {COLLECTED} ] || [ $n -ge {seconds} ]; do sleep 1; n=$$((n + 1)); done"
    );
    json!({
        "name": "results",
        "image": values.nats_image,
        "command": ["sh", "-c", script],
        "workingDir": RESULTS_DIR,
        "resources": resources("100m", "128Mi"),
        "securityContext": security(),
        "volumeMounts": [{ "name": "results", "mountPath": RESULTS_DIR }],
    })
}
