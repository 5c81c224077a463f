// One compose window: what stands in its fields, as signals that its card shows, and how that becomes a draft of the server and comes back.
// `draft-saver.ts` saves and sends it, `windows.ts` has all windows.
import { signal } from '@preact/signals';
import type { Draft, DraftInput } from '../../../src/client/index.js';
import { addressKey } from './address.js';
import { attachmentInputs, type DraftFile } from './attachments.js';
import { type Written, withSignature } from './editor-html.js';
import type { DraftFields, KeptWindow } from './journal.js';
import { textAsHtml } from './quote.js';
import {
  asRecipient,
  MOST_RECIPIENTS,
  merged,
  NO_RECIPIENTS,
  parseRecipients,
  RECIPIENT_TYPES,
  type Recipient,
  type Recipients,
  type RecipientType,
} from './recipients.js';
import { windowName } from './window-name.js';

/** The editor as the window uses it, once it is loaded. */
export interface LoadedEditor {
  written(): Written;
  replace(html: string): void;
  focus(): void;
  insertImage(file: File, contentId: string): void;
  shownImages(): ReadonlySet<string>;
}

const NOTHING_TYPED = { To: '', Cc: '', Bcc: '' } as const;

export type Marking = NonNullable<KeptWindow['original']>;

/** What a window begins with. */
export interface WindowContent {
  readonly fields: DraftFields;
  readonly files: readonly DraftFile[];
  readonly original: Marking | null;
}

export const EMPTY_FIELDS: DraftFields = {
  from: null,
  recipients: NO_RECIPIENTS,
  typed: NOTHING_TYPED,
  subject: '',
  html: '',
  headers: [],
};

const LONGEST_COMPARED = 50_000;

export class ComposeWindow {
  readonly id: string;
  readonly from = signal<string | null>(null);
  readonly recipients = signal<Recipients>(NO_RECIPIENTS);
  /** What stands in the inputs behind the entries. */
  readonly typed = signal<Readonly<Record<RecipientType, string>>>(NOTHING_TYPED);
  readonly subject = signal('');
  readonly files = signal<readonly DraftFile[]>([]);
  readonly isMinimised = signal(false);
  /** Names of files that a crash took before they were uploaded. */
  readonly lostFiles = signal<readonly string[]>([]);
  /** The editor gets the focus when it is loaded. */
  focusesEditor = false;
  original: Marking | null;
  /** The contents of files until the server has them. */
  readonly blobs = new Map<string, File>();
  #html: string;
  #text: string;
  #headers: DraftFields['headers'];
  #editor: LoadedEditor | undefined;
  /** Reads what is written before the editor is loaded; it stands before `html`. */
  #early: { readonly read: () => string; html: string } | undefined;

  constructor(id: string, content: WindowContent) {
    this.id = id;
    this.original = content.original;
    this.#html = content.fields.html;
    this.#text = '';
    this.#headers = content.fields.headers;
    this.show(content);
  }

  get editor(): LoadedEditor | undefined {
    return this.#editor;
  }

  /** The text that the editor begins with, without what is written before it is loaded. */
  get initialHtml(): string {
    return this.#early?.html ?? this.#html;
  }

  /** Until an editor is attached, the window has what `read` gives, and the text that the editor is to begin with. */
  attachEarly(read: () => string): void {
    this.#early = { read, html: this.#html };
  }

  attach(editor: LoadedEditor): void {
    this.#editor = editor;
    this.#early = undefined;
    // What the editor makes of the text is no change of it.
    this.#read();
  }

  detach(): void {
    this.#read();
    this.#editor = undefined;
    this.#early = undefined;
  }

