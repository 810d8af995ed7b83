//! The JavaScript engines of a thread: runtime, context, the functions of the scripts that ran last.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use rquickjs::context::EvalOptions;
use rquickjs::{CatchResultExt, CaughtError, Context, Ctx, Function, Object, Persistent, Runtime, Value};

use busyhour_slices::whole;

use super::dialect::{Imitated, Sight};
use super::host::{self, BUDGET};
use crate::jvm::bridge::Passed;

/// Heap of an engine, in bytes; scripts of thousands of users share it.
const HEAP_BYTES_MAX: usize = 64 << 20;
/// Stack that a script may use, in bytes.
const STACK_BYTES_MAX: usize = 256 << 10;
/// Jumps and calls that a script may take, and what native functions charge instead: about a second.
const STEPS_MAX: u64 = 20_000_000;
/// The engine asks after so many jumps or calls whether to go on.
const STEPS_PER_INTERRUPT: u64 = 10_000;
/// Compiled scripts kept per thread.
const SCRIPTS_MAX: usize = 512;

const CHARGED: &str = include_str!("charged.js");
const PRELUDE: &str = include_str!("prelude.js");

/// A script's text, whether it is one expression, and its variables.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub text: Arc<str>,
    pub is_expression: bool,
    pub imitated: Imitated,
    pub sight: Sight,
}

/// Why a run ended without a value.
#[derive(Debug)]
pub(super) enum Stop {
    /// What the script threw, and the line where, counted from 1 (0: unknown).
    Thrown { message: String, line: u32 },
    /// It threw null, or there was no memory for an error.
    Null,
    /// The budget of time or memory is used up.
    Limit,
    /// The engine could not be made.
    Broken(String),
}

/// What a script is worth.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Worth {
    Undefined,
    Null,
    Text(String),
}

struct Engine {
    // Dropped in this order: what the context owns before the context.
    scripts: HashMap<Key, Persistent<Function<'static>>>,
    make: Persistent<Function<'static>>,
    run: Persistent<Function<'static>>,
    probe: Persistent<Function<'static>>,
    context: Context,
    _runtime: Runtime,
}

thread_local! {
    /// Engines without work, by what they imitate: the language's own objects differ in what they can do. A script that is
    /// suspended has its engine for itself.
    static IDLE: RefCell<HashMap<Imitated, Vec<Engine>>> = RefCell::default();
    static LENT: Cell<usize> = const { Cell::new(0) };
}

/// Engines of a thread that scripts may be suspended in at a time; each may use its own memory.
const SUSPENDED_MAX: usize = 4;

/// An engine that runs a script.
struct Lent(Imitated, Option<Engine>);

impl Drop for Lent {
    fn drop(&mut self) {
        LENT.set(LENT.get() - 1);
        let Some(engine) = self.1.take() else { return };
        if std::thread::panicking() {
            // The script was dropped while it was suspended, or it panicked: its engine is locked for ever, and dropping a
            // locked engine panics. That happens when a run is stopped at once, so its memory is not needed again.
            std::mem::forget(engine);
        } else {
            IDLE.with_borrow_mut(|idle| idle.entry(self.0).or_default().push(engine));
        }
    }
}

fn with_engine<T>(imitated: Imitated, work: impl FnOnce(&mut Engine) -> Result<T, Stop>) -> Result<T, Stop> {
    LENT.set(LENT.get() + 1);
    let idle = IDLE.with_borrow_mut(|idle| idle.get_mut(&imitated).and_then(Vec::pop));
    let mut lent = Lent(imitated, idle);
    let run = || {
        let engine = match &mut lent.1 {
            Some(engine) => engine,
            none => none.insert(Engine::new(imitated)?),
        };
        work(engine)
    };
    if LENT.get() > SUSPENDED_MAX { whole(run) } else { run() }
}

/// Whether the text parses, as a script or as one expression.
pub(super) fn parses(text: &str, as_expression: bool) -> Result<(), Stop> {
    // Thrown before anything runs, but after errors of syntax.
    let source =
        if as_expression { format!("throw 0;\nvoid (\n{text}\n);") } else { format!("throw 0;\n{text}") };
    with_engine(Imitated::Rhino, |engine| {
        BUDGET.set(STEPS_MAX);
        engine.context.with(|ctx| {
            let outcome = engine.probe.clone().restore(&ctx).and_then(|probe| probe.call::<_, ()>((source,)));
            match outcome.catch(&ctx) {
                // The zero.
                Err(CaughtError::Value(_)) | Ok(()) => Ok(()),
                Err(error) => Err(match stop_of(error) {
                    Stop::Thrown { message, line } => Stop::Thrown { message, line: line.saturating_sub(1) },
                    other => other,
                }),
            }
        })
    })
}

