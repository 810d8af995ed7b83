//! More connections than one address has local ports, in a separate network namespace, which Linux lets an unprivileged
//! process create (`unshare`).

#![expect(clippy::print_stderr, reason = "a test that is skipped prints why")]

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, TcpListener};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use busyhour_http::HttpSampler;

use crate::server::ok;
use crate::test_user::{TestUser, get, text};

/// The file with the range of local ports that the system assigns.
const RANGE: &str = "/proc/sys/net/ipv4/ip_local_port_range";

/// The number of local ports in the namespace.
const PORTS: usize = 8;

#[test]
fn connections_use_other_local_addresses_when_ports_are_exhausted() {
    let range = std::fs::read_to_string(RANGE).unwrap_or_default();
    if range.split_whitespace().eq(["20000", "20007"]) {
        return test_in_namespace();
    }
    // Prints READY after the namespace is created, to distinguish failures of the test from missing namespaces.
    let script = "ip link set lo up && echo 20000 20007 > $1 && echo READY && \
        exec \"$0\" --exact local_ports::connections_use_other_local_addresses_when_ports_are_exhausted --nocapture";
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--net", "sh", "-c", script]);
    command.arg(std::env::current_exe().unwrap()).arg(RANGE).stdin(Stdio::null());
    let printed = match command.output() {
        Ok(output) => output,
        Err(error) => return eprintln!("SKIPPED: no network namespace can be created: unshare: {error}"),
    };
    let out = String::from_utf8_lossy(&printed.stdout).into_owned();
    let errors = String::from_utf8_lossy(&printed.stderr).into_owned();
    if !out.contains("READY") {
        return eprintln!("SKIPPED: no network namespace can be created: {errors}");
    }
    assert!(printed.status.success() && out.contains("1 passed"), "{out}\n{errors}");
}

fn test_in_namespace() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let peers = Arc::<Mutex<Vec<IpAddr>>>::default();
    let seen = Arc::clone(&peers);
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            seen.lock().unwrap().push(stream.peer_addr().unwrap().ip());
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                head.push(byte[0]);
            }
            stream.write_all(&ok(b"hello")).unwrap();
            open.push(stream);
        }
    });
    let mut users: Vec<TestUser> = (0..5 * PORTS).map(|_| TestUser::new()).collect();
    for user in &mut users {
        let result = user.sample(&get(port, "/"));
        assert!(result.outcome.success, "{}", result.outcome.message);
    }
    let peers = peers.lock().unwrap().clone();
    assert_eq!(peers.len(), 5 * PORTS, "one connection for each user");
    let default_address: IpAddr = [127, 0, 0, 1].into();
    assert!(
        peers.iter().take(PORTS - 1).all(|peer| *peer == default_address),
        "the default address is used first: {peers:?}"
    );
    let addresses: BTreeSet<IpAddr> = peers.into_iter().collect();
    assert!(addresses.len() >= 5, "{addresses:?}");

    // Without other addresses, the sample fails as in JMeter.
    let six = TcpListener::bind("[::1]:30000").map(|listener| {
        std::thread::spawn(move || listener.incoming().map(Result::unwrap).collect::<Vec<_>>());
    });
    if six.is_err() {
        return eprintln!("SKIPPED: the network has no IPv6");
    }
    let used: Vec<_> = (0..=PORTS).map(|_| std::net::TcpStream::connect("[::1]:30000")).collect();
    assert!(used.iter().any(Result::is_err), "the ports are exhausted");
    let sampler = HttpSampler { domain: text("[::1]"), ..get(30_000, "/") };
    let (code, message) = TestUser::new().outcome(&sampler);
    assert_eq!(code, "Non HTTP response code: java.net.NoRouteToHostException");
    assert_eq!(message, "Non HTTP response message: Cannot assign requested address");
}
