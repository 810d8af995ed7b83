//! Calls every method name on an object of every kind of receiver.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use jiff::tz::TimeZone;

use super::super::classes::Class;
use super::super::fault::Cause;
use super::super::library;
use super::super::machine::Machine;
use super::super::model::{Frame, Role};
use super::super::objects::Object;
use super::super::tree::{Base, Function, Parameter, Tree, Type};
use super::super::value::{Host, Order, V};
use super::super::{known, patterns, random, stack};
use super::test_scope::TestScope;
use crate::language::{Dialect, JavaLike};

fn tree() -> Tree {
    let names = vec![Arc::from("it"), Arc::from("other")];
    Tree {
        dialect: Dialect::Groovy,
        text: Arc::from(""),
        statements: Vec::new(),
        names,
        classes: Vec::new(),
        warnings: Vec::new(),
        accesses_request: false,
    }
}

/// A closure that returns null.
fn closure(machine: &Machine<'_>, parameters: u32) -> V {
    let parameter = |name| Parameter { name, declared: Type::ANY, default: None, is_rest: false };
    let function = Function {
        name: "closure".into(),
        parameters: (0..parameters).map(parameter).collect(),
        implicit: false,
        body: Vec::new(),
        result: Type::ANY,
    };
    machine.closure(&Arc::new(function), &std::rc::Rc::new(Frame::new(Vec::new(), None, Role::Variables)))
}

fn receivers(machine: &Machine<'_>) -> Vec<(&'static str, V)> {
    let items = || vec![V::int(3), V::int(1)];
    vec![
        ("String", V::text("a1")),
        ("Integer", V::int(2)),
        ("Long", V::long(2)),
        ("BigDecimal", V::Plain(crate::Value::Decimal(crate::decimal::Decimal::whole(2)))),
        ("Double", V::double(2.5)),
        ("Boolean", V::truth(true)),
        ("List", V::list(items())),
        ("Range", V::range(vec![V::int(1), V::int(2)], "1..2")),
        ("Set", V::set(items(), Order::Added)),
        ("Map", V::map(vec![(V::text("a"), V::int(1))])),
        ("Array", V::array(items(), super::super::tree::Base::Int)),
        ("Closure", closure(machine, 0)),
        (
            "StringBuilder",
            V::object(Object::Builder(RefCell::new("ab".into()), Class::known("StringBuilder"))),
        ),
        ("Date", V::object(Object::Date(Cell::new(0)))),
        ("Random", V::object(Object::Random(RefCell::new(random::JavaRandom::new(1))))),
        ("SimpleDateFormat", V::object(Object::DateFormat("yyyy".into(), RefCell::default()))),
        ("Pattern", V::object(Object::Pattern("a".into()))),
        ("Matcher", V::object(Object::Matcher(patterns::Matcher::new("a(.)", "a1")))),
        ("JsonSlurper", V::object(Object::Slurper)),
        ("Atomic", V::object(Object::Atomic(Cell::new(1), Class::known("AtomicInteger")))),
        ("Entry", V::object(Object::Entry(V::text("a"), V::int(1)))),
        ("Iterator", V::object(Object::Iterator(RefCell::new(items().into_iter().collect())))),
        ("vars", V::Host(Host::Vars)),
        ("props", V::Host(Host::Props)),
        ("log", V::Host(Host::Log)),
        ("ctx", V::Host(Host::Context)),
        ("prev", V::Host(Host::Previous)),
        ("sampler", V::Host(Host::Sampler)),
        ("OUT", V::Host(Host::Out)),
        ("AssertionResult", V::Host(Host::Assertion)),
        ("sampleEvent", V::Host(Host::Event)),
        ("thread", V::Host(Host::Thread)),
        ("engine", V::Host(Host::Engine)),
        ("group", V::Host(Host::Group)),
        ("subResult", V::object(Object::SubResult(0))),
    ]
}

