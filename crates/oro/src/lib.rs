//! JMeter's regular expressions: Perl5 patterns as in Jakarta ORO.
//!
//! A pattern is translated once; patterns that may match differently are rejected. Known remaining differences: ORO counts
//! UTF-16 units, so in ORO `.` matches half of a character beyond U+FFFF. Here, a combining mark counts as part of a word at
//! `\b`.

mod backtrack;
mod cached;
mod search_limit;
mod translate;

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use busyhour_slices::{is_long, run_on_other_thread};
use regex_syntax::hir::{Hir, HirKind};

use backtrack::{Program, Slots, Steps};
pub use cached::{Cached, cached};
use search_limit::STEPS_MAX;
pub use search_limit::SearchLimit;
pub use translate::PatternError;

/// A compiled pattern.
#[derive(Debug)]
pub struct Pattern {
    source: String,
    translated: String,
    fancy: bool,
    engine: Engine,
    anchored: OnceLock<Option<Engine>>,
    groups: usize,
    /// The reason why the groups, or the positions of empty matches, may differ from ORO's.
    unsure_groups: Option<&'static str>,
    number: usize,
}

#[derive(Clone, Debug)]
enum Engine {
    Plain(regex::Regex),
    Backtracking(Arc<Program>),
}

/// Maximum memory of a compiled pattern, in bytes.
const COMPILED_BYTES_MAX: usize = 32 << 20;

impl Engine {
    fn compile(text: &str, fancy: bool) -> Result<Self, PatternError> {
        if fancy {
            Program::compile(text).map(|program| Engine::Backtracking(Arc::new(program)))
        } else {
            plain(text).map(Engine::Plain).map_err(|error| PatternError::Unsupported(error.to_string()))
        }
    }
}

fn plain(text: &str) -> Result<regex::Regex, regex::Error> {
    regex::RegexBuilder::new(text).size_limit(COMPILED_BYTES_MAX).build()
}

/// A pattern in the common syntax of Rust's and Java's regular expressions, with look-around and back-references. Its searches
/// take a limited number of steps.
#[derive(Debug)]
pub struct Finder(Engine);

impl Finder {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// If the pattern is malformed, not supported or too large.
    pub fn compile(text: &str) -> Result<Self, PatternError> {
        match plain(text) {
            Ok(regex) => Ok(Self(Engine::Plain(regex))),
            Err(_) => Engine::compile(text, true).map(Self),
        }
    }

    /// Whether the pattern matches somewhere in the text.
    ///
    /// # Errors
    /// If the search takes too many steps.
    pub fn is_match(&self, text: &str) -> Result<bool, SearchLimit> {
        counted(self.0.contains(text))
    }

    /// The byte ranges of the groups of the first match that starts at byte `from` or later. Group 0 is the whole match.
    ///
    /// # Errors
    /// If the budget is exhausted.
    pub fn find_at(
        &self,
        text: &str,
        from: usize,
        budget: &mut SearchBudget,
    ) -> Result<Option<Vec<Option<(usize, usize)>>>, SearchLimit> {
        match &self.0 {
            Engine::Plain(regex) => {
                let found =
                    run_on_other_thread(text.len().saturating_sub(from), || regex.captures_at(text, from));
                Ok(found.map(|found| {
                    found.iter().map(|group| group.map(|group| (group.start(), group.end()))).collect()
                }))
            }
            Engine::Backtracking(program) => {
                let found = counted(program.search(text, from, &mut budget.0))?;
                Ok(found.map(|slots| slots.groups()))
            }
        }
    }

    /// Finds the next matches from byte `place`, at most `batch_len`, and returns their groups. Sets `place` to the position at
    /// which the search continues: after the last match, or one character further if that match is empty. Long texts are
    /// searched on another thread, many matches at a time.
    ///
    /// # Errors
    /// If the budget is exhausted.
    pub fn find_some(
        &self,
        text: &str,
        place: &mut usize,
        batch_len: usize,
        budget: &mut SearchBudget,
    ) -> Result<Vec<Vec<Option<(usize, usize)>>>, SearchLimit> {
        let Engine::Plain(regex) = &self.0 else {
            let mut all = Vec::new();
            while all.len() < batch_len && *place <= text.len() {
                let Some(groups) = self.find_at(text, *place, budget)? else {
                    *place = text.len() + 1;
                    break;
                };
                if let Some(Some(whole)) = groups.first() {
                    *place = next_place(text, *whole);
                }
                all.push(groups);
            }
            return Ok(all);
        };
        let mut from = *place;
        let all = run_on_other_thread(text.len().saturating_sub(from), || {
            let mut locations = regex.capture_locations();
            let mut all = Vec::new();
            while all.len() < batch_len && from <= text.len() {
                let Some(whole) = regex.captures_read_at(&mut locations, text, from) else {
                    from = text.len() + 1;
                    break;
                };
                from = next_place(text, (whole.start(), whole.end()));
                all.push((0..locations.len()).map(|group| locations.get(group)).collect());
            }
            all
        });
        *place = from;
        Ok(all)
    }

