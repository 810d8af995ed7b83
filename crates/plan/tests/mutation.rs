//! A short, deterministic fuzz run: plans with random damage, and random sequences of fragments.

mod soundness;

use proptest::prelude::*;

const PLAN: &[u8] = include_bytes!("plans/shop.jmx");

/// The fragments that are inserted: everything that XML or the reader treats specially.
const PIECES: &[&[u8]] = &[
    b"<",
    b">",
    b"/>",
    b"</",
    b"\"",
    b"'",
    b"=",
    b"&",
    b";",
    b"&amp;",
    b"&#0;",
    b"&#xD800;",
    b"&lol;",
    b"<!--",
    b"-->",
    b"--",
    b"<![CDATA[",
    b"]]>",
    b"<?",
    b"?>",
    b"<!DOCTYPE a [<!ENTITY b \"c\">",
    b"]>",
    b"\r\n",
    b"\r",
    b"\0",
    b"\xFF",
    b"\xEF\xBB\xBF",
    b"\xC3",
    b"\xC3\xBC",
    b"<hashTree>",
    b"</hashTree>",
    b"<hashTree/>",
    b"<ThreadGroup guiclass=\"\" testname=\"",
    b"</ThreadGroup>",
    b"<stringProp name=\"x\">",
    b"</stringProp>",
    b"<intProp name=\"i\">1</intProp>",
    b"<objProp><name>o</name><value>",
    b"<doubleProp>",
    b"</jmeterTestPlan>",
    b"<jmeterTestPlan version=\"1.0\">",
    b"%41",
    b"${",
    b" ",
    b"\n",
    b"a",
    b"<<<<<<< HEAD\n",
];

/// A small random generator (splitmix64), whose sequence does not depend on the version of a dependency.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % bound.max(1) as u64) as usize
    }
}

fn mutate(source: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(source.len() + 1);
    let end = (at + random.below(60)).min(source.len());
    match random.below(6) {
        0 => source.truncate(at),
        1 => drop(source.drain(at..end)),
        2 => {
            let copy = source[at..end].to_vec();
            let to = random.below(source.len() + 1);
            source.splice(to..to, copy);
        }
        3 if at < source.len() => source[at] = random.below(256) as u8,
        _ => {
            let piece = PIECES[random.below(PIECES.len())];
            source.splice(at..at, piece.iter().copied());
        }
    }
}

#[test]
fn damaged_plans_violate_no_invariant() {
    let mut random = Random(20_261_121);
    for _ in 0..1500 {
        let mut source = PLAN.to_vec();
        for _ in 0..=random.below(8) {
            mutate(&mut source, &mut random);
        }
        soundness::check(&source);
    }
}

#[test]
fn every_beginning_of_a_plan_is_read() {
    for end in (0..PLAN.len()).step_by(7) {
        soundness::check(&PLAN[..end]);
    }
}

#[test]
fn random_fragments_are_read() {
    let mut random = Random(7);
    for _ in 0..1500 {
        let mut source = Vec::new();
        for _ in 0..random.below(60) {
            source.extend_from_slice(PIECES[random.below(PIECES.len())]);
        }
        soundness::check(&source);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 128, ..ProptestConfig::default() })]
    #[test]
    fn any_bytes_are_read(source in proptest::collection::vec(any::<u8>(), 0..200)) {
        soundness::check(&source);
    }

    #[test]
    fn a_plan_with_one_piece_replaced_is_read(
        at in 0..PLAN.len(),
        len in 0..100_usize,
        piece in "[<>/!&;\"' a-z\\[\\]-]{0,10}",
    ) {
        let mut source = PLAN.to_vec();
        source.splice(at..(at + len).min(PLAN.len()), piece.bytes());
        soundness::check(&source);
    }
}
