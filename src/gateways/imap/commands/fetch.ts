// FETCH and UID FETCH (RFC 9051 §6.4.5, RFC 7162, RFC 9394, RFC 9586). Flags and modseqs come from the mirror; messages are
// read a batch at a time, and the next one while a batch is written. Messages that were expunged meanwhile are left out.
import { SEEN } from '../../../mail/flags.js';
import { command } from '../command.js';
import { bad, type Completion, no, ok, Refused } from '../completion.js';
import { type FetchArguments, type FetchAttribute, fetchArguments, type ResultPage } from '../grammar/fetch.js';
import { rangesOf } from '../mailboxes/uid-ranges.js';
import type { Message } from '../messages/message-source.js';
import { bodyReads, readAhead } from '../messages/read-ahead.js';
import { type FetchItems, fetchItems } from '../responses/fetch.js';
import type { MirrorItem, Piece, Place, Rendered } from '../responses/fetch-item.js';
import { flagList } from '../responses/flags.js';
import { SMALL_OCTETS } from '../responses/message-octets.js';
import { ResponseWriter } from '../responses/response-writer.js';
import { writeNewKeywords } from '../responses/updates.js';
import type { Selected, Session } from '../session.js';
import type { FolderView } from '../view/folder-view.js';
import { vanishedSince } from './resync.js';

/** Octets of small messages that are read at once; a session holds as many again while it writes. */
const GROUP_OCTETS = 512 * 1024;
/** Characters of one response beside octets of the body: headers may be asked for many times over. */
const MOST_TEXT = 8 * 1024 * 1024;
const MODSEQ: FetchAttribute = { type: 'MODSEQ' };
const UID: FetchAttribute = { type: 'UID' };
const SEEN_ADDED = { mode: 'add' as const, flags: ['\\Seen'] };

export const fetchCommands = [
  command<FetchArguments>({
    name: 'FETCH',
    states: ['selected'],
    hasUidForm: true,
    holdsExpunge: (_, isUid) => !isUid,
    parse: fetchArguments,
    run: fetchMessages,
  }),
];

export async function fetchMessages(session: Session, args: FetchArguments, isUid: boolean): Promise<Completion> {
  const { view } = session.selected!;
  if (args.withVanished && !(isUid && session.enabled.has('QRESYNC'))) {
    throw new Refused(bad('VANISHED is for UID FETCH after ENABLE QRESYNC'));
  }
  if (args.changedSince !== undefined || args.attributes.some(({ type }) => type === 'MODSEQ')) {
    session.enable('CONDSTORE');
  }
  if (args.withVanished) await writeVanished(session, args);
  const positions = pageOf(changedSince(view, view.resolve(args.set, isUid, session.savedSearch), args), args.page);
  if (args.attributes.some(({ type }) => type === 'FLAGS')) writeNewKeywords(session);
  const fetching = new Fetching(session, attributesOf(session, args, isUid));
  await fetching.run(positions);
  return fetching.completion;
}

/** RFC 7162 §3.1.4.1: MODSEQ goes with CHANGEDSINCE. RFC 9586: responses that begin with the UID do not repeat it. */
function attributesOf(session: Session, args: FetchArguments, isUid: boolean): readonly FetchAttribute[] {
  const has = (type: FetchAttribute['type']) => args.attributes.some((attribute) => attribute.type === type);
  const added: FetchAttribute[] = [];
  if (isUid && !has('UID') && !session.enabled.has('UIDONLY')) added.push(UID);
  if (args.changedSince !== undefined && !has('MODSEQ')) added.push(MODSEQ);
  return added.length === 0 ? args.attributes : [...added, ...args.attributes];
}

/** RFC 7162 §3.2.6: which of the named messages were expunged since. */
async function writeVanished(session: Session, { set, changedSince: modseq }: FetchArguments): Promise<void> {
  const { context, accountId, output, savedSearch } = session;
  const { view } = session.selected!;
  const knownUids = set === '$' ? rangesOf(savedSearch) : set;
  const copy = { uidValidity: view.mirror.uidValidity, modseq: modseq!, knownUids, seqMatch: undefined };
  const vanished = await vanishedSince(context.mailboxes.of(accountId), view, copy);
  if (vanished !== undefined && vanished !== '') output.write(`* VANISHED (EARLIER) ${vanished}\r\n`);
}