    /// Like [`Finder::find_some`], but returns only the byte ranges of the whole matches.
    ///
    /// # Errors
    /// If the budget is exhausted.
    pub fn find_some_wholes(
        &self,
        text: &str,
        place: &mut usize,
        batch_len: usize,
        budget: &mut SearchBudget,
    ) -> Result<Vec<(usize, usize)>, SearchLimit> {
        let Engine::Plain(regex) = &self.0 else {
            let all = self.find_some(text, place, batch_len, budget)?;
            return Ok(all.iter().filter_map(|groups| groups.first().copied().flatten()).collect());
        };
        let mut from = *place;
        let all = run_on_other_thread(text.len().saturating_sub(from), || {
            let mut all = Vec::new();
            while all.len() < batch_len && from <= text.len() {
                let Some(whole) = regex.find_at(text, from) else {
                    from = text.len() + 1;
                    break;
                };
                from = next_place(text, (whole.start(), whole.end()));
                all.push((whole.start(), whole.end()));
            }
            all
        });
        *place = from;
        Ok(all)
    }

    /// Number of groups, including the whole match.
    #[must_use]
    pub fn groups(&self) -> usize {
        match &self.0 {
            Engine::Plain(regex) => regex.captures_len(),
            Engine::Backtracking(program) => program.group_count(),
        }
    }

    /// The number of a named group.
    #[must_use]
    pub fn group_named(&self, name: &str) -> Option<usize> {
        match &self.0 {
            Engine::Plain(regex) => regex.capture_names().position(|known| known == Some(name)),
            Engine::Backtracking(program) => program.names.get(name).copied(),
        }
    }
}

/// The position at which a search continues after a match, as in Java: one character further if the match is empty.
fn next_place(text: &str, (start, end): (usize, usize)) -> usize {
    if end > start { end } else { end + text[end..].chars().next().map_or(1, char::len_utf8) }
}

/// The remaining steps that several searches share.
#[derive(Debug)]
pub struct SearchBudget(Steps);

impl SearchBudget {
    /// A budget of as many steps as `searches` single searches have.
    #[must_use]
    pub fn of_searches(searches: u32) -> Self {
        Self::of_steps(STEPS_MAX * u64::from(searches))
    }

    /// A budget of `steps` steps.
    #[must_use]
    pub fn of_steps(steps: u64) -> Self {
        Self(Steps::new(steps))
    }

    /// The remaining steps.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.0.left()
    }
}

/// Counts the exceeded limit if a search failed.
fn counted<T>(searched: Result<T, SearchLimit>) -> Result<T, SearchLimit> {
    if searched.is_err() {
        busyhour_limits::count_exceeded(busyhour_limits::Limit::RegexSteps);
    }
    searched
}

impl Engine {
    fn contains(&self, text: &str) -> Result<bool, SearchLimit> {
        match self {
            Self::Plain(regex) => Ok(run_on_other_thread(text.len(), || regex.is_match(text))),
            Self::Backtracking(program) => Ok(program.search(text, 0, &mut Steps::full())?.is_some()),
        }
    }
}

/// The groups of a match; group 0 is the whole match.
#[derive(Debug)]
pub struct Groups<'m, 't> {
    text: &'t str,
    found: Found<'m>,
}

#[derive(Debug)]
enum Found<'m> {
    Plain(&'m regex::CaptureLocations),
    Backtracking(&'m Slots),
}

impl<'t> Groups<'_, 't> {
    /// The text of a group, if the group participated in the match.
    pub fn get(&self, group: usize) -> Option<&'t str> {
        match &self.found {
            Found::Plain(locations) => locations.get(group).map(|(start, end)| &self.text[start..end]),
            Found::Backtracking(slots) => slots.group(group).map(|(start, end)| &self.text[start..end]),
        }
    }

    /// The range of the whole match in bytes.
    pub fn whole(&self) -> std::ops::Range<usize> {
        match &self.found {
            Found::Plain(locations) => locations.get(0).map_or(0..0, |(start, end)| start..end),
            Found::Backtracking(slots) => slots.group(0).map_or(0..0, |(start, end)| start..end),
        }
    }
}

