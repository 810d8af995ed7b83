//! Post-processors: what they extract, from what, into which variables. The values go out in the next request's body.

use super::super::elements::*;
use super::super::jmx::Node;
use super::{Description, case};

pub fn cases() -> Vec<Description> {
    let mut cases = regular_expressions();
    cases.extend(boundaries());
    cases.extend(json_paths());
    cases.extend(scopes());
    cases
}

/// A request whose body shows the variables.
fn show(names: &[&str]) -> Node {
    let body: Vec<String> = names.iter().map(|name| format!("{name}=[${{{name}}}]")).collect();
    raw("POST", "show", "/body", &body.join(" "))
}

/// The page with one extractor under it, then a request that shows variables.
fn page(extractors: Vec<Node>, names: &[&str]) -> Node {
    let sampler =
        extractors.into_iter().fold(get("page", "/page"), |sampler, extractor| sampler.with([extractor]));
    plan([group("users").with([sampler, show(names)])])
}

const ENTITIES: &str = "&lt;a&gt; &amp;amp; &eacute;&euro;&frac12; &nope; &amp &#65;&#x42;&#X43; &#0000000065; &#x1f600; &#55357;&#56832; &#; &#x; &#99999999999; &apos; &quot;&";

fn regular_expressions() -> Vec<Description> {
    let covers = &["RegexExtractor"];
    let row = "class=\"row\">(\\w+)=(\\d+)<";
    vec![
        case(
            "regex-first-match",
            covers,
            page(vec![regex("r", row, "$1$-$2$", "1", "none")], &["r", "r_g", "r_g0", "r_g1", "r_g2", "r_g3", "r_matchNr", "r_1"]),
        ),
        case("regex-nth-match", covers, page(vec![regex("r", row, "$2$", "3", "none"), regex("s", row, "$2$", "4", "none")], &["r", "r_g1", "s", "s_g", "s_g1"])),
        case(
            "regex-all-matches",
            covers,
            page(
                vec![regex("r", row, "<$1$>", "-1", "none")],
                &["r", "r_matchNr", "r_1", "r_2", "r_3", "r_4", "r_1_g", "r_1_g0", "r_3_g2", "r_g1"],
            ),
        ),
        case(
            "regex-all-matches-fewer",
            covers,
            plan([group("users").with([
                get("page", "/page").with([regex("r", row, "$1$", "-1", "none")]),
                show(&["r_matchNr", "r_3"]),
                get("one", "/x=1").with([regex("r", "(x)=(1)", "$1$", "-1", "none")]),
                show(&["r", "r_matchNr", "r_1", "r_2", "r_3", "r_1_g2", "r_3_g1"]),
                get("none", "/zero").with([regex("r", "(nothing)", "$1$", "-1", "none")]),
                show(&["r", "r_matchNr", "r_1"]),
            ])]),
        )
        .why("Variables of an earlier, longer list are taken away."),
        case(
            "regex-random-match",
            covers,
            page(vec![regex("r", row, "$1$", "0", "none")], &["r", "r_g"]),
        )
        .mask("alpha|beta|gamma", "{ROW}")
        .mask("^Content-Length: [0-9]+", "Content-Length: {N}")
        .mask_columns(&["bytes", "sentBytes"]),
        case(
            "regex-default",
            covers,
            page(
                vec![
                    regex("a", "absent(.)", "$1$", "1", "dflt"),
                    regex("b", "absent(.)", "$1$", "1", ""),
                    regex("c", "absent(.)", "$1$", "1", "").set("RegexExtractor.default_empty_value", true),
                    regex("d", "absent(.)", "$1$", "0", "dflt"),
                    regex("e", "absent(.)", "$1$", "-1", "dflt"),
                    regex("f", "absent(.)", "$1$", "2", "${v}"),
                    variables("v", &[("v", "var"), ("b", "kept")]),
                ],
                &["a", "a_g1", "b", "c", "d", "e", "e_matchNr", "f"],
            ),
        )
        .why("Without a default the variable keeps what it had."),
        case(
            "regex-templates",
            covers,
            page(
                vec![
                    regex("whole", row, "$0$", "2", ""),
                    regex("twice", row, "$2$$1$$2$", "1", ""),
                    regex("text", row, "a$1$ b \\$ $9$", "1", ""),
                    regex("none", row, "constant", "1", ""),
                    regex("empty", row, "", "1", "dflt"),
                    regex("nogroup", "alpha=\\d", "$1$", "1", "dflt"),
                    regex("nogroup0", "alpha=\\d", "$0$", "1", "dflt"),
                ],
                &["whole", "twice", "text", "none", "empty", "nogroup", "nogroup0"],
            ),
        ),
        case(
            "regex-fields",
            covers,
            page(
                vec![
                    regex("body", "(<title>.*?)<", "$1$", "1", "no").set("RegexExtractor.useHeaders", "false"),
                    regex("unescaped", "(<title>.*?)<", "$1$", "1", "no").set("RegexExtractor.useHeaders", "unescaped"),
                    regex("headers", "Content-Length: (\\d+)", "$1$", "1", "no").set("RegexExtractor.useHeaders", "true"),
                    regex("sent", "(User-Agent): ", "$1$", "1", "no").set("RegexExtractor.useHeaders", "request_headers"),
                    regex("url", "//[^/]+(/.*)", "$1$", "1", "no").set("RegexExtractor.useHeaders", "URL"),
                    regex("code", "(\\d)0", "$1$", "1", "no").set("RegexExtractor.useHeaders", "code"),
                    regex("message", "(.)", "$1$", "2", "no").set("RegexExtractor.useHeaders", "message"),
                    regex("status", "^(.*)$", "$1$", "1", "no").set("RegexExtractor.useHeaders", "true"),
                ],
                &["body", "unescaped", "headers", "sent", "url", "code", "message", "status"],
            ),
        ),
        case(
            "regex-unescaped",
            covers,
            plan([group("users").with([
                raw("POST", "entities", "/body", ENTITIES).with([
                    regex("all", "(?s)^(.*)$", "$1$", "1", "no").set("RegexExtractor.useHeaders", "unescaped"),
                    boundary("between", "<", ">", "1", "no").set("BoundaryExtractor.useHeaders", "unescaped"),
                ]),
                raw("POST", "shown", "/body", "${all}|${between}"),
                raw("POST", "beyond", "/body", "x &#x110000; y").with([
                    boundary("b", "x", "y", "1", "kept").set("BoundaryExtractor.useHeaders", "unescaped"),
                ]),
                raw("POST", "dropped", "/body", "x &#x110000; y").with([
                    regex("r", "x", "$0$", "1", "no").set("RegexExtractor.useHeaders", "unescaped"),
                ]),
                show(&["b", "r"]),
            ])]),
        )
        .why("On an entity beyond Unicode the expression's extractor throws, and the sample is dropped."),
        case(
            "regex-flavour",
            covers,
            page(
                vec![
                    regex("dot", "<head>(.*)</form>", "$1$", "1", "no"),
                    regex("dots", "(?s)<form(.*?)</form>", "$1$", "1", "no"),
                    regex("multi", "(?m)^<p class=\"row\">(g.*)$", "$1$", "1", "no"),
                    regex("anchor", "^(<p)", "$1$", "1", "no"),
                    regex("case", "(?i)NAME=\"(TOKEN)\"", "$1$", "1", "no"),
                    regex("lazy", "value=\"(.+?)\"", "$1$", "1", "no"),
                    regex("greedy", "value=\"(.+)\"", "$1$", "1", "no"),
                    regex("class", "([\\w-]+)\"><link", "$1$", "1", "no"),
                    regex("alt", "(two|one)\\.png", "$1$", "2", "no"),
                    regex("optional", "alpha=(\\d)(x)?", "$1$:$2$", "1", "no"),
                    regex("back", "(\\d)\\1{2}<", "$1$", "1", "no"),
                    regex("ahead", "(\\w+)(?==22)", "$1$", "1", "no"),
                    regex("quantified", "=(\\d{2,3})<", "$1$", "2", "no"),
                    regex("broken", "(unclosed", "$1$", "1", "no"),
                    regex("dollar", "price: \\$([\\d.]+) \\(net\\) \\[(x)\\]", "$1$$2$", "1", "no"),
                ],
                &[
                    "dot", "dots", "multi", "anchor", "case", "lazy", "greedy", "class", "alt", "optional", "optional_g2",
                    "back", "ahead", "quantified", "broken", "dollar",
                ],
            ),
        )
        .why("Perl5 patterns (ORO): the dot ends at line ends unless (?s), anchors are the text's unless (?m)."),
        case(
            "regex-charsets",
            covers,
            plan([group("users").with([
                get("latin1", "/latin1").with([regex("l", "(.*)=1", "$1$", "1", "no")]),
                get("utf8", "/utf8").with([regex("u", "(.*)=1", "$1$", "1", "no")]),
                show(&["l", "u"]),
            ])]),
        ),
        case(
            "regex-variables-in-pattern",
            covers,
            plan([group("users").with([
                variables("v", &[("which", "beta"), ("n", "1"), ("name", "out")]),
                get("page", "/page").with([
                    regex("${name}", ">${which}=(\\d+)<", "$1$", "${n}", "no"),
                ]),
                show(&["out"]),
            ])]),
        ),
    ]
}

