// Starts a parent with several processes for tests: `bin/mansio serve` with MANSIO_PROCESSES and its embedded database, on its own NATS
// server. The log says which process has which pid.
import type { ExecutionContext } from 'ava';
import { createAccount, storeOf, type TestAccount } from '../../../../dev/node-accounts.js';
import { freePort } from '../../../../dev/ports.js';
import { startNatsServer } from '../../../../dev/servers/nats-server.js';
import type { Sql } from '../../../../src/store/postgres/driver/client.js';
import { defaultSigningKey } from '../../../support/default-signing-key.js';
import { startTestNode, type TestNode } from '../../../support/node.js';
import { eventually } from './eventually.js';
import { Load, type Target } from './load.js';
import { ROLLING_ANSWER_MS } from './roll.js';

export interface Processes {
  readonly node: TestNode;
  readonly nats: string;
  readonly sql: Sql;
  readonly accounts: readonly TestAccount[];
  readonly target: Target;
  /** Returns the present lines of the log. */
  lines(): readonly LogLine[];
  /** Returns the current pid of a process. */
  pid(process: number): number;
  /** Resolves when processes have become ready again this many times in total. */
  restarted(times: number): Promise<void>;
  load(): Load;
  /** Fetches a path of the metrics listener. */
  metrics(path: string): Promise<Response>;
}

export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly process?: number;
  readonly pid?: number;
  readonly [field: string]: unknown;
}

export async function startProcesses(
  t: ExecutionContext,
  settings: Readonly<Record<string, string>> = {},
  accounts = 3,
): Promise<Processes> {
  const nats = settings['NATS_URL'] === undefined ? await startNatsServer() : undefined;
  if (nats !== undefined) t.teardown(() => nats.kill());
  const node = await startTestNode({
    MANSIO_PROCESSES: '2',
    MANSIO_HOSTED_DOMAINS: 'example.test',
    MANSIO_ALLOW_PLAINTEXT_AUTH: 'true',
    // The health check of DKIM keys must not warn.
    ...defaultSigningKey().settings,
    // Port 0 would turn metrics off.
    MANSIO_METRICS_PORT: String(await freePort()),
    ...(nats && { NATS_URL: nats.url }),
    ...settings,
  });
  t.teardown(async () => {
    if (!t.passed)
      t.log(
        node.logs
          .filter((line) => !/message accepted|new email sent/.test(line))
          .slice(-80)
          .join('\n'),
      );
    if (node.running) await node.kill('SIGTERM');
  });
  const sql = await storeOf(node);
  t.teardown(() => sql.end({ timeout: 1 }));
  const made: TestAccount[] = [];
  for (let i = 1; i <= accounts; i++)
    made.push(await createAccount(sql, `user${i}@example.test`, ['app', 'smtp', 'imap']));
  const { http, mx, imap, submission, metrics } = node.ready.listeners;
  const target = { name: 'all', http: `http://${http}`, mx: mx!, imap: imap!, submission: submission! };
  const lines = () => node.logs.filter((line) => line.startsWith('{"level"')).map((line): LogLine => JSON.parse(line));
  return {
    node,
    nats: settings['NATS_URL'] ?? nats!.url,
    sql,
    accounts: made,
    target,
    lines,
    pid: (process) => lines().findLast((line) => line.msg === 'a process is started' && line.process === process)!.pid!,
    restarted: async (times) =>
      void (await eventually(
        'processes to be ready again',
        () => lines().filter(({ msg }) => msg === 'a process is ready again').length >= times,
      )),
    load() {
      // A process that drains, or starts beside others, may take long on a busy machine; none of them hangs.
      const load = new Load(() => [target], made, { answerMs: ROLLING_ANSWER_MS });
      t.teardown(() => load.stop());
      return load;
    },
    metrics: (path) => fetch(`http://${metrics}${path}`, { headers: { connection: 'close' } }),
  };
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
