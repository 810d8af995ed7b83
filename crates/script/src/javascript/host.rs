//! The functions of the host from which the prelude builds JMeter's objects.

use std::cell::{Cell, RefCell};

use busyhour_slices::{checkpoint, whole};
use rquickjs::{Array, Ctx, Exception, FromJs, Function, IntoJs, Object, Value};
use scoped_tls_hkt::scoped_thread_local;

use crate::jvm::bridge::{self, Failure, HOST_COUNT, Objects, Passed};
use crate::{Level, Scope};

scoped_thread_local!(
    /// The world of the script that runs on this thread; an engine's functions outlive any borrow of it.
    static mut SCOPE: for<'a> &'a mut (dyn Scope + 'a)
);

thread_local! {
    /// Java's objects that the script has got.
    static OBJECTS: RefCell<Objects> = RefCell::default();
    /// The first unsupported construct that the script used.
    static REFUSED: RefCell<Option<String>> = const { RefCell::new(None) };
    /// Steps that are left to the script.
    pub(super) static BUDGET: Cell<u64> = const { Cell::new(0) };
}

/// Bytes of text that are copied in the time of a step.
const BYTES_PER_STEP: usize = 64;

/// Counts steps; false if none are left.
pub(super) fn spend(steps: u64) -> bool {
    let left = BUDGET.get().saturating_sub(steps);
    BUDGET.set(left);
    left > 0
}

/// Counts the steps of a native function. The script ends with the next interrupt if none are left, whether it catches the
/// error or not.
fn charge(ctx: &Ctx<'_>, steps: f64) -> rquickjs::Result<()> {
    // Infinity is the greatest number here.
    if !spend(steps as u64) {
        return Err(Exception::throw_message(ctx, "too many steps"));
    }
    let_others_run();
    Ok(())
}

/// Counts the steps of copying a text between the engine and the host.
fn charge_copy(ctx: &Ctx<'_>, text: Option<&str>) -> rquickjs::Result<()> {
    match text.map_or(0, str::len) / BYTES_PER_STEP {
        0 => Ok(()),
        steps => charge(ctx, steps as f64),
    }
}

/// Has `work` done with this world; gives besides what was refused meanwhile.
pub(super) fn in_world<T>(scope: &mut dyn Scope, work: impl FnOnce() -> T) -> (T, Option<String>) {
    OBJECTS.with_borrow_mut(|objects| *objects = Objects::default());
    REFUSED.set(None);
    let _run = bridge::begin();
    let done = SCOPE.set(scope, work);
    (done, REFUSED.take())
}

/// A binding as the script gets it.
pub(super) fn bound(binding: &crate::Binding) -> Passed {
    // Copies count steps, which must not suspend the script while the objects are borrowed.
    whole(|| OBJECTS.with_borrow_mut(|objects| objects.bound(binding)))
}

fn with_scope<T>(ctx: &Ctx<'_>, work: impl FnOnce(&mut dyn Scope) -> T) -> rquickjs::Result<T> {
    if SCOPE.is_set() {
        SCOPE.with(|scope| Ok(work(scope)))
    } else {
        Err(Exception::throw_message(ctx, "a condition sees nothing of JMeter"))
    }
}

/// Does work that may be suspended: what the thread holds for this script is put aside meanwhile, because another script may
/// run before the work is done.
fn apart<T>(work: impl FnOnce(&mut Objects) -> T) -> T {
    let (mut objects, refused, budget) = (OBJECTS.take(), REFUSED.take(), BUDGET.get());
    let done = work(&mut objects);
    OBJECTS.set(objects);
    REFUSED.set(refused);
    BUDGET.set(budget);
    done
}

/// Ends the slice of the script that runs, if its time is over.
pub(super) fn let_others_run() {
    apart(|_| {
        if SCOPE.is_set() {
            // While it is borrowed, the thread has none.
            SCOPE.with(|_| checkpoint());
        } else {
            checkpoint();
        }
    });
}

fn with_objects<'js>(
    ctx: &Ctx<'js>,
    work: impl FnOnce(&mut Objects, &mut dyn Scope) -> Result<Passed, Failure>,
) -> rquickjs::Result<Value<'js>> {
    let answer = with_scope(ctx, |scope| apart(|objects| work(objects, scope)))?;
    match answer {
        Ok(value) => value.into_js(ctx),
        Err(Failure::Thrown(class, message)) => {
            let thrown = Object::new(ctx.clone())?;
            thrown.set("thrown", class)?;
            thrown.set("message", message)?;
            thrown.into_js(ctx)
        }
        Err(Failure::Limit(what)) => {
            BUDGET.set(0);
            Err(Exception::throw_message(ctx, &what))
        }
        Err(Failure::Unsupported(what)) => {
            let message = format!("{what} is not supported");
            refuse(what);
            Err(Exception::throw_message(ctx, &message))
        }
    }
}

