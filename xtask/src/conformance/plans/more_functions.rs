//! Functions: rows of files, regular expressions, and those of jmeter-plugins.

use super::super::elements::*;
use super::super::jmx::Node;
use super::{Description, case};

const PLUGINS: [&str; 2] = ["kg.apc:jmeter-plugins-functions:2.1", "kg.apc:jmeter-plugins-cmn-jmeter:0.8"];

pub fn cases() -> Vec<Description> {
    vec![csv_read(), regex_function(), xpath(), of_plugins()]
}

fn lines(name: &str, expressions: &[(&str, &str)]) -> Node {
    let body: Vec<String> =
        expressions.iter().map(|(name, expression)| format!("{name}=[{expression}]")).collect();
    raw("POST", name, "/body", &body.join("\n"))
}

fn csv_read() -> Description {
    let plan = plan([loops("users", "4").with([lines(
        "lines",
        &[
            ("open", "${__CSVRead(${__P(CASE)}/rows.csv,*rows)}"),
            ("first", "${__CSVRead(*rows,0)}-${__CSVRead(*rows,1)}-${__CSVRead(*rows,2)}"),
            ("beyond", "${__CSVRead(*rows,9)}"),
            ("no number", "${__CSVRead(*rows,x)}"),
            ("next", "${__CSVRead(*rows,next)}"),
            ("by name", "${__CSVRead(${__P(CASE)}/rows.csv,0)} ${__CSVRead(${__P(CASE)}/rows.csv,next())}"),
            ("again", "${__CSVRead(${__P(CASE)}/rows.csv,0)}"),
            ("unknown", "${__CSVRead(*other,0)}"),
            ("missing", "${__CSVRead(${__P(CASE)}/nowhere.csv,0)}"),
        ],
    )])]);
    case("function-csv-read", &["__CSVRead"], plan)
        .file("rows.csv", "a1,a2,a3\nb1,,b3\nc1,c2,\n\nnot read,x,y\n")
        .why("A file ends at its first blank line; each alias of a file has its own place in it.")
}

fn regex_function() -> Description {
    let pattern = r#"<p class="row">(\w+)=(\d+)</p>"#;
    let with = |rest: &str| format!("${{__regexFunction({pattern},{rest})}}");
    let values = [
        ("first", with("$2$ of $1$")),
        ("second", with("$1$,2")),
        ("all", with("$1$,ALL,+")),
        ("share", with("$1$,0.5")),
        ("variable", with("$1$-$2$,3,,none,found")),
        ("groups", "${found} ${found_g0} ${found_g1} ${found_g2} ${found_matchNr}".to_owned()),
        ("beyond", with("$1$,7,,none")),
        ("no group", with("[$7$]")),
        (
            "no match",
            "${__regexFunction(nothing like it,$1$,1,,none,gone)} ${gone} ${gone_matchNr}".to_owned(),
        ),
        ("of variable", r"${__regexFunction(s(.)m,<$1$>,1,,none,,text)}".to_owned()),
        ("of no variable", r"${__regexFunction(s(.)m,<$1$>,1,,none,,nowhere)}".to_owned()),
    ];
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let plan = plan([group("users").with([
        variables("v", &[("text", "some text")]),
        lines("before", &[("of nothing", "${__regexFunction((.*),$1$,1,,none)}")]),
        get("page", "/page"),
        // What a request sends is evaluated while the response before is still the last one.
        lines("values", &values),
    ])]);
    case("function-regex", &["__regexFunction"], plan)
}

fn xpath() -> Description {
    let file = "${__P(CASE)}/list.xml";
    let expression = |text: &str| format!("${{__XPath({file},{text})}}");
    let values = [
        ("items", expression("//item")),
        ("attributes", expression("//item/@id")),
        ("one", expression("/list/item[2]")),
        ("texts", expression("//item/text()")),
        ("with elements", expression("//nested")),
        ("none", expression("//nothing")),
        ("number", expression("count(//item)")),
        ("missing", "${__XPath(${__P(CASE)}/nowhere.xml,//a)}".to_owned()),
    ];
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    case("function-xpath", &["__XPath"], plan([loops("users", "4").with([lines("lines", &values)])]))
        .file(
            "list.xml",
            "<list><item id=\"1\">one</item><item id=\"2\">two</item><item id=\"3\"/><nested>in<b>side</b></nested></list>",
        )
        .why("All calls with one file and expression go through the same nodes, from the first again after the last.")
}

fn of_plugins() -> Description {
    let plan = plan([group("users").with([
        variables("v", &[("a", "5"), ("b", "2.5"), ("text", "Some text-of_words")]),
        lines(
            "lines",
            &[
                ("lower camel", "${__caseFormat(${text})}"),
                ("upper camel", "${__caseFormat(${text},UPPER_CAMEL_CASE,camel)} ${camel}"),
                ("snake", "${__caseFormat(${text},snake_case)} ${__caseFormat(${text},LOWER_UNDERSCORE)}"),
                ("kebab", "${__caseFormat(${text},KEBAB_CASE)} ${__caseFormat(${text},LOWER_HYPHEN)}"),
                ("train", "${__caseFormat(${text},TRAIN_CASE)} ${__caseFormat(${text},UPPER_UNDERSCORE)}"),
                ("no mode", "${__caseFormat(${text},WHATEVER)}"),
                ("edges", "${__caseFormat(-a--b_,UPPER_CAMEL_CASE)}"),
                ("choose", "${__chooseRandom(same,same,chosen)} ${chosen}"),
                (
                    "sum",
                    "${__doubleSum(${a},${b},sum)} ${sum} ${__doubleSum(1,2)} ${__doubleSum(1e7,0.5, 3 )}",
                ),
                ("if", "${__if(${a},5,yes,no,answer)} ${answer} ${__if(a,b,yes,no)}"),
                ("defined", "${__isDefined(a)} ${__isDefined( a )} ${__isDefined(nowhere)}"),
                ("replace", "${__strReplace(${text},e,E,replaced)} ${replaced}"),
                ("substring", "${__substring(${text},5,9,part)} ${part}"),
                ("length", "${__strLen(${text})} ${__uppercase(${text})} ${__lowercase(${text})}"),
                ("encoded", "${__base64Encode(${text})} ${__base64Decode(U29tZQ==)} ${__MD5(${text})}"),
                ("iteration", "${__iterationNum}"),
            ],
        ),
    ])]);
    case(
        "function-plugins",
        &[
            "__caseFormat",
            "__chooseRandom",
            "__doubleSum",
            "__if",
            "__isDefined",
            "__strReplace",
            "__substring",
        ],
        plan,
    )
    .plugins(&PLUGINS)
}
