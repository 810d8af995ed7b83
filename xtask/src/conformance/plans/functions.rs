//! Functions. Their values go out in the body of a request, one `name=[value]` a line.

use busyhour_standin::Order;

use super::super::elements::*;
use super::super::jmx::Node;
use super::{Description, case};

/// A request whose body has a line for each expression.
fn lines(name: &str, expressions: &[(&str, &str)]) -> Node {
    let body: Vec<String> =
        expressions.iter().map(|(name, expression)| format!("{name}=[{expression}]")).collect();
    raw("POST", name, "/body", &body.join("\n"))
}

/// A plan of one user that sends the lines once.
fn once_over(expressions: &[(&str, &str)]) -> Node {
    plan([group("users").with([
        variables(
            "v",
            &[("a", "5"), ("b", "12"), ("s", "some text"), ("q", "it's \"q\""), ("neg", "-3"), ("t", "true")],
        ),
        lines("lines", expressions),
    ])])
}

/// Hides what depends on the length of a value left to chance.
fn any_length(description: Description) -> Description {
    description.mask("^Content-Length: [0-9]+", "Content-Length: {N}").mask_columns(&["bytes", "sentBytes"])
}

pub fn cases() -> Vec<Description> {
    let mut cases = properties_and_variables();
    cases.extend(numbers_and_texts());
    cases.extend(scripts());
    cases.extend(chance_and_time());
    cases.extend(surroundings());
    cases
}

