//! A short run of the checks of the fuzz target `results` with a fixed seed: valid result files with bytes changed,
//! removed and inserted.

mod results_soundness;

use rand::SeedableRng as _;
use rand::{Rng as _, rngs::StdRng};

const SEEDS: &[&[u8]] = &[
    b"timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,failureMessage,bytes,sentBytes,allThreads,Latency\n\
      1700000000000,12,home,200,OK,T 1-1,true,,512,100,2,9\n\
      1700000000100,1500,\"a, \"\"b\"\"\nc\",500,no,T 1-2,false,\"wanted, this\",7,100,2,3\n\
      1700000002100,7,home,200,\"Number of samples in transaction : 1, number of failing samples : 0\",T 1-1,true,,1,1,2,1\n",
    b"1331861403100;18;010_Home;200;OK;Thread Group 1-6;text;true;18078;13\n1331861403101;19;x;200;OK;T 1-1;text;true;1;1\n",
    b"<?xml version=\"1.0\"?>\n<testResults version=\"1.2\">\n<httpSample t=\"40\" lt=\"9\" ts=\"1700000000100\" s=\"false\" \
      lb=\"one &amp; two\" rc=\"500\" tn=\"a 1-2\" by=\"96\" sc=\"1\" ec=\"1\" na=\"4\"><sample t=\"1\" ts=\"1700000000101\" lb=\"in\"/>\
      <java.net.URL>http://h/?a=1&amp;b</java.net.URL></httpSample>\n<sample t=\"5\" it=\"2\" ts=\"1700000000050\" \
      rm=\"Number of samples in transaction : 1\"><sample t=\"5\" ts=\"1700000000050\"/></sample>\n</testResults>\n",
];

/// The inserted bytes: everything that the readers treat specially.
const PIECES: &[&[u8]] = &[
    b"\"",
    b"\"\"",
    b",",
    b";",
    b"\n",
    b"\r\n",
    b"\xef\xbb\xbf",
    b"\xff",
    b"-",
    b"9999999999999999999",
    b"1e5",
    b"<",
    b">",
    b"/>",
    b"&",
    b"&lt;",
    b"<sample t=\"1\" ts=\"2\">",
    b"</sample>",
    b"</testResults>",
    b"timeStamp",
    b"\x1f\x8b",
    b"2012/03/16 01:30:03",
];

#[test]
fn damaged_result_files_satisfy_the_invariants() {
    let mut random = StdRng::seed_from_u64(20_120_316);
    for seed in SEEDS {
        results_soundness::check(seed);
        for _ in 0..3_000 {
            let mut bytes = seed.to_vec();
            for _ in 0..random.random_range(1..6) {
                let at = random.random_range(0..bytes.len());
                match random.random_range(0..5) {
                    0 => bytes[at] = random.random(),
                    1 => drop(bytes.remove(at)),
                    2 => drop(
                        bytes.splice(at..at, PIECES[random.random_range(0..PIECES.len())].iter().copied()),
                    ),
                    3 => bytes.truncate(at.max(1)),
                    _ => {
                        let line = bytes[at..].iter().take(40).copied().collect::<Vec<u8>>();
                        drop(bytes.splice(at..at, line));
                    }
                }
                if bytes.is_empty() {
                    break;
                }
            }
            results_soundness::check(&bytes);
        }
    }
}
