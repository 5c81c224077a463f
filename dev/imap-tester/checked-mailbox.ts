// Holds what a client knows of its selected mailbox from untagged responses alone, and checks the rules for these.
import { isList, type Response, ServerFault, textOf, type Value } from './response.js';

export interface KnownMessage {
  uid: number | undefined;
  flags: ReadonlySet<string> | undefined;
  modseq: number | undefined;
}

export interface FlagChange {
  readonly mode: '+' | '-' | '';
  readonly flags: readonly string[];
}

/** A running command, as far as the rules about EXPUNGE need it (RFC 9051 §7.5.1). */
export interface UnderWay {
  readonly name: string;
  readonly isUid: boolean;
}

const HOLDS_EXPUNGE = new Set(['FETCH', 'STORE', 'SEARCH', 'SORT', 'THREAD']);

export class CheckedMailbox {
  readonly messages: KnownMessage[] = [];
  uidNext = 1;
  uidValidity: number | undefined;
  highestModseq: number | undefined;
  /** UIDs whose expunge was reported to this client; they never return. */
  readonly expunged = new Set<number>();
  /** NOTIFY covers the selected mailbox, so EXPUNGE may come while no command runs (RFC 5465). */
  isNotified = false;
  #isSelected = false;
  /** Responses that SELECT with QRESYNC sends before it completes. */
  #resuming: { exists: number; fetched: [seq: number, data: Value | undefined][] } | undefined;

  /** `known` is what another session knew of the mailbox, with all UIDs; QRESYNC brings it up to date. */
  constructor(known?: readonly KnownMessage[]) {
    if (known === undefined) return;
    this.messages.push(...known.map((message) => ({ ...message })));
    this.#resuming = { exists: 0, fetched: [] };
  }

  /** `underWay` is the running command, IDLE included; undefined when none runs. @throws ServerFault */
  apply(response: Response, underWay: UnderWay | undefined): void {
    const { name, number } = response;
    if (name === 'OK') this.#code(response);
    else if (name === 'EXISTS') this.#exists(number!);
    else if (name === 'EXPUNGE') this.#expunge(number!, underWay);
    else if (name === 'VANISHED') this.#vanished(response, underWay);
    else if (name === 'FETCH') this.#fetched(number!, response.values[0]);
  }

  /** The mailbox is selected; from now on only an EXPUNGE makes it smaller. @throws ServerFault */
  selected(): void {
    this.#isSelected = true;
    this.#resumed();
  }

  /** Applies what SELECT has sent so far: all earlier expunges have been named. */
  #resumed(): void {
    if (this.#resuming === undefined) return;
    const { exists, fetched } = this.#resuming;
    this.#resuming = undefined;
    this.#exists(exists);
    for (const [seq, data] of fetched) this.#fetched(seq, data);
  }

  /**
   * Call it before a STORE with .SILENT, and the returned function after it: the client then assumes the new flags, except those
   * that the server has sent meanwhile. A refused STORE may have changed some messages.
   */
  expectSilent(set: string, isUid: boolean, change: FlagChange): (isDone: boolean) => void {
    // The last message may be one that the server has not reported yet.
    if (set === '*') for (const message of this.messages) message.flags = undefined;
    const named = set === '*' ? [] : this.#named(set, isUid);
    const before = named.map(({ flags }) => flags);
    return (isDone) => {
      for (const [i, message] of named.entries()) {
        if (message.flags !== before[i]) continue;
        message.flags = isDone ? changed(message.flags, change) : undefined;
      }
    };
  }

