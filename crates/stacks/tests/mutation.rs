//! Changes a file of stacks at random places, with fixed seeds.

mod stacks_soundness;

use busyhour_stacks::{SampledState, SampledThread, SampledWait, SampledWaitKind, StackDump, StackWriter};
use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

fn file() -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = StackWriter::new(&mut file).unwrap();
    for number in 0..120u64 {
        let is_slow = number % 17 < 3;
        let threads: Vec<SampledThread> = (0..6)
            .map(|thread| SampledThread {
                name: format!("worker-{thread}"),
                state: if is_slow { SampledState::Blocked } else { SampledState::Runnable },
                frames: vec![
                    if is_slow { "Shop.pay" } else { "Shop.idle" }.to_owned(),
                    format!("Shop.run{thread}"),
                ],
                waits: is_slow.then(|| SampledWait {
                    kind: SampledWaitKind::Enter,
                    lock: "Shop".to_owned(),
                    owner: Some(0),
                }),
            })
            .collect();
        let dump = StackDump {
            source: "stacks:jvm:1",
            time_ns: number * 1_000,
            took_ns: 1,
            stopped_ns: None,
            threads: &threads,
        };
        writer.write(&dump).unwrap();
    }
    writer.finish().unwrap();
    file
}

#[test]
fn changed_files_are_read_and_compared_without_panics() {
    let original = file();
    stacks_soundness::check(&original);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    for _ in 0..150 {
        let mut changed = original.clone();
        for _ in 0..random.random_range(1..8) {
            let at = random.random_range(0..changed.len());
            match random.random_range(0..4) {
                0 => changed[at] = random.random(),
                1 => changed[at] = b"0123456789\t\n-SKDTEL"[random.random_range(0..19)],
                2 => changed.truncate(at.max(1)),
                _ => {
                    let line: Vec<u8> =
                        changed.split_inclusive(|byte| *byte == b'\n').nth(at % 50).unwrap_or(&[]).to_vec();
                    changed.extend(line);
                }
            }
        }
        stacks_soundness::check(&changed);
    }
}
