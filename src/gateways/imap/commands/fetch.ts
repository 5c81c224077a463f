// FETCH and UID FETCH (RFC 9051 §6.4.5, RFC 7162, RFC 9394, RFC 9586). Flags and modseqs come from the mirror. Messages are
// read in batches, and the next batch is read while one is written. Messages that are expunged during the command are omitted.
import { command } from '../command.js';
import { bad, type Completion, no, ok, Refused } from '../completion.js';
import { type FetchArguments, type FetchAttribute, fetchArguments, type ResultPage } from '../grammar/fetch.js';
import { rangesOf } from '../mailboxes/uid-ranges.js';
import type { Message } from '../messages/message-source.js';
import { type FetchItems, fetchItems } from '../responses/fetch.js';
import type { MirrorItem, Piece, Place, Rendered } from '../responses/fetch-item.js';
import { flagList } from '../responses/flags.js';
import { ResponseWriter } from '../responses/response-writer.js';
import { writeNewKeywords } from '../responses/updates.js';
import type { Selected, Session } from '../session.js';
import type { FolderView } from '../view/folder-view.js';
import { type MessageGroup, MessageGroups } from './message-groups.js';
import { vanishedSince } from './resync.js';

/** Characters of one response without octets of the body: a client may request headers many times in one command. */
const MOST_TEXT = 8 * 1024 * 1024;
const MODSEQ: FetchAttribute = { type: 'MODSEQ' };
const UID: FetchAttribute = { type: 'UID' };

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
  const named = view.resolve(args.set, isUid, session.savedSearch);
  const positions = args.changedSince === undefined ? named : view.changedAfter(args.changedSince, named);
  if (args.attributes.some(({ type }) => type === 'FLAGS')) writeNewKeywords(session);
  const fetching = new Fetching(session, attributesOf(session, args, isUid));
  await fetching.run(pageOf(positions, args.page));
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

/** Reports which of the named messages were expunged since the modseq (RFC 7162 §3.2.6). */
async function writeVanished(session: Session, { set, changedSince: modseq }: FetchArguments): Promise<void> {
  const { context, accountId, output, savedSearch } = session;
  const { view } = session.selected!;
  const knownUids = set === '$' ? rangesOf(savedSearch) : set;
  const copy = { uidValidity: view.mirror.uidValidity, modseq: modseq!, knownUids, seqMatch: undefined };
  const vanished = await vanishedSince(context.mailboxes.of(accountId), view, copy);
  if (vanished !== undefined && vanished !== '') output.write(`* VANISHED (EARLIER) ${vanished}\r\n`);
}

function pageOf(positions: Uint32Array, page: ResultPage | undefined): Uint32Array {
  if (page === undefined) return positions;
  if (page.from > 0) return positions.subarray(page.from - 1, page.to);
  return positions.subarray(Math.max(0, positions.length + page.to), Math.max(0, positions.length + page.from + 1));
}

/** Tells whether fetching the attribute marks a message as seen. */
function setsSeen(attribute: FetchAttribute): boolean {
  if (attribute.type === 'BODY[]' || attribute.type === 'BINARY[]') return !attribute.isPeek;
  return attribute.type === 'RFC822' || attribute.type === 'RFC822.TEXT';
}

