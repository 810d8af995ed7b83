//! The values that users of a Helm chart change: as they are, or as references of a template.

use serde_json::{Value, json};

use crate::settings::RunSettings;

/// The start of an expression of a template whose value is a number and must not be quoted.
pub(crate) const NUMBER: &str = "{{ int ";

/// The values of a run that vary between installations of a chart.
pub(crate) struct Values {
    pub(crate) image: String,
    pub(crate) nats_image: String,
    /// Number of agents, as a number.
    pub(crate) agents: Value,
    /// Number of agents, as an argument.
    pub(crate) agents_text: String,
    pub(crate) cores: String,
    pub(crate) memory: String,
    /// The namespace; `None` if the objects do not name it.
    pub(crate) namespace: Option<String>,
    /// Further options of `busyhour run`.
    pub(crate) run_options: Vec<String>,
}

impl Values {
    /// The values themselves.
    pub(crate) fn of(settings: &RunSettings) -> Values {
        Values {
            image: settings.image.clone(),
            nats_image: settings.nats_image.clone(),
            agents: json!(settings.agents),
            agents_text: settings.agents.to_string(),
            cores: settings.cores.to_string(),
            memory: settings.memory.clone(),
            namespace: settings.namespace.clone(),
            run_options: settings.run_options.clone(),
        }
    }

    /// The values in a Kustomize directory, which sets the namespace itself.
    pub(crate) fn of_kustomize(settings: &RunSettings) -> Values {
        Values { namespace: None, ..Values::of(settings) }
    }

    /// References to the values of a Helm chart.
    pub(crate) fn of_chart(settings: &RunSettings) -> Values {
        Values {
            image: "{{ .Values.image }}".into(),
            nats_image: "{{ .Values.natsImage }}".into(),
            agents: json!(format!("{NUMBER}.Values.agents }}}}")),
            agents_text: "{{ .Values.agents }}".into(),
            cores: "{{ .Values.cores }}".into(),
            memory: "{{ .Values.memory }}".into(),
            namespace: Some("{{ .Release.Namespace }}".into()),
            run_options: settings.run_options.iter().map(|option| escaped(option)).collect(),
        }
    }
}

/// A text in which the template finds no expressions.
pub(crate) fn escaped(text: &str) -> String {
    text.replace("{{", "{{ `{{` }}")
}
