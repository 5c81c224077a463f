// What a node of several processes needs beside a data directory: a NATS server that they talk over.
import { startNatsServer } from '../../dev/nats-server.js';

export interface Joint {
  /** Of the node; its process is then the parent, which has started the others and the database. */
  readonly settings: Readonly<Record<string, string>>;
  readonly natsPid?: number;
  stop(): Promise<void>;
}

/** One process needs nothing. */
export async function startJoint(processes: number): Promise<Joint> {
  if (processes === 1) return { settings: {}, stop: async () => {} };
  const nats = await startNatsServer();
  return {
    settings: { MANSIO_PROCESSES: String(processes), NATS_URL: nats.url },
    natsPid: nats.pid,
    stop: () => nats.stop(),
  };
}
