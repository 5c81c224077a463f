// The process's side of the link to the parent that started it. When the parent ends without a message, the process is told to stop.
import cluster from 'node:cluster';
import type { RunningNode, StopManner } from '../node.js';
import type { FailedMessage, StartMessage, ToParent, ToProcess } from './messages.js';

export interface ParentLink {
  readonly started: Promise<StartMessage>;
  /** Resolves, when the process has to stop, to the manner of the stop. */
  readonly stop: Promise<StopManner>;
  readonly isConnected: boolean;
  /** The parent can ask for the health and metrics of the node from now on. */
  ready(node: Pick<RunningNode, 'listeners' | 'demo' | 'vitals'>): void;
  failed(failure: Omit<FailedMessage, 'kind'>): Promise<void>;
  signalled(): void;
}

/** Undefined in a process without a parent of this program. */
export function linkToParent(): ParentLink | undefined {
  const { worker } = cluster;
  if (worker === undefined) return undefined;
  const say = (message: ToParent) =>
    new Promise<void>((resolve) => {
      // The parent may be gone.
      if (process.send === undefined || !process.connected) resolve();
      else process.send(message, undefined, {}, () => resolve());
    });
  let vitals: RunningNode['vitals'] | undefined;
  const answer = async (id: number, about: 'health' | 'metrics') => {
    const found = await vitals?.[about]().catch(() => undefined);
    await say({ kind: 'answer', id, answer: found });
  };
  let start = (_: StartMessage) => {};
  const started = new Promise<StartMessage>((resolve) => {
    start = resolve;
  });
  const stop = new Promise<StopManner>((resolve) => {
    process.on('message', (message: ToProcess) => {
      if (message.kind === 'start') start(message);
      else if (message.kind === 'stop') resolve({ portsStay: message.portsStay });
      else void answer(message.id, message.about);
    });
    // It runs before the listener of the cluster module, which would end the process in the middle of its work.
    process.prependListener('disconnect', () => {
      worker.exitedAfterDisconnect = true;
      resolve({ atOnce: true });
    });
  });
  void say({ kind: 'present' });
  return {
    started,
    stop,
    get isConnected() {
      return process.connected;
    },
    ready({ listeners, demo, vitals: own }) {
      vitals = own;
      void say({ kind: 'ready', listeners, demo });
    },
    failed: (failure) => say({ kind: 'failed', ...failure }),
    signalled: () => void say({ kind: 'signalled' }),
  };
}
