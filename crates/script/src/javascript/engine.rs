//! The JavaScript engines of a thread: runtime, context, and a cache of compiled scripts.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use rquickjs::context::EvalOptions;
use rquickjs::{CatchResultExt, CaughtError, Context, Ctx, Function, Object, Persistent, Runtime, Value};

use busyhour_slices::without_suspension;

use super::dialect::{BoundNames, ImitatedEngine};
use super::host::{self, BUDGET};
use crate::jvm::bridge::BridgeValue;

/// Maximum heap of an engine, in bytes. The scripts of thousands of users share one engine.
const HEAP_BYTES_MAX: usize = 64 << 20;
/// Stack that a script may use, in bytes.
const STACK_BYTES_MAX: usize = 256 << 10;
/// Maximum number of jumps and calls of a run, plus the steps that native functions charge: about a second.
const STEPS_MAX: u64 = 20_000_000;
/// Number of jumps and calls between two calls of the interrupt handler.
const STEPS_PER_INTERRUPT: u64 = 10_000;
/// Maximum number of compiled scripts in the cache of an engine.
const SCRIPTS_MAX: usize = 512;

const CHARGED: &str = include_str!("charged.js");
const PRELUDE: &str = include_str!("prelude.js");

/// Key of a compiled script in the cache.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub text: Arc<str>,
    pub is_expression: bool,
    pub imitated: ImitatedEngine,
    pub bound_names: BoundNames,
}

/// The reason why a run ended without a value.
#[derive(Debug)]
pub(super) enum RunError {
    /// The message of the value that the script threw, and its line, counted from 1; 0 if the line is unknown.
    Thrown { message: String, line: u32 },
    /// The engine threw null: the script did so itself, or there was not enough memory for an error object.
    Null,
    /// The budget of time or memory is exhausted.
    Limit,
    /// The engine could not be created.
    EngineUnavailable(String),
}

/// The value of a script.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ScriptValue {
    Undefined,
    Null,
    Text(String),
}

struct Engine {
    // Fields are dropped in this order: objects of the context must be dropped before the context.
    scripts: HashMap<Key, Persistent<Function<'static>>>,
    make: Persistent<Function<'static>>,
    run: Persistent<Function<'static>>,
    probe: Persistent<Function<'static>>,
    context: Context,
    _runtime: Runtime,
}

thread_local! {
    /// Idle engines, grouped by the JavaScript engine that they imitate: the built-in objects of Rhino and Nashorn have
    /// different members. A suspended script has exclusive use of its engine.
    static IDLE: RefCell<HashMap<ImitatedEngine, Vec<Engine>>> = RefCell::default();
    static IN_USE: Cell<usize> = const { Cell::new(0) };
}

/// Maximum number of engines of a thread that are in use by suspended scripts at the same time. Each engine has its own heap.
const SUSPENDED_MAX: usize = 4;

/// An engine in use by a script; dropping it makes the engine idle again.
struct EngineInUse(ImitatedEngine, Option<Engine>);

impl Drop for EngineInUse {
    fn drop(&mut self) {
        IN_USE.set(IN_USE.get() - 1);
        let Some(engine) = self.1.take() else { return };
        if std::thread::panicking() {
            // The script was dropped while it was suspended, or it panicked. Its engine stays locked, and dropping a
            // locked engine panics. This happens when a run is stopped immediately, so leaking the memory is
            // acceptable.
            std::mem::forget(engine);
        } else {
            IDLE.with_borrow_mut(|idle| idle.entry(self.0).or_default().push(engine));
        }
    }
}

fn with_engine<T>(
    imitated: ImitatedEngine,
    work: impl FnOnce(&mut Engine) -> Result<T, RunError>,
) -> Result<T, RunError> {
    IN_USE.set(IN_USE.get() + 1);
    let idle = IDLE.with_borrow_mut(|idle| idle.get_mut(&imitated).and_then(Vec::pop));
    let mut in_use = EngineInUse(imitated, idle);
    let run = || {
        let engine = match &mut in_use.1 {
            Some(engine) => engine,
            none => none.insert(Engine::new(imitated)?),
        };
        work(engine)
    };
    if IN_USE.get() > SUSPENDED_MAX { without_suspension(run) } else { run() }
}

/// Whether the text parses, as a script or as one expression.
pub(super) fn parses(text: &str, as_expression: bool) -> Result<(), RunError> {
    // The `throw` comes before all code of the script, but the engine reports syntax errors first.
    let source =
        if as_expression { format!("throw 0;\nvoid (\n{text}\n);") } else { format!("throw 0;\n{text}") };
    with_engine(ImitatedEngine::Rhino, |engine| {
        BUDGET.set(STEPS_MAX);
        engine.context.with(|ctx| {
            let outcome = engine.probe.clone().restore(&ctx).and_then(|probe| probe.call::<_, ()>((source,)));
            match outcome.catch(&ctx) {
                // The engine executed the `throw`, which throws the value 0, so there is no syntax error.
                Err(CaughtError::Value(_)) | Ok(()) => Ok(()),
                Err(error) => Err(match to_run_error(error) {
                    RunError::Thrown { message, line } => {
                        RunError::Thrown { message, line: line.saturating_sub(1) }
                    }
                    other => other,
                }),
            }
        })
    })
}

