//! `busyhour capacity convert`: converts a model to the format of another program.

use std::path::{Path, PathBuf};

use busyhour_jmt::{to_jmva, to_jsimg};
use busyhour_queueing::network::{CustomerClass, QueueingNetwork, Station, StationKind};
use busyhour_terminal::exit::{Exit, complain, note, print, say};
use clap::{Args, ValueEnum};

use super::model_input::read_model;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  busyhour capacity convert plans/models/web-shop.toml -o shop.jsimg\n  \
    busyhour capacity convert shop.toml --to jmva\n  busyhour capacity convert study.jsimg --to toml")]
pub(crate) struct ConvertArgs {
    /// The model (TOML, .jsimg or .jmva).
    #[arg(value_name = "FILE")]
    model: PathBuf,
    /// Target format (default: the extension of the output file).
    #[arg(long, value_enum, required_unless_present = "output")]
    to: Option<Format>,
    /// Output file (default: standard output).
    #[arg(short = 'o', long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// JSIMgraph, the simulator of Java Modelling Tools.
    Jsimg,
    /// JMVA, the analytic solver of Java Modelling Tools.
    Jmva,
    /// Busyhour's notation, without default values.
    Toml,
}

pub(crate) fn main(args: &ConvertArgs) -> Exit {
    let extension = args.output.as_deref().and_then(Path::extension).and_then(|extension| extension.to_str());
    let by_extension = extension.and_then(|extension| Format::from_str(extension, true).ok());
    let Some(format) = args.to.or(by_extension) else {
        let text = "the file name must end in .jsimg, .jmva or .toml; or add --to FORMAT";
        return complain(Exit::Usage, text);
    };
    let model = match read_model(&args.model) {
        Ok(model) => model,
        Err(exit) => return exit,
    };
    let text = match format {
        Format::Jsimg => to_jsimg(&model.network, model.title()),
        Format::Jmva => to_jmva(&model.network, model.title()),
        Format::Toml => toml::to_string(&model.network).map_err(|error| vec![error.to_string()]),
    };
    let text = match text {
        Ok(text) => text,
        Err(unsupported) => {
            let exit = complain(
                Exit::Refused,
                &format!("{} has parts that the format does not support:", model.name),
            );
            unsupported.iter().for_each(|part| say(&format!("  - {part}")));
            return exit;
        }
    };
    if matches!(format, Format::Jmva) && has_closed_multi_servers(&model.network) {
        note(
            "note: JMT's analytic solver uses Seidmann's approximation for stations with several servers and closed classes; \
             `busyhour capacity solve` is exact",
        );
    }
    match &args.output {
        None => {
            print(&text);
            Exit::Completed
        }
        Some(path) => match std::fs::write(path, text) {
            Ok(()) => {
                note(&format!("wrote {}", path.display()));
                Exit::Completed
            }
            Err(error) => complain(Exit::Internal, &format!("cannot write {}: {error}", path.display())),
        },
    }
}

/// Whether closed classes visit a queue with several servers.
fn has_closed_multi_servers(network: &QueueingNetwork) -> bool {
    let has_several_servers =
        |station: &Station| matches!(&station.kind, StationKind::Queue(queue) if queue.servers > 1);
    network.classes.iter().any(CustomerClass::is_closed) && network.stations.iter().any(has_several_servers)
}
