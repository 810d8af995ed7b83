//! Classes that a script defines. An object is a frame with its fields, whose parent is the frame with the static fields of its
//! class. The frames of method calls are children of these frames, so that fields are found in the same way as variables.

use std::rc::Rc;
use std::sync::Arc;

use super::super::classes::Class;
use super::super::fault::{Fault, Outcome, thrown, unsupported};
use super::super::model::{Frame, Machine, Role, Variable};
use super::super::objects::Object;
use super::super::operators;
use super::super::tree::{Base, Definition, Expr, Function, Kind, Operator, Stmt, Type};
use super::super::value::V;
use super::super::{known, missing, places, types};
use super::calls::{accepts, accepts_count};

/// Groovy's exception for a name that a class does not have.
pub(super) fn missing_property(frame: &Frame, name: &str) -> Fault {
    let class = frame.class().map_or("Script1", Class::name);
    thrown("MissingPropertyException", format!("No such property: {name} for class: {class}"))
}

fn decapitalized(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().collect::<String>() + letters.as_str())
}

fn capitalized(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().collect::<String>() + letters.as_str())
}

/// The function among overloads that accepts these arguments. If several accept them, it is the one with the most parameters
/// whose types match exactly.
fn best_overload<'f>(
    functions: impl Iterator<Item = &'f Arc<Function>>,
    arguments: &[V],
) -> Option<&'f Arc<Function>> {
    let exact = |function: &Function| {
        let pairs = arguments.iter().zip(&function.parameters);
        pairs.filter(|(value, to)| to.declared != Type::ANY && types::is_instance(value, to.declared)).count()
    };
    let mut found: Option<(&Arc<Function>, usize)> = None;
    for function in functions.filter(|function| takes(function, arguments)) {
        let rank = exact(function);
        if found.is_none_or(|(_, known)| rank > known) {
            found = Some((function, rank));
        }
    }
    found.map(|(function, _)| function)
}

fn takes(function: &Function, arguments: &[V]) -> bool {
    accepts_count(function, arguments.len())
        && arguments
            .iter()
            .zip(&function.parameters)
            .all(|(value, to)| to.is_rest || accepts(value, to.declared))
}

