//! `busyhour check`: shows the structure of plans and reports unsupported elements and mistakes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use busyhour_compile::{Options, OutlineNode, supported};
use busyhour_diagnostic::{Diagnostic, Severity};
use busyhour_http::TlsPolicy;
use busyhour_limits::files::{INPUT_BYTES, read_input};
use busyhour_program::run::JmeterProperties;
use busyhour_terminal::command_error::CommandError;
use busyhour_terminal::exit::{Exit, complain, print};
use busyhour_verb_inputs::properties::of_flags;

use crate::args::CheckArgs;

/// The result for one plan.
struct Finding {
    path: PathBuf,
    /// Whether the file could be read.
    was_read: bool,
    outline: Vec<OutlineNode>,
    diagnostics: Vec<Diagnostic>,
}

impl Finding {
    fn is_supported(&self) -> bool {
        self.diagnostics.iter().all(|diagnostic| diagnostic.severity != Severity::Error)
    }
}

pub(crate) fn main(args: &CheckArgs) -> Exit {
    if args.supported {
        print(&supported_markdown());
        return Exit::Completed;
    }
    let properties = match properties(args) {
        Ok(properties) => Arc::new(JmeterProperties::new(properties)),
        Err(message) => return complain(Exit::Usage, &message),
    };
    let findings: Vec<Finding> = args.plans.iter().map(|path| look_at(path, &properties)).collect();
    let text = if args.json { json(&findings) } else { text(&findings, busyhour_terminal::exit::is_quiet()) };
    print(&text);
    if findings.iter().all(Finding::is_supported) { Exit::Completed } else { Exit::Refused }
}

/// JMeter's properties, from files and flags.
fn properties(args: &CheckArgs) -> Result<HashMap<String, String>, CommandError> {
    Ok(of_flags(&args.jmeter_property, &args.additional)?.all)
}

fn look_at(path: &Path, properties: &Arc<JmeterProperties>) -> Finding {
    let name = path.display().to_string();
    let failed = |was_read, diagnostic| Finding {
        path: path.to_owned(),
        was_read,
        outline: Vec::new(),
        diagnostics: vec![diagnostic],
    };
    let bytes = match read_input(path, INPUT_BYTES) {
        Ok(bytes) => bytes,
        Err(error) => {
            let diagnostic =
                Diagnostic::error("unreadable", "the file cannot be read").in_file(name).with_error(&error);
            let hinted = if path.is_dir() {
                diagnostic.with_hint("give the plans in it, e.g. with /*.jmx at the end")
            } else {
                diagnostic.with_hint("give the path of a test plan (.jmx)")
            };
            return failed(false, hinted);
        }
    };
    let options = Options {
        properties: Arc::clone(properties),
        base_dir: path.parent().map(Path::to_owned).unwrap_or_default(),
        allow_unsupported: false,
        tls: TlsPolicy::AcceptAny,
        proxy: None,
        request_deadline: None,
        open: None,
    };
    // A panic while checking one file must not prevent the checks of the other files.
    let looked = std::panic::catch_unwind(|| {
        let (plan, _, mut diagnostics) = busyhour_launch::parse_and_compile(&bytes, &name, &options);
        // In a damaged plan, definitions to which other parts refer may be missing. Therefore, only undamaged plans are
        // linted.
        if !busyhour_plan::parse(&bytes, &*name).1.iter().any(Diagnostic::is_error) {
            diagnostics.extend(busyhour_compile::lint(&plan, &options));
        }
        (busyhour_compile::outline(&plan), diagnostics)
    });
    match looked {
        Ok((outline, diagnostics)) => Finding { path: path.to_owned(), was_read: true, outline, diagnostics },
        Err(_) => failed(
            true,
            Diagnostic::error("internal", "the program failed on this file")
                .in_file(name)
                .with_hint("this is a bug in busyhour; please report it with the file"),
        ),
    }
}

