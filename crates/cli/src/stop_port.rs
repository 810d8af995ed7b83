//! JMeter's stop port: `Shutdown` and `StopTestNow` in a UDP packet to 127.0.0.1.

use busyhour_engine::run::Properties;
use tokio::net::UdpSocket;

/// What a packet asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Let samples finish.
    Shutdown,
    /// End at once.
    StopTestNow,
}

/// Listens where JMeter does: `jmeterengine.nongui.port`, and the ports after it as far as `jmeterengine.nongui.maxport`
/// when it is taken. `None` when the port is 0 or all are taken.
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

/// The next order; packets that say something else are passed over.
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
