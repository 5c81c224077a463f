// Runs Postfix's load generator: processes that each send a few messages over a connection, one command per round trip, and connect again,
// as most senders of a real MX do. The result is undefined when it is not installed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { LoadResult } from '../smtp-load.js';

const SMTP_SOURCE = '/usr/sbin/smtp-source';

export interface SourceLoad {
  readonly port: number;
  /** The number of processes at a time. */
  readonly processes: number;
  readonly messages: number;
  readonly perConnection: number;
  /** The size of a message, in octets. */
  readonly size: number;
  /** Returns the recipient of connection `i`. */
  recipient(i: number): string;
}

export async function smtpSource(load: SourceLoad): Promise<LoadResult | undefined> {
  if (!existsSync(SMTP_SOURCE)) return undefined;
  const { port, perConnection, size } = load;
  const connections = Math.ceil(load.messages / perConnection);
  let next = 0;
  let accepted = 0;
  const started = performance.now();
  await Promise.all(
    Array.from({ length: load.processes }, async () => {
      while (next < connections) {
        const recipient = load.recipient(next++);
        const options = ['-d', '-s', 1, '-m', perConnection, '-l', size, '-f', 'sender@remote.test', '-t', recipient];
        const source = spawn(SMTP_SOURCE, [...options.map(String), `127.0.0.1:${port}`], { stdio: 'ignore' });
        const [code] = (await once(source, 'exit')) as [number | null];
        if (code === 0) accepted += perConnection;
      }
    }),
  );
  return { accepted, seconds: (performance.now() - started) / 1000 };
}
