//! Prints what discovery finds behind hosts and ports:
//!
//! ```text
//! cargo run -p busyhour-observe --example discover -- 127.0.0.1:8080 [HOST:PORT …]
//! ```

#![allow(clippy::print_stdout, reason = "a program that prints what it found")]

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use busyhour_observe::{Location, ProcRoot, capabilities, discover};

    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut targets = Vec::new();
    for argument in &arguments {
        let (host, port) = argument.rsplit_once(':').ok_or("expected HOST:PORT")?;
        targets.push((host, port.parse()?));
    }
    let before = busyhour_program::clock::monotonic_ns();
    let found = discover(&ProcRoot::live(), &targets);
    let milliseconds = (busyhour_program::clock::monotonic_ns() - before) as f64 / 1e6;
    for entry in &found {
        println!("{:?}", entry.origins);
        match &entry.location {
            Location::Process(process) => println!(
                "  {} ({}, process {}, {} descendants, {:?}, {:?})",
                process.kind.as_str(),
                process.command,
                process.pid,
                process.descendants.len(),
                process.namespace,
                process.listens_on,
            ),
            other => println!("  {other:?}"),
        }
        for source in &entry.sources {
            println!("  {source}");
        }
    }
    println!("{} entries in {milliseconds:.1} ms", found.len());
    if targets.is_empty() {
        for capability in capabilities(&ProcRoot::live()) {
            println!("{}: {:?} ({})", capability.name, capability.state, capability.purpose);
        }
    }
    Ok(())
}
