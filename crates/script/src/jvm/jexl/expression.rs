//! The parser of expressions: assignment, conditions, operators by precedence.

use super::super::diagnostic::unsupported;
use super::super::patterns;
use super::super::tree::{Expr, Jexl, Kind, Operator};
use super::parser::{DEPTH_MAX, Parser};
use super::token::TokenKind;
use crate::language::Dialect;
use crate::plain::Binary;
use crate::{ScriptError, Value};

/// An infix operator.
enum Infix {
    Binary(Binary),
    And,
    Or,
}

/// Precedences, weakest first.
const OR: u8 = 1;
const AND: u8 = 2;
const BIT_OR: u8 = 3;
const BIT_XOR: u8 = 4;
const BIT_AND: u8 = 5;
const EQUALITY: u8 = 6;
const RELATION: u8 = 7;
const SUM: u8 = 9;
const PRODUCT: u8 = 10;

/// Operators with one operand.
#[derive(Clone, Copy)]
enum Unary {
    Not,
    Minus,
    Plus,
    Complement,
    Empty,
    Size,
}

fn make(at: usize, kind: Kind) -> Expr {
    Expr { at: at as u32, kind }
}

/// Makes an expression tolerate an undefined name, whose value is then null.
fn optional(expr: Expr) -> Expr {
    match expr.kind {
        Kind::Name(name) => Expr { at: expr.at, kind: Kind::Jexl(Jexl::Optional(name)) },
        _ => expr,
    }
}

