// An account in which something happens continuously: mail arrives and is read, flagged, labelled and deleted. Acts that fail, for example
// while a node is down, are skipped: the account's log tells what has happened.
import { createTransport } from 'nodemailer';
import type { TestAccount } from '../../../dev/node-accounts.js';
import type { Teardown } from '../database/embedded-database.js';

export interface BusyAccount {
  /** Resolves when `acts` more acts have succeeded. @throws with the last failure when none succeeds for five minutes */
  more(acts: number): Promise<void>;
  /** Resolves when the current act has ended; no other act begins. */
  stop(): Promise<void>;
}

export interface BusyPlace {
  /** http://host:port, and host:port of the MX; both are read for every act. */
  readonly http: () => string;
  readonly mx: () => string;
}

const REST_MS = 5_000;
/** A conversation with a node that hangs for this time (ms) is given up, as a mail server would do after some minutes. */
const SMTP_MS = 10_000;
/** The pause in ms after an act that failed. */
const PAUSE_MS = 20;
/** The pause in ms between acts while nobody counts them: the nodes have work, and time for what is tested. */
const PATIENT_MS = 400;
const PATIENCE_MS = 300_000;

/** The acts end with the test. */
export function keepBusy(t: Teardown, { email, key }: TestAccount, place: BusyPlace): BusyAccount {
  let done = 0;
  let turn = 0;
  let awaited = 0;
  let stopped = false;
  let failure: unknown;
  let wake = () => {};
  const ids: string[] = [];

  async function rest(method: string, path: string, body?: unknown): Promise<unknown> {
    const reply = await fetch(place.http() + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(REST_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  }

  async function deliver(): Promise<void> {
    const [host, port] = place.mx().split(':');
    const transport = createTransport({
      host: host!,
      port: Number(port),
      tls: { rejectUnauthorized: false },
      greetingTimeout: SMTP_MS,
      socketTimeout: SMTP_MS,
    });
    const subject = `${turn} Zoë 💌`;
    await transport.sendMail({ from: 'Zoë 💌 <zoe@remote.test>', to: email, subject, text: subject });
    const { items } = (await rest('GET', '/api/emails?pageSize=1')) as { readonly items: readonly { id: string }[] };
    ids.push(...items.map(({ id }) => id));
  }

  const acts: readonly (() => Promise<unknown>)[] = [
    deliver,
    deliver,
    () => rest('PATCH', `/api/emails/${ids.at(-1)}`, { isRead: true }),
    () => rest('PATCH', `/api/emails/${ids.at(-2)}`, { isFlagged: true }),
    () => rest('POST', '/api/labels', { name: `label ${turn}`, color: '#336699', sortOrder: 1 }),
    () => rest('POST', '/api/emails/bulk/mark-read', { emailIds: ids.slice(-5), isRead: turn % 2 === 0 }),
    () => rest('PUT', '/api/preferences', { undoSendSeconds: turn % 60 }),
    () => rest('DELETE', `/api/emails/${ids.shift()}`),
  ];

  async function run(): Promise<void> {
    while (!stopped) {
      const act = acts[turn++ % acts.length]!;
      try {
        await act();
        done++;
        wake();
        if (awaited === 0) await new Promise((resolve) => setTimeout(resolve, PATIENT_MS));
      } catch (error) {
        failure = error;
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  }

  function next(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new Error(`nothing succeeded for ${email} in ${PATIENCE_MS} ms; last: ${failure}`));
      }, PATIENCE_MS);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  const running = run();
  const stop = () => {
    stopped = true;
    return running;
  };
  t.teardown(stop);
  return {
    async more(count) {
      awaited++;
      try {
        for (const wanted = done + count; done < wanted; ) await next();
      } finally {
        awaited--;
      }
    },
    stop,
  };
}
