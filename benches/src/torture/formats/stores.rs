//! Memories and notes as other programs export or keep them.

use mnemal::ImportFormat;
use serde_json::{Value, json};

use super::sample::{Layout, Sample, TextWriter};

fn many(
    pen: &mut TextWriter<'_>,
    (from, to): (usize, usize),
    record: impl Fn(&mut TextWriter<'_>) -> Value,
) -> Vec<Value> {
    let count = pen.some(from, to);
    (0..count).map(|_| record(pen)).collect()
}

fn json_layout(pen: &mut TextWriter<'_>) -> Layout {
    if pen.is(30) { Layout::Pretty } else { Layout::Document }
}

/// Memories of Mem0: a list, a list under a name, or one per line.
pub(super) fn mem0(pen: &mut TextWriter<'_>) -> Sample {
    let records = many(pen, (2, 6), |pen| {
        json!({"id": format!("mem-{}", pen.number()), "memory": pen.item(), "hash": "h", "metadata": {"topic": "boats"},
            "user_id": "ana", "categories": ["hobby"], "created_at": pen.time(), "updated_at": null})
    });
    let of = |layout, root| {
        Sample::new("mem0.json", ImportFormat::Mem0, layout, root).with_lists(&["results", "relations"])
    };
    match pen.some(0, 2) {
        0 => of(Layout::Lines, Value::from(records)),
        1 => of(json_layout(pen), Value::from(records)),
        _ => {
            let relations = many(
                pen,
                (1, 2),
                |pen| json!({"source": "ana", "relationship": "likes", "target": pen.item()}),
            );
            of(json_layout(pen), json!({"results": records, "relations": relations}))
        }
    }
}

/// `memory.jsonl` of the official memory server.
pub(super) fn mcp_memory(pen: &mut TextWriter<'_>) -> Sample {
    let lines = many(pen, (2, 6), |pen| {
        if pen.is(25) {
            return json!({"type": "relation", "from": "Ana", "to": pen.item(), "relationType": "knows"});
        }
        let observed = many(pen, (4, 6), |pen| Value::from(pen.item()));
        json!({"type": "entity", "name": format!("Thing {}", pen.number()), "entityType": "thing", "observations": observed})
    });
    Sample::new("memory.jsonl", ImportFormat::McpMemory, Layout::Lines, Value::from(lines))
        .with_lists(&["observations"])
}

/// A memory of `RockBot`, one per file.
pub(super) fn rockbot(pen: &mut TextWriter<'_>) -> Sample {
    let record = json!({"id": format!("r-{}", pen.number()), "content": pen.item(), "category": "garden", "tags": ["bulbs"],
        "importance": 0.5, "createdAt": pen.time(), "metadata": {"by": "ana"}});
    Sample::new("note.json", ImportFormat::RockBot, Layout::Pretty, record)
}

/// An export of claude-mem.
pub(super) fn claude_mem(pen: &mut TextWriter<'_>) -> Sample {
    let observations = many(pen, (1, 4), |pen| {
        let facts = json!([pen.item()]).to_string();
        json!({"id": pen.number(), "memory_session_id": "ms", "project": "boats", "type": "decision", "title": "Use oak",
            "narrative": pen.item(), "facts": facts, "concepts": "[\"wood\"]", "created_at": pen.time(), "created_at_epoch": pen.seconds()})
    });
    let sessions = many(
        pen,
        (1, 1),
        |pen| json!({"id": pen.number(), "content_session_id": "cs", "memory_session_id": "ms", "project": pen.host()}),
    );
    let summaries = many(
        pen,
        (0, 2),
        |pen| json!({"id": pen.number(), "memory_session_id": "ms", "project": "boats", "request": pen.item(), "learned": "Oak"}),
    );
    let prompts = many(
        pen,
        (1, 3),
        |pen| json!({"id": pen.number(), "content_session_id": "cs", "prompt_number": pen.number(), "prompt_text": pen.item(), "created_at": pen.time()}),
    );
    let root = json!({"exportedAt": pen.time(), "query": "x", "totalObservations": observations.len(), "observations": observations,
        "sessions": sessions, "summaries": summaries, "prompts": prompts});
    let lists = &["observations", "sessions", "summaries", "prompts"];
    Sample::new("export.json", ImportFormat::ClaudeMem, json_layout(pen), root).with_lists(lists)
}

/// An agent file of Letta.
pub(super) fn letta(pen: &mut TextWriter<'_>) -> Sample {
    let message = |pen: &mut TextWriter<'_>| {
        let id = format!("message-{}", pen.number());
        match pen.some(0, 3) {
            0 => {
                json!({"role": "system", "id": id, "content": [{"type": "text", "text": pen.host()}], "created_at": pen.time()})
            }
            1 | 2 => {
                let said = json!({"type": "user_message", "message": pen.item(), "time": "x"}).to_string();
                json!({"role": "user", "id": id, "content": [{"type": "text", "text": said}], "created_at": pen.time()})
            }
            _ => {
                let sent = json!({"message": pen.item()}).to_string();
                json!({"role": "assistant", "id": id, "content": [{"type": "text", "text": "A thought."}], "created_at": pen.time(),
                    "tool_calls": [{"id": "c", "type": "function", "function": {"name": "send_message", "arguments": sent}}]})
            }
        }
    };
    let block = |pen: &mut TextWriter<'_>| json!({"id": format!("block-{}", pen.number()), "label": format!("human {}", pen.number()), "value": pen.item(), "limit": 20_000});
    let lists = &["agents", "messages", "blocks", "core_memory"];
    let (blocks, messages) = (many(pen, (1, 3), block), many(pen, (2, 6), message));
    let root = if pen.is(25) {
        json!({"agent_type": "memgpt_agent", "name": "old", "core_memory": blocks, "messages": messages, "version": "0.6.0"})
    } else {
        let ids: Vec<Value> = blocks.iter().filter_map(|block| block.get("id").cloned()).collect();
        json!({"agents": [{"name": "helper", "id": "agent-0", "block_ids": ids, "in_context_message_ids": [], "messages": messages}],
            "blocks": blocks, "groups": [], "files": [], "sources": [], "mcp_servers": [], "metadata": {"revision_id": pen.host()}})
    };
    Sample::new("helper.af", ImportFormat::Letta, json_layout(pen), root).with_lists(lists)
}

