// Folders as clients name them: by id, or by a role of the system.
import { isUuid } from '../../../mail/ids.js';
import { fromText, leaf } from '../fields.js';
import type { JsonSchema } from '../json-schema.js';

export const SYSTEM_FOLDERS = ['inbox', 'sent', 'drafts', 'archive', 'trash', 'junk'] as const;

const FORMS: JsonSchema = {
  anyOf: [
    { type: 'string', format: 'uuid' },
    { type: 'string', enum: SYSTEM_FOLDERS },
  ],
};

/** Of a query or a body: whether there is such a folder is for the mailbox to say. */
export const folderName = () =>
  fromText(
    leaf<string>('folderName', (value) => typeof value === 'string' || 'must be a string', {
      ...FORMS,
      description: 'Id of a label or folder, or a role of the system',
    }),
    (value) => value.toLowerCase(),
  );

/** Of a path: anything else names nothing. */
export const folderPathParameter = () =>
  fromText(
    leaf<string>('folderName', (value) => typeof value === 'string' && (isUuid(value) || isSystemFolder(value)), FORMS),
    (value) => value.toLowerCase(),
  );

const isSystemFolder = (name: string): boolean => SYSTEM_FOLDERS.some((role) => role === name);
