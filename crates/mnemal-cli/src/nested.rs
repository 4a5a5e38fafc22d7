//! Nested settings of nanobot: sections inside `[memory]`, by its names.

use toml::{Table, Value};

/// Sections of nanobot, each with the section that it maps to. Source: nanobot v2, `MemoryConfig`.
const SECTIONS: [(&str, &str); 5] = [
    ("embedding", "embedding"),
    ("extraction", "extract"),
    ("summary", "summaries"),
    ("learning", "learning"),
    ("context", "context"),
];
/// Keys of nanobot without an equivalent: its models, its implicit fallbacks to an endpoint, and its file.
const ELSEWHERE: [(&str, &str); 9] = [
    ("embedding", "provider"),
    ("embedding", "local_model"),
    ("embedding", "api_model"),
    ("embedding", "api_fallback"),
    ("embedding", "cache_embeddings"),
    ("extract", "spacy_model"),
    ("extract", "api_fallback"),
    ("extract", "api_model"),
    ("summaries", "model"),
];

/// Moves the sections of nanobot to their equivalents; values under own names take precedence. Returns the keys without effect.
pub(crate) fn lift(table: &mut Table) -> Vec<String> {
    let mut found: Vec<(&str, &str, Table)> = Vec::new();
    let mut dropped: Vec<String> = Vec::new();
    for (name, own) in SECTIONS {
        let nested = table.get_mut("memory").and_then(Value::as_table_mut);
        let nested = nested.and_then(|memory| memory.remove(name));
        let beside = if name == own { None } else { table.remove(name) };
        for section in [nested, beside].into_iter().flatten() {
            if let Value::Table(keys) = section {
                found.push((name, own, keys));
            }
        }
    }
    if let Some(memory) = table.get_mut("memory").and_then(Value::as_table_mut) {
        dropped.extend(memory.remove("db_path").map(|_| "memory.db_path".to_owned()));
    }
    for (name, own, mut keys) in found {
        let is_elsewhere = |key: &&String| ELSEWHERE.contains(&(own, key.as_str()));
        dropped.extend(keys.keys().filter(is_elsewhere).map(|key| format!("{name}.{key}")));
        keys.retain(|key, _| !ELSEWHERE.contains(&(own, key)));
        let section = table.entry(own).or_insert_with(|| Table::new().into());
        if let Some(section) = section.as_table_mut() {
            for (key, value) in keys {
                section.entry(key).or_insert(value);
            }
        }
    }
    dropped
}

#[cfg(test)]
mod tests {
    use mnemal::Settings;

    use super::*;

    fn read(text: &str) -> (Table, Settings) {
        let mut table: Table = toml::from_str(text).unwrap();
        let _elsewhere = lift(&mut table);
        let memory = table.remove("memory").and_then(|memory| memory.as_table().cloned()).unwrap_or_default();
        let settings: Settings = table.try_into().unwrap();
        settings.check().unwrap();
        (memory, settings)
    }

    // proves: NB-84 (the names and the nesting of the design)
    #[test]
    fn the_nesting_of_nanobot_is_understood() {
        let (memory, settings) = read(
            "[memory]\nenabled = true\ndb_path = \"memory/memory.db\"\n\
             [memory.embedding]\nprovider = \"local\"\nlocal_model = \"BAAI/bge-small-en-v1.5\"\napi_fallback = true\n\
             [memory.extraction]\nenabled = false\ninterval_seconds = 30\nbatch_size = 7\nactivity_backoff = false\n\
             spacy_model = \"en_core_web_sm\"\napi_fallback = false\n\
             [memory.summary]\nstaleness_threshold = 5\nmax_refresh_batch = 3\nmodel = \"\"\n\
             [memory.learning]\nenabled = false\ndecay_days = 21\nmax_learnings = 50\n\
             [memory.context]\ntotal_budget = 900\nalways_include_preferences = false",
        );
        assert_eq!(memory.len(), 1, "the switch stays: {memory:?}");
        let extract = &settings.extract;
        assert!(!extract.enabled && !extract.backoff_when_active && !settings.learning.enabled);
        assert_eq!((extract.interval_secs, extract.batch.get()), (30, 7));
        assert_eq!((settings.summaries.staleness_threshold, settings.summaries.max_refresh_batch), (5, 3));
        assert_eq!(
            (settings.learning.half_life_days.to_string(), settings.learning.max_active),
            ("21".to_owned(), 50)
        );
        assert_eq!(settings.context.budget_tokens, 900);
        assert!(!settings.context.always_include_preferences);
    }

    #[test]
    fn an_own_name_holds_and_a_misspelt_one_is_refused() {
        let (_, settings) =
            read("[memory.summary]\nstaleness_threshold = 5\n[summaries]\nstaleness_threshold = 9");
        assert_eq!(settings.summaries.staleness_threshold, 9);
        let mut table: Table = toml::from_str("[memory.extraction]\nintervall_seconds = 5").unwrap();
        lift(&mut table);
        assert!(table.try_into::<Settings>().is_err());
    }
}