/// A graph of Zep or Graphiti.
pub(super) fn zep(pen: &mut TextWriter<'_>) -> Sample {
    let episodes = many(
        pen,
        (1, 3),
        |pen| json!({"uuid": format!("e-{}", pen.number()), "name": "chat", "content": pen.item(), "group_id": "g", "valid_at": pen.time()}),
    );
    let entities = many(
        pen,
        (1, 3),
        |pen| json!({"uuid": format!("n-{}", pen.number()), "name": "Ana", "labels": ["Entity", "Person"], "summary": pen.item(), "group_id": "g"}),
    );
    let edges = many(pen, (1, 3), |pen| {
        json!({"uuid": format!("f-{}", pen.number()), "source_node_uuid": "n1", "target_node_uuid": "n2", "name": "LIVES_IN", "fact": pen.item(),
            "group_id": "g", "valid_at": pen.time(), "invalid_at": null})
    });
    let root = json!({"episodes": episodes, "entities": entities, "edges": edges});
    Sample::new("graph.json", ImportFormat::Zep, json_layout(pen), root)
        .with_lists(&["episodes", "entities", "edges"])
}

/// Records of COGX.
pub(super) fn cogx(pen: &mut TextWriter<'_>) -> Sample {
    let lines = many(pen, (3, 7), |pen| {
        let (kind, fields) = match pen.some(0, 6) {
            0 => ("memory", json!({"content": pen.item(), "categories": ["taste"]})),
            1 => ("entity", json!({"name": "Ana", "description": pen.item()})),
            2 => (
                "fact",
                json!({"subject_ref": "n1", "predicate": "works_at", "object_ref": "n2", "fact_text": pen.item()}),
            ),
            3 => ("memory_block", json!({"label": "human", "value": pen.item()})),
            4 => ("document", json!({"content": pen.item(), "title": "x"})),
            5 => ("raw_node", json!({"properties": {"x": pen.host()}})),
            _ => {
                let turns = many(
                    pen,
                    (1, 4),
                    |pen| json!({"role": "user", "content": pen.item(), "occurred_at": pen.time()}),
                );
                ("episode", json!({"turns": turns}))
            }
        };
        let mut record = json!({"external_system": "mem0", "external_id": format!("x-{}", pen.number()), "kind": kind,
            "scope": {"session_id": "s"}, "created_at": pen.time(), "provenance": {}});
        if let (Some(record), Some(fields)) = (record.as_object_mut(), fields.as_object()) {
            record.extend(fields.clone());
        }
        record
    });
    Sample::new("memories.jsonl", ImportFormat::Cogx, Layout::Lines, Value::from(lines))
        .with_lists(&["turns"])
        .with_nameless(&["turns"])
}

/// A document of a transfer archive of Hindsight, or a list of its memories.
pub(super) fn hindsight(pen: &mut TextWriter<'_>) -> Sample {
    let fact = |pen: &mut TextWriter<'_>| {
        json!({"id": format!("u-{}", pen.number()), "text": pen.item(), "fact_type": "world", "context": "", "entities": ["Ana"],
            "mentioned_at": pen.time(), "tags": []})
    };
    let facts = many(pen, (1, 5), fact);
    if pen.is(50) {
        let root = json!({"items": facts, "total": 9, "limit": 100, "offset": 0});
        return Sample::new("list.json", ImportFormat::Hindsight, json_layout(pen), root)
            .with_lists(&["items"]);
    }
    let root = json!({"id": "talk-1", "original_text": pen.item(), "tags": [], "created_at": pen.time(),
        "chunks": [{"chunk_index": 0, "chunk_text": "x"}], "facts": facts});
    Sample::new("000000.json", ImportFormat::Hindsight, json_layout(pen), root)
        .with_lists(&["facts"])
        .with_nameless(&["facts"])
}

/// Our own export.
pub(super) fn own(pen: &mut TextWriter<'_>) -> Sample {
    let header = json!({"format": "mnemal", "version": 1, "space": "default", "exported_at": "2026-03-01T09:30:00Z",
        "counts": {"events": 9, "tombstones": 0}});
    let mut lines = vec![header];
    for _ in 0..pen.some(3, 8) {
        let id = mnemal::EventId(u128::from(pen.dice.bits()) << 32).to_string();
        lines.push(json!({"event": {"id": id, "recorded_at": "2026-03-01T09:30:00Z", "kind": {"type": "user_message"}, "content": pen.item(),
            "session": "s", "channel": "cli", "occurred_at": "2026-03-01T09:30:00Z", "zone": ["UTC", 0], "origin": "user_direct"}}));
    }
    let sample = Sample::new("export.jsonl", ImportFormat::Mnemal, Layout::Lines, Value::from(lines));
    Sample { head: 1, ..sample }
}
