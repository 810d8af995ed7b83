//! The client's side of the protocol, as JMeter's collector implements it, without input or output.

use std::time::Duration;

use super::java_order::hash_map_order;
use super::lines::{LineTooLong, Lines};
use super::request::split_parameters;

/// A row of the table `metricConnections` of a PerfMon Metrics Collector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricRow {
    /// Host of the agent.
    pub host: String,
    /// Port of the agent, usually 4444.
    pub port: u16,
    /// Type of the metric: `CPU`, `Network I/O`.
    pub metric: String,
    /// Parameters of the metric, separated by colons.
    pub parameters: String,
}

impl MetricRow {
    /// The label of the metric's samples: host, type and parameters, or the parameter `label=` in place of all parameters.
    #[must_use]
    pub fn label(&self) -> String {
        let tokens = split_parameters(&self.parameters);
        let own = tokens.iter().rev().find_map(|token| token.strip_prefix("label=")).unwrap_or_default();
        let last = if own.is_empty() { &self.parameters } else { own };
        let separator = if last.is_empty() { "" } else { " " };
        format!("{} {}{separator}{last}", self.host, self.metric)
    }

    /// The name of the metric for the agent: in lower case, without `label=`.
    #[must_use]
    pub fn request(&self) -> String {
        let tokens = split_parameters(&self.parameters);
        let has_label = tokens.iter().any(|token| token.starts_with("label=") && token.len() > 6);
        let parameters = if has_label {
            let kept = tokens.iter().filter(|token| !token.starts_with("label="));
            // Colons within a parameter need their backslashes again.
            kept.map(|token| token.replace(':', "\\:")).collect::<Vec<_>>().join(":")
        } else {
            self.parameters.clone()
        };
        format!("{}:{parameters}", self.metric.to_lowercase()).replace(['\t', '\n', '\r'], " ")
    }
}

/// A value of a metric, or the text that the agent returned instead.
#[derive(Clone, Debug, PartialEq)]
pub enum MetricValue {
    /// The value.
    Number(f64),
    /// The agent returned this text in place of a number.
    Text(String),
}

/// An agent does not follow the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// The agent did not answer `Yep`.
    #[error("Agent is unreachable via TCP")]
    NoAgent,
    /// A line is too long.
    #[error(transparent)]
    LineTooLong(#[from] LineTooLong),
}

/// The metrics of one agent, in the order in which they are requested and recorded.
#[derive(Debug)]
pub struct ClientSession {
    labels: Vec<String>,
    requests: Vec<String>,
    interval: Duration,
    lines: Lines,
    is_tested: bool,
}

impl ClientSession {
    /// A session for the rows of one agent, passed in the order of the table. Of rows with the same label, the last one counts.
    ///
    /// The metrics are requested in the order of JMeter's collector, which keeps them in a Java `HashMap`.
    #[must_use]
    pub fn new(rows: &[MetricRow], interval: Duration) -> Self {
        let mut positions = std::collections::HashMap::new();
        let (mut labels, mut requests) = (Vec::new(), Vec::new());
        for row in rows {
            let label = row.label();
            let at = *positions.entry(label.clone()).or_insert(labels.len());
            if at == labels.len() {
                labels.push(label);
                requests.push(row.request());
            } else {
                requests[at] = row.request();
            }
        }
        let order = hash_map_order(&labels);
        Self {
            labels: order.iter().map(|at| labels[*at].clone()).collect(),
            requests: order.iter().map(|at| requests[*at].clone()).collect(),
            interval,
            lines: Lines::default(),
            is_tested: false,
        }
    }

