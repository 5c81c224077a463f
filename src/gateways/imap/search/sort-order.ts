// The order of SORT (RFC 5256 §3, RFC 5957): each criterion gives every message a rank, the ranks are compared in turn, and
// messages of equal rank keep the order of the mailbox. The order of a whole folder is cached until other messages arrive.
import { ascending, sortedStepwise } from '../../../mail-format/stepwise-sort.js';
import type { SortKey } from '../grammar/search.js';
import type { Message, MessageNeeds } from '../messages/message-source.js';
import type { PositionSet } from '../view/position-set.js';
import type { FolderResult, ResultKind } from './folder-results.js';
import {
  arrivedAt,
  BASE_SUBJECT,
  firstDisplayName,
  firstMailbox,
  type MessageText,
  names,
  SENT_AT,
} from './message-fields.js';
import type { FoundPositions } from './results.js';
import type { Search } from './search.js';

type Criterion =
  | { readonly needs: MessageNeeds; readonly number: (message: Message) => number }
  | { readonly needs: MessageNeeds; readonly text: (message: Message) => string };

const numeric = (number: (message: Message) => number, needs: MessageNeeds = {}): Criterion => ({ needs, number });
const textual = ({ needs, read }: MessageText): Criterion => ({ needs, text: read });

const CRITERIA: Readonly<Record<SortKey['by'], Criterion>> = {
  ARRIVAL: numeric(arrivedAt),
  CC: textual(firstMailbox('cc')),
  DATE: numeric((message) => Number(SENT_AT.read(message)), SENT_AT.needs),
  DISPLAYFROM: textual(firstDisplayName('from')),
  DISPLAYTO: textual(firstDisplayName('to')),
  FROM: textual(firstMailbox('from')),
  SIZE: numeric(({ size }) => size),
  SUBJECT: textual(BASE_SUBJECT),
  TO: textual(firstMailbox('to')),
};

/** Returns the positions of the messages in this order. */
export async function sortedPositions(
  search: Search,
  among: PositionSet,
  order: readonly SortKey[],
): Promise<FoundPositions> {
  const kind = ranksBy(order);
  const kept = search.result(kind);
  return (kept && inKeptOrder(search, among, kept)) ?? sortedAnew(search, among, order, kind);
}

/** The rank of each message in the order of its whole folder. */
const ranksBy = (order: readonly SortKey[]): ResultKind<Uint32Array> => ({
  name: `sort ${order.map(({ by, isReverse }) => (isReverse ? `-${by}` : by)).join(' ')}`,
  octetsOf: ({ byteLength }) => byteLength,
});

/** Returns undefined when one of the messages has no rank. */
function inKeptOrder(
  { columns }: Search,
  among: PositionSet,
  { uids, value: ranks }: FolderResult<Uint32Array>,
): FoundPositions | undefined {
  const positions = among.positions();
  /** The position + 1 by rank. */
  const ranked = new Uint32Array(ranks.length);
  let at = 0;
  for (const position of positions) {
    const uid = columns.uids[position]!;
    while (at < uids.length && uids[at]! < uid) at++;
    if (uids[at] !== uid) return undefined;
    ranked[ranks[at]!] = position + 1;
  }
  at = 0;
  for (const next of ranked) if (next !== 0) positions[at++] = next - 1;
  return positions;
}

async function sortedAnew(
  search: Search,
  among: PositionSet,
  order: readonly SortKey[],
  kind: ResultKind<Uint32Array>,
): Promise<FoundPositions> {
  const columns = order.map(({ by, isReverse }) => columnOf(CRITERIA[by], isReverse));
  const header = [...new Set(order.flatMap(({ by }) => names(CRITERIA[by].needs)))];
  const positions: number[] = [];
  await search.eachMessage(among, header.length === 0 ? {} : { header }, (message, position) => {
    positions.push(position);
    for (const column of columns) column.take(message);
  });
  const places = await search.stepwise(sortedPlaces(columns, positions.length), positions.length);
  if (search.isWhole(among)) {
    const ranks = new Uint32Array(places.length);
    for (let rank = 0; rank < places.length; rank++) ranks[places[rank]!] = rank;
    search.keep(
      kind,
      Uint32Array.from(positions, (position) => search.columns.uids[position]!),
      ranks,
    );
  }
  return places.map((place) => positions[place]!);
}

function* sortedPlaces(columns: readonly RankColumn[], count: number): Generator<void, Uint32Array> {
  const ranks: Float64Array[] = [];
  for (const column of columns) ranks.push(yield* column.ranks());
  return yield* sortedStepwise(ascending(count), (a, b) => {
    for (const column of ranks) {
      const difference = column[a]! - column[b]!;
      if (difference !== 0) return difference;
    }
    return a - b;
  });
}

interface RankColumn {
  take(message: Message): void;
  /** Computes the ranks in steps. */
  ranks(): Generator<void, Float64Array>;
}

function columnOf(criterion: Criterion, isReverse: boolean): RankColumn {
  const sign = isReverse ? -1 : 1;
  if ('number' in criterion) {
    const numbers: number[] = [];
    return {
      take: (message) => void numbers.push(sign * criterion.number(message)),
      *ranks() {
        yield;
        return Float64Array.from(numbers);
      },
    };
  }
  /** The number of each distinct text. */
  const numbers = new Map<string, number>();
  const numberOf: number[] = [];
  return {
    take(message) {
      const text = criterion.text(message);
      const known = numbers.get(text);
      if (known === undefined) numbers.set(text, numbers.size);
      numberOf.push(known ?? numbers.size - 1);
    },
    *ranks() {
      const texts = [...numbers.keys()];
      const sorted = yield* sortedStepwise(ascending(texts.length), (a, b) => (texts[a]! < texts[b]! ? -1 : 1));
      const ranks = new Float64Array(texts.length);
      for (let rank = 0; rank < sorted.length; rank++) ranks[sorted[rank]!] = sign * rank;
      return Float64Array.from(numberOf, (number) => ranks[number]!);
    },
  };
}
