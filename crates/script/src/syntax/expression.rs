//! Expressions: assignment, conditions, operators by precedence.

use super::Dialect;
use super::ast::{Binary, Expr, Kind, Type, Unary};
use super::parser::{DEPTH_MAX, Parser};
use super::token::TokenKind;
use super::{names, unsupported};
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
    /// An end of a range in Groovy; elsewhere any expression.
    pub(super) fn range_end(&mut self) -> Result<Expr, ScriptError> {
        if self.dialect != Dialect::Groovy {
            return self.expression();
        }
        self.in_range = true;
        let end = self.binary(SUM);
        self.in_range = false;
        end
    }

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
            "&=" | "|=" | "^=" | "<<=" | ">>=" | "**=" => {
                return Err(self.unsupported_here(format!("`{sign}`")));
            }
            _ => return Ok(left),
        };
        let left_at = left.at as usize;
        let local = match left.kind {
            Kind::Local(local) => local,
            Kind::HostCall(..)
            | Kind::Index(..)
            | Kind::Length(..)
            | Kind::Call(..)
            | Kind::Literal(Value::Null) => {
                return Err(self.unsupported_here("assigning to anything but a variable"));
            }
            _ => return Err(self.unexpected("the end of the expression")),
        };
        self.advance();
        if operator.is_none() {
            self.forget_read(local, left_at);
        }
        let value = self.expression()?;
        self.check_assigned(self.type_of_local(local), &value)?;
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
    fn operator(&self) -> Result<Option<(u8, Operator)>, ScriptError> {
        use Operator::Binary as B;
        let jexl = self.dialect.is_jexl();
        let found = match self.peek() {
            TokenKind::Sign(sign) => match *sign {
                "||" => (OR, Operator::Or),
                "&&" => (AND, Operator::And),
                "|" => (BIT_OR, B(Binary::BitOr)),
                "^" => (BIT_XOR, B(Binary::BitXor)),
                "&" => (BIT_AND, B(Binary::BitAnd)),
                "==" => (EQUALITY, B(Binary::Equal)),
                "!=" => (EQUALITY, B(Binary::NotEqual)),
                ".." if self.dialect == Dialect::Jexl3 => (EQUALITY, B(Binary::Range)),
                "==~" => (EQUALITY, B(Binary::Matches)),
                "<" => (RELATION, B(Binary::Less)),
                "<=" => (RELATION, B(Binary::LessOrEqual)),
                ">" => (RELATION, B(Binary::Greater)),
                ">=" => (RELATION, B(Binary::GreaterOrEqual)),
                "=~" if jexl => (RELATION, B(Binary::Matches)),
                "!~" if jexl => (RELATION, B(Binary::NotMatches)),
                "=^" => (RELATION, B(Binary::StartsWith)),
                "!^" => (RELATION, B(Binary::NotStartsWith)),
                "=$" => (RELATION, B(Binary::EndsWith)),
                "!$" => (RELATION, B(Binary::NotEndsWith)),
                "+" => (SUM, B(Binary::Add)),
                "-" => (SUM, B(Binary::Subtract)),
                "*" => (PRODUCT, B(Binary::Multiply)),
                "/" => (PRODUCT, B(Binary::Divide)),
                "%" => (PRODUCT, B(Binary::Remainder)),
                ".." if self.dialect == Dialect::Groovy && self.in_range => return Ok(None),
                "<<" | ">>" | ">>>" | "**" | "<=>" | "===" | "!==" | "=~" | "!~" | ".." => {
                    return Err(self.unsupported_here(format!("`{sign}`")));
                }
                _ => return Ok(None),
            },
            TokenKind::Name(word) if jexl => match &**word {
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
                _ => return Ok(None),
            },
            TokenKind::Name(word)
                if self.dialect == Dialect::Groovy && matches!(&**word, "in" | "instanceof") =>
            {
                return Err(self.unsupported_here(format!("`{word}`")));
            }
            _ => return Ok(None),
        };
        // In Groovy, a line that begins with + or - is a statement of its own.
        if self.dialect == Dialect::Groovy && found.0 >= SUM && self.tokens[self.at].after_newline {
            return Ok(None);
        }
        Ok(Some(found))
    }

    fn binary(&mut self, weakest: u8) -> Result<Expr, ScriptError> {
        let mut left = self.unary()?;
        let mut chain = 0_u32;
        // JEXL does not chain comparisons: `a == b == c` is an error there.
        let mut strongest = u8::MAX;
        loop {
            if self.dialect == Dialect::Groovy && self.is_word("as") && RELATION >= weakest {
                left = self.conversion(left)?;
                continue;
            }
            let Some((precedence, operator)) = self.operator()? else {
                break;
            };
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
                    self.folded(binary, &a, &b).unwrap_or(Kind::Binary(binary, a, b))
                }
            };
            left = make(at, kind);
            if self.dialect.is_jexl() && matches!(precedence, EQUALITY | RELATION) {
                strongest = precedence - 1;
            }
        }
        Ok(left)
    }

    /// `x as int`
    fn conversion(&mut self, operand: Expr) -> Result<Expr, ScriptError> {
        let at = self.place();
        self.advance();
        let target = match self.peek() {
            TokenKind::Name(name) => names::type_of(name)
                .filter(|target| matches!(target, Type::Int | Type::Long | Type::Double | Type::Text)),
            _ => None,
        };
        let Some(target) = target else {
            return Err(self.unsupported_here("this conversion"));
        };
        self.advance();
        Ok(make(at, Kind::As(target, Box::new(operand))))
    }

    /// BeanShell compares texts by identity, which is content only for two literals.
    fn folded(&self, binary: Binary, left: &Expr, right: &Expr) -> Option<Kind> {
        match (&left.kind, &right.kind) {
            (Kind::Literal(Value::Text(a)), Kind::Literal(Value::Text(b)))
                if self.dialect == Dialect::BeanShell
                    && matches!(binary, Binary::Equal | Binary::NotEqual) =>
            {
                Some(Kind::Literal(Value::Boolean((a == b) == (binary == Binary::Equal))))
            }
            _ => None,
        }
    }

    /// What is already known to be refused.
    fn check_binary(
        &mut self,
        binary: Binary,
        left: &Expr,
        right: &Expr,
        at: usize,
    ) -> Result<(), ScriptError> {
        let is_text = |expr: &Expr| matches!(&expr.kind, Kind::Literal(Value::Text(_)));
        let is_literal = |expr: &Expr| matches!(&expr.kind, Kind::Literal(_));
        if self.dialect == Dialect::BeanShell && matches!(binary, Binary::Equal | Binary::NotEqual) {
            if (is_text(left) && !is_literal(right)) || (is_text(right) && !is_literal(left)) {
                return Err(unsupported(
                    self.text,
                    at,
                    "comparing texts by identity (`==` instead of `equals`)",
                ));
            }
            if self.is_void(left) || self.is_void(right) {
                return Err(unsupported(self.text, at, "comparing a name without a value"));
            }
            if !is_literal(left) && !is_literal(right) {
                self.identity_seen.get_or_insert(at);
            }
        }
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
        crate::evaluate::check_pattern(pattern).map_err(|message| unsupported(self.text, at, message))
    }

    fn is_void(&self, expr: &Expr) -> bool {
        matches!(expr.kind, Kind::Local(local) if !self.is_assigned(local))
    }

    /// Whether Groovy's compiler knows the expression for a primitive int or long.
    fn is_primitive_whole(&self, expr: &Expr) -> bool {
        match &expr.kind {
            Kind::Literal(Value::Integer(_) | Value::Long(_)) => true,
            Kind::Local(local) => matches!(self.type_of_local(*local), Type::Int | Type::Long),
            Kind::Unary(Unary::Minus | Unary::Plus, operand) => self.is_primitive_whole(operand),
            Kind::Binary(
                Binary::Add | Binary::Subtract | Binary::Multiply | Binary::Divide | Binary::Remainder,
                left,
                right,
            ) => self.is_primitive_whole(left) && self.is_primitive_whole(right),
            _ => false,
        }
    }

    /// Groovy divides ints as Java does where the quotient goes right into a `double`; elsewhere it makes a decimal.
    pub(super) fn check_assigned(&self, target: Type, value: &Expr) -> Result<(), ScriptError> {
        let quotient = matches!(value.kind, Kind::Binary(Binary::Divide, ..));
        if self.dialect == Dialect::Groovy
            && target == Type::Double
            && quotient
            && self.is_primitive_whole(value)
        {
            return Err(unsupported(
                self.text,
                value.at as usize,
                "a quotient of ints that becomes a double",
            ));
        }
        Ok(())
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
            TokenKind::Name(word) if self.dialect.is_jexl() => match &**word {
                "not" => Some(Unary::Not),
                "empty" => Some(Unary::Empty),
                "size" => Some(Unary::Size),
                _ => None,
            },
            _ => None,
        };
        if let Some(operator) = operator {
            if self.dialect == Dialect::Groovy && operator == Unary::BitNot {
                return Err(self.unsupported_here("`~`"));
            }
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
        if self.is_sign("++") || self.is_sign("--") {
            let step = if self.is_sign("++") { 1 } else { -1 };
            self.advance();
            let operand = self.unary()?;
            let Kind::Local(local) = operand.kind else {
                return Err(unsupported(self.text, at, "a step of anything but a variable"));
            };
            self.assign_to(local)?;
            return Ok(make(at, Kind::Step(local, step, true)));
        }
        if let Some(target) = self.cast_ahead()? {
            for _ in 0..3 {
                self.advance();
            }
            let operand = self.unary()?;
            return Ok(make(at, Kind::Cast(target, Box::new(operand))));
        }
        self.postfix()
    }

    fn parenthesised(&mut self) -> Result<Expr, ScriptError> {
        self.expect("(")?;
        let inner = self.expression()?;
        self.expect(")")?;
        Ok(inner)
    }

    /// `(int) x`, but not `(x)`.
    fn cast_ahead(&self) -> Result<Option<Type>, ScriptError> {
        if self.dialect.is_jexl() || !self.is_sign("(") || !self.sign_at(2, ")") {
            return Ok(None);
        }
        let TokenKind::Name(name) = self.peek_at(1) else {
            return Ok(None);
        };
        if names::is_other_primitive(name) {
            return Err(self.unsupported_here("this cast"));
        }
        let Some(target) = names::type_of(name) else {
            return Ok(None);
        };
        if matches!(&**name, "def" | "var" | "Object" | "Random") {
            return Err(self.unsupported_here("this cast"));
        }
        Ok(Some(target))
    }
}
