//! XPath 1.0 evaluation engine.
//!
//! Implements a subset of XPath 1.0 sufficient for XML-DSig `<Transform>`
//! elements, including:
//!
//! - Abbreviated and unabbreviated axis steps
//! - Predicates with numeric and boolean expressions
//! - Core XPath functions: `text()`, `comment()`, `processing-instruction()`,
//!   `node()`, `last()`, `position()`, `count()`, `local-name()`, `namespace-uri()`,
//!   `name()`, `string()`, `concat()`, `starts-with()`, `contains()`,
//!   `string-length()`, `normalize-space()`, `not()`, `true()`, `false()`,
//!   `number()`, `sum()`, `boolean()`
//! - Axes: `child`, `descendant`, `parent`, `ancestor`, `self`,
//!   `descendant-or-self`, `ancestor-or-self`, `following-sibling`,
//!   `preceding-sibling`, `following`, `preceding`, `attribute`, `namespace`
//! - Operators: `=`, `!=`, `<`, `>`, `<=`, `>=`, `and`, `or`, `+`, `-`, `*`,
//!   `div`, `mod`, `|`

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use crate::budget; // BUDGET
use crate::dom::{Document, NodeId, NodeKind};
use crate::error::{XmlError, XmlResult};

/// The result of evaluating an XPath expression.
#[derive(Debug, Clone)]
pub enum XPathValue {
    /// An ordered set of nodes (document order, no duplicates).
    NodeSet(Vec<NodeId>),
    /// A boolean value.
    Boolean(bool),
    /// A floating-point number.
    Number(f64),
    /// A string value.
    String(String),
}

impl XPathValue {
    /// Coerce to boolean per XPath 1.0 rules.
    pub(crate) fn to_boolean(&self) -> bool {
        match self {
            XPathValue::Boolean(b) => *b,
            XPathValue::Number(n) => *n != 0.0 && !n.is_nan(),
            XPathValue::String(s) => !s.is_empty(),
            XPathValue::NodeSet(nodes) => !nodes.is_empty(),
        }
    }

    /// Coerce to number per XPath 1.0 rules.
    pub(crate) fn to_number(&self, doc: &Document<'_>) -> f64 {
        match self {
            XPathValue::Number(n) => *n,
            XPathValue::Boolean(b) => {
                if *b {
                    1.0
                } else {
                    0.0
                }
            }
            XPathValue::String(s) => string_to_number(s), // XPATH
            XPathValue::NodeSet(_) => {
                let s = self.to_string_value(doc);
                string_to_number(&s) // XPATH
            }
        }
    }

    /// Coerce to string per XPath 1.0 rules.
    pub fn to_string_value(&self, doc: &Document<'_>) -> String {
        match self {
            XPathValue::String(s) => s.clone(),
            XPathValue::Boolean(b) => {
                if *b {
                    "true".to_string()
                } else {
                    "false".to_string()
                }
            }
            XPathValue::Number(n) => {
                if n.is_nan() {
                    "NaN".to_string()
                } else if n.is_infinite() {
                    if *n > 0.0 {
                        "Infinity".to_string()
                    } else {
                        "-Infinity".to_string()
                    }
                } else if *n == 0.0 {
                    "0".to_string()
                } else if n.fract() == 0.0 && n.abs() < 1e15 {
                    format!("{}", *n as i64)
                } else {
                    format!("{}", n)
                }
            }
            XPathValue::NodeSet(nodes) => {
                if let Some(&first) = nodes.first() {
                    string_value_of_node(doc, first)
                } else {
                    String::new()
                }
            }
        }
    }
}

/// XPATH: The number that a string stands for (XPath 1.0 §4.4): digits with a point, and no exponent, `+` or `inf`.
fn string_to_number(text: &str) -> f64 {
    let text = text.trim_matches(is_xml_space);
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_number = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        && digits.bytes().any(|b| b.is_ascii_digit());
    // Two points are refused by the parser.
    if is_number {
        text.parse().unwrap_or(f64::NAN)
    } else {
        f64::NAN
    }
}

/// XPATH: White space of XML.
fn is_xml_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

/// XPATH: Whether a node is a text or CDATA section.
fn is_text(doc: &Document<'_>, id: NodeId) -> bool {
    matches!(
        doc.node_kind(id),
        Some(NodeKind::Text(_) | NodeKind::CData(_))
    )
}

/// XPATH: Whether a text follows another text, so that both are one text node of XPath.
fn continues_text(doc: &Document<'_>, id: NodeId) -> bool {
    doc.previous_sibling(id)
        .is_some_and(|before| is_text(doc, before))
}

/// XPATH: The characters of a text with those of the texts that follow it directly.
fn text_run(doc: &Document<'_>, id: NodeId) -> String {
    let mut run = String::new();
    let mut current = Some(id);
    while let Some(Some(NodeKind::Text(t) | NodeKind::CData(t))) =
        current.map(|node| doc.node_kind(node))
    {
        if !budget::spend(1 + t.len() / 64) {
            break;
        }
        run.push_str(t);
        current = current.and_then(|node| doc.next_sibling(node));
    }
    run
}

/// BUDGET: The text below a node, in steps for each node.
fn text_below(doc: &Document<'_>, id: NodeId) -> String {
    let mut text = String::new();
    // An error ends the walk only; whoever spent the last step finds the budget used up.
    let _ = walk_descendants(doc, id, false, |node| {
        let more = match doc.node_kind(node) {
            Some(NodeKind::Text(t) | NodeKind::CData(t)) => &**t,
            _ => "",
        };
        if !budget::spend(1 + more.len() / 64) {
            return Err(XmlError::xpath("the evaluation takes too many steps"));
        }
        text.push_str(more);
        Ok(())
    });
    text
}

/// Get the string-value of a node per XPath 1.0 rules.
pub(crate) fn string_value_of_node(doc: &Document<'_>, id: NodeId) -> String {
    match doc.node_kind(id) {
        Some(NodeKind::Document) | Some(NodeKind::Element(_)) => text_below(doc, id), // BUDGET
        Some(NodeKind::Text(_) | NodeKind::CData(_)) => text_run(doc, id),             // XPATH
        Some(NodeKind::Comment(c)) => c.to_string(),
        Some(NodeKind::ProcessingInstruction(pi)) => {
            pi.data.as_ref().map(|d| d.to_string()).unwrap_or_default()
        }
        Some(NodeKind::Attribute(_, v)) => {
            budget::spend(v.len() / 64); // BUDGET
            v.to_string()
        }
        None => String::new(),
    }
}

/// Resolves XPath variable references (`$name`) to values.
///
/// Plain XPath has no variables, so [`XPathEvaluator`] uses a no-op resolver
/// that leaves every reference undefined. A host language layered on top of the
/// engine — notably the XSLT transformer (`crate::xslt`) — supplies a real
/// implementation backed by its variable scope stack.
pub trait VariableResolver {
    /// Resolve `$prefix:local` (or `$local` when `prefix` is `None`) to a value,
    /// or `None` if no such variable is in scope.
    fn resolve_variable(&self, prefix: Option<&str>, local: &str) -> Option<XPathValue>;
}

/// Resolves XPath function calls the core engine does not implement itself.
///
/// The built-in XPath 1.0 functions are dispatched directly; any other call
/// (e.g. an EXSLT extension such as `date:date-time()`) falls through to this
/// hook before erroring. Arguments are evaluated to values before the call.
pub trait FunctionResolver {
    /// Resolve `prefix:local(args)` to a value. Return `None` to fall through to
    /// the standard "unknown function" error.
    fn resolve_function(
        &self,
        prefix: Option<&str>,
        local: &str,
        args: &[XPathValue],
    ) -> Option<XmlResult<XPathValue>>;
}

/// A [`VariableResolver`] that defines no variables (the plain-XPath default).
struct NoVariables;
impl VariableResolver for NoVariables {
    fn resolve_variable(&self, _prefix: Option<&str>, _local: &str) -> Option<XPathValue> {
        None
    }
}

/// A [`FunctionResolver`] that resolves no extension functions (the plain-XPath
/// default).
struct NoFunctions;
impl FunctionResolver for NoFunctions {
    fn resolve_function(
        &self,
        _prefix: Option<&str>,
        _local: &str,
        _args: &[XPathValue],
    ) -> Option<XmlResult<XPathValue>> {
        None
    }
}

/// Split a (possibly prefixed) QName into `(Some(prefix), local)` or
/// `(None, local)`. Only the first colon is significant.
fn split_qname(name: &str) -> (Option<&str>, &str) {
    match name.split_once(':') {
        Some((p, l)) => (Some(p), l),
        None => (None, name),
    }
}

// ─── Compiled-expression API (for the XSLT layer) ─────────

// XPATH: public, as `compile` and `evaluate` are.
/// A parsed XPath expression, compiled once and evaluable many times against
/// different contexts.
///
/// The public [`XPathEvaluator::evaluate`] re-tokenizes and re-parses on every
/// call. The XSLT transformer (`crate::xslt`) evaluates the same `select` /
/// `test` / pattern / AVT expression once per node, so it compiles via this type
/// and drives evaluation through [`eval_compiled`] with a per-node context
/// (current node, position/size, namespaces, variable + function resolvers).
pub struct CompiledXPath {
    ast: Expr,
    prefixes: Vec<String>, // XPATH
}

impl CompiledXPath {
    /// Tokenize and parse `expr` with the given nesting cap. Errors on a parse
    /// failure or trailing tokens.
    pub fn compile(expr: &str, max_depth: u32) -> XmlResult<Self> {
        let tokens = tokenize(expr)?;
        let prefixes = prefixes_of(&tokens); // XPATH
        let mut parser = XPathParser::new(&tokens, max_depth);
        let ast = parser.parse_expr()?;
        parser.expect_end()?; // XPATH
        Ok(CompiledXPath { ast, prefixes })
    }

    /// XPATH: Evaluate against `context`, with prefixes bound as in `namespaces` and without variables.
    pub fn evaluate(
        &self,
        doc: &Document<'_>,
        context: NodeId,
        namespaces: &HashMap<String, String>,
    ) -> XmlResult<XPathValue> {
        eval_compiled(
            self,
            doc,
            context,
            context,
            1,
            1,
            namespaces,
            &NoVariables,
            &NoFunctions,
            usize::MAX,
        )
    }

    /// XPATH: The prefixes of the expression's names, each once.
    pub fn prefixes(&self) -> &[String] {
        &self.prefixes
    }
}

/// Evaluate a [`CompiledXPath`] against a fully-specified context. The entry
/// point all XSLT expression evaluation flows through.
#[allow(clippy::too_many_arguments)]
pub(crate) fn eval_compiled(
    compiled: &CompiledXPath,
    doc: &Document<'_>,
    context: NodeId,
    current: NodeId,
    position: usize,
    size: usize,
    namespaces: &HashMap<String, String>,
    vars: &dyn VariableResolver,
    funcs: &dyn FunctionResolver,
    max_node_visits: usize,
) -> XmlResult<XPathValue> {
    let budget = EvalBudget::new(max_node_visits);
    let ctx = EvalContext {
        node: context,
        current,
        position,
        size,
        doc,
        namespaces,
        vars,
        funcs,
        budget: &budget,
    };
    evaluate_expr(&compiled.ast, &ctx)
}

/// Whether a pattern-step predicate can be evaluated independently per node
/// (singleton context), i.e. it is a position-independent boolean. Conservative:
/// returns `true` only for expressions whose result is *definitely* boolean
/// (comparisons, `and`/`or`, and boolean-returning core functions) and that
/// contain no `position()`/`last()` call. Numeric predicates (`[2]`) and anything
/// uncertain fall back to the full-context selection path.
fn predicate_is_per_node(expr: &Expr) -> bool {
    let boolean_typed = match expr {
        Expr::Eq(..)
        | Expr::NotEq(..)
        | Expr::Lt(..)
        | Expr::Gt(..)
        | Expr::LtEq(..)
        | Expr::GtEq(..)
        | Expr::And(..)
        | Expr::Or(..) => true,
        Expr::FunctionCall(name, _) => matches!(
            name.as_str(),
            "not" | "true" | "false" | "boolean" | "contains" | "starts-with" | "lang"
        ),
        _ => false,
    };
    boolean_typed && !expr_uses_position_or_last(expr)
}

/// Recursively test whether an expression references `position()` or `last()`
/// anywhere (including nested paths/predicates). Used conservatively: a match
/// here forces the full-context predicate path.
fn expr_uses_position_or_last(expr: &Expr) -> bool {
    match expr {
        Expr::FunctionCall(name, args) => {
            name == "position" || name == "last" || args.iter().any(expr_uses_position_or_last)
        }
        Expr::Path(steps) | Expr::AbsolutePath(steps) => steps
            .iter()
            .any(|s| s.predicates.iter().any(expr_uses_position_or_last)),
        // XPATH
        Expr::Filter(value, predicates, steps) => {
            expr_uses_position_or_last(value)
                || predicates.iter().any(expr_uses_position_or_last)
                || steps
                    .iter()
                    .any(|s| s.predicates.iter().any(expr_uses_position_or_last))
        }
        Expr::Union(a, b)
        | Expr::Or(a, b)
        | Expr::And(a, b)
        | Expr::Eq(a, b)
        | Expr::NotEq(a, b)
        | Expr::Lt(a, b)
        | Expr::Gt(a, b)
        | Expr::LtEq(a, b)
        | Expr::GtEq(a, b)
        | Expr::Add(a, b)
        | Expr::Sub(a, b)
        | Expr::Mul(a, b)
        | Expr::Div(a, b)
        | Expr::Mod(a, b) => expr_uses_position_or_last(a) || expr_uses_position_or_last(b),
        Expr::Negate(a) => expr_uses_position_or_last(a),
        Expr::StringLiteral(_) | Expr::NumberLiteral(_) | Expr::Variable(..) => false,
    }
}

// ─── XPath Tokenizer ──────────────────────────────────

#[derive(Debug, Clone, PartialEq)]
enum Token {
    // Axes
    Axis(String),
    // Node types
    NodeType(String),
    // Names
    Name(String),
    PrefixedName(String, String), // (prefix, local)
    // Literals
    StringLiteral(String),
    Number(f64),
    // Variable reference: ($prefix, local). `None` prefix for unprefixed names.
    Variable(Option<String>, String),
    // Operators
    Slash,
    DoubleSlash,
    Dot,
    DoubleDot,
    At,
    Star,
    Multiply, // XPATH
    Pipe,
    Plus,
    Minus,
    Eq,
    NotEq,
    Lt,
    Gt,
    LtEq,
    GtEq,
    And,
    Or,
    Div,
    Mod,
    // Delimiters
    LParen,
    RParen,
    LBracket,
    RBracket,
    Comma,
    // Functions
    FunctionName(String),
}

