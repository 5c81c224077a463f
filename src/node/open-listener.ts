// Opens a listener of a mail protocol, to be stopped with the others of the node.
import type { ListenerPort } from '../config/values.js';
import { type ListenAttempt, listenFailure } from './start-failure.js';

/** What every gateway with a port of its own gives. */
export interface Listener {
  /** `ip:port`. */
  readonly address: string;
  /** `othersListen`: the port is shared with processes that stay, and new connections are for them. */
  beginDrain(othersListen?: boolean): void;
}

/** What ends a listener: what is under way gets `graceMs`. */
export type StopListener = (graceMs: number) => Promise<void>;

/** A listener as the operator has set it; `off` opens none. */
export type ListenerSetting = Omit<ListenAttempt, 'port'> & { readonly port: ListenerPort };

/** Undefined for a port that is off. @throws StartFault when the port cannot be had */
export async function openListener<L extends { stop: StopListener }>(
  setting: ListenerSetting,
  stops: StopListener[],
  start: (port: number) => Promise<L>,
): Promise<L | undefined> {
  const { port } = setting;
  if (port === 'off') return undefined;
  try {
    const listener = await start(port);
    stops.push((graceMs) => listener.stop(graceMs));
    return listener;
  } catch (error) {
    throw listenFailure(error, { ...setting, port });
  }
}

/** Those that are open. */
export function onlyOpen<N extends string, L>(
  listeners: Readonly<Record<N, L | undefined>>,
): Readonly<Partial<Record<N, L>>> {
  return Object.fromEntries(Object.entries(listeners).filter(([, listener]) => listener !== undefined)) as Partial<
    Record<N, L>
  >;
}
