// COMPRESS (RFC 4978): octets are compressed after its OK.
import { type Command, command } from '../command.js';
import { bad, no, ok } from '../completion.js';

export const compressCommands: readonly Command[] = [
  command({
    name: 'COMPRESS',
    states: ['authenticated', 'selected'],
    parse: (reader) => reader.atom().toUpperCase(),
    run({ connection }, mechanism) {
      if (mechanism !== 'DEFLATE') return bad('Only DEFLATE is offered');
      if (connection.isCompressed) return no('The connection is compressed', 'COMPRESSIONACTIVE');
      return { ...ok('DEFLATE begins now'), sendWith: (line) => connection.compress(line) };
    },
  }),
];
