// Folders as clients name them: by id, or by the role of a system folder.
import { isUuid } from '../../../../mail-format/ids.js';
import { fromText, leaf } from '../../fields.js';
import type { JsonSchema } from '../../openapi/json-schema.js';

export const SYSTEM_FOLDERS = ['inbox', 'sent', 'drafts', 'archive', 'trash', 'junk'] as const;

const FORMS: JsonSchema = {
  anyOf: [
    { type: 'string', format: 'uuid' },
    { type: 'string', enum: SYSTEM_FOLDERS },
  ],
};

/** A parameter of a query or a member of a body. The mailbox decides whether the folder exists. */
export const folderName = () =>
  fromText(
    leaf<string>('folderName', (value) => typeof value === 'string' || 'must be a string', {
      ...FORMS,
      description: 'Id of a label or folder, or a role of the system',
    }),
    (value) => value.toLowerCase(),
  );

/** A parameter of a path. A value that cannot name a folder results in 404. */
export const folderPathParameter = () =>
  fromText(
    leaf<string>('folderName', (value) => typeof value === 'string' && (isUuid(value) || isSystemFolder(value)), FORMS),
    (value) => value.toLowerCase(),
  );

const isSystemFolder = (name: string): boolean => SYSTEM_FOLDERS.some((role) => role === name);
