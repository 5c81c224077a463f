// Asks a node on this machine for its health, for containers: exit code 0 for Healthy and Degraded, else 1. Where it asks follows
// from the settings in the environment: the HTTP listener, or the metrics listener of a node without the role `api`.
'use strict';

/** The URL of /healthz; undefined when these settings name no port that answers it. */
function healthUrl(env) {
  const text = (name) => (env[name] ?? '').trim();
  const roles = (text('MANSIO_ROLES') || 'all').toLowerCase().split(',');
  const hasHttp = roles.some((role) => ['all', 'api'].includes(role.trim()));
  const isOff = (port) => ['', '0', 'off'].includes(port.toLowerCase());
  const http = hasHttp ? text('MANSIO_HTTP_PORT') || '8080' : '';
  const port = isOff(http) ? text('MANSIO_METRICS_PORT') : http;
  return isOff(port) ? undefined : `http://${reached(addressOf(text))}:${port}/healthz`;
}

/** The default of MANSIO_HTTP_BIND is MANSIO_BIND on loopback. */
function addressOf(text) {
  const bind = text('MANSIO_BIND');
  return text('MANSIO_HTTP_BIND') || (/^127\.|^::1$/.test(bind) ? bind : '127.0.0.1');
}

/** Who listens on every address is reached on loopback. */
function reached(address) {
  if (address === '0.0.0.0') return '127.0.0.1';
  return address.includes(':') ? `[${address === '::' ? '::1' : address}]` : address;
}

module.exports = { healthUrl };

if (require.main === module) {
  const url = healthUrl(process.env);
  if (url === undefined) {
    process.stderr.write('mansio: these settings name no port that answers /healthz\n');
    process.exitCode = 1;
  } else {
    fetch(url).then(
      (reply) => process.exit(reply.ok ? 0 : 1),
      () => process.exit(1),
    );
  }
}
