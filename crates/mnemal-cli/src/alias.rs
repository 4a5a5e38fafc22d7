//! Aliases of settings: the key names of other memory systems.

use toml::{Table, Value};

/// A section and a key in it.
type SettingName = (&'static str, &'static str);

/// Keys of other memory systems, each with the section and key that it maps to. Source: the configuration plan of `PicoBot`.
const ALIASES: &[(SettingName, SettingName)] = &[
    (("memory", "consolidation_provider"), ("llm", "provider")),
    (("memory", "consolidation_model"), ("llm", "model")),
    (("memory", "recall_limit"), ("recall", "inject_limit")),
    (("memory", "consolidation_turn_threshold"), ("compress", "turn_threshold")),
    (("memory", "idle_consolidation_minutes"), ("compress", "idle_minutes")),
    (("memory", "timeline_retention_days"), ("retention", "timeline_days")),
    (("memory", "max_failures_before_degrade"), ("compress", "max_failures")),
];

/// Moves values under an alias to the key that it maps to; a value under the key's own name takes precedence.
pub(crate) fn resolve(table: &mut Table) {
    for ((section, key), (own_section, own_key)) in ALIASES {
        let Some(value) =
            table.get_mut(*section).and_then(Value::as_table_mut).and_then(|keys| keys.remove(*key))
        else {
            continue;
        };
        let own = table.entry(*own_section).or_insert_with(|| Table::new().into());
        if let Some(own) = own.as_table_mut() {
            own.entry(*own_key).or_insert(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use mnemal::Settings;
    use mnemal::settings::LlmProvider;

    use super::*;

    fn resolved(text: &str) -> Table {
        let mut table = toml::from_str(text).unwrap();
        resolve(&mut table);
        table
    }

    // proves: PB-57 (the names of the plan)
    #[test]
    fn the_section_of_picobot_is_understood() {
        let mut table = resolved(
            "[memory]\nenabled = true\nconsolidation_provider = \"openai\"\nconsolidation_model = \"gpt-4o-mini\"\n\
             recall_limit = 2\nconsolidation_turn_threshold = 4\nidle_consolidation_minutes = 7\n\
             timeline_retention_days = 30\nmax_failures_before_degrade = 2",
        );
        assert_eq!(table.remove("memory").unwrap().as_table().unwrap().len(), 1, "the switch stays");
        let settings: Settings = table.try_into().unwrap();
        settings.check().unwrap();
        assert_eq!(
            (settings.llm.provider, settings.llm.model.as_str()),
            (LlmProvider::Openai, "gpt-4o-mini")
        );
        let compress = &settings.compress;
        assert_eq!((compress.turn_threshold, compress.idle_minutes, compress.max_failures), (4, 7, 2));
        assert_eq!((settings.recall.inject_limit, settings.retention.timeline_days), (2, 30));
    }

    #[test]
    fn an_own_name_holds_and_a_misspelt_one_stays_to_be_refused() {
        let table = resolved("[memory]\nrecall_limit = 2\nrecall_limits = 9\n[recall]\ninject_limit = 3");
        assert_eq!(table["recall"]["inject_limit"].as_integer(), Some(3));
        assert!(table["memory"].get("recall_limits").is_some());
    }
}
