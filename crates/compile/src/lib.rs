//! Compiles a test plan to a program that the engine runs.
//!
//! [`compile()`] applies JMeter's scoping rules once: each sampler gets a list of the elements in its scope, variables are
//! converted to slots, and functions are parsed. Elements and settings that cannot run as in JMeter are rejected with their
//! position in the plan.
//!
//! Files depend on each other in one direction: `elements` describes the elements, and `context` contains the state that is
//! shared during compilation. Each of the following files compiles one kind of element. `surroundings`, `samplers` and
//! `controllers` use these files; `builder` and `groups` use those three, and `compile` comes last. `start` and `lint` are
//! independent of them.

mod arguments;
mod assertions;
mod at_start;
mod backends;
mod builder;
mod compile;
mod compiled;
mod condition;
mod context;
mod controllers;
mod elements;
mod extractors;
mod findings;
mod groups;
mod http;
mod http_properties;
mod keystore;
mod known;
mod lint;
mod listeners;
mod load_profiles;
mod managers;
mod modules;
mod numbers;
mod open;
mod options;
mod other_samplers;
mod outline;
mod outputs;
mod parts;
mod perfmon;
mod perfmon_element;
mod plan_variables;
mod plugin_arrivals;
mod processor_settings;
mod processors;
mod property_files;
mod rate_timers;
mod samplers;
mod save_settings;
mod scope;
mod scripts;
mod setting_error;
mod shape_notation;
mod start;
mod steps;
mod support;
mod surroundings;
mod targets;
mod tcp;
mod think;
mod timers;
mod variables;
mod websocket;

pub use busyhour_functions::{
    ALLOW_UNSUPPORTED_PROPERTY, PLAN_DIRECTORY_PROPERTY, PLAN_NAME_PROPERTY, plan_directory,
};
pub use compile::compile;
pub use compiled::Compiled;
pub use lint::{lint, property_reads};
pub use options::{OpenOptions, Options, ProxyOption, USERS_MAX, no_free_user};
pub use outline::{OutlineNode, outline};
pub use outputs::{BackendKind, BackendListener};
pub use perfmon::{PerfMonListener, PerfMonRow};
pub use setting_error::SettingError;
pub use start::{Started, start};
pub use support::{Supported, SupportedFunction, supported, supported_functions};
pub use targets::PlanTarget;
pub use think::think_law;
