//! `busyhour cluster`: the hub, its agents, and runs on them.

mod agent;
mod agent_name;
mod args;
mod attach;
mod hub;
mod list;
mod manifests;

use busyhour_terminal::exit::Exit;

pub(crate) use args::ClusterArgs;

use args::ClusterVerb;

/// Runs the verb.
pub(crate) fn main(args: &ClusterArgs) -> Exit {
    match &args.verb {
        ClusterVerb::Hub(args) => hub::main(args),
        ClusterVerb::Init(args) => hub::init(args),
        ClusterVerb::Agent(args) => agent::main(args),
        ClusterVerb::List(args) => list::main(args),
        ClusterVerb::Attach(args) => attach::main(args),
        ClusterVerb::Manifests(args) => manifests::main(args),
    }
}