fn properties_and_variables() -> Vec<Description> {
    vec![
        case(
            "function-properties",
            &["__P", "__property", "__setProperty", "__isPropDefined", "__isVarDefined"],
            plan([loops("users", "2").with([
                variables("v", &[("name", "GIVEN"), ("there", "")]),
                lines(
                    "lines",
                    &[
                        ("p", "${__P(GIVEN)}"),
                        ("p default", "${__P(GIVEN,other)}"),
                        ("p missing", "${__P(MISSING)}"),
                        ("p missing default", "${__P(MISSING,dflt)}"),
                        ("p missing blank", "${__P(MISSING,)}"),
                        ("p by variable", "${__P(${name})}"),
                        ("property", "${__property(GIVEN)}"),
                        ("property missing", "${__property(MISSING)}"),
                        ("property default", "${__property(MISSING,,dflt)}"),
                        ("property variable", "${__property(GIVEN,copy)} ${copy}"),
                        ("set", "${__setProperty(MADE,${__threadNum}-${name})}"),
                        ("made", "${__P(MADE)}"),
                        ("set returning", "${__setProperty(MADE,two,true)}"),
                        ("set again", "${__setProperty(MADE,three,true)} ${__P(MADE)}"),
                        ("blank", "${__P(BLANK,x)}"),
                        ("spaces", "${__P( GIVEN )} ${__P(MISSING, dflt )}"),
                        ("defined", "${__isPropDefined(GIVEN)} ${__isPropDefined(MISSING)}"),
                        (
                            "variables",
                            "${__isVarDefined(name)} ${__isVarDefined(there)} ${__isVarDefined(gone)}",
                        ),
                    ],
                ),
            ])]),
        )
        .property("GIVEN", "a value, with comma")
        .why("In the second loop the property set in the first is there from the start."),
        case(
            "function-user-properties",
            &["__P"],
            plan([group("users").with([lines(
                "lines",
                &[("a", "${__P(a)}"), ("b", "${__P(b,none)}"), ("c", "${__P(c)}"), ("both", "${__P(both)}")],
            )])]),
        )
        .property("both", "command line")
        .file(
            "user.properties",
            "# a comment\na = first \nb:second\\\n   line\nc\\ d=no\nc=\\u00e9\\t!\nboth=file\n",
        )
        .why("A property file given by -q; the command line wins or not, as recorded."),
        case(
            "function-variables",
            &["__V", "__eval", "__evalVar"],
            plan([group("users").with([
                variables(
                    "v",
                    &[("x", "1"), ("v1", "one"), ("text", "x is ${x} and ${__P(GIVEN,p)}"), ("ref", "x")],
                ),
                lines(
                    "lines",
                    &[
                        ("v", "${__V(v${x})}"),
                        ("v missing", "${__V(v9)}"),
                        ("v default", "${__V(v9,dflt)}"),
                        ("v nested", "${__V(${__V(ref)})}"),
                        ("eval", "${__eval(${text})}"),
                        ("eval plain", "${__eval(no reference)}"),
                        ("evalVar", "${__evalVar(text)}"),
                        ("evalVar missing", "${__evalVar(gone)}"),
                    ],
                ),
            ])]),
        ),
        case(
            "function-syntax",
            &["__P", "__intSum"],
            plan([group("users").with([
                variables("v", &[("n", "3")]),
                lines(
                    "lines",
                    &[
                        ("nested", "${__intSum(${__intSum(1,2)},${n})}"),
                        ("stored", "${__intSum(1,2,sum)} ${sum}"),
                        ("comma", "${__P(MISSING,a\\,b)}"),
                        ("brace", "${__P(MISSING,{a})}"),
                        ("parentheses", "${__P(MISSING,(a))}"),
                        ("text around", "x${n}y${n}z"),
                        ("unknown function", "${__noSuchFunction(1)}"),
                        ("blank arguments", "${__P(MISSING, )}"),
                        ("no arguments", "${__threadNum()} ${__threadNum}"),
                        ("adjacent", "${n}${n}"),
                        ("dollar", "$n $$n \\${n}"),
                    ],
                ),
            ])]),
        )
        .why("The name of an unknown function stays as text."),
        case(
            "function-counter",
            &["__counter"],
            plan([
                loops("users", "3").with([
                    lines(
                        "lines",
                        &[
                            ("own", "${__counter(TRUE,c)}"),
                            ("c", "${c}"),
                            ("all", "${__counter(FALSE)}"),
                            ("other", "${__counter(TRUE,)}"),
                        ],
                    ),
                    lines("again", &[("own", "${__counter(TRUE,c)}")]),
                ]),
                loops("second", "2")
                    .with([lines("lines", &[("own", "${__counter(TRUE)}"), ("all", "${__counter(FALSE)}")])]),
            ])
            .set("TestPlan.serialize_threadgroups", true),
        )
        .why("Each place in the plan counts for itself."),
        case(
            "function-counter-shared",
            &["__counter"],
            plan([loops("users", "2").set("ThreadGroup.num_threads", "3").with([
                get("shared", "/c?all=${__counter(FALSE)}"),
                get("own", "/c?own=${__counter(TRUE)}"),
            ])]),
        )
        .order(Order::Any)
        .mask(" 1-[123],", " 1-{N},")
        .mask("^users 1-[123]$", "users 1-{N}")
        .mask_columns(&["grpThreads", "allThreads"]),
    ]
}

