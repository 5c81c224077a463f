// The parent of several nodes on one machine: starts them on the same ports, restarts those that end by themselves, answers for all of them
// on the metrics port, and drains them one after the other. It serves no clients itself.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { StartFault } from '../../concurrency/start-fault.js';
import { startEmbedded } from '../../store/embedded/embedded.js';
import { openDataDirectory } from '../../store/local/data-directory.js';
import type { DatabaseAddress } from '../../store/postgres/driver/client.js';
import type { Config } from '../config/config.js';
import type { Demo } from '../demo.js';
import { Lifecycle } from '../lifecycle.js';
import type { Listeners } from '../listeners/listeners.js';
import { connectionsOf } from '../resources.js';
import type { ChosenPorts, FailedMessage, ReadyMessage } from './messages.js';
import { openParentMetrics } from './parent-metrics.js';
import { clearLeftDirectories, PROCESSES } from './process-directories.js';
import { type Ending, NeverReady, ProcessLife } from './process-life.js';
import { Restarts } from './restarts.js';
import { adviseOfMigration } from './shared-port.js';

export interface RunningProcesses {
  /** The parent's id; its nodes have the same with a number appended. */
  readonly nodeId: string;
  /** The listeners of all nodes. */
  readonly listeners: Listeners;
  readonly demo: Demo | undefined;
  /** Rejects when a process cannot or must not be restarted. */
  readonly failed: Promise<never>;
  /** Drains one process after the other. Never fails; false when one did not end cleanly. */
  stop(): Promise<boolean>;
}

/** A numbered slot, in which the lives of one process follow each other. */
interface Slot {
  readonly number: number;
  readonly restarts: Restarts;
  life: ProcessLife | undefined;
  /** The timer that starts the next life. */
  pause: NodeJS.Timeout | undefined;
  /** The number of lives after the first. */
  restarted: number;
}

/** A little longer than a process takes at most to stop by itself. */
const STOP_MS = 11_000;
const PARENT_STOP_MS = 6_000;
/** Exit codes from here on name the signal that ended a program. */
const FIRST_SIGNAL_CODE = 129;
/** A signal to all processes of a group also reaches the parent, within this time. */
const GROUP_SIGNAL_MS = 500;
const LOOK_MS = 50;
/** Spare connections of the embedded database: for commands next to the nodes, and for short-lived connections. */
const SPARE_CONNECTIONS = 20;
const LEAST_CONNECTIONS = 50;

/** A process cannot be started. */
class ProcessFault extends StartFault {
  constructor(message: string) {
    super('process-failed', message);
  }
}

/** A start that fails stops everything that it has started. @throws StartFault, also one of a process */
export async function startProcesses(
  config: Config,
  count: number,
  log: Logger,
  signal: AbortSignal,
): Promise<RunningProcesses> {
  const parent = new Parent(config, count, log);
  try {
    return await parent.start(signal);
  } catch (error) {
    await parent.stop();
    throw error;
  }
}

class Parent {
  readonly #config: Config;
  readonly #log: Logger;
  readonly #lifecycle: Lifecycle;
  readonly #slots: readonly Slot[];
  readonly #failed: Promise<never>;
  #fail: (error: Error) => void = () => {};
  #nodeId = '';
  #directory = '';
  #database: DatabaseAddress | undefined;
  #listeners: Listeners | undefined;
  #ports: ChosenPorts = {};
  #isStopping = false;
  #livesStopped: Promise<boolean> | undefined;

