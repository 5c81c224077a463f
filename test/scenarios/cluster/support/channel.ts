// A connection over which a sender of the load sends messages to a node, one after the other. `ways.ts` lists the kinds.

export interface Outgoing {
  readonly id: string;
  readonly from: string;
  readonly to: readonly string[];
  readonly body: string;
  /** Header and body. */
  readonly text: string;
}

export interface Channel {
  /** Resolves when the message is acknowledged. @throws Refused, Goodbye, or an error of the connection */
  send(message: Outgoing): Promise<void>;
  close(): void;
}

export interface ChannelOptions {
  /** The name of the node, for reports. */
  readonly node: string;
  /** In ms. A node that is silent for this long counts as gone. */
  readonly answerMs: number;
}

/** Rejects after `ms`, and calls `late` then. */
export async function within<T>(work: Promise<T>, ms: number, late: () => void): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      late();
      reject(new Error(`nothing within ${ms} ms`));
    }, ms);
  });
  work.catch(() => {});
  return Promise.race([work, expired]).finally(() => clearTimeout(timer));
}
