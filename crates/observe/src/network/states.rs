//! Numbers of TCP connections by state.

use busyhour_series::Metric;

use crate::budget::Budget;
use crate::declared::LabelledSeries;
use crate::reading::Reading;
use crate::sock_diag::{DiagSocket, Family, TcpState, TcpStates, WithTraffic};

/// The largest number of sockets that are counted.
const SOCKETS_MAX: usize = 1_000_000;

static METRICS: [Metric; 1] = [Metric::gauge("node_tcp_connection_states", "TCP connections by state.")];

#[derive(Debug)]
pub(super) struct StateReader {
    series: LabelledSeries,
    budget: Budget,
}

impl Default for StateReader {
    /// Counts at most once a second, and uses at most a thousandth of a core, because the kernel visits all its sockets.
    fn default() -> StateReader {
        StateReader {
            series: LabelledSeries::new(&METRICS, "state", TcpState::ALL.len()),
            budget: Budget::new(1_000_000_000, 1_000),
        }
    }
}

impl StateReader {
    pub(super) fn read(&mut self, reading: &mut Reading<'_>, diag: Result<&mut DiagSocket, &mut String>) {
        let diag = match diag {
            Ok(diag) => diag,
            Err(reason) => return reading.unavailable(&METRICS[0], reason),
        };
        let counted = self.budget.run(reading.time(), || {
            let mut counts = [0u64; TcpState::ALL.len()];
            for family in [Family::Ipv4, Family::Ipv6] {
                diag.tcp_sockets(family, TcpStates::ALL, WithTraffic::No, SOCKETS_MAX, &mut |socket| {
                    counts[socket.state as usize - 1] += 1;
                })?;
            }
            Ok(counts)
        });
        match counted {
            None => {}
            Some(Ok(counts)) => {
                for (state, name) in TcpState::ALL {
                    if let Some(series) = self.series.of(reading, name.as_bytes()) {
                        let series = series[0];
                        reading.set(series, counts[state as usize - 1] as f64);
                    }
                }
            }
            Some(Err(error)) => {
                let error: std::io::Error = error;
                reading.unavailable(&METRICS[0], &format!("sock_diag: {error}"));
            }
        }
    }
}
