// Opens a listener of a mail protocol, to be stopped with the others of the node.
import { type ListenAttempt, listenFailure } from './start-failure.js';

/** What every gateway with a port of its own gives. */
export interface Listener {
  /** `ip:port`. */
  readonly address: string;
  beginDrain(): void;
}

/** What ends a listener: what is under way gets `graceMs`. */
export type StopListener = (graceMs: number) => Promise<void>;

/** @throws StartFault when the port cannot be had */
export async function openListener<L extends { stop: StopListener }>(
  attempt: ListenAttempt,
  stops: StopListener[],
  start: () => Promise<L>,
): Promise<L> {
  try {
    const listener = await start();
    stops.push((graceMs) => listener.stop(graceMs));
    return listener;
  } catch (error) {
    throw listenFailure(error, attempt);
  }
}