  constructor(config: Config, count: number, log: Logger) {
    this.#config = config;
    this.#log = log;
    this.#lifecycle = new Lifecycle(log);
    this.#slots = Array.from({ length: count }, (_, i) => ({
      number: i + 1,
      restarts: new Restarts(),
      life: undefined,
      pause: undefined,
      restarted: 0,
    }));
    this.#failed = new Promise<never>((_, reject) => {
      this.#fail = reject;
    });
    this.#failed.catch(() => {});
  }

  async start(signal: AbortSignal): Promise<RunningProcesses> {
    const over = () => void this.#stopLives();
    signal.addEventListener('abort', over);
    // A second signal ends the parent and its processes at once; after a bug of the parent the processes drain by themselves.
    process.once('exit', (code) => code >= FIRST_SIGNAL_CODE && this.#killAll());
    try {
      await this.#prepare(signal);
      signal.throwIfAborted();
      // The first process creates schema, certificate and demo; the others find them.
      const { listeners, demo } = await this.#first(this.#slots[0]!);
      this.#listeners = listeners;
      await Promise.all(this.#slots.slice(1).map((slot) => this.#first(slot)));
      adviseOfMigration(this.#config, this.#log);
      const metrics = await openParentMetrics(this.#config, this.#log, this.#lifecycle, this.#slots);
      signal.throwIfAborted();
      return {
        nodeId: this.#nodeId,
        listeners: { ...(metrics !== undefined && { metrics }), ...listeners },
        demo,
        failed: this.#failed,
        stop: () => this.stop(),
      };
    } finally {
      signal.removeEventListener('abort', over);
    }
  }

  async stop(): Promise<boolean> {
    const isClean = await this.#stopLives();
    return (await this.#lifecycle.stop(PARENT_STOP_MS)) && isClean;
  }

  async #prepare(signal: AbortSignal): Promise<void> {
    const { dataDir, databaseUrl } = this.#config;
    const dataDirectory = openDataDirectory(dataDir);
    this.#lifecycle.add('data directory', () => dataDirectory.release());
    this.#directory = dataDirectory.path;
    this.#nodeId = this.#config.nodeId ?? dataDirectory.keep('node-id', () => randomBytes(8).toString('hex'));
    await clearLeftDirectories(dataDirectory.path, this.#slots.length, this.#log, signal);
    if (databaseUrl !== undefined) return;
    const wanted = Math.max(LEAST_CONNECTIONS, connectionsOf(this.#slots.length) + SPARE_CONNECTIONS);
    const embedded = await startEmbedded({
      dataDir: dataDirectory,
      log: this.#log,
      settings: { max_connections: String(wanted) },
    });
    this.#lifecycle.add('embedded database', () => embedded.stop(), PARENT_STOP_MS);
    this.#database = embedded.address;
  }

  /** Starts a process for the first time: its end before it is ready fails the start; a later end leads to a restart. */
  async #first(slot: Slot): Promise<ReadyMessage> {
    try {
      return await this.#begin(slot).ready;
    } catch (error) {
      throw this.#isStopping ? error : explained(slot, error);
    }
  }

  #begin(slot: Slot): ProcessLife {
    const others = this.#slots.filter((each) => each !== slot && each.life !== undefined);
    // While no process has the ports, those that the system has picked are requested by number.
    if (others.length === 0 && this.#listeners !== undefined) this.#ports = chosenPorts(this.#listeners);
    const isShared = others.some(({ life }) => life?.isReady);
    const { http, acme } = isShared ? (this.#listeners ?? {}) : {};
    const life = new ProcessLife(
      {
        kind: 'start',
        nodeId: `${this.#nodeId}.${slot.number}`,
        dataDir: join(this.#directory, PROCESSES, String(slot.number)),
        ports: this.#ports,
        processShare: {
          number: slot.number,
          count: this.#slots.length,
          directory: this.#directory,
          ...(this.#database && { database: this.#database }),
          httpPort: http === undefined ? undefined : portOf(http),
          acmePort: acme === undefined ? undefined : portOf(acme),
        },
      },
      () => void this.#signalled(slot, life),
    );
    slot.life = life;
    this.#log.info({ process: slot.number, pid: life.pid }, 'a process is started');
    void life.ended.then((ending) => this.#ended(slot, life, ending));
    return life;
  }

  #ended(slot: Slot, life: ProcessLife, ending: Ending): void {
    slot.life = undefined;
    const wasReady = life.readyMs !== undefined || slot.restarted > 0;
    if (this.#isStopping || !wasReady) return;
    const { code, signal, failure } = ending;
    const isAsked = life.isStopping && code === 0;
    const pause = isAsked ? 0 : slot.restarts.ended({ readyMs: life.readyMs, isTemporary: passes(failure) });
    const how = { process: slot.number, pid: life.pid, code, signal, ...(failure && { reason: failure.message }) };
    if (failure?.isFinal === true || pause === undefined) {
      const error = new ProcessFault(
        pause === undefined
          ? `process ${slot.number} has ended ${slot.restarts.failed} times at its start; ${reasonOf(ending)}`
          : `process ${slot.number} must not go on; ${reasonOf(ending)}`,
      );
      this.#log.fatal({ ...how, err: error }, 'a process cannot be started again: all of them are stopped');
      this.#fail(error);
      return;
    }
    if (isAsked) this.#log.info(how, 'a process has stopped: it is started again');
    else this.#log.error({ ...how, pauseMs: pause }, 'a process has ended by itself: it is started again');
    slot.pause = setTimeout(() => void this.#again(slot), pause);
  }

  async #again(slot: Slot): Promise<void> {
    slot.restarted++;
    // When all processes have ended, one opens the ports again before the others join it.
    const lives = () => this.#slots.flatMap(({ life }) => life ?? []);
    while (!this.#isStopping && lives().length > 0 && !lives().some(({ isReady }) => isReady))
      await Promise.race(lives().map(({ ready }) => ready.catch(() => {}))).then(() => delay(10));
    slot.pause = undefined;
    if (this.#isStopping) return;
    const life = this.#begin(slot);
    await life.ready.then(
      () => this.#log.info({ process: slot.number, pid: life.pid }, 'a process is ready again'),
      () => {},
    );
  }

  /** Handles a signal to one process: it drains and restarts, unless the signal was meant for all processes. */
  async #signalled(slot: Slot, life: ProcessLife): Promise<void> {
    await delay(GROUP_SIGNAL_MS);
    const others = this.#slots.filter((each) => each !== slot);
    const isDue = () => !this.#isStopping && slot.life === life && life.isReady;
    if (isDue()) this.#log.info({ process: slot.number, pid: life.pid }, 'a process was told to end');
    // Another process has to serve meanwhile.
    while (isDue() && !others.some((other) => other.life?.isReady)) await delay(LOOK_MS);
    if (isDue()) await life.stop(true, STOP_MS);
  }

  #stopLives(): Promise<boolean> {
    this.#isStopping = true;
    this.#livesStopped ??= this.#stopEach();
    return this.#livesStopped;
  }

  /** Stops one process after the other: those that remain take over the mailboxes, and the ports stay open. */
  async #stopEach(): Promise<boolean> {
    let isClean = true;
    for (const { pause } of this.#slots) clearTimeout(pause);
    const isRunning = ({ life }: Slot) => life !== undefined;
    for (const slot of this.#slots) {
      const ending = await slot.life?.stop(this.#slots.filter(isRunning).length > 1, STOP_MS);
      if (ending !== undefined) isClean = ending.code === 0 && isClean;
    }
    return isClean;
  }

  #killAll(): void {
    for (const { life } of this.#slots) life?.kill();
  }
}

function explained({ number }: Slot, error: unknown): unknown {
  if (!(error instanceof NeverReady)) return error;
  const { failure } = error.ending;
  return new ProcessFault(failure?.message ?? `process ${number} cannot be started; ${reasonOf(error.ending)}`);
}

function passes(failure: FailedMessage | undefined): boolean {
  return failure?.isTemporary === true;
}

function reasonOf({ failure, signal, code }: Ending): string {
  if (failure?.message !== undefined) return `it said: ${failure.message}`;
  return signal === null ? `it ended with code ${code}; its log says why` : `it was ended by ${signal}`;
}

function chosenPorts({
  http,
  https,
  acme,
  mx,
  submission,
  submissions,
  imap,
  imaps,
  pop3,
  pop3s,
  sieve,
}: Listeners): ChosenPorts {
  return {
    ...(http !== undefined && { httpPort: portOf(http) }),
    ...(https !== undefined && { httpsPort: portOf(https) }),
    ...(acme !== undefined && { acmePort: portOf(acme) }),
    ...(mx !== undefined && { mxPort: portOf(mx) }),
    ...(submission !== undefined && { submissionPort: portOf(submission) }),
    ...(submissions !== undefined && { submissionsPort: portOf(submissions) }),
    ...(imap !== undefined && { imapPort: portOf(imap) }),
    ...(imaps !== undefined && { imapsPort: portOf(imaps) }),
    ...(pop3 !== undefined && { pop3Port: portOf(pop3) }),
    ...(pop3s !== undefined && { pop3sPort: portOf(pop3s) }),
    ...(sieve !== undefined && { sievePort: portOf(sieve) }),
  };
}

function portOf(address: string): number {
  return Number(address.slice(address.lastIndexOf(':') + 1));
}
