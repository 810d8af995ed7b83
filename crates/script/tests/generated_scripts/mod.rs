//! Scripts generated from bytes, and the check that each of them must pass.

#[path = "../support/mod.rs"]
#[allow(dead_code, reason = "other tests use all of it")]
mod support;

use std::sync::OnceLock;

use busyhour_script::{ScriptError, java_like, javascript, jexl};

/// The table of supported methods: a kind of receiver, and for each method the possible numbers of arguments.
const METHODS: &str = include_str!("../../src/jvm/supported_methods.txt");

/// Expressions for each kind of receiver.
const RECEIVERS: &[(&str, &[&str])] = &[
    ("String", &["'a,b c'", "\"x$one\"", "''", "'12'", "'ä€\\n'", "vars.get('word')"]),
    ("Integer", &["3", "-1", "0", "2147483647"]),
    ("Long", &["3L", "9223372036854775807L"]),
    ("Double", &["1.5d", "-0.0d", "1e300d"]),
    ("BigDecimal", &["1.5", "100.00", "0.1"]),
    ("Boolean", &["true", "false"]),
    ("List", &["[1, 'a', 3]", "[]", "[[1, 2], [3]]", "[3, 1, 2]", "new ArrayList([1, 2])"]),
    ("Map", &["[a: 1, b: [2]]", "[:]", "new HashMap()", "['x': null]"]),
    ("Set", &["new HashSet([1, 2])", "([1, 1] as Set)"]),
    ("Range", &["(1..3)", "(3..1)", "('a'..'c')"]),
    ("StringBuilder", &["new StringBuilder('abc')", "new StringBuilder()"]),
    ("Closure", &["{ it }", "{ -> 1 }", "{ a, b -> a }"]),
    ("Array", &["([1, 2] as int[])", "'a,b'.split(',')", "new String[2]"]),
    ("Date", &["new Date(0)"]),
    ("LocalDate", &["LocalDate.of(2020, 2, 29)"]),
    ("Instant", &["Instant.ofEpochMilli(0)"]),
    ("JsonSlurper", &["new groovy.json.JsonSlurper()"]),
    ("XmlSlurper", &["new XmlSlurper()"]),
    ("Pattern", &["(~'a(b*)')"]),
    ("Matcher", &["('abab' =~ 'a(b)')"]),
    ("UUID", &["UUID.fromString('00000000-0000-0001-0000-000000000002')"]),
    ("Random", &["new Random(1)"]),
    ("vars", &["vars"]),
    ("props", &["props"]),
    ("ctx", &["ctx"]),
    ("log", &["log"]),
    ("prev", &["prev"]),
    ("StringWriter", &["new StringWriter()"]),
    ("Iterator", &["[1, 2].iterator()"]),
    ("Exception", &["new Exception('e')"]),
];

/// Methods that wait, or that read or write files and standard streams.
const EXCLUDED_METHODS: &[&str] =
    &["sleep", "wait", "transferTo", "withWriter", "print", "println", "printf", "printStackTrace"];

const OPERATORS: &[&str] = &[
    "+",
    "-",
    "*",
    "/",
    "%",
    "==",
    "!=",
    "<",
    ">",
    "<=",
    ">=",
    "&&",
    "||",
    "&",
    "|",
    "^",
    "<<",
    ">>",
    "<=>",
    "in",
    "**",
    "..",
    "=~",
    "==~",
    "?:",
    "instanceof String ||",
];

const PLAIN: &[&str] = &[
    "1",
    "0",
    "-1",
    "2147483647",
    "1.5",
    "'a'",
    "''",
    "null",
    "true",
    "false",
    "\"${one}\"",
    "\"$word-${two + 1}\"",
    "[]",
    "[1, 2]",
    "[a: 1]",
    "'[1, {\"a\": 2}]'",
    "'<r><a b=\"1\">x</a></r>'",
    "/a+/",
    "10L",
    "'yyyy-MM-dd'",
    "'$.a[*]'",
    "{ it }",
    "{ x, y -> x }",
    "vars",
    "one",
    "unknown",
    "v",
    "w",
];

/// Statements for the bodies of loops: they build nested values, long strings and large collections.
const REPEATED: &[&str] = &[
    "v = [v];",
    "v = [v, w];",
    "v = [a: v];",
    "v = [v] as Set;",
    "def b = v; v = { b };",
    "w = w + 'a,';",
    "w = 'b' + w; v = w.split('b');",
    "v = [v].iterator();",
    "v = new RuntimeException('e', null);",
    "v = v == w ? [v, v] : [w];",
    "vars.put('k' + i, w + i);",
    "v = [a: v].entrySet();",
];

