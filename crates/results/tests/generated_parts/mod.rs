//! Result files in which generated parts are repeated. Shared by the ordinary tests and the fuzz target `parts`.

use busyhour_limits::repeated::GeneratedInput;

#[path = "../results_soundness/mod.rs"]
mod results_soundness;

#[rustfmt::skip]
const FRAGMENTS: &[&str] = &[
    "timeStamp,elapsed,label,success", "\n", "\r\n", ",", "\"", "\"\"", ";", "1700000000000,1,home,true\n", "1700000000000,1,label ~,true\n",
    "17000000~,1,home,false\n", "1700000000000,~,home,true\n", "1700000000000,1,\"a\nb\",true\n", "x\n", "~", "1", "\0", "é",
];

#[rustfmt::skip]
const XML: &[&str] = &[
    "<testResults version=\"1.2\">", "</testResults>", "<sample t='1' ts='1700000000000' s='true' lb='home'", "<sample t='1' ts='17000000~' s='false' lb='l~' rc='~'",
    "<httpSample t='1' ts='1700000000000' lb='in' tn='G ~ 1-1'", "/>", ">", "</sample>", "</httpSample>", " v~='x'", " lb='&amp;'", "<java.net.URL>", "</java.net.URL>",
    "<failureMessage>", "</failureMessage>", "&amp;", "&", "<", "text", "<!-- c -->", "\n", "<other>", "</other>", " rm='Number of samples in transaction : 1'",
];

/// Maximum number of bytes of a file.
const BYTES_MAX: usize = 2 << 20;

/// Reads an input that `bytes` chooses, with at most `count_max` parts.
pub fn check(bytes: &[u8], count_max: usize) {
    let (kind, rest) = bytes.split_first().unwrap_or((&0, &[]));
    let (head, fragments) = match kind % 3 {
        0 => ("timeStamp,elapsed,label,success\n1700000000000,1,home,true\n", FRAGMENTS),
        1 => ("", FRAGMENTS),
        _ => ("<?xml version=\"1.0\"?><testResults version=\"1.2\">", XML),
    };
    let (input, _) = GeneratedInput::new(rest, fragments, count_max, BYTES_MAX);
    results_soundness::check(format!("{head}{}", input.text()).as_bytes());
}
