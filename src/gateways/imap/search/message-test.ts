// Search keys that are decided for each message separately: facts of a message and its dates.
import { DAY_MS } from '../../../mail-format/header/sent-date.js';
import { startOf } from '../grammar/dates.js';
import type { CalendarDay, SearchKey } from '../grammar/search.js';
import type { Message, MessageNeeds } from '../messages/message-source.js';
import { SENT_DAY } from './message-fields.js';

interface MessageTest {
  readonly needs: MessageNeeds;
  readonly test: (message: Message) => boolean;
}

type MessageKey = Extract<
  SearchKey,
  {
    readonly type: 'larger' | 'smaller' | 'day' | 'older' | 'younger' | 'emailId' | 'threadId';
  }
>;
type DayKey = Extract<SearchKey, { readonly type: 'day' }>;

const FACTS: MessageNeeds = {};

/** `now` is in ms since the epoch. */
export function messageTest(key: MessageKey, now: number): MessageTest {
  switch (key.type) {
    case 'larger':
      return { needs: FACTS, test: ({ size }) => size > key.octets };
    case 'smaller':
      return { needs: FACTS, test: ({ size }) => size < key.octets };
    // RFC 5032 §2.
    case 'older':
      return { needs: FACTS, test: ({ receivedAt }) => now - receivedAt >= key.seconds * 1000 };
    case 'younger':
      return { needs: FACTS, test: ({ receivedAt }) => now - receivedAt <= key.seconds * 1000 };
    case 'emailId':
      return { needs: FACTS, test: ({ emailId }) => emailId === key.id };
    case 'threadId':
      return { needs: FACTS, test: ({ threadId }) => threadId === key.id };
    case 'day':
      return dayTest(key);
  }
}

function dayTest({ of, compare, day }: DayKey): MessageTest {
  const asked = daysTo(day);
  const isWanted =
    compare === 'before'
      ? (found: number) => found < asked
      : compare === 'on'
        ? (found: number) => found === asked
        : (found: number) => found >= asked;
  // The day of arrival is the one that INTERNALDATE shows, in UTC.
  if (of === 'received') return { needs: FACTS, test: ({ receivedAt }) => isWanted(dayOf(receivedAt)) };
  if (of === 'saved') return { needs: FACTS, test: ({ savedAt }) => isWanted(dayOf(savedAt)) };
  return {
    needs: SENT_DAY.needs,
    test: (message) => {
      const sent = SENT_DAY.read(message);
      return sent !== '' && isWanted(Number(sent));
    },
  };
}

/** Days from the epoch in UTC. */
const dayOf = (ms: number): number => Math.floor(ms / DAY_MS);

const daysTo = (day: CalendarDay): number => dayOf(startOf(day));
