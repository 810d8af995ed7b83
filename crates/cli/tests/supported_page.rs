//! Tests that the page of supported elements agrees with the program.

use std::path::Path;
use std::process::Command;

/// The comments around the generated part of the page.
const BEGIN: &str = "<!-- supported: begin -->\n";
const END: &str = "<!-- supported: end -->";

/// The environment variable with which this test writes the page instead of failing.
const UPDATE: &str = "BUSYHOUR_UPDATE_PAGES";

#[test]
fn the_list_of_supported_elements_is_current() {
    let printed =
        Command::new(env!("CARGO_BIN_EXE_busyhour")).args(["check", "--supported"]).output().unwrap();
    assert!(printed.status.success());
    let printed = String::from_utf8(printed.stdout).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/supported.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (list, after) = rest.split_once(END).unwrap();
    if list.trim() == printed.trim() {
        return;
    }
    assert!(
        std::env::var_os(UPDATE).is_some(),
        "docs/supported.md is out of date; update it with\n\
         {UPDATE}=1 cargo test -p busyhour-cli --test supported_page"
    );
    std::fs::write(path, format!("{before}{BEGIN}\n{}\n\n{END}{after}", printed.trim())).unwrap();
}
