// Reads names of folders and labels: returns the name as it is stored, or the problem with it.
import { coerce, type Struct } from 'superstruct';
import { leaf, text } from '../../fields.js';
import type { JsonSchema } from '../../openapi/json-schema.js';

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
