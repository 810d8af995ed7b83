//! Controllers that choose among their children or run for a time.

use super::*;

#[test]
fn a_switch_takes_one_child_by_number_or_name() {
    let switch = |selection: &str| ControllerKind::Switch { selection: Template::literal(selection) };
    let children = || vec![leaf("a"), looped("2", vec![leaf("b")]), leaf("Default")];
    for (selection, expected) in [
        ("", "a"),
        ("0", "a"),
        ("1", "b b"),
        ("3", "a"),
        ("Default", "Default"),
        ("x", "Default"),
        ("controller 2", "b b"),
    ] {
        let plan = vec![inner(switch(selection), children()), leaf("end")];
        assert_eq!(labels("2", plan), format!("{expected} end {expected} end"), "{selection:?}");
    }
    assert_eq!(labels("2", vec![inner(switch("x"), vec![leaf("a")]), leaf("end")]), "end end");
}

#[test]
fn a_runtime_controller_repeats_until_its_seconds_are_over() {
    use busyhour_program::user::StateId;
    let clock = Clock::manual(0);
    let kind = ControllerKind::Runtime { seconds: literal(2), begun: StateId(0) };
    let nodes = vec![inner(kind, vec![leaf("a"), leaf("b")]), leaf("end")];
    let group = group(1, "2", nodes, &script());
    let mut user = lone_user(&run_with_stopped_clock(&clock), 0);
    let mut place = UserPosition::new(group.controllers.len());
    Walk::new(&group, &mut place, &mut user).initialize(ROOT);
    let mut labels = Vec::new();
    loop {
        match Walk::new(&group, &mut place, &mut user).next_sampler(ROOT).unwrap() {
            Next::Sampler(id) => labels.push(group.samplers[id.0 as usize].label.source().to_owned()),
            _ if Walk::new(&group, &mut place, &mut user).is_over(ROOT) => break,
            _ => {}
        }
        clock.advance(std::time::Duration::from_millis(700));
    }
    assert_eq!(labels.join(" "), "a b a end a b a end");
}

#[test]
fn a_weighted_switch_keeps_to_its_shares() {
    use busyhour_program::controller::WeightedChoice;
    use busyhour_program::user::StateId;
    for random in [false, true] {
        let weights = [5, 3, 2].map(literal).into();
        let kind = ControllerKind::Weighted(WeightedChoice { weights, random, state: StateId(1) });
        let nodes = vec![inner(
            kind,
            vec![leaf("a"), inner(ControllerKind::Simple, vec![leaf("b"), leaf("B")]), leaf("c")],
        )];
        let text = labels("1000", nodes);
        let count = |label: &str| text.split(' ').filter(|word| *word == label).count();
        let counts = [count("a"), count("b"), count("B"), count("c")];
        if random {
            // Standard deviations are below 16.
            assert!(
                counts.iter().zip([500, 300, 300, 200]).all(|(n, share)| n.abs_diff(share) < 80),
                "{counts:?}"
            );
        } else {
            assert_eq!(counts, [500, 300, 300, 200]);
        }
    }
}
