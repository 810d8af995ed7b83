//! Expressions: assignment, conditions, operators by precedence.

use super::Dialect;
use super::ast::{Binary, Expr, Kind, Unary};
use super::parser::{DEPTH_MAX, Parser};
use super::token::TokenKind;
use super::unsupported;
use crate::{ScriptError, Value};

/// What an operator between two operands makes.
enum Operator {
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
        let left = self.conditional()?;
        let at = self.place();
        let TokenKind::Sign(sign) = self.peek() else {
            return Ok(left);
        };
        let operator = match *sign {
            "=" => None,
            "+=" => Some(Binary::Add),
            "-=" => Some(Binary::Subtract),
            "*=" => Some(Binary::Multiply),
            "/=" => Some(Binary::Divide),
            "%=" => Some(Binary::Remainder),
            "&=" | "|=" | "^=" => {
                return Err(self.unsupported_here(format!("`{sign}`")));
            }
            _ => return Ok(left),
        };
        let local = match left.kind {
            Kind::Local(local) => local,
            Kind::HostCall(..) | Kind::Index(..) | Kind::Call(..) | Kind::Literal(Value::Null) => {
                return Err(self.unsupported_here("assigning to anything but a variable"));
            }
            _ => return Err(self.unexpected("the end of the expression")),
        };
        self.advance();
        let value = self.expression()?;
        self.assign_to(local)?;
        Ok(make(at, Kind::Assign(local, operator, Box::new(value))))
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
        if self.accept("??") {
            let otherwise = self.expression()?;
            return Ok(make(at, Kind::Coalesce(Box::new(condition), Box::new(otherwise))));
        }
        Ok(condition)
    }

    /// The operator that is next, with its precedence.
    fn operator(&self) -> Option<(u8, Operator)> {
        use Operator::Binary as B;
        let found = match self.peek() {
            TokenKind::Sign(sign) => match *sign {
                "||" => (OR, Operator::Or),
                "&&" => (AND, Operator::And),
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
                "or" => (OR, Operator::Or),
                "and" => (AND, Operator::And),
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
                return Err(
                    self.unsupported_here(format!("an expression of more than {DEPTH_MAX} steps of depth"))
                );
            }
            let at = self.place();
            self.advance();
            let right = self.binary(precedence + 1)?;
            let (a, b) = (Box::new(left), Box::new(right));
            let kind = match operator {
                Operator::And => Kind::And(a, b),
                Operator::Or => Kind::Or(a, b),
                Operator::Binary(binary) => {
                    self.check_binary(binary, &a, &b, at)?;
                    Kind::Binary(binary, a, b)
                }
            };
            left = make(at, kind);
            if matches!(precedence, EQUALITY | RELATION) {
                strongest = precedence - 1;
            }
        }
        Ok(left)
    }

    /// What is already known to be refused.
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

    /// A call with a pattern: what may not mean the same is refused before it runs.
    pub(super) fn check_text_call(
        &self,
        method: &str,
        pattern: &str,
        replacement: Option<&Expr>,
        at: usize,
    ) -> Result<(), ScriptError> {
        self.check_pattern(pattern, at)?;
        if method == "split" && crate::evaluate::matches_empty(pattern) {
            return Err(unsupported(self.text, at, "splitting at nothing"));
        }
        match replacement.map(|expr| &expr.kind) {
            Some(Kind::Literal(Value::Text(text))) if text.contains(['$', '\\']) => {
                Err(unsupported(self.text, at, "`$` or a backslash in a replacement"))
            }
            _ => Ok(()),
        }
    }

    fn check_pattern(&self, pattern: &str, at: usize) -> Result<(), ScriptError> {
        crate::evaluate::check_pattern(pattern).map_err(|error| unsupported(self.text, at, error.to_string()))
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
            TokenKind::Sign("!") => Some(Unary::Not),
            TokenKind::Sign("-") => Some(Unary::Minus),
            TokenKind::Sign("+") if self.dialect != Dialect::Jexl2 => Some(Unary::Plus),
            TokenKind::Sign("~") => Some(Unary::BitNot),
            TokenKind::Name(word) => match &**word {
                "not" => Some(Unary::Not),
                "empty" => Some(Unary::Empty),
                "size" => Some(Unary::Size),
                _ => None,
            },
            _ => None,
        };
        if let Some(operator) = operator {
            self.advance();
            let function = matches!(operator, Unary::Empty | Unary::Size);
            if self.dialect == Dialect::Jexl2 && function && !self.is_sign("(") {
                return Err(self.unsupported_here("`empty` or `size` without parentheses"));
            }
            let operand = if self.dialect == Dialect::Jexl2 && function {
                self.parenthesised()?
            } else {
                self.unary()?
            };
            return Ok(make(at, Kind::Unary(operator, Box::new(operand))));
        }
        self.postfix()
    }

    fn parenthesised(&mut self) -> Result<Expr, ScriptError> {
        self.expect("(")?;
        let inner = self.expression()?;
        self.expect(")")?;
        Ok(inner)
    }
}