/// Runs the script once, with these values of its bound names.
pub(super) fn run(key: &Key, given: Vec<BridgeValue>) -> Result<ScriptValue, RunError> {
    let outcome = with_engine(key.imitated, |engine| {
        BUDGET.set(STEPS_MAX);
        engine.run(key, given)
    });
    match outcome {
        _ if BUDGET.get() == 0 => Err(RunError::Limit),
        // The engine throws null if there is not enough memory for an error object.
        Err(RunError::Null) if !key.text.contains("throw") => Err(RunError::Limit),
        Err(RunError::Null) => Err(RunError::Thrown { message: NULL_OR_MEMORY.into(), line: 0 }),
        outcome => outcome,
    }
}

const NULL_OR_MEMORY: &str = "the script threw null, or used up its 64 MiB of memory";

fn options() -> EvalOptions {
    let mut options = EvalOptions::default();
    options.strict = false;
    options
}

/// The options for scripts of this crate, whose lines do not count as lines of a user's script.
fn own_options(name: &str) -> EvalOptions {
    let mut options = options();
    options.filename = Some(name.to_owned());
    options
}

fn to_run_error(error: CaughtError<'_>) -> RunError {
    match error {
        CaughtError::Exception(exception) => {
            let message = exception.message().unwrap_or_default();
            // A string that a loop doubles reaches the maximum string length before the memory limit.
            if message.contains("out of memory") || message.contains("string too long") {
                return RunError::Limit;
            }
            let name: String = exception.as_object().get("name").unwrap_or_default();
            let line = exception.stack().as_deref().and_then(line_of).unwrap_or(0);
            let name = if name.is_empty() { "Error".into() } else { name };
            RunError::Thrown { message: format!("{name}: {message}"), line }
        }
        CaughtError::Value(value) if value.is_null() => RunError::Null,
        CaughtError::Value(value) => {
            let message = value.as_string().and_then(|text| text.to_string().ok());
            RunError::Thrown {
                message: message.unwrap_or_else(|| "the script threw a value".into()),
                line: 0,
            }
        }
        CaughtError::Error(error) => RunError::Thrown { message: error.to_string(), line: 0 },
    }
}

/// The line number in `at f (<input>:3:7)`, the position in a script evaluated by JavaScript's `eval`.
fn line_of(stack: &str) -> Option<u32> {
    let place = stack.lines().find_map(|line| Some(line.rsplit_once("<input>:")?.1))?;
    place.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

impl Engine {
    fn new(imitated: ImitatedEngine) -> Result<Engine, RunError> {
        let broken = |error: rquickjs::Error| RunError::EngineUnavailable(error.to_string());
        let runtime = Runtime::new().map_err(broken)?;
        runtime.set_memory_limit(HEAP_BYTES_MAX);
        runtime.set_max_stack_size(STACK_BYTES_MAX);
        runtime.set_interrupt_handler(Some(Box::new(|| {
            let has_budget = host::spend(STEPS_PER_INTERRUPT);
            host::let_others_run();
            !has_budget
        })));
        let context = Context::full(&runtime).map_err(broken)?;
        BUDGET.set(STEPS_MAX);
        let build = |ctx: &Ctx<'_>| -> rquickjs::Result<_> {
            let functions = host::functions(ctx)?;
            let charged: Function<'_> = ctx.eval_with_options(CHARGED, own_options("charged"))?;
            charged.call::<_, ()>((functions.clone(),))?;
            let prelude: Function<'_> = ctx.eval_with_options(PRELUDE, own_options("prelude"))?;
            let nashorn = imitated == ImitatedEngine::Nashorn;
            let functions: Object<'_> = prelude.call((functions, nashorn))?;
            let make: Function<'_> = functions.get("make")?;
            let run: Function<'_> = functions.get("run")?;
            let probe: Function<'_> = functions.get("probe")?;
            Ok((Persistent::save(ctx, make), Persistent::save(ctx, run), Persistent::save(ctx, probe)))
        };
        let (make, run, probe) = context.with(|ctx| build(&ctx).catch(&ctx).map_err(to_run_error))?;
        Ok(Engine { scripts: HashMap::new(), make, run, probe, context, _runtime: runtime })
    }

    fn run(&mut self, key: &Key, given: Vec<BridgeValue>) -> Result<ScriptValue, RunError> {
        let Engine { scripts, make, run, context, .. } = self;
        context.with(|ctx| {
            let outcome = (|| {
                let script = match scripts.get(key) {
                    Some(script) => script.clone().restore(&ctx)?,
                    None => {
                        let make = make.clone().restore(&ctx)?;
                        let names = key.bound_names.names().join(", ");
                        let script: Function<'_> = make.call((&*key.text, key.is_expression, names))?;
                        if scripts.len() >= SCRIPTS_MAX {
                            scripts.clear();
                        }
                        scripts.insert(key.clone(), Persistent::save(&ctx, script.clone()));
                        script
                    }
                };
                let is_element = key.bound_names == BoundNames::Element;
                let value: Value<'_> = run.clone().restore(&ctx)?.call((script, given, is_element))?;
                Ok(match value.as_string() {
                    Some(text) => ScriptValue::Text(text.to_string()?),
                    None if value.is_null() => ScriptValue::Null,
                    None => ScriptValue::Undefined,
                })
            })();
            outcome.catch(&ctx).map_err(to_run_error)
        })
    }
}
