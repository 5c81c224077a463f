// The threads of messages that a search found. Threads of a whole folder are cached until messages are added or removed.
import {
  type ThreadedMessage,
  type ThreadForest,
  threadsBySubject,
} from '../../../mail-format/threads/thread-forest.js';
import { threadsByReferences } from '../../../mail-format/threads/thread-references.js';
import type { ThreadArguments } from '../grammar/search.js';
import type { PositionSet } from '../view/position-set.js';
import type { ResultKind } from './folder-results.js';
import { THREAD_NEEDS, threadedMessageOf } from './message-fields.js';
import type { FoundPositions } from './results.js';
import type { Search } from './search.js';

type Algorithm = ThreadArguments['algorithm'];

export interface FolderThreads {
  readonly forest: ThreadForest;
  /** Positions by the number of the message in the forest. */
  readonly positions: FoundPositions;
}

const ALGORITHMS: Readonly<Record<Algorithm, (messages: readonly ThreadedMessage[]) => Generator<void, ThreadForest>>> =
  { ORDEREDSUBJECT: threadsBySubject, REFERENCES: threadsByReferences };

const forestBy = (algorithm: Algorithm): ResultKind<ThreadForest> => ({
  name: `thread ${algorithm}`,
  octetsOf: ({ firstChild, nextSibling }) => firstChild.byteLength + nextSibling.byteLength,
});

export async function threadsOf(search: Search, among: PositionSet, algorithm: Algorithm): Promise<FolderThreads> {
  const { uids } = search.columns;
  const kind = forestBy(algorithm);
  const kept = search.result(kind);
  if (kept !== undefined) {
    const positions = among.positions();
    const isSame =
      positions.length === kept.uids.length && positions.every((position, i) => uids[position] === kept.uids[i]);
    if (isSame) return { forest: kept.value, positions };
  }
  const messages: ThreadedMessage[] = [];
  const found: number[] = [];
  await search.eachMessage(among, THREAD_NEEDS, (message, position) => {
    messages.push(threadedMessageOf(message));
    found.push(position);
  });
  const positions = Uint32Array.from(found);
  const forest = await search.stepwise(ALGORITHMS[algorithm](messages), messages.length);
  if (search.isWhole(among))
    search.keep(
      kind,
      positions.map((position) => uids[position]!),
      forest,
    );
  return { forest, positions };
}
