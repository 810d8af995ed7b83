//! Tests of the detection of formats.

use super::*;

#[test]
fn files_are_recognized_by_their_first_bytes() {
    let samples = |format, tick_ns| Some(Detected::Samples(SampleForm { format, tick_ns }));
    let aggregate = |format| Some(Detected::Aggregate(format));
    for (head, expected) in [
        (
            "{\"type\":\"Metric\",\"data\":{},\"metric\":\"http_reqs\"}\n{\"x",
            samples(SampleFormat::K6Json, 1),
        ),
        ("{\"metric\":\"http_reqs\",\"type\":\"Point\",\"data\":{}}", samples(SampleFormat::K6Json, 1)),
        ("\u{feff}metric_name,timestamp,metric_value,check\n", samples(SampleFormat::K6Csv, 1_000_000_000)),
        (
            "{\"attack\":\"\",\"seq\":0,\"code\":200,\"timestamp\":\"2026-11-01T10:00:00Z\",\"latency\":1}\n",
            samples(SampleFormat::VegetaJson, 1),
        ),
        ("1793527200500000000,500,1500,3,6,,,buy,0,GET,http://shop/,\n", samples(SampleFormat::VegetaCsv, 1)),
        ("RUN\tShop\tshop\t1793527200000\t \t3.9\n", samples(SampleFormat::GatlingText, 1_000_000)),
        ("\0\0\0\0\x063.14.3\0\0\0\0\x04Shop\0\0\0\x01", samples(SampleFormat::GatlingBinary, 1_000_000)),
        (
            "request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status\n",
            samples(SampleFormat::OhaCsv, 1),
        ),
        ("{\"root_group\":{},\"metrics\":{}}", aggregate(AggregateFormat::K6Summary)),
        ("{\"latencies\":{\"50th\":1},\"requests\":1}", aggregate(AggregateFormat::VegetaReport)),
        ("{\"summary\":{},\"latencyPercentiles\":{}}", aggregate(AggregateFormat::OhaJson)),
        ("\n       Value     Percentile TotalCount 1/(1-Percentile)\n", aggregate(AggregateFormat::HdrTable)),
        ("Value(ms)  Percentile  TotalCount  1/(1-Percentile)\n", aggregate(AggregateFormat::HdrTable)),
        ("Type,Name,Request Count,Failure Count,Median", aggregate(AggregateFormat::LocustStats)),
        (
            "Timestamp,User Count,Type,Name,Requests/s,Failures/s,50%",
            aggregate(AggregateFormat::LocustHistory),
        ),
        (
            "\x7f\x03\x01\x01\x06Result\x01\x7f\0\x01\x0c\x01\x06Attack\x01",
            Some(Detected::Unsupported(UnsupportedFormat::VegetaGob)),
        ),
        ("#[Histogram log format version 1.3]\n", Some(Detected::Unsupported(UnsupportedFormat::HdrLog))),
        ("timeStamp,elapsed,label\n1,2,x\n", None),
        ("1793527200500,12,home,200,OK,Users 1-1,text,true,100,1\n", None),
        ("<?xml version=\"1.0\"?><testResults>", None),
        ("{\"a\":1}", None),
        ("{", None),
        ("", None),
        ("\0\0\0\0", None),
    ] {
        assert_eq!(detect(head.as_bytes()), expected, "{head}");
    }
}
