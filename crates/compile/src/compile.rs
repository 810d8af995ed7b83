//! Compiles a test plan to a program.

use busyhour_diagnostic::{Diagnostic, Severity};
use busyhour_plan::TestPlan;

use crate::compiled::Compiled;
use crate::context::Context;
use crate::options::Options;
use crate::{groups, keystore, modules, numbers};

/// Compiles a plan. There is a program unless a diagnostic is an error.
pub fn compile(plan: &TestPlan, options: &Options) -> (Option<Compiled>, Vec<Diagnostic>) {
    let (assembled, findings) = modules::assemble(plan, options);
    let plan = assembled.as_ref().unwrap_or(plan);
    let mut context = Context::new(plan, options);
    for finding in findings {
        let is_error = finding.diagnostic.severity == Severity::Error;
        if finding.left_out && is_error {
            context.findings.add_unsupported(*finding.diagnostic);
        } else {
            context.findings.add(*finding.diagnostic);
        }
    }
    keystore::configure(&mut context);
    let (compiled, mut diagnostics) = groups::compile_plan(context);
    diagnostics.extend(numbers::check(plan));
    let is_refused = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    (compiled.filter(|_| !is_refused), diagnostics)
}
