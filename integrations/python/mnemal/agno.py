"""Agno on mnemal: a database for the sessions, runs and memories of agents, teams and workflows.

A session is a conversation of the log: what is said in its runs can be recalled, and the rest of a run lies beside it. A memory of
a user is a note. What else Agno stores (knowledge, evaluations, traces, …) has no place here.
"""

from __future__ import annotations

from typing import Any

from agno.db.in_memory import InMemoryDb
from agno.db.schemas.memory import UserMemory

from ._agno_sessions import MARK, Sessions, plain
from ._items import Entry, Items
from ._notes import Notes, joined, split
from .client import MnemalError
from .memory import Mnemal

# The conversation of what belongs to memories.
MEMORIES = "agno memories"


class MnemalDb(InMemoryDb):
    """`Agent(db=MnemalDb(Mnemal("demo")), user_id="ana")`; what InMemoryDb does in the process is done on a space.

    As with every database of Agno a session has one owner, and whoever asks for one user gets nobody else's sessions and memories.
    """

    def __init__(self, memory: Mnemal):
        super().__init__()
        self.memory = memory
        self._sessions: Any = Sessions(memory)

    # What the base class reads and replaces as a list.
    @property
    def _memories(self) -> list[dict[str, Any]]:
        return [value for value, _ in self._kept_memories().values()]

    @_memories.setter
    def _memories(self, left: list[dict[str, Any]]) -> None:
        if hasattr(self, "memory"):
            ids = {one["memory_id"] for one in left}
            self._forget_memories([kept for name, (_, kept) in self._kept_memories().items() if name not in ids])

    def upsert_user_memory(self, memory: UserMemory, deserialize: bool | None = True) -> Any:
        known = self._kept_memories().get(memory.memory_id)  # type: ignore[arg-type]
        # The base class fills in what is missing, and puts the memory into a list that nobody keeps.
        value = super().upsert_user_memory(memory, deserialize=False)
        assert isinstance(value, dict)
        name, user, (note, rest) = value["memory_id"], value.get("user_id"), split(value["memory"])
        if known and known[1]["user"] != user:
            raise _not_owned(f"the memory {name} is another user's", "Leave the id out, or use another one.")
        more = plain({key: one for key, one in value.items() if key != "memory"})
        Notes(self.memory, MARK, user).put(name, note)
        items = Items(self.memory, MARK, MEMORIES, user)
        items.add(Entry({"id": name, "value": {**more, **rest}}))
        if known:
            items.forget(known[1]["events"])
        return UserMemory.from_dict(value) if deserialize else value

    def upsert_memories(self, memories: list[Any], deserialize: bool | None = True, preserve_updated_at: bool = False) -> Any:
        return [self.upsert_user_memory(one, deserialize=deserialize) for one in memories or []]

    def clear_memories(self) -> None:
        self._forget_memories([kept for _, kept in self._kept_memories().values()])

    def _kept_memories(self) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
        """Returns each memory with its note and the events of the rest."""
        notes, found = Notes(self.memory, MARK, is_anyones=True).all(), {}
        for one in Items(self.memory, MARK, MEMORIES, is_anyones=True).read():
            name, value = one.value["id"], one.value["value"]
            user = value.get("user_id")
            note = notes.get(Notes(self.memory, MARK, user).key(name))
            if note:
                kept = {"note": note, "events": one.events, "user": user}
                found[name] = ({"memory": joined(note["content"], value), **value}, kept)
        return found

    def _forget_memories(self, gone: list[dict[str, Any]]) -> None:
        for kept in gone:
            Items(self.memory, MARK, MEMORIES, kept["user"]).forget(kept["events"])
            Notes(self.memory, MARK, kept["user"]).forget([kept["note"]])

    def rename_session(self, session_id: str, *args: Any, **options: Any) -> Any:
        with self._sessions.changing([session_id]):
            return super().rename_session(session_id, *args, **options)

    def upsert_session(self, session: Any, *args: Any, **options: Any) -> Any:
        with self._sessions.changing([session.session_id]):
            return super().upsert_session(session, *args, **options)

    def upsert_sessions(self, sessions: list[Any], deserialize: bool | None = True, preserve_updated_at: bool = False) -> Any:
        # The base class makes nothing of what fails.
        stored = [self.upsert_session(one, deserialize=deserialize) for one in sessions or []]
        return [one for one in stored if one is not None]

    def upsert_run(self, run: Any, session_id: str, user_id: str | None = None, run_index: int | None = None) -> None:
        with self._sessions.changing([session_id]):
            owner = (self._sessions.get(session_id) or {}).get("user_id")
            asks = user_id or (run.get("user_id") if isinstance(run, dict) else run.user_id)
            # Whoever goes on with the session would be told what somebody else said.
            if owner and asks and owner != asks:
                detail = f"the session {session_id} is another user's, and a run of {asks} is not stored in it"
                raise _not_owned(detail, "Give each user sessions of their own.")
            super().upsert_run(run, session_id, user_id, run_index)

    def delete_run(self, run_id: str) -> bool:
        with self._sessions.changing(list(self._sessions)):
            return super().delete_run(run_id)

    def delete_runs(self, run_ids: list[str]) -> None:
        with self._sessions.changing(list(self._sessions)):
            super().delete_runs(run_ids)

    def _no_place(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError("mnemal keeps sessions, runs and memories; give Agno another database for the rest")

    upsert_knowledge_content = create_eval_run = _no_place


def _not_owned(detail: str, hint: str) -> MnemalError:
    return MnemalError(409, {"code": "not_owned", "detail": detail, "hint": hint})
