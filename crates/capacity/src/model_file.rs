//! Reads model files and reports errors with their positions.

use std::path::Path;

use busyhour_diagnostic::{Diagnostic, Span};
use busyhour_limits::files::{INPUT_BYTES, read_input, read_input_text};
use busyhour_queueing::network::{NetworkFinding, QueueingNetwork, nearest, quantity};
use toml::de::{DeTable, DeValue};

use crate::error::{CapacityError, ModelFileError};

/// The hint for errors in a model.
const HINT: &str =
    "docs/capacity-models.md describes the notation; `busyhour config schema model` prints its schema";

/// A model that was read from a file.
pub struct ModelFile {
    /// The network. It has been validated.
    pub network: QueueingNetwork,
    /// The network as a TOML table in Busyhour's notation, in which parameters can be found by path.
    pub table: toml::Table,
    /// The path as given by the user.
    pub name: String,
    /// Notes on changes that the conversion from another program's file made to the model.
    pub notes: Vec<Diagnostic>,
}

impl ModelFile {
    /// Reads a model and the files that it refers to.
    pub fn read(path: &Path) -> Result<Self, ModelFileError> {
        let name = path.display().to_string();
        let bytes = match read_input(path, INPUT_BYTES) {
            Ok(bytes) => bytes,
            Err(source) => return Err(ModelFileError::Unreadable { name, source }),
        };
        let directory = path.parent().unwrap_or(Path::new(""));
        let read = if busyhour_jmt::is_xml(&bytes) {
            read_jmt(&bytes, &name, directory)
        } else {
            read_toml(&bytes, &name, directory)
        };
        let (network, table, notes) = read.map_err(ModelFileError::Invalid)?;
        Ok(Self { network, table, name, notes })
    }

    /// The name of the network if it has one, otherwise that of the file.
    #[must_use]
    pub fn title(&self) -> &str {
        if self.network.name.is_empty() { &self.name } else { &self.network.name }
    }
}

/// A network, its table in Busyhour's notation, and the notes about its conversion.
type Parts = (QueueingNetwork, toml::Table, Vec<Diagnostic>);

/// Reads a model in Busyhour's notation.
fn read_toml(bytes: &[u8], name: &str, directory: &Path) -> Result<Parts, Vec<Diagnostic>> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        vec![Diagnostic::error("model-file", format!("the model is not valid UTF-8: {error}")).in_file(name)]
    })?;
    let network = network(text, name, directory)?;
    let table = text.parse().map_err(|error| vec![unreadable(text, name, &error)])?;
    Ok((network, table, Vec::new()))
}

/// Reads a model of Java Modelling Tools.
fn read_jmt(bytes: &[u8], name: &str, directory: &Path) -> Result<Parts, Vec<Diagnostic>> {
    let model = busyhour_jmt::read(bytes, name)?;
    let network = complete(model.network, name, directory, |finding| pathed(finding, name))?;
    let table = toml::Table::try_from(&network)
        .map_err(|error| vec![Diagnostic::error("model-file", error.to_string()).in_file(name)])?;
    Ok((network, table, model.notes))
}

/// Parses a network. `directory` contains the files to which the text refers.
fn network(text: &str, name: &str, directory: &Path) -> Result<QueueingNetwork, Vec<Diagnostic>> {
    let network = toml::from_str(text).map_err(|error| vec![unreadable(text, name, &error)])?;
    complete(network, name, directory, |finding| diagnostic(finding, text, name))
}

/// Parses the network from a table whose values were changed after the file was read. Errors therefore have no position.
pub(crate) fn network_of(
    table: toml::Table,
    name: &str,
    directory: &Path,
) -> Result<QueueingNetwork, Vec<Diagnostic>> {
    let network = table.try_into().map_err(|error: toml::de::Error| {
        vec![Diagnostic::error("model-file", error.message().to_owned()).in_file(name).with_hint(HINT)]
    })?;
    complete(network, name, directory, |finding| pathed(finding, name))
}

/// Converts a finding to a diagnostic for a model without a text in Busyhour's notation. The diagnostic contains the path of the
/// parameter instead of a position.
fn pathed(finding: &NetworkFinding, name: &str) -> Diagnostic {
    Diagnostic::error("model", finding.message.clone())
        .in_file(name)
        .with_cause(format!("at {}", finding.path))
}

/// Reads the files to which the network refers, and validates the network.
fn complete(
    mut network: QueueingNetwork,
    name: &str,
    directory: &Path,
    reported: impl Fn(&NetworkFinding) -> Diagnostic,
) -> Result<QueueingNetwork, Vec<Diagnostic>> {
    let mut findings = Vec::new();
    for (file, values_s) in network.replays_mut() {
        match times(&directory.join(file)) {
            Ok(read) => *values_s = read,
            Err(cause) => findings.push(
                Diagnostic::error(
                    "model-replay",
                    format!("the times to replay from {file:?} cannot be read"),
                )
                .in_file(name)
                .with_cause(cause.to_string())
                .with_hint("the file must be in the directory of the model and contain one time per line, in seconds or with a unit"),
            ),
        }
    }
    if !findings.is_empty() {
        return Err(findings);
    }
    let found = network.validate();
    if found.is_empty() {
        return Ok(network);
    }
    Err(found.iter().map(reported).collect())
}

