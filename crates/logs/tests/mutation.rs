//! The properties of `log_soundness` hold for mutated logs. The fuzz target `logs` checks the same properties.

mod log_soundness;

use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

const LINES: &[&str] = &[
    "2024-03-18 10:00:05,123 ERROR [main] shop.Shop - no seat for booking 12, password=x",
    "java.lang.IllegalStateException: no seat",
    "\tat shop.Shop$$Lambda$14/0x0800.book(Shop.java:5)",
    "Caused by: java.sql.SQLException: lock",
    "\t... 12 more",
    "Mar 18, 2024 10:00:06 AM shop.Shop book",
    "SEVERE: booking failed",
    "18-Mar-2024 10:00:06.500 WARNING [http-1] org.apache.catalina.Foo.bar slow",
    "10.0.0.1 - - [18/Mar/2024:10:00:07 +0000] \"GET /api/orders/5?a=b HTTP/1.1\" 503 12 \"-\" \"curl\" 250",
    "Mar 18 10:00:08 host sshd[5]: failed password for root",
    "<11>1 2024-03-18T10:00:08.5Z host app 5 - - error x",
    "Traceback (most recent call last):",
    "  File \"/srv/shop/seats.py\", line 12, in load",
    "shop.SeatError: 5",
    "panic: runtime error",
    "goroutine 1 [running]:",
    "main.main()",
    "{\"log\":\"2024-03-18 10:00:09 ERROR part\",\"stream\":\"stderr\",\"time\":\"2024-03-18T10:00:09Z\"}",
    "{\"log\":\" two\\n\",\"stream\":\"stderr\",\"time\":\"2024-03-18T10:00:09Z\"}",
    "2024-03-18T10:00:10.5Z stdout P first ",
    "2024-03-18T10:00:10.5Z stdout F second error",
    "{\"MESSAGE\":\"failed\\nException: x\",\"_PID\":\"5\",\"PRIORITY\":\"3\",\"__REALTIME_TIMESTAMP\":\"1710756011000000\"}",
    "{\"timestamp\":1710756012,\"level\":\"error\",\"message\":\"x\",\"stack\":\"Error: x\\n    at f (/a/b.js:1:2)\"}",
    "E0318 10:00:13.000000       1 server.go:12] no route",
    "",
];

#[test]
fn mutated_logs_keep_the_properties() {
    for seed in 0..400 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut bytes = vec![random.random::<u8>()];
        for _ in 0..random.random_range(1..40) {
            bytes.extend_from_slice(LINES[random.random_range(0..LINES.len())].as_bytes());
            bytes.push(b'\n');
        }
        for _ in 0..random.random_range(0..12) {
            let at = random.random_range(0..bytes.len());
            match random.random_range(0..4) {
                0 => bytes[at] = random.random(),
                1 => bytes.truncate(at.max(1)),
                2 => bytes.insert(at, b"\n\"{[ :\x1b\xff"[random.random_range(0..8)]),
                _ => {
                    let part = bytes[at..(at + 30).min(bytes.len())].to_vec();
                    bytes.extend_from_slice(&part);
                }
            }
        }
        log_soundness::check(&bytes);
    }
}

#[test]
fn repeated_parts_are_read_in_linear_time() {
    for part in LINES.iter().copied().chain([
        "[", "(", "{", "\"", "1 ", "a=", "a.", "/a", "@//", "a-1", "\u{1b}[", "<", "<1>", "at ", "\tat ",
        "é", ":",
    ]) {
        for end in ["", "\n"] {
            let text = format!("0{}", format!("{part}{end}").repeat(200_000 / (part.len() + 1)));
            log_soundness::check(text.as_bytes());
        }
    }
}
