//! TCP sockets by state, from `/proc/net/tcp` and `tcp6`.

use std::collections::HashSet;

use super::super::request::TcpField;

/// Numbers of sockets. The time to count them is linear in their number.
#[derive(Debug, Default)]
pub(super) struct Connections {
    /// By the kernel's number of the state, from 1.
    states: [u32; 16],
    inbound: u32,
    outbound: u32,
}

/// The kernel's number of the state.
const LISTEN: usize = 10;

impl Connections {
    /// Counts the sockets of both files.
    pub(super) fn parse(texts: &[&str]) -> Self {
        let sockets = || texts.iter().flat_map(|text| text.lines().skip(1)).filter_map(port_and_state);
        let listening: HashSet<u16> =
            sockets().filter(|(_, state)| *state == LISTEN).map(|(port, _)| port).collect();
        let mut connections = Connections::default();
        for (port, state) in sockets() {
            if let Some(count) = connections.states.get_mut(state) {
                *count += 1;
            }
            if state != LISTEN {
                let is_inbound = listening.contains(&port);
                *(if is_inbound { &mut connections.inbound } else { &mut connections.outbound }) += 1;
            }
        }
        connections
    }

    pub(super) fn count(&self, field: TcpField) -> f64 {
        let state = match field {
            TcpField::Inbound => return f64::from(self.inbound),
            TcpField::Outbound => return f64::from(self.outbound),
            TcpField::Established => 1,
            // Also connections whose request is not complete, which newer kernels list as state 12.
            TcpField::SynReceived => return f64::from(self.states[3] + self.states[12]),
            TcpField::FinWait1 => 4,
            TcpField::FinWait2 => 5,
            TcpField::TimeWait => 6,
            TcpField::Close => 7,
            TcpField::CloseWait => 8,
            TcpField::LastAck => 9,
            TcpField::Listen => LISTEN,
            TcpField::Closing => 11,
            // States that Linux does not have; requests for them are refused.
            TcpField::Bound | TcpField::Idle => return f64::NAN,
        };
        f64::from(self.states[state])
    }
}

/// The local port and the state of a socket.
fn port_and_state(line: &str) -> Option<(u16, usize)> {
    let mut columns = line.split_ascii_whitespace().skip(1);
    let (_, port) = columns.next()?.rsplit_once(':')?;
    let state = columns.nth(1)?;
    Some((u16::from_str_radix(port, 16).ok()?, usize::from_str_radix(state, 16).ok()?))
}
