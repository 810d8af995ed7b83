//! Client certificates: the Keystore Configuration and the system properties that name the store.

use std::path::Path;
use std::sync::Arc;

use busyhour_diagnostic::Diagnostic;
use busyhour_http::{ClientKeys, KeyChoice, TlsPolicy};
use busyhour_limits::files::{TEXT_FILE_BYTES, read_regular};
use busyhour_plan::Element;
use busyhour_program::run::JmeterProperties;

use crate::context::Context;
use crate::elements::config::ConfigClass;
use crate::elements::{Role, role};
use crate::setting_error::SettingError;

/// The system property with the name of the file.
const FILE: &str = "javax.net.ssl.keyStore";

/// Configures the client certificates of all HTTP samplers, before the first sampler is compiled.
pub(crate) fn configure(context: &mut Context<'_>) {
    let element = keystore_element(context);
    let properties = Arc::clone(&context.options.properties);
    let file = properties.get(FILE).unwrap_or_default();
    let choice = match element {
        Some(element) => match choice(context, element, &properties) {
            Some(choice) => choice,
            None => return,
        },
        None if file.is_empty() => return,
        None => KeyChoice::default(),
    };
    let at = |finding: Diagnostic| match element {
        Some(element) => element.locate(finding),
        None => finding,
    };
    let keys = if file.is_empty() {
        context.findings.add(at(Diagnostic::warning(
            "no-key-store",
            "no key store is configured: servers that request a client certificate get none, as in JMeter",
        )
        .with_hint("set -Djavax.net.ssl.keyStore=FILE and -Djavax.net.ssl.keyStorePassword=…")));
        (!choice.alias_variable.is_empty()).then(|| ClientKeys::none(choice.alias_variable))
    } else {
        let path = context.parts.http.files.resolve(&file);
        let password = properties.get("javax.net.ssl.keyStorePassword").unwrap_or_default();
        match load(&path, &password, choice, context.options.tls) {
            Ok(keys) => Some(keys),
            Err(error) => {
                let message = format!("the key store {} cannot be used: {error}", path.display());
                context.findings.add(at(Diagnostic::error("key-store", message).with_hint(
                    "-Djavax.net.ssl.keyStore names the file, -Djavax.net.ssl.keyStorePassword has the password of the \
                     store and of its keys",
                )));
                None
            }
        }
    };
    if let Some(http) = Arc::get_mut(&mut context.parts.http) {
        http.client_keys = keys.map(Arc::new);
    }
}

/// Reads a key store.
fn load(path: &Path, password: &str, choice: KeyChoice, tls: TlsPolicy) -> Result<ClientKeys, SettingError> {
    let bytes = read_regular(path, TEXT_FILE_BYTES).map_err(|error| SettingError::new(error.to_string()))?;
    ClientKeys::load(&bytes, password, choice, tls).map_err(|error| SettingError::new(error.to_string()))
}

/// The plan's Keystore Configuration, wherever it is; if there are several, the first.
fn keystore_element<'p>(context: &mut Context<'p>) -> Option<Element<'p>> {
    let plan = context.plan;
    let mut all = plan
        .elements()
        .filter(|element| role(*element) == Role::Config(ConfigClass::Keystore) && element.is_active());
    let first = all.next()?;
    if let Some(other) = all.next() {
        let message = "the plan has another Keystore Configuration before this one: only the first is used";
        context.findings.warn(other, "second-key-store", message);
    }
    Some(first)
}

fn choice<'p>(
    context: &mut Context<'p>,
    element: Element<'p>,
    properties: &JmeterProperties,
) -> Option<KeyChoice> {
    let mut index = |name: &str, property: &str, default: i32| {
        let default = properties.get(property).and_then(|text| text.trim().parse().ok()).unwrap_or(default);
        let text = context.at_start(element, name);
        if text.is_empty() {
            return default;
        }
        text.parse().unwrap_or_else(|_| {
            let message =
                format!("{name} is not an integer: {text:?}; JMeter uses {default}, and so does this run");
            context.findings.warn(element, "invalid-number", message);
            default
        })
    };
    let first = index("startIndex", "https.keyStoreStartIndex", 0);
    let last = index("endIndex", "https.keyStoreEndIndex", -1);
    let (Ok(first_index), Ok(last_index)) = (usize::try_from(first), last_index(last)) else {
        refuse(context, element, &format!("the index range {first} to {last} is invalid"));
        return None;
    };
    if last_index.is_some_and(|last| last < first_index) {
        refuse(context, element, &format!("the end index {last} is less than the start index {first}"));
        return None;
    }
    let alias_variable = context.at_start(element, "clientCertAliasVarName");
    Some(KeyChoice { first: first_index, last: last_index, alias_variable })
}

/// The index of the last key; −1 means the end of the store.
fn last_index(last: i32) -> Result<Option<usize>, std::num::TryFromIntError> {
    if last == -1 { Ok(None) } else { usize::try_from(last).map(Some) }
}

/// Reports a range of indices that contains no keys; JMeter does not start such a test.
fn refuse(context: &mut Context<'_>, element: Element<'_>, why: &str) {
    let message = format!("the Keystore Configuration selects no key: {why}");
    context.findings.add(element.locate(Diagnostic::error("invalid-element", message)));
}
