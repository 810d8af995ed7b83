//! Reads and writes queueing networks as files of [Java Modelling Tools](https://jmt.sourceforge.net) (JMT): `.jmva` for its
//! analytic solver, and `.jsimg` for its simulator.
//!
//! Reading follows JMT's own readers (`jmt.jmva.analytical.ExactModel`, `jmt.gui.common.xml.XMLReader`), including their
//! defaults. A property that a network cannot represent is reported as an error with the element and its line. A property that
//! JMT treats differently is reported as a note.
//!
//! In JMT, customers of a closed class stay in the system and visit a *reference station* once per pass. It is usually a delay
//! at which they think. Such a delay becomes the think time of its class, so response times do not include thinking (JMT calls
//! this "without reference station"). Other reference stations remain stations, and a pass lasts from one visit to the next.

mod element;
mod findings;
mod jmva;
mod jsimg;
mod per_class;
mod text;

use busyhour_diagnostic::Diagnostic;
use busyhour_queueing::network::QueueingNetwork;

use findings::Findings;

/// A network that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct JmtModel {
    /// The network. If distributions of times replay a file, the caller must load their values before
    /// [`QueueingNetwork::validate`] can check the network.
    pub network: QueueingNetwork,
    /// Differences from JMT, and parts of the file that were ignored.
    pub notes: Vec<Diagnostic>,
}

/// Whether a file starts like XML. Our own notations do not.
#[must_use]
pub fn is_xml(bytes: &[u8]) -> bool {
    busyhour_xml::decode(&bytes[..bytes.len().min(200)])
        .trim_start_matches('\u{feff}')
        .trim_start()
        .starts_with('<')
}

/// Reads a `.jmva` or `.jsimg` file; `name` is the file name in messages.
///
/// # Errors
/// All errors in the file and all properties that a [`QueueingNetwork`] cannot represent, with their positions.
pub fn read(bytes: &[u8], name: &str) -> Result<JmtModel, Vec<Diagnostic>> {
    let text = busyhour_xml::decode(bytes);
    let mut findings = Findings::new(&text, name);
    let root = match element::parse(&text) {
        Ok(root) => root,
        Err((offset, problem)) => {
            findings.not_xml(offset, &problem);
            return Err(findings.errors);
        }
    };
    let network = match root.name.as_str() {
        "model" => jmva::read(&root, &mut findings),
        "sim" => jsimg::read(&root, &mut findings),
        "archive" => match root.child("sim") {
            Some(sim) => jsimg::read(sim, &mut findings),
            None => {
                findings.error(&root, "has no model: there is no <sim>");
                return Err(findings.errors);
            }
        },
        _ => {
            findings.error(
                &root,
                "is not a model of JMT: the supported root elements are <model> (.jmva), <archive> and <sim> (.jsimg)",
            );
            return Err(findings.errors);
        }
    };
    if !findings.errors.is_empty() {
        return Err(findings.errors);
    }
    Ok(JmtModel { network, notes: findings.notes })
}

/// Writes the network as a `.jsimg` file for JMT's simulator.
///
/// # Errors
/// The parts of the network that the file cannot represent.
pub fn to_jsimg(network: &QueueingNetwork, title: &str) -> Result<String, Vec<String>> {
    jsimg::write(network, title)
}

/// Writes the network as a `.jmva` file for JMT's analytic solver. The file contains only the means of distributions, so the
/// network must have a product form or priorities.
///
/// # Errors
/// The parts of the network that the file cannot represent.
pub fn to_jmva(network: &QueueingNetwork, title: &str) -> Result<String, Vec<String>> {
    jmva::write(network, title)
}