/// Objects that are created by expressions.
const EXPRESSIONS: &[(&str, &str)] = &[
    ("File", "new File(FOLDER, 'none/file')"),
    ("Calendar", "Calendar.getInstance()"),
    ("DecimalFormat", "new java.text.DecimalFormat('0.0')"),
    ("LocalDate", "java.time.LocalDate.of(2020, 1, 2)"),
    ("LocalDateTime", "java.time.LocalDateTime.of(2020, 1, 2, 3, 4)"),
    ("LocalTime", "java.time.LocalTime.now()"),
    ("Instant", "java.time.Instant.ofEpochMilli(1)"),
    ("ZonedDateTime", "java.time.ZonedDateTime.now()"),
    ("Formatter", "java.time.format.DateTimeFormatter.ofPattern('yyyy')"),
    ("Exception", "new Exception('a')"),
    ("Digest", "java.security.MessageDigest.getInstance('MD5')"),
    ("Mac", "javax.crypto.Mac.getInstance('HmacSHA256')"),
    ("Encoder", "Base64.getEncoder()"),
    ("Decoder", "Base64.getDecoder()"),
    ("UUID", "UUID.randomUUID()"),
    ("TimeZone", "TimeZone.getTimeZone('UTC')"),
    ("StringWriter", "new StringWriter()"),
    ("StringReader", "new StringReader('a')"),
    ("URL", "new URL('http://a/b')"),
    ("HttpURLConnection", "[new URL('http://a/b')][0].openConnection()"),
    ("XmlSlurper", "new XmlSlurper()"),
    ("XmlParser", "new XmlParser()"),
    ("GPathResult", "new XmlSlurper().parseText('<a><b>1</b></a>').b"),
    ("NodeChild", "new XmlSlurper().parseText('<a><b>1</b></a>')"),
    ("Node", "new XmlParser().parseText('<a><b>1</b></a>')"),
    ("DocumentContext", "com.jayway.jsonpath.JsonPath.parse('{}')"),
    ("Arguments", "new org.apache.jmeter.config.Arguments()"),
    ("HTTPArgument", "new org.apache.jmeter.protocol.http.util.HTTPArgument()"),
    ("HTTPFileArg", "new org.apache.jmeter.protocol.http.util.HTTPFileArg()"),
    ("HeaderManager", "new org.apache.jmeter.protocol.http.control.HeaderManager()"),
    ("Header", "new org.apache.jmeter.protocol.http.control.Header()"),
    ("Cookie", "new org.apache.jmeter.protocol.http.control.Cookie()"),
    ("SampleResult", "new org.apache.jmeter.samplers.SampleResult()"),
    ("Duration", "groovy.time.TimeCategory.getDays(5)"),
    ("TimeDuration", "groovy.time.TimeCategory.getMinutes(5)"),
    ("DatumDependentDuration", "groovy.time.TimeCategory.getMonths(5)"),
    ("From", "groovy.time.TimeCategory.getMonths(5).getFrom()"),
];

/// The directory for probes of files; it does not exist.
fn folder() -> std::path::PathBuf {
    std::env::temp_dir().join(format!("busyhour-probe-{}", std::process::id()))
}

fn evaluated(expression: &str) -> V {
    let folder = folder().display().to_string();
    let text = expression.replace("FOLDER", &format!("'{folder}'"));
    let tree = super::super::parser::parse(&text, JavaLike::Groovy).expect("an expression");
    let mut scope = TestScope::default();
    Machine::new(&tree, &mut scope).last_value().expect("a value")
}

fn arguments(machine: &Machine<'_>) -> Vec<V> {
    vec![
        V::int(1),
        V::text("a"),
        closure(machine, 1),
        closure(machine, 2),
        V::list(vec![V::int(1)]),
        V::map(vec![(V::text("a"), V::int(1))]),
        V::truth(true),
        V::Plain(crate::Value::Character(97)),
        V::object(Object::Date(Cell::new(1))),
        V::object(Object::Zone(TimeZone::UTC, "UTC".into())),
        V::Class(Class::known("String")),
        V::NULL,
        // The only property of a sampler that is an object.
        V::text("HTTPSampler.cookie_manager"),
        V::bytes(b"ab"),
        V::array(vec![V::text("a")], Base::Text),
        V::double(1.5),
        V::object(Object::File(folder().join("none/file"))),
        V::object(Object::Unit("SECONDS")),
        evaluated("java.time.LocalDateTime.of(2020, 1, 2, 3, 4)"),
        evaluated("java.time.format.DateTimeFormatter.ofPattern('yyyy')"),
        V::object(Object::Key(vec![1])),
        V::object(Object::Builder(RefCell::default(), Class::known("StringBuilder"))),
        evaluated("new StringWriter()"),
        evaluated("new StringReader('a')"),
        evaluated("new org.apache.jmeter.protocol.http.util.HTTPArgument()"),
        evaluated("new org.apache.jmeter.config.Arguments()"),
        evaluated("new org.apache.jmeter.protocol.http.control.Header()"),
        evaluated("new org.apache.jmeter.protocol.http.control.HeaderManager()"),
        evaluated("new org.apache.jmeter.protocol.http.control.Cookie()"),
        evaluated("org.apache.jmeter.threads.JMeterContext.TestLogicalAction.CONTINUE"),
        evaluated("new org.apache.jmeter.samplers.SampleResult()"),
        evaluated("groovy.time.TimeCategory.getMinutes(5)"),
        evaluated("java.time.Period.ofDays(1)"),
        evaluated("java.time.Duration.ofDays(1)"),
        V::text("HTTPSampler.path"),
    ]
}

