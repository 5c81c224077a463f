// How names of folders and labels are read: as they are kept, or refused with what is wrong with them.
import { coerce, type Struct } from 'superstruct';
import { leaf, text } from '../fields.js';
import type { JsonSchema } from '../json-schema.js';

type NameRead = { readonly name: string } | { readonly problem: string };

export const nameField = (read: (text: string) => NameRead, notes: JsonSchema): Struct<string, null> =>
  coerce(
    leaf<string>(
      'string',
      (value) => {
        if (typeof value !== 'string') return 'must be a string';
        const name = read(value);
        return 'name' in name || name.problem;
      },
      notes,
    ),
    text(),
    (value) => {
      const name = read(value);
      return 'name' in name ? name.name : value;
    },
  );
