// The constants of the model, as they were measured on two cores of an AMD EPYC with Node.js 20 and PostgreSQL 18, and what clusters on that
// machine were measured to accept, which the simulation has to reproduce. Docs/scaling.md shows them.
import type { Constants } from './constants.js';
import type { Profile } from './model.js';
import type { Setting } from './simulation.js';

const part = (node: number, database: number, nats: number) => ({ node, database, nats });

export const CONSTANTS: Constants = {
  message: { node: 400, database: 160 },
  statement: { node: 920, database: 475 },
  words: { node: 90, database: 20 },
  remote: { gateway: 120, owner: 120, nats: 75, database: 0, isStoredFirst: false },
  client: 60,
  flush: 900,
  heartbeats: [
    { nodes: 1, node: 930, database: 1_450 },
    { nodes: 10, node: 670, database: 700 },
    { nodes: 100, node: 1_160, database: 1_200 },
    { nodes: 1_000, node: 4_790, database: 8_300 },
  ],
  idle: { node: 9_000, database: 2_000 },
  ping: { node: 90, nats: 35 },
  operations: {
    list: { owner: part(210, 0, 0), other: part(430, 0, 85) },
    detail: { owner: part(165, 0, 0), other: part(270, 0, 40) },
    markRead: { owner: part(590, 220, 0), other: part(650, 220, 50) },
    hubEvent: { owner: part(520, 230, 0), other: part(750, 235, 45) },
    imapSession: { owner: part(760, 0, 0), other: part(1_560, 15, 120) },
    imapSelect: { owner: part(130, 0, 0), other: part(450, 15, 75) },
    imapStore: { owner: part(390, 180, 0), other: part(535, 190, 55) },
    imapIdle: { owner: part(655, 210, 0), other: part(690, 195, 90) },
    send: { owner: part(4_900, 1_700, 0), other: part(5_350, 1_700, 160) },
  },
  load: { base: { node: 200, database: 300 }, eachEmail: { node: 0.5, database: 2.5 } },
  octets: {
    walOfMessage: 8_500,
    walOfOctet: 1,
    storedOfEmail: 2_000,
    imapSession: 27_000,
    hubConnection: 10_000,
    loadedMailboxes: 256 * 2 ** 20,
    mailbox: 5_100,
    emailOfMailbox: 38.5,
    node: 430 * 2 ** 20,
  },
  databaseConnections: 31,
};

/** Processor time of nodes, database and NATS per message, in µs, all programs and the clients on one machine of two cores. */
export const OBSERVED: readonly { readonly name: string; readonly setting: Setting; readonly micros: number }[] = [
  { name: '1 node', setting: shared(1, 40), micros: 1_073 },
  { name: '3 nodes', setting: shared(3, 40), micros: 1_786 },
];

function shared(nodes: number, clients: number): Setting {
  return { nodes, clients, messages: 20_000, sharedCores: 2, databaseCores: 2, natsCores: 2 };
}

/** An office account in its busiest hour. */
export const PROFILE: Profile = {
  perHour: {
    message: 12,
    send: 3,
    list: 20,
    detail: 12,
    markRead: 12,
    hubEvent: 12,
    imapSession: 2,
    imapSelect: 10,
    imapStore: 12,
    imapIdle: 12,
  },
  imapSessions: 2,
  hubConnections: 0.5,
  emails: 10_000,
  visitsPerHour: 15,
  messageOctets: 50_000,
};
