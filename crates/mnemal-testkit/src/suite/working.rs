//! Cases of `WorkingStore`.

use std::num::NonZeroUsize;

use mnemal_core::{Category, ErrorKind, KeyPrefix, Result, Tag, Timestamp, WorkingEntry, WorkingKey};

use super::Storage;

const ROOM: NonZeroUsize = NonZeroUsize::new(50).expect("50 is not zero");

fn at(seconds: i64) -> Timestamp {
    Timestamp::EPOCH.plus_micros(seconds * 1_000_000)
}

fn until(value: &str, seconds: i64) -> WorkingEntry {
    let (value, expires_at) = (value.to_owned(), at(seconds));
    WorkingEntry { value, stored_at: at(1), expires_at, category: None, tags: Vec::new() }
}

async fn put(storage: &Storage, key: &str, seconds: i64, room: NonZeroUsize) -> Result<Vec<String>> {
    let gone = storage.working.put(&WorkingKey::new(key)?, &until(key, seconds), room).await?;
    Ok(gone.into_iter().map(|(key, end)| format!("{key} {}", end.as_micros() / 1_000_000)).collect())
}

async fn keys(storage: &Storage, prefix: &KeyPrefix) -> Result<Vec<String>> {
    keys_below(storage, std::slice::from_ref(prefix)).await
}

async fn keys_below(storage: &Storage, prefixes: &[KeyPrefix]) -> Result<Vec<String>> {
    let listed = storage.working.list(prefixes).await?;
    Ok(listed.into_iter().map(|(key, _)| key.as_str().to_owned()).collect())
}

/// Every field comes back; what is put again takes the place of what was there.
// proves: RB-34
pub async fn an_entry_comes_back_as_it_was_put(storage: &Storage) -> Result<()> {
    let key = WorkingKey::new("session/s1/plan")?;
    let missing = storage.working.get(&key).await;
    assert_eq!(missing.map_err(|error| error.kind()).err(), Some(ErrorKind::NotFound));
    let entry = WorkingEntry {
        value: "a\0 \u{1f600} 値\n".to_owned(),
        stored_at: Timestamp::EPOCH.plus_micros(7),
        expires_at: Timestamp::MAX,
        category: Some(Category::new("work/release")?),
        tags: vec![Tag::new("b")?, Tag::new("a")?],
    };
    storage.working.put(&key, &until("first", 9), ROOM).await?;
    storage.working.put(&key, &entry, ROOM).await?;
    assert_eq!(storage.working.get(&key).await?, entry);
    assert_eq!(storage.working.list(&[KeyPrefix::all()]).await?, [(key, entry)]);
    Ok(())
}

/// Several prefixes are one list, in which each entry stands once.
pub async fn several_prefixes_are_one_list_by_key(storage: &Storage) -> Result<()> {
    for key in ["patrol/a", "session/a/x", "session/b", "subagent/a", "zoo"] {
        put(storage, key, 100, ROOM).await?;
    }
    let list = async |prefixes: &[&str]| {
        let prefixes: Result<Vec<KeyPrefix>> = prefixes.iter().map(|prefix| KeyPrefix::new(prefix)).collect();
        keys_below(storage, &prefixes?).await
    };
    let three = ["patrol/a", "session/a/x", "subagent/a"];
    assert_eq!(list(&["subagent", "session/a", "patrol"]).await?, three);
    assert_eq!(
        list(&["session", "patrol", "session/a", "none"]).await?,
        ["patrol/a", "session/a/x", "session/b"]
    );
    assert_eq!(list(&[]).await?, Vec::<String>::new());
    let everything = storage.working.list(&[KeyPrefix::new("zoo")?, KeyPrefix::all()]).await?;
    assert_eq!(everything.len(), 5);
    Ok(())
}

/// `session/a` holds nothing of `session/ab`, whatever characters follow.
// proves: RB-33, DF-101
pub async fn a_prefix_ends_at_a_segment(storage: &Storage) -> Result<()> {
    for key in [
        "session/a",
        "session/a!",
        "session/a-b/x",
        "session/a/x",
        "session/a/x/y",
        "session/a0",
        "session/ab/x",
    ] {
        put(storage, key, 100, ROOM).await?;
    }
    let prefix = KeyPrefix::new("session/a")?;
    let below = ["session/a", "session/a/x", "session/a/x/y"];
    assert_eq!(keys(storage, &prefix).await?, below);
    assert_eq!(keys(storage, &KeyPrefix::new("sess")?).await?, Vec::<String>::new());
    assert_eq!(storage.working.remove(&prefix).await?, 3);
    assert_eq!(storage.working.remove(&prefix).await?, 0);
    let left = ["session/a!", "session/a-b/x", "session/a0", "session/ab/x"];
    assert_eq!(keys(storage, &KeyPrefix::all()).await?, left);
    assert_eq!(storage.working.remove(&KeyPrefix::all()).await?, 4);
    Ok(())
}

/// Beyond its room a namespace loses what expires first, never the new entry; others lose nothing.
// proves: RB-36, RB-37
pub async fn a_namespace_has_room_for_so_many(storage: &Storage) -> Result<()> {
    let three = NonZeroUsize::new(3).unwrap_or(NonZeroUsize::MIN);
    for (key, end) in [("s/a/1", 40), ("s/a/2", 20), ("s/a/sub/3", 30), ("s/b/1", 10), ("s/x", 5), ("one", 1)]
    {
        assert_eq!(put(storage, key, end, three).await?, Vec::<String>::new(), "{key}");
    }
    assert_eq!(put(storage, "s/a/2", 21, three).await?, Vec::<String>::new(), "in its own place");
    assert_eq!(put(storage, "s/a/4", 1, three).await?, ["s/a/2 21"]);
    assert_eq!(put(storage, "s/a/5", 50, NonZeroUsize::MIN).await?, ["s/a/4 1", "s/a/sub/3 30", "s/a/1 40"]);
    assert_eq!(keys(storage, &KeyPrefix::all()).await?, ["one", "s/a/5", "s/b/1", "s/x"]);
    Ok(())
}

/// A sweep removes what has expired at its microsecond, and nothing else.
// proves: RB-40
pub async fn a_sweep_is_exact_to_the_microsecond(storage: &Storage) -> Result<()> {
    for (key, end) in [("s/a/1", 10), ("s/b/2", 11), ("s/b/3", 9)] {
        put(storage, key, end, ROOM).await?;
    }
    assert_eq!(storage.working.sweep(at(10).plus_micros(-1)).await?, 1);
    assert_eq!(
        storage.working.get(&WorkingKey::new("s/a/1")?).await?.expires_at,
        at(10),
        "not swept, still told"
    );
    assert_eq!(storage.working.sweep(at(10)).await?, 1);
    assert_eq!(keys(storage, &KeyPrefix::all()).await?, ["s/b/2"]);
    Ok(())
}

/// No text of a key is more than a text to the store.
// proves: DF-101
pub async fn hostile_keys_are_only_keys(storage: &Storage) -> Result<()> {
    let hostile =
        ["a'; drop table working; --/x", "a\"b/%/_", "%/x", "_/x", "*/x", "A/x", "a/x", "\u{1f600}/\u{301}x"];
    for key in hostile {
        put(storage, key, 100, ROOM).await?;
    }
    let mut sorted = hostile.map(ToOwned::to_owned);
    sorted.sort();
    assert_eq!(keys(storage, &KeyPrefix::all()).await?, sorted);
    for prefix in ["%", "_", "*", "a"] {
        assert_eq!(keys(storage, &KeyPrefix::new(prefix)?).await?, [format!("{prefix}/x")]);
    }
    Ok(())
}
