//! Groups messages by their templates: Drain (He et al., "Drain: an online log parsing approach with fixed depth tree", ICWS 2017).
//!
//! A message is masked and split into tokens. In a tree of fixed depth, the number of tokens and the first two tokens lead to a
//! leaf with the templates that may match. If the similarity of the most similar one is at least 0.8, the message joins it, and
//! tokens that differ become `<*>`. Otherwise the message is a new template.
//!
//! Two details differ from the publication, so that one setting fits all logs: values are masked by general rules, and a `<*>` of
//! a template equals any token. With this definition, similarities are higher, and the required one is 0.8 instead of 0.4.

use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher as _;

use crate::mask::{Masked, Masking, WILDCARD};

/// Limits and threshold of a [`TemplateMiner`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MinerSettings {
    /// Minimum share of equal tokens, 0 to 1.
    pub similarity: f64,
    /// Maximum number of templates. When it is reached, messages that match none of them are not grouped.
    pub templates_max: usize,
    /// Maximum number of children of a node of the tree, one per token. Further tokens share one more child.
    pub children_max: usize,
    /// Maximum number of templates with the same number of tokens and the same first tokens.
    pub leaf_templates_max: usize,
}

impl Default for MinerSettings {
    fn default() -> MinerSettings {
        MinerSettings { similarity: 0.8, templates_max: 10_000, children_max: 100, leaf_templates_max: 200 }
    }
}

/// The number of a template in its miner, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TemplateId(pub(crate) u32);

impl TemplateId {
    /// The number.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Number of tokens that select a leaf.
const PREFIX_TOKENS: usize = 2;

#[derive(Debug, Clone, Default)]
struct Node {
    children: FxHashMap<u64, u32>,
    templates: Vec<u32>,
}

#[derive(Debug, Clone)]
struct Template {
    /// The hash of each token, or the hash of [`WILDCARD`] if the token is a value.
    tokens: Box<[u64]>,
    /// The first message, masked.
    first: Box<str>,
}

/// Groups messages by their templates, in bounded memory.
#[derive(Debug, Clone)]
pub struct TemplateMiner {
    settings: MinerSettings,
    nodes: Vec<Node>,
    templates: Vec<Template>,
    wild: u64,
    masked: Masked,
    hashes: Vec<u64>,
}

impl Default for TemplateMiner {
    fn default() -> TemplateMiner {
        TemplateMiner::new(MinerSettings::default())
    }
}

impl TemplateMiner {
    /// Creates a miner without templates.
    #[must_use]
    pub fn new(settings: MinerSettings) -> TemplateMiner {
        TemplateMiner {
            settings,
            nodes: vec![Node::default()],
            templates: Vec::new(),
            wild: hash(WILDCARD.as_bytes()),
            masked: Masked::default(),
            hashes: Vec::new(),
        }
    }

    /// Number of templates.
    #[must_use]
    pub fn len(&self) -> usize {
        self.templates.len()
    }

    /// Whether there are no templates.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.templates.is_empty()
    }

    /// The text of a template: its tokens, joined by spaces, with `<*>` for values.
    #[must_use]
    pub fn text(&self, id: TemplateId) -> String {
        self.text_at(id.index())
    }

    /// The text of the template with this number; empty if there is none.
    pub(crate) fn text_at(&self, index: usize) -> String {
        let Some(template) = self.templates.get(index) else { return String::new() };
        let mut text = String::with_capacity(template.first.len());
        for (token, hash) in template.first.split(' ').zip(&template.tokens) {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(if *hash == self.wild { WILDCARD } else { token });
        }
        text
    }

    /// The template of a message, which is created or generalized if necessary. `None` if no template matches and a
    /// limit on the number of templates is reached.
    pub fn add(&mut self, message: &str) -> Option<TemplateId> {
        self.add_labelled(&[], message, Masking::Full)
    }

    /// The template of a message with labels in front of it. The labels are not masked.
    pub(crate) fn add_labelled(
        &mut self,
        labels: &[&str],
        message: &str,
        masking: Masking,
    ) -> Option<TemplateId> {
        self.read(labels, message, masking);
        let leaf = self.leaf();
        if let Some(id) = self.most_similar(leaf, false) {
            self.generalize(id);
            return Some(TemplateId(id));
        }
        let is_full = self.templates.len() >= self.settings.templates_max
            || self.nodes[leaf].templates.len() >= self.settings.leaf_templates_max;
        if is_full {
            return None;
        }
        Some(self.push(leaf))
    }

