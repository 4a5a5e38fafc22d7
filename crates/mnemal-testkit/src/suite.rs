//! Conformance suites: one file per port, one macro per list of cases.

#![expect(clippy::missing_errors_doc, reason = "a case fails with whatever the store under test answers")]
#![expect(clippy::unused_async, reason = "all cases of all suites are called alike")]

pub mod context_source;
pub mod counter;
pub mod embedder;
pub mod event;
pub mod extractor;
pub mod graph;
pub mod index;
pub mod learning;
pub mod lease;
pub mod ledger;
pub mod model;
pub mod receipt;
pub mod reranker;
pub mod source;
pub mod summary;
pub mod upkeep;
pub mod working;

use std::any::Any;
use std::future::Future;
use std::sync::Arc;

use mnemal_core::{
    CompletionCache, Error, EventStore, GraphStore, IndexStore, LearningStore, LeaseStore, LedgerStore,
    ReceiptStore, Result, SummaryStore, Upkeep, WorkingStore,
};

/// A fresh, empty space as its ports.
#[derive(Debug)]
pub struct Storage {
    /// The log.
    pub events: Arc<dyn EventStore>,
    /// The same log through a second handle, like that of another process; the same handle if there is no other.
    pub other: Arc<dyn EventStore>,
    /// The index.
    pub index: Arc<dyn IndexStore>,
    /// The notes.
    pub learnings: Arc<dyn LearningStore>,
    /// The graph.
    pub graph: Arc<dyn GraphStore>,
    /// The summary tree.
    pub summaries: Arc<dyn SummaryStore>,
    /// The receipts.
    pub receipts: Arc<dyn ReceiptStore>,
    /// The working memory.
    pub working: Arc<dyn WorkingStore>,
    /// The answers of language models.
    pub completions: Arc<dyn CompletionCache>,
    /// The leases.
    pub leases: Arc<dyn LeaseStore>,
    /// The ledger.
    pub ledger: Arc<dyn LedgerStore>,
    /// The upkeep.
    pub upkeep: Arc<dyn Upkeep>,
    /// Values that must live as long as the space, such as its folder.
    pub keep: Box<dyn Any + Send + Sync>,
}

/// Runs a future to its end on a runtime of its own, with timers.
///
/// # Errors
/// `Internal` when the runtime cannot start; else what the future answers.
pub fn block_on<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|cause| Error::internal("cannot start a runtime").because(cause))?.block_on(work)
}

/// Makes one test a case out of a fixture and a list of cases; used by the suites' own macros.
#[doc(hidden)]
#[macro_export]
macro_rules! __cases {
    ($fixture:expr, $suite:ident: $($case:ident),+ $(,)?) => {
        $(
            #[test]
            fn $case() -> mnemal_core::Result<()> {
                $crate::block_on(async { $crate::$suite::$case(&$fixture().await).await })
            }
        )+
    };
}

/// Runs the cases of `EventStore` over `fixture: async fn() -> Storage`.
#[macro_export]
macro_rules! event_store_conformance {
    ($fixture:expr) => {
        mod event_store {
            use super::*;
            $crate::__cases!(
                $fixture,
                event: an_empty_log_has_no_head,
                scan_returns_what_was_appended_in_order,
                seq_is_dense_and_recorded_at_strictly_increases,
                a_known_key_with_the_same_body_has_one_effect,
                a_known_key_with_another_body_is_a_conflict,
                a_duplicate_inside_a_batch_returns_the_first,
                a_batch_is_stored_whole_or_not_at_all,
                a_batch_above_the_limit_is_invalid,
                get_keeps_the_order_asked_and_names_what_is_missing,
                get_at_gives_what_get_gives_wherever_an_event_stands,
                every_field_comes_back,
                decisions_come_back,
                operations_come_back,
                a_scan_has_no_holes_while_two_handles_append,
                filters_agree_with_the_reference,
                latest_is_newest_first,
                sessions_count_living_events,
                quarantined_events_are_counted,
                an_unknown_parent_is_invalid,
                an_erased_body_stays_erased,
                erasing_something_unknown_changes_nothing,
                erasing_twice_is_no_change,
                adopted_tombstones_are_listed,
                a_dropped_append_leaves_the_store_usable,
            );
        }
    };
}

