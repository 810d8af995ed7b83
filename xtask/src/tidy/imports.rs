//! Determines the imports between the files of a crate from the tokens of their sources.
//!
//! An import refers to the file that defines the imported name: re-exports are followed. A re-export by itself is not
//! an import, unless the file that re-exports a name also uses it. Test code is ignored.

use anyhow::anyhow;
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr as _;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::tree::File;

/// The maximum depth to which re-exports of re-exports are followed.
const REEXPORTS_MAX: usize = 8;

/// Keywords that precede the name of a definition.
const DEFINING: [&str; 8] = ["struct", "enum", "union", "trait", "type", "fn", "const", "static"];

/// The names of modules from the crate's root; empty for the root.
type ModulePath = Vec<String>;

/// The files by path, each with the files from which it imports.
pub type ImportGraph = BTreeMap<String, BTreeSet<String>>;

/// The imports between the files of the crate in `directory`.
///
/// # Errors
/// A source is not a sequence of Rust tokens.
pub fn import_graph(files: &[File], directory: &str) -> anyhow::Result<ImportGraph> {
    let mut modules = BTreeMap::new();
    let root = format!("{directory}/src/");
    let is_library = files.iter().any(|file| file.path == format!("{root}lib.rs"));
    for file in files {
        let Some(path) = file.path.strip_prefix(&root).and_then(|path| module_path(path, is_library)) else {
            continue;
        };
        let source = Source::read(file, &path).map_err(|error| anyhow!("{}: {error}", file.path))?;
        modules.insert(path, source);
    }
    let test_only: BTreeSet<ModulePath> =
        modules.values().flat_map(|source| source.test_modules.iter().cloned()).collect();
    modules.retain(|path, _| !(1..=path.len()).any(|length| test_only.contains(&path[..length])));
    Ok(Modules(modules).graph())
}

/// The module in the file at `path` from the root, in the crate in `directory`; empty for the root of the crate.
pub fn module_of(path: &str, directory: &str) -> Vec<String> {
    let below = path.strip_prefix(directory).and_then(|path| path.strip_prefix("/src/"));
    below.and_then(|path| module_path(path, false)).unwrap_or_default()
}

/// The module in the file at `path` below `src`; `None` for the files of other programs.
fn module_path(path: &str, is_library: bool) -> Option<ModulePath> {
    let stem = path.strip_suffix(".rs")?;
    if stem.starts_with("bin/") || stem == "main" && is_library {
        return None;
    }
    if stem == "lib" || stem == "main" {
        return Some(Vec::new());
    }
    let stem = stem.strip_suffix("/mod").unwrap_or(stem);
    Some(stem.split('/').map(str::to_owned).collect())
}

/// A name that a `use` declaration brings into a module.
#[derive(Debug, PartialEq)]
struct Import {
    /// The module with the declaration.
    scope: ModulePath,
    path: Vec<String>,
    /// The name in that module; `*` for all names.
    name: String,
    is_public: bool,
}

/// The relevant content of a file.
#[derive(Debug, Default)]
struct Source {
    file: String,
    imports: Vec<Import>,
    /// The paths in code, with the modules in which they occur.
    paths: Vec<(ModulePath, Vec<String>)>,
    /// The identifiers outside of `use` declarations.
    identifiers: BTreeSet<String>,
    defined: BTreeSet<String>,
    /// Modules in separate files that are compiled only for tests.
    test_modules: Vec<ModulePath>,
}

impl Source {
    fn read(file: &File, module: &[String]) -> Result<Self, proc_macro2::LexError> {
        let mut source = Self { file: file.path.clone(), ..Self::default() };
        source.walk(TokenStream::from_str(&file.text)?, module);
        Ok(source)
    }

