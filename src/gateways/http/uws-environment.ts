// The environment that uWebSockets.js reads: how long the header of a request that arrives in pieces may be. The library reads it when it is
// loaded, so this is imported before it. Its own 4 KiB, of every build, are too few for the bearer tokens of some OIDC providers.
import { env } from 'node:process';

env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= String(32 * 1024);