/// Runs the cases of `IndexStore` over `fixture: async fn() -> Storage`.
#[macro_export]
macro_rules! index_store_conformance {
    ($fixture:expr) => {
        mod index_store {
            use super::*;
            $crate::__cases!(
                $fixture,
                index: what_was_appended_is_in_the_next_load,
                loading_after_a_position_gives_the_rest,
                many_small_loads_equal_one_large_load,
                sealed_equals_unsealed_row_by_row,
                the_mark_moves_with_every_append_and_erase,
                no_block_holds_an_erased_or_quarantined_event,
                vectors_of_two_models_stay_apart,
                late_vectors_are_loaded_and_raise_their_generation,
                vectors_of_a_wrong_dimension_are_invalid,
            );
        }
    };
}

/// Runs the cases of `LearningStore` and its projection over `fixture: async fn() -> Storage`.
#[macro_export]
macro_rules! learning_store_conformance {
    ($fixture:expr) => {
        mod learning_store {
            use super::*;
            $crate::__cases!(
                $fixture,
                learning_suite: rows_and_cursor_move_together,
                an_old_cursor_is_a_conflict_and_writes_nothing,
                applying_the_same_rows_again_changes_nothing,
                dead_letters_come_with_the_cursor,
                reset_drops_rows_and_cursor,
                as_of_hides_what_was_not_known_or_no_longer_holds,
                history_is_newest_first,
                a_row_of_a_forgotten_source_is_not_served,
            );
        }
    };
}

/// Runs the cases of `GraphStore` and its projection over `fixture: async fn() -> Storage`.
#[macro_export]
macro_rules! graph_store_conformance {
    ($fixture:expr) => {
        mod graph_store {
            use super::*;
            $crate::__cases!(
                $fixture,
                graph_suite: rows_and_cursor_move_together,
                an_old_cursor_is_a_conflict_and_writes_nothing,
                applying_the_same_rows_again_changes_nothing,
                reset_drops_rows_and_cursor,
                an_edition_comes_back_with_what_was_said_of_predicates,
                filters_agree_with_the_reference,
                as_of_hides_what_was_not_known_or_no_longer_holds,
                the_strongest_facts_around_somebody_come_first,
                an_erase_takes_what_rests_on_nothing_else,
                dead_letters_come_with_the_cursor,
            );
        }
    };
}

/// Runs the cases of `SummaryStore` and its projection over `fixture: async fn() -> Storage`.
#[macro_export]
macro_rules! summary_store_conformance {
    ($fixture:expr) => {
        mod summary_store {
            use super::*;
            $crate::__cases!(
                $fixture,
                summary_suite: rows_and_cursor_move_together,
                an_old_cursor_is_a_conflict_and_writes_nothing,
                applying_the_same_rows_again_changes_nothing,
                reset_drops_rows_and_cursor,
                children_are_the_newest_first,
                dead_letters_come_with_the_cursor,
                a_node_of_a_forgotten_source_is_hollow_until_it_is_made_anew,
            );
        }
    };
}

/// Runs the cases of `ReceiptStore` over `fixture: async fn() -> Storage`.
#[macro_export]
macro_rules! receipt_store_conformance {
    ($fixture:expr) => {
        mod receipt_store {
            use super::*;
            $crate::__cases!(
                $fixture,
                receipt_suite: a_receipt_comes_back_whole,
                the_newest_receipts_come_first,
                a_known_id_is_a_conflict,
                a_session_remembers_what_it_was_shown,
                nobody_remembers_what_was_shown,
                clearing_a_session_leaves_the_others,
                what_is_shown_again_is_remembered_again,
                what_was_shown_rests_on_what_it_rested_on_last,
                a_sweep_drops_only_what_is_older,
                erasing_removes_every_mention_of_a_source,
            );
        }
    };
}

/// Runs the cases of `LeaseStore` over `fixture: async fn() -> Storage`.
#[macro_export]
macro_rules! lease_store_conformance {
    ($fixture:expr) => {
        mod lease_store {
            use super::*;
            $crate::__cases!(
                $fixture,
                lease: one_at_a_time_has_a_lease,
                a_released_lease_is_free_at_once,
                a_lease_that_ran_out_is_taken_over,
                a_stale_lease_cannot_be_renewed,
                a_clock_that_went_back_holds_no_lease_for_ever,
                a_time_to_live_has_bounds,
            );
        }
    };
}

/// Runs the cases of `LedgerStore` over `fixture: async fn() -> Storage`.
#[macro_export]
macro_rules! ledger_store_conformance {
    ($fixture:expr) => {
        mod ledger_store {
            use super::*;
            $crate::__cases!(
                $fixture,
                ledger: the_newest_line_under_a_key_stands,
                lines_come_newest_first,
                a_sweep_drops_old_lines_of_one_book,
            );
        }
    };
}

