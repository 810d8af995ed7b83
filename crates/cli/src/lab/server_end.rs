//! The end of a server that has no end of its own: a signal, or the end of standard input.

use std::io::Read as _;

use tokio::sync::oneshot;

use crate::stop_signals::Signals;

/// Start of the line in which a server prints its address.
pub(crate) const LISTENING: &str = "listening on ";

/// Waits until standard input is closed.
pub(crate) fn wait_for_stdin() {
    let mut byte = [0];
    while std::io::stdin().read(&mut byte).is_ok_and(|read| read > 0) {}
}

/// The end of a server, from whose creation on signals do not end the process.
pub(crate) struct ServerEnd {
    signals: Signals,
    /// Completes when standard input is closed; `None` if a signal ends the server.
    stdin_closed: Option<oneshot::Receiver<()>>,
}

impl ServerEnd {
    /// Must be called inside a runtime. With `until_stdin_closes`, signals are ignored: a Ctrl-C that is meant for the
    /// program that started this server reaches it, too.
    pub(crate) fn new(until_stdin_closes: bool) -> std::io::Result<Self> {
        let signals = Signals::new()?;
        let stdin_closed = if until_stdin_closes {
            let (closed, receiver) = oneshot::channel();
            let watch = move || {
                wait_for_stdin();
                let _ = closed.send(());
            };
            // The thread ends with the process.
            std::thread::Builder::new().name("stdin".into()).spawn(watch)?;
            Some(receiver)
        } else {
            None
        };
        Ok(Self { signals, stdin_closed })
    }

    /// Waits for the end.
    pub(crate) async fn wait(mut self) {
        match self.stdin_closed {
            Some(closed) => {
                let _ = closed.await;
            }
            None => self.signals.next_stop().await,
        }
    }
}