    /// Adds a template of another miner, whether or not a similar one exists.
    pub(crate) fn insert_template(&mut self, text: &str) {
        self.read_masked(text);
        let leaf = self.leaf();
        self.push(leaf);
    }

    /// The templates that are equal to a template of another miner, where `<*>` equals any token. If there are none, the most
    /// similar one.
    pub(crate) fn find_templates(&mut self, text: &str) -> Vec<TemplateId> {
        self.read_masked(text);
        let leaf = self.leaf();
        let is_equal = |id: &&u32| {
            let tokens = self.templates[**id as usize].tokens.iter().zip(&self.hashes);
            tokens.into_iter().all(|(own, token)| own == token || *own == self.wild || *token == self.wild)
        };
        let equal: Vec<u32> = self.nodes[leaf].templates.iter().filter(is_equal).copied().collect();
        let found =
            if equal.is_empty() { self.most_similar(leaf, true).into_iter().collect() } else { equal };
        found.into_iter().map(TemplateId).collect()
    }

    fn push(&mut self, leaf: usize) -> TemplateId {
        let id = self.templates.len() as u32;
        let first = String::from_utf8_lossy(self.masked.text()).into_owned().into_boxed_str();
        self.templates.push(Template { tokens: self.hashes.as_slice().into(), first });
        self.nodes[leaf].templates.push(id);
        TemplateId(id)
    }

    fn read(&mut self, labels: &[&str], message: &str, masking: Masking) {
        self.masked.set(labels, message, masking);
        self.hash_tokens();
    }

    fn read_masked(&mut self, text: &str) {
        self.masked.set_masked(text);
        self.hash_tokens();
    }

    fn hash_tokens(&mut self) {
        self.hashes.clear();
        self.hashes.extend(self.masked.tokens().map(hash));
    }

    /// The leaf for the current message.
    fn leaf(&mut self) -> usize {
        let mut node = self.child(0, self.hashes.len() as u64);
        for at in 0..PREFIX_TOKENS.min(self.hashes.len()) {
            let has_value = memchr::memmem::find(self.masked.token(at), WILDCARD.as_bytes()).is_some();
            let key = if has_value { self.wild } else { self.hashes[at] };
            node = self.child(node, key);
        }
        node
    }

    fn child(&mut self, node: usize, key: u64) -> usize {
        let children = &self.nodes[node].children;
        let is_full = children.len() >= self.settings.children_max;
        // The root needs no limit: it has one child per number of tokens, which is limited.
        let key = if is_full && node != 0 && !children.contains_key(&key) { self.wild } else { key };
        if let Some(child) = children.get(&key) {
            return *child as usize;
        }
        let child = self.nodes.len();
        self.nodes.push(Node::default());
        self.nodes[node].children.insert(key, child as u32);
        child
    }

    /// The template of a leaf with the most equal tokens, if they are enough. If `both`, a `<*>` in the message also equals any
    /// token.
    fn most_similar(&self, leaf: usize, both: bool) -> Option<u32> {
        let tokens = &self.hashes;
        let allowed = (tokens.len() as f64 * (1.0 - self.settings.similarity) + 1e-9) as usize;
        let mut best: Option<(usize, usize, u32)> = None;
        for &id in &self.nodes[leaf].templates {
            let (mut different, mut wild) = (0, 0);
            for (own, token) in self.templates[id as usize].tokens.iter().zip(tokens) {
                if own != token {
                    if *own == self.wild || both && *token == self.wild {
                        wild += 1;
                    } else {
                        different += 1;
                        if different > allowed {
                            break;
                        }
                    }
                }
            }
            if different <= allowed
                && best.is_none_or(|(least, fewest, _)| (different, wild) < (least, fewest))
            {
                best = Some((different, wild, id));
                if (different, wild) == (0, 0) {
                    break;
                }
            }
        }
        best.map(|(_, _, id)| id)
    }

    fn generalize(&mut self, id: u32) {
        let wild = self.wild;
        for (own, token) in self.templates[id as usize].tokens.iter_mut().zip(&self.hashes) {
            if own != token {
                *own = wild;
            }
        }
    }
}

fn hash(token: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(token);
    hasher.finish()
}

#[cfg(test)]
mod tests;
