// One node of a local cluster over its lives: it is started, stopped, killed, hung, cut off from its servers, and started again under the
// same name, on the same ports and data.
import { type NodeProcess, startNodeProcess } from './node-process.js';
import type { Exit, Program } from './program.js';
import type { ProxyMode, TcpProxy } from './servers/tcp-proxy.js';

/** The proxies between a node and its servers, if there are any. */
export interface Links {
  readonly nats: readonly TcpProxy[];
  readonly postgres: TcpProxy;
}

export interface ClusterNode {
  readonly name: string;
  /** `http://127.0.0.1:port` */
  readonly http: string;
  /** `127.0.0.1:port` */
  readonly mx: string;
  readonly imap: string;
  readonly pop3: string;
  readonly submission: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly running: boolean;
  /** The process of its present or last life. @throws when it was never started */
  readonly process: NodeProcess;
  /** Every line of output, of all its lives. */
  readonly logs: readonly string[];
  /** `settings` override the usual ones for this life; `program` is a bin/mansio of another version. @throws NodeNotReady */
  start(settings?: Readonly<Record<string, string>>, program?: string): Promise<void>;
  /** Sends SIGTERM: the node hands over, drains and ends. Undefined when it does not run. */
  stop(): Promise<Exit | undefined>;
  /** Sends SIGKILL. */
  kill(): Promise<Exit | undefined>;
  /** Sends SIGSTOP: the node hangs, and its connections stay open. */
  pause(): void;
  resume(): void;
  /** @throws without proxies */
  cutOff(from: 'nats' | 'postgres' | 'both', mode: Exclude<ProxyMode, 'pass'>): Promise<void>;
  /** Returns true when a black hole holds back octets with `text` on their way to the database. */
  holdsBack(text: string): boolean;
  /** Lets everything pass again. */
  reconnect(): Promise<void>;
}

export function clusterNode(
  name: string,
  settings: Readonly<Record<string, string>> & { readonly MANSIO_DATA_DIR: string },
  at: {
    readonly http: number;
    readonly mx: number;
    readonly imap: number;
    readonly pop3: number;
    readonly submission: number;
    readonly links: Links | undefined;
  },
): ClusterNode {
  const earlier: string[] = [];
  let program: Program | undefined;
  let current: NodeProcess | undefined;

  async function set(from: 'nats' | 'postgres' | 'both', mode: ProxyMode): Promise<void> {
    if (at.links === undefined) throw new Error('the cluster was started without proxies (viaProxies)');
    const { nats, postgres } = at.links;
    const proxies = [...(from === 'postgres' ? [] : nats), ...(from === 'nats' ? [] : [postgres])];
    await Promise.all(proxies.map((proxy) => proxy.set(mode)));
  }

  return {
    name,
    http: `http://127.0.0.1:${at.http}`,
    mx: `127.0.0.1:${at.mx}`,
    imap: `127.0.0.1:${at.imap}`,
    pop3: `127.0.0.1:${at.pop3}`,
    submission: `127.0.0.1:${at.submission}`,
    settings,
    get running() {
      return program?.running ?? false;
    },
    get process() {
      if (current === undefined) throw new Error(`${name} was not started`);
      return current;
    },
    get logs() {
      return [...earlier, ...(program?.logs ?? [])];
    },
    async start(further = {}, file?: string) {
      if (program?.running === true) throw new Error(`${name} is running`);
      earlier.push(...(program?.logs ?? []));
      const all = { ...settings, ...further, MANSIO_DATA_DIR: settings.MANSIO_DATA_DIR };
      const spawned = (started: Program) => {
        program = started;
      };
      current = await startNodeProcess(all, spawned, file);
    },
    stop: async () => (program?.running === true ? program.kill('SIGTERM') : undefined),
    kill: async () => (program?.running === true ? program.kill('SIGKILL') : undefined),
    pause: () => program?.signal('SIGSTOP'),
    resume: () => program?.signal('SIGCONT'),
    cutOff: (from, mode) => set(from, mode),
    holdsBack: (text) => at.links?.postgres.holds(text) ?? false,
    reconnect: () => set('both', 'pass'),
  };
}
