//! The JavaScript engine of a thread: one runtime, one context, the functions of the scripts that ran last.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use rquickjs::context::EvalOptions;
use rquickjs::{CatchResultExt, CaughtError, Context, Ctx, Exception, Function, Object, Persistent, Runtime};

use super::session::{Fact, Session};

/// Heap of a thread's engine, in bytes; scripts of thousands of users share it.
const HEAP_BYTES_MAX: usize = 64 << 20;
/// Stack that a script may use, in bytes.
const STACK_BYTES_MAX: usize = 256 << 10;
/// How often the engine may ask whether to go on: every 10,000 jumps or calls, that is, for about a second.
const INTERRUPTS_MAX: u32 = 2_000;
/// Compiled scripts kept per thread.
const SCRIPTS_MAX: usize = 512;

const PRELUDE: &str = include_str!("prelude.js");

/// A script's text, and whether it is one expression and sees JMeter's objects.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub text: Arc<str>,
    pub is_expression: bool,
    pub bound: bool,
}

/// Why a run ended without a value.
#[derive(Debug)]
pub(super) enum Stop {
    /// What the script threw, and the line where, counted from 1 (0: unknown).
    Thrown { message: String, line: u32 },
    /// The budget of time or memory is used up.
    Limit,
    /// The engine could not be made.
    Broken(String),
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
    static SESSION: RefCell<Session> = RefCell::new(Session::default());
    static ENGINE: RefCell<Option<Engine>> = const { RefCell::new(None) };
}

fn with_session<T>(work: impl FnOnce(&mut Session) -> T) -> T {
    SESSION.with_borrow_mut(work)
}

fn with_engine<T>(work: impl FnOnce(&mut Engine) -> Result<T, Stop>) -> Result<T, Stop> {
    ENGINE.with_borrow_mut(|slot| {
        if slot.is_none() {
            *slot = Some(Engine::new()?);
        }
        match slot {
            Some(engine) => work(engine),
            None => Err(Stop::Broken("no JavaScript engine".into())),
        }
    })
}

