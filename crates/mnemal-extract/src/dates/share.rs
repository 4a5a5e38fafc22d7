//! Shared parts of a list: "Monday or Tuesday next week", "the 22nd, 23rd or 31st of March".

use std::rc::Rc;

use super::expr::{Cal, Expr};
use super::make_clock::attached;

/// Completes the first from the second: its month, or the period it lies in.
pub(super) fn from_later(first: &Expr, second: &Expr) -> Option<Expr> {
    match (first, second) {
        (
            Expr::Cal(a @ Cal { month: None, day: Some(_), weekday: None, .. }),
            Expr::Cal(b @ Cal { month: Some(_), day: Some(_), .. }),
        ) => Some(Expr::Cal(Cal { month: b.month, year: b.year, ..*a })),
        (first, Expr::In { item, outer }) if is_weekday(item) => within(first, outer),
        _ => None,
    }
}

/// Completes the second from the first: the period it lies in, or the day of a time.
pub(super) fn from_earlier(first: &Expr, second: &Expr) -> Option<Expr> {
    match (first, second) {
        (
            Expr::Cal(a @ Cal { month: Some(_), day: Some(first), .. }),
            Expr::Cal(b @ Cal { year: None, month: None, day: Some(second), weekday: None }),
        ) if second > first => Some(Expr::Cal(Cal { month: a.month, year: a.year, ..*b })),
        (Expr::In { item, outer }, second) if is_weekday(item) => within(second, outer),
        (Expr::At { day, .. }, second) => match (&**day, second) {
            (Expr::In { item, outer }, Expr::At { .. }) if is_weekday(item) => within(second, outer),
            (_, Expr::Clock(_)) => attached(day, second),
            (_, Expr::Range { from, .. }) if matches!(**from, Expr::Clock(_)) => attached(day, second),
            _ => None,
        },
        (Expr::Range { from, .. }, second) if matches!(**from, Expr::At { .. }) => from_earlier(from, second),
        _ => None,
    }
}

fn within(expr: &Expr, outer: &Rc<Expr>) -> Option<Expr> {
    match expr {
        weekday if is_weekday(weekday) => {
            Some(Expr::In { item: Rc::new(weekday.clone()), outer: Rc::clone(outer) })
        }
        Expr::At { day, clock } if is_weekday(day) => {
            Some(Expr::At { day: Rc::new(within(day, outer)?), clock: *clock })
        }
        _ => None,
    }
}

fn is_weekday(expr: &Expr) -> bool {
    matches!(expr, Expr::Cal(Cal { weekday: Some(_), day: None, month: None, .. }))
}