fn boundaries() -> Vec<Description> {
    let covers = &["BoundaryExtractor"];
    let left = "class=\"row\">";
    vec![
        case(
            "boundary-matches",
            covers,
            page(
                vec![
                    boundary("a", left, "</p>", "1", "none"),
                    boundary("b", left, "</p>", "3", "none"),
                    boundary("c", left, "</p>", "4", "none"),
                    boundary("d", left, "</p>", "-1", "none"),
                    boundary("e", "nothing", "</p>", "1", "none"),
                    boundary("f", "nothing", "</p>", "-1", "none"),
                    boundary("g", left, "=", "2", "none"),
                ],
                &[
                    "a",
                    "a_matchNr",
                    "b",
                    "c",
                    "d",
                    "d_matchNr",
                    "d_1",
                    "d_2",
                    "d_3",
                    "e",
                    "f",
                    "f_matchNr",
                    "g",
                ],
            ),
        ),
        case("boundary-random", covers, page(vec![boundary("r", left, "=", "0", "none")], &["r"]))
            .mask("alpha|beta|gamma", "{ROW}")
            .mask("^Content-Length: [0-9]+", "Content-Length: {N}")
            .mask_columns(&["bytes", "sentBytes"]),
        case(
            "boundary-defaults-and-blanks",
            covers,
            page(
                vec![
                    boundary("a", "absent", "x", "1", ""),
                    boundary("b", "absent", "x", "1", "").set("BoundaryExtractor.default_empty_value", true),
                    boundary("c", "", "<head", "1", "none"),
                    boundary("d", "</body>", "", "1", "none"),
                    boundary("e", "", "", "1", "none"),
                    boundary("f", "Content-Type: ", ";", "1", "none")
                        .set("BoundaryExtractor.useHeaders", "true"),
                    boundary("g", "://", "/", "1", "none").set("BoundaryExtractor.useHeaders", "URL"),
                    variables("v", &[("a", "kept")]),
                ],
                &["a", "b", "c", "d", "e", "f"],
            ),
        ),
        case(
            "boundary-all-matches-fewer",
            covers,
            plan([group("users").with([
                get("page", "/page").with([boundary("r", left, "=", "-1", "none")]),
                show(&["r_matchNr", "r_3"]),
                get("one", "/q?<1>".replace('<', "(").replace('>', ")").as_str())
                    .with([boundary("r", "(", ")", "-1", "none")]),
                show(&["r", "r_matchNr", "r_1", "r_2", "r_3"]),
            ])]),
        ),
    ]
}