/// Whether the text parses, as a script or as one expression.
pub(super) fn parses(text: &str, as_expression: bool) -> Result<(), Stop> {
    // Thrown before anything runs: an error of syntax comes before even that.
    let source =
        if as_expression { format!("throw 0;\nvoid (\n{text}\n);") } else { format!("throw 0;\n{text}") };
    with_engine(|engine| {
        with_session(|session| session.budget = INTERRUPTS_MAX);
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

/// Runs the script once, on the session; gives both back.
pub(super) fn run(key: &Key, session: Session) -> (Result<String, Stop>, Session) {
    let (thread_name, has_sample) = (session.thread_name.clone(), !session.facts.is_empty());
    SESSION.replace(session);
    with_session(|session| session.budget = INTERRUPTS_MAX);
    let outcome = with_engine(|engine| engine.run(key, &thread_name, has_sample));
    let session = SESSION.take();
    let outcome = if session.budget == 0 { Err(Stop::Limit) } else { outcome };
    (outcome, session)
}

fn options() -> EvalOptions {
    let mut options = EvalOptions::default();
    options.strict = false;
    options
}

fn stop_of(error: CaughtError<'_>) -> Stop {
    match error {
        CaughtError::Exception(exception) => {
            let message = exception.message().unwrap_or_default();
            if message.contains("out of memory") {
                return Stop::Limit;
            }
            let name: String = exception.as_object().get("name").unwrap_or_default();
            let line = exception.stack().as_deref().and_then(line_of).unwrap_or(0);
            let name = if name.is_empty() { "Error".into() } else { name };
            Stop::Thrown { message: format!("{name}: {message}"), line }
        }
        CaughtError::Value(value) => {
            let message = value.as_string().and_then(|text| text.to_string().ok());
            Stop::Thrown { message: message.unwrap_or_else(|| "the script threw a value".into()), line: 0 }
        }
        CaughtError::Error(error) => Stop::Thrown { message: error.to_string(), line: 0 },
    }
}

/// The line in `at f (eval_script:3:7)`.
fn line_of(stack: &str) -> Option<u32> {
    let place = stack.lines().next()?.rsplit_once("eval_script:")?.1;
    place.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

impl Engine {
    fn new() -> Result<Engine, Stop> {
        let broken = |error: rquickjs::Error| Stop::Broken(error.to_string());
        let runtime = Runtime::new().map_err(broken)?;
        runtime.set_memory_limit(HEAP_BYTES_MAX);
        runtime.set_max_stack_size(STACK_BYTES_MAX);
        runtime.set_interrupt_handler(Some(Box::new(|| {
            with_session(|session| {
                session.budget = session.budget.saturating_sub(1);
                session.budget == 0
            })
        })));
        let context = Context::full(&runtime).map_err(broken)?;
        with_session(|session| session.budget = INTERRUPTS_MAX);
        let build = |ctx: &Ctx<'_>| -> rquickjs::Result<_> {
            let prelude: Function<'_> = ctx.eval_with_options(PRELUDE, options())?;
            let functions: Object<'_> = prelude.call((host(ctx)?,))?;
            let make: Function<'_> = functions.get("make")?;
            let run: Function<'_> = functions.get("run")?;
            let probe: Function<'_> = functions.get("probe")?;
            Ok((Persistent::save(ctx, make), Persistent::save(ctx, run), Persistent::save(ctx, probe)))
        };
        let (make, run, probe) = context.with(|ctx| build(&ctx).catch(&ctx).map_err(stop_of))?;
        Ok(Engine { scripts: HashMap::new(), make, run, probe, context, _runtime: runtime })
    }

    fn run(&mut self, key: &Key, thread_name: &str, has_sample: bool) -> Result<String, Stop> {
        let Engine { scripts, make, run, context, .. } = self;
        context.with(|ctx| {
            let outcome = (|| {
                let script = match scripts.get(key) {
                    Some(script) => script.clone().restore(&ctx)?,
                    None => {
                        let make = make.clone().restore(&ctx)?;
                        let script: Function<'_> = make.call((&*key.text, key.is_expression, key.bound))?;
                        if scripts.len() >= SCRIPTS_MAX {
                            scripts.clear();
                        }
                        scripts.insert(key.clone(), Persistent::save(&ctx, script.clone()));
                        script
                    }
                };
                run.clone().restore(&ctx)?.call::<_, String>((script, key.bound, thread_name, has_sample))
            })();
            outcome.catch(&ctx).map_err(stop_of)
        })
    }
}

/// Where the script must stop because a name has to be fetched.
fn interrupted<T>(ctx: &Ctx<'_>, outcome: Result<T, ()>) -> rquickjs::Result<T> {
    outcome.map_err(|()| Exception::throw_message(ctx, "the name is fetched"))
}

/// The functions that the prelude builds JMeter's objects from.
fn host<'js>(ctx: &Ctx<'js>) -> rquickjs::Result<Object<'js>> {
    let host = Object::new(ctx.clone())?;
    host.set(
        "get",
        Function::new(ctx.clone(), |ctx: Ctx<'js>, name: String| {
            interrupted(&ctx, with_session(|session| session.get(name))).map(Null::of)
        })?,
    )?;
    host.set(
        "remove",
        Function::new(ctx.clone(), |ctx: Ctx<'js>, name: String| {
            let old = interrupted(&ctx, with_session(|session| session.get(name.clone())))?;
            with_session(|session| session.put(name, None));
            rquickjs::Result::Ok(Null::of(old))
        })?,
    )?;
    host.set(
        "put",
        Function::new(ctx.clone(), |name: String, value: Option<String>| {
            with_session(|session| session.put(name, value));
        })?,
    )?;
    host.set(
        "property",
        Function::new(ctx.clone(), |ctx: Ctx<'js>, name: String| {
            interrupted(&ctx, with_session(|session| session.property(name))).map(Null::of)
        })?,
    )?;
    host.set(
        "setProperty",
        Function::new(ctx.clone(), |name: String, value: String| {
            with_session(|session| session.set_property(name, value));
        })?,
    )?;
    host.set(
        "log",
        Function::new(ctx.clone(), |level: u32, message: String| {
            with_session(|session| session.log(level, message));
        })?,
    )?;
    host.set(
        "fact",
        Function::new(
            ctx.clone(),
            |ctx: Ctx<'js>, index: usize| -> rquickjs::Result<rquickjs::Value<'js>> {
                use rquickjs::IntoJs;
                match with_session(|session| session.facts.get(index).cloned()) {
                    Some(Fact::Text(text)) => text.into_js(&ctx),
                    Some(Fact::Number(number)) => number.into_js(&ctx),
                    Some(Fact::Truth(truth)) => truth.into_js(&ctx),
                    None => Err(Exception::throw_message(&ctx, "there is no sample result")),
                }
            },
        )?,
    )?;
    host.set("threadNumber", Function::new(ctx.clone(), || with_session(|session| session.thread_number))?)?;
    host.set("now", Function::new(ctx.clone(), || with_session(|session| session.now_ms as f64))?)?;
    host.set("random", Function::new(ctx.clone(), || with_session(Session::random))?)?;
    Ok(host)
}

/// A text or JavaScript's null, where an `Option` would become undefined.
struct Null(Option<String>);

impl Null {
    fn of(value: Option<String>) -> Null {
        Null(value)
    }
}

impl<'js> rquickjs::IntoJs<'js> for Null {
    fn into_js(self, ctx: &Ctx<'js>) -> rquickjs::Result<rquickjs::Value<'js>> {
        match self.0 {
            Some(text) => text.into_js(ctx),
            None => Ok(rquickjs::Value::new_null(ctx.clone())),
        }
    }
}
