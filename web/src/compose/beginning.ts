// What a compose window begins with: nothing but the signature, or what an answer or a forward takes from its original.
import type { EmailDetail } from '../../../src/client/index.js';
import { longDate } from '../i18n/format.js';
import { t } from '../i18n/t.js';
import type { Person } from './address.js';
import type { DraftFile } from './attachments.js';
import { EMPTY_FIELDS, type WindowContent } from './compose-window.js';
import { cidUrl, safeHtml } from './editor-html.js';
import type { ComposeContext, Opening } from './open.js';
import { forwardBody, newBody, type Quoted, type QuoteTexts, replyBody, textAsHtml } from './quote.js';
import { parseRecipients } from './recipients.js';
import { addressedAs, forwardSubject, replyRecipients, replySubject, threadHeaders } from './reply.js';

/** `original`: of an answer or a forward. */
export function beginning(opening: Opening, original: EmailDetail | undefined, context: ComposeContext): WindowContent {
  const from = original === undefined ? null : (addressedAs(original, context.own()) ?? null);
  const own = safeHtml(context.signature(from), { keepsRemote: true });
  // An empty line is where another sender's signature will be.
  const signature = own === '' && context.hasSignatures() ? '<br>' : own;
  if (original === undefined) return newContent(opening, signature);
  if (opening.kind === 'forward') return forwardContent(original, from, signature);
  const quoted = quotedFrom(original, false);
  return {
    fields: {
      ...EMPTY_FIELDS,
      from,
      recipients: replyRecipients(original, context.own(), opening.kind === 'replyAll'),
      subject: replySubject(original.subject),
      html: replyBody(quoted, signature, quoteTexts()),
      headers: threadHeaders(original),
    },
    files: filesOf(original, quoted.html).filter(({ contentId }) => contentId !== null),
    original: { emailId: original.id, how: 'repliesTo' },
  };
}

function newContent(opening: Opening, signature: string): WindowContent {
  const { to = '', cc = '', bcc = '', subject = '', body = '' } = opening.kind === 'new' ? opening : {};
  const recipients = { To: parseRecipients(to), Cc: parseRecipients(cc), Bcc: parseRecipients(bcc) };
  const html = newBody(signature, body === '' ? undefined : textAsHtml(body));
  return { fields: { ...EMPTY_FIELDS, recipients, subject, html }, files: [], original: null };
}

function forwardContent(original: EmailDetail, from: string | null, signature: string): WindowContent {
  const html = forwardBody(quotedFrom(original, true), signature, quoteTexts());
  return {
    fields: { ...EMPTY_FIELDS, from, subject: forwardSubject(original.subject), html },
    files: filesOf(original, html),
    original: { emailId: original.id, how: 'forwards' },
  };
}

/** `keepsRemote`: a forward names pictures from elsewhere, an answer does not send them back. */
function quotedFrom(original: EmailDetail, keepsRemote: boolean): Quoted {
  const { htmlBody, textBody, fromAddress, fromDisplayName, subject, recipients } = original;
  const people = (type: 'To' | 'Cc') =>
    recipients
      .filter((one) => one.type === type)
      .map(({ address, displayName }): Person => ({ name: displayName, address }));
  return {
    author: { name: fromDisplayName, address: fromAddress },
    date: longDate(new Date(original.date ?? original.receivedAt)),
    subject,
    to: people('To'),
    cc: people('Cc'),
    html: htmlBody === '' ? textAsHtml(textBody) : safeHtml(htmlBody, { keepsRemote }),
  };
}

/** A file that the text does not show stands besides it. */
function filesOf({ id: emailId, attachments }: EmailDetail, html: string): readonly DraftFile[] {
  return attachments.map(({ id, fileName, contentType, sizeBytes, contentId }) => ({
    key: id,
    fileName,
    contentType,
    size: sizeBytes,
    contentId: contentId !== undefined && html.includes(cidUrl(contentId)) ? contentId : null,
    stored: { place: 'email', emailId, attachmentId: id },
  }));
}

function quoteTexts(): QuoteTexts {
  return {
    wrote: (date, author) => t('compose.quote.wrote', { date, author }),
    forwarded: t('compose.quote.forwarded'),
    from: t('compose.from'),
    date: t('compose.quote.date'),
    subject: t('compose.subject'),
    to: t('compose.to'),
    cc: t('compose.cc'),
  };
}
