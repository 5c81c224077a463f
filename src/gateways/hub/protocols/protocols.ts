// The hub protocols that a client may name in its handshake, each at the position of its index.
import type { HubProtocol } from './hub-protocol.js';
import { JSON_PROTOCOL } from './json-protocol.js';
import { MESSAGE_PACK_PROTOCOL } from './message-pack-protocol.js';

export const PROTOCOLS: readonly HubProtocol[] = [JSON_PROTOCOL, MESSAGE_PACK_PROTOCOL];