class Fetching {
  readonly #session: Session;
  readonly #selected: Selected;
  readonly #view: FolderView;
  readonly #items: FetchItems;
  readonly #writer: ResponseWriter;
  readonly #setsSeen: boolean;
  readonly #hasFlags: boolean;
  /** Whether the client has asked for modseqs (RFC 7162), and the attributes lack them. */
  readonly #lacksModseq: boolean;
  readonly #isUidOnly: boolean;
  readonly #place: Place = {
    uid: 0,
    index: 0,
    octets: undefined,
    memory: 0,
    root: undefined,
    bounds: undefined,
  };
  #hasExpunged = false;
  /** The index of the next fetched message to write. */
  #next = 0;

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

  /** Whether the responses tell the client everything about a change of flags. */
  get #sendsFlags(): boolean {
    return this.#hasFlags && !this.#lacksModseq;
  }

  get completion(): Completion {
    if (this.#items.encodings.hasUnknownEncoding) return no('A part has an unknown encoding', 'UNKNOWN-CTE');
    if (this.#hasExpunged) return ok('Some messages were expunged', 'EXPUNGEISSUED');
    return ok('FETCH completed');
  }

  async run(positions: Uint32Array): Promise<void> {
    const { mirrorItems } = this.#items;
    try {
      if (mirrorItems === undefined) await this.#fromMessages(positions);
      else await this.#fromMirror(positions, mirrorItems);
    } finally {
      // Flushed even if a later message cannot be read, because these responses count as sent.
      this.#writer.flush();
    }
  }

  async #fromMirror(positions: Uint32Array, items: readonly MirrorItem[]): Promise<void> {
    const view = this.#view;
    const place = this.#place;
    const writer = this.#writer;
    const sent: number[] = [];
    for (const position of positions) {
      if (!this.#isPresent(position)) continue;
      place.uid = view.uidAt(position);
      if (this.#sendsFlags) sent.push(place.uid);
      let text = this.#begin(position);
      for (let i = 0; i < items.length; i++) text += i === 0 ? items[i]!(place) : ` ${items[i]!(place)}`;
      writer.add(`${text})\r\n`);
      if (!writer.isFull) continue;
      if (sent.length > 0) view.markFlagsSent(sent.splice(0));
      await writer.pause();
    }
    if (sent.length > 0) view.markFlagsSent(sent);
  }

  async #fromMessages(positions: Uint32Array): Promise<void> {
    const present = this.#view.presentAt(positions);
    if (present.length < positions.length) this.#hasExpunged = true;
    const uids = this.#view.uidsAt(present);
    const groups = new MessageGroups(this.#session, this.#items, this.#setsSeen);
    try {
      const few = await groups.few(uids);
      if (few !== undefined) await this.#writeGroup(few, present);
      else {
        for await (const group of groups.all(uids)) {
          await this.#writeGroup(group, present);
          await this.#writer.pause();
        }
      }
    } finally {
      groups.end();
    }
    if (this.#next < present.length) this.#hasExpunged = true;
  }

  async #writeGroup(group: MessageGroup, present: Uint32Array): Promise<void> {
    const view = this.#view;
    if (group.seen.size > 0) writeNewKeywords(this.#session);
    for (const message of group.messages) {
      while (this.#next < present.length && view.uidAt(present[this.#next]!) < message.uid) {
        this.#hasExpunged = true;
        this.#next++;
      }
      const position = present[this.#next++]!;
      if (this.#isPresent(position)) {
        this.#place.uid = message.uid;
        this.#place.octets = group.octets.size === 0 ? undefined : group.octets.get(message.blob);
        this.#place.memory = 0;
        this.#place.root = undefined;
        this.#place.bounds = undefined;
        const isSeen = group.seen.has(message.uid);
        // Flags that change while the response is written are sent after it.
        const isSent = this.#sendsFlags || isSeen;
        if (isSent) view.markFlagsSent([message.uid]);
        try {
          const written = this.#response(position, message, isSeen);
          if (written !== undefined) await written;
        } catch (error) {
          if (isSent) view.markFlagsUnknown([message.uid]);
          throw error;
        }
      }
      if (this.#writer.isFull || this.#session.output.ready !== undefined) await this.#writer.pause();
    }
  }

  /** Other sessions share the mirror, so the position of a message must be looked up again after every wait. */
  #isPresent(position: number): boolean {
    this.#place.index = this.#view.indexAt(position);
    if (this.#place.index < 0) this.#hasExpunged = true;
    return this.#place.index >= 0;
  }

  /** Returns a promise when a part of the response must be awaited. */
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

  /** All parts are loaded before the first is written, so that neither a fault nor an expunge truncates a response. */
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
}

/** @throws Refused NO [LIMIT] before anything of the response is written */
function refuseTooMuch(characters: number): void {
  if (characters > MOST_TEXT) throw new Refused(no('Too much of one message is asked for at a time', 'LIMIT'));
}
