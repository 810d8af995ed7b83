//! The rows of a result file, without the columns that may differ between two runs of the same plan.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use xtask_common::results;

/// The variable with the iteration number of a user of the load, which is saved with every row.
pub const ITERATION: &str = "__jm__Throughput test__idx";

/// Columns that contain or depend on times.
const TIMES: [&str; 5] = ["timeStamp", "elapsed", "Latency", "IdleTime", "Connect"];

/// A row without times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The sampler's name.
    pub label: String,
    /// The name and number of the thread group, and the number of the user.
    pub thread: String,
    /// The request's URL.
    pub url: String,
    /// The code, message, data type, success and failure message.
    pub outcome: String,
    /// Whether the sample was successful.
    pub success: bool,
    /// The number of sent bytes, including the head.
    pub sent: usize,
    /// The number of received bytes, including the head.
    pub received: usize,
    /// The iteration of its user, from 0; `None` outside the load.
    pub iteration: Option<u64>,
    /// All columns except the times, unchanged.
    pub columns: Vec<String>,
}

impl Row {
    /// Whether the row belongs to the load.
    pub fn is_load(&self) -> bool {
        self.thread.starts_with("Throughput test ")
    }

    /// The number at the end of the URL.
    pub fn id(&self) -> Option<u64> {
        self.url.rsplit_once('/')?.1.parse().ok()
    }
}

/// Reads a result file.
///
/// # Errors
/// The file or a column is missing.
pub fn read(path: &Path) -> Result<Vec<Row>> {
    let text = fs::read_to_string(path).with_context(|| format!("no result file {}", path.display()))?;
    parse(&text)
}

fn parse(text: &str) -> Result<Vec<Row>> {
    let mut lines = text.lines();
    let names = results::fields(lines.next().context("an empty result file")?);
    let column = |name: &str| {
        names.iter().position(|found| found == name).with_context(|| format!("no column {name}"))
    };
    let (label, thread, url) = (column("label")?, column("threadName")?, column("URL")?);
    let outcome =
        [column("responseCode")?, column("responseMessage")?, column("dataType")?, column("success")?];
    let failure = column("failureMessage")?;
    let (sent, received, iteration) = (column("sentBytes")?, column("bytes")?, column(ITERATION)?);
    let times: Vec<usize> = TIMES.iter().map(|name| column(name)).collect::<Result<_>>()?;
    lines
        .map(|line| {
            let fields = results::fields(line);
            let field = |at: usize| {
                fields.get(at).map(String::as_str).with_context(|| format!("the row is too short: {line}"))
            };
            let mut texts: Vec<&str> = outcome.iter().map(|&at| field(at)).collect::<Result<Vec<_>>>()?;
            if !field(failure)?.is_empty() {
                texts.push(field(failure)?);
            }
            let columns = fields.iter().enumerate().filter(|(at, _)| !times.contains(at));
            Ok(Row {
                label: field(label)?.to_owned(),
                thread: field(thread)?.to_owned(),
                url: field(url)?.to_owned(),
                success: field(outcome[3])? == "true",
                outcome: texts.join(" "),
                sent: field(sent)?.parse().with_context(|| format!("the size is not a number: {line}"))?,
                received: field(received)?
                    .parse()
                    .with_context(|| format!("the size is not a number: {line}"))?,
                iteration: field(iteration)?.parse().ok(),
                columns: columns.map(|(_, text)| text.clone()).collect(),
            })
        })
        .collect()
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A row of the load.
    pub fn row(user: u64, iteration: u64, label: &str, path: &str) -> Row {
        let url = format!("http://127.0.0.1:40000/ticket-monster/rest/{path}");
        Row {
            label: label.to_owned(),
            thread: format!("Throughput test 2-{user}"),
            sent: 300 + url.len(),
            url,
            outcome: "200 OK text true".to_owned(),
            success: true,
            received: 500,
            iteration: Some(iteration),
            columns: Vec::new(),
        }
    }

    #[test]
    fn columns_are_found_by_name() {
        let text = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,\
            sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect,\"__jm__Throughput test__idx\"\n\
            1,2,Add event,201,Created,Data Injection 1-1,,true,,174,461,1,1,http://h/rest/forge/events,51,0,36,null\n\
            1,2,Get show,404,Not Found,Throughput test 2-7,text,false,\"a, b\",99,361,5,5,http://h/rest/shows/31,5,0,3,44\n";
        let rows = parse(text).unwrap();
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].is_load(), rows[0].iteration, rows[0].id()), (false, None, None));
        assert_eq!((rows[1].is_load(), rows[1].iteration, rows[1].id()), (true, Some(44), Some(31)));
        assert_eq!(rows[1].outcome, "404 Not Found text false a, b");
        assert_eq!((rows[1].sent, rows[1].received), (361, 99));
        assert_eq!(rows[0].columns.len(), 13);
        assert!(parse("label,URL\n").unwrap_err().to_string().contains("threadName"));
    }
}
