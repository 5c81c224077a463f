// Gives ids that a test can write down before they exist. A record that a POST creates has a random id in the mailbox; a caller
// of `withAliases` sees and may send `labelIdOf(1)` for the first label.
import type { Gateway } from '../gateway.js';
import { folderIdOf } from '../mailboxes.js';

const idOf = (group: string, n: number) => `018f0000-0000-7000-${group}-${String(n).padStart(12, '0')}`;

/** Labels are numbered in the order in which they are created. */
export const labelIdOf = (n: number) => idOf('9000', n);
export const filterIdOf = (n: number) => idOf('a000', n);
/** Runs of filters. */
export const runIdOf = (n: number) => idOf('a001', n);
export const outboundIdOf = (n: number) => idOf('b001', n);
/** System folders are not counted. */
export const ownFolderIdOf = (n: number) => folderIdOf(n + 6);

const KINDS: readonly (readonly [path: RegExp, idOf: (n: number) => string])[] = [
  [/^\/api\/labels$/, labelIdOf],
  [/^\/api\/filters$/, filterIdOf],
  [/^\/api\/filters\/[^/]+\/apply$/, runIdOf],
  [/^\/api\/folders$/, ownFolderIdOf],
  [/^\/api\/outbound\/(drafts|send|reply\/[^/]+|forward\/[^/]+)$/, outboundIdOf],
];

/** Wraps `gateway.fetch`: replaces aliases in paths, and in JSON both ways. */
export function withAliases(gateway: Gateway): Gateway['fetch'] {
  const real = new Map<string, string>();
  const alias = new Map<string, string>();
  const counts = new Map<unknown, number>();
  const translated = (text: string, ids: ReadonlyMap<string, string>) =>
    text.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, (id) => {
      const found = ids.get(id.toLowerCase()) ?? id;
      return id === id.toLowerCase() ? found : found.toUpperCase();
    });

  return async (path, init = {}) => {
    const json = init.json === undefined ? {} : { json: JSON.parse(translated(JSON.stringify(init.json), real)) };
    const response = await gateway.fetch(translated(path, real), { ...init, ...json });
    if (!/json/.test(response.headers.get('content-type') ?? '')) return response;
    const text = await response.text();
    const idKind = KINDS.find(([pattern]) => pattern.test(path))?.[1];
    if (init.method === 'POST' && response.ok && idKind !== undefined) {
      const made = JSON.parse(text) as { id: string } | { runId: string };
      const id = 'runId' in made ? made.runId : made.id;
      const n = (counts.get(idKind) ?? 0) + 1;
      counts.set(idKind, n);
      real.set(idKind(n), id);
      alias.set(id, idKind(n));
    }
    return new Response(translated(text, alias), { status: response.status, headers: response.headers });
  };
}
