//! The recording of one run of a case: masked, and in an order that can be compared.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};

use crate::mask::Masks;
use crate::rows::{self, Row};
use crate::server::Received;
use crate::settings::{CaseSettings, OrderRule, is_output};

/// The recording of one run of a case: the contents of `expected.json`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recording {
    /// The exit code of the process.
    pub exit_code: i32,
    /// The requests that the server received.
    pub requests: Vec<RequestRecord>,
    /// The lines of the result file, starting with the header line.
    pub results: Vec<String>,
    /// The lines of other files that the plan's listeners wrote, by file name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, Vec<String>>,
}

/// A request in a recording.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestRecord {
    /// Number of the connection, from 1. With [`OrderRule::Sequence`], connections are numbered in the order of their first
    /// requests; with [`OrderRule::Connections`], connections are sorted by their requests and then numbered. With
    /// [`OrderRule::Any`], which ignores connections, the number is 0.
    pub connection: usize,
    /// The request line.
    pub request: String,
    /// The header lines in their order.
    pub headers: Vec<String>,
    /// The body as text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// The body in base64, if it is not UTF-8.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body_base64: String,
}

impl Recording {
    pub(crate) fn collect(
        settings: &CaseSettings,
        dir: &Path,
        received: &[Received],
        ports: [u16; 2],
        out_dir: &Path,
        exit_code: i32,
    ) -> io::Result<Self> {
        let masks = Masks::new(settings, dir, ports, out_dir)?;
        let delimiter = settings.delimiter.unwrap_or(',');
        let read = |name: &Path, columns: &[String]| -> io::Result<Vec<Row>> {
            let bytes = fs::read(name)?;
            Ok(rows::masked(&String::from_utf8_lossy(&bytes), delimiter, columns, &masks))
        };

        let requests = received.iter().map(|r| RequestRecord::from_received(r, &masks)).collect();
        let results = out_dir.join("results.jtl");
        let results = if results.is_file() { read(&results, &settings.columns)? } else { Vec::new() };
        let header = usize::from(settings.columns.is_empty());
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(out_dir)? {
            let entry = entry?;
            if entry.file_type()?.is_file() && is_output(&entry.file_name()) {
                let rows = read(&entry.path(), &[])?;
                files.insert(
                    entry.file_name().to_string_lossy().into_owned(),
                    ordered_rows(rows, 1, settings),
                );
            }
        }
        Ok(Self {
            exit_code,
            requests: ordered_requests(requests, settings),
            results: ordered_rows(results, header, settings),
            files,
        })
    }
}

impl RequestRecord {
    fn from_received(received: &Received, masks: &Masks) -> Self {
        let text = |bytes: &[u8]| masks.text(&String::from_utf8_lossy(bytes));
        let request = &received.request;
        let (body, body_base64) = match std::str::from_utf8(&request.body) {
            Ok(body) => (masks.text(body), String::new()),
            Err(_) => (String::new(), BASE64_STANDARD.encode(&request.body)),
        };
        Self {
            connection: received.connection,
            request: text(&request.line),
            headers: request.headers.iter().map(|line| text(line)).collect(),
            body,
            body_base64,
        }
    }
}

fn ordered_requests(mut requests: Vec<RequestRecord>, settings: &CaseSettings) -> Vec<RequestRecord> {
    match settings.order {
        OrderRule::Sequence => {}
        OrderRule::Connections => {
            let mut connections: BTreeMap<usize, Vec<RequestRecord>> = BTreeMap::new();
            for mut request in requests {
                let number = std::mem::take(&mut request.connection);
                connections.entry(number).or_default().push(request);
            }
            let mut connections: Vec<_> = connections.into_values().collect();
            connections.sort();
            // The original numbers depend on chance, so the sorted connections get new ones.
            for (at, connection) in connections.iter_mut().enumerate() {
                connection.iter_mut().for_each(|request| request.connection = at + 1);
            }
            requests = connections.concat();
        }
        OrderRule::Any => {
            requests.iter_mut().for_each(|request| request.connection = 0);
            requests.sort();
        }
    }
    deduplicate(requests, settings)
}

/// Sorts the rows as the settings require, except for the first `header` rows.
fn ordered_rows(mut rows: Vec<Row>, header: usize, settings: &CaseSettings) -> Vec<String> {
    let header = header.min(rows.len());
    let data = &mut rows[header..];
    match settings.order {
        OrderRule::Sequence => {}
        OrderRule::Connections => data.sort_by(|a, b| a.thread.cmp(&b.thread)),
        OrderRule::Any => data.sort_by(|a, b| a.text.cmp(&b.text)),
    }
    deduplicate(rows.into_iter().map(|row| row.text).collect(), settings)
}

fn deduplicate<T: Ord>(mut items: Vec<T>, settings: &CaseSettings) -> Vec<T> {
    if settings.distinct {
        items.sort();
    }
    if settings.distinct || settings.collapse {
        items.dedup();
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::ReceivedRequest;
    use crate::settings::Mask;

    fn received(connection: usize, path: &str) -> Received {
        let line = format!("GET {path} HTTP/1.1").into_bytes();
        Received {
            connection,
            request: ReceivedRequest {
                line,
                headers: vec![b"Host: 127.0.0.1:43210".to_vec()],
                body: Vec::new(),
            },
        }
    }

    fn targets(recording: &Recording) -> Vec<(usize, &str)> {
        recording.requests.iter().map(|r| (r.connection, r.request.as_str())).collect()
    }

    #[test]
    fn connection_numbers_depend_on_the_order() {
        let out = tempfile::tempdir().unwrap();
        let wire = [received(1, "/b"), received(2, "/a"), received(1, "/a")];
        let collect = |order| {
            let settings = CaseSettings { order, ..CaseSettings::default() };
            Recording::collect(&settings, out.path(), &wire, [43210, 43211], out.path(), 0).unwrap()
        };
        let (a, b) = ("GET /a HTTP/1.1", "GET /b HTTP/1.1");
        assert_eq!(targets(&collect(OrderRule::Sequence)), [(1, b), (2, a), (1, a)]);
        assert_eq!(targets(&collect(OrderRule::Connections)), [(1, a), (2, b), (2, a)]);
        assert_eq!(targets(&collect(OrderRule::Any)), [(0, a), (0, a), (0, b)]);
        assert_eq!(collect(OrderRule::Any).requests[0].headers, ["Host: 127.0.0.1:{PORT}"]);
    }

    #[test]
    fn times_and_random_values_are_masked_in_rows_and_files() {
        let out = tempfile::tempdir().unwrap();
        fs::write(out.path().join("results.jtl"), "timeStamp,label,threadName\n17,id-9,\"t,1\"\n18,id-8,u\n")
            .unwrap();
        fs::write(out.path().join("x.xml"), "<?xml version=\"1.0\"?>\n<s t=\"5\" lb=\"id-1\"/>\n").unwrap();
        let masks = vec![Mask { pattern: "id-[0-9]".into(), with: "{ID}".into() }];
        let settings = CaseSettings { masks, ..CaseSettings::default() };
        let recording =
            Recording::collect(&settings, out.path(), &[], [43210, 43211], out.path(), 0).unwrap();
        assert_eq!(recording.results, ["timeStamp,label,threadName", "{T},{ID},\"t,1\"", "{T},{ID},u"]);
        assert_eq!(recording.files["x.xml"], ["<?xml version=\"1.0\"?>", "<s t=\"{T}\" lb=\"{ID}\"/>"]);
    }
}
