//! JMeter's stop port: `Shutdown` and `StopTestNow` in a UDP packet to 127.0.0.1.

use busyhour_program::run::Properties;
use tokio::net::UdpSocket;

/// A request in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Finish the current samples, then end.
    Shutdown,
    /// End at once.
    StopTestNow,
}

/// Listens on JMeter's stop port: the first free port from `jmeterengine.nongui.port` to `jmeterengine.nongui.maxport`.
/// Returns `None` if the first port is 0 or none is free.
pub(crate) async fn listen(properties: &Properties) -> Option<UdpSocket> {
    let first: u16 = properties.number("jmeterengine.nongui.port", 4445);
    let last: u16 = properties.number("jmeterengine.nongui.maxport", 4455);
    if first == 0 {
        return None;
    }
    for port in first..=last.max(first) {
        if let Ok(socket) = UdpSocket::bind(("127.0.0.1", port)).await {
            return Some(socket);
        }
    }
    None
}

/// Waits for the next request; ignores other packets.
pub(crate) async fn next(socket: &UdpSocket) -> Order {
    let mut packet = [0; 64];
    loop {
        let Ok((length, _)) = socket.recv_from(&mut packet).await else {
            std::future::pending::<()>().await;
            continue;
        };
        match packet[..length].trim_ascii() {
            b"Shutdown" => return Order::Shutdown,
            b"StopTestNow" => return Order::StopTestNow,
            _ => {}
        }
    }
}
