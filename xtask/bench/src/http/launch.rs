//! The time from the start of the process to the first byte of its first request.

use std::io::Read as _;
use std::net::TcpListener;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use xtask_common::process::tail;
use xtask_common::table::{Table, median, number};

use super::peers::{self, Peer};
use super::setup::Bench;
use crate::process;

/// The number of starts of each generator; a start of JMeter takes seconds.
const STARTS: usize = 20;
const JMETER_STARTS: usize = 5;

/// Runs the section and prints the results.
pub fn run(bench: &Bench) -> Result<()> {
    println!("\n## Launch to first request, median\n");
    let mut table = Table::new(&["generator", "starts", "ms", "fastest", "slowest"]);
    let mut add = |name: &str, starts: usize, command: &dyn Fn(u16) -> Result<Command>| -> Result<()> {
        let mut times = Vec::new();
        for _ in 0..starts {
            times.push(measure_start(bench, command)?.as_secs_f64() * 1_000.0);
        }
        let fastest = times.iter().copied().fold(f64::INFINITY, f64::min);
        let slowest = times.iter().copied().fold(0.0, f64::max);
        table.row([
            name.to_owned(),
            starts.to_string(),
            number(median(times)),
            number(fastest),
            number(slowest),
        ]);
        Ok(())
    };
    if let Some(wrk) = &bench.wrk {
        add("wrk", STARTS, &|port| {
            Ok(peers::wrk(wrk, 1, Duration::from_secs(10), &format!("http://127.0.0.1:{port}/")))
        })?;
    }
    for peer in Peer::available(bench) {
        let starts = if peer == Peer::JMeter { JMETER_STARTS } else { STARTS };
        add(peer.name(), starts, &|port| {
            let properties = [
                ("HOST", "127.0.0.1".to_owned()),
                ("PORT", port.to_string()),
                ("USERS", "1".to_owned()),
                ("DURATION", "10".to_owned()),
            ];
            Ok(peer.prepare(bench, &bench.plan("one-request.jmx"), &properties)?.command)
        })?;
    }
    print!("{table}");
    Ok(())
}

/// Measures one start. The time ends with the first byte, because wrk writes immediately after connecting.
fn measure_start(bench: &Bench, command: &dyn Fn(u16) -> Result<Command>) -> Result<Duration> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let command = command(listener.local_addr()?.port())?;
    let log = bench.work.path().join("launch.log");
    let before = Instant::now();
    let child = process::start(command, bench.cores.generator, &bench.cores, &log)?;
    let first = wait_for_first_byte(listener, Duration::from_secs(30));
    let elapsed = before.elapsed();
    drop(child);
    first.with_context(|| tail(&log))?;
    Ok(elapsed)
}

/// Waits for a byte; a generator may first open a connection without sending anything.
fn wait_for_first_byte(listener: TcpListener, timeout: Duration) -> Result<()> {
    let (sender, received) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for connection in listener.incoming() {
            let Ok(mut connection) = connection else { return };
            let mut byte = [0];
            if matches!(connection.read(&mut byte), Ok(1)) {
                // After the timeout, the receiver no longer exists.
                let _ = sender.send(());
                return;
            }
            open.push(connection);
        }
    });
    received.recv_timeout(timeout).context("no request within 30 s")
}
