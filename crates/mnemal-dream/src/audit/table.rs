//! Table of invariants, with the meaning of a violation and the next step.

use super::{Invariant, REFUSED, Severity};

/// The invariants of an audit, alerts first. Source: own choice, for each kind of loss or corruption seen in RockBot's
/// audits.
pub const INVARIANTS: [Invariant; 17] = [
    Invariant {
        name: "no-hard-delete-outside-forget",
        severity: Severity::Alert,
        meaning: "Notes are gone that nobody forgot.",
        next: "Restore a backup, or make the notes anew from the log with `mnemal rebuild`.",
        count: |audit| audit.vanished(),
    },
    Invariant {
        name: "loss-percent-threshold",
        severity: Severity::Alert,
        meaning: "More than a tenth of the notes went since the last audit.",
        next: "Look at `mnemal dream log`, and take back with `mnemal undo` what should not have been done.",
        count: |audit| audit.lost(),
    },
    Invariant {
        name: "merge-chain-unbroken",
        severity: Severity::Alert,
        meaning: "A note went in favour of one that does not exist.",
        next: "Make the notes anew from the log with `mnemal rebuild`.",
        count: |audit| audit.broken(),
    },
    Invariant {
        name: "trust-not-above-sources",
        severity: Severity::Alert,
        meaning: "A note counts for more than what it was made of.",
        next: "Make the notes anew from the log with `mnemal rebuild`, and report it.",
        count: |audit| audit.risen(),
    },
    Invariant {
        name: "no-cross-space-reference",
        severity: Severity::Alert,
        meaning: "A note rests on an event that this space never had.",
        next: "Make the notes anew from the log with `mnemal rebuild`, and report it.",
        count: |audit| audit.foreign(),
    },
    Invariant {
        name: "no-preference-from-low-level",
        severity: Severity::Alert,
        meaning: "A preference or an anti-pattern rests on words that are not the user's.",
        next: "Look at it, and reject it with `mnemal reject`.",
        count: |audit| audit.raised(),
    },
    Invariant {
        name: "ledger-balances",
        severity: Severity::Warning,
        meaning: "A layer counts other events than the log has.",
        next: "Make the layer anew from the log with `mnemal rebuild`.",
        count: |audit| audit.inspected.unbalanced,
    },
    Invariant {
        name: "every-row-has-a-live-source",
        severity: Severity::Warning,
        meaning: "Everything that a note rests on was forgotten or taken back.",
        next: "Make the notes anew from the log with `mnemal rebuild`.",
        count: |audit| audit.without_source(),
    },
    Invariant {
        name: "index-matches-rows",
        severity: Severity::Warning,
        meaning: "The index holds other events than the log has.",
        next: "Make the index anew with `mnemal reindex`.",
        count: |audit| audit.inspected.unindexed,
    },
    Invariant {
        name: "merged-from-resolves",
        severity: Severity::Warning,
        meaning: "A merged note names notes that are missing though nobody forgot them.",
        next: "Make the notes anew from the log with `mnemal rebuild`.",
        count: |audit| audit.unresolved(),
    },
    Invariant {
        name: "archive-fields-present",
        severity: Severity::Warning,
        meaning: "A note was put away, and nothing says when.",
        next: "Make the notes anew from the log with `mnemal rebuild`.",
        count: |audit| audit.half_archived(),
    },
    Invariant {
        name: "live-not-merge-source",
        severity: Severity::Warning,
        meaning: "A note still holds that went in favour of another.",
        next: "Make the notes anew from the log with `mnemal rebuild`.",
        count: |audit| audit.live_sources(),
    },
    Invariant {
        name: "no-repeated-rejection",
        severity: Severity::Warning,
        meaning: "The same change of the same notes was refused in three runs in a row.",
        next: "Look at `mnemal dream log`: a model that is asked for it wastes its calls.",
        count: |audit| audit.refused.repeatedly,
    },
    Invariant {
        name: "net-growth-threshold",
        severity: Severity::Warning,
        meaning: "More than five new notes a day came for each user since the last audit.",
        next: "Look at who stores them; an import explains it.",
        count: |audit| audit.grown(),
    },
    Invariant {
        name: "chain-depth-threshold",
        severity: Severity::Warning,
        meaning: "More notes than at the last audit were merged more than twice in a row.",
        next: "Look at `mnemal dream log`, and take back with `mnemal undo` what went too far.",
        count: |audit| audit.deepened(),
    },
    Invariant {
        name: "rejected-merges-threshold",
        severity: Severity::Warning,
        meaning: "More than five merges were refused within a week.",
        next: "Look at `mnemal dream log`: the model may not be able to do this.",
        count: |audit| if audit.refused.merges > REFUSED { audit.refused.merges } else { 0 },
    },
    Invariant {
        name: "no-undecodable-rows",
        severity: Severity::Warning,
        meaning: "Something in the store cannot be read or does not match its checksum.",
        next: "Look at `mnemal check`, and mend it with `mnemal recover`.",
        count: |audit| audit.inspected.undecodable,
    },
];
