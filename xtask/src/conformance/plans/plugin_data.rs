//! Data sets of plugins.

use busyhour_standin::Order;

use super::super::elements::*;
use super::super::jmx::Node;
use super::{Description, case};

const RANDOM_CSV: &str = "com.blazemeter.jmeter.RandomCSVDataSetConfig";
const JARS: [&str; 2] =
    ["com.blazemeter:jmeter-plugins-random-csv-data-set:0.8", "kg.apc:jmeter-plugins-cmn-jmeter:0.8"];

pub fn cases() -> Vec<Description> {
    random_csv_cases().into_iter().map(|case| case.plugins(&JARS)).collect()
}

fn random_csv(file: &str, names: &str) -> Node {
    Node::new(RANDOM_CSV, "com.blazemeter.jmeter.RandomCSVDataSetConfigGui", "rows")
        .set("filename", file)
        .set("fileEncoding", "UTF-8")
        .set("delimiter", ",")
        .set("variableNames", names)
        .set("randomOrder", false)
        .set("ignoreFirstLine", false)
        .set("rewindOnTheEndOfList", false)
        .set("independentListPerThread", false)
}

fn random_csv_cases() -> Vec<Description> {
    let shown = || get("a", "/a?x=${x}&y=${y}&z=${z}");
    vec![
        case(
            "random-csv-in-order",
            &[RANDOM_CSV],
            plan([
                variables("v", &[("y", "-"), ("z", "-")]),
                loops("users", "9").with([
                    random_csv("rows.csv", "x,y,z"),
                    get("a", "/a?x=${x}&y=${y}&z=${z}"),
                    loop_controller("inner", "2").with([random_csv("short.csv", "z"), get("b", "/b?z=${z}")]),
                ]),
            ]),
        )
        .file("rows.csv", "1,2,3\n4,\"five, six\"\n\n7,8,9,10\n")
        .file("short.csv", "a\nb\nc\nd\ne\n")
        .why("At the end of the shorter list the thread stops, in the middle of its third pass."),
        case(
            "random-csv-blank-line",
            &[RANDOM_CSV],
            plan([
                variables("v", &[("y", "-"), ("z", "-")]),
                loops("users", "9").with([random_csv("rows.csv", "x,y"), shown()]),
            ]),
        )
        .file("rows.csv", "1,2\n\n3\n4,5,6\n")
        .why("A blank line empties the first variable; fields that are missing leave theirs as it is."),
        case(
            "random-csv-header",
            &[RANDOM_CSV],
            plan([
                variables("v", &[("y", "-"), ("z", "-")]),
                loops("users", "5").with([
                    random_csv("rows.csv", "").set("delimiter", "\\t").set("rewindOnTheEndOfList", true),
                    shown(),
                ]),
            ]),
        )
        .file("rows.csv", "x\ty\n1\t2\n3\t4"),
        case(
            "random-csv-ignore-first",
            &[RANDOM_CSV],
            plan([
                variables("v", &[("y", "-"), ("z", "-")]),
                loops("users", "3").with([
                    random_csv("rows.csv", "x, y")
                        .set("ignoreFirstLine", true)
                        .set("rewindOnTheEndOfList", true),
                    get("a", "/a?x=${x}&y=${ y}&z=${y}"),
                ]),
            ]),
        )
        .file("rows.csv", "x,y\n1,2\n3,4\n")
        .why("Names are not trimmed: the second is a blank and y."),
        case(
            "random-csv-random",
            &[RANDOM_CSV],
            plan([loops("users", "-1").with([
                random_csv("rows.csv", "x,y").set("randomOrder", true),
                get("a", "/a?x=${x}&y=${y}"),
            ])]),
        )
        .order(Order::Any)
        .file("rows.csv", "1,a\n2,b\n3,c\n4,d\n5,e\n6,f\n")
        .why("Each row comes once."),
        case(
            "random-csv-independent",
            &[RANDOM_CSV],
            plan([
                variables("v", &[("y", "-"), ("z", "-")]),
                loops("users", "2")
                    .set("ThreadGroup.num_threads", "2")
                    .set("ThreadGroup.ramp_time", "2")
                    .with([
                        random_csv("rows.csv", "x,y")
                            .set("independentListPerThread", true)
                            .set("randomOrder", true),
                        get("a", "/a"),
                    ]),
            ]),
        )
        .order(Order::Connections)
        .mask_columns(&["grpThreads", "allThreads"])
        .file("rows.csv", "1,a\n2,b\n3,c\n")
        .why("A list for each thread is one list all the same: the second thread finds one row left."),
    ]
}
