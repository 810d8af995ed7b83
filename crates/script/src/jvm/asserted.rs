//! The message of a failed Groovy assertion for which the script defines a message: that message, the expression as the
//! compiler prints it, and the values of its variables.

use std::rc::Rc;

use super::fault::Fault;
use super::machine::{Frame, Machine};
use super::print;
use super::tree::{Expr, Item, Kind, Name, Operator, Tree};
use crate::plain::Binary;

/// Returns a message such as `message. Expression: (x == 5). Values: x = 4`. `source` is used if the printed form of the
/// expression is unknown.
pub(super) fn failure(
    machine: &mut Machine<'_>,
    message: &str,
    condition: &Expr,
    source: &str,
    frame: &Rc<Frame>,
) -> Result<String, Fault> {
    let printed = printed(machine.tree, condition).unwrap_or_else(|| source.to_owned());
    let mut text = format!("{message}. Expression: {printed}");
    let mut names = Vec::new();
    collect(condition, &mut names);
    for (at, name) in names.into_iter().enumerate() {
        let Some(value) = machine.find(frame, name) else { continue };
        let value = print::groovy(machine, &value)?;
        let name = &machine.tree.names[name as usize];
        text.push_str(if at == 0 { ". Values: " } else { ", " });
        text.push_str(&format!("{name} = {value}"));
    }
    Ok(text)
}

/// Collects the variables of the condition, except in arguments of calls.
fn collect(expr: &Expr, names: &mut Vec<Name>) {
    match &expr.kind {
        Kind::Name(name) => names.push(*name),
        Kind::Not(operand) => collect(operand, names),
        Kind::Binary(_, left, right) | Kind::And(left, right) | Kind::Or(left, right) => {
            collect(left, names);
            collect(right, names);
        }
        _ => {}
    }
}

fn printed(tree: &Tree, expr: &Expr) -> Option<String> {
    let of = |expr: &Expr| printed(tree, expr);
    let pair = |left: &Expr, sign: &str, right: &Expr| Some(format!("({} {sign} {})", of(left)?, of(right)?));
    Some(match &expr.kind {
        Kind::Literal(value) => value.to_java_string(),
        Kind::Name(name) => tree.names[*name as usize].to_string(),
        // Groovy 3 prints the operand without `!`.
        Kind::Not(operand) => of(operand)?,
        Kind::List(items) => format!("[{}]", arguments(tree, items)?),
        Kind::Binary(operator, left, right) => pair(left, sign(*operator)?, right)?,
        Kind::And(left, right) => pair(left, "&&", right)?,
        Kind::Or(left, right) => pair(left, "||", right)?,
        Kind::Property(object, name, safe, false) => {
            format!("{}{}.{name}", of(object)?, if *safe { "?" } else { "" })
        }
        Kind::Call(object, name, items, safe, false) => {
            let object = match object {
                Some(object) => of(object)?,
                None => "this".to_owned(),
            };
            format!("{object}{}.{name}({})", if *safe { "?" } else { "" }, arguments(tree, items)?)
        }
        _ => return None,
    })
}

fn arguments(tree: &Tree, items: &[Item]) -> Option<String> {
    let printed = |item: &Item| (!item.spread).then(|| printed(tree, &item.expr)).flatten();
    Some(items.iter().map(printed).collect::<Option<Vec<_>>>()?.join(", "))
}

fn sign(operator: Operator) -> Option<&'static str> {
    Some(match operator {
        Operator::Plain(binary) => match binary {
            Binary::Add => "+",
            Binary::Subtract => "-",
            Binary::Multiply => "*",
            Binary::Divide => "/",
            Binary::Remainder => "%",
            Binary::Equal => "==",
            Binary::NotEqual => "!=",
            Binary::Less => "<",
            Binary::LessOrEqual => "<=",
            Binary::Greater => ">",
            Binary::GreaterOrEqual => ">=",
            Binary::Matches => "==~",
            _ => return None,
        },
        Operator::Spaceship => "<=>",
        Operator::Same => "===",
        Operator::Find => "=~",
        Operator::In => "in",
        _ => return None,
    })
}
