//! The parsers of PerfMon's protocol, resctrl, `pqos` and `xl` on damaged texts, with a fixed seed.

mod sources_soundness;

use rand::SeedableRng as _;
use rand::{Rng as _, rngs::StdRng};

const SEEDS: &[&str] = &[
    "test\ninterval:1\nmetrics:memory:used:unit=mb\tnetwork i/o:bytesrecv:iface=a\\:b\tcpu:\tcpu:name=java#1:user\texec:x\t\nexit\n",
    "1.5\t\tNaN\tjmx is \"not\" supported\t\n",
    "    MB:0=100;1= 90\n    L3:0=fffff;1=3\n",
    "llc_occupancy\nmbm_total_bytes\n123456\n",
    "Time,Core,IPC,LLC Misses,LLC[KB]   MBL[MB/s],MBR[MB/s]\n2020-05-01 10:00:01,\"0-3,8\",0.50,12k,2816.0,47.5,2.5\n",
    "Total RMID: 87\nName                   ID        Socket 0        Socket 1\nTotal L3 Cache Size   56320 KB   56320 KB\n\
     web vm    2    54560 KB    12 KB/s\nSocket ID       : 0\n    2      web vm      0x3\n",
];

/// The inserted texts: everything that the parsers treat specially.
const PIECES: &[&str] = &[
    ":",
    "\\:",
    "\t",
    "\n",
    "\r",
    "=",
    "#",
    "\"",
    ",",
    ";",
    "  ",
    "[",
    "]",
    "] ",
    "KB",
    "KB/s",
    "0x",
    "-",
    "é",
    "\0",
    "1e999",
    "99999999999999999999",
    "metrics:",
    "metrics-single:",
    "shutdown\n",
    "Time,",
    "Unassigned",
    "pid=",
    "label=",
];

#[test]
fn damaged_texts_satisfy_the_invariants() {
    let mut random = StdRng::seed_from_u64(4_444);
    for seed in SEEDS {
        sources_soundness::check(seed);
        for _ in 0..150 {
            let mut characters: Vec<char> = seed.chars().collect();
            for _ in 0..random.random_range(1..6) {
                let at = random.random_range(0..characters.len());
                match random.random_range(0..3) {
                    0 => drop(characters.remove(at)),
                    1 => characters.truncate(at.max(10)),
                    _ => {
                        let piece = PIECES[random.random_range(0..PIECES.len())];
                        drop(characters.splice(at..at, piece.chars()));
                    }
                }
            }
            sources_soundness::check(&characters.into_iter().collect::<String>());
        }
    }
}

#[test]
fn texts_with_many_parts_are_read_in_linear_time() {
    for part in ["a:b=c\t", "\\:", "\"", "1 KB ", "0x1 ", "L3:0=1;", "x,", "metrics:cpu\n", "] "] {
        let text = part.repeat(30_000);
        sources_soundness::check(&text);
        sources_soundness::check(&format!("Time,{text}\n1,{text}\n"));
        sources_soundness::check(&format!("1 a {text}"));
    }
}
