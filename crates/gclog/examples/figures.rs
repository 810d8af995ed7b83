//! Prints the figures of a log: `cargo run -p busyhour-gclog --example figures < gc.log`.

use std::io::{BufRead as _, Write as _};

use busyhour_gclog::{Figures, GcLogReader};

fn main() -> std::io::Result<()> {
    let mut reader = GcLogReader::new();
    for line in std::io::stdin().lock().split(b'\n') {
        reader.line_bytes(&line?);
    }
    let log = reader.finish();
    let mut out = std::io::stdout().lock();
    writeln!(out, "# {:?} {:?}", log.lines, log.examples)?;
    for row in Figures::of(&log).rows() {
        writeln!(out, "{}; {}; {}", row.name, row.text, row.unit)?;
    }
    Ok(())
}
