// The choice of the parts that are the body and of those that are attachments (RFC 8621 §4.1.4): in an alternative the kinds
// that Mansio shows, in a related its root, elsewhere text without a file name. An embedded message is one attachment.
import type { IndexedAttachment, IndexedPart } from '../message-index.js';
import { attachmentOf } from './attachment.js';
import type { ContentFields } from './content-fields.js';
import type { Builders } from './part-builder.js';

export interface ChosenBodies {
  readonly text: readonly IndexedPart[];
  readonly html: readonly IndexedPart[];
  readonly attachments: readonly IndexedAttachment[];
}

type Content = Pick<ContentFields, 'type' | 'subtype' | 'params' | 'disposition' | 'dispositionParams'>;

/** The part is text of the body, never an attachment. */
export function isBodyText(part: Content, multipartSubtype: string | undefined, isFirst: boolean): boolean {
  if (part.type !== 'text' || (part.subtype !== 'plain' && part.subtype !== 'html')) return false;
  if (part.disposition === 'attachment') return false;
  return isFirst || (multipartSubtype !== 'related' && !hasName(part));
}

function hasName(part: Content): boolean {
  return Boolean(part.dispositionParams['filename'] || part.params['name']);
}

export function chooseBodies(root: IndexedPart, builders: Builders): ChosenBodies {
  const choice = new Choice(builders);
  choice.part(root, undefined, true, true, true);
  // A kind counts as the body only where it occurs; texts of the other kind between its parts then belong to it.
  const text = choice.text.some((part) => part.subtype === 'plain') ? choice.text : [];
  const html = choice.html.some((part) => part.subtype === 'html') ? choice.html : [];
  return { text, html, attachments: choice.attachments };
}

class Choice {
  readonly text: IndexedPart[] = [];
  readonly html: IndexedPart[] = [];
  readonly attachments: IndexedAttachment[] = [];
  readonly #builders: Builders;

  constructor(builders: Builders) {
    this.#builders = builders;
  }

  /** `inText`, `inHtml`: whether text in the part belongs to the text body, to the HTML body. */
  part(part: IndexedPart, within: string | undefined, isFirst: boolean, inText: boolean, inHtml: boolean): void {
    if (part.type === 'multipart' && part.parts.length > 0) this.#multipart(part, inText, inHtml);
    else if (isBodyText(part, within, isFirst)) {
      const isHtml = part.subtype === 'html';
      if (within === 'alternative') {
        if (isHtml ? inHtml : inText) (isHtml ? this.html : this.text).push(part);
      } else {
        if (inText) this.text.push(part);
        if (inHtml) this.html.push(part);
      }
    } else if (within !== 'alternative' || !isOtherForm(part)) {
      this.attachments.push(attachmentOf(part, this.#builders.get(part)!));
    }
  }

  #multipart(multipart: IndexedPart, inText: boolean, inHtml: boolean): void {
    if (multipart.subtype === 'alternative') {
      this.#alternative(multipart, inText, inHtml);
      return;
    }
    for (const [i, part] of multipart.parts.entries()) this.part(part, multipart.subtype, i === 0, inText, inHtml);
  }

  /** Each branch is a form of the same content: a branch with HTML is only the HTML form if a plain form exists. */
  #alternative(multipart: IndexedPart, inText: boolean, inHtml: boolean): void {
    const texts = this.text.length;
    const htmls = this.html.length;
    for (const [i, part] of multipart.parts.entries()) {
      const nested = part.type === 'multipart' && part.parts.length > 0;
      const hasHtml = nested && holds(part, 'html');
      this.part(part, 'alternative', i === 0, inText && !hasHtml, inHtml && (!nested || hasHtml));
    }
    // A single form belongs to both bodies.
    if (this.text.length === texts && inText) this.text.push(...this.html.slice(htmls));
    else if (this.html.length === htmls && inHtml) this.html.push(...this.text.slice(texts));
  }
}

function holds(part: IndexedPart, subtype: string): boolean {
  if (part.type === 'multipart') return part.parts.some((child) => holds(child, subtype));
  return part.type === 'text' && part.subtype === subtype && part.disposition !== 'attachment';
}

/** A form of the body that is not shown (text/x-amp-html, text/enriched …); a calendar is shown as a file. */
function isOtherForm(part: IndexedPart): boolean {
  return part.type === 'text' && part.subtype !== 'calendar' && part.disposition !== 'attachment' && !hasName(part);
}
