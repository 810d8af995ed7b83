//! The variables that a script sets and reads, as far as they can be recognized in its text.

use super::references::is_word;

/// The variables that a script sets and reads.
#[derive(Debug, Default)]
pub(super) struct ScriptVariables {
    pub(super) sets: Vec<String>,
    pub(super) reads: Vec<String>,
    /// Whether the script may set variables whose names it does not contain.
    pub(super) sets_any: bool,
    /// Whether the script may read variables whose names it does not contain.
    pub(super) reads_any: bool,
}

/// Expressions for the object that contains the variables: its name in scripts, and calls that return it.
const OBJECTS: [&str; 3] = ["vars", "getVariables()", "ctx.variables"];

/// Calls that run other scripts.
const RUNNING: [&str; 6] = ["evaluate(", "GroovyShell", "eval(", "Eval.", "source(", "load("];

/// Finds the variables that a script sets and reads.
pub(super) fn variables_of_script(script: &str) -> ScriptVariables {
    let script = without_comments(script);
    let mut found = ScriptVariables::default();
    if RUNNING.iter().any(|call| script.contains(call)) {
        (found.sets_any, found.reads_any) = (true, true);
    }
    for object in OBJECTS {
        for (at, _) in script.match_indices(object) {
            let before = script[..at].chars().next_back();
            let rest = &script[at + object.len()..];
            let is_part_of_name = rest.starts_with(is_word)
                || (object == "vars" && before.is_some_and(|c| is_word(c) || c == '.'));
            if !is_part_of_name {
                add_use(rest.trim_start(), &mut found);
            }
        }
    }
    found
}

/// Adds the use of the variables object in `rest`, the text that follows the object.
fn add_use(rest: &str, found: &mut ScriptVariables) {
    if let Some(key) = rest.strip_prefix('[') {
        match literal(key, "]") {
            Some(name) => {
                found.sets.push(name.to_owned());
                found.reads.push(name.to_owned());
            }
            None => (found.sets_any, found.reads_any) = (true, true),
        }
        return;
    }
    let call = rest.strip_prefix("?.").or_else(|| rest.strip_prefix('.')).map(str::trim_start);
    let method = call.map(|call| call.split_at(call.find(|c| !is_word(c)).unwrap_or(call.len())));
    match method {
        Some(("put" | "putObject", arguments)) => match argument(arguments, ",") {
            Some(name) => found.sets.push(name.to_owned()),
            None => found.sets_any = true,
        },
        Some(("putAll", _)) => found.sets_any = true,
        Some(("get" | "getObject" | "remove" | "isEmpty" | "containsKey", arguments)) => {
            match argument(arguments, ")") {
                Some(name) => found.reads.push(name.to_owned()),
                None => found.reads_any = true,
            }
        }
        Some(("entrySet" | "iterator" | "each" | "keySet" | "toString", _)) => found.reads_any = true,
        Some(("getIteration" | "getThreadName" | "incIteration", _)) => {}
        // The object is assigned to another name, passed as an argument, or used with an unknown member.
        Some(_) | None => (found.sets_any, found.reads_any) = (true, true),
    }
}

/// The first argument of a call, if it is a plain text literal followed by `end`.
fn argument<'t>(arguments: &'t str, end: &str) -> Option<&'t str> {
    literal(arguments.trim_start().strip_prefix('(')?, end)
}

/// A text literal at the beginning of `text` that is followed by `end`, without concatenation or interpolation.
fn literal<'t>(text: &'t str, end: &str) -> Option<&'t str> {
    let text = text.trim_start();
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let (name, rest) = text[1..].split_once(quote)?;
    let rest = rest.trim_start();
    // In the arguments of a function, a comma is escaped with a backslash.
    let follows = rest.strip_prefix('\\').unwrap_or(rest).starts_with(end);
    (follows && !name.contains(['$', '\\'])).then_some(name)
}

/// Removes the comments of a script. `//` after a colon is part of a URL.
fn without_comments(script: &str) -> String {
    let mut out = String::with_capacity(script.len());
    let mut rest = script;
    while let Some(at) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        let (before, comment) = rest.split_at(at);
        out.push_str(before);
        if comment.starts_with("//") && before.ends_with(':') {
            out.push_str("//");
            rest = &comment[2..];
            continue;
        }
        let end = if comment.starts_with("//") {
            comment.find('\n')
        } else {
            comment.find("*/").map(|end| end + 2)
        };
        rest = end.map_or("", |end| &comment[end..]);
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(script: &str) -> String {
        let found = variables_of_script(script);
        let any = |any: bool| if any { " any" } else { "" };
        format!(
            "sets {}{}; reads {}{}",
            found.sets.join(" "),
            any(found.sets_any),
            found.reads.join(" "),
            any(found.reads_any)
        )
    }

    #[test]
    fn names_are_read_from_calls() {
        for (script, expected) in [
            ("vars.put(\"a\", x); vars.putObject( 'b' , y)", "sets a b; reads "),
            ("def n = vars.get(\"a\") + vars?.getObject('b')", "sets ; reads a b"),
            ("ctx.getVariables().put(\"c\", \"1\")", "sets c; reads "),
            ("vars['d'] = 1", "sets d; reads d"),
            ("vars.put(\"a\"\\, \"b\")", "sets a; reads "),
            ("vars.put(\"a_\" + i, x)", "sets  any; reads "),
            ("vars.put(\"${name}\", x)", "sets  any; reads "),
            ("vars.get(name)", "sets ; reads  any"),
            ("vars.entrySet().each { }", "sets ; reads  any"),
            ("def v = vars; v.put('x', 1)", "sets  any; reads  any"),
            ("helper.fill(vars)", "sets  any; reads  any"),
            (
                "// vars are set below\nint myvars = 1; log.info('http://x'); vars.put('e', 1)",
                "sets e; reads ",
            ),
            ("/* vars */ x.vars = 1", "sets ; reads "),
            ("evaluate(new File('x'))", "sets  any; reads  any"),
        ] {
            assert_eq!(shown(script), expected, "{script}");
        }
    }
}