function changedSince(view: FolderView, positions: Uint32Array, { changedSince: since }: FetchArguments): Uint32Array {
  if (since === undefined) return positions;
  return positions.filter((position) => {
    const index = view.indexAt(position);
    return index >= 0 && view.mirror.modseqAt(index) > since;
  });
}

function pageOf(positions: Uint32Array, page: ResultPage | undefined): Uint32Array {
  if (page === undefined) return positions;
  if (page.from > 0) return positions.subarray(page.from - 1, page.to);
  return positions.subarray(Math.max(0, positions.length + page.to), Math.max(0, positions.length + page.from + 1));
}

/** Whether the octets that an attribute shows count as read by the user. */
function setsSeen(attribute: FetchAttribute): boolean {
  if (attribute.type === 'BODY[]' || attribute.type === 'BINARY[]') return !attribute.isPeek;
  return attribute.type === 'RFC822' || attribute.type === 'RFC822.TEXT';
}

/** Messages whose responses are written together. */
interface Group {
  readonly messages: readonly Message[];
  /** By blob. */
  readonly octets: ReadonlyMap<string, Uint8Array>;
  /** UIDs of the messages that are `\Seen` because of this command. */
  readonly seen: ReadonlySet<number>;
  /** What it has of `readAhead`. */
  readonly ahead: number;
}

const NO_OCTETS: ReadonlyMap<string, Uint8Array> = new Map();
const NOBODY: ReadonlySet<number> = new Set();

class Fetching {
  readonly #session: Session;
  readonly #selected: Selected;
  readonly #view: FolderView;
  readonly #items: FetchItems;
  readonly #writer: ResponseWriter;
  readonly #setsSeen: boolean;
  readonly #hasFlags: boolean;
  /** The client has asked for modseqs (RFC 7162), and the attributes lack them. */
  readonly #lacksModseq: boolean;
  readonly #isUidOnly: boolean;
  readonly #place: Place = { uid: 0, index: 0, octets: undefined, held: 0, root: undefined };
  #hasExpunged = false;
  /** What all groups have of `readAhead`. */
  #ahead = 0;

  constructor(session: Session, attributes: readonly FetchAttribute[]) {
    const has = (type: FetchAttribute['type']) => attributes.some((attribute) => attribute.type === type);
    this.#session = session;
    this.#selected = session.selected!;
    this.#view = this.#selected.view;
    this.#items = fetchItems(attributes, this.#view.mirror, session.context.blobs);
    this.#writer = new ResponseWriter(session.output, session.accountId);
    this.#setsSeen = !this.#selected.isReadOnly && attributes.some(setsSeen);
    this.#hasFlags = has('FLAGS');
    this.#lacksModseq = session.enabled.has('CONDSTORE') && !has('MODSEQ');
    this.#isUidOnly = session.enabled.has('UIDONLY');
  }

