//! JMeter's stop port: `Shutdown` and `StopTestNow` in a UDP packet to 127.0.0.1.

use std::ops::RangeInclusive;

use tokio::net::UdpSocket;

/// A request in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PortCommand {
    /// Finish the current samples, then end.
    Shutdown,
    /// End at once.
    StopTestNow,
}

/// JMeter's stop ports: `jmeterengine.nongui.port` to `jmeterengine.nongui.maxport`; `None` if the first is 0.
pub(crate) fn ports<'p>(property: impl Fn(&str) -> Option<&'p str>) -> Option<RangeInclusive<u16>> {
    let number =
        |name: &str, default: u16| property(name).and_then(|text| text.parse().ok()).unwrap_or(default);
    let first = number("jmeterengine.nongui.port", 4445);
    let last = number("jmeterengine.nongui.maxport", 4455);
    (first > 0).then(|| first..=last.max(first))
}

/// Listens on the first free port; `None` if there is none.
pub(crate) async fn listen(ports: RangeInclusive<u16>) -> Option<UdpSocket> {
    for port in ports {
        if let Ok(socket) = UdpSocket::bind(("127.0.0.1", port)).await {
            return Some(socket);
        }
    }
    None
}

/// Waits for the next request; ignores other packets.
pub(crate) async fn next(socket: &UdpSocket) -> PortCommand {
    let mut packet = [0; 64];
    loop {
        let Ok((length, _)) = socket.recv_from(&mut packet).await else {
            std::future::pending::<()>().await;
            continue;
        };
        match packet[..length].trim_ascii() {
            b"Shutdown" => return PortCommand::Shutdown,
            b"StopTestNow" => return PortCommand::StopTestNow,
            _ => {}
        }
    }
}
