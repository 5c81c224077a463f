// The choice of the parts that are the body and of those that are attachments (RFC 8621 §4.1.4), made once, when a message is indexed: the
// kinds that Mansio shows in an alternative, the root of a related, elsewhere text without a file name. An embedded message is one
// attachment. Details, previews, search, filters, forwards and counts read the choice from the index.
import type { IndexedAttachment, IndexedPart } from '../message-index.js';
import { enclosedSources, type TextSource } from '../parts.js';
import type { TnefText } from '../tnef/reader.js';
import { attachmentOf, contentId } from './attachment.js';
import type { ContentFields } from './content-fields.js';
import type { Builders, PartBuilder } from './part-builder.js';

export interface ChosenBodies {
  readonly text: readonly TextSource[];
  readonly html: readonly TextSource[];
  readonly attachments: readonly IndexedAttachment[];
  /** The source of the preview when the bodies are the texts in a TNEF. */
  readonly enclosed: readonly TnefText[];
}

type Content = Pick<ContentFields, 'type' | 'subtype' | 'params' | 'disposition' | 'dispositionParams'>;
type Multipart = Pick<ContentFields, 'subtype' | 'params'>;

/** The role that a part may have at its position. */
export type BodyPlace =
  /** The part belongs to the body if it is text. */
  | 'body'
  /** The siblings, some of which may follow, decide whether the part is the root of a related. */
  | 'undecided'
  /** The part follows the root of a related. */
  | 'beside-root';

/** Returns the place of a part while its message is read. `parent` is its multipart, if it has one. */
export function bodyPlace(parent: Multipart | undefined, isFirst: boolean): BodyPlace {
  if (parent?.subtype !== 'related') return 'body';
  if (parent.params['start'] !== undefined) return 'undecided';
  return isFirst ? 'body' : 'beside-root';
}

/** Returns true when the part is text of the body at this place, and never an attachment. */
export function isBodyText(part: Content, isFirst: boolean, place: BodyPlace): boolean {
  if (part.type !== 'text' || (part.subtype !== 'plain' && part.subtype !== 'html')) return false;
  if (part.disposition === 'attachment' || place === 'beside-root') return false;
  return isFirst || place === 'undecided' || !hasName(part);
}

function hasName(part: Content): boolean {
  return Boolean(part.dispositionParams['filename'] || part.params['name']);
}

export function chooseBodies(root: IndexedPart, builders: Builders): ChosenBodies {
  const choice = new Choice();
  const { text, html } = choice.bodies;
  choice.part(root, { isFirst: true, place: 'body', isForm: false }, choice.bodies);
  const packed = [...text, ...html].every((part) => isBlank(part, builders.get(part)!))
    ? choice.attached.find((part) => enclosedBody(part) !== undefined)
    : undefined;
  const attachments = choice.attached.flatMap((part) => attachmentsOf(part, builders.get(part)!, part === packed));
  if (packed !== undefined) {
    const { texts } = builders.get(packed)!.tnef!;
    return { ...enclosedBody(packed)!, attachments, enclosed: texts };
  }
  // A kind counts as the body only where it occurs; texts of the other kind between its parts then belong to it.
  return {
    text: text.some((part) => part.subtype === 'plain') ? text : [],
    html: html.some((part) => part.subtype === 'html') ? html : [],
    attachments,
    enclosed: [],
  };
}

/** Returns true when the part has no text except one or two line breaks, which Exchange writes next to a TNEF that has the text. */
function isBlank({ bodyStart, bodyEnd }: IndexedPart, { sample }: PartBuilder): boolean {
  return bodyEnd - bodyStart <= 4 && (sample?.octets.toString('latin1').trim() ?? '') === '';
}

/** Returns the texts in a TNEF: RTF counts only when there is no other form. Undefined when there is none. */
function enclosedBody(part: IndexedPart): Pick<ChosenBodies, 'text' | 'html'> | undefined {
  const sources = enclosedSources(part);
  if (sources.length === 0) return undefined;
  const of = (subtype: string) => sources.filter((source) => source.subtype === subtype);
  const [text, html] = [of('plain'), of('html')];
  return { text: text.length + html.length === 0 ? of('rtf') : text, html };
}

/** Returns the files in a TNEF as attachments; the TNEF itself is a file when none of its content is shown. */
function attachmentsOf(part: IndexedPart, builder: PartBuilder, isBody: boolean): readonly IndexedAttachment[] {
  const files = builder.tnef?.attachments(part.section) ?? [];
  return files.length > 0 || isBody ? files : [attachmentOf(part, builder)];
}

