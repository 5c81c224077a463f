// HEADER and the keys for single fields. When a whole folder is searched, the cached texts of fields are joined and later searched
// in this form; the few messages that arrive later are tested one by one.
import { searchForm } from '../../../mail-format/words/unicode-casemap.js';
import { PositionSet } from '../view/position-set.js';
import type { SearchedMessages } from './body-search.js';
import type { FolderResult, ResultKind } from './folder-results.js';
import { searchedField } from './message-fields.js';
import { TextColumn } from './text-column.js';

/** At most this many messages are tested one by one. */
const FEW = 200;
/** Every non-empty text contains it. */
const ANY = '\n';

/** The messages of the search, and the cached results of their folder. */
interface SearchedTexts extends SearchedMessages {
  isWhole(among: PositionSet): boolean;
  result<T>(kind: ResultKind<T>): FolderResult<T> | undefined;
  keep<T>(kind: ResultKind<T>, uids: Uint32Array, value: T): void;
  stepwise<T>(work: Generator<void, T>, goal: number): Promise<T>;
}

/** Returns the messages of `among` whose field contains the text; with an empty text, those that have the field. */
export async function matchingField(
  search: SearchedTexts,
  name: string,
  text: string,
  among: PositionSet,
): Promise<PositionSet> {
  const { columns } = search;
  const sought = text === '' ? ANY : searchForm(text);
  const { needs, read, isKept } = searchedField(name);
  const found = new PositionSet(columns.count);
  const oneByOne = async (some: PositionSet): Promise<PositionSet> => {
    await search.eachMessage(some, needs, (message, position) => {
      if (read(message).includes(sought)) found.add(position);
    });
    return found;
  };
  if (!isKept || among.count <= FEW) return oneByOne(among);
  const kind: ResultKind<TextColumn> = { name: `text ${name}`, octetsOf: ({ octets }) => octets };
  const kept = search.result(kind);
  const others = kept === undefined ? among : among.minus(columns.withUids(kept.uids));
  if (kept !== undefined && others.count <= FEW) {
    const inKept = columns.withUids(await search.stepwise(kept.value.matching(sought), among.count));
    return among.and(inKept).or(await oneByOne(others));
  }
  if (!search.isWhole(among)) return oneByOne(among);
  const column = new TextColumn();
  const uids: number[] = [];
  await search.eachMessage(among, needs, (message) => {
    uids.push(message.uid);
    column.add(message.uid, read(message));
  });
  search.keep(kind, Uint32Array.from(uids), column);
  return columns.withUids(await search.stepwise(column.matching(sought), among.count));
}
