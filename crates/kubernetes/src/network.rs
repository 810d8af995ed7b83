//! The network policies of a run.

use serde_json::{Value, json};

use crate::object::KubeObject;
use crate::pod::{metadata, selector};
use crate::settings::RunSettings;
use crate::values::Values;
use crate::{agents, controller, hub};

/// The policies. They have an effect only in clusters whose network enforces policies.
pub(crate) fn policies(settings: &RunSettings, values: &Values) -> Vec<KubeObject> {
    let pods = |role: &str| json!({ "podSelector": { "matchLabels": selector(settings, role) } });
    let hub_port = json!([{ "protocol": "TCP", "port": settings.hub.port }]);
    let from_run = json!({
        "from": [pods(agents::ROLE), pods(controller::ROLE)],
        "ports": hub_port,
    });
    let to_hub = json!({ "to": [pods(hub::ROLE)], "ports": hub_port });
    let policy = |role: &str, ingress: Value, egress: Value| {
        let name = settings.object(role);
        let body = json!({
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": metadata(settings, values, &name, role),
            "spec": {
                "podSelector": { "matchLabels": selector(settings, role) },
                "policyTypes": ["Ingress", "Egress"],
                "ingress": ingress,
                "egress": egress,
            },
        });
        KubeObject::new("NetworkPolicy", &name, body)
    };
    let load = egress(settings, to_hub);
    vec![
        policy(hub::ROLE, json!([from_run]), json!([])),
        policy(agents::ROLE, json!([]), load.clone()),
        policy(controller::ROLE, json!([]), load),
    ]
}

/// The connections that agents and the controller may open: to the hub, to DNS, and to the system under test.
fn egress(settings: &RunSettings, to_hub: Value) -> Value {
    if settings.egress.is_empty() {
        return json!([{}]);
    }
    let dns = json!({ "ports": [{ "protocol": "UDP", "port": 53 }, { "protocol": "TCP", "port": 53 }] });
    let blocks: Vec<Value> =
        settings.egress.iter().map(|block| json!({ "ipBlock": { "cidr": block } })).collect();
    json!([to_hub, dns, { "to": blocks }])
}
