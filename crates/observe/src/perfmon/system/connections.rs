//! Numbers of TCP sockets by state.

use std::collections::HashSet;

use super::super::request::TcpField;
use crate::sock_diag::TcpState;
use crate::tcp_table::TcpRow;

/// Numbers of sockets. The time to count them is linear in their number.
#[derive(Debug, Default)]
pub(super) struct Connections {
    /// Numbers of sockets, indexed by the kernel's number of the state.
    states: [u32; 16],
    inbound: u32,
    outbound: u32,
}

impl Connections {
    /// Counts sockets.
    pub(super) fn count(rows: &[TcpRow]) -> Self {
        let is_listening = |row: &&TcpRow| row.state == TcpState::Listen;
        let listening: HashSet<u16> = rows.iter().filter(is_listening).map(|row| row.local.port()).collect();
        let mut connections = Connections::default();
        for row in rows {
            connections.states[row.state as usize] += 1;
            if !is_listening(&row) {
                let is_inbound = listening.contains(&row.local.port());
                *(if is_inbound { &mut connections.inbound } else { &mut connections.outbound }) += 1;
            }
        }
        connections
    }

    pub(super) fn of_field(&self, field: TcpField) -> f64 {
        let of = |state: TcpState| self.states[state as usize];
        f64::from(match field {
            TcpField::Inbound => self.inbound,
            TcpField::Outbound => self.outbound,
            TcpField::Established => of(TcpState::Established),
            // Newer kernels have a separate state for connections that the peer is opening.
            TcpField::SynReceived => of(TcpState::SynReceived) + of(TcpState::NewSynReceived),
            TcpField::FinWait1 => of(TcpState::FinWait1),
            TcpField::FinWait2 => of(TcpState::FinWait2),
            TcpField::TimeWait => of(TcpState::TimeWait),
            TcpField::Close => of(TcpState::Close),
            TcpField::CloseWait => of(TcpState::CloseWait),
            TcpField::LastAck => of(TcpState::LastAck),
            TcpField::Listen => of(TcpState::Listen),
            TcpField::Closing => of(TcpState::Closing),
            // States that Linux does not have; requests for them are refused.
            TcpField::Bound | TcpField::Idle => return f64::NAN,
        })
    }
}
