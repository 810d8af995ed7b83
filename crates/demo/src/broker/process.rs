//! Handles a request in a new process.

use std::io;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

use super::cgi::{self, CgiRequest};
use super::options::{BrokerProgram, PATIENCE};
use super::parameters::Parameters;
use super::pool::PoolError;
use super::reply::Reply;

/// Starts the program, answers its requests for records, and returns its response.
pub(super) fn answer(
    program: &BrokerProgram,
    request: &CgiRequest,
    process: impl FnOnce(Parameters) -> Result<Vec<u8>, PoolError>,
) -> io::Result<Reply> {
    let (agents, input) = UnixStream::pair()?;
    let (output, child_output) = UnixStream::pair()?;
    for stream in [&agents, &output] {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
    }
    // The command owns the ends of the child; it is dropped here, so that the end of the child closes them.
    let child = Command::new(&program.path)
        .args(&program.arguments)
        .env("GATEWAY_INTERFACE", "CGI/1.1")
        .env("REQUEST_METHOD", "GET")
        .env("QUERY_STRING", &request.query)
        .env("HTTP_ACCEPT_ENCODING", &request.accept_encoding)
        .stdin(Stdio::from(OwnedFd::from(input)))
        .stdout(Stdio::from(OwnedFd::from(child_output)))
        .spawn()?;
    let mut child = KilledAtEnd(child);
    cgi::serve(&agents, process)?;
    let reply = cgi::read_reply(&output)?;
    // The process has written its response; without its connections, it cannot wait for anything.
    let _ = agents.shutdown(Shutdown::Both);
    child.0.wait()?;
    Ok(reply)
}

/// A process that is killed if it has not ended.
struct KilledAtEnd(Child);

impl Drop for KilledAtEnd {
    fn drop(&mut self) {
        if !matches!(self.0.try_wait(), Ok(Some(_))) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
}
