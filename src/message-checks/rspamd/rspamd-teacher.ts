// Teaches rspamd what users call junk: the message goes to its controller (`/learnspam`, `/learnham`,
// https://rspamd.com/doc/developers/protocol.html). rspamd itself knows which messages it has learnt, so a repetition counts once.
import type { RspamdServer } from './rspamd-server.js';

/**
 * 200: learnt. 204: rspamd is sure already. 208 and 404: it has learnt this message before. All are answers to a lesson that is done; 404 is
 * also the answer of a server without a classifier.
 */
const DONE: ReadonlyMap<number, 'learnt' | 'known'> = new Map([
  [200, 'learnt'],
  [204, 'known'],
  [208, 'known'],
  [404, 'known'],
]);
const ANSWER_MS = 20_000;
/** The ports of rspamd's own configuration. */
const WORKER_PORT = '11333';
const CONTROLLER_PORT = '11334';

/**
 * Returns the URL of the controller, without a slash at its end: beside a worker on its usual port, else the same one, because a controller
 * takes messages to check as well.
 */
export function controllerOf(rspamdUrl: string): string {
  const url = new URL(rspamdUrl);
  if (url.port === WORKER_PORT) url.port = CONTROLLER_PORT;
  return url.href.replace(/\/$/, '');
}

export interface RspamdTeacherOptions {
  /** The controller. */
  readonly server: Pick<RspamdServer, 'post'>;
  /** The password of the controller; undefined where it wants none from this host. */
  readonly password: string | undefined;
  /** The octets of a stored message; undefined when there is no such blob. */
  message(blob: string): Promise<AsyncIterable<Uint8Array> | undefined>;
}

export function rspamdTeacher({ server, password, message }: RspamdTeacherOptions) {
  return {
    /** @throws when rspamd does not answer, or refuses to learn */
    async teach(blob: string, isJunk: boolean, stopped: AbortSignal): Promise<'learnt' | 'known'> {
      const octets = await message(blob);
      if (octets === undefined) return 'known';
      const signal = AbortSignal.any([stopped, AbortSignal.timeout(ANSWER_MS)]);
      const fields = password === undefined ? {} : { Password: password };
      const path = isJunk ? '/learnspam' : '/learnham';
      const { status, text } = await server.post(path, fields, octets, signal);
      const done = DONE.get(status);
      if (done === undefined) throw new Error(`the controller of rspamd answers ${status}: ${text.slice(0, 200)}`);
      return done;
    },
  };
}