  /** Returns the messages of the set. With UIDs, flags of messages whose UID is unknown become unknown. */
  #named(set: string, isUid: boolean): KnownMessage[] {
    const last = isUid ? Math.max(0, ...this.uids) : this.messages.length;
    const ranges = set.split(',').map((range) => {
      const [from, to = from] = range.split(':').map((number) => (number === '*' ? last : Number(number)));
      return [Math.min(from!, to!), Math.max(from!, to!)] as const;
    });
    return this.messages.filter((message, i) => {
      const number = isUid ? message.uid : i + 1;
      if (number === undefined) message.flags = undefined;
      return number !== undefined && ranges.some(([from, to]) => number >= from && number <= to);
    });
  }

  get knowsAllUids(): boolean {
    return this.messages.every(({ uid }) => uid !== undefined);
  }

  /** Returns the known UIDs. */
  get uids(): number[] {
    return this.messages.flatMap(({ uid }) => (uid === undefined ? [] : [uid]));
  }

  #code({ code = '' }: Response): void {
    const [name, value] = code.split(' ');
    if (name?.toUpperCase() === 'UIDNEXT') this.uidNext = Number(value);
    if (name?.toUpperCase() === 'UIDVALIDITY') this.uidValidity = Number(value);
    if (name?.toUpperCase() === 'HIGHESTMODSEQ') this.highestModseq = Number(value);
  }

  #exists(count: number): void {
    if (this.#resuming !== undefined) {
      this.#resuming.exists = count;
      return;
    }
    if (this.#isSelected && count < this.messages.length) {
      throw new ServerFault(`EXISTS ${count} where the client knows of ${this.messages.length}`);
    }
    while (this.messages.length < count) this.messages.push({ uid: undefined, flags: undefined, modseq: undefined });
  }

  #expunge(seq: number, underWay: UnderWay | undefined): void {
    this.#mayExpunge('EXPUNGE', underWay);
    this.#resumed();
    if (seq < 1 || seq > this.messages.length) {
      throw new ServerFault(`EXPUNGE ${seq} of ${this.messages.length} messages`);
    }
    const [gone] = this.messages.splice(seq - 1, 1);
    if (gone?.uid !== undefined) this.expunged.add(gone.uid);
  }

  #vanished({ values, raw }: Response, underWay: UnderWay | undefined): void {
    const isEarlier = isList(values[0]) && textOf(values[0][0]).toUpperCase() === 'EARLIER';
    if (!isEarlier) {
      this.#mayExpunge('VANISHED', underWay);
      // The size at the beginning of SELECT counts these messages.
      this.#resumed();
    }
    for (const uid of uidsOf(textOf(values[isEarlier ? 1 : 0]))) {
      const at = this.#placeOf(uid);
      if (at >= 0) this.messages.splice(at, 1);
      else if (!isEarlier) throw new ServerFault(`a UID that the client does not know has vanished: ${raw}`);
      // EARLIER may name UIDs that no message has had (RFC 7162 §3.2.10).
      if (!isEarlier || at >= 0) this.expunged.add(uid);
    }
  }

  #mayExpunge(name: string, underWay: UnderWay | undefined): void {
    if (underWay === undefined && !this.isNotified) throw new ServerFault(`${name} while no command runs`);
    if (underWay?.isUid === false && HOLDS_EXPUNGE.has(underWay.name)) {
      throw new ServerFault(`${name} within ${underWay.name}`);
    }
  }

  /** Finds the message with this UID, or one that may have it: unknown messages between two known ones are interchangeable. */
  #placeOf(uid: number): number {
    const above = this.messages.findIndex((message) => message.uid !== undefined && message.uid >= uid);
    if (this.messages[above]?.uid === uid) return above;
    const before = (above < 0 ? this.messages.length : above) - 1;
    return this.messages[before]?.uid === undefined ? before : -1;
  }

  #fetched(seq: number, data: Value | undefined): void {
    if (this.#resuming !== undefined) {
      this.#resuming.fetched.push([seq, data]);
      return;
    }
    const message = this.messages[seq - 1];
    if (message === undefined)
      throw new ServerFault(`FETCH of ${seq} where the client knows of ${this.messages.length}`);
    if (!isList(data) || data.length % 2 !== 0) throw new ServerFault('FETCH without a list of pairs');
    for (let i = 0; i < data.length; i += 2) {
      const name = textOf(data[i]).toUpperCase();
      const value = data[i + 1]!;
      if (name === 'UID') this.#identified(seq, message, Number(value));
      else if (name === 'FLAGS') message.flags = flagsOf(value);
      else if (name === 'MODSEQ' && isList(value)) this.#modified(message, Number(textOf(value[0])));
    }
  }

  #modified(message: KnownMessage, modseq: number): void {
    if (message.modseq !== undefined && modseq < message.modseq) {
      throw new ServerFault(`the modseq ${message.modseq} of a message has become ${modseq}`);
    }
    message.modseq = modseq;
  }

  #identified(seq: number, message: KnownMessage, uid: number): void {
    if (message.uid !== undefined && message.uid !== uid) {
      throw new ServerFault(`message ${seq} is UID ${uid} and was UID ${message.uid}`);
    }
    if (this.expunged.has(uid)) throw new ServerFault(`UID ${uid} is there and was expunged`);
    const isBelow = (other: number | undefined) => other === undefined || other < uid;
    const isAbove = (other: number | undefined) => other === undefined || other > uid;
    if (!isBelow(this.messages[seq - 2]?.uid) || !isAbove(this.messages[seq]?.uid)) {
      throw new ServerFault(`UID ${uid} of message ${seq} is out of order`);
    }
    message.uid = uid;
  }
}

function changed(flags: ReadonlySet<string> | undefined, change: FlagChange): ReadonlySet<string> | undefined {
  if (change.mode === '') return new Set(change.flags);
  if (flags === undefined) return undefined;
  const result = new Set(flags);
  for (const flag of change.flags) {
    if (change.mode === '+') result.add(flag);
    else result.delete(flag);
  }
  return result;
}

function flagsOf(value: Value): ReadonlySet<string> {
  if (!isList(value)) throw new ServerFault('FLAGS without a list');
  const flags = value.map((flag) => textOf(flag));
  if (new Set(flags.map((flag) => flag.toLowerCase())).size < flags.length)
    throw new ServerFault(`a flag twice: ${flags}`);
  return new Set(flags.filter((flag) => flag.toLowerCase() !== '\\recent'));
}

export function uidsOf(set: string): number[] {
  if (!/^\d+(:\d+)?(,\d+(:\d+)?)*$/.test(set)) throw new ServerFault(`no set of UIDs: ${set}`);
  return set.split(',').flatMap((range) => {
    const [first, last = first] = range.split(':').map(Number) as [number, number?];
    const low = Math.min(first, last!);
    return Array.from({ length: Math.abs(last! - first) + 1 }, (_, i) => low + i);
  });
}