  /** The client learns all it has to know of a change of flags. */
  get #tellsFlags(): boolean {
    return this.#hasFlags && !this.#lacksModseq;
  }

  get completion(): Completion {
    if (this.#items.encodings.hasUnknownEncoding) return no('A part has an unknown encoding', 'UNKNOWN-CTE');
    if (this.#hasExpunged) return ok('Some messages were expunged', 'EXPUNGEISSUED');
    return ok('FETCH completed');
  }

  async run(positions: Uint32Array): Promise<void> {
    const { mirrorItems } = this.#items;
    if (mirrorItems === undefined) await this.#fromMessages(positions);
    else await this.#fromMirror(positions, mirrorItems);
    this.#writer.flush();
  }

  async #fromMirror(positions: Uint32Array, items: readonly MirrorItem[]): Promise<void> {
    const view = this.#view;
    const place = this.#place;
    const writer = this.#writer;
    const told: number[] = [];
    for (const position of positions) {
      if (!this.#isPresent(position)) continue;
      place.uid = view.uidAt(position);
      if (this.#tellsFlags) told.push(place.uid);
      let text = this.#begin(position);
      for (let i = 0; i < items.length; i++) text += i === 0 ? items[i]!(place) : ` ${items[i]!(place)}`;
      writer.add(`${text})\r\n`);
      if (!writer.isFull) continue;
      if (told.length > 0) view.flagsTold(told.splice(0));
      await writer.pause();
    }
    if (told.length > 0) view.flagsTold(told);
  }

  async #fromMessages(positions: Uint32Array): Promise<void> {
    const view = this.#view;
    const present = positions.filter((position) => view.indexAt(position) >= 0);
    if (present.length < positions.length) this.#hasExpunged = true;
    let next = 0;
    for await (const group of this.#groups(present.map((position) => view.uidAt(position)))) {
      if (group.seen.size > 0) writeNewKeywords(this.#session);
      for (const message of group.messages) {
        while (next < present.length && view.uidAt(present[next]!) < message.uid) {
          this.#hasExpunged = true;
          next++;
        }
        const position = present[next++]!;
        if (this.#isPresent(position)) {
          this.#place.uid = message.uid;
          this.#place.octets = group.octets.size === 0 ? undefined : group.octets.get(message.blob);
          this.#place.held = 0;
          this.#place.root = undefined;
          const isSeen = group.seen.has(message.uid);
          // What changes while the response is written is told after it.
          if (this.#tellsFlags || isSeen) view.flagsTold([message.uid]);
          const written = this.#response(position, message, isSeen);
          if (written !== undefined) await written;
        }
        if (this.#writer.isFull || this.#session.output.ready !== undefined) await this.#writer.pause();
      }
      await this.#writer.pause();
    }
    if (next < present.length) this.#hasExpunged = true;
  }

  /** Other sessions share the mirror: where a message is there must be asked for again after every wait. */
  #isPresent(position: number): boolean {
    this.#place.index = this.#view.indexAt(position);
    if (this.#place.index < 0) this.#hasExpunged = true;
    return this.#place.index >= 0;
  }

  /** Returns a promise when a part of the response has to be waited for. */
  #response(position: number, message: Message, isSeen: boolean): Promise<void> | undefined {
    const { items } = this.#items;
    let text = this.#begin(position);
    for (let i = 0; i < items.length; i++) {
      const rendered = items[i]!(this.#place, message);
      if (i > 0) text += ' ';
      if (typeof rendered !== 'string') return this.#rest(text, i, rendered, position, message, isSeen);
      text += rendered;
      refuseTooMuch(text.length);
    }
    this.#writer.add(`${text}${this.#end(isSeen)}`);
    return undefined;
  }

  /** Everything is there before a part of it is written, so that neither a fault nor an expunge leaves a response cut. */
  async #rest(
    start: string,
    first: number,
    rendered: Rendered | Promise<Rendered>,
    position: number,
    message: Message,
    isSeen: boolean,
  ): Promise<void> {
    const { items } = this.#items;
    const pieces: Piece[] = [start];
    let characters = start.length;
    const keep = (value: Rendered): void => {
      const more = typeof value === 'string' ? [value] : value;
      pieces.push(...more);
      for (const piece of more) if (typeof piece === 'string') characters += piece.length;
      refuseTooMuch(characters);
    };
    keep(await rendered);
    for (let i = first + 1; i < items.length; i++) {
      if (!this.#isPresent(position)) return;
      pieces.push(' ');
      keep(await items[i]!(this.#place, message));
    }
    if (!this.#isPresent(position)) return;
    pieces.push(this.#end(isSeen));
    for (const piece of pieces) {
      const written = this.#writer.piece(piece);
      if (written !== undefined) await written;
    }
  }

  #begin(position: number): string {
    return this.#isUidOnly ? `* ${this.#place.uid} UIDFETCH (` : `* ${position + 1} FETCH (`;
  }

  #end(isSeen: boolean): string {
    if (!isSeen) return ')\r\n';
    const { mirror } = this.#view;
    const { index } = this.#place;
    const flags = this.#hasFlags ? '' : ` FLAGS ${flagList(mirror, index)}`;
    const modseq = this.#lacksModseq ? ` MODSEQ (${mirror.modseqAt(index)})` : '';
    return `${flags}${modseq})\r\n`;
  }

  /** The next group is read while one is written. */
  async *#groups(uids: Uint32Array): AsyncGenerator<Group> {
    const { accountId, context } = this.#session;
    const { folderId } = this.#selected;
    let loading: Group | Promise<Group> | undefined;
    try {
      for await (const batch of context.messages.batches({ accountId, folderId }, uids, this.#items.needs)) {
        for (const messages of this.#parted(batch)) {
          const before = loading;
          loading = this.#group(messages);
          // When the caller stops early, nobody awaits the group: its fault is dropped.
          if (loading instanceof Promise) loading.catch(() => {});
          if (before === undefined) continue;
          const group = await before;
          yield group;
          this.#giveBack(group.ahead);
        }
      }
      if (loading !== undefined) yield await loading;
    } finally {
      this.#giveBack(this.#ahead);
    }
  }

  #giveBack(octets: number): void {
    readAhead.give(this.#session.accountId, octets);
    this.#ahead -= octets;
  }

  /** Groups of which the small messages can be read at once. */
  *#parted(batch: readonly Message[]): Generator<readonly Message[]> {
    if (!this.#items.needsOctets) {
      yield batch;
      return;
    }
    let start = 0;
    let octets = 0;
    for (const [i, message] of batch.entries()) {
      const size = isSmall(message) ? message.size : 0;
      if (octets + size > GROUP_OCTETS) {
        yield batch.slice(start, i);
        start = i;
        octets = 0;
      }
      octets += size;
    }
    yield batch.slice(start);
  }

  #group(messages: readonly Message[]): Group | Promise<Group> {
    let small = this.#items.needsOctets ? messages.filter(isSmall) : [];
    let ahead = small.reduce((sum, { size }) => sum + size, 0);
    if (readAhead.tryTake(this.#session.accountId, ahead) !== undefined) {
      small = [];
      ahead = 0;
    }
    this.#ahead += ahead;
    const unseen = this.#setsSeen ? this.#unseen(messages) : [];
    if (small.length === 0 && unseen.length === 0) return { messages, octets: NO_OCTETS, seen: NOBODY, ahead };
    return this.#load(messages, small, unseen, ahead);
  }

  async #load(
    messages: readonly Message[],
    small: readonly Message[],
    unseen: readonly number[],
    ahead: number,
  ): Promise<Group> {
    const { accountId, context } = this.#session;
    const [octets] = await Promise.all([
      small.length === 0
        ? NO_OCTETS
        : bodyReads.run(accountId, () => context.blobs.readAll(small.map(({ blob }) => blob))),
      unseen.length === 0 ? undefined : this.#markSeen(unseen),
    ]);
    return { messages, octets, seen: new Set(unseen), ahead };
  }

  #unseen(messages: readonly Message[]): number[] {
    const { mirror } = this.#view;
    return messages
      .map(({ uid }) => uid)
      .filter((uid) => {
        const index = this.#view.indexAt(this.#view.positionOf(uid));
        return index >= 0 && (mirror.flagsAt(index) & SEEN) === 0;
      });
  }

  /** A refusal (the folder is gone) is ignored: the messages are still read. */
  async #markSeen(uids: readonly number[]): Promise<void> {
    const { context, accountId } = this.#session;
    const { mirror } = this.#view;
    const selection = { folderId: this.#selected.folderId, uids: rangesOf(uids) };
    const { reply } = await context.mailboxes.of(accountId).ask('storeFlags', { selection, ...SEEN_ADDED });
    if (!mirror.takeFlags(uids, SEEN_ADDED, reply?.folderModseqs)) await mirror.sync();
  }
}

/** @throws Refused NO [LIMIT]: nothing of the response was written */
function refuseTooMuch(characters: number): void {
  if (characters > MOST_TEXT) throw new Refused(no('Too much of one message is asked for at a time', 'LIMIT'));
}

function isSmall({ size }: Message): boolean {
  return size <= SMALL_OCTETS;
}
