//! Begin and end of a server that runs without a time limit: it ends on a signal, or at the end of standard input.

use std::io::Read as _;
use std::net::{SocketAddr, TcpListener};

use busyhour_diagnostic::io_hints;
use busyhour_terminal::exit::{Exit, complain};
use busyhour_terminal::signals::Signals;
use tokio::sync::oneshot;

/// Prefix of the line in which a server prints its address.
pub(crate) const LISTENING: &str = "listening on ";

/// Binds the listening socket of a server. If that fails, it prints the error.
pub(super) fn listen(address: SocketAddr) -> Result<TcpListener, Exit> {
    busyhour_demo::listen(address).map_err(|error| {
        let why = match error.kind() {
            std::io::ErrorKind::AddrInUse => {
                format!("{error}; choose another port with --port, or 0 for a free one")
            }
            _ => io_hints::with_hint(&error),
        };
        complain(Exit::Internal, &format!("cannot listen on {address}: {why}"))
    })
}

/// Waits until standard input is closed.
pub(crate) fn wait_for_stdin() {
    let mut byte = [0];
    while std::io::stdin().read(&mut byte).is_ok_and(|read| read > 0) {}
}

/// Waits for the end of a server. Once this value has been created, signals do not end the process by default.
pub(crate) struct ServerEnd {
    signals: Signals,
    /// Completes when standard input is closed; `None` if a signal ends the server.
    stdin_closed: Option<oneshot::Receiver<()>>,
}

impl ServerEnd {
    /// Must be called inside a runtime. With `until_stdin_closes`, signals are ignored, because a Ctrl-C that is meant for
    /// the program that started this server is also sent to this process.
    pub(crate) fn new(until_stdin_closes: bool) -> std::io::Result<Self> {
        let signals = Signals::new()?;
        let stdin_closed = if until_stdin_closes {
            let (closed, receiver) = oneshot::channel();
            let watch = move || {
                wait_for_stdin();
                let _ = closed.send(());
            };
            // The thread ends together with the process.
            std::thread::Builder::new().name("stdin".into()).spawn(watch)?;
            Some(receiver)
        } else {
            None
        };
        Ok(Self { signals, stdin_closed })
    }

    /// Waits until the server must end.
    pub(crate) async fn wait(mut self) {
        match self.stdin_closed {
            Some(closed) => {
                let _ = closed.await;
            }
            None => self.signals.next_stop().await,
        }
    }
}
