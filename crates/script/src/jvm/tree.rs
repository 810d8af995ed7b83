//! The syntax tree of a script.

use std::sync::Arc;

use super::classes::Class;
use crate::Value;
use crate::language::Dialect;

/// Index of a name in the script's table.
pub(super) type Name = u32;

#[derive(Debug, Clone)]
pub(super) struct Expr {
    pub at: u32,
    pub kind: Kind,
}

/// The type in a declaration, cast or `instanceof`, without array dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    /// `def`, `var`, `Object`, and interfaces that the interpreter does not distinguish.
    Any,
    Int,
    Long,
    Short,
    Byte,
    Double,
    Float,
    Boolean,
    Char,
    Text,
    Void,
    Class(Class),
}

impl Base {
    /// The result of `getName()` of the class of arrays with this type of items.
    pub fn array_class_name(self) -> String {
        match self {
            Base::Int => "[I".into(),
            Base::Long => "[J".into(),
            Base::Short => "[S".into(),
            Base::Byte => "[B".into(),
            Base::Double => "[D".into(),
            Base::Float => "[F".into(),
            Base::Boolean => "[Z".into(),
            Base::Char => "[C".into(),
            Base::Text => "[Ljava.lang.String;".into(),
            Base::Class(class) => format!("[L{};", class.qualified_name()),
            Base::Any | Base::Void => "[Ljava.lang.Object;".into(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Type {
    pub base: Base,
    /// Whether the type is an object type (`Integer` instead of `int`), so that values may be null.
    pub boxed: bool,
    /// Number of array dimensions.
    pub arrays: u8,
}

impl Type {
    pub const ANY: Type = Type { base: Base::Any, boxed: true, arrays: 0 };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shift {
    Left,
    Right,
    Unsigned,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    /// An operator that plain values support.
    Plain(crate::plain::Binary),
    Shift(Shift),
    Power,
    Spaceship,
    /// Groovy's identity operator `===`.
    Same,
    NotSame,
    /// Groovy's operator `=~`, which creates a matcher.
    Find,
    In,
    NotIn,
}

#[derive(Debug, Clone)]
pub(super) struct Item {
    pub spread: bool,
    pub expr: Expr,
}

#[derive(Debug, Clone)]
pub(super) struct Parameter {
    pub name: Name,
    pub declared: Type,
    pub default: Option<Expr>,
    /// `Object... name`: an array of all further arguments.
    pub is_rest: bool,
}

/// A closure or method.
#[derive(Debug)]
pub(super) struct Function {
    pub name: Arc<str>,
    pub parameters: Vec<Parameter>,
    /// Whether the function is a closure without `->`, which has the implicit parameter `it`.
    pub implicit: bool,
    pub body: Vec<Stmt>,
    pub result: Type,
}

/// Expressions that exist only in JEXL.
#[derive(Debug, Clone)]
pub(super) enum Jexl {
    /// `a ?? b`: `a` unless it is null.
    Coalesce(Box<Expr>, Box<Expr>),
    /// A variable that may be undefined; its value is null in this case.
    Optional(Name),
    /// The operator `empty x`.
    Empty(Box<Expr>),
    /// The operator `size x`.
    Size(Box<Expr>),
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Literal(Value),
    Join(Vec<Expr>),
    /// A string whose closures are evaluated each time it is used: `"${-> x}"`.
    LazyJoin(Vec<Expr>),
    Name(Name),
    Class(Class),
    /// `this` in a class of the script.
    This,
    List(Vec<Item>),
    Map(Vec<(Expr, Expr)>),
    Range(Box<Expr>, Box<Expr>, bool),
    Not(Box<Expr>),
    Minus(Box<Expr>),
    Plus(Box<Expr>),
    Complement(Box<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Ternary(Box<Expr>, Box<Expr>, Box<Expr>),
    Elvis(Box<Expr>, Box<Expr>),
    Jexl(Jexl),
    Assign(Box<Expr>, Option<Operator>, Box<Expr>),
    /// `x++` and similar expressions: the number to add, and whether the value of the expression is the new value.
    Step(Box<Expr>, i32, bool),
    /// `object.name`: the object, the name, whether the operator is `?.`, and whether it is `*.`.
    Property(Box<Expr>, Arc<str>, bool, bool),
    /// `object.@name`: the object, the name, whether the operator is `?.`, and whether it is `*.`.
    Field(Box<Expr>, Arc<str>, bool, bool),
    Index(Box<Expr>, Box<Expr>),
    /// A call: the object (`None` for the script), the name, the arguments, whether the operator is `?.`, and whether it is
    /// `*.`.
    Call(Option<Box<Expr>>, Arc<str>, Vec<Item>, bool, bool),
    Invoke(Box<Expr>, Vec<Item>),
    /// `object."$name"`: the object, the name, the arguments if it is a call, and whether the operator is `?.`.
    Dynamic(Box<Expr>, Box<Expr>, Option<Vec<Item>>, bool),
    /// `object?[index]`
    SafeIndex(Box<Expr>, Box<Expr>),
    /// `super.name(…)` in a subclass of the given class; without a name `super(…)`.
    Super(Class, Option<Arc<str>>, Vec<Item>),
    New(Class, Vec<Item>),
    NewArray(Type, Vec<Expr>),
    /// `{1, 2}` in BeanShell, with items of this type.
    Array(Type, Vec<Expr>),
    Cast(Type, Box<Expr>),
    As(Type, Box<Expr>),
    InstanceOf(Type, Box<Expr>, bool),
    Closure(Arc<Function>),
}

#[derive(Debug, Clone)]
pub(super) struct Catch {
    /// The caught classes; if empty, every `Exception` is caught.
    pub classes: Vec<Class>,
    pub name: Name,
    pub body: Vec<Stmt>,
}

#[derive(Debug, Clone)]
pub(super) enum Stmt {
    Expr(Expr),
    Declare(Name, Type, Option<Expr>),
    /// A declaration with `@Field`, whose variable the script's methods can access.
    Field(Name, Type, Option<Expr>),
    /// `def (a, b) = …`
    DeclareAll(Vec<(Name, Type)>, Expr),
    Method(Arc<Function>),
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    While(Expr, Box<Stmt>),
    DoWhile(Box<Stmt>, Expr),
    For(Vec<Stmt>, Option<Expr>, Vec<Expr>, Box<Stmt>),
    ForEach(Name, Type, Expr, Box<Stmt>),
    Switch(Expr, Vec<(Option<Expr>, Vec<Stmt>)>),
    Try(Vec<Stmt>, Vec<Catch>, Option<Vec<Stmt>>),
    Throw(Expr),
    /// `assert`: the condition, the message, the source text of the condition, and its offset.
    Assert(Expr, Option<Expr>, Arc<str>, u32),
    Block(Vec<Stmt>),
    Return(Option<Expr>),
    Break,
    Continue,
    /// `(a, b) = …`
    AssignAll(Vec<Name>, Expr),
    /// A statement with a label, and whether the statement is the body of a loop with this label.
    Labelled(Name, bool, Box<Stmt>),
    /// `break label` (true), `continue label`
    Leave(Name, bool),
    Empty,
}

/// A field of a class that the script defines.
#[derive(Debug, Clone)]
pub(super) struct Field {
    pub name: Name,
    pub declared: Type,
    pub value: Option<Expr>,
    /// Whether Groovy generates a getter and a setter for the field.
    pub is_property: bool,
    pub is_static: bool,
    pub is_final: bool,
}

/// A class that the script defines.
#[derive(Debug)]
pub(super) struct Definition {
    pub class: Class,
    pub fields: Vec<Field>,
    /// Methods, and whether they are static.
    pub methods: Vec<(Arc<Function>, bool)>,
    pub constructors: Vec<Arc<Function>>,
    /// The superclasses and interfaces, the nearest first.
    pub above: Vec<Class>,
    /// Methods without a body, which a closure may implement.
    pub without_body: Vec<Arc<str>>,
    /// The constants of an enumeration and the arguments of their constructor.
    pub constants: Vec<(Name, Vec<Item>)>,
}

/// A parsed script.
#[derive(Debug)]
pub(super) struct Tree {
    pub dialect: Dialect,
    pub text: Arc<str>,
    pub statements: Vec<Stmt>,
    pub names: Vec<Arc<str>>,
    /// The classes that the script defines.
    pub classes: Vec<Arc<Definition>>,
    /// Errors that JMeter reports only when the script runs.
    pub warnings: Vec<super::diagnostic::Warning>,
    /// Whether the script may read more of the current sampler than its name.
    pub accesses_request: bool,
}
