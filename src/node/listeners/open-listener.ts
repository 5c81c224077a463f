// Opens a listener of a mail protocol, and registers it to be stopped with the others of the node.
import type { ListenerPort } from '../config/values.js';
import { type ListenAttempt, listenFailure } from '../start-failure.js';

/** The common interface of gateways with a port of their own. */
export interface Listener {
  /** `ip:port`. */
  readonly address: string;
  /** `othersListen`: processes that stay share the port and accept the new connections. */
  beginDrain(othersListen?: boolean): void;
}

/** Stops a listener; current work gets `graceMs`. */
export type StopListener = (graceMs: number) => Promise<void>;

/** The operator's setting of a listener; `off` opens none. */
export type ListenerSetting = Omit<ListenAttempt, 'port'> & { readonly port: ListenerPort };

/** Undefined for a port that is off. @throws StartFault when the port cannot be opened */
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

/** Omits the listeners that are not open. */
export function onlyOpen<N extends string, L>(
  listeners: Readonly<Record<N, L | undefined>>,
): Readonly<Partial<Record<N, L>>> {
  return Object.fromEntries(Object.entries(listeners).filter(([, listener]) => listener !== undefined)) as Partial<
    Record<N, L>
  >;
}