/// Runs the cases of `CompletionCache` over `fixture: async fn() -> Storage`.
#[macro_export]
macro_rules! completion_cache_conformance {
    ($fixture:expr) => {
        mod completion_cache {
            use super::*;
            $crate::__cases!(
                $fixture,
                model: an_answer_comes_back_for_its_question_only,
                answers_go_with_the_events_that_they_rest_on,
                an_answer_of_a_forgotten_event_is_neither_given_nor_kept,
            );
        }
    };
}

/// Runs the cases of `WorkingStore` over `fixture: async fn() -> Storage`.
#[macro_export]
macro_rules! working_store_conformance {
    ($fixture:expr) => {
        mod working_store {
            use super::*;
            $crate::__cases!(
                $fixture,
                working: an_entry_comes_back_as_it_was_put,
                several_prefixes_are_one_list_by_key,
                a_prefix_ends_at_a_segment,
                a_namespace_has_room_for_so_many,
                a_sweep_is_exact_to_the_microsecond,
                hostile_keys_are_only_keys,
            );
        }
    };
}

/// Runs the cases of `Upkeep` over `fixture: async fn() -> Storage`.
#[macro_export]
macro_rules! upkeep_conformance {
    ($fixture:expr) => {
        mod upkeep_port {
            use super::*;
            $crate::__cases!($fixture, upkeep: a_healthy_space_has_no_findings, sealing_is_idempotent, scrubbing_answers,
                an_index_made_anew_is_the_same, a_forget_is_unfinished_until_it_is_reported,);
        }
    };
}

/// Runs the cases of `Embedder` over `fixture: async fn() -> impl Embedder`.
#[macro_export]
macro_rules! embedder_conformance {
    ($fixture:expr) => {
        mod embedder_port {
            use super::*;
            $crate::__cases!(
                $fixture,
                embedder: vectors_have_unit_length_and_the_declared_dimension,
                a_batch_equals_its_singles,
                a_text_without_words_has_no_vector,
                a_question_has_a_vector_of_the_same_kind,
                hostile_text_gives_an_answer,
            );
        }
    };
}

/// Runs the cases of `Reranker` over `fixture: async fn() -> impl Reranker`.
#[macro_export]
macro_rules! reranker_conformance {
    ($fixture:expr) => {
        mod reranker_port {
            use super::*;
            $crate::__cases!(
                $fixture,
                reranker: every_text_has_a_finite_value_in_its_place,
                any_text_and_no_text_have_an_answer,
            );
        }
    };
}

/// Runs the cases of `TokenCounter` over `fixture: async fn() -> impl TokenCounter`.
#[macro_export]
macro_rules! token_counter_conformance {
    ($fixture:expr) => {
        mod token_counter_port {
            use super::*;
            $crate::__cases!(
                $fixture,
                counter: counting_is_pure_and_nothing_is_zero,
                a_prefix_fits_and_ends_on_a_character,
                joining_texts_adds_at_most_one_token,
                parts_of_lines_are_those_of_the_whole,
            );
        }
    };
}

/// Runs the cases of `Extractor` over `fixture: async fn() -> impl Extractor`.
#[macro_export]
macro_rules! extractor_conformance {
    ($fixture:expr) => {
        mod extractor_port {
            use super::*;
            $crate::__cases!(
                $fixture,
                extractor: extracting_is_pure,
                spans_lie_inside_the_text,
                only_the_users_own_words_claim_anything,
                what_is_asked_denied_or_imagined_is_no_claim,
                what_repeats_memory_is_skipped,
                an_erased_event_says_nothing,
            );
        }
    };
}

/// Runs the cases of `Clock` over `fixture: async fn() -> impl Clock`.
#[macro_export]
macro_rules! clock_conformance {
    ($fixture:expr) => {
        mod clock_port {
            use super::*;
            $crate::__cases!($fixture, source: the_monotonic_time_never_goes_back,);
        }
    };
}

/// Runs the cases of `IdSource` over `fixture: async fn() -> impl IdSource`.
#[macro_export]
macro_rules! id_source_conformance {
    ($fixture:expr) => {
        mod id_source_port {
            use super::*;
            $crate::__cases!($fixture, source: ids_are_never_repeated, ids_of_a_later_time_are_larger,);
        }
    };
}

/// Runs the cases of `ContextSource` over `fixture: async fn() -> (impl ContextSource, ContextRequest)`.
#[macro_export]
macro_rules! context_source_conformance {
    ($fixture:expr) => {
        mod context_source_port {
            use super::*;
            $crate::__cases!(
                $fixture,
                context_source: fragments_name_sources_and_finite_scores,
                asking_twice_gives_the_same,
            );
        }
    };
}