/** The bodies that receive texts; undefined when the texts are another form of what that body already has. */
interface Bodies {
  readonly text: IndexedPart[] | undefined;
  readonly html: IndexedPart[] | undefined;
}

interface Position {
  /** True for the first part of its multipart, which may have a file name and still be the body. */
  readonly isFirst: boolean;
  readonly place: BodyPlace;
  /** True when the part, as a whole, is one form of an alternative. */
  readonly isForm: boolean;
}

class Choice {
  readonly bodies = { text: [] as IndexedPart[], html: [] as IndexedPart[] };
  /** The attachments in their order. */
  readonly attached: IndexedPart[] = [];

  /** The limits of the index limit the depth of the recursion. */
  part(part: IndexedPart, position: Position, bodies: Bodies): void {
    if (isMultipart(part)) {
      if (part.subtype === 'alternative') this.#alternative(part, bodies);
      else this.#multipart(part, position.isForm ? formOf(part, bodies) : bodies);
    } else if (!isBodyText(part, position.isFirst, position.place)) this.attached.push(part);
    else {
      if (!position.isForm || part.subtype === 'plain') bodies.text?.push(part);
      if (!position.isForm || part.subtype === 'html') bodies.html?.push(part);
    }
  }

  #multipart(multipart: IndexedPart, bodies: Bodies): void {
    const positionOf = positionsIn(multipart);
    for (const part of multipart.parts) this.part(part, positionOf(part), bodies);
  }

  /** Each part is a form of the same content; a form that Mansio does not show is left out when another one is shown. */
  #alternative(alternative: IndexedPart, { text, html }: Bodies): void {
    const found = { text: [] as IndexedPart[], html: [] as IndexedPart[] };
    const others: IndexedPart[] = [];
    const positionOf = positionsIn(alternative);
    for (const part of alternative.parts) {
      if (isOtherForm(part)) others.push(part);
      else this.part(part, positionOf(part), found);
    }
    // A single form belongs to both bodies.
    text?.push(...(found.text.length > 0 ? found.text : found.html));
    html?.push(...(found.html.length > 0 ? found.html : found.text));
    if (found.text.length + found.html.length === 0) this.attached.push(...others);
  }
}

const isMultipart = (part: IndexedPart): boolean => part.type === 'multipart' && part.parts.length > 0;

function positionsIn(multipart: IndexedPart): (part: IndexedPart) => Position {
  const isForm = multipart.subtype === 'alternative';
  if (multipart.subtype !== 'related') {
    return (part) => ({ isFirst: part === multipart.parts[0], place: 'body', isForm });
  }
  const root = relatedRoot(multipart);
  return (part) => ({ isFirst: part === root, place: part === root ? 'body' : 'beside-root', isForm });
}

/** RFC 2387 §3: the part that `start` names, otherwise the first. If `start` names no part, the `type` of the root decides. */
function relatedRoot({ params, parts }: IndexedPart): IndexedPart | undefined {
  const start = contentId(params['start'] ?? '');
  if (start === '') return parts[0];
  const ofRoot = params['type']?.toLowerCase();
  return (
    parts.find(({ id }) => id !== null && contentId(id) === start) ??
    parts.find(({ type, subtype }) => `${type}/${subtype}` === ofRoot) ??
    parts[0]
  );
}

/**
 * Decides which form a mixed or related is, with all of its texts: the HTML form when it has HTML, otherwise the plain form. Without HTML,
 * one that contains an alternative is both.
 */
function formOf(branch: IndexedPart, bodies: Bodies): Bodies {
  const kinds = new Set<string>();
  const walk = (multipart: IndexedPart): void => {
    const positionOf = positionsIn(multipart);
    for (const part of multipart.parts) {
      const { isFirst, place } = positionOf(part);
      if (isMultipart(part) && part.subtype === 'alternative') kinds.add('alternative');
      else if (isMultipart(part)) walk(part);
      else if (isBodyText(part, isFirst, place)) kinds.add(part.subtype);
    }
  };
  walk(branch);
  if (kinds.has('html')) return { text: undefined, html: bodies.html };
  return kinds.has('plain') && !kinds.has('alternative') ? { text: bodies.text, html: undefined } : bodies;
}

/** Returns true for a form of the body that Mansio does not show (text/x-amp-html, text/enriched …); a calendar is shown as a file. */
function isOtherForm(part: IndexedPart): boolean {
  if (part.type !== 'text' || part.subtype === 'plain' || part.subtype === 'html') return false;
  return part.subtype !== 'calendar' && part.disposition !== 'attachment' && !hasName(part);
}
