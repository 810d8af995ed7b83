use proptest::prelude::*;

use super::super::tree::parse;
use super::*;

/// A reference implementation that tries every combination of ancestors and siblings.
fn fits_exhaustively(chain: &Chain, search: &Search<'_>, root: Id, element: Id, at: usize) -> bool {
    let (combinator, tests) = &chain.parts[at];
    if !tests.iter().all(|test| test.fits(search, root, element)) {
        return false;
    }
    let before = |candidate: Id| {
        if at == 0 { candidate == root } else { fits_exhaustively(chain, search, root, candidate, at - 1) }
    };
    let parent = |id: Id| search.tree.nodes[id].parent;
    match combinator {
        Combinator::Start => true,
        _ if element == root => false,
        Combinator::Child => parent(element).is_some_and(before),
        Combinator::Descendant => std::iter::successors(parent(element), |id| parent(*id)).any(before),
        Combinator::Next => search.previous(element).is_some_and(before),
        Combinator::Later => {
            std::iter::successors(search.previous(element), |id| search.previous(*id)).any(before)
        }
    }
}

fn any_page() -> impl Strategy<Value = String> {
    let leaf = proptest::sample::select(vec!["<i>x</i>", "<b>y</b>", "<p>z</p>"]).prop_map(str::to_owned);
    leaf.prop_recursive(6, 40, 4, |inner| {
        let tag = proptest::sample::select(vec!["div", "i", "b", "section"]);
        (tag, proptest::collection::vec(inner, 1..5))
            .prop_map(|(tag, inside)| format!("<{tag}>{}</{tag}>", inside.concat()))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn no_match_is_missed(
        first in proptest::sample::select(vec!["", "> ", "+ ", "~ "]),
        parts in proptest::collection::vec(
            (proptest::sample::select(vec!["div", "i", "b", "p", "*", "section"]),
             proptest::sample::select(vec![" ", " > ", " + ", " ~ "])),
            1..6,
        ),
        page in any_page(),
    ) {
        let mut text = first.to_owned();
        for (index, (name, joint)) in parts.iter().enumerate() {
            text.push_str(name);
            if index + 1 < parts.len() {
                text.push_str(joint);
            }
        }
        let selector = Selector::parse(&text).expect("a selector");
        let tree = parse(&page).expect("a small page");
        let search = Search::new(&tree, u64::MAX);
        for id in tree.with_descendants(ROOT).into_iter().filter(|id| tree.name(*id).is_some()) {
            let chain = &selector.chains[0];
            let last = chain.parts.len() - 1;
            let expected = fits_exhaustively(chain, &search, ROOT, id, last);
            prop_assert_eq!(selector.fits(&search, ROOT, id), expected, "{} in {}", text, page);
        }
    }
}