    fn walk(&mut self, tokens: TokenStream, scope: &[String]) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            at = match &tokens[at] {
                TokenTree::Group(group) if is_test_attribute(&tokens, at) => {
                    debug_assert_eq!(group.delimiter(), Delimiter::Bracket);
                    self.skip_item(&tokens, at + 1, scope)
                }
                TokenTree::Group(group) => {
                    self.walk(group.stream(), scope);
                    at + 1
                }
                TokenTree::Ident(ident) => self.read_item(&tokens, at, &ident.to_string(), scope),
                _ => at + 1,
            };
        }
    }

    /// Parses the item that begins with the identifier at `at`; returns the position after it.
    fn read_item(&mut self, tokens: &[TokenTree], at: usize, word: &str, scope: &[String]) -> usize {
        match (word, tokens.get(at + 1)) {
            // `pub(in path)` is a visibility and not an import.
            ("pub", Some(TokenTree::Group(group))) if group.delimiter() == Delimiter::Parenthesis => at + 2,
            ("use", Some(next)) if !is_punctuation(next, '<') => self.read_use(tokens, at, scope),
            ("mod", Some(TokenTree::Ident(name))) => {
                self.defined.insert(name.to_string());
                let Some(TokenTree::Group(body)) = tokens.get(at + 2) else { return at + 2 };
                self.walk(body.stream(), &concat(scope, &[name.to_string()]));
                at + 3
            }
            (keyword, Some(TokenTree::Ident(name))) if DEFINING.contains(&keyword) => {
                self.defined.insert(name.to_string());
                at + 2
            }
            _ => {
                let (path, after) = path_at(tokens, at);
                self.identifiers.insert(path[0].clone());
                if path.len() > 1 {
                    self.paths.push((scope.to_vec(), path));
                }
                after
            }
        }
    }

    fn read_use(&mut self, tokens: &[TokenTree], at: usize, scope: &[String]) -> usize {
        let is_public = is_public(&tokens[..at]);
        let length = tokens[at..].iter().take_while(|token| !is_punctuation(token, ';')).count();
        for (path, name) in use_tree(&tokens[at + 1..at + length], &[]) {
            self.imports.push(Import { scope: scope.to_vec(), path, name, is_public });
        }
        at + length
    }

    /// Skips the item that begins at `at`; records a module in a separate file.
    fn skip_item(&mut self, tokens: &[TokenTree], mut at: usize, scope: &[String]) -> usize {
        let mut is_use = false;
        while let Some(token) = tokens.get(at) {
            match token {
                TokenTree::Ident(ident) if ident == "use" => is_use = true,
                TokenTree::Ident(ident) if ident == "mod" => {
                    if let (Some(TokenTree::Ident(name)), Some(end)) =
                        (tokens.get(at + 1), tokens.get(at + 2))
                        && is_punctuation(end, ';')
                    {
                        self.test_modules.push(concat(scope, &[name.to_string()]));
                    }
                }
                TokenTree::Punct(end) if end.as_char() == ';' => return at + 1,
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace && !is_use => return at + 1,
                _ => {}
            }
            at += 1;
        }
        at
    }
}

/// Whether the group at `at` belongs to an attribute `#[cfg(test)]` or to another condition that requires `test`.
fn is_test_attribute(tokens: &[TokenTree], at: usize) -> bool {
    let TokenTree::Group(group) = &tokens[at] else { return false };
    if group.delimiter() != Delimiter::Bracket || at == 0 || !is_punctuation(&tokens[at - 1], '#') {
        return false;
    }
    let inside: Vec<TokenTree> = group.stream().into_iter().collect();
    match inside.as_slice() {
        [TokenTree::Ident(name), TokenTree::Group(condition)] if name == "cfg" => {
            let words = identifiers_in(condition.stream());
            words.iter().any(|word| word == "test") && !words.iter().any(|word| word == "not")
        }
        _ => false,
    }
}

fn identifiers_in(tokens: TokenStream) -> Vec<String> {
    let mut words = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => words.push(ident.to_string()),
            TokenTree::Group(group) => words.extend(identifiers_in(group.stream())),
            _ => {}
        }
    }
    words
}

