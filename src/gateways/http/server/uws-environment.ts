// Sets the environment that uWebSockets.js reads when it is loaded, so this file is imported before it: the largest header of a request
// that arrives in pieces. The default of every build, 4 KiB, is too small for the bearer tokens of some OIDC providers.
import { env } from 'node:process';

env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= String(32 * 1024);
