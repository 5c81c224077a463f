// The junk filter of a node (decisions 0106, 0111): the words that its accounts and domains have learnt, or rspamd as the one that learns.
import { startJunkBases } from '../../actors/mailbox/background/junk-bases.js';
import {
  type JunkLearningOptions,
  startJunkLearning,
  type Teacher,
} from '../../actors/mailbox/background/junk-learning.js';
import { KnownWords } from '../../actors/mailbox/junk/known-words.js';
import type { MailboxJunk } from '../../actors/mailbox/junk/mailbox-junk.js';
import type { Ownership } from '../../actors/runtime/ownership/ownership.js';
import { postgresJunkBases } from '../../store/postgres/mailbox/junk-bases.js';
import { postgresJunkLessons } from '../../store/postgres/mailbox/junk-lessons.js';
import { addJob, type EngineContext } from './engine-context.js';
import type { EngineStores } from './stores.js';

/** How often accounts are looked for whose lessons nobody has reported. */
const LOOK_MS = 5_000;
/** How often domains are looked for that get a common base. */
const BASES_MS = 10 * 60_000;
const NO_METER = { taught: () => undefined };

/** Undefined where nobody judges mail by its words, and nobody learns. */
export async function startJunkFilter(
  context: EngineContext,
  { blobs }: Pick<EngineStores, 'blobs'>,
  ownership: Pick<Ownership, 'owned'>,
): Promise<MailboxJunk | undefined> {
  const { config, log, node, observability } = context;
  if (config.junkFilter === 'off') return undefined;
  const store = node.breaker.guard(postgresJunkLessons(node.sql));
  const bases = node.breaker.guard(postgresJunkBases(node.sql));
  const words = config.junkFilter === 'builtin' ? new KnownWords({ ...store, ...bases }, log) : undefined;
  const teacher = words === undefined ? await teacherOf(context, blobs) : undefined;
  let learner: JunkLearningOptions['learner'];
  if (words !== undefined) learner = { words };
  else if (teacher !== undefined) learner = { teacher };
  else return undefined;
  const learning = startJunkLearning({
    store,
    blobs,
    learner,
    owned: () => ownership.owned,
    meter: observability.metrics?.junk ?? NO_METER,
    log,
    lookMs: LOOK_MS,
  });
  addJob(context, 'lessons of the junk filter', () => learning.stop());
  if (words !== undefined) {
    const making = startJunkBases({ store: bases, log, intervalMs: BASES_MS });
    addJob(context, 'common bases of the junk filter', () => making.stop());
  }
  return { learning, words };
}

/** Undefined without rspamd. */
async function teacherOf({ config }: EngineContext, blobs: EngineStores['blobs']): Promise<Teacher | undefined> {
  const { rspamdUrl, rspamdPassword: password } = config;
  if (rspamdUrl === undefined) return undefined;
  const [{ controllerOf, rspamdTeacher }, { RspamdServer }] = await Promise.all([
    import('../../message-checks/rspamd/rspamd-teacher.js'),
    import('../../message-checks/rspamd/rspamd-server.js'),
  ]);
  return rspamdTeacher({
    server: new RspamdServer(config.rspamdControllerUrl ?? controllerOf(rspamdUrl)),
    password,
    async message(blob) {
      const index = await blobs.index(blob);
      return index && blobs.stream(blob, 0, index.size);
    },
  });
}
