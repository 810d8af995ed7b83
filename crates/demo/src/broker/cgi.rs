//! The exchange between the broker and the process of a request.
//!
//! As with CGI, the request is in the environment of the process, and its response is its output. Its standard input is a
//! socket to the broker: the process writes a line with its parameters and reads [`AgentLine`] and the records.

use std::io::{self, BufRead, BufReader, Read, Write};

use super::parameters::Parameters;
use super::pool::PoolError;
use super::reply::{Reply, accepts_gzip};

/// Maximum length of a line between the broker and a process, and of a header of the response, in bytes.
const LINE_BYTES_MAX: u64 = 256;

/// Maximum length of a body, in bytes: the largest records, not compressed, are about 400,000.
const BODY_BYTES_MAX: u64 = 1 << 20;

/// A request in the environment of a CGI process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CgiRequest {
    /// The variable `QUERY_STRING`.
    pub query: String,
    /// The variable `HTTP_ACCEPT_ENCODING`.
    pub accept_encoding: String,
}

/// Answers one request in a process that a broker started: asks the broker for records through `agents`, which is the
/// standard input, and writes the response to `output`.
///
/// # Errors
/// The broker closed the connection, or the output is closed.
pub fn answer_cgi_request(
    request: &CgiRequest,
    agents: impl Read + Write,
    mut output: impl Write,
) -> io::Result<()> {
    let reply = match Parameters::parse(&request.query) {
        Ok(parameters) => Reply::of_agent(ask(agents, parameters)?, accepts_gzip(&request.accept_encoding)),
        Err(error) => Reply::of_parameters(&error),
    };
    let encoding = if reply.is_gzip { "Content-Encoding: gzip\r\n" } else { "" };
    write!(output, "Status: {}\r\nContent-Type: {}\r\n{encoding}\r\n", reply.status, reply.content_type)?;
    output.write_all(&reply.body)?;
    output.flush()
}

