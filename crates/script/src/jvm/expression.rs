//! The parser of expressions.

mod checks;
mod functions;
mod primary;

use std::sync::Arc;

use super::diagnostic::{syntax, unsupported};
use super::lexer::TokenKind;
use super::parser::Parser;
use super::tree::{Base, Expr, Function, Item, Kind, Operator, Shift, Type};
use crate::plain::Binary;
use crate::{ScriptError, Value};

/// Precedences, from the lowest to the highest.
const OR: u8 = 1;
const AND: u8 = 2;
const BIT_OR: u8 = 3;
const BIT_XOR: u8 = 4;
const BIT_AND: u8 = 5;
const FIND: u8 = 6;
const EQUALITY: u8 = 7;
const RELATION: u8 = 8;
const SHIFT: u8 = 9;
const SUM: u8 = 10;
const PRODUCT: u8 = 11;
const POWER: u8 = 13;

enum Infix {
    And,
    Or,
    Operator(Operator),
    Range(bool),
    As,
    InstanceOf(bool),
}

/// Maximum number of calls, properties and indexes in a chain, in expressions nested up to [`SHALLOW_DEPTH_MAX`].
const LINKS_MAX: u32 = 200;
/// The same limit for expressions that are nested deeper.
const DEEP_LINKS_MAX: u32 = 60;
const SHALLOW_DEPTH_MAX: u32 = 40;

