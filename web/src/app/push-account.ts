// For which account notifications were turned on in this browser. What makes and ends them (push.ts) is loaded when there is one.
import type { MansioClient } from '../../../src/client/index.js';

const ACCOUNT = 'mansio.push';

export const pushAccount = {
  get: (): string | null => localStorage.getItem(ACCOUNT),
  set: (account: string): void => localStorage.setItem(ACCOUNT, account),
  forget: (): void => localStorage.removeItem(ACCOUNT),
};

/** Somebody has signed in, or nobody is signed in any more. */
export async function followPush(client: Pick<MansioClient, 'request'>, account: string | undefined): Promise<void> {
  if (pushAccount.get() === null) return;
  try {
    const { endPush, lookAtPush } = await import('./push.js');
    await (account === undefined ? endPush() : lookAtPush(client, account));
  } catch {
    // The next start of the page tries again; the server ends subscriptions with their session.
  }
}
