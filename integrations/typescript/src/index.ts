/** Client of mnemal, the memory engine for AI agents. */
export { Client, MnemalConnectionError, MnemalError, localKey, type ClientOptions } from './client.js';
export { Mnemal, type Events, type Hits } from './memory.js';
export type * from './operations.js';
