// Whether a message comes from the domain of its author. DMARC says it where the domain has a policy; elsewhere SPF or a signature of the
// very domain does. A message with several authors proves none of them, because one of them may have been added.
import type { MessageIndex } from '../message-index.js';
import type { Authenticated } from './authentication.js';
import { authorDomain } from './author-domain.js';

export function isAuthorProven(
  authenticated: Pick<Authenticated, 'summary' | 'passed'> | undefined,
  { envelope }: Pick<MessageIndex, 'envelope'>,
): boolean {
  const [author, ...others] = envelope.from;
  if (authenticated === undefined || author === undefined || others.length > 0) return false;
  const { dmarc } = authenticated.summary;
  if (dmarc === 'pass') return true;
  const domain = authorDomain(author.address);
  return dmarc === 'none' && domain !== undefined && authenticated.passed.includes(domain);
}