fn numbers_and_texts() -> Vec<Description> {
    vec![
        case(
            "function-sums",
            &["__intSum", "__longSum"],
            once_over(&[
                ("two", "${__intSum(2,3)}"),
                ("many", "${__intSum(1,2,3,4,-5)}"),
                ("variable", "${__intSum(${a},${b},sum)} ${sum}"),
                ("negative", "${__intSum(${neg},1)}"),
                ("overflow", "${__intSum(2147483647,1)}"),
                ("long", "${__longSum(2147483647,1)}"),
                ("long overflow", "${__longSum(9223372036854775807,1)}"),
                ("number as name", "${__intSum(1,2,3)}"),
                ("plus", "${__intSum(+1,2)}"),
            ]),
        ),
        case(
            "function-texts",
            &["__changeCase", "__char", "__split", "__escapeOroRegexpChars", "__unescape", "__regexFunction"],
            once_over(&[
                ("upper", "${__changeCase(${s} é,UPPER)}"),
                ("lower", "${__changeCase(ABC dE,LOWER)}"),
                ("capital", "${__changeCase(abc DEF,CAPITALIZE)}"),
                ("blank mode", "${__changeCase(abc def,)}"),
                ("stored", "${__changeCase(x,UPPER,up)}${up}"),
                ("char", "${__char(65,0x42,0103)}"),
                ("split", "${__split(a:b::d,part,:)} ${part_1} ${part_3} ${part_4} ${part_n}"),
                ("split comma", "${__split(a\\,b,p)} ${p_1} ${p_2} ${p_n}"),
                ("quote", "${__escapeOroRegexpChars(a.b*c[d],)}"),
                ("unescape", "${__unescape(a\\tb\\u0041)}"),
            ]),
        ),
        case(
            "function-encodings",
            &["__urlencode", "__urldecode", "__escapeHtml", "__unescapeHtml", "__escapeXml", "__digest"],
            once_over(&[
                ("urlencode", "${__urlencode(a b&c=d/é+~*'()!)}"),
                ("urldecode", "${__urldecode(a+b%26%C3%A9)}"),
                ("escapeHtml", "${__escapeHtml(<a href=\"x\">é & 'q' €</a>)}"),
                ("unescapeHtml", "${__unescapeHtml(&lt;&eacute;&#65;&amp;&nope;&euro;)}"),
                ("escapeXml", "${__escapeXml(<a b=\"c\">é & 'q')}"),
                ("md5", "${__digest(MD5,text,,,)}"),
                ("sha1", "${__digest(SHA-1,text,,,)}"),
                ("sha256 salt upper", "${__digest(SHA-256,text,salt,true,d)} ${d}"),
            ]),
        ),
        case(
            "function-log",
            &["__log", "__logn"],
            once_over(&[
                ("log", "${__log(a message)}"),
                ("level", "${__log(a message,DEBUG)}"),
                ("comment", "${__log(a message,INFO,,comment)}"),
                ("logn", "${__logn(a message)}"),
            ]),
        )
        .why("__log gives its message, __logn nothing."),
        case(
            "function-files",
            &["__FileToString", "__StringFromFile", "__CSVRead"],
            plan([loops("users", "3").with([lines(
                "lines",
                &[
                    ("whole", "${__FileToString(${__P(CASE)}/text.txt,UTF-8,w)}"),
                    ("line", "${__StringFromFile(${__P(CASE)}/text.txt)}"),
                    ("csv", "${__CSVRead(${__P(CASE)}/text.txt,0)} ${__CSVRead(${__P(CASE)}/text.txt,next)}"),
                ],
            )])]),
        )
        .file("text.txt", "one\ntwo\n"),
    ]
}

