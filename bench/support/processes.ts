// The NATS server that a node of several processes needs in addition to a data directory.
import { startNatsServer } from '../../dev/servers/nats-server.js';

export interface Joint {
  /** The settings of the node; its process is then the parent, which has started the others and the database. */
  readonly settings: Readonly<Record<string, string>>;
  readonly natsPid?: number;
  stop(): Promise<void>;
}

/** A single process needs nothing. */
export async function startJoint(processes: number): Promise<Joint> {
  if (processes === 1) return { settings: {}, stop: async () => {} };
  const nats = await startNatsServer();
  return {
    settings: { MANSIO_PROCESSES: String(processes), NATS_URL: nats.url },
    natsPid: nats.pid,
    stop: () => nats.stop(),
  };
}