/// Statements for the bodies of loops in BeanShell.
const REPEATED_IN_BEANSHELL: &[&str] = &[
    "l = new ArrayList(); l.add(v); v = l;",
    "m = new HashMap(); m.put(\"a\", v); v = m;",
    "w = w + \"a,\";",
    "vars.put(\"k\" + i, \"\" + i);",
];

/// Numbers of repetitions of loops, in ordinary tests.
#[allow(dead_code, reason = "the fuzz target chooses its own")]
pub const COUNTS: [u32; 3] = [10, 100, 1_000];

/// Reads choices from bytes. When no bytes remain, each choice is the first alternative.
struct Choices<'b> {
    bytes: &'b [u8],
    counts: [u32; 3],
    depth: u32,
    groovy: bool,
}

struct Method {
    kind: &'static str,
    name: &'static str,
    counts: &'static str,
}

fn methods() -> &'static [Method] {
    static ALL: OnceLock<Vec<Method>> = OnceLock::new();
    ALL.get_or_init(|| {
        let rows = METHODS.lines().filter_map(|line| line.split_once(": "));
        let of_row = |(kind, methods): (&'static str, &'static str)| {
            let methods = methods.split(' ').filter_map(|word| word.split_once('/'));
            methods.map(move |(name, counts)| Method { kind, name, counts })
        };
        let is_wanted = |method: &Method| {
            !EXCLUDED_METHODS.contains(&method.name) && RECEIVERS.iter().any(|(kind, _)| *kind == method.kind)
        };
        rows.flat_map(of_row).filter(is_wanted).collect()
    })
}

impl Choices<'_> {
    fn byte(&mut self) -> u8 {
        match self.bytes.split_first() {
            Some((first, rest)) => {
                self.bytes = rest;
                *first
            }
            None => 0,
        }
    }

    fn below(&mut self, end: usize) -> usize {
        let wide = usize::from(self.byte()) << 8 | usize::from(self.byte());
        wide % end.max(1)
    }

    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn receiver(&mut self, kind: &str) -> &'static str {
        let of_kind =
            RECEIVERS.iter().find(|(name, _)| *name == kind).map_or(&["v"] as &[_], |(_, texts)| texts);
        self.one_of(of_kind)
    }

    fn expression(&mut self) -> String {
        self.depth += 1;
        let choice = if self.depth > 5 { 0 } else { self.byte() % 12 };
        let text = match choice {
            0..=2 => self.one_of(PLAIN).to_owned(),
            3..=6 => self.call(),
            7 => format!("({} {} {})", self.expression(), self.one_of(OPERATORS), self.expression()),
            8 => format!("({} ? {} : {})", self.expression(), self.expression(), self.expression()),
            9 => format!("[{}, {}]", self.expression(), self.expression()),
            10 if self.groovy => format!("\"<${{{}}}>\"", self.expression().replace(['"', '\n'], "'")),
            10 => format!("({} + \"\")", self.expression()),
            _ => format!("{}[{}]", self.one_of(&["v", "w", "[1, 2]", "'abc'"]), self.expression()),
        };
        self.depth -= 1;
        text
    }

    fn call(&mut self) -> String {
        let method = &methods()[self.below(methods().len())];
        // Usually a receiver that has the method.
        let receiver = match self.byte() % 8 {
            0 => self.expression(),
            1 => self.one_of(&["v", "w"]).to_owned(),
            _ => self.receiver(method.kind).to_owned(),
        };
        let counts = method.counts.as_bytes();
        let count = usize::from(counts[self.below(counts.len())].saturating_sub(b'0')).min(4);
        let arguments: Vec<String> = (0..count)
            .map(|_| {
                if self.byte().is_multiple_of(3) && self.groovy { self.closure() } else { self.expression() }
            })
            .collect();
        format!("{receiver}.{}({})", method.name, arguments.join(", "))
    }

    fn closure(&mut self) -> String {
        let parameters = self.one_of(&["", "-> ", "x -> ", "x, y -> ", "x, y, z -> "]);
        self.depth += 1;
        let body = self.expression();
        self.depth -= 1;
        format!("{{ {parameters}{body} }}")
    }

    fn block(&mut self) -> String {
        self.depth += 1;
        let statements: Vec<String> = (0..=self.byte() % 2).map(|_| self.statement()).collect();
        self.depth -= 1;
        format!("{{\n{}\n}}", statements.join("\n"))
    }

    fn statement(&mut self) -> String {
        let choice = if self.depth > 3 { self.byte() % 4 } else { self.byte() % 15 };
        let name = self.one_of(&["v", "w"]);
        match choice {
            0 => format!("{};", self.call()),
            1 | 2 => format!("{name} = {};", self.expression()),
            3 => format!("vars.put('out', '' + {});", self.expression()),
            4 => format!("if ({}) {} else {}", self.expression(), self.block(), self.block()),
            5 => format!("for (int i = 0; i < 3; i++) {}", self.block()),
            6 if self.groovy => format!("for (x in {}) {}", self.expression(), self.block()),
            6 => format!("for (x : {}) {}", self.expression(), self.block()),
            7 => format!("try {} catch (Exception e) {}", self.block(), self.block()),
            8 => format!("while ({name} == {}) {{ {name} = 7; break; }}", self.expression()),
            9 => format!(
                "switch ({}) {{ case {}: {} break; default: {} }}",
                self.expression(),
                self.expression(),
                self.statement(),
                self.statement()
            ),
            10 => format!("return {};", self.expression()),
            11 if self.groovy => format!("def ({name}, other) = {}", self.expression()),
            13 => {
                let (count, of) = (
                    self.one_of(&self.counts.clone()),
                    if self.groovy { REPEATED } else { REPEATED_IN_BEANSHELL },
                );
                format!("for (int i = 0; i < {count}; i++) {{ {} }}", self.one_of(of))
            }
            12 => format!("throw new Exception('' + {});", self.expression()),
            _ => format!("{name} = {};", self.expression()),
        }
    }

    /// A script of one language.
    fn script(&mut self) -> String {
        let start = if self.groovy { "def v = 1; def w = 'text';\n" } else { "v = 1; w = \"text\";\n" };
        let statements: Vec<String> = (0..=self.byte() % 4).map(|_| self.statement()).collect();
        start.to_owned() + &statements.join("\n")
    }
}