fn scripts() -> Vec<Description> {
    vec![
        case(
            "function-jexl",
            &["__jexl3", "__jexl2"],
            once_over(&[
                ("sum", "${__jexl3(1 + 2)} ${__jexl2(1 + 2)}"),
                ("variables", "${__jexl3(${a} * ${b} - 1)} ${__jexl2(${a} * ${b} - 1)}"),
                ("division", "${__jexl3(7 / 2)} ${__jexl2(7 / 2)}"),
                ("real", "${__jexl3(7.0 / 2)} ${__jexl3(0.1 + 0.2)}"),
                ("modulo", "${__jexl3(${b} % 5)} ${__jexl2(${b} % 5)}"),
                (
                    "compare",
                    "${__jexl3(${a} < ${b})} ${__jexl3(${a} == 5 && ${b} != 12)} ${__jexl2(${a} ge 5)}",
                ),
                ("strings", "${__jexl3(\"${s}\" == \"some text\")} ${__jexl3(\"a\" + \"b\" + 1)}"),
                ("words", "${__jexl3(${a} eq 5 and not (${b} lt 3) or false)}"),
                ("ternary", "${__jexl3(${a} > 3 ? \"big\" : \"small\")}"),
                ("vars", "${__jexl3(vars.get(\"s\"))} ${__jexl2(vars.get(\"s\"))}"),
                (
                    "methods",
                    "${__jexl3(\"abc\".length())} ${__jexl3(\"abc\".toUpperCase())} ${__jexl3(\"abc\".contains(\"b\"))}",
                ),
                ("stored", "${__jexl3(${a} + 1,r)} ${r}"),
            ]),
        ),
        case(
            "function-jexl-coercion",
            &["__jexl3"],
            once_over(&[
                ("string and number", "${__jexl3(\"${a}\" == 5)} ${__jexl3(\"${a}\" < 12)}"),
                ("null", "${__jexl3(vars.get(\"gone\") == null)} ${__jexl3(empty(\"\"))}"),
                ("regex", "${__jexl3(\"abc\" =~ \"a.*\")} ${__jexl3(\"abc\" !~ \"x\")}"),
                ("starts", "${__jexl3(\"abc\" =^ \"ab\")}"),
                ("negative", "${__jexl3(-${a})} ${__jexl3(${neg} * -1)}"),
                ("string plus", "${__jexl3(\"1\" + \"2\")}"),
            ]),
        ),
        case(
            "function-javascript",
            &["__javaScript"],
            once_over(&[
                ("sum", "${__javaScript(1 + 2)}"),
                ("variables", "${__javaScript(${a} * ${b})}"),
                ("division", "${__javaScript(7 / 2)} ${__javaScript(6 / 2)}"),
                ("string", "${__javaScript(\"${s}\".toUpperCase())}"),
                ("substring", "${__javaScript('${s}'.substring(0\\,4))}"),
                ("compare", "${__javaScript(${a} > 3 && '${s}' != '')}"),
                ("math", "${__javaScript(Math.floor(7.9))} ${__javaScript(Math.max(1\\,2))}"),
                ("ternary", "${__javaScript(${a} > 9 ? 'x' : 'y')}"),
                ("stored", "${__javaScript(${a} + 1,r)} ${r}"),
                ("statements", "${__javaScript(var x = 2; x * x)}"),
                ("vars", "${__javaScript(vars.get('s'))}"),
                ("array", "${__javaScript([1\\,2\\,3].join('-'))}"),
                ("fixed", "${__javaScript((10 / 4).toFixed(2))} ${__javaScript(parseInt('12px'))}"),
                ("big", "${__javaScript(2147483647 + 1)} ${__javaScript(1e21)} ${__javaScript(0.1 + 0.2)}"),
                ("boolean", "${__javaScript(${t} == true)}"),
            ]),
        ),
        case(
            "function-groovy",
            &["__groovy"],
            once_over(&[
                ("sum", "${__groovy(1 + 2)}"),
                (
                    "variables",
                    "${__groovy(vars.get('a') + vars.get('b'))} ${__groovy(vars.get('a').toInteger() * 2)}",
                ),
                ("text", "${__groovy(\"${s}\".toUpperCase())} ${__groovy('${s}'.length())}"),
                (
                    "compare",
                    "${__groovy('${a}' == '5')} ${__groovy(vars.get('a').toInteger() < 3)} ${__groovy(vars.get('gone') == null)}",
                ),
                ("modulo", "${__groovy(vars.get('b').toInteger() % 5 == 2)}"),
                ("ternary", "${__groovy(vars.get('a') == '5' ? 'yes' : 'no')}"),
                ("substring", "${__groovy('abcdef'.substring(1\\,3))} ${__groovy('abc'.contains('b'))}"),
                ("stored", "${__groovy(40 + 2,r)} ${r}"),
                ("parse", "${__groovy(Integer.parseInt(vars.get('a')) + 1)}"),
                ("plus text", "${__groovy('a' + 1 + 2)}"),
                ("logic", "${__groovy(true && !false || false)}"),
            ]),
        ),
        case(
            "function-groovy-surroundings",
            &["__groovy"],
            once_over(&[
                ("put", "${__groovy(vars.put('made'\\,'x'))} ${made}"),
                ("bracket", "${__groovy(vars['a'])} ${__groovy(vars.a)}"),
                ("props", "${__groovy(props.get('GIVEN'))}"),
            ]),
        )
        .property("GIVEN", "a property"),
        case(
            "function-beanshell",
            &["__BeanShell"],
            once_over(&[
                ("sum", "${__BeanShell(1 + 2)}"),
                ("variables", "${__BeanShell(vars.get(\"a\") + vars.get(\"b\"))}"),
                ("numbers", "${__BeanShell(${a} * ${b})} ${__BeanShell(7 / 2)} ${__BeanShell(7.0 / 2)}"),
                ("compare", "${__BeanShell(${a} > 3)} ${__BeanShell(\"${s}\".equals(\"some text\"))}"),
                ("text", "${__BeanShell(\"${s}\".toUpperCase())} ${__BeanShell(\"abc\".length())}"),
                ("parse", "${__BeanShell(Integer.parseInt(vars.get(\"a\")) + 1)}"),
                ("stored", "${__BeanShell(40 + 2,r)} ${r}"),
            ]),
        ),
    ]
}

