//! The agents: an Indexed Job.

use serde_json::{Value, json};

use crate::hub;
use crate::object::KubeObject;
use crate::pod::{
    INVITATION_DIR, metadata, pod_field, pod_metadata, pod_spec, resources, secret_volume, security,
    selector, wait_for_hub,
};
use crate::settings::{RunSettings, Spread};
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
        "containers": [container(values)],
        "volumes": [
            secret_volume("invitation", &settings.object(hub::ROLE), vec![invitation]),
            { "name": "records", "emptyDir": {} },
            { "name": "tmp", "emptyDir": {} },
        ],
    });
    let mut spec = pod_spec(settings, own);
    // Closed connections keep their ports for a minute; the usual range has 28,000.
    spec["securityContext"]["sysctls"] =
        json!([{ "name": "net.ipv4.ip_local_port_range", "value": "1024 65535" }]);
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

fn container(values: &Values) -> Value {
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
        "resources": resources(&values.cores, &values.memory),
        "securityContext": security(),
        "volumeMounts": [
            { "name": "invitation", "mountPath": INVITATION_DIR, "readOnly": true },
            { "name": "records", "mountPath": RECORDS_DIR },
            { "name": "tmp", "mountPath": "/tmp" },
        ],
    })
}
