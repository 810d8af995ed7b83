//! nginx as the server: one process that serves fixed bodies from memory and counts all requests.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use xtask_common::process::free_port;

use super::setup::Bench;
use crate::process::{self, Running};

/// The protocol of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Plain HTTP.
    Http,
    /// HTTPS with a self-signed certificate.
    Https,
}

/// A running nginx.
#[derive(Debug)]
pub struct Nginx {
    /// The port of plain HTTP.
    pub port: u16,
    /// The port of HTTPS.
    pub tls_port: u16,
    /// The number of requests by which this bench read the count. The count of nginx includes these requests.
    count_requests: u64,
    _server: Running,
}

/// The path of a body of this size; a query may follow.
pub fn body_path(bytes: usize) -> String {
    format!("/body{bytes}")
}

/// The sizes of the served bodies.
pub const BODIES: [usize; 2] = [100, 4096];

impl Nginx {
    /// Starts nginx on the server's core.
    pub fn start(bench: &Bench) -> Result<Self> {
        let program = bench.nginx.as_ref().context("nginx is missing")?;
        let folder = bench.work.path().join("nginx");
        fs::create_dir_all(&folder)?;
        let (port, tls_port) = (free_port()?, free_port()?);
        create_certificate(&folder)?;
        fs::write(folder.join("nginx.conf"), configuration(port, tls_port))?;
        let mut command = Command::new(program);
        command.arg("-p").arg(&folder).args(["-c", "nginx.conf", "-e", "error.log"]);
        let server = process::serve(command, &bench.cores, &folder.join("output.log"), port)?;
        Ok(Self { port, tls_port, count_requests: 0, _server: server })
    }

    /// The number of handled requests, without those that read the count.
    pub fn requests(&mut self) -> Result<u64> {
        let mut connection = TcpStream::connect(("127.0.0.1", self.port))?;
        connection.write_all(b"GET /count HTTP/1.0\r\n\r\n")?;
        let mut response = String::new();
        connection.read_to_string(&mut response)?;
        self.count_requests += 1;
        let count = parse_count(&response)
            .with_context(|| format!("nginx returned no count of requests: {response}"))?;
        Ok(count.saturating_sub(self.count_requests))
    }
}

/// The third number of the line below `server accepts handled requests`.
fn parse_count(response: &str) -> Option<u64> {
    let mut lines = response.lines();
    lines.find(|line| line.starts_with("server accepts handled requests"))?;
    lines.next()?.split_whitespace().nth(2)?.parse().ok()
}

fn create_certificate(folder: &Path) -> Result<()> {
    let output = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=127.0.0.1"])
        .args(["-keyout", "key.pem", "-out", "certificate.pem"])
        .current_dir(folder)
        .output()
        .context("openssl is missing; the server's certificate is created with it")?;
    ensure!(output.status.success(), "openssl failed:\n{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// The configuration of one process that serves from memory, so that the cost of the server does not affect the cost of
/// the generator.
fn configuration(port: u16, tls_port: u16) -> String {
    let mut bodies = String::new();
    for bytes in BODIES {
        // A parameter of the configuration must be shorter than 4 KiB, so that a body consists of equal parts.
        let parts = bytes.div_ceil(1024);
        let (part, body) = ("x".repeat(bytes / parts), "$part".repeat(parts));
        bodies += &format!(
            "    location {} {{ set $part \"{part}\"; return 200 \"{body}\"; }}\n",
            body_path(bytes)
        );
    }
    format!(
        "daemon off;\nmaster_process off;\npid nginx.pid;\nerror_log error.log;\n\
         events {{ worker_connections 16384; }}\n\
         http {{\n  access_log off;\n  default_type text/plain;\n\
         \x20 keepalive_requests 4000000000;\n  keepalive_timeout 3600s;\n\
         \x20 client_body_temp_path body;\n  proxy_temp_path proxy;\n  fastcgi_temp_path fastcgi;\n\
         \x20 uwsgi_temp_path uwsgi;\n  scgi_temp_path scgi;\n\
         \x20 ssl_certificate certificate.pem;\n  ssl_certificate_key key.pem;\n\
         \x20 server {{\n    listen 127.0.0.1:{port} backlog=8192;\n    listen 127.0.0.1:{tls_port} ssl backlog=8192;\n\
         {bodies}\
         \x20   location /session {{\n      add_header Set-Cookie session=$connection;\n\
         \x20     add_header ETag '\"1\"';\n      add_header Cache-Control max-age=0;\n\
         \x20     return 200 \"{hello}\";\n    }}\n\
         \x20   location = /count {{ stub_status; }}\n  }}\n}}\n",
        hello = "x".repeat(100),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_of_requests_is_the_third_number() {
        let response = "HTTP/1.1 200 OK\r\n\r\nActive connections: 1 \nserver accepts handled requests\n 5 6 77 \nReading: 0\n";
        assert_eq!(parse_count(response), Some(77));
        assert_eq!(parse_count("404"), None);
    }
}