fn chance_and_time() -> Vec<Description> {
    vec![
        any_length(
            case(
                "function-random",
                &["__Random", "__RandomString", "__UUID"],
                plan([loops("users", "3").with([lines(
                    "lines",
                    &[
                        ("one value", "${__Random(7,7)}"),
                        ("digit", "${__Random(1,9,d)} ${d}"),
                        ("wide", "${__Random(100,999)}"),
                        ("string", "${__RandomString(5,abc)}"),
                        ("string same", "${__RandomString(3,x,rs)} ${rs}"),
                        ("any", "${__RandomString(4)}"),
                        ("uuid", "${__UUID}"),
                        ("uuid2", "${__UUID()}"),
                    ],
                )])]),
            )
            .mask("digit=\\[([1-9]) [1-9]\\]", "digit=[{DIGIT}]")
            .mask("wide=\\[[1-9][0-9]{2}\\]", "wide=[{WIDE}]")
            .mask("string=\\[[abc]{5}\\]", "string=[{ABC}]")
            .mask("(?s)any=\\[.*?\\]\\nuuid=", "any=[{ANY}]\nuuid=")
            .mask("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", "{UUID}"),
        ),
        case(
            "function-time",
            &["__time"],
            once_over(&[
                ("ms", "${__time}"),
                ("ms2", "${__time()}"),
                ("seconds", "${__time(/1000)}"),
                ("thousands", "${__time(/60000)}"),
                ("ymd", "${__time(YMD)}"),
                ("hms", "${__time(HMS)}"),
                ("ymdhms", "${__time(YMDHMS)}"),
                ("format", "${__time(yyyy-MM-dd'T'HH:mm:ss.SSS)}"),
                ("zone", "${__time(yyyy-MM-dd HH:mm Z)}"),
                ("stored", "${__time(yyyy,year)} ${year}"),
            ]),
        )
        .mask("ms=\\[\\d{13}\\]", "ms=[{MS}]")
        .mask("ms2=\\[\\d{13}\\]", "ms2=[{MS}]")
        .mask("seconds=\\[\\d{10}\\]", "seconds=[{S}]")
        .mask("thousands=\\[\\d{8}\\]", "thousands=[{MIN}]")
        .mask("ymd=\\[\\d{8}\\]", "ymd=[{YMD}]")
        .mask("hms=\\[\\d{6}\\]", "hms=[{HMS}]")
        .mask("ymdhms=\\[\\d{8}-\\d{6}\\]", "ymdhms=[{YMDHMS}]")
        .mask("format=\\[\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}\\]", "format=[{FORMAT}]")
        .mask("zone=\\[\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d [+-]\\d{4}\\]", "zone=[{ZONE}]")
        .mask("stored=\\[(\\d{4}) \\d{4}\\]", "stored=[{YEAR} {YEAR}]"),
        case(
            "function-time-shift",
            &["__timeShift", "__dateTimeConvert", "__RandomDate"],
            once_over(&[
                ("days", "${__timeShift(yyyy-MM-dd,2024-02-28,P2D,,)}"),
                ("back", "${__timeShift(yyyy-MM-dd HH:mm:ss,2024-01-01 00:00:00,-PT1S,,)}"),
                ("hours", "${__timeShift(dd/MM/yyyy HH:mm,31/12/2023 22:30,PT1H45M,,)}"),
                ("mixed", "${__timeShift(yyyy-MM-dd HH:mm,2024-03-01 12:00,P1DT12H,,)}"),
                ("none", "${__timeShift(yyyy-MM-dd,2024-02-28,,,)}"),
                ("stored", "${__timeShift(yyyy-MM-dd,2024-02-28,P-1D,,d)} ${d}"),
                ("names", "${__timeShift(EEE dd MMM yyyy,Wed 28 Feb 2024,P1D,en_US,)}"),
                ("convert", "${__dateTimeConvert(2024-02-28 13:05,yyyy-MM-dd HH:mm,dd.MM.yy hh:mm a,)}"),
                ("random", "${__RandomDate(yyyy-MM-dd,2024-01-01,2024-01-02,,)}"),
            ]),
        ),
        case(
            "function-time-shift-now",
            &["__timeShift"],
            once_over(&[("ms", "${__timeShift(,,,,)}"), ("tomorrow", "${__timeShift(yyyy-MM-dd,,P1D,,)}")]),
        )
        .mask("\\d{13}", "{MS}")
        .mask("\\d{4}-\\d\\d-\\d\\d", "{DATE}"),
    ]
}

