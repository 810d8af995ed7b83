//! The Secrets with the files of the hub and of the plan.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::error::ManifestError;
use crate::hub;
use crate::names::secret_key;
use crate::object::KubeObject;
use crate::pod::metadata;
use crate::settings::{HubContents, MountedFile, RunSettings};
use crate::values::Values;

/// Maximum size of the contents of a Secret in bytes.
pub const SECRET_BYTES_MAX: usize = 1 << 20;

/// The role of the Secret with the plan.
pub(crate) const PLAN: &str = "plan";

/// The files in the Secret of the hub, with their contents.
pub(crate) fn hub_files(settings: &RunSettings, hub: &HubContents) -> [(&'static str, String); 6] {
    [
        ("nats.conf", hub::configuration(settings)),
        ("authorization.conf", hub.authorization.clone()),
        ("server.pem", hub.server_pem.clone()),
        ("server.key", hub.server_key.clone()),
        ("agent.json", hub.agent.clone()),
        ("controller.json", hub.controller.clone()),
    ]
}

/// The Secret with the files of the hub. Each pod mounts only the files that it needs.
pub(crate) fn hub_secret(settings: &RunSettings, hub: &HubContents) -> KubeObject {
    let files = hub_files(settings, hub).map(|(name, text)| (name.to_owned(), text.into_bytes()));
    let contents = contents(files.iter().map(|(name, bytes)| (name.clone(), bytes.as_slice())));
    secret(settings, &Values::of(settings), hub::ROLE, contents)
}

/// The Secret with the plan and its files. Plans can contain passwords and test data, which do not belong into a
/// ConfigMap.
pub(crate) fn plan_secret(settings: &RunSettings) -> Result<KubeObject, ManifestError> {
    let files = plan_files(settings)?;
    let contents = contents(files.iter().map(|(key, file)| (key.clone(), file.contents.as_slice())));
    Ok(secret(settings, &Values::of(settings), PLAN, contents))
}

/// A Secret whose contents are given as fields.
pub(crate) fn secret(
    settings: &RunSettings,
    values: &Values,
    role: &str,
    contents: Map<String, Value>,
) -> KubeObject {
    let name = settings.object(role);
    let mut body = json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": metadata(settings, values, &name, role),
        "type": "Opaque",
    });
    if let Value::Object(body) = &mut body {
        body.extend(contents);
    }
    KubeObject::new("Secret", &name, body)
}

/// The plan and its files by their keys.
pub(crate) fn plan_files(settings: &RunSettings) -> Result<BTreeMap<String, &MountedFile>, ManifestError> {
    let all = || std::iter::once(&settings.plan).chain(&settings.files);
    let mut files: BTreeMap<String, &MountedFile> = BTreeMap::new();
    for file in all() {
        if file.path.split('/').any(|part| ["", ".", ".."].contains(&part)) {
            return Err(ManifestError::Outside(file.path.clone()));
        }
        if let Some(other) = files.insert(secret_key(&file.path), file) {
            return Err(ManifestError::SameKey { first: other.path.clone(), second: file.path.clone() });
        }
    }
    let total = all().map(|file| file.contents.len()).sum();
    match all().max_by_key(|file| file.contents.len()) {
        Some(largest) if total > SECRET_BYTES_MAX => Err(ManifestError::TooLarge {
            total,
            max: SECRET_BYTES_MAX,
            file: largest.path.clone(),
            bytes: largest.contents.len(),
        }),
        _ => Ok(files),
    }
}

/// The fields with the contents of a Secret: texts as they are, so that people can read them, and everything else in base64.
fn contents<'f>(files: impl Iterator<Item = (String, &'f [u8])>) -> Map<String, Value> {
    let (mut texts, mut data) = (Map::new(), Map::new());
    for (key, bytes) in files {
        match readable(bytes) {
            Some(text) => texts.insert(key, json!(text)),
            None => data.insert(key, json!(STANDARD.encode(bytes))),
        };
    }
    [("stringData", texts), ("data", data)]
        .into_iter()
        .filter(|(_, fields)| !fields.is_empty())
        .map(|(name, fields)| (name.to_owned(), Value::Object(fields)))
        .collect()
}

/// The text in a file that every YAML parser reads back unchanged.
fn readable(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    let is_plain =
        |c: char| c == '\n' || !(c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}'));
    text.chars().all(is_plain).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::tests::settings;

    #[test]
    fn texts_are_readable_and_other_files_are_encoded() {
        let mut settings = settings();
        settings.files.push(MountedFile { path: "a.bin".into(), contents: vec![0, 255] });
        settings.files.push(MountedFile { path: "dos.csv".into(), contents: b"a\r\nb".to_vec() });
        let secret = plan_secret(&settings).unwrap();
        assert_eq!(secret.body["stringData"]["data_users.csv"], "name\nann\n");
        assert_eq!(secret.body["data"]["a.bin"], "AP8=");
        assert_eq!(secret.body["data"]["dos.csv"], "YQ0KYg==");
        assert_eq!(secret.name, "shop-plan");
    }

    #[test]
    fn files_that_do_not_fit_are_named() {
        let mut settings = settings();
        settings.files[0].contents = vec![b'x'; SECRET_BYTES_MAX];
        let error = plan_secret(&settings).unwrap_err().to_string();
        assert!(error.contains("data/users.csv with 1048576 bytes") && error.contains("1048594"), "{error}");
        settings.files[0].contents.truncate(SECRET_BYTES_MAX - settings.plan.contents.len());
        plan_secret(&settings).unwrap();
    }

    #[test]
    fn paths_outside_and_equal_keys_are_refused() {
        for path in ["../a", "/a", "a//b"] {
            let mut settings = settings();
            settings.files[0].path = path.into();
            assert!(matches!(plan_secret(&settings), Err(ManifestError::Outside(_))), "{path}");
        }
        let mut settings = settings();
        settings.files.push(MountedFile { path: "data_users.csv".into(), contents: vec![] });
        assert!(matches!(plan_secret(&settings), Err(ManifestError::SameKey { .. })));
    }
}
