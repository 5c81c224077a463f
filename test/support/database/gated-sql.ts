// Delays a statement of a store, so that a test decides what happens before it.
import type { Sql } from '../../../src/store/postgres/driver/client.js';
import { deferred } from '../deferred.js';

export function signalled() {
  const { promise, resolve } = deferred();
  return { promise, resolve };
}

/** Waits for `gate` before the first statement that contains the text. */
export function gated(sql: Sql, text: string, gate: () => Promise<unknown>): Sql {
  let isOpen = false;
  return new Proxy(sql, {
    apply(target, _this, [strings, ...values]: [TemplateStringsArray, ...never[]]) {
      if (isOpen || !strings.join('').includes(text)) return target(strings, ...values);
      isOpen = true;
      return gate().then(() => target(strings, ...values));
    },
  });
}