// XPATH: each token with its text, for error messages.
type Tokens = Vec<(Token, String)>;

/// XPATH: Whether a token ends an operand, so that a name or `*` behind it is an operator (XPath 1.0 §3.7).
fn ends_operand(token: &Token) -> bool {
    matches!(
        token,
        Token::Name(_)
            | Token::PrefixedName(..)
            | Token::StringLiteral(_)
            | Token::Number(_)
            | Token::Variable(..)
            | Token::Dot
            | Token::DoubleDot
            | Token::Star
            | Token::RParen
            | Token::RBracket
    )
}

/// XPATH: The error for a token that cannot be where it is.
fn unexpected(token: &str, is_after_operand: bool) -> XmlError {
    if is_after_operand {
        XmlError::xpath(format!("Extra illegal tokens: '{token}'"))
    } else {
        XmlError::xpath(format!(
            "A location path was expected, but the following token was encountered:  {token}"
        ))
    }
}

/// XPATH: The prefixes of names, functions and variables, each once.
fn prefixes_of(tokens: &Tokens) -> Vec<String> {
    let mut prefixes: Vec<String> = Vec::new();
    for (token, _) in tokens {
        let prefix = match token {
            Token::PrefixedName(prefix, _) | Token::Variable(Some(prefix), _) => prefix,
            Token::FunctionName(name) => match name.split_once(':') {
                Some((prefix, _)) => prefix,
                None => continue,
            },
            _ => continue,
        };
        if !prefixes.iter().any(|known| known == prefix) {
            prefixes.push(prefix.to_owned());
        }
    }
    prefixes
}

/// XPATH: Tokens that an expression may have.
pub(crate) const MAX_TOKENS: usize = 1_000;

// XPATH: `tokenize_next` takes one token; operators are recognized by the token before them.
fn tokenize(expr: &str) -> XmlResult<Tokens> {
    let chars: Vec<char> = expr.chars().collect();
    let mut with_text = Tokens::new();
    let mut i = 0;
    loop {
        while i < chars.len() && is_xml_space(chars[i]) {
            i += 1;
        }
        if i >= chars.len() {
            return Ok(with_text);
        }
        if with_text.len() >= MAX_TOKENS {
            return Err(XmlError::xpath(format!(
                "the expression has more than {MAX_TOKENS} signs and words"
            )));
        }
        let start = i;
        let is_after_operand = with_text.last().is_some_and(|(token, _)| ends_operand(token));
        let mut tokens = Vec::new();
        tokenize_next(&chars, &mut i, is_after_operand, &mut tokens)?;
        let text: String = chars[start..i].iter().collect();
        with_text.extend(tokens.into_iter().map(|token| (token, text.clone())));
    }
}

fn tokenize_next(
    chars: &[char],
    at: &mut usize,
    is_after_operand: bool,
    tokens: &mut Vec<Token>,
) -> XmlResult<()> {
    let mut i = *at;
    {

        match chars[i] {
            '/' => {
                if i + 1 < chars.len() && chars[i + 1] == '/' {
                    tokens.push(Token::DoubleSlash);
                    i += 2;
                } else {
                    tokens.push(Token::Slash);
                    i += 1;
                }
            }
            '.' => {
                if i + 1 < chars.len() && chars[i + 1] == '.' {
                    tokens.push(Token::DoubleDot);
                    i += 2;
                } else if i + 1 < chars.len() && chars[i + 1].is_ascii_digit() {
                    // Number starting with .
                    let start = i;
                    i += 1;
                    while i < chars.len() && chars[i].is_ascii_digit() {
                        i += 1;
                    }
                    let s: String = chars[start..i].iter().collect();
                    tokens.push(Token::Number(s.parse().unwrap()));
                } else {
                    tokens.push(Token::Dot);
                    i += 1;
                }
            }
            '@' => {
                tokens.push(Token::At);
                i += 1;
            }
            '$' => {
                // Variable reference: `$name` or `$prefix:local`.
                i += 1;
                if i >= chars.len() || !is_xpath_name_start(chars[i]) {
                    return Err(XmlError::xpath("Expected variable name after '$'"));
                }
                let start = i;
                while i < chars.len() && is_xpath_name_char(chars[i]) {
                    i += 1;
                }
                let first: String = chars[start..i].iter().collect();
                // Optional `:local` (a single colon, not the `::` axis separator).
                if i + 1 < chars.len()
                    && chars[i] == ':'
                    && chars[i + 1] != ':'
                    && is_xpath_name_start(chars[i + 1])
                {
                    i += 1; // consume ':'
                    let local_start = i;
                    while i < chars.len() && is_xpath_name_char(chars[i]) {
                        i += 1;
                    }
                    let local: String = chars[local_start..i].iter().collect();
                    tokens.push(Token::Variable(Some(first), local));
                } else {
                    tokens.push(Token::Variable(None, first));
                }
            }
            '*' => {
                // XPATH
                tokens.push(if is_after_operand {
                    Token::Multiply
                } else {
                    Token::Star
                });
                i += 1;
            }
            '|' => {
                tokens.push(Token::Pipe);
                i += 1;
            }
            '+' => {
                tokens.push(Token::Plus);
                i += 1;
            }
            '-' => {
                tokens.push(Token::Minus);
                i += 1;
            }
            '=' => {
                tokens.push(Token::Eq);
                i += 1;
            }
            '!' => {
                if i + 1 < chars.len() && chars[i + 1] == '=' {
                    tokens.push(Token::NotEq);
                    i += 2;
                } else {
                    return Err(unexpected("!", is_after_operand)); // XPATH
                }
            }
            '<' => {
                if i + 1 < chars.len() && chars[i + 1] == '=' {
                    tokens.push(Token::LtEq);
                    i += 2;
                } else {
                    tokens.push(Token::Lt);
                    i += 1;
                }
            }
            '>' => {
                if i + 1 < chars.len() && chars[i + 1] == '=' {
                    tokens.push(Token::GtEq);
                    i += 2;
                } else {
                    tokens.push(Token::Gt);
                    i += 1;
                }
            }
            '(' => {
                tokens.push(Token::LParen);
                i += 1;
            }
            ')' => {
                tokens.push(Token::RParen);
                i += 1;
            }
            '[' => {
                tokens.push(Token::LBracket);
                i += 1;
            }
            ']' => {
                tokens.push(Token::RBracket);
                i += 1;
            }
            ',' => {
                tokens.push(Token::Comma);
                i += 1;
            }
            '"' | '\'' => {
                let quote = chars[i];
                i += 1;
                let start = i;
                while i < chars.len() && chars[i] != quote {
                    i += 1;
                }
                if i >= chars.len() {
                    // XPATH
                    let kind = if quote == '"' { "double" } else { "single" };
                    return Err(XmlError::xpath(format!(
                        "misquoted literal... expected {kind} quote!"
                    )));
                }
                let s: String = chars[start..i].iter().collect();
                tokens.push(Token::StringLiteral(s));
                i += 1;
            }
            c if c.is_ascii_digit() => {
                let start = i;
                while i < chars.len() && (chars[i].is_ascii_digit() || chars[i] == '.') {
                    i += 1;
                }
                let s: String = chars[start..i].iter().collect();
                tokens
                    .push(Token::Number(s.parse().map_err(|_| {
                        XmlError::xpath(format!("Invalid number: {}", s))
                    })?));
            }
            c if is_xpath_name_start(c) => {
                let start = i;
                while i < chars.len() && is_xpath_name_char(chars[i]) {
                    i += 1;
                }
                let name: String = chars[start..i].iter().collect();

                // XPATH
                if is_after_operand {
                    tokens.push(match name.as_str() {
                        "and" => Token::And,
                        "or" => Token::Or,
                        "div" => Token::Div,
                        "mod" => Token::Mod,
                        _ => return Err(unexpected(&name, true)),
                    });
                    *at = i;
                    return Ok(());
                }

                // Check for axis or operator keywords
                // Skip whitespace after name
                let mut j = i;
                while j < chars.len() && chars[j].is_whitespace() {
                    j += 1;
                }

                if j < chars.len() && chars[j] == ':' && j + 1 < chars.len() && chars[j + 1] == ':'
                {
                    // Axis specifier
                    tokens.push(Token::Axis(name));
                    i = j + 2;
                } else if j < chars.len() && chars[j] == '(' {
                    // Node type test or function
                    match name.as_str() {
                        "node" | "text" | "comment" | "processing-instruction" => {
                            tokens.push(Token::NodeType(name));
                        }
                        _ => {
                            tokens.push(Token::FunctionName(name));
                        }
                    }
                } else if i + 1 < chars.len()
                    && chars[i] == ':'
                    && (chars[i + 1] == '*' || is_xpath_name_start(chars[i + 1]))
                {
                    // XPATH: no white space inside of a name.
                    // Prefixed name (ns:local)
                    let prefix = name;
                    i += 1;
                    if i < chars.len() && chars[i] == '*' {
                        tokens.push(Token::PrefixedName(prefix, "*".to_string()));
                        i += 1;
                    } else {
                        let local_start = i;
                        while i < chars.len() && is_xpath_name_char(chars[i]) {
                            i += 1;
                        }
                        let local: String = chars[local_start..i].iter().collect();
                        // A prefixed name immediately followed by `(` is a
                        // function call (e.g. an extension function like
                        // `date:date-time()`), not a node test. Carry the full
                        // qualified name so the resolver can split it.
                        let mut k = i;
                        while k < chars.len() && chars[k].is_whitespace() {
                            k += 1;
                        }
                        if k < chars.len() && chars[k] == '(' {
                            tokens.push(Token::FunctionName(format!("{}:{}", prefix, local)));
                        } else {
                            tokens.push(Token::PrefixedName(prefix, local));
                        }
                    }
                } else {
                    tokens.push(Token::Name(name)); // XPATH
                }
            }
            _ => {
                return Err(unexpected(&chars[i].to_string(), is_after_operand)); // XPATH
            }
        }
    }
    *at = i;
    Ok(())
}

fn is_xpath_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_' // XPATH
}

fn is_xpath_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '\u{b7}') // XPATH
}

// ─── XPath AST ─────────────────────────────────────────

#[derive(Debug, Clone)]
enum Expr {
    // Path expressions
    Path(Vec<Step>),
    AbsolutePath(Vec<Step>),
    // XPATH: a value, predicates on it, and a path from its nodes.
    Filter(Box<Expr>, Vec<Expr>, Vec<Step>),
    // Union
    Union(Box<Expr>, Box<Expr>),
    // Binary operators
    Or(Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Eq(Box<Expr>, Box<Expr>),
    NotEq(Box<Expr>, Box<Expr>),
    Lt(Box<Expr>, Box<Expr>),
    Gt(Box<Expr>, Box<Expr>),
    LtEq(Box<Expr>, Box<Expr>),
    GtEq(Box<Expr>, Box<Expr>),
    Add(Box<Expr>, Box<Expr>),
    Sub(Box<Expr>, Box<Expr>),
    Mul(Box<Expr>, Box<Expr>),
    Div(Box<Expr>, Box<Expr>),
    Mod(Box<Expr>, Box<Expr>),
    // Unary
    Negate(Box<Expr>),
    // Literals
    StringLiteral(String),
    NumberLiteral(f64),
    // Variable reference: (prefix, local). `None` prefix for unprefixed names.
    Variable(Option<String>, String),
    // Function call
    FunctionCall(String, Vec<Expr>),
}

impl Expr {
}

#[derive(Debug, Clone)]
struct Step {
    axis: Axis,
    node_test: NodeTest,
    predicates: Vec<Expr>,
}

#[derive(Debug, Clone)]
enum Axis {
    Child,
    Descendant,
    Parent,
    Ancestor,
    FollowingSibling,
    PrecedingSibling,
    Following,
    Preceding,
    Attribute,
    Self_,
    DescendantOrSelf,
    AncestorOrSelf,
}

#[derive(Debug, Clone)]
enum NodeTest {
    Name(String),
    PrefixedName(String, String),
    Wildcard,
    PrefixWildcard(String),
    NodeType(String),
    // XPATH: processing-instruction('target')
    Instruction(String),
}

// ─── XPath Parser (tokens -> AST) ─────────────────────

struct XPathParser<'a> {
    tokens: &'a [(Token, String)], // XPATH
    pos: usize,
    /// Current expression-nesting depth. Bumped around each re-entry
    /// to `parse_expr` (group, predicate, function argument, chained
    /// leading `-`).
    depth: u32,
    /// Configured cap for `depth`. Passed down from `XPathEvaluator`.
    max_depth: u32,
}

impl<'a> XPathParser<'a> {
    fn new(tokens: &'a [(Token, String)], max_depth: u32) -> Self {
        XPathParser {
            tokens,
            pos: 0,
            depth: 0,
            max_depth,
        }
    }

    fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.pos).map(|(token, _)| token)
    }

    fn advance(&mut self) -> Option<&'a Token> {
        let tok = self.peek();
        if tok.is_some() {
            self.pos += 1;
        }
        tok
    }

    /// XPATH: An error unless all tokens are taken.
    fn expect_end(&self) -> XmlResult<()> {
        match self.tokens.get(self.pos..) {
            None | Some([]) => Ok(()),
            Some(rest) => {
                let texts: Vec<_> = rest.iter().map(|(_, text)| format!("'{text}'")).collect();
                Err(XmlError::xpath(format!(
                    "Extra illegal tokens: {}",
                    texts.join(", ")
                )))
            }
        }
    }

    /// XPATH: The error for a missing step.
    fn missing_step(&self) -> XmlError {
        let before = self.pos.checked_sub(1).map(|at| &self.tokens[at].0);
        match (self.tokens.get(self.pos), before) {
            (_, Some(Token::At | Token::Axis(_))) => {
                XmlError::xpath("A node test that matches either NCName:* or QName was expected.")
            }
            (_, Some(Token::Slash | Token::DoubleSlash)) => XmlError::xpath(
                "A location step was expected following the '/' or '//' token.",
            ),
            (Some((_, text)), _) => unexpected(text, false),
            (None, _) => XmlError::xpath(
                "A location path was expected, but the end of the XPath expression was found instead.",
            ),
        }
    }

    fn expect(&mut self, expected: &Token) -> XmlResult<()> {
        match self.advance() {
            Some(t) if t == expected => Ok(()),
            // XPATH
            found => {
                let sign = match expected {
                    Token::LParen => "(",
                    Token::RParen => ")",
                    _ => "]",
                };
                let found = found.map_or("", |_| self.tokens[self.pos - 1].1.as_str());
                Err(XmlError::xpath(format!(
                    "Expected {sign}, but found: {found}"
                )))
            }
        }
    }

    fn parse_expr(&mut self) -> XmlResult<Expr> {
        self.parse_or_expr()
    }

    /// Parse a nested expression at `depth + 1`, returning an error if
    /// the cap is exceeded. Used at every re-entry point to the
    /// expression grammar: `(expr)`, `[pred]`, `fn(arg, ...)`.
    ///
    /// The depth counter is managed by a `DepthGuard` whose `Drop` impl
    /// decrements `self.depth` on every exit path (including the
    /// `?`-early-return when the inner parse fails). This keeps the
    /// counter balanced even across error / panic boundaries.
    fn parse_nested_expr(&mut self) -> XmlResult<Expr> {
        let guard = DepthGuard::enter(self)?;
        guard.parser.parse_expr()
    }

    fn charge_binary_chain(&self, chain_depth: &mut u32) -> XmlResult<()> {
        // XPATH: chains are evaluated by a loop, and their length is limited by MAX_TOKENS.
        *chain_depth += 1;
        Ok(())
    }
}

