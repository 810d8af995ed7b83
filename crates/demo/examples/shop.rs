//! Runs only the ticket shop: `cargo run -p busyhour-demo --example shop -- [--port N] [--db FILE] [--small|--full]
//! [--strict]`.
#![allow(clippy::print_stdout, reason = "an example prints its address")]

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};

use busyhour_demo::{BASE_PATH, DataSet, ShopOptions, listen, run_blocking};

fn main() -> Result<(), Box<dyn Error>> {
    let mut options = ShopOptions::default();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--port" => options.address = SocketAddr::from((Ipv4Addr::LOCALHOST, value()?.parse()?)),
            "--db" => options.database = Some(value()?.into()),
            "--small" => options.data_set = Some(DataSet::SMALL),
            "--full" => options.data_set = Some(DataSet::FULL),
            "--strict" => options.strict = true,
            _ => return Err(format!("unknown argument {argument}").into()),
        }
    }
    let listener = listen(options.address)?;
    println!("http://{}{BASE_PATH}", listener.local_addr()?);
    run_blocking(listener, options, async {
        let _ = tokio::signal::ctrl_c().await;
    })?;
    Ok(())
}
