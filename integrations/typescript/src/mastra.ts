/**
 * Memory for agents of Mastra: `new Agent({ …, memory: new MnemalMemory(new Mnemal('demo')) })`.
 *
 * What is said in a thread, what tools are asked and what they answer are events that recall and contexts know; a message comes
 * back whole.
 */
import type { ProcessInputArgs, Processor } from '@mastra/core/processors';
import { MastraCompositeStore } from '@mastra/core/storage';
import { Memory } from '@mastra/memory';

import { isMissing } from './log.js';
import { clean, textsOf } from './mastra-messages.js';
import { MnemalMemoryStorage } from './mastra-storage.js';
import type { Mnemal } from './memory.js';

export { MnemalMemoryStorage };

/** A store of Mastra that has the domain `memory`; compose it with another one for workflows, traces and so on. */
export class MnemalStore extends MastraCompositeStore {
  constructor(memory: Mnemal) {
    super({ id: 'mnemal', name: 'MnemalStore', domains: { memory: new MnemalMemoryStorage(memory) } });
  }
}

/** How much of memory comes before a turn. */
export interface ContextOptions {
  /** Most tokens of the context of a turn; 800 without it. */
  budgetTokens?: number;
}

/** Puts what is known of the user and his question before the model, as a message of the system that is not stored. */
export class MnemalContext implements Processor<'mnemal-context'> {
  readonly id = 'mnemal-context';

  constructor(
    readonly memory: Mnemal,
    readonly options: ContextOptions = {},
  ) {}

  async processInput({ messageList, requestContext }: ProcessInputArgs) {
    const run: { thread?: { id: string }; resourceId?: string } = requestContext?.get('MastraMemory') ?? {};
    const { thread, resourceId: user } = run;
    const asked = messageList.get.input.db().filter(({ role }) => role === 'user');
    const query = clean(asked.flatMap(textsOf).join('\n'));
    // Without a user it would be everybody's memory.
    if (!user || !query.trim()) return messageList;
    try {
      const given = { budget_tokens: this.options.budgetTokens ?? 800, session: thread?.id, user };
      const { tokens, text } = await this.memory.context(query, given);
      return tokens > 0 ? messageList.addSystem(text, this.id) : messageList;
    } catch (error) {
      if (isMissing(error)) return messageList;
      throw error;
    }
  }
}

/** Memory of agents: threads in mnemal, and a context before each turn. Other options are those of `Memory`. */
export class MnemalMemory extends Memory {
  readonly #context: MnemalContext;

  constructor(memory: Mnemal, { budgetTokens, ...config }: ContextOptions & ConstructorParameters<typeof Memory>[0] = {}) {
    super({ storage: new MnemalStore(memory), ...config });
    this.#context = new MnemalContext(memory, { budgetTokens });
  }

  override async getInputProcessors(...given: Parameters<Memory['getInputProcessors']>) {
    return [...(await super.getInputProcessors(...given)), this.#context];
  }
}