/// Lists of this number of arguments to try.
fn combinations(machine: &Machine<'_>, count: u32) -> Vec<Vec<V>> {
    let all = arguments(machine);
    match count {
        0 => vec![Vec::new()],
        1 => all.into_iter().map(|argument| vec![argument]).collect(),
        2 => {
            let first = [0, 1, 2, 3, 4, 5, 8, 13, 14, 16, 18, 30];
            let pairs = first.iter().flat_map(|a| all.iter().map(|b| vec![all[*a].clone(), b.clone()]));
            let filters = V::array(Vec::new(), Base::Any);
            pairs
                .chain([
                    vec![V::text("HTTPSampler.path"), V::text("a")],
                    vec![V::truth(false), V::truth(false)],
                    vec![V::text("$"), filters],
                ])
                .collect()
        }
        _ => vec![
            vec![V::text("a"), V::text("a"), V::text("a")],
            vec![V::text("{}"), V::text("$"), V::array(Vec::new(), Base::Any)],
            vec![V::text("a"), V::text("a"), V::text("")],
            vec![V::int(1), V::truth(true), V::truth(false)],
            vec![V::bytes(b"ab"), V::int(0), V::int(1)],
            vec![V::list(vec![V::int(1)]), V::int(0), V::int(1)],
            vec![V::array(vec![V::int(1)], Base::Any), V::int(0), V::int(1)],
            vec![V::object(Object::File(folder().join("none/file"))), V::text("a"), V::text("UTF-8")],
            vec![V::text("a"), V::text("a"), V::truth(true)],
            vec![V::truth(false), V::truth(true), V::truth(true)],
            vec![V::int(1), V::int(1), V::int(1)],
            vec![V::int(5), V::int(1), closure(machine, 1)],
            vec![V::int(0), V::int(0), V::object(Object::Zone(TimeZone::UTC, "UTC".into()))],
            (1..=7).map(V::int).chain([V::object(Object::Zone(TimeZone::UTC, "UTC".into()))]).collect(),
            vec![
                V::array(vec![V::int(1)], Base::Int),
                V::int(0),
                V::array(vec![V::int(2)], Base::Int),
                V::int(0),
                V::int(1),
            ],
            vec![V::int(0), V::text("a"), V::int(0), V::int(1)],
            vec![V::int(0), V::int(1), V::text("a")],
            vec![V::text("a"), V::int(1), V::text("a")],
        ],
    }
}

type Found = BTreeMap<String, BTreeMap<String, BTreeSet<u32>>>;

/// Whether a call is supported with at least one of the lists of arguments.
fn is_supported(
    given: &[Vec<V>],
    mut call: impl FnMut(&mut Machine<'_>, &[V]) -> super::super::fault::Outcome,
) -> bool {
    let tree = tree();
    let mut scope = TestScope::default();
    let _run = stack::begin();
    let mut machine = Machine::new(&tree, &mut scope);
    given.iter().any(|given| {
        let outcome = call(&mut machine, given);
        !matches!(outcome, Err(fault) if matches!(fault.cause, Cause::Unsupported(_)))
    })
}

/// Methods of objects of all classes.
const COMMON_METHODS: &str = "asBoolean asType equals getClass hashCode inspect is tap toString with";

/// Names of methods that an object of this kind may have.
fn candidates(kind: &str) -> Vec<&'static str> {
    let class = if matches!(kind, "GPathResult" | "NodeChild") { "NodeChildren" } else { kind };
    let common = COMMON_METHODS.split(' ');
    if let Some(methods) = known::host_methods(kind) {
        return methods.iter().copied().chain(common).collect();
    }
    match library::registry::find(class) {
        Some(offer) => offer.methods.split_ascii_whitespace().chain(common).collect(),
        None => known::methods().chain(library::registry::methods()).chain(common).collect(),
    }
}

fn probe_objects(given: &[Vec<Vec<V>>], found: &mut Found) {
    let tree = tree();
    let mut scope = TestScope::default();
    let machine = Machine::new(&tree, &mut scope);
    let kinds: Vec<&str> = receivers(&machine).iter().map(|(kind, _)| *kind).collect();
    let sources = kinds.iter().enumerate().map(|(at, kind)| (*kind, ObjectSource::Receiver(at)));
    let sources = sources
        .chain(EXPRESSIONS.iter().map(|(kind, expression)| (*kind, ObjectSource::Expression(expression))));
    for (kind, source) in sources {
        for method in candidates(kind) {
            for count in 0..=3_u32 {
                // An unsupported call does not change the object, so all attempts can use the same object.
                let object = source.object(&machine);
                let any = is_supported(&given[count as usize], |machine, given| {
                    machine.dispatch(&object, method, given)
                });
                if any {
                    found.entry(kind.into()).or_default().entry(method.into()).or_default().insert(count);
                }
            }
        }
    }
}

