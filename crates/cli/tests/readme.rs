//! Tests that the README agrees with the program.

use std::path::Path;
use std::process::Command;

#[test]
fn the_list_of_supported_elements_is_current() {
    let printed =
        Command::new(env!("CARGO_BIN_EXE_busyhour")).args(["check", "--supported"]).output().unwrap();
    assert!(printed.status.success());
    let printed = String::from_utf8(printed.stdout).unwrap();
    let readme =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md")).unwrap();
    let (_, after) = readme.split_once("<!-- supported: begin -->\n").unwrap();
    let (list, _) = after.split_once("<!-- supported: end -->").unwrap();
    assert!(
        list.trim() == printed.trim(),
        "the README's list is out of date; put this between its two comments:\n\n{printed}"
    );
}
