// What every step of the engine's start gets, and how a step registers a job that is stopped with the node.
import type { Logger } from 'pino';
import type { Config } from '../config/config.js';
import type { Lifecycle } from '../lifecycle.js';
import type { Observability } from '../observability.js';
import type { DatabasePools, Resources } from '../resources.js';

export interface EngineContext {
  readonly config: Config;
  readonly log: Logger;
  readonly lifecycle: Lifecycle;
  readonly node: DatabasePools & Pick<Resources, 'nodeId' | 'processShare' | 'breaker'>;
  readonly observability: Observability;
}

/** The most that a part may use of the remaining time, because the store may never answer. */
export const STOP_MS = 2_000;
/** Short, because the next start repeats the work. */
const JOB_RESERVE_MS = 50;

export function addJob({ lifecycle }: Pick<EngineContext, 'lifecycle'>, name: string, stop: () => Promise<void>): void {
  lifecycle.add(name, stop, JOB_RESERVE_MS, STOP_MS);
}

/** The options of parts of the runtime that are watched. */
export function watched({ observability: { metrics, tracer } }: Pick<EngineContext, 'observability'>) {
  return { tracer, ...(metrics && { meter: metrics.runtime }) };
}
