//! `/proc` and `/sys` with any content.
#![cfg(target_os = "linux")]

mod system_file_soundness;

use std::path::Path;

use busyhour_observe::{Location, ProcRoot, discover};
use proptest::prelude::*;

use system_file_soundness::{FILES, check, tree_directory, write_tree};

#[test]
fn the_usual_tree_is_understood() {
    let dir = tree_directory();
    write_tree(dir.path());
    check(dir.path(), &[]);
    let found = discover(&ProcRoot::recorded(dir.path()), &[("127.0.0.1", 8080)]);
    let Location::Process(process) = &found[0].location else { panic!("{found:?}") };
    assert_eq!((process.pid, process.command.as_str()), (7, "x"));
}

/// Text of the kind that these files have, with numbers up to and beyond 64 bits.
fn any_content() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        Just(" ".to_owned()),
        Just("\n".to_owned()),
        Just(":".to_owned()),
        Just("(".to_owned()),
        Just(") S ".to_owned()),
        Just("cpu0 ".to_owned()),
        Just("Tcp: ".to_owned()),
        Just("TcpExt: ".to_owned()),
        Just("total=".to_owned()),
        Just("some ".to_owned()),
        Just(" - cgroup2 x rw".to_owned()),
        Just("0::/".to_owned()),
        Just("/..".to_owned()),
        Just("0100007F:1F90 ".to_owned()),
        Just("0A ".to_owned()),
        Just("max ".to_owned()),
        Just("-1 ".to_owned()),
        any::<u64>().prop_map(|number| format!("{number} ")),
        Just("18446744073709551615 ".to_owned()),
        Just("184467440737095516150 ".to_owned()),
    ];
    prop_oneof![
        3 => prop::collection::vec(word, 0..60).prop_map(|words| words.concat().into_bytes()),
        1 => prop::collection::vec(any::<u8>(), 0..300),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(32), ..ProptestConfig::default()
    })]

    #[test]
    fn any_content_is_read(
        replaced in prop::collection::vec((prop::sample::select(&FILES[..]), any_content()), 1..6)
    ) {
        let dir = tree_directory();
        write_tree(dir.path());
        let replaced: Vec<(&str, &[u8])> = replaced.iter().map(|(file, content)| (*file, content.as_slice())).collect();
        check(dir.path(), &replaced);
    }

    /// The recorded files with changed bytes.
    #[test]
    fn changed_recordings_are_read(
        file in prop::sample::select(&["proc/stat", "proc/meminfo", "proc/vmstat", "proc/diskstats", "proc/net/dev", "proc/net/snmp",
            "proc/net/netstat", "proc/net/sockstat", "proc/net/tcp", "proc/pressure/cpu"][..]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..10),
        cut in any::<prop::sample::Index>(),
    ) {
        let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trees/linux-6.18").join(file);
        let mut content = std::fs::read(recorded).unwrap();
        for (at, byte) in changes {
            let at = at.index(content.len());
            content[at] = byte;
        }
        content.truncate(content.len() - cut.index(content.len()) / 2);
        let dir = tree_directory();
        write_tree(dir.path());
        check(dir.path(), &[(file, &content)]);
    }
}

/// Time is linear in the number of parts: a tree with many of everything is read within the limits.
#[test]
fn many_parts_are_bounded() {
    let dir = tree_directory();
    write_tree(dir.path());
    let lines =
        |count: usize, line: &dyn Fn(usize) -> String| (0..count).map(line).collect::<String>().into_bytes();
    let many: Vec<(&str, Vec<u8>)> = vec![
        ("proc/stat", lines(20_000, &|cpu| format!("cpu{cpu} 1 2 3 4 5 6 7 8 0 0\n"))),
        ("proc/meminfo", lines(50_000, &|row| format!("Row{row}: {row} kB\n"))),
        ("proc/diskstats", lines(20_000, &|disk| format!("8 {disk} sd{disk} 1 2 3 4 5 6 7 8 9 10 11\n"))),
        (
            "proc/net/dev",
            lines(10_000, &|device| format!("eth{device}: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n")),
        ),
        (
            "proc/net/tcp",
            lines(100_000, &|socket| {
                format!(
                    "{socket}: 0100007F:{:04X} 00000000:0000 0A 00000000:00000001 00:0 0 0 0 {} 1 0\n",
                    socket % 65_536,
                    socket + 100
                )
            }),
        ),
        ("proc/7/cgroup", lines(2_000, &|number| format!("{number}:memory:/{number}\n"))),
        (
            "proc/self/mountinfo",
            lines(10_000, &|number| {
                format!("1 2 0:1 /{number} /sys/fs/cgroup rw - cgroup cgroup rw,memory\n")
            }),
        ),
    ];
    let replaced: Vec<(&str, &[u8])> =
        many.iter().map(|(file, content)| (*file, content.as_slice())).collect();
    check(dir.path(), &replaced);
}
