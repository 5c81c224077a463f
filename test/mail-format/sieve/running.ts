// Runs scripts on messages that tests write as text.
import { headerPairs } from '../../../src/mail-format/header/header-pairs.js';
import { compileSieve, runSieve } from '../../../src/mail-format/sieve/index.js';
import { SIEVE_BOUNDS } from '../../../src/mail-format/sieve/limits.js';
import type { SieveMessage } from '../../../src/mail-format/sieve/message.js';
import type { SieveEnvironment, SieveScript } from '../../../src/mail-format/sieve/run.js';

export const LETTER = `Received: from a.example (a.example [192.0.2.1]) by mx.example; Fri, 27 Nov 2026 10:00:00 +0100
Received: from b.example by a.example; Fri, 27 Nov 2026 09:59:59 +0100
From: "Anna Lee" <Anna+news@Example.org>
To: Bob <bob@example.test>, carol+x@example.test
Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?= from home
Date: Fri, 27 Nov 2026 23:30:00 -0500
Message-ID: <one@example.org>
X-Number: 0012

Hello Bob,
this is the body.
`;

export function compiled(text: string): SieveScript {
  const result = compileSieve(text);
  if ('faults' in result) throw new Error(JSON.stringify(result.faults));
  return result.script;
}

/** Reads a message with a body of plain text in UTF-8. */
export function messageOf(text: string): SieveMessage {
  const message = text.replace(/\r?\n/g, '\r\n');
  const end = message.indexOf('\r\n\r\n');
  const body = message.slice(end + 4);
  return {
    size: Buffer.byteLength(message),
    fields: headerPairs(Buffer.from(message.slice(0, end + 2))).map(([name, value]) => ({ name, value })),
    isHeaderWhole: true,
    body: { raw: () => body, text: () => body, parts: [{ type: 'text/plain', text: () => body }] },
  };
}

const ENVIRONMENT: SieveEnvironment = {
  now: Date.UTC(2026, 10, 29, 12, 30, 5),
  zone: 0,
  sender: 'anna@example.org',
  recipient: 'bob+tag@example.test',
  hasFolder: (path) => path === 'INBOX' || path === 'Lists',
  specialUse: (attribute) => (attribute.toLowerCase() === '\\junk' ? 'Junk' : undefined),
  isTracked: () => false,
  include: () => undefined,
};

export interface Running {
  readonly letter?: string;
  readonly environment?: Partial<SieveEnvironment>;
  readonly bounds?: Partial<typeof SIEVE_BOUNDS>;
}

export function resultOf(script: string, { letter = LETTER, environment, bounds }: Running = {}) {
  const merged = { ...ENVIRONMENT, ...environment };
  return runSieve(compiled(script), messageOf(letter), merged, { ...SIEVE_BOUNDS, ...bounds });
}

/** What becomes of the message, in words: `keep`, `fileinto Lists \Seen`, `fault 1:2 …`. */
export function outcome(script: string, running: Running = {}): string[] {
  const { actions, fault } = resultOf(script, running);
  if (fault !== undefined) return [`fault ${fault.line}:${fault.column} ${fault.message}`];
  return actions.map((action) => {
    const flags = 'flags' in action ? action.flags.map((flag) => ` ${flag}`).join('') : '';
    if (action.type === 'keep') return `keep${flags}`;
    if (action.type === 'fileinto') return `fileinto ${action.folder}${flags}`;
    if (action.type === 'redirect') return `redirect ${action.address}`;
    return `${action.type} ${action.reason}`;
  });
}

/** Whether a test holds. The script requires what it needs with `extensions`. */
export function holds(check: string, extensions: readonly string[] = [], running: Running = {}): boolean {
  const script = `require ${JSON.stringify(['fileinto', ...extensions])}; if ${check} { fileinto "yes"; } else { fileinto "no"; }`;
  const [result = ''] = outcome(script, running);
  if (result !== 'fileinto yes' && result !== 'fileinto no') throw new Error(result);
  return result === 'fileinto yes';
}
