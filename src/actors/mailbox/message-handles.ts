// The payload of a command on a message: a handle of the message (src/store/inline/inline-messages.ts) and the fields of the command.
import { object, string, union } from 'superstruct';
import { messageSummary } from '../../mail-format/summary.js';

export const stored = { blob: string(), summary: messageSummary };

type Fields = Parameters<typeof object>[0];

export function withHandle<F extends Fields>(fields: F) {
  return union([object({ inlineId: string(), ...fields }), object({ ...stored, ...fields })]);
}

/**
 * A command on an inline message of the owner's node is not remembered: the message itself knows whether it is committed. The runtime
 * remembers a command that carries its messages.
 */
export const onRepeatOf = (payload: { readonly inlineId?: string } | object) =>
  'inlineId' in payload ? 'harmless' : 'remembered';