fn refuse(what: String) {
    REFUSED.with_borrow_mut(|refused| {
        refused.get_or_insert(what);
    });
}

impl<'js> IntoJs<'js> for Passed {
    fn into_js(self, ctx: &Ctx<'js>) -> rquickjs::Result<Value<'js>> {
        let object = |number: u32, is_class: bool| {
            let object = Object::new(ctx.clone())?;
            object.set("id", number)?;
            object.set("isClass", is_class)?;
            object.into_js(ctx)
        };
        match self {
            Passed::Absent => Ok(Value::new_undefined(ctx.clone())),
            Passed::Null => Ok(Value::new_null(ctx.clone())),
            Passed::Truth(truth) => truth.into_js(ctx),
            Passed::Number(number) => number.into_js(ctx),
            Passed::Text(text) => text.into_js(ctx),
            Passed::Texts(texts) => {
                let object = Object::new(ctx.clone())?;
                object.set("texts", texts)?;
                object.into_js(ctx)
            }
            Passed::Object(number) => object(number, false),
            Passed::Class(number) => object(number, true),
        }
    }
}

impl<'js> FromJs<'js> for Passed {
    fn from_js(_ctx: &Ctx<'js>, value: Value<'js>) -> rquickjs::Result<Passed> {
        if let Some(truth) = value.as_bool() {
            return Ok(Passed::Truth(truth));
        }
        if let Some(number) = value.as_number() {
            return Ok(Passed::Number(number));
        }
        if let Some(text) = value.as_string() {
            return Ok(Passed::Text(text.to_string()?));
        }
        match value.as_object() {
            Some(object) => Ok(Passed::Object(object.get("id")?)),
            None => Ok(Passed::Null),
        }
    }
}

/// A text or JavaScript's null, where an `Option` would become undefined.
fn text_or_null(text: Option<String>) -> Passed {
    text.map_or(Passed::Null, Passed::Text)
}

fn arguments(given: Array<'_>) -> rquickjs::Result<Vec<Passed>> {
    given.iter().collect()
}

/// The functions that the prelude builds JMeter's objects from.
pub(super) fn functions<'js>(ctx: &Ctx<'js>) -> rquickjs::Result<Object<'js>> {
    let host = Object::new(ctx.clone())?;
    host.set("hosts", HOST_COUNT)?;
    variables_and_properties(ctx, &host)?;
    java(ctx, &host)?;
    searches(ctx, &host)?;
    host.set(
        "log",
        Function::new(ctx.clone(), |ctx: Ctx<'js>, level: usize, message: String| {
            let levels = [Level::Trace, Level::Debug, Level::Info, Level::Warn, Level::Error];
            let level = levels.get(level).copied().unwrap_or(Level::Info);
            charge_copy(&ctx, Some(&message))?;
            with_scope(&ctx, |scope| scope.log(level, &message))
        })?,
    )?;
    host.set("refuse", Function::new(ctx.clone(), refuse)?)?;
    host.set(
        "now",
        Function::new(ctx.clone(), |ctx: Ctx<'js>| with_scope(&ctx, |scope| scope.wall_clock_ms() as f64))?,
    )?;
    host.set(
        "random",
        Function::new(ctx.clone(), |ctx: Ctx<'js>| {
            with_scope(&ctx, |scope| (scope.random_bits() >> 11) as f64 / (1_u64 << 53) as f64)
        })?,
    )?;
    Ok(host)
}

