//! Finds out which rules of a query an entry satisfies.

use aho_corasick::{AhoCorasick, MatchKind};

use crate::query::{Query, Rule, is_word};
use crate::severity::EntrySeverity;

/// Finds all rules that an entry satisfies. It is slower than [`Query::matches`], which needs only one of them.
#[derive(Debug, Clone)]
pub(crate) struct RuleFinder {
    rules: Vec<Rule>,
    /// The automaton that finds the words, and the index of the rule of each word. It also finds a word inside another word or
    /// phrase: `memory` in `out of memory`.
    words: Option<(AhoCorasick, Vec<usize>)>,
    /// For each rule, the number of the last entry that satisfies it.
    last_entries: Vec<u64>,
    entries: u64,
}

impl RuleFinder {
    pub(crate) fn new(query: &Query) -> RuleFinder {
        let rules = query.rules().to_vec();
        let words: Vec<(usize, &str)> = rules
            .iter()
            .enumerate()
            .filter_map(|(at, rule)| match rule {
                Rule::Word(word) => Some((at, word.as_str())),
                Rule::SeverityAtLeast(_) | Rule::Status { .. } => None,
            })
            .collect();
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .ascii_case_insensitive(true)
            .build(words.iter().map(|(_, word)| word));
        // A query with too many words has been refused already.
        let words = automaton.ok().map(|automaton| (automaton, words.iter().map(|(at, _)| *at).collect()));
        RuleFinder { last_entries: vec![0; rules.len()], entries: 0, words, rules }
    }

    pub(crate) fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Calls `each` once for each rule that an entry satisfies, with the index of the rule. The other arguments are those of
    /// [`Query::matches`].
    pub(crate) fn find(
        &mut self,
        text: &str,
        severity: Option<EntrySeverity>,
        status: Option<u16>,
        mut each: impl FnMut(usize),
    ) {
        self.entries += 1;
        for (at, rule) in self.rules.iter().enumerate() {
            let holds = match rule {
                Rule::Word(_) => false,
                Rule::SeverityAtLeast(least) => {
                    status.is_none() && severity.is_some_and(|severity| severity >= *least)
                }
                Rule::Status { from, to } => status.is_some_and(|status| (*from..=*to).contains(&status)),
            };
            if holds {
                each(at);
            }
        }
        let Some((automaton, rule_of_word)) = self.words.as_ref().filter(|_| status.is_none()) else {
            return;
        };
        for found in automaton.find_overlapping_iter(text) {
            let at = rule_of_word[found.pattern().as_usize()];
            if self.last_entries[at] != self.entries && is_word(text.as_bytes(), found.start(), found.end()) {
                self.last_entries[at] = self.entries;
                each(at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(query: &Query, text: &str, severity: Option<EntrySeverity>, status: Option<u16>) -> Vec<String> {
        let mut finder = RuleFinder::new(query);
        let mut found = Vec::new();
        finder.find(text, severity, status, |at| found.push(at));
        assert_eq!(!found.is_empty(), query.matches(text, severity, status), "{text}");
        found.iter().map(|at| finder.rules()[*at].to_string()).collect()
    }

    #[test]
    fn all_rules_of_an_entry_are_found_once() {
        let query = Query::default();
        let severity = Some(EntrySeverity::Error);
        let text = "java.io.IOException: write failed, Exception in terror";
        assert_eq!(found(&query, text, severity, None), ["level>=error", "exception", "failed"]);
        assert_eq!(found(&query, "GET /error", severity, Some(503)), ["status=503"]);
        assert_eq!(found(&query, "all good", Some(EntrySeverity::Warn), None), [] as [&str; 0]);
    }

    #[test]
    fn words_inside_of_others_and_equal_words_are_found() {
        let query: Query = "fail, failed, memory, out of memory, failed".parse().unwrap();
        assert_eq!(
            found(&query, "failed: Out of memory", None, None),
            ["failed", "failed", "out of memory", "memory"]
        );
    }
}
