// `mansio/client`: a live client of a mail account, for pages and programs of other people and for the page of Mansio itself.
export { createClient } from './client.js';
export type * from './client-types.js';
export type * from './generated/events.js';
export type * from './generated/rest.js';
export type { ClientEvent, ClientEventName, ConnectionState, ListChange } from './hub/hub-link.js';
export type { ClientStorage, StoredValue } from './offline/client-storage.js';
export { Conflict, NetworkFault, NotFound, Refusal, type RefusalCode } from './refusal.js';
export type { Credential, Method, PathOf, Query, Reply, RequestInput, RequestOptions } from './rest.js';
export type { Setting, SettingPath } from './settings.js';
