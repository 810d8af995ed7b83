//! Parses and compiles a plan.

use busyhour_compile::{Compiled, Options};
use busyhour_diagnostic::Diagnostic;
use busyhour_plan::TestPlan;

/// Parses and compiles a plan. A damaged plan is not compiled, because further findings would only be consequences of the
/// damage.
pub fn parse_and_compile(
    bytes: &[u8],
    name: &str,
    options: &Options,
) -> (TestPlan, Option<Compiled>, Vec<Diagnostic>) {
    let (plan, mut findings) = busyhour_plan::parse(bytes, name);
    if findings.iter().any(Diagnostic::is_error) {
        return (plan, None, findings);
    }
    let (compiled, more) = busyhour_compile::compile(&plan, options);
    findings.extend(more);
    (plan, compiled, findings)
}
