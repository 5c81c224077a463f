// Drafts over REST, each with the entity tag of its version.
import type { Drafts } from './client-types.js';
import type { Draft, QueuedEmail } from './generated/rest.js';
import { filled, type Rest } from './rest.js';

const PATH = '/api/outbound/drafts';
const pathOf = (id: string) => filled(`${PATH}/{id}`, { id });

export function draftsOver(rest: Rest): Drafts {
  const tag = (response: Response) => response.headers.get('ETag') ?? '';
  return {
    async create(draft) {
      const response = await rest.send({ method: 'POST', path: PATH, body: draft });
      return { draft: (await response.json()) as Draft, etag: tag(response) };
    },
    async read(id) {
      const response = await rest.send({ method: 'GET', path: pathOf(id) });
      return { draft: (await response.json()) as Draft, etag: tag(response) };
    },
    async update(id, draft, etag) {
      return tag(await rest.send({ method: 'PUT', path: pathOf(id), body: draft, headers: { 'If-Match': etag } }));
    },
    async delete(id, etag) {
      await rest.send({ method: 'DELETE', path: pathOf(id), headers: { 'If-Match': etag } });
    },
    async send(id, { etag, ...body } = {}) {
      const response = await rest.send({
        method: 'POST',
        path: `${pathOf(id)}/send`,
        body,
        headers: { 'If-Match': etag },
      });
      return (await response.json()) as QueuedEmail;
    },
  };
}
