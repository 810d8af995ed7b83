//! The guarantees hold for damaged logs.

mod serverlog_soundness;

use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

const LOGS: [&str; 4] = [
    "$remote_addr [$time_local] \"$request\" $status $msec $request_time\n\
     10.0.0.1 [27/Nov/2026:13:55:36 +0000] \"GET /a?b=c HTTP/1.1\" 200 1795787736.123 0.045\n\
     10.0.0.1 [27/Nov/2026:13:55:37 +0000] \"GET /a?b=d HTTP/1.1\" 200 1795787737.001 0.005\n\
     10.0.0.2 [27/Nov/2026:13:55:37 +0000] \"GET /b HTTP/1.1\" 404 1795787737.301 0.001\n",
    "%h %l %u %t \"%r\" %>s %b %D\n\
     ::1 - - [27/Nov/2026:13:55:36 +0000] \"GET /a HTTP/1.1\" 200 12 4500\n\
     ::1 - - [27/Nov/2026:13:55:38 +0000] \"POST /a HTTP/1.1\" 500 - 70\n",
    "{\"start_time\":\"2026-11-27T13:55:36.100Z\",\"path\":\"/a\",\"response_code\":200,\"duration\":12,\"request_id\":\"x\"}\n\
     {\"start_time\":\"2026-11-27T13:55:36.200Z\",\"path\":\"/a\",\"response_code\":200,\"duration\":9,\"request_id\":\"y\"}\n",
    "[2026-11-27T13:55:36.100Z] \"GET /a HTTP/2\" 204 - 154 0 226 100 \"10.0.35.28\" \"a\" \"cc21\" \"host\" \"tcp://10.0.2.1:80\"\n",
];

#[test]
fn damaged_logs_are_read_or_rejected() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    for log in LOGS {
        serverlog_soundness::check(log.as_bytes());
        for _ in 0..1_000 {
            let mut bytes = log.repeat(random.random_range(1..4)).into_bytes();
            for _ in 0..random.random_range(1..5) {
                let at = random.random_range(0..bytes.len());
                match random.random_range(0..3) {
                    0 => bytes[at] = random.random(),
                    1 => bytes.truncate(at.max(1)),
                    _ => bytes.insert(at, b"0129\n\"[]{}$% -."[random.random_range(0..15)]),
                }
            }
            serverlog_soundness::check(&bytes);
        }
    }
}

#[test]
fn the_time_is_linear_in_the_number_of_lines() {
    let line = "10.0.0.1 [27/Nov/2026:13:55:36 +0000] \"GET /a HTTP/1.1\" 200 1795787736.123 0.045\n";
    let format = "$remote_addr [$time_local] \"$request\" $status $msec $request_time\n";
    serverlog_soundness::check(format!("{format}{}", line.repeat(2_000)).as_bytes());
    serverlog_soundness::check("$msec ".repeat(2_000).as_bytes());
    serverlog_soundness::check("[".repeat(1_000_000).as_bytes());
    serverlog_soundness::check("{\"a\":".repeat(200_000).as_bytes());
}
