// HEADER and the keys for single fields. Texts of fields that are kept are joined when a whole folder is searched, and searched
// in this form from then on; the few messages that came later are looked at one by one.
import { searchForm } from '../../../mail/unicode-casemap.js';
import { PositionSet } from '../view/position-set.js';
import type { SearchedMessages } from './body-search.js';
import type { FolderResult, ResultKind } from './folder-results.js';
import { searchedField } from './message-fields.js';
import { TextColumn } from './text-column.js';

/** So many messages at most are looked at one by one. */
const FEW = 200;
/** Every text that is not empty has it. */
const ANY = '\n';

/** The messages that are searched, and what was made of their folder before. */
interface SearchedTexts extends SearchedMessages {
  isWhole(among: PositionSet): boolean;
  result<T>(kind: ResultKind<T>): FolderResult<T> | undefined;
  keep<T>(kind: ResultKind<T>, uids: Uint32Array, value: T): void;
  stepwise<T>(work: Generator<void, T>, goal: number): Promise<T>;
}

/** Those of `among` that have the text in a field of the name; that have the field when the text is empty. */
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