/// RAII helper that bumps `XPathParser::depth` on construction and
/// decrements it on drop. Returns `Err` at construction time if the
/// bump would exceed the cap. The Drop impl runs on every exit path -
/// `Ok`, `?`-propagated `Err`, or panic - so the depth counter stays
/// balanced even when a nested parse fails mid-way.
struct DepthGuard<'p, 'a> {
    parser: &'p mut XPathParser<'a>,
}

impl<'p, 'a> DepthGuard<'p, 'a> {
    fn enter(parser: &'p mut XPathParser<'a>) -> XmlResult<Self> {
        if parser.depth >= parser.max_depth {
            return Err(XmlError::xpath(format!(
                "XPath expression nesting exceeds maximum depth of {}",
                parser.max_depth
            )));
        }
        parser.depth += 1;
        Ok(DepthGuard { parser })
    }
}

impl<'p, 'a> Drop for DepthGuard<'p, 'a> {
    fn drop(&mut self) {
        self.parser.depth -= 1;
    }
}

impl<'a> XPathParser<'a> {
    fn parse_or_expr(&mut self) -> XmlResult<Expr> {
        let mut left = self.parse_and_expr()?;
        let mut chain_depth = 0;
        while matches!(self.peek(), Some(Token::Or)) {
            self.advance();
            self.charge_binary_chain(&mut chain_depth)?;
            let right = self.parse_and_expr()?;
            left = Expr::Or(Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn parse_and_expr(&mut self) -> XmlResult<Expr> {
        let mut left = self.parse_equality_expr()?;
        let mut chain_depth = 0;
        while matches!(self.peek(), Some(Token::And)) {
            self.advance();
            self.charge_binary_chain(&mut chain_depth)?;
            let right = self.parse_equality_expr()?;
            left = Expr::And(Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn parse_equality_expr(&mut self) -> XmlResult<Expr> {
        let mut left = self.parse_relational_expr()?;
        let mut chain_depth = 0;
        loop {
            match self.peek() {
                Some(Token::Eq) => {
                    self.advance();
                    self.charge_binary_chain(&mut chain_depth)?;
                    let right = self.parse_relational_expr()?;
                    left = Expr::Eq(Box::new(left), Box::new(right));
                }
                Some(Token::NotEq) => {
                    self.advance();
                    self.charge_binary_chain(&mut chain_depth)?;
                    let right = self.parse_relational_expr()?;
                    left = Expr::NotEq(Box::new(left), Box::new(right));
                }
                _ => break,
            }
        }
        Ok(left)
    }

    fn parse_relational_expr(&mut self) -> XmlResult<Expr> {
        let mut left = self.parse_additive_expr()?;
        let mut chain_depth = 0;
        loop {
            match self.peek() {
                Some(Token::Lt) => {
                    self.advance();
                    self.charge_binary_chain(&mut chain_depth)?;
                    let right = self.parse_additive_expr()?;
                    left = Expr::Lt(Box::new(left), Box::new(right));
                }
                Some(Token::Gt) => {
                    self.advance();
                    self.charge_binary_chain(&mut chain_depth)?;
                    let right = self.parse_additive_expr()?;
                    left = Expr::Gt(Box::new(left), Box::new(right));
                }
                Some(Token::LtEq) => {
                    self.advance();
                    self.charge_binary_chain(&mut chain_depth)?;
                    let right = self.parse_additive_expr()?;
                    left = Expr::LtEq(Box::new(left), Box::new(right));
                }
                Some(Token::GtEq) => {
                    self.advance();
                    self.charge_binary_chain(&mut chain_depth)?;
                    let right = self.parse_additive_expr()?;
                    left = Expr::GtEq(Box::new(left), Box::new(right));
                }
                _ => break,
            }
        }
        Ok(left)
    }

    fn parse_additive_expr(&mut self) -> XmlResult<Expr> {
        let mut left = self.parse_multiplicative_expr()?;
        let mut chain_depth = 0;
        loop {
            match self.peek() {
                Some(Token::Plus) => {
                    self.advance();
                    self.charge_binary_chain(&mut chain_depth)?;
                    let right = self.parse_multiplicative_expr()?;
                    left = Expr::Add(Box::new(left), Box::new(right));
                }
                Some(Token::Minus) => {
                    self.advance();
                    self.charge_binary_chain(&mut chain_depth)?;
                    let right = self.parse_multiplicative_expr()?;
                    left = Expr::Sub(Box::new(left), Box::new(right));
                }
                _ => break,
            }
        }
        Ok(left)
    }

    fn parse_multiplicative_expr(&mut self) -> XmlResult<Expr> {
        let mut left = self.parse_unary_expr()?;
        let mut chain_depth = 0;
        loop {
            match self.peek() {
                Some(Token::Multiply) => {
                    // XPATH
                    self.advance();
                    self.charge_binary_chain(&mut chain_depth)?;
                    let right = self.parse_unary_expr()?;
                    left = Expr::Mul(Box::new(left), Box::new(right));
                }
                Some(Token::Div) => {
                    self.advance();
                    self.charge_binary_chain(&mut chain_depth)?;
                    let right = self.parse_unary_expr()?;
                    left = Expr::Div(Box::new(left), Box::new(right));
                }
                Some(Token::Mod) => {
                    self.advance();
                    self.charge_binary_chain(&mut chain_depth)?;
                    let right = self.parse_unary_expr()?;
                    left = Expr::Mod(Box::new(left), Box::new(right));
                }
                _ => break,
            }
        }
        Ok(left)
    }

    fn parse_unary_expr(&mut self) -> XmlResult<Expr> {
        if matches!(self.peek(), Some(Token::Minus)) {
            // `parse_unary_expr` recurses directly into itself for
            // chained leading minuses (`---...---1`), bypassing
            // `parse_nested_expr`. Use the same `DepthGuard` RAII so a
            // long `-` chain is capped the same way and the counter
            // stays balanced on error paths.
            let guard = DepthGuard::enter(self)?;
            guard.parser.advance();
            let inner = guard.parser.parse_unary_expr()?;
            Ok(Expr::Negate(Box::new(inner)))
        } else {
            self.parse_union_expr()
        }
    }

    fn parse_union_expr(&mut self) -> XmlResult<Expr> {
        let mut left = self.parse_path_expr()?;
        let mut chain_depth = 0;
        while matches!(self.peek(), Some(Token::Pipe)) {
            self.advance();
            self.charge_binary_chain(&mut chain_depth)?;
            let right = self.parse_path_expr()?;
            left = Expr::Union(Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn parse_path_expr(&mut self) -> XmlResult<Expr> {
        match self.peek() {
            Some(Token::Slash) => {
                self.advance();
                // XPATH
                if matches!(
                    self.peek(),
                    Some(
                        Token::Dot
                            | Token::DoubleDot
                            | Token::At
                            | Token::Axis(_)
                            | Token::Star
                            | Token::NodeType(_)
                            | Token::FunctionName(_)
                            | Token::Name(_)
                            | Token::PrefixedName(..)
                    )
                ) {
                    let steps = self.parse_relative_path()?;
                    Ok(Expr::AbsolutePath(steps))
                } else {
                    // Just "/" means the root node
                    Ok(Expr::AbsolutePath(Vec::new()))
                }
            }
            Some(Token::DoubleSlash) => {
                self.advance();
                let mut steps = vec![Step {
                    axis: Axis::DescendantOrSelf,
                    node_test: NodeTest::NodeType("node".to_string()),
                    predicates: Vec::new(),
                }];
                steps.extend(self.parse_relative_path()?);
                Ok(Expr::AbsolutePath(steps))
            }
            Some(Token::Number(n)) => {
                let n = *n;
                self.advance();
                self.parse_filter(Expr::NumberLiteral(n)) // XPATH
            }
            Some(Token::StringLiteral(s)) => {
                let s = s.clone();
                self.advance();
                self.parse_filter(Expr::StringLiteral(s)) // XPATH
            }
            Some(Token::Variable(prefix, local)) => {
                let prefix = prefix.clone();
                let local = local.clone();
                self.advance();
                self.parse_filter(Expr::Variable(prefix, local)) // XPATH
            }
            // XPATH
            Some(Token::FunctionName(_)) => {
                let call = self.parse_function_call()?;
                self.parse_filter(call)
            }
            Some(Token::LParen) => {
                self.advance();
                let expr = self.parse_nested_expr()?;
                self.expect(&Token::RParen)?;
                self.parse_filter(expr) // XPATH
            }
            _ => {
                let steps = self.parse_relative_path()?;
                Ok(Expr::Path(steps))
            }
        }
    }

    /// XPATH: Predicates and a path behind a value, if there are some.
    fn parse_filter(&mut self, value: Expr) -> XmlResult<Expr> {
        let predicates = self.parse_predicates()?;
        let mut steps = Vec::new();
        if matches!(self.peek(), Some(Token::DoubleSlash)) {
            steps.push(Step {
                axis: Axis::DescendantOrSelf,
                node_test: NodeTest::NodeType("node".to_string()),
                predicates: Vec::new(),
            });
        }
        if matches!(self.peek(), Some(Token::Slash | Token::DoubleSlash)) {
            self.advance();
            steps.extend(self.parse_relative_path()?);
        }
        if predicates.is_empty() && steps.is_empty() {
            return Ok(value);
        }
        Ok(Expr::Filter(Box::new(value), predicates, steps))
    }

    fn parse_relative_path(&mut self) -> XmlResult<Vec<Step>> {
        let mut steps = Vec::new();
        steps.push(self.parse_step()?);
        loop {
            match self.peek() {
                Some(Token::Slash) => {
                    self.advance();
                    steps.push(self.parse_step()?);
                }
                Some(Token::DoubleSlash) => {
                    self.advance();
                    steps.push(Step {
                        axis: Axis::DescendantOrSelf,
                        node_test: NodeTest::NodeType("node".to_string()),
                        predicates: Vec::new(),
                    });
                    steps.push(self.parse_step()?);
                }
                _ => break,
            }
        }
        Ok(steps)
    }

    fn parse_step(&mut self) -> XmlResult<Step> {
        match self.peek() {
            Some(Token::Dot) => {
                self.advance();
                Ok(Step {
                    axis: Axis::Self_,
                    node_test: NodeTest::NodeType("node".to_string()),
                    predicates: Vec::new(),
                })
            }
            Some(Token::DoubleDot) => {
                self.advance();
                Ok(Step {
                    axis: Axis::Parent,
                    node_test: NodeTest::NodeType("node".to_string()),
                    predicates: Vec::new(),
                })
            }
            Some(Token::At) => {
                self.advance();
                let node_test = self.parse_node_test()?;
                let predicates = self.parse_predicates()?;
                Ok(Step {
                    axis: Axis::Attribute,
                    node_test,
                    predicates,
                })
            }
            Some(Token::Axis(axis_name)) => {
                let axis = parse_axis_name(axis_name)?;
                self.advance();
                let node_test = self.parse_node_test()?;
                let predicates = self.parse_predicates()?;
                Ok(Step {
                    axis,
                    node_test,
                    predicates,
                })
            }
            _ => {
                let node_test = self.parse_node_test()?;
                let predicates = self.parse_predicates()?;
                Ok(Step {
                    axis: Axis::Child,
                    node_test,
                    predicates,
                })
            }
        }
    }

    fn parse_node_test(&mut self) -> XmlResult<NodeTest> {
        match self.peek() {
            Some(Token::Star) => {
                self.advance();
                Ok(NodeTest::Wildcard)
            }
            Some(Token::NodeType(nt)) => {
                let nt = nt.clone();
                self.advance();
                self.expect(&Token::LParen)?;
                // XPATH
                if let (true, Some(Token::StringLiteral(target))) =
                    (nt == "processing-instruction", self.peek())
                {
                    self.advance();
                    self.expect(&Token::RParen)?;
                    return Ok(NodeTest::Instruction(target.clone()));
                }
                self.expect(&Token::RParen)?;
                Ok(NodeTest::NodeType(nt))
            }
            Some(Token::Name(name)) => {
                let name = name.clone();
                self.advance();
                Ok(NodeTest::Name(name))
            }
            Some(Token::PrefixedName(prefix, local)) => {
                let p = prefix.clone();
                let l = local.clone();
                self.advance();
                if l == "*" {
                    Ok(NodeTest::PrefixWildcard(p))
                } else {
                    Ok(NodeTest::PrefixedName(p, l))
                }
            }
            // XPATH
            Some(Token::FunctionName(name)) => {
                Err(XmlError::xpath(format!("Unknown nodetype: {name}")))
            }
            _ => Err(self.missing_step()),
        }
    }

    fn parse_predicates(&mut self) -> XmlResult<Vec<Expr>> {
        let mut predicates = Vec::new();
        while matches!(self.peek(), Some(Token::LBracket)) {
            self.advance();
            let expr = self.parse_nested_expr()?;
            self.expect(&Token::RBracket)?;
            predicates.push(expr);
        }
        Ok(predicates)
    }

    fn parse_function_call(&mut self) -> XmlResult<Expr> {
        let name = match self.advance() {
            Some(Token::FunctionName(n)) => n.clone(),
            _ => return Err(XmlError::xpath("Expected function name")),
        };
        self.expect(&Token::LParen)?;
        let mut args = Vec::new();
        if !matches!(self.peek(), Some(Token::RParen)) {
            args.push(self.parse_nested_expr()?);
            while matches!(self.peek(), Some(Token::Comma)) {
                self.advance();
                args.push(self.parse_nested_expr()?);
            }
        }
        self.expect(&Token::RParen)?;
        check_call(&name, args.len())?; // XPATH
        Ok(Expr::FunctionCall(name, args))
    }
}

/// XPATH: The functions, with the names of their classes in Xalan and the numbers of their arguments.
const FUNCTIONS: [(&str, &str, usize, usize); 27] = [
    ("last", "FuncLast", 0, 0),
    ("position", "FuncPosition", 0, 0),
    ("current", "FuncCurrent", 0, 0),
    ("lang", "FuncLang", 1, 1),
    ("count", "FuncCount", 1, 1),
    ("local-name", "FuncLocalPart", 0, 1),
    ("namespace-uri", "FuncNamespace", 0, 1),
    ("name", "FuncQname", 0, 1),
    ("string", "FuncString", 0, 1),
    ("concat", "FuncConcat", 2, usize::MAX),
    ("starts-with", "FuncStartsWith", 2, 2),
    ("contains", "FuncContains", 2, 2),
    ("substring", "FuncSubstring", 2, 3),
    ("substring-before", "FuncSubstringBefore", 2, 2),
    ("substring-after", "FuncSubstringAfter", 2, 2),
    ("string-length", "FuncStringLength", 0, 1),
    ("normalize-space", "FuncNormalizeSpace", 0, 1),
    ("translate", "FuncTranslate", 3, 3),
    ("not", "FuncNot", 1, 1),
    ("true", "FuncTrue", 0, 0),
    ("false", "FuncFalse", 0, 0),
    ("boolean", "FuncBoolean", 1, 1),
    ("number", "FuncNumber", 0, 1),
    ("sum", "FuncSum", 1, 1),
    ("floor", "FuncFloor", 1, 1),
    ("ceiling", "FuncCeiling", 1, 1),
    ("round", "FuncRound", 1, 1),
];

/// XPATH: Whether a function of this name takes so many arguments, with the words of Xalan if not.
fn check_call(name: &str, count: usize) -> XmlResult<()> {
    // Functions with a prefix are those of a resolver.
    if name.contains(':') {
        return Ok(());
    }
    if name == "id" {
        return Err(XmlError::xpath("the function id() is not supported"));
    }
    let Some((_, class, min, max)) = FUNCTIONS.iter().find(|(known, ..)| *known == name) else {
        return Err(XmlError::xpath(format!("Could not find function: {name}")));
    };
    if (*min..=*max).contains(&count) {
        return Ok(());
    }
    let allowed = match (min, max) {
        (min, max) if min == max => min.to_string(),
        (min, &usize::MAX) => format!(">{}", min - 1),
        (min, max) => format!("{min} or {max}"),
    };
    Err(XmlError::xpath(format!(
        "org.apache.xpath.functions.{class} only allows {allowed} arguments"
    )))
}

fn parse_axis_name(name: &str) -> XmlResult<Axis> {
    match name {
        "child" => Ok(Axis::Child),
        "descendant" => Ok(Axis::Descendant),
        "parent" => Ok(Axis::Parent),
        "ancestor" => Ok(Axis::Ancestor),
        "following-sibling" => Ok(Axis::FollowingSibling),
        "preceding-sibling" => Ok(Axis::PrecedingSibling),
        "following" => Ok(Axis::Following),
        "preceding" => Ok(Axis::Preceding),
        "attribute" => Ok(Axis::Attribute),
        // XPATH: there are no nodes for namespaces; none at all would be a wrong result.
        "namespace" => Err(XmlError::xpath("the namespace axis is not supported")),
        "self" => Ok(Axis::Self_),
        "descendant-or-self" => Ok(Axis::DescendantOrSelf),
        "ancestor-or-self" => Ok(Axis::AncestorOrSelf),
        _ => Err(XmlError::xpath(format!("illegal axis name: {name}"))), // XPATH
    }
}

// ─── XPath Evaluator ───────────────────────────────────

struct EvalContext<'a, 'b> {
    node: NodeId,
    /// The XSLT "current node" (the node `current()` returns). For plain XPath
    /// this equals `node`; inside a predicate it stays fixed at the node the
    /// step is being evaluated against while `node` walks the candidate list.
    current: NodeId,
    position: usize,
    size: usize,
    doc: &'a Document<'b>,
    namespaces: &'a HashMap<String, String>,
    /// Resolver for `$variable` references (XSLT scope; no-op for plain XPath).
    vars: &'a dyn VariableResolver,
    /// Resolver for non-core function calls (XSLT/EXSLT; no-op for plain XPath).
    funcs: &'a dyn FunctionResolver,
    budget: &'a EvalBudget,
}

struct EvalBudget {
    /// Visits still available during this evaluation.
    remaining: Cell<usize>,
    /// The caller-configured cap, retained for stable diagnostics.
    max_visits: usize,
}

impl EvalBudget {
    fn new(max_visits: usize) -> Self {
        Self {
            remaining: Cell::new(max_visits),
            max_visits,
        }
    }

    fn charge(&self, amount: usize) -> XmlResult<()> {
        // BUDGET
        if !budget::spend(amount) {
            return Err(XmlError::xpath("the evaluation takes too many steps"));
        }
        let remaining = self.remaining.get();
        if amount > remaining {
            return Err(XmlError::xpath(format!(
                "XPath evaluation exceeded maximum node visit budget of {}",
                self.max_visits
            )));
        }
        self.remaining.set(remaining - amount);
        Ok(())
    }
}

/// XPATH: The operands of an operator.
fn operands(expr: &Expr) -> Option<(&Expr, &Expr)> {
    match expr {
        Expr::Union(left, right)
        | Expr::Or(left, right)
        | Expr::And(left, right)
        | Expr::Eq(left, right)
        | Expr::NotEq(left, right)
        | Expr::Lt(left, right)
        | Expr::Gt(left, right)
        | Expr::LtEq(left, right)
        | Expr::GtEq(left, right)
        | Expr::Add(left, right)
        | Expr::Sub(left, right)
        | Expr::Mul(left, right)
        | Expr::Div(left, right)
        | Expr::Mod(left, right) => Some((left, right)),
        _ => None,
    }
}

// XPATH: operators of one precedence nest to the left; the loop evaluates a chain of hundreds without recursion.
fn evaluate_expr(expr: &Expr, ctx: &EvalContext) -> XmlResult<XPathValue> {
    let mut chain = Vec::new();
    let mut first = expr;
    while let Some((left, right)) = operands(first) {
        chain.push((first, right));
        first = left;
    }
    let mut value = evaluate_operand(first, ctx)?;
    while let Some((operator, right)) = chain.pop() {
        value = apply_operator(operator, value, right, ctx)?;
    }
    Ok(value)
}

/// XPATH: The value of an operator, by its left value and right operand.
fn apply_operator(
    operator: &Expr,
    left: XPathValue,
    right: &Expr,
    ctx: &EvalContext,
) -> XmlResult<XPathValue> {
    match (operator, left.to_boolean()) {
        (Expr::Or(..), true) => return Ok(XPathValue::Boolean(true)),
        (Expr::And(..), false) => return Ok(XPathValue::Boolean(false)),
        _ => {}
    }
    let right = evaluate_expr(right, ctx)?;
    let comparison = match operator {
        Expr::Eq(..) => Some(Comparison::Equal),
        Expr::NotEq(..) => Some(Comparison::NotEqual),
        Expr::Lt(..) => Some(Comparison::Less),
        Expr::LtEq(..) => Some(Comparison::LessOrEqual),
        Expr::Gt(..) => Some(Comparison::Greater),
        Expr::GtEq(..) => Some(Comparison::GreaterOrEqual),
        _ => None,
    };
    if let Some(comparison) = comparison {
        charge_comparison(&left, &right, ctx)?;
        return Ok(XPathValue::Boolean(compare(
            comparison, &left, &right, ctx.doc,
        )));
    }
    if matches!(operator, Expr::Or(..) | Expr::And(..)) {
        return Ok(XPathValue::Boolean(right.to_boolean()));
    }
    if matches!(operator, Expr::Union(..)) {
        let mut nodes = node_set(left)?;
        nodes.extend(node_set(right)?);
        ctx.budget.charge(nodes.len())?;
        return Ok(XPathValue::NodeSet(dedup_document_order(ctx.doc, nodes)));
    }
    let (l, r) = (left.to_number(ctx.doc), right.to_number(ctx.doc));
    Ok(XPathValue::Number(match operator {
        Expr::Add(..) => l + r,
        Expr::Sub(..) => l - r,
        Expr::Mul(..) => l * r,
        Expr::Div(..) => l / r,
        _ => l % r,
    }))
}

/// XPATH: The nodes of a value; an error, with the words of Xalan, if it is no node-set.
fn node_set(value: XPathValue) -> XmlResult<Vec<NodeId>> {
    let kind = match value {
        XPathValue::NodeSet(nodes) => return Ok(nodes),
        XPathValue::Boolean(_) => "BOOLEAN",
        XPathValue::Number(_) => "NUMBER",
        XPathValue::String(_) => "STRING",
    };
    Err(XmlError::xpath(format!(
        "Can not convert #{kind} to a NodeList!"
    )))
}

fn evaluate_operand(expr: &Expr, ctx: &EvalContext) -> XmlResult<XPathValue> {
    match expr {
        Expr::Path(steps) => {
            // `apply_steps` already returns a deduplicated, document-ordered
            // vector, so an extra dedup pass here would be redundant (and
            // uncharged) work.
            Ok(XPathValue::NodeSet(apply_steps(steps, vec![ctx.node], false, ctx)?))
        }
        Expr::AbsolutePath(steps) => {
            // Find the document root
            let mut root = ctx.node;
            while let Some(p) = ctx.doc.parent(root) {
                root = p;
            }
            // Already deduplicated and document-ordered by `apply_steps`.
            Ok(XPathValue::NodeSet(apply_steps(steps, vec![root], true, ctx)?))
        }
        // XPATH
        Expr::Filter(value, predicates, steps) => {
            let mut nodes = node_set(evaluate_expr(value, ctx)?)?;
            for predicate in predicates {
                apply_predicate(predicate, &mut nodes, 0, ctx)?;
            }
            Ok(XPathValue::NodeSet(apply_steps(steps, nodes, false, ctx)?))
        }
        Expr::Negate(inner) => {
            let n = evaluate_expr(inner, ctx)?.to_number(ctx.doc);
            Ok(XPathValue::Number(-n))
        }
        Expr::StringLiteral(s) => Ok(XPathValue::String(s.clone())),
        Expr::NumberLiteral(n) => Ok(XPathValue::Number(*n)),
        Expr::Variable(prefix, local) => {
            match ctx.vars.resolve_variable(prefix.as_deref(), local) {
                Some(v) => Ok(v),
                None => {
                    let name = match prefix {
                        Some(p) => format!("{}:{}", p, local),
                        None => local.clone(),
                    };
                    Err(XmlError::xpath(format!("Undefined variable: ${}", name)))
                }
            }
        }
        Expr::FunctionCall(name, args) => evaluate_function(name, args, ctx),
        // XPATH: `evaluate_expr` takes operators apart.
        Expr::Union(..)
        | Expr::Or(..)
        | Expr::And(..)
        | Expr::Eq(..)
        | Expr::NotEq(..)
        | Expr::Lt(..)
        | Expr::Gt(..)
        | Expr::LtEq(..)
        | Expr::GtEq(..)
        | Expr::Add(..)
        | Expr::Sub(..)
        | Expr::Mul(..)
        | Expr::Div(..)
        | Expr::Mod(..) => evaluate_expr(expr, ctx),
    }
}

/// Charge the evaluation budget for an `=`/`!=` comparison.
///
/// Node-set comparison is a scan over string-values, and that
/// work is not otherwise charged (the budget only covers node-set *building*).
/// Without this, `(/r/a) = (/r/b)` over disjoint-valued sets built via cheap
/// child-axis paths runs for minutes while staying under the node-visit cap.
///
/// Only node-set work is charged, matching the actual number of string-value
/// scans the comparison performs:
/// - node-set vs node-set: `n + m` (XPATH: string-values are taken once, and cost steps of their own)
/// - node-set vs scalar: `n` (the scalar is converted once, then scanned against
///   each node)
/// - scalar vs scalar: `0` (no node visits — e.g. `1 = 1` must not consume budget,
///   otherwise it would fail under a zero budget despite touching no nodes)
///
/// The operands are matched on their enum variants rather than via
/// `as_node_set().len()`, because that helper returns an empty slice for *both* a
/// scalar and an empty node-set. An empty node-set short-circuits the comparison
/// with zero scans, so it must charge `0`, not be billed as a 1-wide scalar.
fn charge_comparison(left: &XPathValue, right: &XPathValue, ctx: &EvalContext) -> XmlResult<()> {
    let cost = match (left, right) {
        (XPathValue::NodeSet(a), XPathValue::NodeSet(b)) => a.len() + b.len(),
        (XPathValue::NodeSet(ns), _) | (_, XPathValue::NodeSet(ns)) => ns.len(),
        _ => 0,
    };
    ctx.budget.charge(cost)
}

/// XPATH: The comparisons of XPath 1.0 §3.4.
#[derive(Clone, Copy, PartialEq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    fn is_equality(self) -> bool {
        matches!(self, Comparison::Equal | Comparison::NotEqual)
    }

    fn holds<T: PartialOrd>(self, left: T, right: T) -> bool {
        match self {
            Comparison::Equal => left == right,
            Comparison::NotEqual => left != right,
            Comparison::Less => left < right,
            Comparison::LessOrEqual => left <= right,
            Comparison::Greater => left > right,
            Comparison::GreaterOrEqual => left >= right,
        }
    }

    /// The comparison with its sides exchanged.
    fn flipped(self) -> Self {
        match self {
            Comparison::Less => Comparison::Greater,
            Comparison::LessOrEqual => Comparison::GreaterOrEqual,
            Comparison::Greater => Comparison::Less,
            Comparison::GreaterOrEqual => Comparison::LessOrEqual,
            equality => equality,
        }
    }
}

/// XPATH: Whether a comparison holds for two values: for node-sets, whether it does for any of the nodes.
fn compare(
    comparison: Comparison,
    left: &XPathValue,
    right: &XPathValue,
    doc: &Document<'_>,
) -> bool {
    use XPathValue::{Boolean, NodeSet, Number, String};
    match (left, right) {
        (NodeSet(ls), NodeSet(rs)) => compare_sets(comparison, ls, rs, doc),
        // A boolean compares with the node-set as a boolean, not with its nodes.
        (Boolean(_), _) | (_, Boolean(_)) => {
            let (l, r) = (left.to_boolean(), right.to_boolean());
            if comparison.is_equality() || matches!((left, right), (NodeSet(_), _) | (_, NodeSet(_)))
            {
                comparison.holds(l, r)
            } else {
                comparison.holds(left.to_number(doc), right.to_number(doc))
            }
        }
        (other, NodeSet(_)) => compare(comparison.flipped(), right, other, doc),
        (NodeSet(nodes), String(text)) if comparison.is_equality() => nodes
            .iter()
            .any(|&node| comparison.holds(string_value_of_node(doc, node).as_str(), text)),
        (NodeSet(nodes), other) => {
            let number = other.to_number(doc);
            nodes.iter().any(|&node| {
                comparison.holds(string_to_number(&string_value_of_node(doc, node)), number)
            })
        }
        (String(l), String(r)) if comparison.is_equality() => comparison.holds(l, r),
        (Number(_) | String(_), Number(_) | String(_)) => {
            comparison.holds(left.to_number(doc), right.to_number(doc))
        }
    }
}

/// XPATH: Whether a comparison holds for any two nodes of two sets, in time that is linear in both.
fn compare_sets(
    comparison: Comparison,
    left: &[NodeId],
    right: &[NodeId],
    doc: &Document<'_>,
) -> bool {
    if left.is_empty() || right.is_empty() {
        return false;
    }
    let texts = |nodes: &[NodeId]| -> HashSet<String> {
        nodes
            .iter()
            .map(|&node| string_value_of_node(doc, node))
            .collect()
    };
    let bounds = |nodes: &[NodeId]| {
        nodes
            .iter()
            .map(|&node| string_to_number(&string_value_of_node(doc, node)))
            .filter(|number| !number.is_nan())
            .fold(None, |bounds, n| match bounds {
                None => Some((n, n)),
                Some((least, most)) => Some((f64::min(least, n), f64::max(most, n))),
            })
    };
    match comparison {
        Comparison::Equal => !texts(left).is_disjoint(&texts(right)),
        Comparison::NotEqual => {
            let (left, right) = (texts(left), texts(right));
            left.len() > 1 || right.len() > 1 || left != right
        }
        _ => match (bounds(left), bounds(right)) {
            (Some((left_least, left_most)), Some((right_least, right_most))) => match comparison {
                Comparison::Less | Comparison::LessOrEqual => {
                    comparison.holds(left_least, right_most)
                }
                _ => comparison.holds(left_most, right_least),
            },
            _ => false,
        },
    }
}

/// Is `step` the `descendant-or-self::node()` step the parser injects for
/// a `//` connector (no predicates)?
fn is_double_slash_step(step: &Step) -> bool {
    matches!(step.axis, Axis::DescendantOrSelf)
        && matches!(&step.node_test, NodeTest::NodeType(nt) if nt == "node")
        && step.predicates.is_empty()
}

/// Evaluate a location path's steps from `start`, fusing each
/// `//child::T` (and `//attribute::T`) pair without predicates into one
/// descendant walk when it runs from a single context node.
/// `descendant-or-self::node()/child::T` selects exactly `descendant::T`, so
/// the fused walk visits every node once, tests it in place and never
/// materializes the intermediate all-nodes set that the two-step form builds
/// and then re-scans child by child.
///
/// With several context nodes the pair is evaluated as two ordinary steps.
/// Contexts can nest (`//a//b` where one `a` contains another), and the
/// two-step form deduplicates the `descendant-or-self` set before the second
/// step charges it, so every node is charged once; separate walks from each
/// context would charge the inner subtree once per enclosing context and
/// could exhaust a budget the unfused query stays within. Restricting the
/// fusion to one context keeps "never charges more than the unfused form"
/// true, and that is where the cost lives anyway: the leading `//` of an
/// absolute or relative path always starts from exactly one node.
// XPATH: takes several nodes to start from.
fn apply_steps(
    steps: &[Step],
    start: Vec<NodeId>,
    is_absolute: bool,
    ctx: &EvalContext,
) -> XmlResult<Vec<NodeId>> {
    let mut nodes = start;
    let mut i = 0;
    let is_unprefixed = is_one_descendant_step(steps, is_absolute); // XPATH
    while i < steps.len() {
        let step = &steps[i];
        // Look one step ahead for the `//T` shape. A predicate on the second
        // step is positional relative to the *parent* (`//b[1]` is the first
        // `b` child of every parent), which a flat walk cannot reproduce, so
        // such pairs fall through to the ordinary two-step evaluation, as do
        // pairs reached from more than one context node (see above).
        if i + 1 < steps.len() && nodes.len() == 1 && is_double_slash_step(step) {
            let next = &steps[i + 1];
            if next.predicates.is_empty() {
                match next.axis {
                    // `descendant-or-self::node()/child::T` is every child of
                    // the context or of any descendant, i.e. `descendant::T`:
                    // the context node itself is never a child, so the walk
                    // excludes it.
                    Axis::Child => {
                        nodes =
                            apply_descendant_test(&next.node_test, false, false, nodes[0], ctx)?;
                        i += 2;
                        continue;
                    }
                    // `descendant-or-self::node()/attribute::T` is the matching
                    // attributes of the context node *and* every descendant, so
                    // here the walk includes the context node.
                    Axis::Attribute => {
                        nodes = apply_descendant_test(&next.node_test, true, true, nodes[0], ctx)?;
                        i += 2;
                        continue;
                    }
                    // `//self::x`, `//parent::x`, `//descendant::x`, ...: rare
                    // and not equivalent to a single walk; evaluate as written.
                    _ => {}
                }
            }
        }
        nodes = apply_step(step, &nodes, ctx)?;
        i += 1;
    }
    // XPATH
    if is_unprefixed {
        nodes.retain(|&node| {
            !matches!(
                ctx.doc.node_kind(node),
                Some(NodeKind::Element(e)) if e.name.namespace_uri.is_none() && e.name.prefix.is_some()
            )
        });
    }
    Ok(nodes)
}

/// XPATH: Whether a path is one step to descendants by a name without prefix, and without regard to positions, such as
/// `//a`, `.//a[@b]` or `/descendant::a`.
///
/// A document that is read without regard to namespaces has elements with a prefix and no namespace. Xalan finds them
/// by their local names, except by such a path.
fn is_one_descendant_step(steps: &[Step], is_absolute: bool) -> bool {
    let steps = match steps {
        [first, rest @ ..]
            if matches!(first.axis, Axis::Self_)
                && matches!(&first.node_test, NodeTest::NodeType(nt) if nt == "node") =>
        {
            rest
        }
        all => all,
    };
    let last = match steps {
        [first, last] if is_double_slash_step(first) && matches!(last.axis, Axis::Child) => last,
        [last]
            if is_absolute && matches!(last.axis, Axis::Descendant | Axis::DescendantOrSelf) =>
        {
            last
        }
        _ => return false,
    };
    matches!(last.node_test, NodeTest::Name(_)) && last.predicates.iter().all(predicate_is_per_node)
}

/// Select every node under `context` (plus `context` itself when
/// `include_self`) that passes `test`; with `attributes`, test the attribute
/// nodes of each visited element instead of the elements.
///
/// Budget: one charge per node visited, plus one per attribute examined in
/// attribute mode. The two-step form this replaces charged every node once
/// in the `descendant-or-self` step and every child (or attribute) once more
/// in the second step, so from one context the fused form never charges
/// more than the unfused one and the configured DoS bound still holds.
/// `apply_steps` only calls this with a single context for that reason.
///
/// Ordering: a pre-order walk from one context yields document order with
/// no duplicates, so no `dedup_document_order` pass is needed.
fn apply_descendant_test(
    test: &NodeTest,
    include_self: bool,
    attributes: bool,
    context: NodeId,
    ctx: &EvalContext,
) -> XmlResult<Vec<NodeId>> {
    let doc = ctx.doc;
    // Resolve the prefix once here; `matches` below is then hash-free.
    let test = ResolvedTest::resolve(test, ctx.namespaces);
    let mut result = Vec::new();
    if attributes {
        walk_descendants(doc, context, include_self, |n| {
            ctx.budget.charge(1)?;
            // Empty for non-elements (text, comments, the document node),
            // so no kind check is needed before asking.
            let attrs = doc.get_attribute_nodes(n);
            ctx.budget.charge(attrs.len())?;
            for &a in attrs {
                if test.matches(a, doc) {
                    result.push(a);
                }
            }
            Ok(())
        })?;
    } else {
        walk_descendants(doc, context, include_self, |n| {
            ctx.budget.charge(1)?;
            if test.matches(n, doc) {
                result.push(n);
            }
            Ok(())
        })?;
    }
    Ok(result)
}

fn apply_step(step: &Step, context_nodes: &[NodeId], ctx: &EvalContext) -> XmlResult<Vec<NodeId>> {
    let doc = ctx.doc;
    // Resolve the test's namespace prefix once per step, not once per
    // candidate: the per-node check is then a kind match plus at most two
    // string compares with no hashing.
    let test = ResolvedTest::resolve(&step.node_test, ctx.namespaces);
    let mut result = Vec::new();
    for &node in context_nodes {
        let start = result.len();
        match step.axis {
            Axis::Child => {
                // Stream into the result instead of counting siblings, copying
                // the axis, and then allocating a separate filtered vector.
                // Charge every candidate, including non-matches, before push.
                for candidate in doc.children_iter(node) {
                    ctx.budget.charge(1)?;
                    if test.matches(candidate, doc) {
                        result.push(candidate);
                    }
                }
            }
            Axis::Attribute => {
                let candidates = doc.get_attribute_nodes(node);
                ctx.budget.charge(candidates.len())?;
                for &candidate in candidates {
                    if test.matches(candidate, doc) {
                        result.push(candidate);
                    }
                }
            }
            // Test descendants as they are visited rather than collecting the
            // whole subtree first and filtering a second time.
            Axis::Descendant | Axis::DescendantOrSelf => {
                let include_self = matches!(step.axis, Axis::DescendantOrSelf);
                walk_descendants(doc, node, include_self, |n| {
                    ctx.budget.charge(1)?;
                    if test.matches_element(n, doc) {
                        result.push(n);
                    }
                    Ok(())
                })?;
            }
            _ => {
                for candidate in select_axis(&step.axis, node, ctx)? {
                    if test.matches_element(candidate, doc) {
                        result.push(candidate);
                    }
                }
            }
        }
        for pred in &step.predicates {
            apply_predicate(pred, &mut result, start, ctx)?;
        }
    }
    // These axes are already unique and in document order for one context,
    // even without prepare_xpath(). Multiple (possibly nested) contexts still
    // require global ordering, as do the reverse and overlapping axes.
    if context_nodes.len() == 1
        && matches!(
            step.axis,
            Axis::Child | Axis::Attribute | Axis::Descendant | Axis::DescendantOrSelf
        )
    {
        return Ok(result);
    }
    Ok(dedup_document_order(doc, result))
}

/// Visit `root`'s descendants in document order (pre-order), and `root`
/// itself first when `include_self`. Follows first-child / next-sibling /
/// parent links, so the walk allocates nothing; `visit` may abort it with an
/// error (the node-visit budget).
///
/// Attribute nodes are not children in the arena (they live in the virtual
/// attribute index), so they are never visited here; `root` may itself be an
/// attribute or a leaf, in which case only `root` (if `include_self`) is
/// visited. The walk never leaves `root`'s subtree: the climb stops as soon
/// as it would step onto `root`'s own parent or sibling.
fn walk_descendants(
    doc: &Document<'_>,
    root: NodeId,
    include_self: bool,
    mut visit: impl FnMut(NodeId) -> XmlResult<()>,
) -> XmlResult<()> {
    if include_self {
        visit(root)?;
    }
    let mut cur = match doc.first_child(root) {
        Some(c) => c,
        None => return Ok(()),
    };
    loop {
        visit(cur)?;
        // Descend first: pre-order means a node's subtree comes right after it.
        if let Some(c) = doc.first_child(cur) {
            cur = c;
            continue;
        }
        // Leaf reached: move to the next sibling, or climb until an ancestor
        // (strictly below `root`) has one. Reaching `root` means every
        // descendant has been visited.
        loop {
            if let Some(s) = doc.next_sibling(cur) {
                cur = s;
                break;
            }
            match doc.parent(cur) {
                Some(p) if p != root => cur = p,
                _ => return Ok(()),
            }
        }
    }
}

fn apply_predicate(
    pred: &Expr,
    nodes: &mut Vec<NodeId>,
    start: usize,
    ctx: &EvalContext,
) -> XmlResult<()> {
    // Only this parent's suffix participates in position()/last(). Compact it
    // in place without touching results belonging to earlier context nodes.
    let size = nodes.len() - start;
    // Charge the candidate scan up front so a query that is already over budget
    // fails before doing the (potentially expensive) per-candidate predicate
    // evaluation, rather than after. This tightens the DoS bound the budget
    // is meant to provide.
    ctx.budget.charge(size)?;
    let mut kept = start;
    for i in 0..size {
        let node = nodes[start + i];
        let pred_ctx = EvalContext {
            node,
            current: ctx.current,
            position: i + 1,
            size,
            doc: ctx.doc,
            namespaces: ctx.namespaces,
            vars: ctx.vars,
            funcs: ctx.funcs,
            budget: ctx.budget,
        };
        let val = evaluate_expr(pred, &pred_ctx)?;
        let keep = match &val {
            // XPATH: the integer part counts, as in Xalan.
            XPathValue::Number(n) => *n as usize == i + 1,
            _ => val.to_boolean(),
        };
        if keep {
            nodes[kept] = node;
            kept += 1;
        }
    }
    nodes.truncate(kept);
    Ok(())
}

fn select_axis(axis: &Axis, node: NodeId, ctx: &EvalContext) -> XmlResult<Vec<NodeId>> {
    let doc = ctx.doc;
    match axis {
        Axis::Child => {
            // Count children and check the budget before allocating the result.
            // Exact capacity avoids Vec growth, at the cost of traversing the
            // sibling list twice instead of once as doc.children(node) does.
            let count = doc.children_count(node);
            ctx.budget.charge(count)?;
            let mut nodes = Vec::with_capacity(count);
            nodes.extend(doc.children_iter(node));
            Ok(nodes)
        }
        Axis::Descendant => collect_descendants(doc, node, false, ctx.budget),
        Axis::Parent => {
            let nodes: Vec<_> = doc.parent(node).into_iter().collect();
            ctx.budget.charge(nodes.len())?;
            Ok(nodes)
        }
        Axis::Ancestor => {
            let nodes = doc.ancestors(node);
            ctx.budget.charge(nodes.len())?;
            Ok(nodes)
        }
        Axis::Self_ => {
            ctx.budget.charge(1)?;
            Ok(vec![node])
        }
        Axis::DescendantOrSelf => collect_descendants(doc, node, true, ctx.budget),
        Axis::AncestorOrSelf => {
            let mut result = vec![node];
            result.extend(doc.ancestors(node));
            ctx.budget.charge(result.len())?;
            Ok(result)
        }
        Axis::FollowingSibling => {
            let mut result = Vec::new();
            let mut current = doc.next_sibling(node);
            while let Some(sib) = current {
                ctx.budget.charge(1)?;
                result.push(sib);
                current = doc.next_sibling(sib);
            }
            Ok(result)
        }
        Axis::PrecedingSibling => {
            let mut result = Vec::new();
            let mut current = doc.previous_sibling(node);
            while let Some(sib) = current {
                ctx.budget.charge(1)?;
                result.push(sib);
                current = doc.previous_sibling(sib);
            }
            Ok(result)
        }
        Axis::Following => collect_following(doc, node, ctx.budget),
        Axis::Preceding => collect_preceding(doc, node, ctx.budget),
        Axis::Attribute => {
            let nodes = doc.get_attribute_nodes(node).to_vec();
            ctx.budget.charge(nodes.len())?;
            Ok(nodes)
        }
    }
}

fn collect_descendants(
    doc: &Document<'_>,
    node: NodeId,
    include_self: bool,
    budget: &EvalBudget,
) -> XmlResult<Vec<NodeId>> {
    // Depth-first pre-order is required before positional predicates run.
    // Reverse children onto the stack to visit the first child first.
    let mut result = Vec::new();
    let mut stack = Vec::new();
    if include_self {
        stack.push(node);
    } else {
        stack.extend(doc.children_iter(node).rev());
    }

    while let Some(current) = stack.pop() {
        budget.charge(1)?;
        result.push(current);
        stack.extend(doc.children_iter(current).rev());
    }

    Ok(result)
}

fn collect_following(
    doc: &Document<'_>,
    node: NodeId,
    budget: &EvalBudget,
) -> XmlResult<Vec<NodeId>> {
    let mut result = Vec::new();
    let mut current = node;
    // XPATH: what is in an element follows its attributes.
    if let (Some(NodeKind::Attribute(..)), Some(parent)) = (doc.node_kind(node), doc.parent(node)) {
        result = collect_descendants(doc, parent, false, budget)?;
        current = parent;
    }
    loop {
        if let Some(next) = doc.next_sibling(current) {
            budget.charge(1)?;
            result.push(next);
            result.extend(collect_descendants(doc, next, false, budget)?);
            current = next;
            continue;
        }
        if let Some(parent) = doc.parent(current) {
            current = parent;
        } else {
            break;
        }
    }
    Ok(result)
}

fn collect_preceding(
    doc: &Document<'_>,
    node: NodeId,
    budget: &EvalBudget,
) -> XmlResult<Vec<NodeId>> {
    let mut result = Vec::new();
    let mut current = node;
    loop {
        if let Some(prev) = doc.previous_sibling(current) {
            let descs = collect_descendants(doc, prev, false, budget)?;
            for d in descs.into_iter().rev() {
                result.push(d);
            }
            budget.charge(1)?;
            result.push(prev);
            current = prev;
            continue;
        }
        if let Some(parent) = doc.parent(current) {
            if doc.parent(parent).is_some() {
                current = parent;
            } else {
                break;
            }
        } else {
            break;
        }
    }
    Ok(result)
}

/// A [`NodeTest`] with its namespace prefix already looked up, so a step can
/// resolve once and test each candidate with plain comparisons. An unbound
/// prefix resolves to `Never` (XPath 1.0 §2.3: the test matches nothing).
///
/// Before this existed, `matches_node_test` hashed the prefix string into the
/// evaluator's `HashMap<String, String>` for every candidate node; on a
/// 45k-node document that lookup plus the URI compare was a tenth of the
/// whole evaluation. The borrowed `&str`s point into the step and the
/// namespace map, both of which outlive the candidate loop.
enum ResolvedTest<'t> {
    /// `node()`: every node, no kind check needed.
    AnyNode,
    /// `*`: any element or attribute (the principal node type of the axis).
    Wildcard,
    /// `local`: element/attribute with this local name and *no* namespace.
    Name(&'t str),
    /// `prefix:local`: element/attribute with this local name in namespace `ns`.
    QName { ns: &'t str, local: &'t str },
    /// `prefix:*`: any element/attribute in namespace `ns`.
    NsWildcard(&'t str),
    /// `text()`: text and CDATA nodes.
    Text,
    /// `comment()`.
    Comment,
    /// `processing-instruction()`
    Pi,
    /// XPATH: `processing-instruction('target')`
    Instruction(&'t str),
    /// Matches nothing: an unbound prefix or an unknown node type name.
    Never,
}

impl<'t> ResolvedTest<'t> {
    /// Resolve `test` against `namespaces` (prefix to URI). Call once per
    /// step, outside the candidate loop.
    fn resolve(test: &'t NodeTest, namespaces: &'t HashMap<String, String>) -> Self {
        match test {
            NodeTest::Wildcard => ResolvedTest::Wildcard,
            NodeTest::Name(name) => ResolvedTest::Name(name),
            NodeTest::PrefixedName(prefix, local) => match namespaces.get(prefix) {
                Some(ns) => ResolvedTest::QName { ns, local },
                None => ResolvedTest::Never,
            },
            NodeTest::PrefixWildcard(prefix) => match namespaces.get(prefix) {
                Some(ns) => ResolvedTest::NsWildcard(ns),
                None => ResolvedTest::Never,
            },
            NodeTest::Instruction(target) => ResolvedTest::Instruction(target), // XPATH
            NodeTest::NodeType(nt) => match nt.as_str() {
                "node" => ResolvedTest::AnyNode,
                "text" => ResolvedTest::Text,
                "comment" => ResolvedTest::Comment,
                "processing-instruction" => ResolvedTest::Pi,
                _ => ResolvedTest::Never,
            },
        }
    }

    /// XPATH: Does `node` pass the test on an axis of elements? Names are not those of attributes there.
    fn matches_element(&self, node: NodeId, doc: &Document<'_>) -> bool {
        let is_attribute = matches!(doc.node_kind(node), Some(NodeKind::Attribute(..)));
        (!is_attribute || matches!(self, ResolvedTest::AnyNode)) && self.matches(node, doc)
    }

    /// Does `node` pass the test? `AnyNode` short-circuits before touching the
    /// arena, so `//node()` costs only the walk itself. A node id outside the
    /// arena (never produced by the axes) fails rather than panicking.
    #[inline]
    fn matches(&self, node: NodeId, doc: &Document<'_>) -> bool {
        let kind = match doc.node_kind(node) {
            Some(k) => k,
            None => return false,
        };
        // XPATH: texts next to each other are one node.
        if matches!(kind, NodeKind::Text(_) | NodeKind::CData(_)) {
            return matches!(self, ResolvedTest::AnyNode | ResolvedTest::Text)
                && !continues_text(doc, node);
        }
        if matches!(self, ResolvedTest::AnyNode) {
            return true;
        }
        // Elements and attributes share the name tests; every other kind has
        // no name and fails them.
        let qname = match kind {
            NodeKind::Element(e) => Some(&e.name),
            NodeKind::Attribute(qn, _) => Some(qn),
            _ => None,
        };
        match self {
            ResolvedTest::AnyNode => true,
            ResolvedTest::Wildcard => qname.is_some(),
            ResolvedTest::Name(name) => {
                qname.is_some_and(|q| q.namespace_uri.is_none() && *q.local_name == **name)
            }
            ResolvedTest::QName { ns, local } => qname.is_some_and(|q| {
                *q.local_name == **local && q.namespace_uri.as_deref() == Some(*ns)
            }),
            ResolvedTest::NsWildcard(ns) => {
                qname.is_some_and(|q| q.namespace_uri.as_deref() == Some(*ns))
            }
            ResolvedTest::Text => false, // XPATH: see above.
            ResolvedTest::Comment => matches!(kind, NodeKind::Comment(_)),
            ResolvedTest::Pi => matches!(kind, NodeKind::ProcessingInstruction(_)),
            // XPATH
            ResolvedTest::Instruction(target) => {
                matches!(kind, NodeKind::ProcessingInstruction(pi) if pi.target == *target)
            }
            ResolvedTest::Never => false,
        }
    }
}

/// XPath 1.0 §4.4 `round()`: the nearest integer, with a half-way value
/// rounded toward positive infinity — `round(-2.5)` is `-2`, where
/// `f64::round` (ties away from zero) gives `-3`. The two agree everywhere
/// else, so only negative exact halves are corrected. NaN and ±inf pass
/// through, and `round(-0.5)` keeps the negative-zero sign the spec assigns.
fn xpath_round(n: f64) -> f64 {
    let r = n.round();
    if n - r == 0.5 {
        // Away-from-zero took a negative exact half down; ties go up.
        let up = r + 1.0;
        if up == 0.0 {
            -0.0
        } else {
            up
        }
    } else {
        r
    }
}

fn evaluate_function(name: &str, args: &[Expr], ctx: &EvalContext) -> XmlResult<XPathValue> {
    match name {
        "last" => Ok(XPathValue::Number(ctx.size as f64)),
        "position" => Ok(XPathValue::Number(ctx.position as f64)),
        // XSLT `current()` — the node the outermost expression is being
        // evaluated against (distinct from the predicate context node). For
        // plain XPath this equals the context node.
        "current" => {
            if !args.is_empty() {
                return Err(XmlError::xpath("current() takes no arguments"));
            }
            Ok(XPathValue::NodeSet(vec![ctx.current]))
        }
        "lang" => {
            if args.len() != 1 {
                return Err(XmlError::xpath("lang() takes exactly 1 argument"));
            }
            let target = evaluate_expr(&args[0], ctx)?.to_string_value(ctx.doc);
            Ok(XPathValue::Boolean(node_lang_matches(
                ctx.doc, ctx.node, &target,
            )))
        }
        "count" => {
            if args.len() != 1 {
                return Err(XmlError::xpath("count() takes exactly 1 argument"));
            }
            let nodes = node_set(evaluate_expr(&args[0], ctx)?)?; // XPATH
            Ok(XPathValue::Number(nodes.len() as f64))
        }
        "local-name" => {
            let node = if args.is_empty() {
                ctx.node
            } else {
                let nodes = node_set(evaluate_expr(&args[0], ctx)?)?; // XPATH
                match nodes.first() {
                    Some(&n) => n,
                    None => return Ok(XPathValue::String(String::new())),
                }
            };
            let name = match ctx.doc.node_kind(node) {
                Some(NodeKind::Element(e)) => e.name.local_name.to_string(),
                Some(NodeKind::Attribute(qn, _)) => qn.local_name.to_string(),
                Some(NodeKind::ProcessingInstruction(pi)) => pi.target.to_string(),
                _ => String::new(),
            };
            Ok(XPathValue::String(name))
        }
        "namespace-uri" => {
            let node = if args.is_empty() {
                ctx.node
            } else {
                let nodes = node_set(evaluate_expr(&args[0], ctx)?)?; // XPATH
                match nodes.first() {
                    Some(&n) => n,
                    None => return Ok(XPathValue::String(String::new())),
                }
            };
            let uri = match ctx.doc.node_kind(node) {
                Some(NodeKind::Element(e)) => {
                    e.name.namespace_uri.as_deref().unwrap_or("").to_string()
                }
                Some(NodeKind::Attribute(qn, _)) => {
                    qn.namespace_uri.as_deref().unwrap_or("").to_string()
                }
                _ => String::new(),
            };
            Ok(XPathValue::String(uri))
        }
        "name" => {
            let node = if args.is_empty() {
                ctx.node
            } else {
                let nodes = node_set(evaluate_expr(&args[0], ctx)?)?; // XPATH
                match nodes.first() {
                    Some(&n) => n,
                    None => return Ok(XPathValue::String(String::new())),
                }
            };
            let name = match ctx.doc.node_kind(node) {
                Some(NodeKind::Element(e)) => e.name.prefixed_name().into_owned(),
                Some(NodeKind::Attribute(qn, _)) => qn.prefixed_name().into_owned(),
                Some(NodeKind::ProcessingInstruction(pi)) => pi.target.to_string(),
                _ => String::new(),
            };
            Ok(XPathValue::String(name))
        }
        "string" => {
            if args.is_empty() {
                Ok(XPathValue::String(string_value_of_node(ctx.doc, ctx.node)))
            } else {
                let val = evaluate_expr(&args[0], ctx)?;
                Ok(XPathValue::String(val.to_string_value(ctx.doc)))
            }
        }
        "concat" => {
            if args.len() < 2 {
                return Err(XmlError::xpath("concat() takes at least 2 arguments"));
            }
            let mut result = String::new();
            for arg in args {
                let val = evaluate_expr(arg, ctx)?;
                result.push_str(&val.to_string_value(ctx.doc));
            }
            Ok(XPathValue::String(result))
        }
        "starts-with" => {
            if args.len() != 2 {
                return Err(XmlError::xpath("starts-with() takes exactly 2 arguments"));
            }
            let s = evaluate_expr(&args[0], ctx)?.to_string_value(ctx.doc);
            let prefix = evaluate_expr(&args[1], ctx)?.to_string_value(ctx.doc);
            Ok(XPathValue::Boolean(s.starts_with(&prefix)))
        }
        "contains" => {
            if args.len() != 2 {
                return Err(XmlError::xpath("contains() takes exactly 2 arguments"));
            }
            let s = evaluate_expr(&args[0], ctx)?.to_string_value(ctx.doc);
            let sub = evaluate_expr(&args[1], ctx)?.to_string_value(ctx.doc);
            Ok(XPathValue::Boolean(s.contains(&sub)))
        }
        "substring" => {
            if args.len() < 2 || args.len() > 3 {
                return Err(XmlError::xpath("substring() takes 2 or 3 arguments"));
            }
            let s = evaluate_expr(&args[0], ctx)?.to_string_value(ctx.doc);
            // XPath 1.0 §4.2: character positions are 1-based and selected by
            // numeric comparison — position >= round(start) and, in the 3-arg
            // form, position < round(start) + round(length), with `round` the
            // XPath ties-toward-+inf rounding (`xpath_round`, shared with the
            // round() function so `substring(s, -2.5)` and
            // `substring(s, round(-2.5))` agree). Comparing in f64 keeps the
            // spec's NaN/infinity semantics (a NaN bound selects nothing, an
            // infinite length everything after start) and has no integer
            // casts, whose saturation previously overflowed on a
            // huge-negative or -inf start (`i64::MIN - 1`, fuzz_xpath).
            let start = xpath_round(evaluate_expr(&args[1], ctx)?.to_number(ctx.doc));
            let end = if args.len() == 3 {
                start + xpath_round(evaluate_expr(&args[2], ctx)?.to_number(ctx.doc))
            } else {
                f64::INFINITY
            };
            let result: String = s
                .chars()
                .enumerate()
                .filter(|(i, _)| {
                    let p = (i + 1) as f64;
                    p >= start && p < end
                })
                .map(|(_, c)| c)
                .collect();
            Ok(XPathValue::String(result))
        }
        "substring-before" => {
            if args.len() != 2 {
                return Err(XmlError::xpath(
                    "substring-before() takes exactly 2 arguments",
                ));
            }
            let s = evaluate_expr(&args[0], ctx)?.to_string_value(ctx.doc);
            let sub = evaluate_expr(&args[1], ctx)?.to_string_value(ctx.doc);
            let result = if let Some(pos) = s.find(&sub) {
                s[..pos].to_string()
            } else {
                String::new()
            };
            Ok(XPathValue::String(result))
        }
        "substring-after" => {
            if args.len() != 2 {
                return Err(XmlError::xpath(
                    "substring-after() takes exactly 2 arguments",
                ));
            }
            let s = evaluate_expr(&args[0], ctx)?.to_string_value(ctx.doc);
            let sub = evaluate_expr(&args[1], ctx)?.to_string_value(ctx.doc);
            let result = if let Some(pos) = s.find(&sub) {
                s[pos + sub.len()..].to_string()
            } else {
                String::new()
            };
            Ok(XPathValue::String(result))
        }
        "string-length" => {
            let s = if args.is_empty() {
                string_value_of_node(ctx.doc, ctx.node)
            } else {
                evaluate_expr(&args[0], ctx)?.to_string_value(ctx.doc)
            };
            Ok(XPathValue::Number(s.chars().count() as f64))
        }
        "normalize-space" => {
            let s = if args.is_empty() {
                string_value_of_node(ctx.doc, ctx.node)
            } else {
                evaluate_expr(&args[0], ctx)?.to_string_value(ctx.doc)
            };
            // XPATH
            let words = s.split(is_xml_space).filter(|word| !word.is_empty());
            let normalized: String = words.collect::<Vec<_>>().join(" ");
            Ok(XPathValue::String(normalized))
        }
        "translate" => {
            if args.len() != 3 {
                return Err(XmlError::xpath("translate() takes exactly 3 arguments"));
            }
            let s = evaluate_expr(&args[0], ctx)?.to_string_value(ctx.doc);
            let from = evaluate_expr(&args[1], ctx)?.to_string_value(ctx.doc);
            let to = evaluate_expr(&args[2], ctx)?.to_string_value(ctx.doc);
            ctx.budget.charge(s.len() / 64 * from.len())?; // BUDGET
            let from_chars: Vec<char> = from.chars().collect();
            let to_chars: Vec<char> = to.chars().collect();
            let result: String = s
                .chars()
                .filter_map(|c| {
                    if let Some(pos) = from_chars.iter().position(|&fc| fc == c) {
                        to_chars.get(pos).copied()
                    } else {
                        Some(c)
                    }
                })
                .collect();
            Ok(XPathValue::String(result))
        }
        "not" => {
            if args.len() != 1 {
                return Err(XmlError::xpath("not() takes exactly 1 argument"));
            }
            let val = evaluate_expr(&args[0], ctx)?;
            Ok(XPathValue::Boolean(!val.to_boolean()))
        }
        "true" => Ok(XPathValue::Boolean(true)),
        "false" => Ok(XPathValue::Boolean(false)),
        "boolean" => {
            if args.len() != 1 {
                return Err(XmlError::xpath("boolean() takes exactly 1 argument"));
            }
            let val = evaluate_expr(&args[0], ctx)?;
            Ok(XPathValue::Boolean(val.to_boolean()))
        }
        "number" => {
            if args.is_empty() {
                // XPATH
                Ok(XPathValue::Number(string_to_number(&string_value_of_node(
                    ctx.doc, ctx.node,
                ))))
            } else {
                let val = evaluate_expr(&args[0], ctx)?;
                Ok(XPathValue::Number(val.to_number(ctx.doc)))
            }
        }
        "sum" => {
            if args.len() != 1 {
                return Err(XmlError::xpath("sum() takes exactly 1 argument"));
            }
            let nodes = node_set(evaluate_expr(&args[0], ctx)?)?; // XPATH
            let mut total = 0.0f64;
            for node in nodes {
                let sv = string_value_of_node(ctx.doc, node);
                total += string_to_number(&sv); // XPATH
            }
            Ok(XPathValue::Number(total))
        }
        "floor" => {
            if args.len() != 1 {
                return Err(XmlError::xpath("floor() takes exactly 1 argument"));
            }
            let n = evaluate_expr(&args[0], ctx)?.to_number(ctx.doc);
            Ok(XPathValue::Number(n.floor()))
        }
        "ceiling" => {
            if args.len() != 1 {
                return Err(XmlError::xpath("ceiling() takes exactly 1 argument"));
            }
            let n = evaluate_expr(&args[0], ctx)?.to_number(ctx.doc);
            Ok(XPathValue::Number(n.ceil()))
        }
        "round" => {
            if args.len() != 1 {
                return Err(XmlError::xpath("round() takes exactly 1 argument"));
            }
            let n = evaluate_expr(&args[0], ctx)?.to_number(ctx.doc);
            Ok(XPathValue::Number(xpath_round(n)))
        }
        _ => {
            // Not a core XPath 1.0 function. Evaluate the arguments and consult
            // the injected resolver (XSLT/EXSLT extension functions); fall back
            // to an error if it declines.
            let (prefix, local) = split_qname(name);
            let mut arg_vals = Vec::with_capacity(args.len());
            for a in args {
                arg_vals.push(evaluate_expr(a, ctx)?);
            }
            match ctx.funcs.resolve_function(prefix, local, &arg_vals) {
                Some(result) => result,
                None => Err(XmlError::xpath(format!("Unknown function: {}()", name))),
            }
        }
    }
}

/// Implements XPath `lang(string)`: true if the language of the context node
/// (per the nearest `xml:lang` in scope) is `target` or a sub-language of it.
fn node_lang_matches(doc: &Document<'_>, node: NodeId, target: &str) -> bool {
    // Walk ancestor-or-self looking for an `xml:lang` attribute.
    let mut cur = Some(node);
    while let Some(n) = cur {
        if let Some(NodeKind::Element(e)) = doc.node_kind(n) {
            for attr in &e.attributes {
                // XPATH: without regard to namespaces there is none.
                let is_xml_lang = attr.name.local_name.as_ref() == "lang"
                    && attr.name.namespace_uri.as_deref() == Some(crate::namespace::XML_NAMESPACE);
                if is_xml_lang {
                    let lang = attr.value.as_ref();
                    let t = target.to_ascii_lowercase();
                    let l = lang.to_ascii_lowercase();
                    // Match the full tag or a `lang-...` subtag prefix.
                    return l == t || l.strip_prefix(&t).is_some_and(|r| r.starts_with('-'));
                }
            }
        }
        cur = doc.parent(n);
    }
    false
}

/// Remove duplicate NodeIds and return them in the document's current tree order.
fn dedup_document_order(doc: &Document<'_>, mut nodes: Vec<NodeId>) -> Vec<NodeId> {
    if nodes.len() <= 1 {
        return nodes; // nothing to order or dedup
    }

    // Best path: a precomputed document-order index (populated by
    // `prepare_xpath`, so always present for XSLT). Sorting by its O(1) key
    // handles every case — same-parent or spanning parents — without walking the
    // tree. This is what keeps relative paths evaluated per node (e.g. an XSLT
    // template testing `name/text()` on each of thousands of siblings) linear
    // rather than O(width^2).
    if doc.doc_order_ready() {
        // Most forward steps already produce ordered nodes. Avoid allocating
        // cached sort keys in that case; retain the stable fallback for equal
        // keys (including detached nodes) and out-of-order context streams.
        if !nodes.is_sorted_by_key(|&node| doc.doc_order_at(node)) {
            nodes.sort_by_cached_key(|&node| doc.doc_order_at(node));
        }
        nodes.dedup();
        return nodes;
    }

    // Fast path (index not prepared): when every node shares one parent —
    // overwhelmingly common, e.g. an axis step's result or a sibling union like
    // `@*|node()` — relative document order is fully determined by each node's
    // position *within that parent* (attributes, in attribute order, before
    // children, in child order). Ordering by a local key avoids
    // `document_order_key`'s walk to the document root.
    if let Some(parent) = doc.parent(nodes[0]) {
        if nodes[1..].iter().all(|&n| doc.parent(n) == Some(parent)) {
            let mut order = SiblingOrderIndex::default();
            nodes.sort_by_cached_key(|&n| local_order_key(doc, parent, n, &mut order));
            nodes.dedup();
            return nodes;
        }
    }

    // General fallback. A sibling-index memo turns each `position()` lookup from
    // an O(siblings) scan into an amortized O(1) hash lookup. Without it, sorting
    // a wide node-set is O(n^2) (each of n nodes re-scans its parent's child
    // list), which is *uncharged* work that defeats the node-visit budget — a
    // disjoint `(/r/a) = (/r/b)` comparison would spend minutes inside dedup
    // before the comparison charge ever fires.
    let mut order = SiblingOrderIndex::default();
    nodes.sort_by_cached_key(|&node| document_order_key(doc, node, &mut order));
    nodes.dedup();
    nodes
}

/// Document-order sort key for a node *known to share `parent` with all others
/// being sorted*: attributes (tuple tag 0) precede children (tag 1), each ordered
/// by position within its respective list. Indexes only `parent`'s lists.
fn local_order_key(
    doc: &Document<'_>,
    parent: NodeId,
    node: NodeId,
    order: &mut SiblingOrderIndex,
) -> (u8, usize) {
    if matches!(doc.node_kind(node), Some(NodeKind::Attribute(_, _))) {
        (0, order.attr_pos(doc, parent, node).unwrap_or(usize::MAX))
    } else {
        (1, order.child_pos(doc, parent, node).unwrap_or(usize::MAX))
    }
}

/// Memoizes the position of each node within its parent's child / attribute
/// list. The first lookup for a given parent indexes that parent's whole list
/// once; subsequent sibling lookups are O(1).
#[derive(Default)]
struct SiblingOrderIndex {
    pos: HashMap<NodeId, usize>,
    children_indexed: HashSet<NodeId>,
    attrs_indexed: HashSet<NodeId>,
}

impl SiblingOrderIndex {
    fn child_pos(&mut self, doc: &Document<'_>, parent: NodeId, child: NodeId) -> Option<usize> {
        if self.children_indexed.insert(parent) {
            for (i, c) in doc.children_iter(parent).enumerate() {
                self.pos.insert(c, i);
            }
        }
        self.pos.get(&child).copied()
    }

    fn attr_pos(&mut self, doc: &Document<'_>, parent: NodeId, attr: NodeId) -> Option<usize> {
        if self.attrs_indexed.insert(parent) {
            for (i, a) in doc.get_attribute_nodes(parent).iter().enumerate() {
                self.pos.insert(*a, i);
            }
        }
        self.pos.get(&attr).copied()
    }
}

fn document_order_key(
    doc: &Document<'_>,
    node: NodeId,
    order: &mut SiblingOrderIndex,
) -> (u8, Vec<(u8, usize)>, usize) {
    let mut path = Vec::new();
    let mut current = node;

    loop {
        if current == doc.root() {
            path.reverse();
            return (0, path, node.index());
        }

        let Some(parent) = doc.parent(current) else {
            return (1, Vec::new(), node.index());
        };

        if matches!(doc.node_kind(current), Some(NodeKind::Attribute(_, _))) {
            let Some(index) = order.attr_pos(doc, parent, current) else {
                return (1, Vec::new(), node.index());
            };
            path.push((0, index));
        } else {
            let Some(index) = order.child_pos(doc, parent, current) else {
                return (1, Vec::new(), node.index());
            };
            path.push((1, index));
        }

        current = parent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The part of the published evaluator that these tests use, on top of [`CompiledXPath`].
    #[derive(Default)]
    struct XPathEvaluator {
        namespaces: HashMap<String, String>,
    }

    impl XPathEvaluator {
        fn new() -> Self {
            Self::default()
        }

        fn add_namespace(&mut self, prefix: impl Into<String>, uri: impl Into<String>) {
            self.namespaces.insert(prefix.into(), uri.into());
        }

        fn evaluate(&self, doc: &Document<'_>, context: NodeId, expr: &str) -> XmlResult<XPathValue> {
            CompiledXPath::compile(expr, 32)?.evaluate(doc, context, &self.namespaces)
        }

        fn select_nodes(&self, doc: &Document<'_>, context: NodeId, expr: &str) -> XmlResult<Vec<NodeId>> {
            match self.evaluate(doc, context, expr)? {
                XPathValue::NodeSet(nodes) => Ok(nodes),
                _ => Err(XmlError::xpath("not a node set")),
            }
        }
    }
    use crate::Parser;

    fn parse_and_eval(xml: &str, xpath: &str) -> XPathValue {
        let doc = Parser::new().parse(xml).unwrap();
        let eval = XPathEvaluator::new();
        let root = doc.document_element().unwrap();
        eval.evaluate(&doc, root, xpath).unwrap()
    }

    /// Node ids selected by `expr`, with `md` bound for namespaced tests.
    fn ids(doc: &Document<'_>, expr: &str) -> Vec<NodeId> {
        let mut eval = XPathEvaluator::new();
        eval.add_namespace("md", "urn:md");
        let root = doc.document_element().unwrap();
        eval.select_nodes(doc, root, expr).unwrap()
    }

    /// Fixture for the `//` fusion tests: nested `a` elements (so `//a//b`
    /// contexts overlap), `b` elements at several depths, two namespaced
    /// `m:b`, a leaf `c`, seven `id` attributes, and one comment, text node
    /// and processing instruction so the node-type tests have targets.
    const FUSE_DOC: &str = "<r xmlns:m='urn:md'><a id='1'><b id='2'/><a id='3'><b id='4'/>\
        <m:b id='5'/></a></a><b id='6'><c/></b><!--x-->t<?pi d?><m:b id='7'/></r>";

    /// `FUSE_DOC` parsed with the attribute-node index built, as the attribute
    /// axis requires.
    fn fuse_doc() -> Document<'static> {
        let mut doc = Parser::new().parse(FUSE_DOC).unwrap();
        doc.prepare_xpath();
        doc
    }

    /// Independent oracle: pre-order walk of the whole tree (document node
    /// first) using only the DOM API, keeping nodes for which `keep` holds.
    fn preorder_filter(doc: &Document<'_>, keep: &dyn Fn(NodeId) -> bool) -> Vec<NodeId> {
        fn walk(
            doc: &Document<'_>,
            id: NodeId,
            keep: &dyn Fn(NodeId) -> bool,
            out: &mut Vec<NodeId>,
        ) {
            if keep(id) {
                out.push(id);
            }
            for c in doc.children_iter(id) {
                walk(doc, c, keep, out);
            }
        }
        let mut out = Vec::new();
        walk(doc, doc.root(), keep, &mut out);
        out
    }

    /// Attribute nodes of every element in document order, filtered by `keep`.
    fn preorder_attrs(doc: &Document<'_>, keep: &dyn Fn(NodeId) -> bool) -> Vec<NodeId> {
        let mut out = Vec::new();
        for el in preorder_filter(doc, &|n| doc.element(n).is_some()) {
            out.extend(
                doc.get_attribute_nodes(el)
                    .iter()
                    .copied()
                    .filter(|&a| keep(a)),
            );
        }
        out
    }

    /// Is `n` an element or attribute named `local` in namespace `ns`
    /// (`None` for no namespace)? Written against the DOM, not the evaluator.
    fn local_is(doc: &Document<'_>, n: NodeId, ns: Option<&str>, local: &str) -> bool {
        match doc.node_kind(n) {
            Some(NodeKind::Element(e)) => {
                *e.name.local_name == *local && e.name.namespace_uri.as_deref() == ns
            }
            Some(NodeKind::Attribute(q, _)) => {
                *q.local_name == *local && q.namespace_uri.as_deref() == ns
            }
            _ => false,
        }
    }

    #[test]
    fn fused_double_slash_matches_independent_oracle() {
        // `//T` and `//@T` take the fused walk. The expected sets come from a
        // hand-written pre-order DOM walk, not from the evaluator, so a wrong
        // or misordered fusion cannot agree with its own control.
        let doc = fuse_doc();
        let d = &doc;
        assert_eq!(
            ids(d, "//b"),
            preorder_filter(d, &|n| local_is(d, n, None, "b"))
        );
        assert_eq!(
            ids(d, "//md:b"),
            preorder_filter(d, &|n| local_is(d, n, Some("urn:md"), "b"))
        );
        assert_eq!(
            ids(d, "//md:*"),
            preorder_filter(d, &|n| matches!(
                d.node_kind(n),
                Some(NodeKind::Element(e)) if e.name.namespace_uri.as_deref() == Some("urn:md")
            ))
        );
        assert_eq!(
            ids(d, "//*"),
            preorder_filter(d, &|n| d.element(n).is_some())
        );
        // `//node()` is every node except the document node itself.
        let mut all = preorder_filter(d, &|_| true);
        all.remove(0);
        assert_eq!(ids(d, "//node()"), all);
        assert_eq!(
            ids(d, "//text()"),
            preorder_filter(d, &|n| matches!(d.node_kind(n), Some(NodeKind::Text(_))))
        );
        assert_eq!(
            ids(d, "//comment()"),
            preorder_filter(d, &|n| matches!(d.node_kind(n), Some(NodeKind::Comment(_))))
        );
        assert_eq!(
            ids(d, "//@id"),
            preorder_attrs(d, &|a| local_is(d, a, None, "id"))
        );
        assert_eq!(ids(d, "//@*"), preorder_attrs(d, &|_| true));
        // Nested `//`: `b` elements with an `a` ancestor, and `id` attributes on
        // `a` elements or their descendants, each once, in document order.
        let has_a_ancestor = |n: NodeId| {
            let mut cur = d.parent(n);
            while let Some(p) = cur {
                if local_is(d, p, None, "a") {
                    return true;
                }
                cur = d.parent(p);
            }
            false
        };
        assert_eq!(
            ids(d, "//a//b"),
            preorder_filter(d, &|n| local_is(d, n, None, "b") && has_a_ancestor(n))
        );
        assert_eq!(
            ids(d, "//a//@id"),
            preorder_attrs(d, &|a| {
                let owner = d.parent(a).unwrap();
                local_is(d, owner, None, "a") || has_a_ancestor(owner)
            })
        );
        assert_eq!(ids(d, "//b").len(), 3);
        assert_eq!(ids(d, "//md:b").len(), 2);
        assert_eq!(ids(d, "//@id").len(), 7);
        assert_eq!(ids(d, "//a//b").len(), 2);
    }

    #[test]
    fn fused_double_slash_matches_unfused_spellings() {
        // Equivalent paths written with axes the fusion does not touch
        // (`descendant::`, `descendant-or-self::*`), relative and absolute,
        // from the root element and from nested contexts.
        let doc = fuse_doc();
        for (fused, unfused) in [
            ("//b", "/descendant::b"),
            ("//md:b", "/descendant::md:b"),
            ("//md:*", "/descendant::md:*"),
            ("//*", "/descendant::*"),
            ("//node()", "/descendant::node()"),
            ("//text()", "/descendant::text()"),
            ("//@id", "/descendant::*/attribute::id"),
            ("//@*", "/descendant::*/attribute::*"),
            (".//b", "descendant::b"),
            ("a//b", "a/descendant::b"),
            ("//a//b", "/descendant::a/descendant::b"),
            (
                "//a//@id",
                "/descendant::a/descendant-or-self::*/attribute::id",
            ),
            ("//c//*", "/descendant::c/descendant::*"),
        ] {
            assert_eq!(ids(&doc, fused), ids(&doc, unfused), "{fused} vs {unfused}");
        }
    }

    #[test]
    fn double_slash_with_predicates_keeps_per_parent_positions() {
        // A predicate on the step after `//` is positional relative to the
        // parent, so the pair is not fused: `//b[1]` is the first `b` child of
        // every parent, not the first `b` in the document.
        let doc = fuse_doc();
        assert_eq!(ids(&doc, "//b[1]").len(), 3);
        assert_eq!(ids(&doc, "//b[last()]").len(), 3);
        assert_eq!(ids(&doc, "//b[@id='4']").len(), 1);
        assert_eq!(
            ids(&doc, "//b[1]"),
            ids(&doc, "/descendant-or-self::node()/child::b[1]")
        );
    }

    #[test]
    fn resolved_test_unbound_prefix_matches_nothing() {
        let doc = fuse_doc();
        let eval = XPathEvaluator::new();
        let root = doc.document_element().unwrap();
        assert!(eval.select_nodes(&doc, root, "//zz:b").unwrap().is_empty());
        assert!(eval.select_nodes(&doc, root, "//zz:*").unwrap().is_empty());
        assert!(eval
            .select_nodes(&doc, root, "descendant::zz:b")
            .unwrap()
            .is_empty());
    }

    #[test]
    fn descendant_axis_from_attribute_and_leaf_contexts() {
        let doc = fuse_doc();
        // A leaf element has no descendants; an attribute context has none and
        // its `//` walk must not escape to the owner's siblings.
        assert!(ids(&doc, "//c//*").is_empty());
        assert!(ids(&doc, "//@id//*").is_empty());
        assert!(ids(&doc, "//c/descendant::node()").is_empty());
        assert_eq!(ids(&doc, "//b[@id='6']/descendant-or-self::*").len(), 2);
        // count() over the fused form equals the explicit form.
        let eval = XPathEvaluator::new();
        let root = doc.document_element().unwrap();
        let n = |e: &str| eval.evaluate(&doc, root, e).unwrap().to_number(&doc);
        assert_eq!(
            n("count(//*)"),
            n("count(/descendant-or-self::node()/child::*)")
        );
        assert_eq!(n("count(//*)"), 9.0);
    }

    #[test]
    fn test_child_elements() {
        let doc = Parser::new().parse("<root><a/><b/><c/></root>").unwrap();
        let eval = XPathEvaluator::new();
        let root = doc.document_element().unwrap();
        let result = eval.select_nodes(&doc, root, "*").unwrap();
        assert_eq!(result.len(), 3);
    }

    #[test]
    fn test_descendant_elements() {
        let doc = Parser::new().parse("<root><a><b/></a><c/></root>").unwrap();
        let eval = XPathEvaluator::new();
        let root = doc.document_element().unwrap();
        let result = eval.select_nodes(&doc, root, ".//b").unwrap();
        assert_eq!(result.len(), 1);
    }

    #[test]
    fn test_predicate_position() {
        let doc = Parser::new()
            .parse("<root><item>1</item><item>2</item><item>3</item></root>")
            .unwrap();
        let eval = XPathEvaluator::new();
        let root = doc.document_element().unwrap();
        let result = eval.select_nodes(&doc, root, "item[2]").unwrap();
        assert_eq!(result.len(), 1);
        assert_eq!(doc.text_content_deep(result[0]), "2");
    }

    #[test]
    fn test_absolute_path() {
        let doc = Parser::new().parse("<root><a><b/></a></root>").unwrap();
        let eval = XPathEvaluator::new();
        let root = doc.document_element().unwrap();
        let result = eval.select_nodes(&doc, root, "/root/a/b").unwrap();
        assert_eq!(result.len(), 1);
    }

    #[test]
    fn test_text_function() {
        let val = parse_and_eval("<root>hello</root>", "string()");
        match val {
            XPathValue::String(s) => assert_eq!(s, "hello"),
            _ => panic!("Expected string"),
        }
    }

    #[test]
    fn test_count_function() {
        let val = parse_and_eval("<root><a/><a/><a/></root>", "count(a)");
        match val {
            XPathValue::Number(n) => assert_eq!(n, 3.0),
            _ => panic!("Expected number"),
        }
    }

    #[test]
    fn test_boolean_expression() {
        let val = parse_and_eval("<root><a/></root>", "1 = 1");
        assert!(val.to_boolean());
    }

    #[test]
    fn test_not_function() {
        let val = parse_and_eval("<root/>", "not(false())");
        assert!(val.to_boolean());
    }

    #[test]
    fn test_string_functions() {
        let val = parse_and_eval("<root/>", "concat('hello', ' ', 'world')");
        match val {
            XPathValue::String(s) => assert_eq!(s, "hello world"),
            _ => panic!("Expected string"),
        }

        let val = parse_and_eval("<root/>", "starts-with('hello', 'hel')");
        assert!(val.to_boolean());

        let val = parse_and_eval("<root/>", "contains('hello world', 'lo wo')");
        assert!(val.to_boolean());

        let val = parse_and_eval("<root/>", "string-length('hello')");
        match val {
            XPathValue::Number(n) => assert_eq!(n, 5.0),
            _ => panic!("Expected number"),
        }
    }

    /// F-08: deeply-nested `(...)` groups must be rejected cleanly
    /// instead of stack-overflowing the parser.
    #[test]
    fn test_xpath_paren_depth_cap() {
        let mut expr = String::new();
        for _ in 0..200 {
            expr.push('(');
        }
        expr.push('1');
        for _ in 0..200 {
            expr.push(')');
        }
        let doc = crate::parse("<r/>").unwrap();
        let eval = XPathEvaluator::new();
        let root = doc.root();
        let err = eval
            .evaluate(&doc, root, &expr)
            .expect_err("deep paren nesting must be rejected");
        assert!(
            format!("{}", err).contains("maximum depth"),
            "expected depth-cap error, got: {}",
            err
        );
    }

    /// F-08: deeply-nested `[...]` predicates must be rejected.
    #[test]
    fn test_xpath_predicate_depth_cap() {
        // Build `a[a[a[...a[1]...]]]` with 200 nested predicates.
        let mut expr = String::from("a");
        for _ in 0..200 {
            expr.push_str("[a");
        }
        expr.push_str("[1]");
        for _ in 0..200 {
            expr.push(']');
        }
        let doc = crate::parse("<r><a/></r>").unwrap();
        let eval = XPathEvaluator::new();
        let root = doc.root();
        let err = eval
            .evaluate(&doc, root, &expr)
            .expect_err("deep predicate nesting must be rejected");
        assert!(
            format!("{}", err).contains("maximum depth"),
            "expected depth-cap error, got: {}",
            err
        );
    }

    /// F-08: chained leading unary `-` must be rejected before the
    /// `parse_unary_expr` recursion blows the stack.
    #[test]
    fn test_xpath_unary_minus_depth_cap() {
        let mut expr = String::new();
        for _ in 0..200 {
            expr.push('-');
        }
        expr.push('1');
        let doc = crate::parse("<r/>").unwrap();
        let eval = XPathEvaluator::new();
        let root = doc.root();
        let err = eval
            .evaluate(&doc, root, &expr)
            .expect_err("deep unary-minus chain must be rejected");
        assert!(
            format!("{}", err).contains("maximum depth"),
            "expected depth-cap error, got: {}",
            err
        );
    }

    /// Legitimate nesting well under the cap still works.
    #[test]
    fn test_xpath_moderate_nesting_evaluates() {
        let mut expr = String::new();
        for _ in 0..10 {
            expr.push('(');
        }
        expr.push('1');
        for _ in 0..10 {
            expr.push(')');
        }
        let doc = crate::parse("<r/>").unwrap();
        let eval = XPathEvaluator::new();
        let root = doc.root();
        let val = eval.evaluate(&doc, root, &expr).expect("10-deep evaluates");
        match val {
            XPathValue::Number(n) => assert_eq!(n, 1.0),
            _ => panic!("expected number"),
        }
    }

    // ── M0: variable + function-resolution seam ──
}
