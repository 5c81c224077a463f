// Implements a client that believes what it is told: it applies every untagged response to its own list, and throws when one
// contradicts the list. It learns UIDs and flags from FETCH responses alone.

export interface KnownMessage {
  uid: number | undefined;
  flags: ReadonlySet<string> | undefined;
}

export class ModelClient {
  readonly messages: KnownMessage[] = [];
  /** The server must not send EXPUNGE now (RFC 9051 §7.5.1). */
  isHolding = false;
  #keywords: ReadonlySet<string> = new Set();

  /** @throws Error when a response contradicts what the client knows */
  receive(text: string): void {
    for (const line of text.split('\r\n')) if (line !== '') this.#line(line);
  }

  #line(line: string): void {
    let match: RegExpExecArray | null = /^\* (\d+) (EXISTS|EXPUNGE|RECENT)$/.exec(line);
    if (match !== null) {
      const number = Number(match[1]);
      if (match[2] === 'EXISTS') this.#exists(number);
      else if (match[2] === 'EXPUNGE') this.#expunge(number);
      return;
    }
    match = /^\* VANISHED ([\d:,]+)$/.exec(line);
    if (match !== null) {
      this.#vanished(match[1]!);
      return;
    }
    match = /^\* (\d+) FETCH \((?:UID (\d+) ?)?(?:FLAGS \(([^)]*)\) ?)?(?:MODSEQ \(\d+\))?\)$/.exec(line);
    if (match !== null) {
      const [, seq, uid, flags] = match;
      this.#fetch(
        Number(seq),
        uid === undefined ? undefined : Number(uid),
        flags === undefined ? undefined : flagsIn(flags),
      );
      return;
    }
    match = /^\* FLAGS \((.*)\)$/.exec(line);
    if (match !== null) this.#keywords = flagsIn(match[1]!);
    else if (!/^\* (OK|LIST) /.test(line)) throw new Error(`unexpected: ${line}`);
  }

  #exists(count: number): void {
    if (count < this.messages.length) throw new Error(`${count} EXISTS after ${this.messages.length}`);
    while (this.messages.length < count) this.messages.push({ uid: undefined, flags: undefined });
  }

  #expunge(seq: number): void {
    if (this.isHolding) throw new Error(`${seq} EXPUNGE while sequence numbers are in use`);
    if (seq < 1 || seq > this.messages.length) throw new Error(`${seq} EXPUNGE of ${this.messages.length}`);
    this.messages.splice(seq - 1, 1);
  }

  #vanished(set: string): void {
    if (this.isHolding) throw new Error(`VANISHED ${set} while sequence numbers are in use`);
    for (const range of set.split(',')) {
      const [first, last = first] = range.split(':').map(Number) as [number, number?];
      for (let uid = first; uid <= last; uid++) this.#vanish(uid);
    }
  }

  /** The UID may be unknown; then the message is one of those between its neighbours, which the client cannot distinguish. */
  #vanish(uid: number): void {
    let position = this.messages.findIndex((message) => message.uid === uid);
    if (position === -1) {
      const next = this.messages.findIndex((message) => message.uid !== undefined && message.uid > uid);
      position = (next === -1 ? this.messages.length : next) - 1;
      if (position < 0 || this.messages[position]!.uid !== undefined)
        throw new Error(`VANISHED ${uid}, which is not there`);
    }
    this.messages.splice(position, 1);
  }

  #fetch(seq: number, uid: number | undefined, flags: ReadonlySet<string> | undefined): void {
    const message = this.messages[seq - 1];
    if (message === undefined) throw new Error(`${seq} FETCH of ${this.messages.length}`);
    if (message.uid !== undefined && uid !== undefined && message.uid !== uid)
      throw new Error(`${seq} is UID ${message.uid}, told ${uid}`);
    for (const flag of flags ?? []) if (!this.#keywords.has(flag)) throw new Error(`FLAGS did not name ${flag}`);
    message.uid ??= uid;
    message.flags = flags ?? message.flags;
  }
}

const flagsIn = (text: string): ReadonlySet<string> => new Set(text.split(' ').filter((flag) => flag !== ''));
