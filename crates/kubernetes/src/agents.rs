//! The agents: an Indexed Job.

use serde_json::{Value, json};

use crate::hub;
use crate::object::KubeObject;
use crate::pod::{
    INVITATION_DIR, metadata, pod_field, pod_metadata, pod_spec, resources_with_disk, secret_volume,
    security, selector, temporary_volume, wait_for_hub,
};
use crate::settings::{RunSettings, Spread, Toleration};
use crate::values::Values;

/// The role of the pods.
pub(crate) const ROLE: &str = "agent";

/// Directory for the records of the run.
const RECORDS_DIR: &str = "/var/lib/busyhour";

/// Time for the end of the samples in flight and the transfer of the records after a request to end.
const TERMINATION_S: u64 = 180;

/// Exit code of a wrong command line or invitation, which all agents share.
const USAGE_ERROR: u8 = 2;

/// The Job of the agents.
pub(crate) fn job(settings: &RunSettings, values: &Values) -> KubeObject {
    let name = settings.object("agents");
    KubeObject::new(
        "Job",
        &name,
        json!({
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": metadata(settings, values, &name, ROLE),
            "spec": {
                "completionMode": "Indexed",
                "completions": values.agents,
                "parallelism": values.agents,
                // An agent that starts again has no share of the load in the current run.
                "backoffLimitPerIndex": 0,
                "podReplacementPolicy": "Failed",
                "podFailurePolicy": failure_policy(),
                "activeDeadlineSeconds": settings.agents_deadline_s(),
                "ttlSecondsAfterFinished": settings.ttl_s,
                "template": { "metadata": pod_metadata(settings, ROLE), "spec": spec(settings, values) },
            },
        }),
    )
}

fn failure_policy() -> Value {
    json!({ "rules": [
        { "action": "FailJob", "onExitCodes": { "containerName": "agent", "operator": "In", "values": [USAGE_ERROR] } },
        { "action": "FailIndex", "onPodConditions": [{ "type": "DisruptionTarget", "status": "True" }] },
    ] })
}

fn spec(settings: &RunSettings, values: &Values) -> Value {
    let invitation = ("agent.json".to_owned(), "agent.json".to_owned());
    let own = json!({
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": TERMINATION_S,
        "initContainers": [wait_for_hub(settings, values)],
        "containers": [container(settings, values)],
        "volumes": [
            secret_volume("invitation", &settings.object(hub::ROLE), vec![invitation]),
            temporary_volume("records", &settings.disk),
            temporary_volume("tmp", &settings.disk),
        ],
    });
    let mut spec = pod_spec(settings, own);
    // Closed connections keep their ports for a minute; the usual range has 28,000.
    spec["securityContext"]["sysctls"] =
        json!([{ "name": "net.ipv4.ip_local_port_range", "value": "1024 65535" }]);
    if !settings.node_labels.is_empty() {
        let labels = settings.node_labels.iter().map(|(name, value)| (name.clone(), json!(value)));
        spec["nodeSelector"] = Value::Object(labels.collect());
    }
    if !settings.tolerations.is_empty() {
        spec["tolerations"] = settings.tolerations.iter().map(toleration).collect();
    }
    let pods = json!({ "matchLabels": selector(settings, ROLE) });
    match settings.spread {
        Spread::Preferred => {
            let even = |key: &str| json!({ "maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": pods });
            spec["topologySpreadConstraints"] =
                json!([even("kubernetes.io/hostname"), even("topology.kubernetes.io/zone")]);
        }
        Spread::OnePerNode => {
            spec["affinity"] = json!({ "podAntiAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [
                { "topologyKey": "kubernetes.io/hostname", "labelSelector": pods },
            ] } });
        }
        Spread::Off => {}
    }
    spec
}

fn toleration(toleration: &Toleration) -> Value {
    let mut object = match &toleration.value {
        Some(value) => json!({ "key": toleration.key, "operator": "Equal", "value": value }),
        None => json!({ "key": toleration.key, "operator": "Exists" }),
    };
    if let Some(effect) = &toleration.effect {
        object["effect"] = json!(effect);
    }
    object
}

fn container(settings: &RunSettings, values: &Values) -> Value {
    json!({
        "name": "agent",
        "image": values.image,
        "args": [
            "cluster", "agent", "--once",
            "--join", format!("{INVITATION_DIR}/agent.json"),
            "--name", "$(POD_NAME)",
            "--cores", values.cores,
            "--dir", RECORDS_DIR,
            "--label", "node=$(NODE_NAME)",
            "--label", "zone=$(ZONE)",
        ],
        "env": [
            pod_field("POD_NAME", "metadata.name"),
            pod_field("NODE_NAME", "spec.nodeName"),
            // Kubernetes 1.35 and later copies the zone from the node to the pod.
            pod_field("ZONE", "metadata.labels['topology.kubernetes.io/zone']"),
        ],
        "resources": resources_with_disk(&values.cores, &values.memory, &settings.disk),
        "securityContext": security(),
        "volumeMounts": [
            { "name": "invitation", "mountPath": INVITATION_DIR, "readOnly": true },
            { "name": "records", "mountPath": RECORDS_DIR },
            { "name": "tmp", "mountPath": "/tmp" },
        ],
    })
}