    /// The labels, in the order of the values.
    #[must_use]
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Resets the session for a new connection; returns the text to send first.
    pub fn connect(&mut self) -> &'static str {
        self.lines = Lines::default();
        self.is_tested = false;
        "test\n"
    }

    /// The text to send last.
    #[must_use]
    pub const fn disconnect(&self) -> &'static str {
        "exit\n"
    }

    /// Reads bytes of the agent: appends what is to be sent to `send`, and passes each value with its label to `record`.
    /// Empty values are not passed.
    ///
    /// # Errors
    /// The other side does not follow the protocol; the connection must be closed.
    pub fn receive(
        &mut self,
        bytes: &[u8],
        send: &mut String,
        mut record: impl FnMut(&str, MetricValue),
    ) -> Result<(), ClientError> {
        let Self { labels, requests, interval, lines, is_tested } = self;
        let mut result = Ok(());
        lines.receive(bytes, |line| {
            if *is_tested {
                for (label, value) in
                    labels.iter().zip(line.split('\t')).filter(|(_, value)| !value.is_empty())
                {
                    let number = value.trim().parse().ok();
                    record(
                        label,
                        number.map_or_else(|| MetricValue::Text(value.to_owned()), MetricValue::Number),
                    );
                }
            } else if line.starts_with("Yep") {
                *is_tested = true;
                send.push_str(&format!("interval:{}\nmetrics:", interval.as_secs()));
                for request in requests.iter() {
                    send.push_str(request);
                    send.push('\t');
                }
                send.push('\n');
            } else {
                result = Err(ClientError::NoAgent);
            }
        })?;
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(host: &str, metric: &str, parameters: &str) -> MetricRow {
        MetricRow { host: host.into(), port: 4444, metric: metric.into(), parameters: parameters.into() }
    }

    #[test]
    fn the_exchange_is_that_of_jmeter() {
        // Recorded from jmeter-plugins-perfmon 2.1 in JMeter 5.6.3.
        let rows = [
            row("127.0.0.1", "CPU", ""),
            row("127.0.0.1", "Memory", "used:unit=mb"),
            row("127.0.0.1", "Network I/O", "bytesrecv"),
        ];
        let mut session = ClientSession::new(&rows, Duration::from_secs(1));
        let (mut send, mut values) = (session.connect().to_owned(), Vec::new());
        for bytes in [&b"Ye"[..], b"p\n", b"1.5\t", b"\t12.0\t\n3\tjmx is not supported\tNaN\t9\t\n"] {
            session
                .receive(bytes, &mut send, |label, value| values.push((label.to_owned(), value)))
                .expect("the agent follows the protocol");
        }
        send.push_str(session.disconnect());
        let expected = "test\ninterval:1\nmetrics:memory:used:unit=mb\tnetwork i/o:bytesrecv\tcpu:\t\nexit\n";
        assert_eq!(send, expected);
        let shown: Vec<String> = values.iter().map(|(label, value)| format!("{label} = {value:?}")).collect();
        assert_eq!(
            shown,
            [
                "127.0.0.1 Memory used:unit=mb = Number(1.5)",
                "127.0.0.1 CPU = Number(12.0)",
                "127.0.0.1 Memory used:unit=mb = Number(3.0)",
                "127.0.0.1 Network I/O bytesrecv = Text(\"jmx is not supported\")",
                "127.0.0.1 CPU = Number(NaN)",
            ]
        );
    }

    #[test]
    fn labels_and_requests_are_formed_from_rows() {
        for (parameters, label, request) in [
            ("", "h CPU", "cpu:"),
            ("user", "h CPU user", "cpu:user"),
            ("label=busy:core=1:user", "h CPU busy", "cpu:core=1:user"),
            ("label=:user", "h CPU label=:user", "cpu:label=:user"),
            ("fs=C\\:label=x", "h CPU fs=C\\:label=x", "cpu:fs=C\\:label=x"),
            ("fs=C\\::label=x", "h CPU x", "cpu:fs=C\\:"),
        ] {
            let row = row("h", "CPU", parameters);
            assert_eq!((row.label().as_str(), row.request().as_str()), (label, request));
        }
        let rows = [row("h", "CPU", "label=x:user"), row("h", "CPU", "label=x:system")];
        let session = ClientSession::new(&rows, Duration::from_secs(1));
        assert_eq!(
            (session.labels(), &session.requests[..]),
            (&["h CPU x".to_owned()][..], &["cpu:system".to_owned()][..])
        );
    }

    #[test]
    fn another_server_is_not_accepted_as_an_agent() {
        let mut session = ClientSession::new(&[row("h", "CPU", "")], Duration::from_secs(1));
        let mut send = String::new();
        let result = session.receive(b"HTTP/1.1 400 Bad Request\r\n", &mut send, |_, _| panic!("a value"));
        assert_eq!(result, Err(ClientError::NoAgent));
        session.connect();
        let endless = vec![b'x'; 1 << 20];
        assert!(matches!(session.receive(&endless, &mut send, |_, _| {}), Err(ClientError::LineTooLong(_))));
        assert_eq!(send, "");
    }
}