/// A thread-local copy of a pattern's engine, so that threads do not share scratch space.
struct Local {
    engine: Engine,
    locations: Option<regex::CaptureLocations>,
}

thread_local! {
    static LOCALS: RefCell<std::collections::HashMap<usize, Rc<Cell<Option<Local>>>>> = RefCell::default();
}

impl Drop for Pattern {
    fn drop(&mut self) {
        let number = self.number;
        // A thread that is ending may already have dropped its thread-locals.
        let _ = LOCALS.try_with(|locals| locals.try_borrow_mut().map(|mut locals| locals.remove(&number)));
    }
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// [`PatternError::Malformed`] with ORO's message if ORO rejects the pattern, [`PatternError::Unsupported`] if the pattern
    /// may match differently here.
    pub fn compile(source: &str) -> Result<Self, PatternError> {
        static NUMBERS: AtomicUsize = AtomicUsize::new(0);
        let translated = translate::translate(source)?;
        let engine = Engine::compile(&translated.text, translated.fancy)?;
        let unsure_groups = match regex_syntax::parse(&translated.shadow) {
            Ok(hir) => unsure_groups(&hir),
            Err(_) => Some("groups that cannot be analysed"),
        };
        Ok(Self {
            source: source.to_owned(),
            translated: translated.text,
            fancy: translated.fancy,
            engine,
            anchored: OnceLock::new(),
            groups: translated.groups,
            unsure_groups,
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
        })
    }

    /// The pattern as written in the plan.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Number of groups, without the whole match.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// Checks that each match certainly has the same groups as in ORO. In ORO, the contents of repeated groups may depend on the
    /// order of its attempts.
    ///
    /// # Errors
    /// A description of the construct that may cause different groups.
    pub fn check_groups(&self) -> Result<(), PatternError> {
        match self.unsure_groups {
            None => Ok(()),
            Some(why) => Err(PatternError::Unsupported(why.to_owned())),
        }
    }

    /// Whether the pattern matches somewhere in the text.
    ///
    /// # Errors
    /// If the search takes too many steps.
    pub fn contains(&self, text: &str) -> Result<bool, SearchLimit> {
        counted(self.with_local(|local| local.engine.contains(text)))
    }

    /// Whether the first match at the start of the text extends to its end. As in ORO, `a|ab` does not match `ab`, because the
    /// first alternative matches and ends before the end of the text.
    ///
    /// # Errors
    /// If the search takes too many steps.
    pub fn matches(&self, text: &str) -> Result<bool, SearchLimit> {
        let anchored = self
            .anchored
            .get_or_init(|| Engine::compile(&format!(r"\A(?:{})", self.translated), self.fancy).ok())
            .as_ref();
        let end = match anchored.ok_or(SearchLimit)? {
            Engine::Plain(regex) => {
                run_on_other_thread(text.len(), || regex.find(text).map(|found| found.end()))
            }
            Engine::Backtracking(program) => {
                let found = program.search(text, 0, &mut Steps::full());
                counted(found)?.and_then(|slots| slots.group(0).map(|(_, end)| end))
            }
        };
        Ok(end == Some(text.len()))
    }

