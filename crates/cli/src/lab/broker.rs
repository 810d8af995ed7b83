//! `busyhour lab server broker`: a front end with a queue and a fixed number of agents.

use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroUsize;

use busyhour_demo::{
    BROKER_AGENTS_MAX, BROKER_QUEUE_MAX, BrokerFront, BrokerOptions, BrokerProgram, BrokerServer, CgiRequest,
};
use busyhour_diagnostic::io_hints;
use busyhour_terminal::exit::{Exit, complain, print, say};
use clap::{Args, ValueEnum};

use super::server_end::{LISTENING, ServerEnd, listen};

/// Arguments of the process of a request.
const ANSWER_REQUEST: [&str; 4] = ["lab", "server", "broker", "--answer-request"];

/// Options of the broker. All are optional, so that options that were given can be rejected for other servers.
#[derive(Clone, Debug, Default, PartialEq, Args)]
#[command(next_help_heading = "Broker")]
pub(crate) struct BrokerArgs {
    /// Number of agents, from 1 to 256 (default: 10); an agent works on one request at a time.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=BROKER_AGENTS_MAX as i64))]
    agents: Option<u32>,
    /// Number of requests that can wait for an agent, from 0 to 10000 (default: 100).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=BROKER_QUEUE_MAX as i64))]
    queue: Option<u32>,
    /// Front end (default: threads).
    #[arg(long, value_name = "KIND")]
    front: Option<FrontName>,
    /// Answer the request in the environment.
    #[arg(long, hide = true)]
    answer_request: bool,
}

/// The names of [`BrokerArgs`], for messages.
pub(crate) const OPTION_NAMES: &str = "--agents, --queue and --front";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FrontName {
    /// A thread for each connection.
    Threads,
    /// A new process for each request, as with CGI.
    Process,
}

impl BrokerArgs {
    fn options(&self) -> io::Result<BrokerOptions> {
        let defaults = BrokerOptions::default();
        let number = |value: Option<u32>| value.and_then(|value| usize::try_from(value).ok());
        let front = match self.front {
            Some(FrontName::Threads) | None => BrokerFront::Threads,
            Some(FrontName::Process) => BrokerFront::Processes(BrokerProgram {
                path: std::env::current_exe()?,
                arguments: ANSWER_REQUEST.map(OsString::from).to_vec(),
            }),
        };
        Ok(BrokerOptions {
            agents: number(self.agents).and_then(NonZeroUsize::new).unwrap_or(defaults.agents),
            queue: number(self.queue).unwrap_or(defaults.queue),
            front,
        })
    }
}

/// Starts a broker and waits for its end, or answers one request of a broker.
pub(crate) fn serve(args: &BrokerArgs, port: u16, until_stdin_closes: bool) -> Exit {
    if args.answer_request {
        return match answer_request() {
            Ok(()) => Exit::Completed,
            Err(error) => complain(Exit::Internal, &format!("the request cannot be answered: {error}")),
        };
    }
    let listener = match listen(SocketAddr::from(([127, 0, 0, 1], port))) {
        Ok(listener) => listener,
        Err(exit) => return exit,
    };
    let failed = |error: &io::Error| {
        complain(Exit::Internal, &format!("the broker cannot be started: {}", io_hints::with_hint(error)))
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&error),
    };
    let served: io::Result<()> = runtime.block_on(async {
        // This is created before the address is printed, so that a signal immediately after the output ends the broker
        // properly.
        let end = ServerEnd::new(until_stdin_closes)?;
        let server = BrokerServer::start(listener, args.options()?)?;
        print(&format!("{LISTENING}http://{}\n", server.address()));
        if !until_stdin_closes {
            say("Ctrl-C ends the broker");
        }
        end.wait().await;
        drop(server);
        Ok(())
    });
    match served {
        Ok(()) => Exit::Completed,
        Err(error) => failed(&error),
    }
}

/// Answers the request in the environment. Standard input is the connection to the broker.
#[cfg(unix)]
fn answer_request() -> io::Result<()> {
    use std::os::fd::AsFd as _;
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let request =
        CgiRequest { query: variable("QUERY_STRING"), accept_encoding: variable("HTTP_ACCEPT_ENCODING") };
    let agents = std::os::unix::net::UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    busyhour_demo::answer_cgi_request(&request, agents, io::stdout().lock())
}

#[cfg(not(unix))]
fn answer_request() -> io::Result<()> {
    let _ = CgiRequest::default();
    Err(io::Error::new(io::ErrorKind::Unsupported, "a process per request needs Unix"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_options_replace_the_defaults() {
        let options = BrokerArgs::default().options().unwrap();
        assert_eq!((options.agents.get(), options.queue, options.front), (10, 100, BrokerFront::Threads));
        let args = BrokerArgs {
            agents: Some(3),
            queue: Some(0),
            front: Some(FrontName::Process),
            answer_request: false,
        };
        let options = args.options().unwrap();
        assert_eq!((options.agents.get(), options.queue), (3, 0));
        assert!(matches!(options.front, BrokerFront::Processes(program) if program.arguments.len() == 4));
    }
}