/// Makes an expression the condition of `?`, for which null is false.
fn nullable_condition(expr: Expr) -> Expr {
    let is_never_null = matches!(expr.kind, Kind::And(..) | Kind::Or(..) | Kind::Not(_) | Kind::Binary(..));
    if is_never_null {
        return expr;
    }
    let at = expr.at;
    let no = Expr { at, kind: Kind::Literal(Value::Boolean(false)) };
    Expr { at, kind: Kind::Jexl(Jexl::Coalesce(Box::new(optional(expr)), Box::new(no))) }
}

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Result<Expr, ScriptError> {
        self.enter()?;
        let expr = self.assignment();
        self.depth -= 1;
        expr
    }

    fn assignment(&mut self) -> Result<Expr, ScriptError> {
        let left = self.conditional()?;
        let at = self.place();
        let TokenKind::Symbol(symbol) = self.peek() else {
            return Ok(left);
        };
        let operator = match *symbol {
            "=" => None,
            "+=" => Some(Operator::Plain(Binary::Add)),
            "-=" => Some(Operator::Plain(Binary::Subtract)),
            "*=" => Some(Operator::Plain(Binary::Multiply)),
            "/=" => Some(Operator::Plain(Binary::Divide)),
            "%=" => Some(Operator::Plain(Binary::Remainder)),
            "&=" | "|=" | "^=" => {
                return Err(self.unsupported_here(format!("`{symbol}`")));
            }
            _ => return Ok(left),
        };
        let local = match left.kind {
            Kind::Name(local) => local,
            Kind::Index(..) | Kind::Call(..) | Kind::Literal(Value::Null) => {
                return Err(self.unsupported_here("assigning to anything but a variable"));
            }
            _ => return Err(self.unexpected("the end of the expression")),
        };
        self.advance();
        let value = self.expression()?;
        self.assign_to(local)?;
        let target = Box::new(Expr { at: left.at, kind: Kind::Name(local) });
        Ok(make(at, Kind::Assign(target, operator, Box::new(value))))
    }

    fn conditional(&mut self) -> Result<Expr, ScriptError> {
        let condition = self.binary(OR)?;
        let at = self.place();
        if self.accept("?") {
            let then = self.expression()?;
            self.expect(":")?;
            let otherwise = self.expression()?;
            let condition = nullable_condition(condition);
            return Ok(make(at, Kind::Ternary(Box::new(condition), Box::new(then), Box::new(otherwise))));
        }
        if self.accept("?:") {
            let otherwise = self.expression()?;
            return Ok(make(at, Kind::Elvis(Box::new(optional(condition)), Box::new(otherwise))));
        }
        if self.accept("??") {
            let otherwise = self.expression()?;
            return Ok(make(
                at,
                Kind::Jexl(Jexl::Coalesce(Box::new(optional(condition)), Box::new(otherwise))),
            ));
        }
        Ok(condition)
    }

    /// The infix operator at the current token, with its precedence.
    fn operator(&self) -> Option<(u8, Infix)> {
        use Infix::Binary as B;
        let found = match self.peek() {
            TokenKind::Symbol(symbol) => match *symbol {
                "||" => (OR, Infix::Or),
                "&&" => (AND, Infix::And),
                "|" => (BIT_OR, B(Binary::BitOr)),
                "^" => (BIT_XOR, B(Binary::BitXor)),
                "&" => (BIT_AND, B(Binary::BitAnd)),
                "==" => (EQUALITY, B(Binary::Equal)),
                "!=" => (EQUALITY, B(Binary::NotEqual)),
                ".." => (EQUALITY, B(Binary::Range)),
                "<" => (RELATION, B(Binary::Less)),
                "<=" => (RELATION, B(Binary::LessOrEqual)),
                ">" => (RELATION, B(Binary::Greater)),
                ">=" => (RELATION, B(Binary::GreaterOrEqual)),
                "=~" => (RELATION, B(Binary::Matches)),
                "!~" => (RELATION, B(Binary::NotMatches)),
                "=^" => (RELATION, B(Binary::StartsWith)),
                "!^" => (RELATION, B(Binary::NotStartsWith)),
                "=$" => (RELATION, B(Binary::EndsWith)),
                "!$" => (RELATION, B(Binary::NotEndsWith)),
                "+" => (SUM, B(Binary::Add)),
                "-" => (SUM, B(Binary::Subtract)),
                "*" => (PRODUCT, B(Binary::Multiply)),
                "/" => (PRODUCT, B(Binary::Divide)),
                "%" => (PRODUCT, B(Binary::Remainder)),
                _ => return None,
            },
            TokenKind::Name(word) => match &**word {
                "or" => (OR, Infix::Or),
                "and" => (AND, Infix::And),
                "eq" => (EQUALITY, B(Binary::Equal)),
                "ne" => (EQUALITY, B(Binary::NotEqual)),
                "lt" => (RELATION, B(Binary::Less)),
                "le" => (RELATION, B(Binary::LessOrEqual)),
                "gt" => (RELATION, B(Binary::Greater)),
                "ge" => (RELATION, B(Binary::GreaterOrEqual)),
                "div" => (PRODUCT, B(Binary::Divide)),
                "mod" => (PRODUCT, B(Binary::Remainder)),
                _ => return None,
            },
            _ => return None,
        };
        Some(found)
    }

    fn binary(&mut self, weakest: u8) -> Result<Expr, ScriptError> {
        let mut left = self.unary()?;
        let mut chain = 0_u32;
        // JEXL does not chain comparisons: `a == b == c` is an error there.
        let mut strongest = u8::MAX;
        while let Some((precedence, operator)) = self.operator() {
            if precedence < weakest || precedence > strongest {
                break;
            }
            chain += 1;
            if self.depth + chain > DEPTH_MAX {
                return Err(self.unsupported_here(format!(
                    "an expression with more than {DEPTH_MAX} levels of nesting"
                )));
            }
            let at = self.place();
            self.advance();
            let right = self.binary(precedence + 1)?;
            let (a, b) = (Box::new(left), Box::new(right));
            let kind = match operator {
                Infix::And => Kind::And(a, b),
                Infix::Or => Kind::Or(a, b),
                Infix::Binary(binary) => {
                    self.check_binary(binary, &a, &b, at)?;
                    Kind::Binary(Operator::Plain(binary), a, b)
                }
            };
            left = make(at, kind);
            if matches!(precedence, EQUALITY | RELATION) {
                strongest = precedence - 1;
            }
        }
        Ok(left)
    }

    /// Rejects operations that are known to be unsupported before the script runs.
    fn check_binary(&self, binary: Binary, left: &Expr, right: &Expr, at: usize) -> Result<(), ScriptError> {
        let is_double = |expr: &Expr| matches!(&expr.kind, Kind::Literal(Value::Double(_)));
        if matches!(binary, Binary::BitAnd | Binary::BitOr | Binary::BitXor)
            && (is_double(left) || is_double(right))
        {
            return Err(unsupported(self.text, at, "a bitwise operation on a double"));
        }
        if let (Binary::Matches | Binary::NotMatches, Kind::Literal(Value::Text(pattern))) =
            (binary, &right.kind)
        {
            self.check_pattern(pattern, at)?;
        }
        Ok(())
    }

    pub(super) fn check_pattern(&self, pattern: &str, at: usize) -> Result<(), ScriptError> {
        patterns::check(pattern).map_err(|error| unsupported(self.text, at, error.to_string()))
    }

    fn unary(&mut self) -> Result<Expr, ScriptError> {
        self.enter()?;
        let expr = self.unary_inner();
        self.depth -= 1;
        expr
    }

    fn unary_inner(&mut self) -> Result<Expr, ScriptError> {
        let at = self.place();
        let operator = match self.peek() {
            TokenKind::Symbol("!") => Some(Unary::Not),
            TokenKind::Symbol("-") => Some(Unary::Minus),
            TokenKind::Symbol("+") if self.dialect != Dialect::Jexl2 => Some(Unary::Plus),
            TokenKind::Symbol("~") => Some(Unary::Complement),
            TokenKind::Name(word) => match &**word {
                "not" => Some(Unary::Not),
                "empty" => Some(Unary::Empty),
                "size" => Some(Unary::Size),
                _ => None,
            },
            _ => None,
        };
        let Some(operator) = operator else { return self.postfix() };
        self.advance();
        let measures = matches!(operator, Unary::Empty | Unary::Size);
        if self.dialect == Dialect::Jexl2 && measures && !self.is_symbol("(") {
            return Err(self.unsupported_here("`empty` or `size` without parentheses"));
        }
        let operand = match self.dialect {
            Dialect::Jexl2 if measures => self.parenthesised()?,
            _ if measures => optional(self.unary()?),
            _ => self.unary()?,
        };
        let operand = Box::new(operand);
        Ok(make(
            at,
            match operator {
                Unary::Not => Kind::Not(operand),
                Unary::Minus => Kind::Minus(operand),
                Unary::Plus => Kind::Plus(operand),
                Unary::Complement => Kind::Complement(operand),
                Unary::Empty => Kind::Jexl(Jexl::Empty(operand)),
                Unary::Size => Kind::Jexl(Jexl::Size(operand)),
            },
        ))
    }

    fn parenthesised(&mut self) -> Result<Expr, ScriptError> {
        self.expect("(")?;
        let inner = self.expression()?;
        self.expect(")")?;
        Ok(inner)
    }
}
