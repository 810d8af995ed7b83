//! Exports the stacks of slow windows and of the others for other tools.

use std::path::{Path, PathBuf};

use busyhour_diagnostic::io_hints::chain;
use busyhour_record::RunDir;
use busyhour_results::{ResultsInput, ResultsOptions, summarise_results};
use busyhour_stacks::collapsed_stacks;
use busyhour_terminal::exit::{Exit, hinted, note};

/// Writes `NAME-slow.collapsed` and `NAME-fast.collapsed` for the output `NAME.collapsed`.
pub(crate) fn export_stacks(
    input: &Path,
    options: &ResultsOptions,
    output: Option<&str>,
) -> Result<(), (Exit, String)> {
    let Some(output) = output else {
        return Err((Exit::Usage, "stacks are written to two files: add -o stacks.collapsed".into()));
    };
    let summary = summarise_results(vec![ResultsInput::path(input)], options, &mut |_, _| {})
        .map_err(|error| (Exit::Refused, hinted(chain(&error), error.hint())))?;
    let stacks: Vec<_> =
        summary.stacks.iter().filter(|difference| !difference.flame.nodes.is_empty()).collect();
    if stacks.is_empty() {
        let why = match summary.stacks.first() {
            Some(difference) => difference.sentence.clone(),
            None => "no stacks were recorded; observe the run with stacks:jvm".to_owned(),
        };
        return Err((Exit::Refused, format!("{} has no stacks to export: {why}", input.display())));
    }
    let mut written = Vec::new();
    for (number, difference) in stacks.iter().enumerate() {
        for (kind, is_slow) in [("slow", true), ("fast", false)] {
            let path = named(Path::new(output), number, kind);
            let text = collapsed_stacks(&difference.flame, is_slow);
            RunDir::write_whole(&path, text.as_bytes()).map_err(|error| (Exit::Internal, chain(&error)))?;
            written.push(path.display().to_string());
        }
    }
    written.iter().for_each(|path| note(&format!("wrote {path}")));
    Ok(())
}

/// `stacks.collapsed` → `stacks-slow.collapsed`; further processes have a number.
fn named(output: &Path, number: usize, kind: &str) -> PathBuf {
    let stem = output.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let number = if number == 0 { String::new() } else { format!("-{}", number + 1) };
    output.with_file_name(format!("{stem}{number}-{kind}.collapsed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_process_has_two_files() {
        let output = Path::new("out/stacks.collapsed");
        assert_eq!(named(output, 0, "slow"), Path::new("out/stacks-slow.collapsed"));
        assert_eq!(named(output, 1, "fast"), Path::new("out/stacks-2-fast.collapsed"));
    }
}