/// Runs the script once, with these values of the names in its sight.
pub(super) fn run(key: &Key, given: Vec<Passed>) -> Result<Worth, Stop> {
    let outcome = with_engine(key.imitated, |engine| {
        BUDGET.set(STEPS_MAX);
        engine.run(key, given)
    });
    match outcome {
        _ if BUDGET.get() == 0 => Err(Stop::Limit),
        // Where no memory is left for an error, the engine throws null.
        Err(Stop::Null) if !key.text.contains("throw") => Err(Stop::Limit),
        Err(Stop::Null) => Err(Stop::Thrown { message: NULL_OR_MEMORY.into(), line: 0 }),
        outcome => outcome,
    }
}

const NULL_OR_MEMORY: &str = "the script threw null, or used up its 64 MiB of memory";

fn options() -> EvalOptions {
    let mut options = EvalOptions::default();
    options.strict = false;
    options
}

/// The options of the engine's own scripts, whose lines do not count as lines of a user's script.
fn own_options(name: &str) -> EvalOptions {
    let mut options = options();
    options.filename = Some(name.to_owned());
    options
}

fn stop_of(error: CaughtError<'_>) -> Stop {
    match error {
        CaughtError::Exception(exception) => {
            let message = exception.message().unwrap_or_default();
            // A text that doubles for ever reaches the longest text before the end of memory.
            if message.contains("out of memory") || message.contains("string too long") {
                return Stop::Limit;
            }
            let name: String = exception.as_object().get("name").unwrap_or_default();
            let line = exception.stack().as_deref().and_then(line_of).unwrap_or(0);
            let name = if name.is_empty() { "Error".into() } else { name };
            Stop::Thrown { message: format!("{name}: {message}"), line }
        }
        CaughtError::Value(value) if value.is_null() => Stop::Null,
        CaughtError::Value(value) => {
            let message = value.as_string().and_then(|text| text.to_string().ok());
            Stop::Thrown { message: message.unwrap_or_else(|| "the script threw a value".into()), line: 0 }
        }
        CaughtError::Error(error) => Stop::Thrown { message: error.to_string(), line: 0 },
    }
}

/// The line in `at f (<input>:3:7)`: scripts are evaluated by JavaScript's own `eval`.
fn line_of(stack: &str) -> Option<u32> {
    let place = stack.lines().find_map(|line| Some(line.rsplit_once("<input>:")?.1))?;
    place.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

impl Engine {
    fn new(imitated: Imitated) -> Result<Engine, Stop> {
        let broken = |error: rquickjs::Error| Stop::Broken(error.to_string());
        let runtime = Runtime::new().map_err(broken)?;
        runtime.set_memory_limit(HEAP_BYTES_MAX);
        runtime.set_max_stack_size(STACK_BYTES_MAX);
        runtime.set_interrupt_handler(Some(Box::new(|| {
            let goes_on = host::spend(STEPS_PER_INTERRUPT);
            host::let_others_run();
            !goes_on
        })));
        let context = Context::full(&runtime).map_err(broken)?;
        BUDGET.set(STEPS_MAX);
        let build = |ctx: &Ctx<'_>| -> rquickjs::Result<_> {
            let functions = host::functions(ctx)?;
            let charged: Function<'_> = ctx.eval_with_options(CHARGED, own_options("charged"))?;
            charged.call::<_, ()>((functions.clone(),))?;
            let prelude: Function<'_> = ctx.eval_with_options(PRELUDE, own_options("prelude"))?;
            let nashorn = imitated == Imitated::Nashorn;
            let functions: Object<'_> = prelude.call((functions, nashorn))?;
            let make: Function<'_> = functions.get("make")?;
            let run: Function<'_> = functions.get("run")?;
            let probe: Function<'_> = functions.get("probe")?;
            Ok((Persistent::save(ctx, make), Persistent::save(ctx, run), Persistent::save(ctx, probe)))
        };
        let (make, run, probe) = context.with(|ctx| build(&ctx).catch(&ctx).map_err(stop_of))?;
        Ok(Engine { scripts: HashMap::new(), make, run, probe, context, _runtime: runtime })
    }

    fn run(&mut self, key: &Key, given: Vec<Passed>) -> Result<Worth, Stop> {
        let Engine { scripts, make, run, context, .. } = self;
        context.with(|ctx| {
            let outcome = (|| {
                let script = match scripts.get(key) {
                    Some(script) => script.clone().restore(&ctx)?,
                    None => {
                        let make = make.clone().restore(&ctx)?;
                        let names = key.sight.names().join(", ");
                        let script: Function<'_> = make.call((&*key.text, key.is_expression, names))?;
                        if scripts.len() >= SCRIPTS_MAX {
                            scripts.clear();
                        }
                        scripts.insert(key.clone(), Persistent::save(&ctx, script.clone()));
                        script
                    }
                };
                let is_element = key.sight == Sight::Element;
                let worth: Value<'_> = run.clone().restore(&ctx)?.call((script, given, is_element))?;
                Ok(match worth.as_string() {
                    Some(text) => Worth::Text(text.to_string()?),
                    None if worth.is_null() => Worth::Null,
                    None => Worth::Undefined,
                })
            })();
            outcome.catch(&ctx).map_err(stop_of)
        })
    }
}
