//! Tests that random choices depend only on the plan and the seed, not on the number of cores.

use std::collections::BTreeMap;

use crate::plans::{element, get, group, plan, text};
use crate::program::{Room, rows};
use crate::servers::Server;

/// The requests of each user, in order.
fn choices(more: &str) -> BTreeMap<String, Vec<String>> {
    let server = Server::quick();
    let room = Room::new();
    let one_of =
        ["a", "b", "c", "d"].map(|name| get(name, &format!("/{name}?n=${{__Random(1,1000000)}}"))).concat();
    let steps = element("RandomController", "One of", "", &one_of)
        + &element(
            "RandomOrderController",
            "In any order",
            "",
            &(get("x", "/x") + &get("y", "/y") + &get("z", "/z")),
        )
        + &element(
            "UniformRandomTimer",
            "Pause",
            &(text("RandomTimer.range", "3") + &text("ConstantTimer.delay", "0")),
            "",
        )
        + &get("s", "/${__RandomString(8,abcdef)}");
    room.file("plan.jmx", plan(&group("6", "8", &steps)));
    let port = server.port();
    room.run_line(&format!("run plan.jmx -l out.jtl -JPORT={port} {more}")).expect(0);
    let mut choices: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in rows(&room.read("out.jtl")) {
        let path = row["URL"].split_once(&format!(":{port}")).unwrap().1.to_owned();
        choices.entry(row["threadName"].clone()).or_default().push(path);
    }
    assert_eq!(choices.len(), 6);
    assert!(choices.values().all(|paths| paths.len() == 8 * 5));
    choices
}

#[test]
fn random_choices_do_not_depend_on_the_number_of_cores() {
    let one = choices("--seed 7 --cores 1");
    assert_eq!(one, choices("--seed 7 --cores 2"));
    assert_ne!(one, choices("--seed 8 --cores 1"));
    let users: std::collections::BTreeSet<_> = one.values().collect();
    assert_eq!(users.len(), 6, "each user makes its own choices");
}
