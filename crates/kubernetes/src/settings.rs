//! The settings of a run on Kubernetes.

use crate::error::ManifestError;
use crate::names::{LABEL_MAX, RUN_NAME_MAX, check_cidr, check_label, check_name, check_quantity};

/// Time for pulling images, scheduling pods and assembling the agents, in seconds.
const START_S: u64 = 900;

/// Time for the end of a run: grace period, transfer of the records, report, in seconds.
const END_S: u64 = 600;

/// The settings of a run.
#[derive(Clone, Debug)]
pub struct RunSettings {
    /// Name of the run, the start of the names of its objects.
    pub name: String,
    /// The namespace; `None` for that of the user's context.
    pub namespace: Option<String>,
    /// Whether the namespace is one of the objects.
    pub creates_namespace: bool,
    /// The image with busyhour.
    pub image: String,
    /// The image with the NATS server, a shell and tar.
    pub nats_image: String,
    /// Number of agents.
    pub agents: u32,
    /// Number of cores of each agent.
    pub cores: u32,
    /// Memory of each agent, such as `1Gi`.
    pub memory: String,
    /// The plan.
    pub plan: MountedFile,
    /// Other files, with paths relative to the directory of the plan.
    pub files: Vec<MountedFile>,
    /// Further options of `busyhour run`.
    pub run_options: Vec<String>,
    /// Longest duration of the run in seconds.
    pub length_s: u64,
    /// Time in seconds after which finished jobs are deleted.
    pub ttl_s: u64,
    /// Where the results are stored.
    pub results: ResultStorage,
    /// How the agents are spread over nodes.
    pub spread: Spread,
    /// Additional labels of all objects.
    pub labels: Vec<(String, String)>,
    /// The PriorityClass of all pods.
    pub priority_class: Option<String>,
    /// The Secrets with which the images are pulled from a private registry.
    pub pull_secrets: Vec<String>,
    /// Labels of the nodes on which the agents may run.
    pub node_labels: Vec<(String, String)>,
    /// Taints of nodes that do not keep agents away.
    pub tolerations: Vec<Toleration>,
    /// Disk space of each agent, and of the controller without a claim, such as `10Gi`.
    pub disk: String,
    /// Blocks of addresses to which agents may connect; empty: all addresses.
    pub egress: Vec<String>,
    /// The address of the hub.
    pub hub: HubAddress,
}

/// A file of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountedFile {
    /// Path relative to the directory of the plan.
    pub path: String,
    /// Its contents.
    pub contents: Vec<u8>,
}

/// Where the results of a run are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResultStorage {
    /// In the pod of the controller, which stays for some seconds so that they can be copied.
    Pod {
        /// The time in seconds.
        keep_s: u64,
    },
    /// In an existing PersistentVolumeClaim.
    Claim(String),
}

/// A taint of nodes that agents ignore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toleration {
    /// Key of the taint.
    pub key: String,
    /// Its value; `None` for any value.
    pub value: Option<String>,
    /// Its effect; `None` for any effect.
    pub effect: Option<String>,
}

/// Effects of taints.
const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

impl Toleration {
    /// Reads the notation of `kubectl taint`: `KEY`, `KEY=VALUE`, `KEY:EFFECT` or `KEY=VALUE:EFFECT`.
    ///
    /// # Errors
    /// The key, the value or the effect is not valid.
    pub fn parse(text: &str) -> Result<Toleration, ManifestError> {
        let (taint, effect) = match text.rsplit_once(':') {
            Some((taint, effect)) => (taint, Some(effect)),
            None => (text, None),
        };
        let (key, value) = taint.split_once('=').map_or((taint, None), |(key, value)| (key, Some(value)));
        let is_known = effect.is_none_or(|effect| EFFECTS.contains(&effect));
        if !is_known || check_label(key, value.unwrap_or_default()).is_err() {
            return Err(ManifestError::Toleration(text.to_owned()));
        }
        Ok(Toleration {
            key: key.to_owned(),
            value: value.map(str::to_owned),
            effect: effect.map(str::to_owned),
        })
    }
}

/// How agents are spread over nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Evenly, if there is room.
    Preferred,
    /// At most one agent per node.
    OnePerNode,
    /// As the scheduler decides.
    Off,
}

/// The files of a hub.
#[derive(Clone, Debug)]
pub struct HubContents {
    /// The certificate of the server (PEM).
    pub server_pem: String,
    /// Its key (PEM).
    pub server_key: String,
    /// The users and permissions in the notation of the server.
    pub authorization: String,
    /// The invitation for agents.
    pub agent: String,
    /// The invitation for controllers.
    pub controller: String,
}

