use super::*;

fn texts(messages: &[&str]) -> Vec<String> {
    let mut miner = TemplateMiner::default();
    for message in messages {
        miner.add(message);
    }
    (0..miner.len() as u32).map(|id| miner.text(TemplateId(id))).collect()
}

#[test]
fn messages_that_differ_in_values_have_one_template() {
    let found = texts(&[
        "no seat for booking 12 of user ann",
        "no seat for booking 13 of user bob",
        "no seat for booking 14 of user ann",
        "session of ann ended",
    ]);
    assert_eq!(found, ["no seat for booking <*> of user <*>", "session of ann ended"]);
}

#[test]
fn short_messages_have_to_be_equal() {
    assert_eq!(texts(&["job started", "job ended", "", "job started"]), ["job started", "job ended", ""]);
}

#[test]
fn a_generalized_template_matches_before_a_new_one_is_created() {
    let mut miner = TemplateMiner::default();
    let first = miner.add("user ann books seat one now").unwrap();
    assert_eq!(miner.add("user ann books seat two now"), Some(first));
    assert_eq!(miner.add("user ann books seat three now"), Some(first));
    assert_eq!(miner.text(first), "user ann books seat <*> now");
}

#[test]
fn the_number_of_templates_is_limited() {
    let settings = MinerSettings { templates_max: 50, ..MinerSettings::default() };
    let mut miner = TemplateMiner::new(settings);
    let word = |number: u32| {
        (0..5).map(|digit| (b'a' + (number >> (4 * digit) & 15) as u8) as char).collect::<String>()
    };
    let grouped = (0..10_000).filter(|number| miner.add(&word(*number)).is_some()).count();
    assert_eq!((grouped, miner.len()), (50, 50));
    assert_eq!(miner.add(&word(7)), Some(TemplateId(7)), "known templates are found");
}

#[test]
fn the_number_of_templates_of_a_leaf_and_of_children_is_limited() {
    let mut miner = TemplateMiner::default();
    let word = |number: u32| {
        (0..5).map(|digit| (b'a' + (number >> (4 * digit) & 15) as u8) as char).collect::<String>()
    };
    for number in 0..20_000 {
        miner.add(&format!("{} b {} d", word(number), word(number / 3)));
    }
    let settings = MinerSettings::default();
    assert!(miner.nodes.iter().skip(1).all(|node| node.children.len() <= settings.children_max + 1));
    assert!(miner.nodes.iter().all(|node| node.templates.len() <= settings.leaf_templates_max));
    assert!(miner.len() <= settings.templates_max);
}

proptest::proptest! {
    #[test]
    fn a_message_finds_its_template_again(messages in proptest::collection::vec("[ab1 ]{0,12}", 1..40)) {
        let mut miner = TemplateMiner::default();
        let ids: Vec<_> = messages.iter().map(|message| miner.add(message)).collect();
        for (message, id) in messages.iter().zip(ids) {
            let template = miner.text(id.unwrap());
            let mut masked = Masked::default();
            masked.set(&[], message, Masking::Full);
            let text = String::from_utf8_lossy(masked.text()).into_owned();
            let matches = template.split(' ').zip(text.split(' ')).all(|(own, token)| own == "<*>" || own == token);
            proptest::prop_assert!(matches, "{} does not match {}", text, template);
        }
    }
}
