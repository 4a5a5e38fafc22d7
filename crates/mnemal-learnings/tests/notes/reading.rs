//! Notes by key and by category.

use mnemal_core::{AsOf, Category, Decision, ErrorKind, EventKind, LearningFilter, Origin, Within};

use crate::log::{Space, at, key, now, remember};

fn filed(space: &mut Space, of: &str, category: &str) {
    let mut note = remember(of);
    note.category = Category::new(category).unwrap();
    space.append(EventKind::Decision(Decision::Remember(note)), of, Origin::UserDirect);
}

// proves: RB-04, RB-06
#[test]
fn categories_count_what_lies_in_and_below_them() {
    let mut space = Space::new();
    for (of, category) in
        [("a", "project/build"), ("b", "project/build"), ("c", "project"), ("d", "projects")]
    {
        filed(&mut space, of, category);
    }
    space.catch_up(10);
    let tree = now(space.notes.categories(&LearningFilter::all(), AsOf::at(at(99)))).unwrap();
    let tree: Vec<(&str, u64)> = tree.iter().map(|(category, count)| (category.as_str(), *count)).collect();
    assert_eq!(tree, [("project", 3), ("project/build", 2), ("projects", 1)]);
    let within =
        LearningFilter { category: Within::Only(Category::new("project").unwrap()), ..LearningFilter::all() };
    assert_eq!(now(space.notes.list(&within, AsOf::at(at(99)))).unwrap().len(), 3);
}

// proves: PB-48
#[test]
fn a_space_is_empty_until_a_note_holds() {
    let mut space = Space::new();
    let empty = |space: &Space| now(space.notes.is_empty(AsOf::at(at(99)))).unwrap();
    assert!(empty(&space));
    filed(&mut space, "a", "general");
    space.catch_up(10);
    assert!(!empty(&space));
    space.archive("a", Origin::UserDirect);
    space.catch_up(10);
    assert!(empty(&space));
}

#[test]
fn a_key_that_was_never_used_is_not_found() {
    let space = Space::new();
    assert_eq!(now(space.notes.get(&key("x"), AsOf::at(at(1)))).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(now(space.notes.history(&key("x"))).unwrap_err().kind(), ErrorKind::NotFound);
}