fn is_public(before: &[TokenTree]) -> bool {
    let is_pub = |token: Option<&TokenTree>| matches!(token, Some(TokenTree::Ident(word)) if word == "pub");
    match before.last() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {
            is_pub(before.iter().rev().nth(1))
        }
        last => is_pub(last),
    }
}

fn is_punctuation(token: &TokenTree, character: char) -> bool {
    matches!(token, TokenTree::Punct(found) if found.as_char() == character)
}

/// The path of identifiers joined by `::` at `at`, and the position after it.
fn path_at(tokens: &[TokenTree], mut at: usize) -> (Vec<String>, usize) {
    let mut path = Vec::new();
    while let Some(TokenTree::Ident(ident)) = tokens.get(at) {
        path.push(ident.to_string());
        at += 1;
        if !tokens.get(at..at + 2).is_some_and(|next| next.iter().all(|token| is_punctuation(token, ':'))) {
            break;
        }
        at += 2;
    }
    (path, at)
}

/// The paths in a `use` tree, each with its name in the importing module.
fn use_tree(tokens: &[TokenTree], prefix: &[String]) -> Vec<(Vec<String>, String)> {
    let mut found = Vec::new();
    // A trailing comma results in an empty branch, which would be an import of the prefix.
    let branches = tokens.split(|token| is_punctuation(token, ','));
    for branch in branches.filter(|branch| !branch.is_empty()) {
        let (words, at) = path_at(branch, 0);
        let mut path = concat(prefix, &words);
        match branch.get(at) {
            Some(TokenTree::Group(group)) => {
                let inside: Vec<TokenTree> = group.stream().into_iter().collect();
                found.extend(use_tree(&inside, &path));
                continue;
            }
            Some(star) if is_punctuation(star, '*') => {
                found.push((path, "*".to_owned()));
                continue;
            }
            _ => {}
        }
        // `use a::{self}` imports a.
        if path.len() > 1 && path.last().is_some_and(|word| word == "self") {
            path.pop();
        }
        // The path may be followed by `as NAME`.
        let renamed = match branch.get(at..) {
            Some([TokenTree::Ident(word), TokenTree::Ident(name)]) if word == "as" => Some(name.to_string()),
            _ => None,
        };
        if let Some(name) = renamed.or_else(|| path.last().cloned()) {
            found.push((path, name));
        }
    }
    found
}

fn concat(start: &[String], end: &[String]) -> Vec<String> {
    [start, end].concat()
}

/// The sources of a crate by module.
struct Modules(BTreeMap<ModulePath, Source>);

impl Modules {
    fn graph(&self) -> ImportGraph {
        self.0.values().map(|source| (source.file.clone(), self.targets(source))).collect()
    }

    fn targets(&self, source: &Source) -> BTreeSet<String> {
        let imports = source.imports.iter();
        let used = imports.filter(|import| !import.is_public || source.identifiers.contains(&import.name));
        let imported = used.filter_map(|import| self.resolve(&import.scope, &import.path, 0));
        let named = source.paths.iter().filter_map(|(scope, path)| self.resolve(scope, path, 0));
        imported.chain(named).map(|target| target.file.clone()).filter(|file| *file != source.file).collect()
    }

    /// The file that defines the item at `path` in the module `scope`; `None` if it belongs to another crate.
    fn resolve(&self, scope: &[String], path: &[String], depth: usize) -> Option<&Source> {
        let first = path.first()?;
        let mut rest = &path[1..];
        let mut start = match first.as_str() {
            "crate" => Vec::new(),
            "self" => scope.to_vec(),
            "super" => scope[..scope.len().saturating_sub(1)].to_vec(),
            _ => {
                rest = path;
                scope.to_vec()
            }
        };
        let is_relative = rest.len() == path.len();
        if is_relative && !self.0.contains_key(&concat(scope, &path[..1])) {
            return None;
        }
        while rest.first().is_some_and(|word| word == "super") {
            start.pop();
            rest = &rest[1..];
        }
        self.definition(&concat(&start, rest), depth)
    }

