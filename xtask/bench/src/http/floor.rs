//! The lower bound for the ticket workload: a bare loop that sends and receives the same mix of bytes and does nothing
//! else. The difference is the cost of the generator.
//!
//! Each exchange corresponds to one row of a result file: the sizes of request and response, and whether it uses a new
//! connection. Client and server know the sizes, so that neither parses anything.

use std::collections::HashMap;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use rustix::event::epoll;
use xtask_common::results;

/// The subcommand with which this program starts itself as the client.
pub const CLIENT: &str = "floor-client";

/// The length of a request's head: the size of the response and the size of the request, in decimal digits.
const HEAD: usize = 20;

/// A request and its response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Exchange {
    sent: usize,
    received: usize,
    fresh: bool,
}

/// Writes the exchanges of a result file, one per line; returns their number.
pub fn write_mix(rows: &Path, is_fresh: fn(&str) -> bool, mix: &Path) -> Result<usize> {
    let mut text = String::new();
    let mut count = 0;
    results::each_row(rows, |row| {
        // Failures without a response transferred no bytes.
        if row.sent >= HEAD && row.received > 0 {
            text += &format!("{} {} {}\n", row.sent, row.received, u8::from(is_fresh(&row.label)));
            count += 1;
        }
    })?;
    ensure!(count > 0, "the result file contains no exchange");
    std::fs::write(mix, text)?;
    Ok(count)
}

fn read_mix(path: &Path) -> Result<Vec<Exchange>> {
    let text = std::fs::read_to_string(path)?;
    let exchange = |line: &str| {
        let mut numbers = line.split(' ').map(str::parse);
        let mut next = || numbers.next().context("incomplete line")?.context("not a number");
        Ok(Exchange { sent: next()?, received: next()?, fresh: next()? != 0 })
    };
    text.lines().map(exchange).collect()
}

/// Serves exchanges on threads of this process until it ends; returns the port.
pub fn serve() -> Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let port = listener.local_addr()?.port();
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            // The thread ends when the client disconnects.
            std::thread::spawn(move || respond(connection));
        }
    });
    Ok(port)
}

fn respond(mut connection: TcpStream) -> std::io::Result<()> {
    connection.set_nodelay(true)?;
    let mut body = vec![b'x'; 1 << 20];
    let mut request = vec![0; 1 << 20];
    let mut have = 0;
    loop {
        match connection.read(&mut request[have..])? {
            0 => return Ok(()),
            more => have += more,
        }
        if have < HEAD {
            continue;
        }
        let Some((received, sent)) = lengths(&request[..HEAD]) else { return Ok(()) };
        if have < sent {
            continue;
        }
        // Exchanges are sequential, so that no bytes follow the request.
        have = 0;
        if body.len() < received {
            body.resize(received, b'x');
        }
        connection.write_all(&body[..received])?;
    }
}

fn head(exchange: Exchange) -> String {
    format!("{:010}{:010}", exchange.received, exchange.sent)
}

fn lengths(head: &[u8]) -> Option<(usize, usize)> {
    let (received, sent) = std::str::from_utf8(head).ok()?.split_at_checked(HEAD / 2)?;
    Some((received.parse().ok()?, sent.parse().ok()?))
}

/// The arguments of the client.
#[derive(Debug, clap::Args)]
pub struct Client {
    /// Port of the server
    port: u16,
    /// File with the exchanges
    mix: PathBuf,
    /// Connections to use at the same time
    connections: u64,
    /// Seconds to run
    seconds: u64,
}

impl Client {
    /// Repeats the exchanges of the file until the time is over, and prints their number.
    ///
    /// # Errors
    /// The file cannot be read, or a connection fails.
    pub fn run(&self) -> Result<()> {
        let mix = read_mix(&self.mix)?;
        println!("{}", run_exchanges(self.port, &mix, self.connections, Duration::from_secs(self.seconds))?);
        Ok(())
    }
}

/// A connection, and the number of response bytes that are still missing.
struct Connection {
    stream: TcpStream,
    missing: usize,
}

