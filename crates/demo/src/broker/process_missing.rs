//! Processes of requests on systems that have no Unix sockets.

use std::io;

use super::cgi::CgiRequest;
use super::options::BrokerProgram;
use super::parameters::Parameters;
use super::pool::PoolError;
use super::reply::Reply;

/// Always fails.
pub(super) fn answer(
    _program: &BrokerProgram,
    _request: &CgiRequest,
    _process: impl FnOnce(Parameters) -> Result<Vec<u8>, PoolError>,
) -> io::Result<Reply> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "a process per request needs Unix"))
}