/// The script that the bytes select: the first byte determines the language, the others the text.
pub fn script(bytes: &[u8], counts: [u32; 3]) -> String {
    let (first, rest) = bytes.split_first().unwrap_or((&0, &[]));
    Choices { bytes: rest, counts, depth: 0, groovy: first % 4 != 1 }.script()
}

/// Compiles and runs the script that the bytes select. The script must not panic or run without end, and must have the
/// same outcome if it is run twice. It must not call an unsupported method unless the compiler warned about it.
/// `counts` are the possible numbers of repetitions of loops.
///
/// # Panics
/// If one of these conditions is violated.
pub fn check(bytes: &[u8], counts: [u32; 3]) {
    let text = script(bytes, counts);
    match bytes.first().copied().unwrap_or(0) % 4 {
        0 | 3 => check_java_like(&text, java_like::JavaLike::Groovy),
        1 => check_java_like(&text, java_like::JavaLike::BeanShell),
        _ => {
            // The other languages usually reject the text; they must not panic.
            if let Ok(script) = javascript::compile(&text) {
                let _ = script.evaluate(&mut support::User::new());
            }
            for version in [jexl::Version::Two, jexl::Version::Three] {
                if let Ok(script) = jexl::compile(&text, version) {
                    let _ = script.evaluate(&mut support::User::new());
                }
            }
        }
    }
}

fn check_java_like(text: &str, language: java_like::JavaLike) {
    let Ok(script) = java_like::compile(text, language) else { return };
    let run = || {
        let mut user = support::User::new();
        let value = script.evaluate(&mut user).map(|value| value.to_java_string());
        (value, user.changes())
    };
    let (value, changes) = run();
    // In an accepted script, all methods are supported. It may still fail for arguments and indexes of unsupported types, because it
    // is not always known whether Groovy throws for them, too.
    if let Err(ScriptError::Unsupported { what, .. }) = &value {
        let is_missing = what.starts_with('`')
            && !what.starts_with("`~")
            && what.contains("` of ")
            && !what.contains(" and ")
            && !what.ends_with("with these arguments");
        assert!(!is_missing || !script.warnings().is_empty(), "{what}\n{text}");
    }
    // The outcome of a time limit depends on the machine, and identities depend on memory addresses.
    if !matches!(value, Err(ScriptError::LimitReached { .. }))
        && !text.contains("hashCode")
        && !text.contains("Object")
    {
        assert_eq!(run(), (value, changes), "a second run has the same outcome\n{text}");
    }
}
