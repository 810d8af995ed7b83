//! Parts that the pods of a run have in common.

use serde_json::{Map, Value, json};

use crate::settings::RunSettings;
use crate::values::Values;

/// User and group of all processes: "nonroot" in the usual minimal images.
const USER: u32 = 65_532;

/// The label with the role of a pod.
const COMPONENT: &str = "app.kubernetes.io/component";

/// Directory with the invitation in the pods of agents and controllers.
pub(crate) const INVITATION_DIR: &str = "/etc/busyhour";

/// The labels by which the pods of a role are selected.
pub(crate) fn selector(settings: &RunSettings, role: &str) -> Value {
    json!({
        "app.kubernetes.io/name": "busyhour",
        "app.kubernetes.io/instance": settings.name,
        COMPONENT: role,
    })
}

/// The labels of an object.
pub(crate) fn labels(settings: &RunSettings, role: &str) -> Value {
    let mut labels = selector(settings, role);
    if let Value::Object(labels) = &mut labels {
        labels.extend(settings.labels.iter().map(|(name, value)| (name.clone(), json!(value))));
    }
    labels
}

/// The metadata of an object.
pub(crate) fn metadata(settings: &RunSettings, values: &Values, name: &str, role: &str) -> Value {
    let mut metadata = Map::new();
    metadata.insert("name".into(), json!(name));
    if let Some(namespace) = &values.namespace {
        metadata.insert("namespace".into(), json!(namespace));
    }
    metadata.insert("labels".into(), labels(settings, role));
    Value::Object(metadata)
}

/// The metadata of a pod. Moving such a pod during a run would lose a part of the load, and a sidecar would proxy it.
pub(crate) fn pod_metadata(settings: &RunSettings, role: &str) -> Value {
    json!({
        "labels": labels(settings, role),
        "annotations": {
            "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
            "karpenter.sh/do-not-disrupt": "true",
            "sidecar.istio.io/inject": "false",
            "linkerd.io/inject": "disabled",
        },
    })
}

/// The specification of a pod: the parts that all pods have in common, and the parts in `own`.
pub(crate) fn pod_spec(settings: &RunSettings, own: Value) -> Value {
    let mut spec = json!({
        "automountServiceAccountToken": false,
        "enableServiceLinks": false,
        "securityContext": {
            "runAsNonRoot": true,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": USER,
            "seccompProfile": { "type": "RuntimeDefault" },
        },
    });
    if let Some(class) = &settings.priority_class {
        spec["priorityClassName"] = json!(class);
    }
    if !settings.pull_secrets.is_empty() {
        spec["imagePullSecrets"] =
            settings.pull_secrets.iter().map(|secret| json!({ "name": secret })).collect();
    }
    if let (Value::Object(spec), Value::Object(own)) = (&mut spec, own) {
        spec.extend(own);
    }
    spec
}

/// The security context of a container.
pub(crate) fn security() -> Value {
    json!({
        "allowPrivilegeEscalation": false,
        "readOnlyRootFilesystem": true,
        "capabilities": { "drop": ["ALL"] },
    })
}

/// Equal requests and limits. With an integer number of CPUs, the static CPU manager of a node assigns exclusive cores.
pub(crate) fn resources(cpu: &str, memory: &str) -> Value {
    json!({
        "requests": { "cpu": cpu, "memory": memory },
        "limits": { "cpu": cpu, "memory": memory },
    })
}

/// Resources of a container that writes files, with its disk space. Without it, a node could accept more pods than it has space for.
pub(crate) fn resources_with_disk(cpu: &str, memory: &str, disk: &str) -> Value {
    let mut resources = resources(cpu, memory);
    for kind in ["requests", "limits"] {
        resources[kind]["ephemeral-storage"] = json!(disk);
    }
    resources
}

/// A directory on the node that is deleted with the pod.
pub(crate) fn temporary_volume(name: &str, size_max: &str) -> Value {
    json!({ "name": name, "emptyDir": { "sizeLimit": size_max } })
}

/// An environment variable with a field of the pod.
pub(crate) fn pod_field(name: &str, path: &str) -> Value {
    json!({ "name": name, "valueFrom": { "fieldRef": { "fieldPath": path } } })
}

/// A volume with some keys of a Secret.
pub(crate) fn secret_volume(name: &str, secret: &str, items: Vec<(String, String)>) -> Value {
    let items: Vec<Value> =
        items.into_iter().map(|(key, path)| json!({ "key": key, "path": path })).collect();
    json!({ "name": name, "secret": { "secretName": secret, "defaultMode": 0o440, "items": items } })
}

/// A container that waits until the hub accepts connections. Without it, agents and controllers that start before the
/// hub would end.
pub(crate) fn wait_for_hub(settings: &RunSettings, values: &Values) -> Value {
    let (host, port) = (&settings.hub.service, settings.hub.port);
    json!({
        "name": "wait-for-hub",
        "image": values.nats_image,
        "command": ["sh", "-c", format!("until nc -z -w 2 {host} {port}; do sleep 1; done")],
        "resources": resources("100m", "32Mi"),
        "securityContext": security(),
    })
}