/// What `charged.js` needs: the budget, and searches that take the sum of the lengths instead of their product.
fn searches<'js>(ctx: &Ctx<'js>, host: &Object<'js>) -> rquickjs::Result<()> {
    host.set("spend", Function::new(ctx.clone(), |ctx: Ctx<'js>, steps: f64| charge(&ctx, steps))?)?;
    host.set(
        "find",
        Function::new(ctx.clone(), |text: String, sought: String, from: f64, last: bool| {
            bridge::position(&text, &sought, from as i64, last)
        })?,
    )?;
    host.set(
        "places",
        Function::new(ctx.clone(), |text: String, sought: String| bridge::positions(&text, &sought))?,
    )
}

fn variables_and_properties<'js>(ctx: &Ctx<'js>, host: &Object<'js>) -> rquickjs::Result<()> {
    host.set(
        "get",
        Function::new(ctx.clone(), |ctx: Ctx<'js>, name: String| {
            let text = with_scope(&ctx, |scope| scope.get(&name))?;
            charge_copy(&ctx, text.as_deref())?;
            rquickjs::Result::Ok(text_or_null(text))
        })?,
    )?;
    host.set(
        "put",
        Function::new(ctx.clone(), |ctx: Ctx<'js>, name: String, value: Option<String>| {
            charge_copy(&ctx, value.as_deref())?;
            with_scope(&ctx, |scope| match value {
                Some(value) => scope.set(&name, &value),
                None => scope.remove(&name),
            })
        })?,
    )?;
    host.set(
        "propertyOfTest",
        Function::new(ctx.clone(), |ctx: Ctx<'js>, name: String| {
            with_scope(&ctx, |scope| text_or_null(scope.property(&name)))
        })?,
    )?;
    host.set(
        "setPropertyOfTest",
        Function::new(ctx.clone(), |ctx: Ctx<'js>, name: String, value: String| {
            with_scope(&ctx, |scope| scope.set_property(&name, &value))
        })?,
    )
}

fn java<'js>(ctx: &Ctx<'js>, host: &Object<'js>) -> rquickjs::Result<()> {
    host.set(
        "call",
        Function::new(ctx.clone(), |ctx: Ctx<'js>, object: u32, method: String, given: Array<'js>| {
            let given = arguments(given)?;
            with_objects(&ctx, |objects, scope| objects.call(scope, object, &method, given))
        })?,
    )?;
    host.set(
        "callOfText",
        Function::new(ctx.clone(), |ctx: Ctx<'js>, text: String, method: String, given: Array<'js>| {
            let given = arguments(given)?;
            with_objects(&ctx, |objects, scope| objects.call_of_text(scope, &text, &method, given))
        })?,
    )?;
    host.set(
        "construct",
        Function::new(ctx.clone(), |ctx: Ctx<'js>, class: u32, given: Array<'js>| {
            let given = arguments(given)?;
            with_objects(&ctx, |objects, scope| objects.construct(scope, class, given))
        })?,
    )?;
    host.set(
        "property",
        Function::new(ctx.clone(), |ctx: Ctx<'js>, object: u32, name: String| {
            with_objects(&ctx, |objects, scope| objects.property(scope, object, &name))
        })?,
    )?;
    host.set(
        "item",
        Function::new(ctx.clone(), |ctx: Ctx<'js>, object: u32, at: u32| {
            with_objects(&ctx, |objects, scope| objects.item(scope, object, at))
        })?,
    )?;
    host.set(
        "text",
        Function::new(ctx.clone(), |ctx: Ctx<'js>, object: u32| {
            with_objects(&ctx, |objects, scope| objects.text(scope, object).map(Passed::Text))
        })?,
    )?;
    host.set(
        "hasMethod",
        Function::new(ctx.clone(), |object: u32, name: String| {
            // The search of a map counts steps, which must not suspend the script while the objects are borrowed.
            whole(|| OBJECTS.with_borrow(|objects| objects.has_method(object, &name)))
        })?,
    )?;
    host.set(
        "classOf",
        Function::new(ctx.clone(), |name: String| {
            OBJECTS.with_borrow_mut(|objects| objects.class(&name).unwrap_or(Passed::Null))
        })?,
    )
}
