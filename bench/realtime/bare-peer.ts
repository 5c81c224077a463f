// A bare server with as many sockets as the node: it shows the lowest possible cost of a fan-out.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ownCpuSeconds } from '../support/cpu-time.js';
import type { Listening, SendOrder } from './bare-server.js';
import { HubSwarm } from './hub-swarm.js';

const EVENT = 'NewEmail';

export class BarePeer {
  readonly #server: ChildProcess;
  readonly #swarm: HubSwarm;

  private constructor(server: ChildProcess, swarm: HubSwarm) {
    this.#server = server;
    this.#swarm = swarm;
  }

  static async start(connections: number): Promise<BarePeer> {
    const server = fork(fileURLToPath(new URL('bare-server.js', import.meta.url)));
    const [{ port }] = (await once(server, 'message')) as [Listening];
    const swarm = new HubSwarm();
    await swarm.open(`http://127.0.0.1:${port}/`, ['none'], connections);
    return new BarePeer(server, swarm);
  }

  /** Sends every socket a message of `octets` octets; returns the ms until each had it, ascending. */
  async round(octets: number): Promise<readonly number[]> {
    const empty = `{"type":1,"target":"${EVENT}","arguments":[""]}\u001e`;
    const text = empty.replace('""', `"${'x'.repeat(Math.max(0, octets - empty.length))}"`);
    const { ms } = await this.#swarm.round(EVENT, 1, async () => {
      const began = process.hrtime.bigint();
      const order: SendOrder = { text };
      this.#server.send(order);
      return began;
    });
    return ms;
  }

  cpuSeconds(): Promise<number> {
    return ownCpuSeconds(this.#server.pid!);
  }

  close(): void {
    this.#swarm.close();
    this.#server.disconnect();
  }
}
