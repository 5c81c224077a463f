// Stand-in until the merge: the mail engineer's file of this path wins. Sees the header and nothing else.
import type { MessageIndex } from '../message-index.js';

export class MimeIndexer {
  #header = '';
  #size = 0;
  #inHeader = true;

  push(chunk: Uint8Array): void {
    this.#size += chunk.length;
    if (!this.#inHeader) return;
    this.#header += Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1');
    const end = this.#header.indexOf('\r\n\r\n');
    if (end < 0 && this.#header.length < 65_536) return;
    this.#inHeader = false;
    if (end >= 0) this.#header = this.#header.slice(0, end + 2);
  }

  finish(): MessageIndex {
    const fields = this.#header.replace(/\r\n[ \t]+/g, ' ').split('\r\n');
    const all = (name: string): string[] =>
      fields.filter((f) => f.toLowerCase().startsWith(`${name}:`)).map((f) => f.slice(name.length + 1).trim());
    const from = /<([^>]*)>/.exec(all('from')[0] ?? '')?.[1] ?? all('from')[0] ?? '';
    return {
      version: 1,
      size: this.#size,
      envelope: {
        date: all('date')[0] ?? null,
        sentAt: null,
        subject: all('subject')[0] ?? '',
        from: [{ name: '', address: from }],
        sender: [],
        replyTo: [],
        to: [],
        cc: [],
        bcc: [],
        messageId: all('message-id')[0] ?? null,
        inReplyTo: null,
        references: [],
      },
      root: {
        section: '1',
        type: 'text',
        subtype: 'plain',
        params: {},
        id: null,
        description: null,
        encoding: '7bit',
        disposition: null,
        dispositionParams: {},
        language: [],
        location: null,
        headerStart: 0,
        bodyStart: 0,
        bodyEnd: this.#size,
        lines: 0,
        parts: [],
        envelope: null,
      },
      textSections: ['1'],
      htmlSections: [],
      attachments: [],
      preview: '',
      receivedCount: all('received').length,
      deliveredTo: all('delivered-to').map((a) => a.toLowerCase()),
      truncated: [],
    };
  }
}
