// Compares structure, envelope and every section of golden messages with Dovecot's answers (golden/dovecot.json, recorded by
// dev/record-dovecot.ts). The list of differences says why Mansio answers otherwise.
import { readFileSync } from 'node:fs';
import { GOLDEN_MESSAGES } from '../../../../dev/imap-golden/messages.js';
import test from '../../../support/test.js';
import { ALICE, startImap } from '../gateway.js';
import { attributeOf, type ResponseValue } from './response-value.js';

const DOVECOT = JSON.parse(readFileSync('dev/imap-golden/dovecot.json', 'utf8')) as Record<
  string,
  Record<string, string>
>;

interface Difference {
  readonly message: string;
  readonly attributes: RegExp;
  readonly reason: string;
}

const DIFFERENCES: readonly Difference[] = [
  {
    message: 'fields that stand twice or are empty',
    attributes: /^ENVELOPE$/,
    reason:
      'the first field of a name counts, as in the rest of Mansio; Dovecot takes the last subject and all addresses',
  },
  {
    message: 'header that an empty line does not end',
    attributes: /FIELDS \(/,
    reason:
      'a header without an empty line has none (RFC 9051 §6.4.5.1); Dovecot adds one here, though not for FIELDS.NOT',
  },
  {
    message: 'alternative within mixed',
    attributes: /^BINARY\.(?:PEEK|SIZE)\[1\]$/,
    reason:
      'a multipart has no encoding of its own (RFC 9051 §6.4.5: BINARY is for leaf parts); Dovecot decodes its parts',
  },
  {
    message: 'empty parts',
    attributes: /^BODY\.PEEK\[[124]\.MIME\]$/,
    reason: 'the empty line after a header belongs to the header, though a delimiter follows at once',
  },
  {
    message: 'boundary that begins like another',
    attributes: /^BODY(?:STRUCTURE)?$|\[2(?:\.MIME)?\]$/,
    reason: 'a delimiter is a whole line; for Dovecot it is the beginning of one',
  },
  {
    message: 'multipart without parts',
    attributes: /^BODY(?:STRUCTURE)?$|\[1(?:\.MIME)?\]/,
    reason: 'it is shown as the text that it has; Dovecot shows an empty part',
  },
  {
    message: 'multipart without a boundary',
    attributes: /^BODY(?:STRUCTURE)?$|\[1(?:\.MIME)?\]/,
    reason: 'it is shown as the text that it has; Dovecot shows an empty part',
  },
  {
    message: 'malformed content type',
    attributes: /^BODY(?:STRUCTURE)?$/,
    reason: 'the type is text/plain (RFC 2045 §5.2); Dovecot shows an empty subtype',
  },
  {
    message: 'lines that end in LF',
    attributes: /^BODY(?:STRUCTURE)?$|^RFC822.SIZE|SIZE\[1|\[(?:(?:HEADER.*|TEXT|1|1\.MIME)?)\](?:<2\.4>)?$/,
    reason: 'the octets are those that were received; Dovecot sends CR LF',
  },
];

/** Media types, encodings and names of parameters are compared without regard to case. */
function comparable(name: string, value: ResponseValue): ResponseValue {
  if (typeof value === 'string') return /^BODY(?:STRUCTURE)?$/.test(name) ? value.toLowerCase() : value;
  return value === null ? null : value.map((each) => comparable(name, each));
}

for (const [name, message] of Object.entries(GOLDEN_MESSAGES)) {
  test(`as Dovecot: ${name}`, async (t) => {
    const gateway = await startImap(t);
    await gateway.deliver(ALICE, Buffer.from(message, 'latin1'));
    const client = await gateway.open();
    await client.command('EXAMINE INBOX');
    for (const [attribute, recorded] of Object.entries(DOVECOT[name]!)) {
      const { untagged, tagged } = await client.command(`FETCH 1 (${attribute})`);
      t.true(tagged.startsWith('OK'), tagged);
      t.is(untagged.length, 1);
      const ours = attributeOf(/^1 FETCH \((.*)\)$/s.exec(untagged[0]!)![1]!);
      const theirs = attributeOf(recorded);
      t.is(ours.name, theirs.name);
      const difference = DIFFERENCES.find((each) => each.message === name && each.attributes.test(attribute));
      const values = [comparable(ours.name, ours.value), comparable(ours.name, theirs.value)] as const;
      if (difference === undefined) t.deepEqual(...values, attribute);
      else t.notDeepEqual(...values, `${attribute}: ${difference.reason}`);
    }
  });
}