fn surroundings() -> Vec<Description> {
    vec![
        case(
            "function-surroundings",
            &["__threadNum", "__threadGroupName", "__samplerName", "__TestPlanName"],
            plan([loops("the users", "2").with([lines(
                "the sampler",
                &[
                    ("thread", "${__threadNum}"),
                    ("group", "${__threadGroupName}"),
                    ("sampler", "${__samplerName()}"),
                    ("plan", "${__TestPlanName}"),
                    ("stored", "${__samplerName(name)} ${name}"),
                ],
            )])]),
        ),
        any_length(
            case(
                "function-machine",
                &["__machineName", "__machineIP"],
                once_over(&[("name", "${__machineName}"), ("ip", "${__machineIP}")]),
            )
            .mask("name=\\[[^\\]]+\\]", "name=[{NAME}]")
            .mask("ip=\\[[^\\]]+\\]", "ip=[{IP}]"),
        ),
        case(
            "functions-everywhere",
            &["__intSum", "__P"],
            plan([loops("${__P(GROUP,users)}", "${__intSum(1,1)}").with([
                headers("h", &[("X-${__P(HEAD,Made)}", "${__intSum(${__threadNum},1)}")]),
                simple("${__P(S,simple)}").with([get(
                    "label ${__intSum(1,2)} ${__P(L,x)}",
                    "/p${__intSum(2,2)}",
                )
                .with([
                    response_assertion("a", "response_data", 16, &["p${__intSum(2,2)}"]),
                    regex("${__P(VAR,r)}", "(${__P(RE,GET)})", "$1$", "${__intSum(0,1)}", ""),
                    constant_timer("t", "${__intSum(0,1)}"),
                ])]),
                get("show", "/show?r=${r}&g=${__threadGroupName}"),
            ])]),
        )
        .why("Functions may stand in any property, names included."),
    ]
}
