//! The uses of names in a script, collected from its tokens in one pass before parsing.

use std::collections::HashSet;
use std::sync::Arc;

use super::super::lexer::{Token, TokenKind};

/// The uses of names in a whole script.
#[derive(Default)]
pub(in crate::jvm) struct Uses {
    /// Names that the script assigns.
    assigned: HashSet<Arc<str>>,
    /// Names to which a `new …Builder` is assigned.
    builders: HashSet<Arc<str>>,
    /// Names of methods that the script defines.
    methods: HashSet<Arc<str>>,
    /// Indices of the opening parentheses of parameter lists that are followed by a method's body.
    with_body: HashSet<usize>,
}

impl Uses {
    pub(super) fn from_tokens(tokens: &[Token]) -> Self {
        let mut uses = Self { with_body: with_body(tokens), ..Self::default() };
        for (at, pair) in tokens.windows(2).enumerate() {
            let TokenKind::Name(name) = &pair[0].kind else { continue };
            match &pair[1].kind {
                TokenKind::Symbol("=") => {
                    uses.assigned.insert(name.clone());
                    if makes_builder(&tokens[at + 2..]) {
                        uses.builders.insert(name.clone());
                    }
                }
                TokenKind::Symbol("->") => {
                    uses.assigned.insert(name.clone());
                }
                TokenKind::Symbol("(") if uses.with_body.contains(&(at + 1)) => {
                    uses.methods.insert(name.clone());
                }
                _ => {}
            }
        }
        uses
    }

    /// Whether the script itself assigns the name.
    pub fn assigns(&self, name: &str) -> bool {
        self.assigned.contains(name)
    }

    /// Whether a `new …Builder` is assigned to the name.
    pub fn makes_builder(&self, name: &str) -> bool {
        self.builders.contains(name)
    }

    /// Whether the script defines a method with this name somewhere.
    pub fn defines(&self, name: &str) -> bool {
        self.methods.contains(name)
    }

    /// Whether the parentheses that open at this token are followed by a body.
    pub fn body_follows(&self, open: usize) -> bool {
        self.with_body.contains(&open)
    }
}

fn makes_builder(value: &[Token]) -> bool {
    match value {
        [new, class, ..] => match (&new.kind, &class.kind) {
            (TokenKind::Name(new), TokenKind::Name(class)) => {
                &**new == "new"
                    && class.ends_with("Builder")
                    && !matches!(&**class, "StringBuilder" | "JsonBuilder")
            }
            _ => false,
        },
        _ => false,
    }
}

fn with_body(tokens: &[Token]) -> HashSet<usize> {
    let last_brace = tokens.iter().rposition(|token| matches!(token.kind, TokenKind::Symbol("{")));
    let mut open = Vec::new();
    let mut found = HashSet::new();
    for (at, token) in tokens.iter().enumerate() {
        match &token.kind {
            TokenKind::Symbol("(") => open.push(at),
            TokenKind::Symbol(")") => {
                let Some(start) = open.pop() else { continue };
                let has_body = match tokens.get(at + 1).map(|next| &next.kind) {
                    Some(TokenKind::Symbol("{")) => true,
                    Some(TokenKind::Name(name)) => {
                        &**name == "throws" && last_brace.is_some_and(|last| last > at)
                    }
                    _ => false,
                };
                if has_body {
                    found.insert(start);
                }
            }
            _ => {}
        }
    }
    found
}