  /** Puts other content into the window. */
  show({ fields, files }: Pick<WindowContent, 'fields' | 'files'>): void {
    this.from.value = fields.from;
    this.recipients.value = fields.recipients;
    this.typed.value = fields.typed;
    this.subject.value = fields.subject;
    this.files.value = files;
    this.#headers = fields.headers;
    this.#html = fields.html;
    if (this.#early !== undefined) this.#early.html = fields.html;
    this.#editor?.replace(fields.html);
    this.#read();
  }

  /** Another sender has another signature. */
  sign(signature: string): void {
    this.#read();
    const html = withSignature(this.#html, signature);
    if (html === this.#html) return;
    this.#html = html;
    if (this.#early !== undefined) this.#early.html = withSignature(this.#early.html, signature);
    this.#editor?.replace(html);
    this.#read();
  }

  fields(): DraftFields {
    this.#read();
    return {
      from: this.from.value,
      recipients: this.recipients.value,
      typed: this.typed.value,
      subject: this.subject.value,
      html: this.#html,
      headers: this.#headers,
    };
  }

  /** What tells the window from others; empty when there is nothing in it. */
  name(): string {
    this.#read();
    return windowName(this.subject.value, this.recipients.value, this.#html);
  }

  setRecipients(type: RecipientType, list: readonly Recipient[]): void {
    this.recipients.value = { ...this.recipients.value, [type]: list };
  }

  type(type: RecipientType, text: string): void {
    this.typed.value = { ...this.typed.value, [type]: text };
  }

  /** Makes entries of what was typed; returns false when there was nothing. */
  commit(type: RecipientType): boolean {
    const text = this.typed.value[type];
    if (text.trim() === '') return false;
    this.type(type, '');
    this.setRecipients(type, merged(this.recipients.value[type], parseRecipients(text)));
    return true;
  }

  addFiles(files: readonly { readonly file: File; readonly contentId: string | null }[]): void {
    const added = files.map(({ file, contentId }): DraftFile => {
      const key = crypto.randomUUID();
      this.blobs.set(key, file);
      const { name: fileName, type, size } = file;
      return { key, fileName, contentType: type || 'application/octet-stream', size, contentId, stored: null };
    });
    this.files.value = [...this.files.value, ...added];
  }

  removeFile(key: string): void {
    this.blobs.delete(key);
    this.files.value = this.files.value.filter((file) => file.key !== key);
  }

  /** Images that were taken out of the text do not go along. */
  dropUnshownImages(): void {
    const shown = this.#editor?.shownImages();
    if (shown === undefined) return;
    for (const { key, contentId } of this.files.value) {
      if (contentId !== null && !shown.has(contentId)) this.removeFile(key);
    }
  }

  /** Whether the text differs from what it was when this was asked last: the editor also tells of changes that show nothing. */
  hasNewText(): boolean {
    const before = this.#html;
    // It takes too long to read with each key.
    if (before.length > LONGEST_COMPARED) return true;
    this.#read();
    return this.#html !== before;
  }

  /** Whether something is here that the server cannot store: texts that are no address yet, and files on their way. */
  hasOwn(): boolean {
    const texts = RECIPIENT_TYPES.some((type) => this.typed.value[type] !== '');
    const invalid = RECIPIENT_TYPES.some((type) => this.recipients.value[type].some(({ isValid }) => !isValid));
    return texts || invalid || this.blobs.size > 0;
  }

  /** The body of a save. `contents`: base64 of the files that go along. */
  input(contents: ReadonlyMap<string, string>): DraftInput {
    this.#read();
    return {
      fromAddress: this.from.value,
      subject: this.subject.value.replace(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, ' ').slice(0, 998),
      htmlBody: this.#html === '' ? null : wrapped(this.#html),
      textBody: this.#html === '' ? null : this.#text,
      recipients: sendable(this.recipients.value).slice(0, MOST_RECIPIENTS),
      attachments: attachmentInputs(this.files.value, contents),
      headers: this.#headers.map(([name, value]) => [name, value]),
    };
  }

  #read(): void {
    const early = this.#early?.read() ?? '';
    if (early !== '') {
      this.#html = textAsHtml(early) + this.#early!.html;
      this.#text = early;
    }
    if (this.#editor === undefined) return;
    const { html, text } = this.#editor.written();
    this.#html = html;
    this.#text = text;
  }
}

/** Direction and size of the text are left to the reader's program. */
const wrapped = (html: string): string => `<html><body dir="auto">${html}</body></html>`;

/** Each address once, in the order To, Cc, Bcc, as the server takes them. */
export function sendable(recipients: Recipients): NonNullable<DraftInput['recipients']> {
  const keys = new Set<string>();
  return RECIPIENT_TYPES.flatMap((type) =>
    recipients[type].flatMap(({ name, address, isValid }) => {
      const key = addressKey(address);
      if (!isValid || keys.has(key)) return [];
      keys.add(key);
      return [{ address, type, ...(name !== '' && { displayName: name }) }];
    }),
  );
}

/** A stored draft as the fields of a window. */
export function contentOf(draft: Draft): Pick<WindowContent, 'fields' | 'files'> {
  const of = (type: RecipientType) =>
    draft.recipients
      .filter((one) => one.type === type)
      .map((one) => asRecipient({ name: one.displayName ?? '', address: one.address }));
  const html = draft.htmlBody ?? (draft.textBody === null ? '' : textAsHtml(draft.textBody));
  const files = draft.attachments.map(({ id, fileName, contentType, sizeBytes, contentId }): DraftFile => {
    const stored = { place: 'draft' as const, emailId: draft.id, attachmentId: id };
    return { key: id, fileName, contentType, size: sizeBytes, contentId: contentId ?? null, stored };
  });
  const recipients = { To: of('To'), Cc: of('Cc'), Bcc: of('Bcc') };
  return {
    fields: {
      ...EMPTY_FIELDS,
      from: draft.fromAddress || null,
      recipients,
      subject: draft.subject,
      html,
      headers: draft.headers as DraftFields['headers'],
    },
    files,
  };
}
