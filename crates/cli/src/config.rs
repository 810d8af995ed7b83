//! `busyhour config`: shell completions, man pages and schemas of files.

use std::path::{Path, PathBuf};

use busyhour_analysis::thresholds::ThresholdReport;
use busyhour_diagnostic::io_hints;
use busyhour_terminal::exit::{Exit, complain, note, print};
use clap::{Args, Subcommand, ValueEnum};
use clap_complete::Shell;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  busyhour config completions bash > /etc/bash_completion.d/busyhour\n  \
    busyhour config completions zsh > ~/.zfunc/_busyhour\n  \
    busyhour config man -o /usr/local/share/man/man1\n  \
    busyhour config schema model > capacity-models.schema.json")]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    verb: ConfigVerb,
}

#[derive(Debug, Subcommand)]
enum ConfigVerb {
    /// Print the script that completes commands in a shell.
    Completions {
        /// The shell.
        #[arg(value_name = "SHELL")]
        shell: Shell,
    },
    /// Print the man page of busyhour, or write the pages of all commands.
    Man {
        /// Write the pages of all commands to this directory.
        #[arg(short = 'o', long = "output", value_name = "DIR")]
        output: Option<PathBuf>,
    },
    /// Print the JSON schema of a file that busyhour reads or writes.
    Schema {
        /// The file.
        #[arg(value_name = "FILE")]
        file: SchemaOf,
    },
}

/// Files that have a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SchemaOf {
    /// Experiments (TOML).
    Experiment,
    /// Capacity models (TOML).
    Model,
    /// The outcome of thresholds (JSON).
    Thresholds,
}

/// Runs the verb. `command` is the command line without old names.
pub(crate) fn main(args: &ConfigArgs, mut command: clap::Command) -> Exit {
    match &args.verb {
        ConfigVerb::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut command, "busyhour", &mut script);
            print(&String::from_utf8_lossy(&script));
            Exit::Completed
        }
        ConfigVerb::Man { output: None } => {
            let mut page = Vec::new();
            match clap_mangen::Man::new(command).render(&mut page) {
                Ok(()) => print(&String::from_utf8_lossy(&page)),
                Err(error) => return complain(Exit::Internal, &format!("the man page: {error}")),
            };
            Exit::Completed
        }
        ConfigVerb::Man { output: Some(dir) } => man_pages(dir, command),
        ConfigVerb::Schema { file } => {
            print(&match file {
                SchemaOf::Experiment => busyhour_verb_experiment::schema(),
                SchemaOf::Model => busyhour_verb_capacity::schema(),
                SchemaOf::Thresholds => format!("{:#}\n", ThresholdReport::schema()),
            });
            Exit::Completed
        }
    }
}

fn man_pages(dir: &Path, command: clap::Command) -> Exit {
    let written = std::fs::create_dir_all(dir).and_then(|()| clap_mangen::generate_to(command, dir));
    match written {
        Ok(()) => {
            note(&format!("wrote the man pages to {}", dir.display()));
            Exit::Completed
        }
        Err(error) => complain(
            Exit::Internal,
            &format!("cannot write the man pages to {}: {}", dir.display(), io_hints::with_hint(&error)),
        ),
    }
}
