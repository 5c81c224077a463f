// A document that a route serves as it is.
import { createHash } from 'node:crypto';
import type { HeaderField } from '../exchange.js';
import { entityTag } from '../pipeline/revalidation.js';

export interface ServedDocument<D> {
  readonly json: D;
  readonly headers: readonly HeaderField[];
}

/** Makes a document when somebody first asks for it: describing all routes takes a tenth of the start of a node. */
export function servedDocument<D>(make: () => D): () => ServedDocument<D> {
  let made: ServedDocument<D> | undefined;
  return () => {
    if (made === undefined) {
      const json = make();
      const digest = createHash('sha256').update(JSON.stringify(json)).digest('base64url');
      made = { json, headers: [entityTag(digest), ['Cache-Control', 'no-cache']] };
    }
    return made;
  };
}
