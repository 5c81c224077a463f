// Options of the routes that send: when the email is sent, and that it is one of many (RFC 8058).
import { nullable, optional } from 'superstruct';
import type { HeaderPair } from '../../../../mail-format/header/header-pairs.js';
import { closedRecord, isTime, leaf } from '../../fields.js';
import { named } from '../../openapi/json-schema.js';

const TIME_WITH_OFFSET = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;

export const sendAt = optional(
  nullable(
    leaf<string>(
      'string',
      (value) =>
        (typeof value === 'string' && TIME_WITH_OFFSET.test(value) && isTime(value)) ||
        'must be an ISO 8601 time with Z or an offset',
      {
        format: 'date-time',
        description:
          'When it is sent, at most a year ahead (ISO 8601); at once when that is in the past. Overrides `undoSendSeconds`',
        examples: ['2027-01-04T09:00:00+01:00'],
      },
    ),
  ),
);

/** No spaces, no `<>`, no comma, which separates URLs in the field (RFC 2369 §2), and nothing that begins an encoded word. */
const HTTPS = /^https:\/\/(?!.*=\?)[!-+\--;=?-~]{1,800}$/;

const unsubscribeUrl = leaf<string>(
  'string',
  (value) => (typeof value === 'string' && HTTPS.test(value) && URL.canParse(value)) || 'must be an https URL',
  {
    format: 'uri',
    description: 'It ends the subscription of the recipient when it is posted `List-Unsubscribe=One-Click`',
    examples: ['https://example.org/unsubscribe/4f2a'],
  },
);

export const bulk = optional(
  nullable(
    named('BulkInput', closedRecord({ unsubscribeUrl }), {
      description:
        'The email is one of many: it gets `List-Unsubscribe`, `List-Unsubscribe-Post` (one-click unsubscribe, RFC 8058) and `Precedence: bulk`, and DKIM signs the first two. Use a URL for each recipient, and an email for each',
    }),
  ),
);

/** The fields of an email that is one of many. */
export const bulkFields = ({ unsubscribeUrl: url }: { readonly unsubscribeUrl: string }): readonly HeaderPair[] => [
  ['List-Unsubscribe', `<${url}>`],
  ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
  ['Precedence', 'bulk'],
];

/** The error of a body with `bulk` whose other fields have the same names. */
export function bulkFault({
  bulk,
  headers,
}: {
  readonly bulk?: unknown;
  readonly headers?: readonly HeaderPair[] | null | undefined;
}) {
  const isRepeated = headers?.some(([name]) => /^(?:list-unsubscribe(?:-post)?|precedence)$/i.test(name)) === true;
  return bulk && isRepeated ? { bulk: ['makes fields that headers has too'] } : {};
}