fn make(at: usize, kind: Kind) -> Expr {
    Expr { at: at as u32, kind }
}

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Result<Expr, ScriptError> {
        self.enter()?;
        let expr = self.assignment();
        self.depth -= 1;
        expr
    }

    fn assignment(&mut self) -> Result<Expr, ScriptError> {
        if self.groovy()
            && let Some(lambda) = self.lambda()?
        {
            return Ok(lambda);
        }
        let left = self.conditional()?;
        let at = self.place();
        let TokenKind::Symbol(sign) = *self.peek() else { return Ok(left) };
        if sign == "?=" {
            self.advance();
            let otherwise = Kind::Elvis(Box::new(left.clone()), Box::new(self.expression()?));
            return Ok(make(at, Kind::Assign(Box::new(left), None, Box::new(make(at, otherwise)))));
        }
        let plain = |binary: Binary| Some(Operator::Plain(binary));
        let operator = match sign {
            "=" => None,
            "+=" => plain(Binary::Add),
            "-=" => plain(Binary::Subtract),
            "*=" => plain(Binary::Multiply),
            "/=" => plain(Binary::Divide),
            "%=" => plain(Binary::Remainder),
            "&=" => plain(Binary::BitAnd),
            "|=" => plain(Binary::BitOr),
            "^=" => plain(Binary::BitXor),
            "<<=" => Some(Operator::Shift(Shift::Left)),
            "**=" => Some(Operator::Power),
            _ => return Ok(left),
        };
        if !matches!(left.kind, Kind::Name(_) | Kind::Property(..) | Kind::Field(..) | Kind::Index(..)) {
            return Err(self.unexpected("the end of the expression"));
        }
        self.advance();
        let value = self.expression()?;
        if let Kind::Name(name) = &left.kind
            && self.doubles.contains(name)
        {
            self.check_quotient(Type { base: Base::Double, boxed: false, arrays: 0 }, &value)?;
        }
        Ok(make(at, Kind::Assign(Box::new(left), operator, Box::new(value))))
    }

    fn conditional(&mut self) -> Result<Expr, ScriptError> {
        let condition = self.binary(OR)?;
        let at = self.place();
        if self.accept("?") {
            let then = self.expression()?;
            self.expect(":")?;
            let otherwise = self.expression()?;
            return Ok(make(at, Kind::Ternary(Box::new(condition), Box::new(then), Box::new(otherwise))));
        }
        if self.accept("?:") {
            let otherwise = self.expression()?;
            return Ok(make(at, Kind::Elvis(Box::new(condition), Box::new(otherwise))));
        }
        Ok(condition)
    }

    /// The operator at the current token, with its precedence and its number of tokens.
    fn operator(&self) -> Result<Option<(u8, Infix, usize)>, ScriptError> {
        let groovy = self.groovy();
        let plain = |precedence, binary| (precedence, Infix::Operator(Operator::Plain(binary)), 1);
        let found = match self.peek() {
            TokenKind::Symbol(sign) => match *sign {
                "||" => (OR, Infix::Or, 1),
                "&&" => (AND, Infix::And, 1),
                "|" => plain(BIT_OR, Binary::BitOr),
                "^" => plain(BIT_XOR, Binary::BitXor),
                "&" => plain(BIT_AND, Binary::BitAnd),
                "=~" => (FIND, Infix::Operator(Operator::Find), 1),
                "==~" => plain(FIND, Binary::Matches),
                "==" => plain(EQUALITY, Binary::Equal),
                "!=" => plain(EQUALITY, Binary::NotEqual),
                "===" => (EQUALITY, Infix::Operator(Operator::Same), 1),
                "!==" => (EQUALITY, Infix::Operator(Operator::NotSame), 1),
                "<=>" => (EQUALITY, Infix::Operator(Operator::Spaceship), 1),
                "<=" => plain(RELATION, Binary::LessOrEqual),
                ">=" => plain(RELATION, Binary::GreaterOrEqual),
                "<" => plain(RELATION, Binary::Less),
                ">" => {
                    let glued = |by: usize| {
                        matches!(self.ahead(by), TokenKind::Symbol(">"))
                            && self.tokens.get(self.at + by).is_some_and(|token| token.is_adjacent)
                    };
                    match (glued(1), glued(2)) {
                        (true, true) => (SHIFT, Infix::Operator(Operator::Shift(Shift::Unsigned)), 3),
                        (true, false) => (SHIFT, Infix::Operator(Operator::Shift(Shift::Right)), 2),
                        _ => plain(RELATION, Binary::Greater),
                    }
                }
                "<<" => (SHIFT, Infix::Operator(Operator::Shift(Shift::Left)), 1),
                ".." => (SHIFT, Infix::Range(false), 1),
                "..<" => (SHIFT, Infix::Range(true), 1),
                "+" => plain(SUM, Binary::Add),
                "-" => plain(SUM, Binary::Subtract),
                "*" => plain(PRODUCT, Binary::Multiply),
                "/" => plain(PRODUCT, Binary::Divide),
                "%" => plain(PRODUCT, Binary::Remainder),
                "**" => (POWER, Infix::Operator(Operator::Power), 1),
                "!" if groovy
                    && matches!(self.ahead(1), TokenKind::Name(name) if matches!(&**name, "in" | "instanceof")) =>
                {
                    match self.ahead(1) {
                        TokenKind::Name(name) if &**name == "in" => {
                            (RELATION, Infix::Operator(Operator::NotIn), 2)
                        }
                        _ => (RELATION, Infix::InstanceOf(true), 2),
                    }
                }
                _ => return Ok(None),
            },
            TokenKind::Name(name) => match &**name {
                "instanceof" => (RELATION, Infix::InstanceOf(false), 1),
                "in" if groovy => (RELATION, Infix::Operator(Operator::In), 1),
                "as" if groovy => (RELATION, Infix::As, 1),
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        // In Groovy, a line that begins with one of these operators is a separate statement.
        if groovy
            && self.token().after_newline
            && matches!(self.peek(), TokenKind::Symbol("+" | "-" | "**" | "!"))
        {
            return Ok(None);
        }
        Ok(Some(found))
    }

    fn binary(&mut self, weakest: u8) -> Result<Expr, ScriptError> {
        let mut left = self.unary()?;
        let outer = self.depth;
        while let Some((precedence, found, words)) = self.operator()? {
            if precedence < weakest {
                break;
            }
            // The tree of a chain of operators is as deep as the chain is long.
            if let Err(error) = self.enter() {
                self.depth = outer;
                return Err(error);
            }
            let at = self.place();
            for _ in 0..words {
                self.advance();
            }
            left = match found {
                Infix::As => {
                    let target = self.needed_type()?;
                    make(at, Kind::As(target, Box::new(left)))
                }
                Infix::InstanceOf(negated) => {
                    let target = self.needed_type()?;
                    make(at, Kind::InstanceOf(target, Box::new(left), negated))
                }
                found => {
                    let right = self.binary(precedence + 1)?;
                    if let Infix::Operator(Operator::Find | Operator::Plain(Binary::Matches)) = found {
                        self.check_pattern(&right)?;
                    }
                    if let Infix::Operator(Operator::Plain(binary @ (Binary::Equal | Binary::NotEqual))) =
                        found
                        && let Some(folded) = self.identity(binary, &left, &right, at)?
                    {
                        left = make(at, folded);
                        continue;
                    }
                    let (a, b) = (Box::new(left), Box::new(right));
                    make(
                        at,
                        match found {
                            Infix::And => Kind::And(a, b),
                            Infix::Or => Kind::Or(a, b),
                            Infix::Range(open) => Kind::Range(a, b, open),
                            Infix::Operator(operator) => Kind::Binary(operator, a, b),
                            Infix::As | Infix::InstanceOf(_) => return self.refuse("this operator"),
                        },
                    )
                }
            };
        }
        self.depth = outer;
        Ok(left)
    }

    /// BeanShell compares objects by identity. The result is known for two string literals; the comparison of two variables
    /// or calls that certainly are objects is rejected.
    fn identity(
        &self,
        binary: Binary,
        left: &Expr,
        right: &Expr,
        at: usize,
    ) -> Result<Option<Kind>, ScriptError> {
        if self.groovy() {
            return Ok(None);
        }
        if let (Kind::Literal(Value::Text(a)), Kind::Literal(Value::Text(b))) = (&left.kind, &right.kind) {
            return Ok(Some(Kind::Literal(Value::Boolean((a == b) == (binary == Binary::Equal)))));
        }
        let object = |expr: &Expr| match &expr.kind {
            Kind::Name(name) => self.boxed_numbers.contains(name),
            Kind::Call(Some(_), name, ..) => matches!(&**name, "valueOf"),
            _ => false,
        };
        if object(left) && object(right) {
            return Err(unsupported(
                self.text,
                at,
                "comparing objects by identity (`==` instead of `equals`)",
            ));
        }
        Ok(None)
    }

    fn needed_type(&mut self) -> Result<Type, ScriptError> {
        match self.optional_type() {
            Some(found) => Ok(found),
            None => match self.peek() {
                TokenKind::Name(name) => self.refuse(format!("the class `{name}`")),
                _ => Err(self.unexpected("a type")),
            },
        }
    }

    fn unary(&mut self) -> Result<Expr, ScriptError> {
        self.enter()?;
        let expr = self.unary_within();
        self.depth -= 1;
        expr
    }

    fn unary_within(&mut self) -> Result<Expr, ScriptError> {
        let at = self.place();
        let TokenKind::Symbol(sign) = *self.peek() else { return self.postfix() };
        match sign {
            "!" => {
                self.advance();
                Ok(make(at, Kind::Not(Box::new(self.unary()?))))
            }
            "-" | "+" => {
                self.advance();
                let literal = matches!(self.peek(), TokenKind::Literal(_)) && self.token().is_adjacent;
                let operand = self.unary()?;
                if let (true, "-", Kind::Literal(value)) = (literal, sign, &operand.kind)
                    && let Some(value) = negated(value)
                {
                    return Ok(make(at, Kind::Literal(value)));
                }
                let operand = Box::new(operand);
                Ok(make(at, if sign == "-" { Kind::Minus(operand) } else { Kind::Plus(operand) }))
            }
            "~" => {
                self.advance();
                let operand = self.unary()?;
                self.check_pattern(&operand)?;
                Ok(make(at, Kind::Complement(Box::new(operand))))
            }
            "++" | "--" => {
                self.advance();
                let operand = self.unary()?;
                if !matches!(
                    operand.kind,
                    Kind::Name(_) | Kind::Property(..) | Kind::Field(..) | Kind::Index(..)
                ) {
                    return Err(syntax(
                        self.text,
                        at,
                        format!("`{sign}` of something that is not a variable"),
                    ));
                }
                Ok(make(at, Kind::Step(Box::new(operand), if sign == "++" { 1 } else { -1 }, true)))
            }
            "(" => match self.cast()? {
                Some(cast) => Ok(cast),
                None => self.postfix(),
            },
            _ => self.postfix(),
        }
    }

    /// Parses a cast such as `(int) x`; `None` if the next tokens are not a cast.
    fn cast(&mut self) -> Result<Option<Expr>, ScriptError> {
        let start = self.at;
        let at = self.place();
        self.advance();
        let primitive = matches!(self.peek(), TokenKind::Name(name) if matches!(&**name, "int" | "long" | "double" | "float" | "boolean" | "char" | "byte" | "short"));
        if let Some(target) = self.optional_type()
            && self.is(")")
            && target.base != Base::Void
        {
            self.advance();
            let begins = match self.peek() {
                TokenKind::Name(name) => !self.is_operator(name),
                TokenKind::Literal(_) | TokenKind::Join(_) => true,
                TokenKind::Symbol(sign) => {
                    matches!(*sign, "(" | "!" | "~")
                        || (matches!(*sign, "[") && self.groovy())
                        || (primitive && matches!(*sign, "-" | "+"))
                }
                TokenKind::End => false,
            };
            if begins && !(self.groovy() && self.token().after_newline) {
                let operand = self.unary()?;
                return Ok(Some(make(at, Kind::Cast(target, Box::new(operand)))));
            }
        }
        self.at = start;
        Ok(None)
    }

    #[allow(clippy::too_many_lines, reason = "one arm for each form")]
    fn postfix(&mut self) -> Result<Expr, ScriptError> {
        let mut expr = self.primary()?;
        // The tree of a chain of calls is as deep as the chain is long.
        let links_max = if self.depth <= SHALLOW_DEPTH_MAX { LINKS_MAX } else { DEEP_LINKS_MAX };
        for links in 0.. {
            if links == links_max {
                return self.refuse(format!("more than {links_max} calls and properties in a chain"));
            }
            let at = self.place();
            let TokenKind::Symbol(sign) = *self.peek() else { break };
            let fresh = self.token().after_newline && self.groovy();
            match sign {
                "." | "?." | "*." => {
                    self.advance();
                    let is_direct = self.groovy() && self.is("@");
                    if is_direct {
                        self.advance();
                    }
                    let name = match self.peek().clone() {
                        TokenKind::Name(name) => name,
                        TokenKind::Literal(Value::Text(name)) if self.groovy() => name,
                        TokenKind::Join(_) if sign != "*." && !is_direct => {
                            let name = Box::new(self.primary()?);
                            let calls = self.is("(") && !self.token().after_newline;
                            let items = if calls { Some(self.arguments()?) } else { None };
                            expr = make(at, Kind::Dynamic(Box::new(expr), name, items, sign == "?."));
                            continue;
                        }
                        _ => return Err(self.unexpected("a name")),
                    };
                    let name_at = self.place();
                    if matches!(
                        &*name,
                        "getCurrentSampler" | "currentSampler" | "getPreviousSampler" | "previousSampler"
                    ) {
                        self.note_sampler_after_call();
                    }
                    self.advance();
                    let (safe, spread) = (sign == "?.", sign == "*.");
                    let trailing = self.groovy() && self.is("{") && !self.token().after_newline;
                    if is_direct {
                        expr = make(name_at, Kind::Field(Box::new(expr), name, safe, spread));
                    } else if self.is("(") && !(self.groovy() && self.token().after_newline) || trailing {
                        let items = self.arguments()?;
                        self.check_call(&expr, &name, &items, name_at)?;
                        expr = make(name_at, Kind::Call(Some(Box::new(expr)), name, items, safe, spread));
                    } else {
                        self.check_property(&expr, &name, name_at)?;
                        expr = make(name_at, Kind::Property(Box::new(expr), name, safe, spread));
                    }
                }
                ".&" | "::" => {
                    self.advance();
                    expr = self.reference(expr)?;
                }
                "?" if self.groovy()
                    && self.token().is_adjacent
                    && matches!(self.ahead(1), TokenKind::Symbol("["))
                    && self.tokens[self.at + 1].is_adjacent =>
                {
                    self.advance();
                    self.advance();
                    let index = self.expression()?;
                    self.expect("]")?;
                    expr = make(at, Kind::SafeIndex(Box::new(expr), Box::new(index)));
                }
                "[" if !fresh => {
                    self.advance();
                    let index = self.expression()?;
                    let index = if self.is(",") {
                        let mut items = vec![Item { spread: false, expr: index }];
                        while self.accept(",") {
                            items.push(Item { spread: false, expr: self.expression()? });
                        }
                        make(at, Kind::List(items))
                    } else {
                        index
                    };
                    self.expect("]")?;
                    expr = make(at, Kind::Index(Box::new(expr), Box::new(index)));
                }
                "(" if !fresh => match expr.kind {
                    Kind::Closure(_)
                    | Kind::Call(..)
                    | Kind::Index(..)
                    | Kind::Invoke(..)
                    | Kind::Binary(..)
                        if self.groovy() =>
                    {
                        let items = self.arguments()?;
                        expr = make(at, Kind::Invoke(Box::new(expr), items));
                    }
                    _ => return Err(self.unexpected("the end of the expression")),
                },
                "++" | "--"
                    if !fresh
                        && matches!(
                            expr.kind,
                            Kind::Name(_) | Kind::Property(..) | Kind::Field(..) | Kind::Index(..)
                        ) =>
                {
                    self.advance();
                    expr = make(at, Kind::Step(Box::new(expr), if sign == "++" { 1 } else { -1 }, false));
                }
                _ => break,
            }
        }
        Ok(expr)
    }

    /// Parses the arguments of a call, `(a, b) { … }`. The current token is the opening parenthesis or brace.
    pub(super) fn arguments(&mut self) -> Result<Vec<Item>, ScriptError> {
        let mut items: Vec<Item> = Vec::new();
        let mut named = Vec::new();
        let at = self.place();
        if self.accept("(") {
            while !self.accept(")") {
                let spread = self.groovy() && self.accept("*");
                if self.groovy()
                    && let (TokenKind::Name(name), TokenKind::Symbol(":")) =
                        (self.peek().clone(), self.ahead(1))
                {
                    let key = self.text_literal(&name, self.place() as u32);
                    self.advance();
                    self.advance();
                    named.push((key, self.expression()?));
                } else {
                    items.push(Item { spread, expr: self.expression()? });
                }
                if !self.accept(",") && !self.is(")") {
                    return Err(self.unexpected("`)`"));
                }
            }
        }
        if !named.is_empty() {
            items.insert(0, Item { spread: false, expr: make(at, Kind::Map(named)) });
        }
        while self.groovy() && self.is("{") && !self.token().after_newline {
            items.push(Item { spread: false, expr: self.closure()? });
        }
        Ok(items)
    }

    /// Parses a closure, `{ a, b -> … }`.
    fn closure(&mut self) -> Result<Expr, ScriptError> {
        let at = self.place();
        self.expect("{")?;
        let closure = self.closure_body(at)?;
        self.expect("}")?;
        Ok(closure)
    }

    /// Parses the content of a closure's braces.
    pub(super) fn closure_body(&mut self, at: usize) -> Result<Expr, ScriptError> {
        let start = self.at;
        let mut parameters = Vec::new();
        let mut implicit = true;
        if self.accept("->") {
            implicit = false;
        } else if self.arrow_follows() {
            parameters = self.parameters("->")?;
            self.expect("->")?;
            implicit = false;
        } else {
            self.at = start;
        }
        let mut body = Vec::new();
        self.closure_depth += 1;
        while !self.is("}") && !matches!(self.peek(), TokenKind::End) {
            self.statement_into(&mut body)?;
        }
        self.closure_depth -= 1;
        let function = Function { name: "closure".into(), parameters, implicit, body, result: Type::ANY };
        Ok(make(at, Kind::Closure(Arc::new(function))))
    }

    /// Whether the next tokens may be parameters, followed by `->`.
    fn arrow_follows(&self) -> bool {
        let mut depth = 0_i32;
        for token in &self.tokens[self.at..] {
            match &token.kind {
                TokenKind::Symbol("->") if depth == 0 => return true,
                TokenKind::Symbol("(" | "[") => depth += 1,
                TokenKind::Symbol(")" | "]") if depth > 0 => depth -= 1,
                TokenKind::Name(_)
                | TokenKind::Literal(_)
                | TokenKind::Symbol("," | "=" | "." | "<" | ">" | "?" | "...") => {}
                _ => return false,
            }
        }
        false
    }
}

fn negated(value: &Value) -> Option<Value> {
    Some(match value {
        Value::Integer(value) => Value::Integer(value.wrapping_neg()),
        Value::Long(value) if *value == 2_147_483_648 => Value::Integer(i32::MIN),
        Value::Long(value) => Value::Long(value.wrapping_neg()),
        Value::Double(value) => Value::Double(-value),
        Value::Float(value) => Value::Float(-value),
        Value::Decimal(value) => Value::Decimal(value.negate()?),
        _ => return None,
    })
}
