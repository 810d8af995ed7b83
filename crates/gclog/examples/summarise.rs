//! Prints the summary of a log: `cargo run -p busyhour-gclog --example summarise < gc.log`.

use std::io::{BufRead as _, Write as _};

use busyhour_gclog::{GcLogReader, GcSummary};

fn main() -> std::io::Result<()> {
    let mut reader = GcLogReader::new();
    let mut input = std::io::stdin().lock();
    loop {
        let bytes = input.fill_buf()?;
        if bytes.is_empty() {
            break;
        }
        let length = bytes.len();
        reader.feed(bytes);
        input.consume(length);
    }
    let summary = GcSummary::of(&reader.finish());
    let mut out = std::io::stdout().lock();
    writeln!(out, "# {:?} {:?}", summary.lines, summary.damaged_lines)?;
    for caveat in &summary.caveats {
        writeln!(out, "# {}", caveat.text)?;
    }
    writeln!(out, "# {:?}", summary.leak)?;
    out.write_all(summary.to_csv().as_bytes())
}
