//! Texts with functions in which generated parts are repeated. Shared by the ordinary tests and the fuzz target `parts`.

use busyhour_functions::parse;
use busyhour_limits::repeated::GeneratedInput;
use busyhour_program::symbols::Symbols;

#[path = "../world/mod.rs"]
pub mod world;

use world::World;

#[rustfmt::skip]
const FRAGMENTS: &[&str] = &[
    "${v}", "${v~}", "${", "}", "{", "$", "(", ")", ",", "\\", "\\,", "\\$", " ", "\t", "a", "é", "~", "${__V(v", "${__eval(", "${__evalVar(self)}", "${__P(a)}", "${__P(",
    "${__P()}", "${__nope(a)}", "${__char(65", "${__longSum(1", ",1", ",2)}", "${__split(a\\,b,part)}", "${__regexFunction(a,$0$,ALL,,d,f,text)}",
    "${__escapeXml(<", "${__unescape(", "${__time(YYYY b)}", "${__RandomString(3,ab)}", "${__strReplaceRegex(${text},a,$0$0)}",
];

/// Maximum size of a text in bytes.
const BYTES_MAX: usize = 1 << 20;

/// Parses and evaluates a text of at most `count_max` parts selected by `bytes`.
pub fn check(bytes: &[u8], count_max: usize) {
    let text = GeneratedInput::new(bytes, FRAGMENTS, count_max, BYTES_MAX).0.text();
    let compiled = parse(&text, &mut Symbols::default());
    if let Err(problems) = &compiled {
        assert!(problems.len() <= 400);
        assert!(problems.iter().all(|problem| problem.to_string().len() < 2_000));
    }
    let mut world = World::new();
    for (name, value) in [("v", "x"), ("text", "aba"), ("self", "${v}${__evalVar(self)}")] {
        world.user.variables.set(name, value);
    }
    let _ = world.evaluate(&text);
    let _ = busyhour_limits::take_counts();
    assert!(world.log().iter().all(|line| line.len() < 10_000));
}