impl Machine<'_> {
    /// The nearest enclosing frame with fields: the fields of `this`, or the static fields in a static method.
    fn fields_around(&self, frame: &Rc<Frame>) -> Option<Rc<Frame>> {
        if self.tree.classes.is_empty() {
            return None;
        }
        let mut at = Some(frame);
        while let Some(frame) = at {
            if frame.definition().is_some() {
                return Some(frame.clone());
            }
            at = frame.parent.as_ref();
        }
        None
    }

    /// The value of `this`.
    pub fn this(&self, frame: &Rc<Frame>) -> V {
        match self.fields_around(frame) {
            Some(home) => match &home.role {
                Role::Fields(_) => V::object(Object::Own(home)),
                Role::Statics(definition) => V::Class(definition.class),
                Role::Variables => V::NULL,
            },
            None => V::NULL,
        }
    }

    fn definition(&self, class: Class) -> Result<Arc<Definition>, Fault> {
        let found = self.tree.classes.iter().find(|known| known.class == class);
        found.cloned().ok_or_else(|| unsupported(format!("the class `{}` of another script", class.name())))
    }

    /// The static fields of a class. They are initialized when the class is used for the first time.
    fn statics(&mut self, definition: &Arc<Definition>) -> Result<Rc<Frame>, Fault> {
        if let Some(known) = self.statics.get(&definition.class) {
            return Ok(known.clone());
        }
        let role = Role::Statics(definition.clone());
        // In BeanShell, methods of classes can access the script's variables.
        let parent = match self.parent_of(definition) {
            Some(superclass) => Some(self.statics(&superclass)?),
            None if self.beanshell() => Some(self.global.clone()),
            None => None,
        };
        let frame = Rc::new(Frame::new(fields(definition, true), parent, role));
        self.statics.insert(definition.class, frame.clone());
        self.create_constants(definition, &frame)?;
        self.initialize(definition, &frame, true)?;
        Ok(frame)
    }

    fn initialize(
        &mut self,
        definition: &Definition,
        frame: &Rc<Frame>,
        is_static: bool,
    ) -> Result<(), Fault> {
        for field in definition.fields.iter().filter(|field| field.is_static == is_static) {
            if let Some(expr) = &field.value {
                let value = self.value(expr, frame)?;
                let value = types::declared(self, value, field.declared)?;
                set_variable(frame, field.name, value);
            }
        }
        Ok(())
    }

    /// Creates the constants of an enumeration.
    fn create_constants(&mut self, definition: &Arc<Definition>, frame: &Rc<Frame>) -> Result<(), Fault> {
        for (at, (name, items)) in definition.constants.iter().enumerate() {
            let mut arguments = Vec::with_capacity(items.len());
            for item in items {
                arguments.push(self.value(&item.expr, frame)?);
            }
            let constant = self.create_own(definition.class, arguments)?;
            let text = V::text(&self.tree.names[*name as usize]);
            self.set_own_field(&constant, "$name", &text).transpose()?;
            self.set_own_field(&constant, "$ordinal", &V::int(at as i64)).transpose()?;
            self.declare(frame, *name, Type::ANY, constant);
        }
        Ok(())
    }

    /// Evaluates `new P(…)`.
    pub fn create_own(&mut self, class: Class, arguments: Vec<V>) -> Outcome {
        let definition = self.definition(class)?;
        let statics = self.statics(&definition)?;
        let role = Role::Fields(definition.clone());
        let frame = Rc::new(Frame::new(fields(&definition, false), Some(statics), role));
        self.spend(definition.fields.len())?;
        self.initialize(&definition, &frame, false)?;
        let object = V::object(Object::Own(frame.clone()));
        let has_none = definition.constructors.is_empty();
        let is_plain =
            has_none || definition.constructors.iter().any(|constructor| constructor.parameters.is_empty());
        match (self.run_constructor(&definition, &frame, &arguments), arguments.as_slice()) {
            (Some(outcome), _) => {
                outcome?;
            }
            (None, []) if has_none => {
                if let Some(parent) = self.parent_of(&definition) {
                    self.run_constructor(&parent, &frame, &[]).transpose()?;
                }
            }
            (None, [V::Map(map)]) if is_plain => {
                if let Some(outcome) = self.run_constructor(&definition, &frame, &[]) {
                    outcome?;
                }
                for (name, value) in map.ordered() {
                    let name = name.as_text().unwrap_or_default().to_owned();
                    self.set_own_property(&object, &name, &value)?;
                }
            }
            _ => {
                let kinds: Vec<String> = arguments.iter().map(missing::class_name).collect();
                let kinds: Vec<&str> =
                    kinds.iter().map(|kind| kind.rsplit('.').next().unwrap_or(kind)).collect();
                let message = format!(
                    "Could not find matching constructor for: {}({})",
                    class.name(),
                    kinds.join(", ")
                );
                return Err(thrown("GroovyRuntimeException", message));
            }
        }
        Ok(object)
    }

    /// Runs the constructor that accepts these arguments; `None` if there is none.
    fn run_constructor(
        &mut self,
        definition: &Definition,
        frame: &Rc<Frame>,
        arguments: &[V],
    ) -> Option<Result<V, Fault>> {
        let found = best_overload(definition.constructors.iter(), arguments)?;
        let calls_other = matches!(
            found.body.first(),
            Some(Stmt::Expr(Expr { kind: Kind::Super(_, None, _) | Kind::Call(None, ..), .. }))
        );
        if !calls_other
            && let Some(parent) = self.parent_of(definition)
            && let Some(Err(fault)) = self.run_constructor(&parent, frame, &[])
        {
            return Some(Err(fault));
        }
        let inner = self.child_frame(frame);
        Some(self.call_function(found, arguments.to_vec(), &inner))
    }

    /// The superclass of a class, if the script defines it.
    fn parent_of(&self, definition: &Definition) -> Option<Arc<Definition>> {
        let class = definition.above.iter().find(|class| class.is_own())?;
        self.tree.classes.iter().find(|known| known.class == *class).cloned()
    }

    /// Evaluates `super.name(…)`, or `super(…)` if there is no name.
    pub fn call_super(
        &mut self,
        frame: &Rc<Frame>,
        class: Class,
        name: Option<&str>,
        arguments: &[V],
    ) -> Outcome {
        let Some(home) = self.fields_around(frame) else {
            return Err(unsupported("`super` outside of a class"));
        };
        if !class.is_own() {
            let object = self.this(frame);
            return match name {
                Some(name) => self
                    .method_of_exception(&object, name, arguments)
                    .unwrap_or_else(|| Err(missing::exception(self, &object, name, arguments))),
                None => self.set_message(&object, arguments),
            };
        }
        let definition = self.definition(class)?;
        let Some(name) = name else {
            return match self.run_constructor(&definition, &home, arguments) {
                Some(outcome) => outcome,
                None if arguments.is_empty() => Ok(V::NULL),
                None => Err(unsupported("this call of a constructor")),
            };
        };
        let methods = definition.methods.iter().filter(|(function, _)| *function.name == *name);
        match best_overload(methods.map(|(function, _)| function), arguments) {
            Some(function) => {
                let inner = self.child_frame(&home);
                self.call_function(function, arguments.to_vec(), &inner)
            }
            None => {
                let object = self.this(frame);
                Err(missing::exception(self, &object, name, arguments))
            }
        }
    }

    /// Calls a method of an object or class of the script; `None` if it has no such method for these arguments.
    pub fn run_own_method(&mut self, object: &V, method: &str, arguments: &[V]) -> Option<Outcome> {
        if self.tree.classes.is_empty() && !matches!(object, V::Object(_)) {
            return None;
        }
        let frame = match self.frame_of(object)? {
            Ok(frame) => frame,
            Err(fault) => return Some(Err(fault)),
        };
        if let Some(outcome) = self.call_in(&frame, method, arguments) {
            return Some(outcome);
        }
        if let Some(outcome) = self.accessor(&frame, object, method, arguments) {
            return Some(outcome);
        }
        if let Some(outcome) = self.method_of_enumeration(&frame, object, method, arguments) {
            return Some(outcome);
        }
        if let Some(outcome) = self.method_of_exception(object, method, arguments) {
            return Some(outcome);
        }
        match (object, method, arguments) {
            (V::Class(class), "getSimpleName" | "getName" | "getTypeName" | "getCanonicalName", []) => {
                Some(Ok(V::text(class.name())))
            }
            (V::Class(_), "isInstance" | "equals" | "toString" | "getClass", _) => None,
            (V::Class(_), ..) => Some(Err(missing::exception(self, object, method, arguments))),
            _ => None,
        }
    }

    /// The fields of an object or class of the script.
    fn frame_of(&mut self, object: &V) -> Option<Result<Rc<Frame>, Fault>> {
        match object {
            V::Object(inner) => match &**inner {
                Object::Own(frame) => Some(self.require_own(frame)),
                _ => None,
            },
            V::Class(class) if class.is_own() => {
                Some(self.definition(*class).and_then(|definition| self.statics(&definition)))
            }
            _ => None,
        }
    }

    /// Fails for an object of a class of another script, which may be stored in a variable. The indices of names in its
    /// methods are not valid in this script.
    fn require_own(&self, frame: &Rc<Frame>) -> Result<Rc<Frame>, Fault> {
        let own = frame.definition();
        if own.is_some_and(|own| self.tree.classes.iter().any(|known| Arc::ptr_eq(known, own))) {
            return Ok(frame.clone());
        }
        let name = frame.class().map_or("", Class::name);
        Err(unsupported(format!("an object of the class `{name}` of another script")))
    }

    /// Calls a method of the class whose fields are in `frame`, or a closure in one of the fields.
    fn call_in(&mut self, frame: &Rc<Frame>, method: &str, arguments: &[V]) -> Option<Outcome> {
        let definition = frame.definition()?.clone();
        let has_object = matches!(frame.role, Role::Fields(_));
        let named =
            definition.methods.iter().filter(|known| *known.0.name == *method && (has_object || known.1));
        if let Some(function) = best_overload(named.map(|(function, _)| function), arguments) {
            let is_static = definition
                .methods
                .iter()
                .any(|(known, is_static)| *is_static && Arc::ptr_eq(known, function));
            let home = match (&frame.parent, is_static && has_object) {
                (Some(statics), true) => statics.clone(),
                _ => frame.clone(),
            };
            let inner = self.child_frame(&home);
            return Some(self.call_function(function, arguments.to_vec(), &inner));
        }
        match find_field(self, frame, method) {
            Some(closure @ V::Closure(_)) => Some(self.call_value(&closure, arguments.to_vec())),
            _ => None,
        }
    }

    /// Calls a getter or setter that Groovy generates for a property.
    fn accessor(&mut self, frame: &Rc<Frame>, object: &V, method: &str, arguments: &[V]) -> Option<Outcome> {
        let definition = frame.definition()?.clone();
        let is_property = |name: &str| {
            definition
                .fields
                .iter()
                .any(|field| field.is_property && *self.tree.names[field.name as usize] == *name)
        };
        let (start, rest) = method.split_at_checked(if method.starts_with("is") { 2 } else { 3 })?;
        let name = decapitalized(rest);
        if rest.is_empty() || !is_property(&name) {
            return None;
        }
        match (start, arguments) {
            ("get" | "is", []) => find_field(self, frame, &name).map(Ok),
            ("set", [value]) => Some(self.set_own_field(object, &name, value)?.map(|_| V::NULL)),
            _ => None,
        }
    }

    /// Executes a call without an object inside a class. Returns `None` if the class does not have the method, but a function
    /// outside of the class may have this name.
    pub fn call_inside_class(&mut self, frame: &Rc<Frame>, name: &str, arguments: &[V]) -> Option<Outcome> {
        let home = self.fields_around(frame)?;
        if name == "this" {
            let definition = home.definition()?.clone();
            let outcome = self.run_constructor(&definition, &home, arguments);
            return Some(outcome.unwrap_or_else(|| Err(unsupported("this call of a constructor"))));
        }
        let id = self.tree.names.iter().position(|known| **known == *name);
        if let Some(closure @ V::Closure(_)) = id.and_then(|id| self.find(frame, id as u32)) {
            return Some(self.call_value(&closure, arguments.to_vec()));
        }
        if let Some(outcome) = self.call_in(&home, name, arguments) {
            return Some(outcome);
        }
        let object = self.this(frame);
        if let Some(outcome) = self.accessor(&home, &object, name, arguments) {
            return Some(outcome);
        }
        if known::is_function(name, true) || self.beanshell() {
            return None;
        }
        Some(Err(missing::exception(self, &object, name, arguments)))
    }

    /// The value of a name that is not a variable: a property of the delegate of `with`, or of the class around the frame.
    pub fn implicit_property(&mut self, frame: &Rc<Frame>, name: &str) -> Outcome {
        if let Some(delegate) = self.delegates.last().cloned() {
            return places::property(self, &delegate, name);
        }
        let home = self.fields_around(frame);
        if let Some(home) = home {
            let getter = format!("get{}", capitalized(name));
            return match self.call_in(&home, &getter, &[]) {
                Some(outcome) => outcome,
                None => Err(missing_property(&home, name)),
            };
        }
        Err(thrown("MissingPropertyException", format!("No such property: {name} for class: Script1")))
    }

    /// The value of a field, without calling a getter.
    pub fn own_field(&mut self, object: &V, name: &str) -> Option<V> {
        let frame = self.frame_of(object)?.ok()?;
        find_field(self, &frame, name)
    }

    /// Evaluates `object.name`.
    pub fn own_property(&mut self, object: &V, name: &str) -> Outcome {
        let Some(frame) = self.frame_of(object) else { return Err(unsupported("this property")) };
        let frame = frame?;
        if let Some(outcome) = self.call_in(&frame, &format!("get{}", capitalized(name)), &[]) {
            return outcome;
        }
        // A method `is…` is a getter only if it is declared as `boolean`.
        let test = format!("is{}", capitalized(name));
        let is_declared = frame.definition().is_some_and(|definition| {
            let mut methods = definition.methods.iter();
            let boolean = Type { base: Base::Boolean, boxed: false, arrays: 0 };
            methods.any(|(function, _)| *function.name == *test && function.result == boolean)
        });
        if let Some(outcome) = is_declared.then(|| self.call_in(&frame, &test, &[])).flatten() {
            return outcome;
        }
        if let Some(value) = find_field(self, &frame, name) {
            return Ok(value);
        }
        if let Some(value) = self.method_of_exception(object, &format!("get{}", capitalized(name)), &[]) {
            return value;
        }
        if let V::Class(class) = object
            && matches!(name, "name" | "simpleName" | "class")
        {
            return Ok(if name == "class" { object.clone() } else { V::text(class.name()) });
        }
        Err(missing_property(&frame, name))
    }

    /// Assigns to a field, without calling a setter.
    pub fn set_own_field(&mut self, object: &V, name: &str, value: &V) -> Option<Outcome> {
        let frame = match self.frame_of(object)? {
            Ok(frame) => frame,
            Err(fault) => return Some(Err(fault)),
        };
        let id = self.tree.names.iter().position(|known| **known == *name)? as u32;
        let holder = holder(&frame, id)?;
        let declared = holder.variables.borrow().iter().find(|known| known.name == id)?.declared;
        let converted = match types::declared(self, value.clone(), declared) {
            Ok(converted) => converted,
            Err(fault) => return Some(Err(fault)),
        };
        set_variable(&holder, id, converted);
        Some(Ok(value.clone()))
    }

    /// Executes `object.name = value`.
    pub fn set_own_property(&mut self, object: &V, name: &str, value: &V) -> Outcome {
        let Some(frame) = self.frame_of(object) else { return Err(unsupported("this property")) };
        let frame = frame?;
        let setter = format!("set{}", capitalized(name));
        if let Some(outcome) = self.call_in(&frame, &setter, std::slice::from_ref(value)) {
            return outcome.map(|_| value.clone());
        }
        let definition = frame.definition().cloned();
        let is_final = definition.is_some_and(|definition| {
            definition
                .fields
                .iter()
                .any(|field| field.is_final && *self.tree.names[field.name as usize] == *name)
        });
        if is_final {
            let class = frame.class().map_or("", Class::name);
            let message = format!("Cannot set readonly property: {name} for class: {class}");
            return Err(thrown("ReadOnlyPropertyException", message));
        }
        self.set_own_field(object, name, value).unwrap_or_else(|| Err(missing_property(&frame, name)))
    }

    /// Evaluates `left + right` and similar expressions if the class of `left` defines the operator's method.
    pub fn run_own_operator(&mut self, left: &V, operator: Operator, right: &V) -> Option<Outcome> {
        if self.tree.classes.is_empty() {
            return None;
        }
        let method = operators::method(operator);
        let frame = self.frame_of(left)?.ok()?;
        if method == "compareTo" && !operators::is_relation(operator) {
            return None;
        }
        if method == "compareTo" {
            let order = self.method_of_enumeration(&frame, left, method, std::slice::from_ref(right))?;
            return Some(order.map(|order| operators::comparison_result(operator, &order)));
        }
        self.call_in(&frame, method, std::slice::from_ref(right))
    }
}

