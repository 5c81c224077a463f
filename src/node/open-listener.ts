// Opens a listener of a mail protocol, to be stopped with the others of the node.
import { listenFailure } from './start-failure.js';

/** What every gateway with a port of its own gives. */
export interface Listener {
  /** `ip:port`. */
  readonly address: string;
  beginDrain(): void;
}

/** What ends a listener: what is under way gets `graceMs`. */
export type StopListener = (graceMs: number) => Promise<void>;

interface ListenerSetting {
  /** For the operator. */
  readonly name: string;
  /** The setting of the port. */
  readonly variable: string;
  readonly bind: string;
  readonly port: number;
}

/** @throws StartFault when the port cannot be had */
export async function openListener<L extends { stop: StopListener }>(
  { name, variable, bind, port }: ListenerSetting,
  stops: StopListener[],
  start: () => Promise<L>,
): Promise<L> {
  try {
    const listener = await start();
    stops.push((graceMs) => listener.stop(graceMs));
    return listener;
  } catch (error) {
    throw listenFailure(error, name, variable, bind, port);
  }
}
