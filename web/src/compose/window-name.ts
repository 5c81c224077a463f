// The name of a compose window that is put away: its subject, else whom it is for, else the first words that were written.
import { RECIPIENT_TYPES, type Recipients } from './recipients.js';

const MOST_WORDS = 8;
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', nbsp: ' ' };

/** `html`: as the editor has it. Returns an empty text when nothing was written. */
export function windowName(subject: string, recipients: Recipients, html: string): string {
  if (subject.trim() !== '') return subject.trim();
  const people = RECIPIENT_TYPES.flatMap((type) => recipients[type]);
  if (people.length > 0) return people.map(({ name, address }) => name || address).join(', ');
  return firstWords(html);
}

/** The first line alone: below an empty one stands the signature. */
function firstWords(html: string): string {
  const line = html.split(/<\/(?:div|p|li|h\d|blockquote)>|<br\s*\/?>/i, 1)[0]!;
  const text = line.replace(/<[^>]*>/g, ' ').replace(/&(amp|lt|gt|nbsp);/g, (_, name: string) => ENTITIES[name]!);
  return text.trim().split(/\s+/).slice(0, MOST_WORDS).join(' ');
}