/// A file of a directory that is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFile {
    /// Path relative to the directory.
    pub path: String,
    /// Its contents.
    pub contents: Vec<u8>,
    /// Whether only its owner may read it.
    pub is_secret: bool,
}

/// The address of the hub, which is that of a Service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubAddress {
    /// Name of the Service.
    pub service: String,
    /// Its namespace, if the address contains it.
    pub namespace: Option<String>,
    /// The port.
    pub port: u16,
}

impl HubAddress {
    /// Reads the address in the invitations: `tls://shop-hub:4222`, `tls://shop-hub.load.svc:4222`.
    ///
    /// # Errors
    /// It is not the name of a Service.
    pub fn parse(url: &str) -> Result<HubAddress, ManifestError> {
        let failed =
            |reason: &str| ManifestError::HubAddress { url: url.to_owned(), reason: reason.to_owned() };
        let address =
            url.strip_prefix("tls://").ok_or_else(|| failed(", because it does not start with tls://"))?;
        let (host, port) = address.rsplit_once(':').ok_or_else(|| failed(", because it has no port"))?;
        let port =
            port.parse().ok().filter(|port| *port > 0).ok_or_else(|| failed(", because of its port"))?;
        if host.parse::<std::net::IpAddr>().is_ok() || host.starts_with('[') || host == "localhost" {
            return Err(failed(""));
        }
        let (service, rest) =
            host.split_once('.').map_or((host, None), |(service, rest)| (service, Some(rest)));
        let (namespace, domain) = match rest.map(|rest| rest.split_once('.').unwrap_or((rest, ""))) {
            Some((namespace, domain)) => (Some(namespace), domain),
            None => (None, ""),
        };
        if !["", "svc", "svc.cluster.local"].contains(&domain) {
            return Err(failed(" (NAME, NAME.NAMESPACE or NAME.NAMESPACE.svc)"));
        }
        check_name("the Service", service, LABEL_MAX).map_err(|error| failed(&format!(": {error}")))?;
        Ok(HubAddress { service: service.to_owned(), namespace: namespace.map(str::to_owned), port })
    }
}

impl RunSettings {
    /// Checks everything that Kubernetes would refuse.
    pub(crate) fn check(&self) -> Result<(), ManifestError> {
        check_name("the name", &self.name, RUN_NAME_MAX)?;
        if let Some(namespace) = &self.namespace {
            check_name("the namespace", namespace, LABEL_MAX)?;
        }
        if let (Some(used), Some(named)) = (&self.namespace, &self.hub.namespace)
            && used != named
        {
            return Err(ManifestError::HubAddress {
                url: format!("{}.{named}", self.hub.service),
                reason: format!(" of the namespace {used}"),
            });
        }
        if let ResultStorage::Claim(claim) = &self.results {
            check_name("the PersistentVolumeClaim", claim, LABEL_MAX)?;
        }
        if let Some(class) = &self.priority_class {
            check_name("the PriorityClass", class, LABEL_MAX)?;
        }
        for secret in &self.pull_secrets {
            check_name("the Secret", secret, LABEL_MAX)?;
        }
        for (what, number) in [("the number of agents", self.agents), ("the number of cores", self.cores)] {
            if number == 0 {
                return Err(ManifestError::Zero(what));
            }
        }
        check_quantity("the memory", &self.memory, "1Gi")?;
        check_quantity("the disk space", &self.disk, "10Gi")?;
        self.labels.iter().chain(&self.node_labels).try_for_each(|(name, value)| check_label(name, value))?;
        self.egress.iter().try_for_each(|block| check_cidr(block))
    }

    /// The name of an object of the run.
    pub(crate) fn object(&self, role: &str) -> String {
        format!("{}-{role}", self.name)
    }

    /// Seconds after which Kubernetes ends the agents.
    pub(crate) fn agents_deadline_s(&self) -> u64 {
        START_S + self.length_s + END_S
    }

    /// Seconds after which Kubernetes ends the controller.
    pub(crate) fn controller_deadline_s(&self) -> u64 {
        match self.results {
            ResultStorage::Pod { keep_s } => self.agents_deadline_s() + keep_s,
            ResultStorage::Claim(_) => self.agents_deadline_s(),
        }
    }