    /// The file that defines the item with this path from the root.
    fn definition(&self, path: &[String], depth: usize) -> Option<&Source> {
        let length = (0..=path.len()).rev().find(|&length| self.0.contains_key(&path[..length]))?;
        let module = &self.0[&path[..length]];
        let Some(name) = path.get(length).filter(|_| depth < REEXPORTS_MAX) else { return Some(module) };
        if module.defined.contains(name) {
            return Some(module);
        }
        let of_module = || module.imports.iter().filter(|import| import.scope == path[..length]);
        if let Some(import) = of_module().find(|import| import.name == *name && import.path.len() > 1) {
            return self.resolve(&import.scope, &concat(&import.path, &path[length + 1..]), depth + 1);
        }
        let globs = of_module().filter(|import| import.name == "*");
        let from_globs = globs.filter_map(|import| {
            self.resolve(&import.scope, &concat(&import.path, &path[length..]), depth + 1)
        });
        Some(from_globs.into_iter().find(|target| target.defined.contains(name)).unwrap_or(module))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The imports of a crate with these files below `src`, one `from > to` per line.
    fn imports_of(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<File> = files
            .iter()
            .map(|(name, text)| File { path: format!("crates/x/src/{name}"), text: (*text).to_owned() })
            .collect();
        let short = |path: &str| path.trim_start_matches("crates/x/src/").trim_end_matches(".rs").to_owned();
        let graph = import_graph(&files, "crates/x").unwrap();
        graph
            .iter()
            .flat_map(|(from, targets)| {
                targets.iter().map(move |to| format!("{} > {}", short(from), short(to)))
            })
            .collect()
    }

    #[test]
    fn imports_and_paths_refer_to_the_file_of_the_definition() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::b::{self, deep::{X, Y as Z}}; use std::fs;"),
            ("b.rs", "mod deep; fn f() { super::c::g(); deep::h(); std::io::x() }"),
            ("b/deep.rs", "pub struct X; pub struct Y; pub fn h() {}"),
            ("c.rs", "/* crate::a::x() */ pub fn g() { \"crate::a::x()\"; }"),
        ];
        assert_eq!(imports_of(&files), ["a > b", "a > b/deep", "b > b/deep", "b > c"]);
    }

    #[test]
    fn trailing_commas_are_not_imports() {
        let files = [("lib.rs", "mod a; mod b;"), ("a.rs", "use crate::{b,};"), ("b.rs", "")];
        assert_eq!(imports_of(&files), ["a > b"]);
    }

    #[test]
    fn reexports_are_followed_and_are_not_imports() {
        let files = [
            ("lib.rs", "mod a; mod b; pub use a::A; pub use b::*;"),
            ("a.rs", "use crate::B; pub struct A;"),
            ("b.rs", "pub struct B;"),
        ];
        assert_eq!(imports_of(&files), ["a > b"]);
    }

    #[test]
    fn used_reexports_are_imports() {
        let files = [("lib.rs", "mod a; pub use a::A; fn f() -> A {}"), ("a.rs", "pub struct A;")];
        assert_eq!(imports_of(&files), ["lib > a"]);
    }

    #[test]
    fn test_code_is_ignored() {
        let files = [
            ("lib.rs", "mod a; mod b; #[cfg(test)] mod tests;"),
            ("a.rs", "#[cfg(test)] use crate::b::{B}; #[cfg(test)] mod tests { use crate::b::B; }"),
            ("b.rs", "#[cfg(not(test))] use crate::a::A;"),
            ("tests.rs", "use crate::a::A;"),
        ];
        assert_eq!(imports_of(&files), ["b > a"]);
    }

    #[test]
    fn inline_modules_and_visibility_are_scopes_and_not_imports() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            (
                "a.rs",
                "mod inner { use super::super::b::B; } pub(in crate::b) fn f() -> impl Sized + use<> {}",
            ),
            ("b.rs", "pub struct B;"),
        ];
        assert_eq!(imports_of(&files), ["a > b"]);
    }
}
