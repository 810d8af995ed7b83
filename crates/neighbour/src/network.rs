//! Sends data to itself over the loopback interface.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};

use serde::Serialize;

use crate::error::NeighbourError;
use crate::pacer::Pacer;
use crate::stop::StopFlag;
use crate::workers::Work;

/// Bytes of a datagram: those of an Ethernet frame with usual headers.
pub(crate) const DATAGRAM_BYTES: usize = 1_400;

/// Datagrams per step. They fit into the default buffer of a socket, so that none is lost.
const DATAGRAMS_PER_STEP: usize = 32;

/// Bytes of a write to a TCP connection.
pub(crate) const WRITE_BYTES: usize = 64 << 10;

/// Maximum number of connections to the listener from other programs.
const STRANGERS_MAX: usize = 16;

/// The protocol of the flood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkProtocol {
    /// One connection per thread.
    Tcp,
    /// Two sockets per thread.
    Udp,
}

/// Options of the network neighbour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkOptions {
    /// The protocol.
    pub protocol: NetworkProtocol,
}

/// Sends and receives on the same thread.
pub(crate) struct NetworkWork {
    pub(crate) protocol: NetworkProtocol,
}

enum Sockets {
    Tcp { sender: TcpStream, receiver: TcpStream },
    Udp { sender: UdpSocket, receiver: UdpSocket },
}

/// The sockets of a thread.
pub(crate) struct Flow {
    sockets: Sockets,
    data: Vec<u8>,
    /// Datagrams or writes that were sent.
    pub(crate) sent: u64,
    pub(crate) sent_bytes: u64,
    pub(crate) received_bytes: u64,
}

fn failed(action: &'static str) -> impl Fn(std::io::Error) -> NeighbourError {
    move |source| NeighbourError::Socket { action, source }
}

impl Work for NetworkWork {
    type State = Flow;

    fn set_up(&self, _index: usize, _stop: &StopFlag) -> Result<Flow, NeighbourError> {
        let (sockets, length) = match self.protocol {
            NetworkProtocol::Tcp => (connect_tcp()?, WRITE_BYTES),
            NetworkProtocol::Udp => (connect_udp().map_err(failed("open sockets"))?, DATAGRAM_BYTES),
        };
        Ok(Flow { sockets, data: vec![0x5a; length], sent: 0, sent_bytes: 0, received_bytes: 0 })
    }

    fn work(&self, flow: &mut Flow, pacer: &mut Pacer<'_>) -> Result<(), NeighbourError> {
        while pacer.proceed() {
            flow.exchange()?;
        }
        // Receives the data that are still in the buffers.
        flow.receive()
    }
}

/// Two sockets that only accept datagrams from each other.
fn connect_udp() -> std::io::Result<Sockets> {
    let sender = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    let receiver = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    sender.connect(receiver.local_addr()?)?;
    receiver.connect(sender.local_addr()?)?;
    sender.set_nonblocking(true)?;
    receiver.set_nonblocking(true)?;
    Ok(Sockets::Udp { sender, receiver })
}

/// Both ends of a connection. Connections of other programs to the port are closed.
fn connect_tcp() -> Result<Sockets, NeighbourError> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed("listen"))?;
    let address = listener.local_addr().map_err(failed("listen"))?;
    let sender = TcpStream::connect(address).map_err(failed("connect"))?;
    let own = sender.local_addr().map_err(failed("connect"))?;
    for _ in 0..STRANGERS_MAX {
        let (receiver, peer) = listener.accept().map_err(failed("accept"))?;
        if peer == own {
            sender.set_nonblocking(true).map_err(failed("connect"))?;
            receiver.set_nonblocking(true).map_err(failed("accept"))?;
            return Ok(Sockets::Tcp { sender, receiver });
        }
    }
    Err(failed("accept")(ErrorKind::ConnectionRefused.into()))
}

/// The length of a transfer, or 0 if the socket is not ready.
fn transferred(result: std::io::Result<usize>, action: &'static str) -> Result<usize, NeighbourError> {
    match result {
        Ok(length) => Ok(length),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(0),
        Err(source) => Err(NeighbourError::Socket { action, source }),
    }
}

impl Flow {
    /// Sends as much as the buffers take, and receives it.
    fn exchange(&mut self) -> Result<(), NeighbourError> {
        let count = match self.sockets {
            Sockets::Tcp { .. } => 1,
            Sockets::Udp { .. } => DATAGRAMS_PER_STEP,
        };
        for _ in 0..count {
            let length = match &mut self.sockets {
                Sockets::Tcp { sender, .. } => transferred(sender.write(&self.data), "send")?,
                Sockets::Udp { sender, .. } => transferred(sender.send(&self.data), "send")?,
            };
            self.sent += u64::from(length > 0);
            self.sent_bytes += length as u64;
        }
        self.receive()
    }

    /// Receives what has arrived.
    fn receive(&mut self) -> Result<(), NeighbourError> {
        loop {
            let length = match &mut self.sockets {
                Sockets::Tcp { receiver, .. } => transferred(receiver.read(&mut self.data), "receive")?,
                Sockets::Udp { receiver, .. } => transferred(receiver.recv(&mut self.data), "receive")?,
            };
            if length == 0 {
                return Ok(());
            }
            self.received_bytes += length as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_sent_data_are_received() {
        for protocol in [NetworkProtocol::Tcp, NetworkProtocol::Udp] {
            let mut flow = NetworkWork { protocol }.set_up(0, &StopFlag::new()).unwrap();
            while flow.received_bytes < 1 << 20 {
                flow.exchange().unwrap();
            }
            assert!(flow.sent > 0 && flow.received_bytes <= flow.sent_bytes, "{protocol:?}");
            if protocol == NetworkProtocol::Udp {
                assert_eq!(flow.sent_bytes, flow.sent * DATAGRAM_BYTES as u64);
            }
        }
    }

    #[test]
    fn the_two_sockets_are_connected_to_each_other() {
        for protocol in [NetworkProtocol::Tcp, NetworkProtocol::Udp] {
            let flow = NetworkWork { protocol }.set_up(0, &StopFlag::new()).unwrap();
            let (own, peer) = match &flow.sockets {
                Sockets::Tcp { sender, receiver } => (sender.local_addr(), receiver.peer_addr()),
                Sockets::Udp { sender, receiver } => (sender.local_addr(), receiver.peer_addr()),
            };
            assert_eq!(own.unwrap(), peer.unwrap());
        }
    }
}
