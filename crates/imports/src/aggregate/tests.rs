//! Tests of files with percentiles.

use super::*;
use crate::aggregate_doubt::AggregateDoubt;
use crate::aggregate_result::AggregateRow;

#[test]
fn names_beyond_the_limit_are_counted() {
    let head = "Type,Name,Request Count,Failure Count,50%,100%\n";
    let rows: String = (0..1_500).map(|number| format!("GET,/{number},10,0,5,9\n")).collect();
    let text = format!("{head}{rows},Aggregated,15000,0,5,9\n");
    let read = read_aggregate(AggregateFormat::LocustStats, text.as_bytes()).unwrap();
    assert_eq!((read.rows.len(), read.more_rows, read.rows[0].name.as_str()), (1_000, 501, "Aggregated"));
    assert_eq!(read.rows[1].name, "GET /0");
}

#[test]
fn errors_have_positions() {
    let error = |format, text: &str| read_aggregate(format, text.as_bytes()).unwrap_err().to_string();
    let head = "Type,Name,Request Count,Failure Count,50%\n";
    assert_eq!(
        error(AggregateFormat::LocustStats, &format!("{head}GET,/a,x,0,1\n")),
        "line 2, column 1: Request Count \"x\" is not a number"
    );
    assert_eq!(
        error(AggregateFormat::LocustStats, &format!("{head}GET,/a\n")),
        "line 2, column 1: row \"GET,/a\" has too few columns"
    );
    assert_eq!(
        error(AggregateFormat::OhaJson, "{\n\"summary\": 1}"),
        "line 2, column 12: not the expected JSON"
    );
    assert_eq!(
        error(AggregateFormat::HdrTable, "Value Percentile TotalCount 1/(1-Percentile)\n"),
        "the file contains no percentiles"
    );
}

#[test]
fn values_of_a_k6_summary_may_be_nested() {
    let plain = r#"{"root_group":{},"metrics":{"http_req_duration":{"avg":2,"med":1,"p(90)":3},"http_reqs":{"count":100,"rate":5},"http_req_failed":{"value":0.25}}}"#;
    let nested = r#"{"root_group":{},"metrics":{"http_req_duration":{"type":"trend","values":{"avg":2,"med":1,"p(90)":3}},"http_reqs":{"values":{"count":100,"rate":5}},"http_req_failed":{"values":{"rate":0.25}}}}"#;
    let read = |text: &str| read_aggregate(AggregateFormat::K6Summary, text.as_bytes()).unwrap();
    assert_eq!(read(plain), read(nested));
    let total = &read(plain).rows[0];
    assert_eq!((total.requests, total.failures, total.percentile(50.0)), (Some(100), Some(25), Some(1.0)));
}

#[test]
fn slow_and_fast_requests_are_not_mixed_silently() {
    let row = |name: &str, requests, p95| {
        let mut row = AggregateRow { name: name.into(), requests: Some(requests), ..AggregateRow::default() };
        row.set_percentiles([(95.0, p95)].into_iter());
        row
    };
    let doubts = |rows| AggregateResult { rows, ..AggregateResult::default() }.doubts();
    let mixed = doubts(vec![row("all", 1_000, 90.0), row("a", 500, 10.0), row("b", 500, 100.0)]);
    assert_eq!(
        mixed[0].to_string(),
        "the percentiles of all requests mix fast and slow ones: the p95 of a is 10 ms, that of b 100 ms"
    );
    let rare = doubts(vec![row("all", 1_000, 10.0), row("a", 980, 10.0), row("b", 20, 100.0)]);
    assert_eq!(rare, [AggregateDoubt::NoSamples]);
}
