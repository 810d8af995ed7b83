//! The host functions from which `prelude.js` builds JMeter's objects.

use std::cell::{Cell, RefCell};

use busyhour_slices::{checkpoint, without_suspension};
use rquickjs::{Array, Ctx, Exception, FromJs, Function, IntoJs, Object, Value};
use scoped_tls_hkt::scoped_thread_local;

use crate::jvm::bridge::{self, BridgeError, BridgeValue, HOST_COUNT, Objects};
use crate::{LineSeverity, Scope};

scoped_thread_local!(
    /// The scope of the script that runs on this thread. It is not stored in the engine's functions, because they outlive any
    /// borrow of a scope.
    static mut SCOPE: for<'a> &'a mut (dyn Scope + 'a)
);

thread_local! {
    /// The Java objects that the script has received.
    static OBJECTS: RefCell<Objects> = RefCell::default();
    /// The first unsupported construct that the script used.
    static REFUSED: RefCell<Option<String>> = const { RefCell::new(None) };
    /// Remaining steps of the script.
    pub(super) static BUDGET: Cell<u64> = const { Cell::new(0) };
}

/// Number of bytes of text that can be copied in the time of a step.
const BYTES_PER_STEP: usize = 64;

/// Subtracts steps from the budget; returns false if none are left.
pub(super) fn spend(steps: u64) -> bool {
    let left = BUDGET.get().saturating_sub(steps);
    BUDGET.set(left);
    left > 0
}

/// Subtracts the steps of a native function from the budget. If none are left, the next interrupt ends the script, even if
/// the script catches the error.
fn charge(ctx: &Ctx<'_>, steps: f64) -> rquickjs::Result<()> {
    // The conversion saturates: infinity becomes `u64::MAX`.
    if !spend(steps as u64) {
        return Err(Exception::throw_message(ctx, "too many steps"));
    }
    let_others_run();
    Ok(())
}

/// Subtracts the steps of copying a text between the engine and the host.
fn charge_copy(ctx: &Ctx<'_>, text: Option<&str>) -> rquickjs::Result<()> {
    match text.map_or(0, str::len) / BYTES_PER_STEP {
        0 => Ok(()),
        steps => charge(ctx, steps as f64),
    }
}

/// Runs `work` with this scope. Also returns the first unsupported construct that the script used.
pub(super) fn run_in_scope<T>(scope: &mut dyn Scope, work: impl FnOnce() -> T) -> (T, Option<String>) {
    OBJECTS.with_borrow_mut(|objects| *objects = Objects::default());
    REFUSED.set(None);
    let _run = bridge::begin();
    let done = SCOPE.set(scope, work);
    (done, REFUSED.take())
}

/// Converts a binding to the value that is passed to the script.
pub(super) fn pass_binding(binding: &crate::Binding) -> BridgeValue {
    // Copying counts steps. This must not suspend the script while the objects are borrowed.
    without_suspension(|| OBJECTS.with_borrow_mut(|objects| objects.bound(binding)))
}

fn with_scope<T>(ctx: &Ctx<'_>, work: impl FnOnce(&mut dyn Scope) -> T) -> rquickjs::Result<T> {
    if SCOPE.is_set() {
        SCOPE.with(|scope| Ok(work(scope)))
    } else {
        Err(Exception::throw_message(ctx, "a condition cannot use JMeter's objects"))
    }
}

/// Runs `work`, which may be suspended. Saves and restores the script's thread-local state, because another script may run on
/// this thread before the work is done.
fn with_saved_state<T>(work: impl FnOnce(&mut Objects) -> T) -> T {
    let (mut objects, refused, budget) = (OBJECTS.take(), REFUSED.take(), BUDGET.get());
    let done = work(&mut objects);
    OBJECTS.set(objects);
    REFUSED.set(refused);
    BUDGET.set(budget);
    done
}

/// Suspends the script if its time slice is over.
pub(super) fn let_others_run() {
    with_saved_state(|_| {
        if SCOPE.is_set() {
            // `with` takes the scope out of the thread-local while the closure runs, so another script can set its own.
            SCOPE.with(|_| checkpoint());
        } else {
            checkpoint();
        }
    });
}

fn with_objects<'js>(
    ctx: &Ctx<'js>,
    work: impl FnOnce(&mut Objects, &mut dyn Scope) -> Result<BridgeValue, BridgeError>,
) -> rquickjs::Result<Value<'js>> {
    let answer = with_scope(ctx, |scope| with_saved_state(|objects| work(objects, scope)))?;
    match answer {
        Ok(value) => value.into_js(ctx),
        Err(BridgeError::Thrown(class, message)) => {
            let thrown = Object::new(ctx.clone())?;
            thrown.set("thrown", class)?;
            thrown.set("message", message)?;
            thrown.into_js(ctx)
        }
        Err(BridgeError::Limit(what)) => {
            BUDGET.set(0);
            Err(Exception::throw_message(ctx, &what))
        }
        Err(BridgeError::Unsupported(what)) => {
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

impl<'js> IntoJs<'js> for BridgeValue {
    fn into_js(self, ctx: &Ctx<'js>) -> rquickjs::Result<Value<'js>> {
        let object = |number: u32, is_class: bool| {
            let object = Object::new(ctx.clone())?;
            object.set("id", number)?;
            object.set("isClass", is_class)?;
            object.into_js(ctx)
        };
        match self {
            BridgeValue::Absent => Ok(Value::new_undefined(ctx.clone())),
            BridgeValue::Null => Ok(Value::new_null(ctx.clone())),
            BridgeValue::Truth(truth) => truth.into_js(ctx),
            BridgeValue::Number(number) => number.into_js(ctx),
            BridgeValue::Text(text) => text.into_js(ctx),
            BridgeValue::Texts(texts) => {
                let object = Object::new(ctx.clone())?;
                object.set("texts", texts)?;
                object.into_js(ctx)
            }
            BridgeValue::Object(number) => object(number, false),
            BridgeValue::Class(number) => object(number, true),
        }
    }
}

impl<'js> FromJs<'js> for BridgeValue {
    fn from_js(_ctx: &Ctx<'js>, value: Value<'js>) -> rquickjs::Result<BridgeValue> {
        if let Some(truth) = value.as_bool() {
            return Ok(BridgeValue::Truth(truth));
        }
        if let Some(number) = value.as_number() {
            return Ok(BridgeValue::Number(number));
        }
        if let Some(text) = value.as_string() {
            return Ok(BridgeValue::Text(text.to_string()?));
        }
        match value.as_object() {
            Some(object) => Ok(BridgeValue::Object(object.get("id")?)),
            None => Ok(BridgeValue::Null),
        }
    }
}

/// A string or null. Converting the `Option` directly would yield `undefined` for `None`.
fn text_or_null(text: Option<String>) -> BridgeValue {
    text.map_or(BridgeValue::Null, BridgeValue::Text)
}

fn arguments(given: Array<'_>) -> rquickjs::Result<Vec<BridgeValue>> {
    given.iter().collect()
}

/// Creates the host functions from which `prelude.js` builds JMeter's objects.
pub(super) fn functions<'js>(ctx: &Ctx<'js>) -> rquickjs::Result<Object<'js>> {
    let host = Object::new(ctx.clone())?;
    host.set("hosts", HOST_COUNT)?;
    variables_and_properties(ctx, &host)?;
    java(ctx, &host)?;
    searches(ctx, &host)?;
    host.set(
        "log",
        Function::new(ctx.clone(), |ctx: Ctx<'js>, level: usize, message: String| {
            let levels = [
                LineSeverity::Trace,
                LineSeverity::Debug,
                LineSeverity::Info,
                LineSeverity::Warn,
                LineSeverity::Error,
            ];
            let level = levels.get(level).copied().unwrap_or(LineSeverity::Info);
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

/// Adds the functions for `charged.js`: the budget, and searches whose time grows with the sum of the lengths instead of
/// their product.
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
            with_objects(&ctx, |objects, scope| objects.text(scope, object).map(BridgeValue::Text))
        })?,
    )?;
    host.set(
        "hasMethod",
        Function::new(ctx.clone(), |object: u32, name: String| {
            // Searching a map counts steps. This must not suspend the script while the objects are borrowed.
            without_suspension(|| OBJECTS.with_borrow(|objects| objects.has_method(object, &name)))
        })?,
    )?;
    host.set(
        "classOf",
        Function::new(ctx.clone(), |name: String| {
            OBJECTS.with_borrow_mut(|objects| objects.class(&name).unwrap_or(BridgeValue::Null))
        })?,
    )
}