fn json_paths() -> Vec<Description> {
    let covers = &["JSONPostProcessor"];
    let document = |extractors: Vec<Node>, names: &[&str]| {
        let sampler =
            extractors.into_iter().fold(get("json", "/json"), |sampler, extractor| sampler.with([extractor]));
        plan([group("users").with([sampler, show(names)])])
    };
    vec![
        case(
            "json-values",
            covers,
            document(
                vec![
                    json("id", "$.id", "1", "no"),
                    json("big", "$.big", "1", "no"),
                    json("ratio", "$.ratio", "1", "no"),
                    json("name", "$.name", "1", "no"),
                    json("none", "$.none", "1", "no"),
                    json("yes", "$.yes", "1", "no"),
                    json("empty", "$.empty", "1", "no"),
                    json("void", "$.void", "1", "no"),
                    json("tags", "$.tags", "1", "no"),
                    json("quote", "$.quote", "1", "no"),
                    json("object", "$.store.bicycle", "1", "no"),
                    json("exp", "$.exp", "1", "no"),
                    json("missing", "$.missing", "1", "no"),
                    json("price", "$.store.book[0].price", "1", "no"),
                ],
                &[
                    "id", "big", "ratio", "name", "none", "yes", "empty", "void", "tags", "quote", "object",
                    "exp", "missing", "price",
                ],
            ),
        ),
        case(
            "json-paths",
            covers,
            document(
                vec![
                    json("a", "$.store.book[*].author", "-1", "no"),
                    json("b", "$..price", "-1", "no"),
                    json("c", "$.store.book[-1:].title", "1", "no"),
                    json("d", "$.store.book[?(@.price < 10)].title", "-1", "no"),
                    json("e", "$.store.book[?(@.isbn)].isbn", "1", "no"),
                    json("f", "$['store']['bicycle']['color']", "1", "no"),
                    json("g", "$.store.book[0,2].title", "-1", "no"),
                    json("h", "$.store.book[0:2].price", "-1", "no"),
                    json("i", "$.store.book.length()", "1", "no"),
                    json("j", "$..book[?(@.category == 'fiction' && @.price > 9)].author", "1", "no"),
                    json("k", "$.store.*", "-1", "no"),
                    json("l", "$.store.book[?(@.author =~ /.*REES/i)].title", "1", "no"),
                ],
                &[
                    "a_matchNr",
                    "a_1",
                    "a_2",
                    "a_3",
                    "b_matchNr",
                    "b_1",
                    "b_4",
                    "c",
                    "d_matchNr",
                    "d_1",
                    "d_2",
                    "e",
                    "f",
                    "g_1",
                    "g_2",
                    "h_1",
                    "h_2",
                    "i",
                    "j",
                    "k_matchNr",
                    "k_2",
                    "l",
                ],
            ),
        ),
        case(
            "json-match-numbers",
            covers,
            document(
                vec![
                    json("one", "$..title", "1", "no"),
                    json("two", "$..title", "2", "no"),
                    json("nine", "$..title", "9", "no"),
                    json("all", "$..title", "-1", "no").set("JSONPostProcessor.compute_concat", true),
                    json("none", "$..nothing", "-1", "no"),
                    json("list", "$.tags", "-1", "no"),
                    json("elements", "$.tags[*]", "2", "no"),
                ],
                &[
                    "one",
                    "one_matchNr",
                    "one_1",
                    "two",
                    "nine",
                    "all",
                    "all_matchNr",
                    "all_1",
                    "all_3",
                    "all_ALL",
                    "none",
                    "none_matchNr",
                    "none_1",
                    "list_matchNr",
                    "list_1",
                    "list_2",
                    "elements",
                ],
            ),
        ),
        case(
            "json-random-match",
            covers,
            document(
                vec![json("r", "$.tags[*]", "0", "no"), json("s", "$.tags[*]", "", "no")],
                &["r", "r_matchNr", "s"],
            ),
        )
        .mask("([rs])=\\[[abc]\\]", "$1=[{TAG}]")
        .why("0 and blank choose by chance."),
        case(
            "json-wrong-match-numbers",
            covers,
            plan([group("users").with([
                get("word", "/json").with([
                    json("a", "$.id", "m2", "dflt"),
                    json_assertion("asserts", "$.missing", None, false),
                    json("b", "$.id", "1", "dflt"),
                ]),
                get("many", "/json").with([json("c", "$.id", "1;2", "dflt")]),
                transaction("parent", true, false).with([
                    get("in", "/json").with([json("d", "$.id", "+1", "dflt")]),
                    get("dropped", "/json").with([json("e", "$.id", "1.0", "dflt")]),
                ]),
                show(&["a", "b", "c", "d", "e"]),
            ])]),
        )
        .why("Where a match number is none the extractor throws, and the sample is dropped."),
        case(
            "json-several-variables",
            covers,
            document(
                vec![
                    json("a;b;c", "$.id;$.missing;$..author", "1;1;-1", "no a;no b;no c")
                        .set("JSONPostProcessor.compute_concat", true),
                ],
                &["a", "b", "c", "c_1", "c_3", "c_matchNr", "c_ALL"],
            ),
        ),
        case(
            "json-bad-input",
            covers,
            plan([group("users").with([
                get("page", "/page").with([json("a", "$.id", "1", "dflt")]),
                get("empty", "/status/204").with([json("b", "$.id", "1", "dflt")]),
                get("json", "/json").with([json("c", "$.[", "1", "dflt"), json("d", "$.missing", "1", "")]),
                show(&["a", "b", "c", "d"]),
            ])]),
        ),
        case(
            "json-all-matches-fewer",
            covers,
            plan([group("users").with([
                get("many", "/json").with([json("r", "$..author", "-1", "no")]),
                show(&["r_matchNr", "r_3"]),
                get("few", "/json").with([json("r", "$..color", "-1", "no")]),
                show(&["r", "r_matchNr", "r_1", "r_2", "r_3"]),
                get("none", "/json").with([json("r", "$..nothing", "-1", "no")]),
                show(&["r", "r_matchNr", "r_1", "r_2"]),
            ])]),
        ),
        case(
            "json-from-variable",
            covers,
            plan([group("users").with([
                variables("v", &[("doc", "{\"x\": [1, {\"y\": \"z\"}]}")]),
                get("any", "/any").with([json("y", "$.x[1].y", "1", "no")
                    .set("Sample.scope", "variable")
                    .set("Scope.variable", "doc")]),
                show(&["y"]),
            ])]),
        ),
    ]
}

