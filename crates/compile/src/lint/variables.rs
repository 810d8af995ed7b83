//! Variables that nothing defines, and extracted variables that nothing reads.
//!
//! Variables belong to users, so each thread group is checked together with the elements outside all groups and with the
//! parts of the plan that its modules may run. If names are defined outside of the plan or are composed by a script, nothing
//! is reported.

use std::collections::HashSet;
use std::path::Path;

use busyhour_diagnostic::{Diagnostic, nearest_name};
use busyhour_plan::{Property, TestPlan};

use super::references::is_word;
use super::variable_use::{Place, VariableUse};
use crate::elements::{Role, role};

/// Prefixes of the names of variables that JMeter itself and the WebSocket plugin define.
const OF_JMETER: [&str; 6] = ["JMeterThread.", "START.", "TESTSTART.", "COOKIE_", "__jm", "websocket."];

/// Suffixes that extractors and loops add to the configured name.
const SUFFIXES: [&str; 5] = ["_matchNr", "_ALL", "_g", "_#", "_n"];

/// The longest name that is checked, in bytes.
const NAME_BYTES_MAX: usize = 500;

/// The number of undefined names for which a similar name is searched.
const SUGGESTED_MAX: usize = 100;

/// The variables of a part of a plan: a thread group, a fragment, or the elements outside of all groups and fragments.
struct Part<'p> {
    kind: PartKind,
    own: VariableUse<'p>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PartKind {
    Group,
    /// A fragment, which runs wherever a module refers to it.
    Fragment,
    /// The elements outside of all groups and fragments.
    Around,
}

/// Finds undefined variables, each reported once, and extracted variables that nothing reads. `sample_variables` are
/// the names that the result file contains.
pub(super) fn mistakes(plan: &TestPlan, base_dir: &Path, sample_variables: &[String]) -> Vec<Diagnostic> {
    let parts = parts(plan, base_dir);
    // A file with only fragments is a part of other plans.
    if !parts.iter().any(|part| part.kind == PartKind::Group) {
        return Vec::new();
    }
    let mut reported = HashSet::new();
    let mut found = Vec::new();
    let shown: HashSet<&str> = sample_variables.iter().map(String::as_str).collect();
    for part in &parts {
        let seen: Vec<&VariableUse<'_>> =
            parts.iter().filter(|other| part.can_have_variables_of(other)).map(|other| &other.own).collect();
        let for_all = parts.iter().flat_map(|other| &other.own.sets_for_all).map(String::as_str);
        let sets: HashSet<&str> =
            seen.iter().flat_map(|seen| &seen.sets).map(String::as_str).chain(for_all).collect();
        if !seen.iter().any(|seen| seen.sets_any) {
            for (name, place) in &part.own.refers {
                if is_plain(name) && !is_set(name, &sets) && reported.insert(name.clone()) {
                    // Searching for similar names for each of thousands of names would take long.
                    let near = if reported.len() <= SUGGESTED_MAX { nearest(name, &sets) } else { None };
                    found.push(undefined(name, *place, near));
                }
            }
        }
        if !seen.iter().any(|seen| seen.reads_any) {
            let reads = seen.iter().flat_map(|seen| &seen.reads).map(String::as_str);
            let reads: HashSet<&str> = reads.flat_map(|read| stems(read).chain([read])).collect();
            let unread = part
                .own
                .extracts
                .iter()
                .filter(|(name, _)| !shown.contains(name.as_str()) && !reads.contains(name.as_str()));
            found.extend(unread.map(|(name, property)| unused(name, *property)));
        }
    }
    found
}

impl Part<'_> {
    /// Whether a user of this part may have variables of the other part.
    fn can_have_variables_of(&self, other: &Part<'_>) -> bool {
        let sees_all = self.kind != PartKind::Group || self.own.runs_others;
        sees_all || std::ptr::eq(self, other) || other.kind == PartKind::Around
    }
}

