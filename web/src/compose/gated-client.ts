// A client for compose windows that outlives the session: while nobody is signed in, and for requests whose session has just ended, it says
// that nothing answers. So windows keep what they have and try again later, and nothing of one account is sent for another one.
import { type MansioClient, NetworkFault, Refusal } from '../../../src/client/index.js';

type Task<A extends readonly unknown[], R> = (...args: A) => Promise<R>;

export function gatedClient(client: MansioClient, isOpen: () => boolean): MansioClient {
  const gated =
    <A extends readonly unknown[], R>(task: Task<A, R>): Task<A, R> =>
    async (...args) => {
      if (!isOpen()) throw new NetworkFault('Nobody is signed in.');
      try {
        return await task(...args);
      } catch (error) {
        if (!(error instanceof Refusal) || error.status !== 401) throw error;
        throw new NetworkFault('The session has ended.', { cause: error });
      }
    };
  const { create, read, update, delete: remove, send } = client.drafts;
  return {
    ...client,
    request: gated(client.request) as MansioClient['request'],
    drafts: {
      create: gated(create),
      read: gated(read),
      update: gated(update),
      delete: gated(remove),
      send: gated(send),
    },
  };
}