fn scopes() -> Vec<Description> {
    let path = |scope: &str, variable: &str| {
        regex(variable, "GET (\\S+)", "$1$", "-1", "none").set("Sample.scope", scope)
    };
    vec![
        case(
            "scope-of-processors",
            &["RegexExtractor"],
            plan([
                regex("plan", "GET (\\S+)", "$1$", "1", "none"),
                group("users").with([
                    regex("group", "GET (\\S+)", "$1$", "1", "none"),
                    get("one", "/one").with([regex("one", "GET (\\S+)", "$1$", "1", "none")]),
                    get("s1", "/s1?p=${plan}&g=${group}&o=${one}"),
                    simple("deep")
                        .with([regex("deep", "GET (\\S+)", "$1$", "1", "none"), get("two", "/two")]),
                    show(&["plan", "group", "one", "deep"]),
                ]),
            ]),
        )
        .why("A processor applies to all samplers at and below its parent."),
        case(
            "scope-order",
            &["RegexExtractor", "UserParameters"],
            plan([group("users").with([
                regex("v", "(group|one)", "$1$", "1", "none"),
                user_parameters("outer", &["x"], &[&["outer"]], false),
                user_parameters("outer2", &["y"], &[&["${x}+"]], false),
                get("one", "/one?x=${x}&y=${y}").with([
                    regex("v", "x=(\\w+)", "$1$", "1", "none"),
                    regex("w", "y=(.*)", "${v}:$1$", "1", "none"),
                    user_parameters("inner", &["x"], &[&["inner"]], false),
                ]),
                show(&["v", "w", "x", "y"]),
            ])]),
        )
        .why("The order of processors at several levels."),
        case(
            "scope-sub-samples",
            &["RegexExtractor", "BoundaryExtractor"],
            plan([group("users").with([
                get("redirected", "/redirect/302/2").with([
                    path("parent", "p"),
                    path("children", "c"),
                    path("all", "a"),
                    regex("moved", "(moved)", "$1$", "-1", "none").set("Sample.scope", "children"),
                    boundary("b", "mo", "ed", "-1", "none").set("Sample.scope", "all"),
                    regex("var", "(.)b", "$1$", "1", "none")
                        .set("Sample.scope", "variable")
                        .set("Scope.variable", "text"),
                ]),
                variables("v", &[("text", "xaby")]),
                show(&[
                    "p_matchNr",
                    "c_matchNr",
                    "c_1",
                    "a_matchNr",
                    "a_2",
                    "moved_matchNr",
                    "b_matchNr",
                    "var",
                ]),
            ])]),
        ),
    ]
}
