//! The floor below the ticket workload: a bare loop that sends and receives the same mix of bytes and does nothing
//! else. What a generator uses beyond it, it uses for being a generator.
//!
//! Each exchange is one row of a result file: so many bytes sent, so many received, on a connection that is kept or
//! made for it. Client and server know the lengths, so that neither parses anything.

use std::collections::HashMap;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use rustix::event::epoll;
use xtask_common::results;

/// The word by which this program starts itself as the client.
pub const CLIENT: &str = "floor-client";

/// A request begins with the length of its answer, in so many digits, and its own length.
const HEAD: usize = 20;

/// One request and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Exchange {
    sent: usize,
    received: usize,
    fresh: bool,
}

/// Writes down the exchanges of a result file, one a line; returns how many.
pub fn write_mix(rows: &Path, is_fresh: fn(&str) -> bool, mix: &Path) -> Result<usize> {
    let mut text = String::new();
    let mut count = 0;
    results::each_row(rows, |row| {
        // A failure without an answer moved no bytes.
        if row.sent >= HEAD && row.received > 0 {
            text += &format!("{} {} {}\n", row.sent, row.received, u8::from(is_fresh(&row.label)));
            count += 1;
        }
    })?;
    ensure!(count > 0, "the result file holds no exchange");
    std::fs::write(mix, text)?;
    Ok(count)
}

fn read_mix(path: &Path) -> Result<Vec<Exchange>> {
    let text = std::fs::read_to_string(path)?;
    let exchange = |line: &str| {
        let mut numbers = line.split(' ').map(str::parse);
        let mut next = || numbers.next().context("a short line")?.context("not a number");
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
            // A client that goes away ends its thread.
            std::thread::spawn(move || answer(connection));
        }
    });
    Ok(port)
}

fn answer(mut connection: TcpStream) -> std::io::Result<()> {
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
        // One exchange at a time, so nothing follows the request.
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

/// Arguments of the client.
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
    /// Repeats the exchanges of the file until the time is over, and prints how many it made.
    ///
    /// # Errors
    /// Fails when the file cannot be read or a connection fails.
    pub fn run(&self) -> Result<()> {
        let mix = read_mix(&self.mix)?;
        println!("{}", go(self.port, &mix, self.connections, Duration::from_secs(self.seconds))?);
        Ok(())
    }
}

/// A connection and what it still waits for.
struct Line {
    stream: TcpStream,
    missing: usize,
}

fn go(port: u16, mix: &[Exchange], connections: u64, run: Duration) -> Result<u64> {
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
    // A whole image fits, so that it is read in as few calls as its arrival allows.
    let mut buffer = vec![0; 256 * 1024];
    let mut lines: HashMap<u64, Line> = HashMap::new();
    let mut send = |line: &mut Option<Line>, number: u64| -> Result<()> {
        let exchange = *next.next().context("an empty mix")?;
        // Dropping a connection closes it and takes it out of the poll.
        let kept = line.take().filter(|_| !exchange.fresh);
        let mut stream = match kept {
            Some(line) => line.stream,
            None => connect(number)?,
        };
        request[..HEAD].copy_from_slice(head(exchange).as_bytes());
        stream.write_all(&request[..exchange.sent])?;
        *line = Some(Line { stream, missing: exchange.received });
        Ok(())
    };
    for number in 0..connections {
        let mut line = None;
        send(&mut line, number)?;
        lines.extend(line.map(|line| (number, line)));
    }
    let end = Instant::now() + run;
    let mut done = 0;
    let mut events = Vec::with_capacity(256);
    while Instant::now() < end {
        events.clear();
        epoll::wait(&poll, rustix::buffer::spare_capacity(&mut events), None)?;
        for event in &events {
            let number = event.data.u64();
            let Some(mut line) = lines.remove(&number) else { continue };
            if receive(&mut line, &mut buffer)? {
                done += 1;
                let mut free = Some(line);
                send(&mut free, number)?;
                lines.extend(free.map(|line| (number, line)));
            } else {
                lines.insert(number, line);
            }
        }
    }
    Ok(done)
}

/// Reads what there is; whether the answer is whole.
fn receive(line: &mut Line, buffer: &mut [u8]) -> Result<bool> {
    while line.missing > 0 {
        match line.stream.read(buffer) {
            Ok(0) => bail!("the server closed a connection"),
            Ok(read) => line.missing -= read,
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
    fn a_head_is_read_back() {
        let exchange = Exchange { sent: 321, received: 193_000, fresh: true };
        assert_eq!(head(exchange).len(), HEAD);
        assert_eq!(lengths(head(exchange).as_bytes()), Some((193_000, 321)));
        assert_eq!(lengths(b"GET / HTTP/1.1\r\n\r\n.."), None);
    }

    #[test]
    fn exchanges_go_round() {
        let port = serve().unwrap();
        let mix = [(100, 193_000, false), (20, 1, true), (5_000, 41_711, true)]
            .map(|(sent, received, fresh)| Exchange { sent, received, fresh });
        assert!(go(port, &mix, 3, Duration::from_millis(50)).unwrap() > 0);
    }

    #[test]
    fn a_mix_is_written_and_read() {
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
