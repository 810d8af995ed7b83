//! The hub: a NATS server and its Service.

use serde_json::json;

use crate::object::KubeObject;
use crate::pod::{metadata, pod_metadata, pod_spec, resources, secret_volume, security, selector};
use crate::settings::RunSettings;
use crate::values::Values;

/// The role of the pod.
pub(crate) const ROLE: &str = "hub";

/// Directory of the configuration in the pod.
const CONFIG_DIR: &str = "/etc/nats";

/// Port on which the server answers the probes of Kubernetes.
const MONITORING_PORT: u16 = 8222;

/// The files of the hub that its pod needs.
pub(crate) const FILES: [&str; 4] = ["nats.conf", "authorization.conf", "server.pem", "server.key"];

/// The configuration of the server.
pub(crate) fn configuration(settings: &RunSettings) -> String {
    format!(
        r#"# The NATS server that connects agents and controller.
host: "0.0.0.0"
port: {port}
http_port: {MONITORING_PORT}
server_name: "busyhour-hub"
max_payload: 1MB
max_pending: 256MB
ping_interval: "5s"
ping_max: 2
tls {{
  cert_file: "{CONFIG_DIR}/server.pem"
  key_file: "{CONFIG_DIR}/server.key"
  timeout: 5
}}
include "authorization.conf"
"#,
        port = settings.hub.port
    )
}

/// The Service. Its name is in the invitations and in the certificate.
pub(crate) fn service(settings: &RunSettings, values: &Values) -> KubeObject {
    let name = &settings.hub.service;
    KubeObject::new(
        "Service",
        name,
        json!({
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": metadata(settings, values, name, ROLE),
            "spec": {
                "type": "ClusterIP",
                "selector": selector(settings, ROLE),
                "ports": [{ "name": "nats", "port": settings.hub.port, "targetPort": "nats", "protocol": "TCP" }],
            },
        }),
    )
}

/// The Deployment of one server. It stores nothing: agents and controllers connect again after a restart.
pub(crate) fn deployment(settings: &RunSettings, values: &Values) -> KubeObject {
    let name = settings.object(ROLE);
    let healthy = json!({ "path": "/healthz", "port": "monitoring" });
    let container = json!({
        "name": "nats",
        "image": values.nats_image,
        "command": ["nats-server", "--config", format!("{CONFIG_DIR}/nats.conf")],
        "ports": [
            { "name": "nats", "containerPort": settings.hub.port, "protocol": "TCP" },
            { "name": "monitoring", "containerPort": MONITORING_PORT, "protocol": "TCP" },
        ],
        "readinessProbe": { "httpGet": healthy, "periodSeconds": 2 },
        "livenessProbe": { "httpGet": healthy, "periodSeconds": 10, "failureThreshold": 6 },
        "resources": resources("1", "512Mi"),
        "securityContext": security(),
        "volumeMounts": [{ "name": "config", "mountPath": CONFIG_DIR, "readOnly": true }],
    });
    let files = FILES.map(|file| (file.to_owned(), file.to_owned())).to_vec();
    let spec = json!({
        "terminationGracePeriodSeconds": 30,
        "containers": [container],
        "volumes": [secret_volume("config", &settings.object(ROLE), files)],
    });
    KubeObject::new(
        "Deployment",
        &name,
        json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": metadata(settings, values, &name, ROLE),
            "spec": {
                "replicas": 1,
                "strategy": { "type": "Recreate" },
                "selector": { "matchLabels": selector(settings, ROLE) },
                "template": { "metadata": pod_metadata(settings, ROLE), "spec": pod_spec(settings, spec) },
            },
        }),
    )
}