/// Parses the times in a file. Each line contains one time; empty lines and lines that start with # are ignored.
fn times(path: &Path) -> Result<Vec<f64>, CapacityError> {
    let text = read_input_text(path, INPUT_BYTES).map_err(|error| error.to_string())?;
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
        .map(|(at, line)| quantity::seconds(line).map_err(|error| format!("line {}: {error}", at + 1).into()))
        .collect()
}

/// Converts an error of serde to a diagnostic with its position and, for an unknown key, a suggestion.
fn unreadable(text: &str, name: &str, error: &toml::de::Error) -> Diagnostic {
    let at = error.span().unwrap_or_default();
    let message = error.message();
    let hint =
        near_key(message).map_or_else(|| HINT.to_owned(), |near| format!("did you mean `{near}`? {HINT}"));
    Diagnostic::error("model-file", message.to_owned())
        .in_file(name)
        .at(Span::locate(text, at.start, at.len()))
        .with_hint(hint)
}

/// The expected key that is most similar to the unknown one, from a message such as "unknown field `x`, expected one of `a`,
/// `b`".
fn near_key(message: &str) -> Option<&str> {
    let (unknown, known) = message.strip_prefix("unknown ")?.split_once(", expected")?;
    let quoted = |text: &'_ str| text.split('`').nth(1).map(str::to_owned);
    let unknown = quoted(unknown)?;
    nearest(&unknown, known.split('`').skip(1).step_by(2))
}

fn diagnostic(finding: &NetworkFinding, text: &str, name: &str) -> Diagnostic {
    let at = place(text, &finding.path).unwrap_or_default();
    let mut reported = Diagnostic::error("model", finding.message.clone())
        .in_file(name)
        .at(Span::locate(text, at.start, at.len()))
        .with_cause(format!("at {}", finding.path));
    if let Some(hint) = &finding.hint {
        reported = reported.with_hint(hint.clone());
    }
    reported
}

/// The position in the text of a path such as `station[1].service.web`, or of its longest prefix that exists.
fn place(text: &str, path: &str) -> Option<std::ops::Range<usize>> {
    let table = DeTable::parse(text).ok()?;
    let mut value: Option<&toml::Spanned<DeValue<'_>>> = None;
    let mut at = None;
    for step in path.split('.') {
        let (key, index) = match step.split_once('[') {
            Some((key, rest)) => (key, rest.strip_suffix(']').and_then(|index| index.parse::<usize>().ok())),
            None => (step, None),
        };
        let here = match value {
            None => Some(table.get_ref()),
            Some(value) => match value.get_ref() {
                DeValue::Table(table) => Some(table),
                _ => None,
            },
        };
        let Some(next) = here.and_then(|table| table.get(key)) else { break };
        let next = match (index, next.get_ref()) {
            (Some(index), DeValue::Array(array)) => match array.get(index) {
                Some(element) => element,
                None => break,
            },
            _ => next,
        };
        at = Some(next.span());
        value = Some(next);
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(text: &str) -> String {
        let found = network(text, "shop.toml", Path::new("")).unwrap_err();
        found.iter().map(Diagnostic::to_string).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn errors_have_a_position() {
        let texts = [
            "version = 1\n[[class]]\nname = \"web\"\nuser = 10\n",
            "version = 1\n[[class]]\nname = \"web\"\nusers = 10\n\n[[station]]\nname = \"db\"\nservice = \"50 parsecs\"\n",
            "version = 1\n[[class]]\nname = \"web\"\nusers = 10\n\n[[station]]\nname = \"db\"\n[station.service]\nwev = \"50ms\"\n",
            "version = 1\n[[class]]\nname = \"web\"\nusers = 10\nrate = 5\n",
            "version = 1\n[[class]]\nname = \"web\"\nusers = 10\n\n[[station]]\nname = \"db\"\nservers = 0\nservice = \"5ms\"\n\n\
             [[route]]\nfrom = \"outside\"\nto = { db = 0.5, outside = 0.4 }\n\n[[route]]\nfrom = \"dn\"\nto = \"outside\"\n",
            "version = 1\n[[class]]\nname = \"web\"\nusers = 10\n\n[[station]]\nname = \"db\"\nservice = \"erlang(5ms)\"\nscheduling = \"pz\"\n",
        ];
        let all: Vec<String> = texts.iter().map(|text| errors(text)).collect();
        insta::assert_snapshot!(all.join("\n\n"));
    }
}
