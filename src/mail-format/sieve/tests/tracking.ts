// `duplicate` (RFC 7352): whether a delivery of the last time had the same key. The run says which keys are to be tracked; the caller tracks
// them when the message is placed.
import { createHash } from 'node:crypto';
import { Arguments, type Tags } from '../arguments.js';
import type { Run } from '../run.js';
import { SieveError } from '../syntax.js';
import type { Text } from '../text.js';
import { FIELD_NAME } from './index-tags.js';
import type { SieveTests } from './sieve-test.js';

const TAGS: Tags = {
  handle: { value: 'string' },
  header: { value: 'string', group: 'id' },
  uniqueid: { value: 'string', group: 'id' },
  seconds: { value: 'number' },
  last: {},
};

const DEFAULT_SECONDS = 7 * 86_400;
const MOST_SECONDS = 90 * 86_400;

export const TRACKING_TESTS: SieveTests = {
  duplicate: {
    needs: ['duplicate'],
    compile(call, compilation) {
      const given = new Arguments(call, compilation, TAGS, []);
      const [handle, header, uniqueId] = [given.textOf('handle'), given.textOf('header'), given.textOf('uniqueid')];
      if (typeof header === 'string' && !FIELD_NAME.test(header)) {
        throw new SieveError(given.positionOf('header'), ':header takes the name of a field');
      }
      const seconds = Math.min(given.numberOf('seconds') ?? DEFAULT_SECONDS, MOST_SECONDS);
      const isLast = given.has('last');
      return (run) => {
        const id = idOf(run, header, uniqueId);
        if (id === undefined) return false;
        const key = keyOf(handle === undefined ? '' : run.text(handle), id);
        const isTracked = run.isTracked(key);
        // `:last` counts from the last duplicate, not from the first message (RFC 7352 §3.3).
        if (!isTracked || isLast) run.track(key, seconds);
        return isTracked;
      };
    },
  },
};

function idOf(run: Run, header: Text | undefined, uniqueId: Text | undefined): string | undefined {
  if (uniqueId !== undefined) return run.text(uniqueId);
  const name = header === undefined ? 'message-id' : run.text(header);
  const field = run.header.named(name)[0];
  return field === undefined ? undefined : field.value;
}

/** Has one size, whatever the handle and the id are. */
const keyOf = (handle: string, id: string): string =>
  createHash('sha256')
    .update(JSON.stringify([handle, id]))
    .digest('base64url');
