use proptest::prelude::*;

use super::*;

fn error(text: &str) -> String {
    CellConfigurations::parse(text).unwrap_err().to_string()
}

/// The cells that a configuration calls, in the order of the calls, depth first.
fn call_tree(configuration: &CellConfiguration, cell: CellName) -> String {
    let calls = configuration.cells.get(&cell).map_or(&[][..], |settings| &settings.calls);
    let below: Vec<String> = calls.iter().map(|target| call_tree(configuration, *target)).collect();
    match below.len() {
        0 => cell.to_string(),
        1 => format!("{cell} {}", below[0]),
        _ => format!("{cell} {{{}}}", below.join(", ")),
    }
}

#[test]
fn the_built_in_configurations_are_those_of_the_study() {
    let built_in = CellConfigurations::built_in().unwrap();
    let of = |number: u32| built_in.all().iter().find(|found| found.number == number).unwrap();
    let numbers = |is_kind: &dyn Fn(&CellConfiguration) -> bool| -> Vec<u32> {
        built_in.all().iter().filter(|found| is_kind(found)).map(CellConfiguration::number).collect()
    };
    assert_eq!(numbers(&|_| true), (1..=10).collect::<Vec<u32>>());
    assert_eq!(numbers(&CellConfiguration::leaks), [1, 2, 7]);
    assert_eq!(numbers(&CellConfiguration::throws), [4, 9]);
    for (number, tree) in [
        (2, "TB1 TB3"),
        (7, "TB1 TB3"),
        (3, "TB1 TB2 TB4 TB6"),
        (6, "TB1 TB2 TB4 TB5"),
        (8, "TB1 TB2 TB4 {TB5, TB6}"),
    ] {
        assert_eq!(call_tree(of(number), CellName::TB1), tree, "{number}");
    }
    let draws = |number: u32| of(number).cells.values().map(|settings| settings.cpu).sum::<u64>() as f64;
    for (number, ratio) in [(3, 1.16), (5, 1.67), (6, 1.0), (8, 1.42), (10, 1.61)] {
        assert!((draws(number) / draws(6) - ratio).abs() < 1e-9, "{number}");
    }
}

#[test]
fn lines_contain_all_settings() {
    let text = "[[configuration]]\nnumber = 7\ncells.TB1 = { cpu = 1000, memory = 5, calls = [\"TB2\", \"TB6\"] }\n\
                cells.TB2 = { leak = 9, exception = \"java.io.IOException\" }\n";
    let configurations = CellConfigurations::parse(text).unwrap();
    assert_eq!(configurations.text(), text);
    assert_eq!(configurations.lines(0.5), "7 1 500 5 0 - 2,6\n7 2 0 0 9 java.io.IOException -\nend\n");
    assert!(configurations.lines(0.0).starts_with("7 1 0 "));
}

#[test]
fn mistakes_are_reported() {
    let one = |cells: &str| error(&format!("[[configuration]]\nnumber = 3\n{cells}\n"));
    for (text, words) in [
        (one(""), "missing field `cells`"),
        (one("cells.TB2 = {}"), "configuration 3 has no cells.TB1"),
        (one("cells.TB7 = {}"), "unknown variant `TB7`, expected one of `TB1`"),
        (one("cells.TB1 = { cqu = 1 }"), "unknown field `cqu`"),
        (one("cells.TB1 = { cpu = -1 }"), "cpu = -1"),
        (one("cells.TB1 = { cpu = 2000000001 }"), "at most 2000000000 draws"),
        (one("cells.TB1 = { memory = 2000000000 }"), "TB1 has memory = 2000000000; at most 1073741824"),
        (one("cells.TB1 = { leak = 2000000000 }"), "TB1 has leak = 2000000000"),
        (one("cells.TB1 = { exception = \"a b\" }"), "write the full name of a class"),
        (
            one("cells.TB1 = { calls = [\"TB1\"] }"),
            "TB1 calls TB1; a cell can only call cells with higher numbers",
        ),
        (
            one("cells.TB1 = { calls = [\"TB3\"] }\ncells.TB3 = { calls = [\"TB2\"] }\n"),
            "configuration 3: TB3 calls TB2",
        ),
        (
            one("cells.TB1 = { calls = [\"TB2\", \"TB3\", \"TB4\"] }"),
            "TB1 calls 3 cells; it can call at most 2",
        ),
        (one("cells.TB1 = {}\ncells.TB4 = { cpu = 1 }"), "TB4 is not called by any cell"),
        (error(""), "there is no [[configuration]]"),
        (error("[[configurations]]"), "unknown field `configurations`"),
        (
            error(&"[[configuration]]\nnumber = 3\ncells.TB1 = {}\n".repeat(2)),
            "two configurations with the number 3",
        ),
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let many: String = (0..1_001)
        .map(|number| format!("[[configuration]]\nnumber = {number}\ncells.TB1 = {{}}\n"))
        .collect();
    assert_eq!(error(&many), "there are 1001 configurations; at most 1000 are supported");
}

#[test]
fn names_of_classes_are_recognised() {
    for name in ["java.lang.RuntimeException", "Own", "a.B$C", "a_1.Ünicode"] {
        assert!(is_class_name(name), "{name}");
    }
    for name in ["", ".", "a..B", "a.B ", "1a", "a\nend", "a-b", "-"] {
        assert!(!is_class_name(name), "{name:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(11), ..Default::default() })]

    #[test]
    fn accepted_configurations_have_one_line_of_seven_words_per_cell(
        cells in proptest::collection::btree_map(0..6_usize, (0..3_000_000_000_u64, 0..2_000_000_000_u32, "[a-c.$ ]{0,4}", proptest::collection::vec(0..6_usize, 0..4)), 0..6),
    ) {
        let mut text = "[[configuration]]\nnumber = 1\n".to_owned();
        for (cell, (cpu, memory, exception, calls)) in &cells {
            let calls: Vec<String> = calls.iter().map(|target| format!("\"TB{}\"", target + 1)).collect();
            text += &format!(
                "cells.TB{} = {{ cpu = {cpu}, memory = {memory}, exception = {exception:?}, calls = [{}] }}\n",
                cell + 1,
                calls.join(", ")
            );
        }
        if let Ok(configurations) = CellConfigurations::parse(&text) {
            let lines = configurations.lines(1.0);
            prop_assert_eq!(lines.lines().count(), cells.len() + 1);
            for line in lines.lines().take(cells.len()) {
                let words: Vec<&str> = line.split(' ').collect();
                prop_assert_eq!(words.len(), 7);
                // Cells call only cells with higher numbers, so that no call returns to the same cell.
                let cell: usize = words[1].parse().unwrap();
                prop_assert!(words[6] == "-" || words[6].split(',').all(|target| target.parse::<usize>().unwrap() > cell));
            }
        }
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,80}") {
        let _ = CellConfigurations::parse(&text);
    }
}