    /// Visits the matches one after another until `visit` breaks. All of them share one budget of steps.
    ///
    /// # Errors
    /// If the search takes too many steps.
    pub fn each_match<'t>(
        &self,
        text: &'t str,
        mut visit: impl FnMut(&Groups<'_, 't>) -> ControlFlow<()>,
    ) -> Result<(), SearchLimit> {
        counted(self.with_local(|local| {
            let mut steps = Steps::full();
            let mut place = Place::default();
            let mut batch_len = 1;
            while place.from <= text.len() {
                let slots;
                let found = match &local.engine {
                    Engine::Plain(regex) if is_long(text.len() - place.from) => {
                        // Searches on another thread, for few matches at first, because many callers need only the first match.
                        let batch = run_on_other_thread(text.len() - place.from, || {
                            find_some(regex, text, &mut place, batch_len)
                        });
                        batch_len = (batch_len * 2).min(BATCH_LEN_MAX);
                        for slots in &batch {
                            let groups = Groups { text, found: Found::Backtracking(slots) };
                            if visit(&groups).is_break() {
                                return Ok(());
                            }
                        }
                        if batch.is_empty() {
                            break;
                        }
                        continue;
                    }
                    Engine::Plain(regex) => {
                        let locations = local.locations.get_or_insert_with(|| regex.capture_locations());
                        if regex.captures_read_at(locations, text, place.from).is_none() {
                            break;
                        }
                        Found::Plain(locations)
                    }
                    Engine::Backtracking(program) => {
                        let Some(found) = program.search(text, place.from, &mut steps)? else { break };
                        slots = found;
                        Found::Backtracking(&slots)
                    }
                };
                let groups = Groups { text, found };
                if place.advance_past(&groups.whole(), text) && visit(&groups).is_break() {
                    break;
                }
            }
            Ok(())
        }))
    }

    fn with_local<R>(&self, run: impl FnOnce(&mut Local) -> R) -> R {
        let place = LOCALS.with_borrow_mut(|locals| Rc::clone(locals.entry(self.number).or_default()));
        // A search may be suspended. Another search with the same pattern creates its own copy meanwhile.
        let mut local =
            place.take().unwrap_or_else(|| Local { engine: self.engine.clone(), locations: None });
        let result = run(&mut local);
        place.set(Some(local));
        result
    }
}

/// Maximum number of matches in a batch that is searched on another thread.
const BATCH_LEN_MAX: usize = 1024;

/// The state of a search for all matches.
#[derive(Default)]
struct Place {
    from: usize,
    last_end: Option<usize>,
}

impl Place {
    /// Advances past a match. Returns false for an empty match directly after the previous match, which does not count.
    fn advance_past(&mut self, whole: &std::ops::Range<usize>, text: &str) -> bool {
        if whole.is_empty() && self.last_end == Some(whole.end) {
            self.from = whole.end + text[whole.end..].chars().next().map_or(1, char::len_utf8);
            return false;
        }
        self.last_end = Some(whole.end);
        self.from = whole.end;
        true
    }
}

/// At most `batch_len` next matches; an empty vector at the end of the text.
fn find_some(regex: &regex::Regex, text: &str, place: &mut Place, batch_len: usize) -> Vec<Slots> {
    let mut locations = regex.capture_locations();
    let mut found = Vec::new();
    while found.len() < batch_len && place.from <= text.len() {
        let Some(whole) = regex.captures_read_at(&mut locations, text, place.from) else {
            place.from = text.len() + 1;
            break;
        };
        if place.advance_past(&whole.range(), text) {
            let groups = (0..locations.len()).map(|group| locations.get(group));
            found.push(Slots::from_groups(groups));
        }
    }
    found
}

/// A description of a construct for which groups or empty matches may differ between ORO's backtracking matcher and a
/// matcher that simulates all paths simultaneously; `None` if there is no such construct.
fn unsure_groups(hir: &Hir) -> Option<&'static str> {
    if hir.properties().minimum_len() == Some(0) && prefers_empty(hir) {
        return Some("a pattern that may prefer an empty match to a longer match");
    }
    repeated_group(hir, false, false)
        .then_some("a group in a repetition that may be skipped or match an empty text")
}

fn prefers_empty(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Repetition(repetition) => !repetition.greedy || prefers_empty(&repetition.sub),
        HirKind::Capture(capture) => prefers_empty(&capture.sub),
        HirKind::Concat(parts) => parts.iter().any(prefers_empty),
        HirKind::Alternation(parts) => {
            parts.iter().any(|part| part.properties().minimum_len() == Some(0) || prefers_empty(part))
        }
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => false,
    }
}

fn repeated_group(hir: &Hir, repeated: bool, skippable: bool) -> bool {
    match hir.kind() {
        HirKind::Repetition(repetition) => {
            let many = repetition.max.is_none_or(|max| max > 1);
            let skippable = repeated && (skippable || repetition.min == 0);
            repeated_group(&repetition.sub, repeated || many, skippable)
        }
        HirKind::Capture(capture) => {
            let empty = capture.sub.properties().minimum_len() == Some(0);
            (repeated && (skippable || empty)) || repeated_group(&capture.sub, repeated, skippable)
        }
        HirKind::Concat(parts) => parts.iter().any(|part| repeated_group(part, repeated, skippable)),
        HirKind::Alternation(parts) => parts.iter().any(|part| repeated_group(part, repeated, repeated)),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => false,
    }
}

#[cfg(test)]
mod tests;
