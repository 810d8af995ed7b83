//! `busyhour cluster hub` and `busyhour cluster init`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use busyhour_cluster::{Hub, HubFiles, HubSettings, Invitation, create_hub_files, find_server};
use busyhour_terminal::exit::{Exit, complain, hinted, print, say};
use busyhour_terminal::signals::Signals;

use super::args::{HubArgs, HubFilesArgs, InitArgs};
use crate::agents::failure::failure;

/// Interval at which the server is checked.
const CHECK: Duration = Duration::from_millis(500);

/// Runs `busyhour cluster hub`.
pub(super) fn main(args: &HubArgs) -> Exit {
    let Some(server) = server(args.server.as_deref()) else {
        let message = "the program nats-server is not in the PATH";
        let hint = "install it (Debian: apt-get install nats-server; with Go: go install \
                    github.com/nats-io/nats-server/v2@latest), or give its path with --server";
        return complain(Exit::Usage, &hinted(message.to_owned(), hint));
    };
    let hub = match Hub::start(&server, &settings(&args.files)) {
        Ok(hub) => hub,
        Err(error) => {
            let (exit, message) = failure(&error);
            return complain(exit, &message);
        }
    };
    tell_new_certificates(&hub.files);
    match instructions(&hub.files, hub.port) {
        Ok(text) => {
            print(&text);
        }
        Err(message) => return complain(Exit::Internal, &message),
    }
    match wait(hub) {
        Ok(exit) => exit,
        Err(error) => complain(Exit::Internal, &format!("cannot wait for signals: {error}")),
    }
}

/// Waits for a signal or the end of the server.
fn wait(mut hub: Hub) -> std::io::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut signals = Signals::new()?;
        let mut check = tokio::time::interval(CHECK);
        loop {
            tokio::select! {
                () = signals.next_stop() => {
                    say("the hub has ended");
                    return Ok(Exit::Completed);
                }
                _ = check.tick() => if !hub.is_running() {
                    let log = hub.files.log();
                    return Ok(complain(Exit::Internal, &format!("the NATS server has ended; see {}", log.display())));
                }
            }
        }
    })
}

/// Runs `busyhour cluster init`.
pub(super) fn init(args: &InitArgs) -> Exit {
    let files = match create_hub_files(&settings(&args.files)) {
        Ok(files) => files,
        Err(error) => {
            let (exit, message) = failure(&error);
            return complain(exit, &message);
        }
    };
    tell_new_certificates(&files);
    print(&format!(
        "Files of the hub are in {}.\nStart it with   busyhour cluster hub --dir {}\n",
        files.dir.display(),
        files.dir.display()
    ));
    Exit::Completed
}

/// Warns that earlier invitations are void.
fn tell_new_certificates(files: &HubFiles) {
    if files.has_new_certificates {
        say(&format!(
            "warning: the certificate of the hub in {} was not valid for the hosts of --host; it was replaced, and earlier \
             invitations are void",
            files.dir.display()
        ));
    }
}

fn settings(args: &HubFilesArgs) -> HubSettings {
    let mut hosts = args.hosts.clone();
    if hosts.is_empty() && !args.listen.is_unspecified() {
        hosts.push(args.listen.to_string());
    }
    HubSettings { dir: args.dir.clone(), listen: args.listen, port: args.port, hosts }
}

fn server(given: Option<&Path>) -> Option<PathBuf> {
    match given {
        Some(path) => Some(path.to_owned()),
        None => {
            let path = std::env::var_os("PATH").unwrap_or_default();
            // Debian installs the server in a directory that is only in the PATH of the administrator.
            let more = std::ffi::OsString::from("/usr/sbin:/usr/local/sbin");
            find_server(&path).or_else(|| find_server(&more))
        }
    }
}

/// The next commands of the user.
fn instructions(files: &HubFiles, port: u16) -> Result<String, String> {
    let agent = Invitation::read(&files.agent().display().to_string()).map_err(|error| error.to_string())?;
    Ok(format!(
        "Hub at {} (port {port}). Invitations contain secret keys.\n\n\
         On each machine that generates load, with the same version of busyhour:\n  \
         busyhour cluster agent --join {}\n\n\
         Here, or from a copy of the file on another machine:\n  \
         busyhour cluster agent --join {}\n  \
         busyhour cluster list --on {}\n  \
         busyhour run PLAN --on {}\n\n\
         Ctrl-C ends the hub.\n",
        agent.url,
        agent.line(),
        files.agent().display(),
        files.controller().display(),
        files.controller().display(),
    ))
}
