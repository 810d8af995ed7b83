//! Servers of the laboratory that are written in Rust: one that answers after a delay, and one that stores orders in
//! PostgreSQL. They are separate processes, so that they can be observed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use anyhow::{Context as _, Result};
use postgres::{Client, NoTls};

/// Name of the hidden command.
pub const LAB_SERVER: &str = "explain-server";

/// Rows of the table of stocks.
pub const STOCKS: u64 = 4;

/// Statements that create the tables.
pub const TABLES: &str = "CREATE TABLE stock (id int PRIMARY KEY, sold bigint NOT NULL); \
    CREATE TABLE orders (id bigserial PRIMARY KEY, stock int NOT NULL, at timestamptz NOT NULL DEFAULT now()); \
    INSERT INTO stock SELECT id, 0 FROM generate_series(1, 4) AS id";

/// A server of the laboratory; prints its port.
#[derive(Debug, clap::Args)]
pub struct LabServer {
    /// Delay of a response in ms; `/delay/MS` changes it
    #[arg(long, default_value_t = 2)]
    delay: u64,
    /// Store an order in this database for each request
    #[arg(long)]
    database: Option<String>,
    /// Connections to the database
    #[arg(long, default_value_t = 8)]
    connections: usize,
}

/// The data that all connections share.
struct Shared {
    delay_ms: AtomicU64,
    orders: AtomicU64,
    pool: Option<Pool>,
}

/// Connections to the database.
struct Pool {
    free: Mutex<Vec<Client>>,
    returned: Condvar,
}

impl Pool {
    fn with<T>(&self, work: impl FnOnce(&mut Client) -> T) -> T {
        let lock =
            |result: Result<_, std::sync::PoisonError<_>>| result.unwrap_or_else(|error| error.into_inner());
        let mut free = lock(self.free.lock());
        let mut client = loop {
            match free.pop() {
                Some(client) => break client,
                None => free = lock(self.returned.wait(free)),
            }
        };
        drop(free);
        let result = work(&mut client);
        lock(self.free.lock()).push(client);
        self.returned.notify_one();
        result
    }
}

impl LabServer {
    /// Serves until the process is ended.
    ///
    /// # Errors
    /// No port is free, or the database does not accept connections.
    pub fn run(self) -> Result<()> {
        let pool = match &self.database {
            None => None,
            Some(url) => {
                let clients: Result<Vec<Client>, _> =
                    (0..self.connections).map(|_| Client::connect(url, NoTls)).collect();
                Some(Pool {
                    free: Mutex::new(clients.context("no connection to the database")?),
                    returned: Condvar::new(),
                })
            }
        };
        let shared =
            Arc::new(Shared { delay_ms: AtomicU64::new(self.delay), orders: AtomicU64::new(0), pool });
        let listener = TcpListener::bind("127.0.0.1:0")?;
        println!("port {}", listener.local_addr()?.port());
        for connection in listener.incoming() {
            let shared = Arc::clone(&shared);
            let connection = connection?;
            std::thread::spawn(move || serve(connection, &shared));
        }
        Ok(())
    }
}

/// Answers the requests of a connection; ends with it.
fn serve(connection: TcpStream, shared: &Shared) -> Option<()> {
    connection.set_nodelay(true).ok()?;
    let mut output = connection.try_clone().ok()?;
    let mut input = BufReader::new(connection);
    let mut line = String::new();
    loop {
        line.clear();
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let path = line.split(' ').nth(1)?.to_owned();
        while line.trim() != "" {
            line.clear();
            input.read_line(&mut line).ok()?;
        }
        let status = match path.strip_prefix("/delay/").map(str::parse) {
            Some(Ok(delay)) => {
                shared.delay_ms.store(delay, Ordering::Relaxed);
                "200 OK"
            }
            _ => order(shared),
        };
        output.write_all(format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\n\r\nok").as_bytes()).ok()?;
    }
}

/// Handles a request; returns the status.
fn order(shared: &Shared) -> &'static str {
    std::thread::sleep(Duration::from_millis(shared.delay_ms.load(Ordering::Relaxed)));
    let Some(pool) = &shared.pool else { return "200 OK" };
    let stock = i32::try_from(shared.orders.fetch_add(1, Ordering::Relaxed) % STOCKS).unwrap_or(0) + 1;
    let stored = pool.with(|client| {
        let mut transaction = client.transaction()?;
        transaction.execute("UPDATE stock SET sold = sold + 1 WHERE id = $1", &[&stock])?;
        transaction.execute("INSERT INTO orders (stock) VALUES ($1)", &[&stock])?;
        transaction.commit()
    });
    if stored.is_ok() { "200 OK" } else { "500 Internal Server Error" }
}