fn run_exchanges(port: u16, mix: &[Exchange], connections: u64, run: Duration) -> Result<u64> {
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let connect = |number: u64| -> Result<TcpStream> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        epoll::add(
            &poll,
            stream.as_fd(),
            epoll::EventData::new_u64(number),
            epoll::EventFlags::IN | epoll::EventFlags::ET,
        )?;
        Ok(stream)
    };
    let longest = mix.iter().map(|exchange| exchange.sent).max().unwrap_or(HEAD);
    let mut request = vec![b'x'; longest];
    let mut next = mix.iter().cycle();
    // Large enough for a complete image, so that it is read with as few calls as possible.
    let mut buffer = vec![0; 256 * 1024];
    let mut active: HashMap<u64, Connection> = HashMap::new();
    let mut send = |connection: &mut Option<Connection>, number: u64| -> Result<()> {
        let exchange = *next.next().context("an empty mix")?;
        // Dropping a connection closes it and removes it from the poll.
        let reused = connection.take().filter(|_| !exchange.fresh);
        let mut stream = match reused {
            Some(connection) => connection.stream,
            None => connect(number)?,
        };
        request[..HEAD].copy_from_slice(head(exchange).as_bytes());
        stream.write_all(&request[..exchange.sent])?;
        *connection = Some(Connection { stream, missing: exchange.received });
        Ok(())
    };
    for number in 0..connections {
        let mut connection = None;
        send(&mut connection, number)?;
        active.extend(connection.map(|connection| (number, connection)));
    }
    let end = Instant::now() + run;
    let mut done = 0;
    let mut events = Vec::with_capacity(256);
    while Instant::now() < end {
        events.clear();
        epoll::wait(&poll, rustix::buffer::spare_capacity(&mut events), None)?;
        for event in &events {
            let number = event.data.u64();
            let Some(mut connection) = active.remove(&number) else { continue };
            if receive(&mut connection, &mut buffer)? {
                done += 1;
                let mut free = Some(connection);
                send(&mut free, number)?;
                active.extend(free.map(|connection| (number, connection)));
            } else {
                active.insert(number, connection);
            }
        }
    }
    Ok(done)
}

/// Reads the available bytes; returns whether the response is complete.
fn receive(connection: &mut Connection, buffer: &mut [u8]) -> Result<bool> {
    while connection.missing > 0 {
        match connection.stream.read(buffer) {
            Ok(0) => bail!("the server closed a connection"),
            Ok(read) => connection.missing -= read,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_parsed() {
        let exchange = Exchange { sent: 321, received: 193_000, fresh: true };
        assert_eq!(head(exchange).len(), HEAD);
        assert_eq!(lengths(head(exchange).as_bytes()), Some((193_000, 321)));
        assert_eq!(lengths(b"GET / HTTP/1.1\r\n\r\n.."), None);
    }

    #[test]
    fn exchanges_are_repeated() {
        let port = serve().unwrap();
        let mix = [(100, 193_000, false), (20, 1, true), (5_000, 41_711, true)]
            .map(|(sent, received, fresh)| Exchange { sent, received, fresh });
        assert!(run_exchanges(port, &mix, 3, Duration::from_millis(50)).unwrap() > 0);
    }

    #[test]
    fn mixes_are_written_and_read() {
        let folder = tempfile::tempdir().unwrap();
        let (rows, mix) = (folder.path().join("rows"), folder.path().join("mix"));
        std::fs::write(
            &rows,
            "timeStamp,elapsed,label,success,bytes,sentBytes\n\
                    1,1,new,true,300,150\n1,1,kept,true,41711,149\n1,1,lost,false,0,0\n",
        )
        .unwrap();
        assert_eq!(write_mix(&rows, |label| label == "new", &mix).unwrap(), 2);
        let expected = [
            Exchange { sent: 150, received: 300, fresh: true },
            Exchange { sent: 149, received: 41711, fresh: false },
        ];
        assert_eq!(read_mix(&mix).unwrap(), expected);
    }
}
