//! A short run of the checks of the fuzz target `gclog` with a fixed seed: valid logs with bytes changed, removed and
//! inserted, and lines cut, repeated and joined.

mod gclog_soundness;

use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Logs of earlier formats; those of later ones are in `tests/logs`.
const EARLIER: &[&str] = &[
    "1.0: [GC [1 CMS-initial-mark: 7664K(12288K)] 7666K(16320K), 0.0006855 secs]
1.5: [CMS-concurrent-mark: 0.1/0.4 secs] [Times: user=1.0 sys=0.0, real=0.4 secs]
2.0: [GC[YG occupancy: 10 K (20 K)]2.0: [Rescan (parallel) , 0.01 secs]2.1: [weak refs processing, 0.02 secs] [1 CMS-remark: 7664K(12288K)] 7666K(16320K), 0.05 secs]
3.0: [GC 3.0: [ParNew (promotion failed): 5K->5K(6K), 0.1 secs]3.1: [CMS3.2: [CMS-concurrent-sweep: 0.1/0.2 secs] [Times: user=0.0 sys=0.0, real=0.0 secs]
 (concurrent mode failure): 7K->3K(9K), 0.8 secs] 12K->3K(15K), [CMS Perm : 1K->1K(2K)], 0.9 secs]
4.0: [GC 4.0: [ParNew
Desired survivor size 3342336 bytes, new threshold 1 (max 32)
- age   1:  6684672 bytes,  6684672 total
: 52471K->22991K(75776K), 1.07 secs] 60000K->30000K(90000K), 1.08 secs]
",
    "2015-05-14T18:55:12.588+0200: 0.5: [GC pause (G1 Evacuation Pause) (young) (initial-mark) 0.5: [G1Ergonomics (CSet Construction) x]
, 0,0032067 secs]
   [Parallel Time: 1.1 ms, GC Workers: 4]
0.502: [GC concurrent-root-region-scan-start]
   [Eden: 8192.0K(8192.0K)->0.0B(7168.0K) Survivors: 0.0B->1024.0K Heap: 9.0M(16.0M)->3.5M(16.0M)]
 [Times: user=0.0 sys=0.0, real=0.0 secs]
0.55: Total time for which application threads were stopped: 0.0040000 seconds
0.6: #5: [GC remark 0.6: [GC ref-proc, 0.0000070 secs], 0.0005297 secs]
0.8: [Full GC (System.gc()) 9M->1M(16M), 0.01 secs]
   [Eden: 1024.0K(7168.0K)->0.0B(8192.0K) Survivors: 1024.0K->0.0B Heap: 9.0M(16.0M)->1.0M(16.0M)], [Metaspace: 3K->3K(10K)]
",
];

/// The inserted bytes: everything that the reader treats specially.
const PIECES: &[&[u8]] = &[
    b"[",
    b"]",
    b"(",
    b")",
    b"->",
    b":",
    b",",
    b".",
    b"\n",
    b"\r\n",
    b"\xff",
    b"\xe2\x88\x9e",
    b"-",
    b"#",
    b" ",
    b"0",
    b"9999999999999999999999",
    b"1e5",
    b"NaN",
    b"M",
    b"K",
    b"B",
    b"ms",
    b" secs",
    b"s]",
    b"GC(",
    b"[gc]",
    b"[info]",
    b"[0.5s][info][gc] ",
    b"GC(7) ",
    b"Pause Full ",
    b"Pause Mark Start ",
    b"Concurrent cleanup ",
    b"Major Collection ",
    b"1M->1M(2M) 1.0ms",
    b"[GC ",
    b"[Full GC ",
    b"[GC concurrent-",
    b"[CMS-concurrent-",
    b"[YG occupancy: ",
    b"Desired survivor size",
    b"- age",
    b"[G1Ergonomics",
    b"AdaptiveSize",
    b"{Heap before",
    b"[Eden:",
    b"[Times",
    b"Total time for which application threads were stopped: ",
    b"Application time: ",
    b"2015-05-14T18:55:12.588+0200: ",
    b"Safepoint \"x\", Total: 5 ns",
    b"Heap Region Size: 1M",
];

fn logs() -> Vec<Vec<u8>> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/logs");
    let mut paths: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut logs: Vec<Vec<u8>> = paths.iter().map(|path| std::fs::read(path).unwrap()).collect();
    logs.extend(EARLIER.iter().map(|log| log.as_bytes().to_vec()));
    logs
}

#[test]
fn logs_are_sound_unchanged() {
    logs().iter().for_each(|log| gclog_soundness::check(log));
}

#[test]
fn mutated_logs_are_sound() {
    let logs = logs();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(20_261_127);
    for round in 0..1_500 {
        let log = &logs[round % logs.len()];
        // A part of a long log, so that mutations are dense.
        let from = random.random_range(0..log.len());
        let mut bytes = log[from..(from + 4_000).min(log.len())].to_vec();
        for _ in 0..random.random_range(1..12) {
            if bytes.is_empty() {
                break;
            }
            let at = random.random_range(0..bytes.len());
            match random.random_range(0..5) {
                0 => bytes[at] = random.random(),
                1 => {
                    bytes.remove(at);
                }
                2 => {
                    let end = (at + random.random_range(1..200)).min(bytes.len());
                    bytes.drain(at..end);
                }
                3 => {
                    let end = (at + random.random_range(1..200)).min(bytes.len());
                    let piece = bytes[at..end].to_vec();
                    let to = random.random_range(0..bytes.len());
                    bytes.splice(to..to, piece);
                }
                _ => {
                    let piece = PIECES[random.random_range(0..PIECES.len())];
                    bytes.splice(at..at, piece.iter().copied());
                }
            }
        }
        gclog_soundness::check(&bytes);
    }
}