/// Asks the broker for records.
fn ask(mut agents: impl Read + Write, parameters: Parameters) -> io::Result<Result<Vec<u8>, PoolError>> {
    agents.write_all(format!("{}\n", parameters.query()).as_bytes())?;
    let mut agents = BufReader::new(agents);
    let length = match AgentLine::parse(&read_line(&mut agents)?) {
        Some(AgentLine::Records(length)) if length <= BODY_BYTES_MAX => length,
        Some(AgentLine::Failed(error)) => return Ok(Err(error)),
        Some(AgentLine::Records(_)) | None => return Err(invalid("the broker sent an invalid line")),
    };
    let mut records = Vec::new();
    agents.take(length).read_to_end(&mut records)?;
    if records.len() as u64 == length { Ok(Ok(records)) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// The line before the records.
enum AgentLine {
    /// Records of this length follow.
    Records(u64),
    Failed(PoolError),
}

impl AgentLine {
    fn text(&self) -> String {
        match self {
            Self::Records(length) => format!("records {length}\n"),
            Self::Failed(PoolError::QueueFull) => "queue-full\n".to_owned(),
            Self::Failed(PoolError::Closed) => "closed\n".to_owned(),
        }
    }

    fn parse(line: &str) -> Option<Self> {
        match line {
            "queue-full" => Some(Self::Failed(PoolError::QueueFull)),
            "closed" => Some(Self::Failed(PoolError::Closed)),
            _ => Some(Self::Records(line.strip_prefix("records ")?.parse().ok()?)),
        }
    }
}

/// The broker's side of [`ask`]: reads the parameters, calls `process` and sends the records. Does nothing if the process
/// closes the connection first, because it rejects the parameters itself.
pub(super) fn serve(
    mut process_end: impl Read + Write,
    process: impl FnOnce(Parameters) -> Result<Vec<u8>, PoolError>,
) -> io::Result<()> {
    let line = read_line(&mut BufReader::new(&mut process_end))?;
    if line.is_empty() {
        return Ok(());
    }
    let parameters = Parameters::parse(&line).map_err(|_| invalid("the process sent invalid parameters"))?;
    match process(parameters) {
        Ok(records) => {
            process_end.write_all(AgentLine::Records(records.len() as u64).text().as_bytes())?;
            process_end.write_all(&records)
        }
        Err(error) => process_end.write_all(AgentLine::Failed(error).text().as_bytes()),
    }
}

/// Reads the response of a process up to the end of its output.
pub(super) fn read_reply(output: impl Read) -> io::Result<Reply> {
    let mut output = BufReader::new(output);
    let mut reply = Reply { status: 200, content_type: String::new(), is_gzip: false, body: Vec::new() };
    loop {
        let line = read_line(&mut output)?;
        if line.is_empty() {
            break;
        }
        match line.split_once(": ") {
            Some(("Status", status)) => {
                reply.status = status.parse().map_err(|_| invalid("the process wrote an invalid status"))?;
            }
            Some(("Content-Type", value)) => reply.content_type = value.to_owned(),
            Some(("Content-Encoding", "gzip")) => reply.is_gzip = true,
            _ => return Err(invalid("the process wrote an unknown header")),
        }
    }
    if reply.content_type.is_empty() {
        return Err(invalid("the process ended without a response"));
    }
    output.take(BODY_BYTES_MAX + 1).read_to_end(&mut reply.body)?;
    match reply.body.len() as u64 <= BODY_BYTES_MAX {
        true => Ok(reply),
        false => Err(invalid("the process wrote a body that is too long")),
    }
}

/// Reads a line without its end; empty at the end of the data.
fn read_line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    reader.take(LINE_BYTES_MAX).read_line(&mut line)?;
    match line.strip_suffix('\n') {
        Some(text) => Ok(text.strip_suffix('\r').unwrap_or(text).to_owned()),
        None if line.is_empty() => Ok(line),
        None => Err(invalid("a line is too long or incomplete")),
    }
}

fn invalid(message: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::super::records;
    use super::*;

    /// A connection whose input is known in advance.
    struct Scripted<'s> {
        input: Cursor<Vec<u8>>,
        output: &'s mut Vec<u8>,
    }

    impl Read for Scripted<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.input.read(buffer)
        }
    }

    impl Write for Scripted<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.output.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn scripted(input: impl Into<Vec<u8>>, output: &mut Vec<u8>) -> Scripted<'_> {
        Scripted { input: Cursor::new(input.into()), output }
    }

    #[test]
    fn a_process_and_the_broker_exchange_parameters_and_records() {
        let request = CgiRequest { query: "numFields=2&numRecords=3".into(), accept_encoding: "gzip".into() };
        let mut asked = Vec::new();
        // Without an answer, the process fails.
        assert!(answer_cgi_request(&request, scripted("", &mut asked), Vec::new()).is_err());
        assert_eq!(asked, b"numFields=2&numRecords=3&msdelay=0\n");
        let mut sent = Vec::new();
        let process = |parameters: Parameters| Ok(records::render(parameters.fields, parameters.records));
        serve(scripted(asked, &mut sent), process).unwrap();
        let mut output = Vec::new();
        answer_cgi_request(&request, scripted(sent, &mut Vec::new()), &mut output).unwrap();
        let reply = read_reply(output.as_slice()).unwrap();
        assert_eq!(reply, Reply::of_agent(Ok(records::render(2, 3)), true));
    }

    #[test]
    fn rejections_get_through() {
        for (query, line, status, text) in [
            ("", "queue-full\n", 503, "queue is full"),
            ("", "closed\n", 503, "closing"),
            ("msdelay=x", "", 400, "msdelay must be a whole number from 0 to 60000"),
        ] {
            let request = CgiRequest { query: query.into(), ..CgiRequest::default() };
            let mut output = Vec::new();
            answer_cgi_request(&request, scripted(line, &mut Vec::new()), &mut output).unwrap();
            let reply = read_reply(output.as_slice()).unwrap();
            assert_eq!(reply.status, status);
            assert!(String::from_utf8(reply.body).unwrap().contains(text));
        }
    }

    #[test]
    fn invalid_output_of_a_process_is_an_error() {
        let long = format!("Status: {}\r\n", "2".repeat(1_000));
        for output in ["", "Status: x\r\n\r\n", "nothing", "Status: 200\r\n\r\n", "X: y\r\n\r\n", &long] {
            assert!(read_reply(output.as_bytes()).is_err(), "{output}");
        }
        let input = "numFields=0\n";
        assert!(serve(scripted(input, &mut Vec::new()), |_| Err(PoolError::Closed)).is_err());
    }
}