/// The parts of a plan, with the active elements of each.
fn parts<'p>(plan: &'p TestPlan, base_dir: &Path) -> Vec<Part<'p>> {
    let mut parts = vec![Part { kind: PartKind::Around, own: VariableUse::default() }];
    for root in plan.roots().filter(|root| root.is_active()) {
        parts[0].own.add(root, base_dir);
        for child in root.children().filter(|child| child.enabled()) {
            let kind = match role(child) {
                Role::Group(_) => PartKind::Group,
                Role::Fragment => PartKind::Fragment,
                _ => PartKind::Around,
            };
            let elements =
                std::iter::once(child).chain(child.descendants()).filter(|element| element.is_active());
            match kind {
                PartKind::Around => elements.for_each(|element| parts[0].own.add(element, base_dir)),
                PartKind::Group | PartKind::Fragment => {
                    let mut own = VariableUse::default();
                    elements.for_each(|element| own.add(element, base_dir));
                    parts.push(Part { kind, own });
                }
            }
        }
    }
    parts
}

fn nearest<'s>(name: &str, sets: &HashSet<&'s str>) -> Option<&'s str> {
    let mut known: Vec<&str> = sets.iter().copied().filter(|known| known.len() > 2).collect();
    known.sort_unstable();
    nearest_name(name, known.into_iter())
}

fn undefined(name: &str, place: Place<'_>, near: Option<&str>) -> Diagnostic {
    let message =
        format!("nothing in the plan defines the variable `{name}`: JMeter leaves `${{{name}}}` unchanged");
    let finding = Diagnostic::warning("undefined-variable", message);
    let finding = match place {
        Place::Property(property) => property.locate(finding),
        Place::Name(element) => element.locate(finding),
    };
    finding.with_hint(match near {
        Some(near) => format!("did you mean `${{{near}}}`?"),
        None => format!(
            "define it (User Defined Variables, CSV Data Set, an extractor), or use a property: `${{__P({name})}}`"
        ),
    })
}

fn unused(name: &str, property: Property<'_>) -> Diagnostic {
    let message = format!("nothing in the plan reads the variable `{name}` that this extractor sets");
    let hint = format!(
        "refer to it as `${{{name}}}`, disable the extractor, or list the name in the property sample_variables if only the \
         result file shows it"
    );
    property.locate(Diagnostic::warning("unused-variable", message)).with_hint(hint)
}

fn is_set(name: &str, sets: &HashSet<&str>) -> bool {
    OF_JMETER.iter().any(|begin| name.starts_with(begin))
        || sets.contains(name)
        || stems(name).any(|stem| sets.contains(stem))
}

/// Whether a text in braces looks like a name; the braces of scripts and formats contain other texts.
fn is_plain(name: &str) -> bool {
    name.len() <= NAME_BYTES_MAX
        && name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| is_word(c) || matches!(c, '.' | '-' | '#'))
}

/// The configured names from which `name` may be derived: `id` for `id_1`, `id_2_g1`, `id_matchNr`.
fn stems(name: &str) -> impl Iterator<Item = &str> {
    // For each separator the rest of the name is read again, so long names are skipped to keep the time linear.
    let name = if name.len() <= NAME_BYTES_MAX { name } else { "" };
    let ends = name.char_indices().filter(|(_, c)| matches!(c, '_' | '#')).map(|(at, _)| at);
    ends.map(|at| name.split_at(at)).filter(|(_, rest)| is_suffix(rest)).map(|(stem, _)| stem)
}

fn is_suffix(rest: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = rest.strip_prefix('_').is_some_and(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        digits(&rest[..end]) && (rest[end..].is_empty() || is_suffix(&rest[end..]))
    });
    // A ForEach Controller over the matches is configured with a name that ends with the separator.
    is_number
        || rest == "_"
        || SUFFIXES
            .iter()
            .any(|suffix| rest.strip_prefix(suffix).is_some_and(|rest| rest.is_empty() || digits(rest)))
}
