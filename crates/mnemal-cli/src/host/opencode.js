// mnemal, memory for OpenCode. `mnemal setup opencode` wrote this file, and `mnemal setup opencode --undo` removes it.

import { spawn } from "node:child_process"

// Milliseconds that an event may take; the program answers well before.
const LIMIT = 15_000

/** Asks the program; an empty answer on any failure, because memory must never stop its host. */
function ask(event, input) {
  return new Promise((resolve) => {
    let text = ""
    const done = () => {
      try {
        resolve(JSON.parse(text))
      } catch {
        resolve({})
      }
    }
    try {
      const program = spawn("mnemal", ["hook", "opencode", event], {
        cwd: input.cwd,
        // On Windows a package may install a script, which only a shell starts.
        shell: process.platform === "win32",
        stdio: ["pipe", "pipe", "ignore"],
        timeout: LIMIT,
      })
      program.on("error", done)
      program.on("close", done)
      program.stdout.on("data", (part) => (text += part))
      program.stdin.on("error", () => {})
      program.stdin.end(JSON.stringify(input))
    } catch {
      done()
    }
  })
}

/** What a person or the agent wrote, without what a program added. */
function words(parts) {
  const own = parts.filter((part) => part.type === "text" && !part.synthetic && !part.ignored)
  return own.map((part) => part.text).join("\n")
}

export const MnemalPlugin = async ({ client, directory }) => {
  // Sessions of this process: whether a person leads them, and how their window began.
  const sessions = new Map()
  const running = new Set()

  /** Waits for work at the end of the process, too. */
  const kept = async (work) => {
    running.add(work)
    await work.catch(() => {})
    running.delete(work)
  }

  const messages = async (id) => (await client.session.messages({ path: { id } })).data ?? []

  const session = async (id) => {
    const known = sessions.get(id)
    if (known) return known
    const info = (await client.session.get({ path: { id } })).data
    const before = await messages(id)
    const state = { isOwn: Boolean(info) && !info.parentID, source: before.length ? "resume" : "startup" }
    // A session that could not be read may be an agent's; the next event asks again.
    if (info) sessions.set(id, state)
    return state
  }

  /** The conversation so far. */
  const said = async (id) => {
    // A message that is a summary is what OpenCode has the model write for a compaction.
    const own = (await messages(id)).filter(({ info }) => info.summary !== true)
    const all = own.map(({ info, parts }) => ({
      id: info.id,
      role: info.role,
      content: words(parts),
      created_at: new Date(info.time?.created ?? Date.now()).toISOString(),
    }))
    return { session_id: id, cwd: directory, messages: all.filter((message) => message.content) }
  }

  const capture = async (event, id) => {
    if ((await session(id)).isOwn) await ask(event, await said(id))
  }

  /** Context for a prompt, and at the start of a window for the session. */
  const context = async (id, prompt) => {
    const state = await session(id)
    if (!state.isOwn) return ""
    const input = { session_id: id, cwd: directory }
    const answers = []
    if (state.source) answers.push(await ask("SessionStart", { ...input, source: state.source }))
    state.source = ""
    if (prompt) answers.push(await ask("UserPromptSubmit", { ...input, prompt }))
    const blocks = answers.map((answer) => answer.hookSpecificOutput?.additionalContext)
    return blocks.filter(Boolean).join("\n")
  }

  return {
    "chat.message": async ({ sessionID }, { message, parts }) => {
      const last = parts.at(-1)
      const text = await context(sessionID, words(parts)).catch(() => "")
      // A part behind the prompt, which sorts by its name, and which OpenCode does not show.
      if (text && last) {
        parts.push({ id: `${last.id}m`, sessionID, messageID: message.id, type: "text", synthetic: true, text })
      }
    },
    "experimental.session.compacting": async ({ sessionID }) => {
      await kept(capture("PreCompact", sessionID))
    },
    event: async ({ event }) => {
      const id = event.properties?.sessionID
      if (event.type === "session.idle") await kept(capture("Stop", id))
      if (event.type === "session.compacted" && sessions.has(id)) sessions.get(id).source = "compact"
    },
    dispose: async () => {
      await Promise.allSettled(running)
    },
  }
}