fn text(findings: &[Finding], quiet: bool) -> String {
    use std::fmt::Write as _;
    let mut out = String::new();
    for finding in findings {
        let verdict = match (finding.was_read, finding.is_supported()) {
            (false, _) if !finding.path.exists() => "not found",
            (false, _) => "cannot be read",
            (true, true) => "supported",
            (true, false) => "NOT SUPPORTED",
        };
        let _ = writeln!(out, "{}: {verdict}", finding.path.display());
        if !quiet {
            for node in &finding.outline {
                let mark = match (node.active, node.supported) {
                    (false, _) => "-",
                    (true, true) => " ",
                    (true, false) => "!",
                };
                let arrivals = node.arrivals.as_ref().map(|text| format!("  open: {}", shown(text)));
                let _ = writeln!(
                    out,
                    "  {mark} {:5}  {}{} \"{}\"{}",
                    node.line,
                    "  ".repeat(node.depth),
                    shown(&node.kind),
                    shown(&node.name),
                    arrivals.unwrap_or_default()
                );
            }
        }
        for diagnostic in &finding.diagnostics {
            let _ = writeln!(out, "\n{diagnostic}");
        }
        if !quiet || !finding.diagnostics.is_empty() {
            out.push('\n');
        }
    }
    if !quiet && findings.iter().any(|finding| !finding.outline.is_empty()) {
        out.push_str("in the outlines: line, element; - disabled, ! not supported");
        if findings.iter().flat_map(|finding| &finding.outline).any(|node| node.arrivals.is_some()) {
            out.push_str("; open: sessions start on a schedule");
        }
        out.push('\n');
    }
    let good = findings.iter().filter(|finding| finding.is_supported()).count();
    if findings.len() > 1 {
        let _ = writeln!(out, "{good} of {} plans are supported", findings.len());
    }
    out
}

/// A name for one line of output: shortened, and without control characters.
fn shown(name: &str) -> String {
    const NAME_CHARS_MAX: usize = 100;
    let end = name.char_indices().nth(NAME_CHARS_MAX).map_or(name.len(), |(end, _)| end);
    let mut shown = busyhour_diagnostic::printable(&name[..end]);
    if end < name.len() {
        shown.push('…');
    }
    shown
}

fn json(findings: &[Finding]) -> String {
    let plans: Vec<_> = findings
        .iter()
        .map(|finding| {
            let outline: Vec<_> = finding
                .outline
                .iter()
                .map(|node| {
                    serde_json::json!({
                        "depth": node.depth, "kind": node.kind, "name": node.name, "line": node.line,
                        "active": node.active, "supported": node.supported, "arrivals": node.arrivals,
                    })
                })
                .collect();
            serde_json::json!({
                "path": finding.path.display().to_string(),
                "supported": finding.is_supported(),
                "outline": outline,
                "findings": finding.diagnostics,
            })
        })
        .collect();
    let good = findings.iter().filter(|finding| finding.is_supported()).count();
    let whole =
        serde_json::json!({ "version": 1, "plans": plans, "supported": good, "total": findings.len() });
    format!("{whole:#}\n")
}

/// Tables of supported elements and functions for `docs/supported.md`.
pub(crate) fn supported_markdown() -> String {
    use std::fmt::Write as _;
    let mut out = String::from("| Element | Class | Kind | Limits |\n|---|---|---|---|\n");
    for element in supported() {
        let _ =
            writeln!(out, "| {} | `{}` | {} | {} |", element.name, element.class, element.kind, element.note);
    }
    out.push_str("\n| Function | What it does | Limits |\n|---|---|---|\n");
    for function in busyhour_compile::supported_functions() {
        let cell = |text: &str| text.replace('|', "\\|");
        let _ = writeln!(
            out,
            "| `${{{}}}` | {} | {} |",
            cell(&function.call),
            cell(&function.description),
            cell(&function.note)
        );
    }
    out
}