/// The fields of a class with the default values of their types.
fn fields(definition: &Definition, is_static: bool) -> Vec<Variable> {
    let own = definition.fields.iter().filter(|field| field.is_static == is_static);
    own.map(|field| Variable {
        name: field.name,
        value: types::default_of(field.declared),
        declared: field.declared,
    })
    .collect()
}

/// The frame that contains the field: the frame of the object or of its class.
fn holder(frame: &Rc<Frame>, name: u32) -> Option<Rc<Frame>> {
    let mut at = Some(frame);
    while let Some(frame) = at.filter(|frame| frame.definition().is_some()) {
        if frame.variables.borrow().iter().any(|known| known.name == name) {
            return Some(frame.clone());
        }
        at = frame.parent.as_ref();
    }
    None
}

fn set_variable(frame: &Rc<Frame>, name: u32, value: V) {
    if let Some(known) = frame.variables.borrow_mut().iter_mut().find(|known| known.name == name) {
        known.value = value;
    }
}

fn find_field(machine: &Machine<'_>, frame: &Rc<Frame>, name: &str) -> Option<V> {
    let id = machine.tree.names.iter().position(|known| **known == *name)? as u32;
    let holder = holder(frame, id)?;
    let variables = holder.variables.borrow();
    variables.iter().find(|known| known.name == id).map(|known| known.value.clone())
}