/// The source of an object for a probe.
enum ObjectSource {
    Receiver(usize),
    Expression(&'static str),
}

impl ObjectSource {
    fn object(&self, machine: &Machine<'_>) -> V {
        match self {
            ObjectSource::Receiver(at) => receivers(machine).swap_remove(*at).1,
            ObjectSource::Expression(expression) => evaluated(expression),
        }
    }
}

fn probe_statics(given: &[Vec<Vec<V>>], found: &mut Found) {
    for (class, method) in known::statics() {
        for count in 0..=3_u32 {
            let any = is_supported(&given[count as usize], |machine, given| {
                library::statics::call(machine, Class::known(class), method, given)
            });
            if any {
                let methods = found.entry(format!("static:{class}")).or_default();
                methods.entry(method.into()).or_default().insert(count);
            }
        }
    }
}

fn probe_constructors(given: &[Vec<Vec<V>>], found: &mut Found) {
    for class in known::constructible_classes() {
        // A constructor with a file name would create a file.
        let names_file = matches!(class, "FileWriter" | "FileOutputStream" | "PrintWriter" | "PrintStream");
        for count in (0..=3_u32).filter(|count| known::has_constructor(class, *count as usize)) {
            let lists = given[count as usize].iter();
            let lists: Vec<Vec<V>> = lists
                .filter(|given| !names_file || given.first().is_none_or(|first| first.as_text().is_none()))
                .cloned()
                .collect();
            let any = is_supported(&lists, |machine, given| {
                library::create::new(machine, Class::known(class), given)
            });
            if any {
                found.entry("new".into()).or_default().entry(class.into()).or_default().insert(count);
            }
        }
    }
}

/// The supported methods of the interpreter, in the format of the table.
fn probed() -> String {
    let tree = tree();
    let mut scope = TestScope::default();
    let given: Vec<Vec<Vec<V>>> =
        (0..=3).map(|count| combinations(&Machine::new(&tree, &mut scope), count)).collect();
    let mut found = Found::new();
    probe_objects(&given, &mut found);
    probe_statics(&given, &mut found);
    probe_constructors(&given, &mut found);
    let _ = std::fs::remove_dir_all(folder());
    let classes = known::statics().map(|(class, _)| format!("static:{class}"));
    let kinds = EXPRESSIONS.iter().map(|(kind, _)| (*kind).to_owned()).chain(["new".to_owned()]);
    for row in classes.chain(kinds) {
        assert!(found.contains_key(&row), "the interpreter supports no method of the row {row}");
    }
    let mut text = String::new();
    for (kind, methods) in found {
        let words: Vec<String> = methods
            .into_iter()
            .map(|(method, counts)| {
                format!("{method}/{}", counts.iter().map(u32::to_string).collect::<String>())
            })
            .collect();
        writeln!(text, "{kind}: {}", words.join(" ")).expect("text");
    }
    text
}

#[test]
fn the_table_of_supported_methods_matches_the_interpreter() {
    let (table, found) = (include_str!("../supported_methods.txt"), probed());
    if table != found {
        let correct = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/supported_methods.txt");
        std::fs::write(correct, &found).expect("written");
        for (listed, called) in table.lines().zip(found.lines()) {
            assert_eq!(listed, called, "supported_methods.txt differs; the correct table is in {correct}");
        }
    }
    assert_eq!(table, found);
    assert!(super::has("List", "collect", 1) && !super::has("List", "toUpperCase", 0));
}

#[test]
fn every_constant_has_a_value_and_unknown_constants_are_rejected() {
    let mut listed = BTreeSet::new();
    for (class, name) in library::statics::constants::all() {
        let value = library::statics::constant(Class::known(class), name);
        assert!(value.is_ok_and(|value| !value.is_null()), "{class}.{name} has no value");
        assert!(listed.insert((class, name)), "{class}.{name} is listed twice");
        assert!(
            super::super::parser::parse(&format!("{}.{name}", qualified(class)), JavaLike::Groovy).is_ok()
        );
    }
    for (class, name) in [
        ("StandardCharsets", "UTF_16"),
        ("Locale", "NOWHERE"),
        ("TimeUnit", "WEEKS"),
        ("TimeUnit", "MILLIS"),
        ("ChronoUnit", "MILLISECONDS"),
    ] {
        let text = format!("{}.{name}", qualified(class));
        assert!(super::super::parser::parse(&text, JavaLike::Groovy).is_err(), "{text} is accepted");
    }
}

/// The qualified name of a class, which a script can use without an import.
fn qualified(class: &str) -> String {
    Class::known(class).qualified_name()
}
