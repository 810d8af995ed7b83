//! Scripts with repeated, generated parts. Shared by the ordinary tests and the fuzz target `parts`.

use busyhour_limits::repeated::GeneratedInput;
use busyhour_script::{java_like, javascript, jexl};

#[rustfmt::skip]
const FRAGMENTS: &[&str] = &[
    "a", "a~", "~", "1", "+", "-", "*", "/", "(", ")", "[", "]", "{", "}", ",", ";", ":", ".", "?", "!", "=", "==", "<", ">", "&&", "||", "'x'", "\"x\"", "'", "\"", "\"\"\"", "$",
    "${a}", "\\", "\\u0041", "//", "/*", "*/", "\n", " ", "é", "a = 1;", "if (a) ", "else ", "while (a) ", "for (x in a) ", "def f~() { 1 };", "{ -> 1 }", "a.b(", "a[0]", "return a;",
    "import a.b;", "new a()", "x -> x", "..", "=~", "/x/", "try { } catch (e) { }", "switch (a) { case 1: }", "var a~ = 1;", "function f() { }", "`x`",
    "@A ", "class a~ { }", "class a~ extends A { int b~ }", "int a~;", "\"$a~\";", "A~.b();", "a~();", "a~,", "def f~(int a~) { }",
];

/// Maximum length of a script in bytes.
const BYTES_MAX: usize = 1 << 20;

/// Compiles the script that the bytes select, with at most `count_max` parts, in the language that they select.
pub fn check(bytes: &[u8], count_max: usize) {
    let (language, rest) = bytes.split_first().unwrap_or((&0, &[]));
    let text = GeneratedInput::new(rest, FRAGMENTS, count_max, BYTES_MAX).0.text();
    match language % 5 {
        0 => drop(java_like::compile(&text, java_like::JavaLike::Groovy)),
        1 => drop(java_like::compile(&text, java_like::JavaLike::BeanShell)),
        2 => drop(javascript::compile(&text)),
        3 => drop(jexl::compile(&text, jexl::Version::Two)),
        _ => drop(jexl::compile(&text, jexl::Version::Three)),
    }
    let _ = busyhour_limits::take_counts();
}
