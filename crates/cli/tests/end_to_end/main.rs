//! End-to-end tests of the real binary: command lines, exit codes, messages, invalid input, and errors of servers and of the
//! operating system.

#![cfg(unix)]

mod arrivals;
mod bad_servers;
mod capacity;
mod cells;
mod check;
mod client_certificates;
mod collector;
mod command_line;
mod compare;
mod consistent_numbers;
mod demo;
mod docs;
mod exit_codes;
#[cfg(target_os = "linux")]
mod experiments;
#[cfg(target_os = "linux")]
mod experiments_shipped;
mod export;
mod faults;
#[cfg(target_os = "linux")]
mod foreign_programs;
mod jmeter_form;
mod limits;
mod live;
mod live_page;
mod models;
#[cfg(target_os = "linux")]
mod neighbours;
mod observe;
mod observed_exports;
mod observed_results;
mod observing;
mod observing_journal;
mod observing_permissions;
mod observing_servers;
mod open_load;
mod planning;
mod plans;
mod privacy;
mod program;
mod rate_timers;
mod reading_alike;
mod report;
mod screens;
mod seeds;
mod server_log;
mod servers;
mod serving;
mod simulating;
mod stacks;
mod stopping;
#[cfg(target_os = "linux")]
mod terminal;
mod thresholds;
mod unstoppable;
mod url_connections;
mod url_runs;
mod verbs;
mod websockets;