    /// Seconds for which the controller waits for agents.
    pub(crate) fn wait_for_agents_s(&self) -> u64 {
        START_S * 2 / 3
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Settings for the tests of the crate.
    pub(crate) fn settings() -> RunSettings {
        RunSettings {
            name: "shop".into(),
            namespace: Some("load".into()),
            creates_namespace: false,
            image: "registry.example/busyhour:0.1.0".into(),
            nats_image: "nats:2.15-alpine".into(),
            agents: 8,
            cores: 2,
            memory: "1Gi".into(),
            plan: MountedFile { path: "shop.jmx".into(), contents: b"<jmeterTestPlan/>\n".to_vec() },
            files: vec![MountedFile { path: "data/users.csv".into(), contents: b"name\nann\n".to_vec() }],
            run_options: vec!["-Jusers=100".into()],
            length_s: 600,
            ttl_s: 86_400,
            results: ResultStorage::Pod { keep_s: 3_600 },
            spread: Spread::Preferred,
            labels: vec![("team".into(), "web".into())],
            priority_class: None,
            pull_secrets: vec![],
            node_labels: vec![],
            tolerations: vec![],
            disk: "10Gi".into(),
            egress: vec![],
            hub: HubAddress { service: "shop-hub".into(), namespace: None, port: 4222 },
        }
    }

    /// Files of a hub for the tests of the crate.
    pub(crate) fn hub() -> HubContents {
        HubContents {
            server_pem: "PEM\n".into(),
            server_key: "KEY\n".into(),
            authorization: "authorization {}\n".into(),
            agent: "{}\n".into(),
            controller: "{ }\n".into(),
        }
    }

    #[test]
    fn addresses_of_services_are_read() {
        let parsed = |url: &str| HubAddress::parse(url).unwrap();
        let address = |namespace: Option<&str>| HubAddress {
            service: "shop-hub".into(),
            namespace: namespace.map(str::to_owned),
            port: 4222,
        };
        assert_eq!(parsed("tls://shop-hub:4222"), address(None));
        for host in ["shop-hub.load", "shop-hub.load.svc", "shop-hub.load.svc.cluster.local"] {
            assert_eq!(parsed(&format!("tls://{host}:4222")), address(Some("load")));
        }
        for url in [
            "tls://127.0.0.1:4222",
            "tls://[::1]:4222",
            "tls://localhost:4222",
            "nats://shop-hub:4222",
            "tls://shop-hub",
            "tls://hub.shop.example.com:4222",
            "tls://Shop:4222",
            "tls://shop-hub:0",
        ] {
            let error = HubAddress::parse(url).unwrap_err().to_string();
            assert!(error.contains(url) && error.contains("busyhour cluster init"), "{error}");
        }
    }

    #[test]
    fn tolerations_have_the_notation_of_taints() {
        let toleration = |key: &str, value: Option<&str>, effect: Option<&str>| Toleration {
            key: key.into(),
            value: value.map(str::to_owned),
            effect: effect.map(str::to_owned),
        };
        for (text, expected) in [
            ("load", toleration("load", None, None)),
            ("load=yes", toleration("load", Some("yes"), None)),
            ("load:NoSchedule", toleration("load", None, Some("NoSchedule"))),
            ("a.io/load=:NoExecute", toleration("a.io/load", Some(""), Some("NoExecute"))),
        ] {
            assert_eq!(Toleration::parse(text).unwrap(), expected);
        }
        for text in ["", ":NoSchedule", "load:Never", "a b", "load=a b"] {
            let error = Toleration::parse(text).unwrap_err().to_string();
            assert!(error.contains(&format!("{text:?}")) && error.contains("NoSchedule"), "{error}");
        }
    }

    #[test]
    fn wrong_settings_are_refused() {
        settings().check().unwrap();
        let refused = |change: fn(&mut RunSettings)| {
            let mut settings = settings();
            change(&mut settings);
            settings.check().unwrap_err().to_string()
        };
        assert!(refused(|s| s.name = "Shop".into()).contains("the name \"Shop\""));
        assert!(refused(|s| s.namespace = Some("a_b".into())).contains("the namespace \"a_b\""));
        assert!(refused(|s| s.hub.namespace = Some("other".into())).contains("of the namespace load"));
        assert!(refused(|s| s.agents = 0).contains("the number of agents"));
        assert!(refused(|s| s.memory = "1 GB".into()).contains("1Gi"));
        assert!(refused(|s| s.egress = vec!["all".into()]).contains("10.0.0.0/8"));
        assert!(refused(|s| s.results = ResultStorage::Claim("A".into())).contains("PersistentVolumeClaim"));
        assert!(refused(|s| s.priority_class = Some("A".into())).contains("PriorityClass"));
        assert!(refused(|s| s.pull_secrets = vec!["A".into()]).contains("the Secret"));
        assert!(refused(|s| s.disk = "big".into()).contains("10Gi"));
        assert!(refused(|s| s.node_labels = vec![("pool".into(), "a b".into())]).contains("pool=a b"));
        assert!(refused(|s| s.labels = vec![("a b".into(), "c".into())]).contains("a b=c"));
    }
}
