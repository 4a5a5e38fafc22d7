/** Client of mnemal, the memory engine for AI agents. */
export { Client, MnemalError, localKey, type ClientOptions } from './client.js';
export { Mnemal } from './memory.js';
export type * from './operations.js';
