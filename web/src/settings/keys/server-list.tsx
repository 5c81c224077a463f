// What people type into a mail program: server, port, security and user name of each protocol.
import type { ConnectionInfo } from '../../../../src/client/index.js';
import { CopyButton } from '../../design/copy-button.js';
import { t } from '../../i18n/t.js';
import { type Server, serversOf } from './servers.js';

interface ServerListProps {
  readonly info: ConnectionInfo;
  /** Lists these alone. */
  readonly protocols?: readonly string[];
}

export function ServerList({ info, protocols }: ServerListProps) {
  const servers = serversOf(info).filter(({ protocol }) => protocols?.includes(protocol) ?? true);
  if (servers.length === 0) return <p class="hint">{t('settings.keys.noServers')}</p>;
  return (
    <div class="servers">
      {servers.map((server) => (
        <ServerCard key={server.protocol} server={server} username={info.username} />
      ))}
    </div>
  );
}

function ServerCard({ server, username }: { readonly server: Server; readonly username: string }) {
  const title = t(`settings.keys.server.${server.protocol}`);
  return (
    <section class="server card" aria-label={title}>
      <h4>{title}</h4>
      <dl>
        <Line name={t('settings.keys.host')} value={server.host} of={title} />
        <Line name={t('settings.keys.port')} value={String(server.port)} />
        <Line name={t('settings.keys.security')} value={server.security} />
        <Line name={t('settings.keys.username')} value={username} of={title} />
        <Line name={t('settings.keys.password')} text={t('settings.keys.passwordIsKey')} />
      </dl>
    </section>
  );
}

interface LineProps {
  readonly name: string;
  /** As it is typed. */
  readonly value?: string;
  readonly text?: string;
  /** The server, where the value is long enough to be copied. */
  readonly of?: string;
}

function Line({ name, value, text, of }: LineProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value === undefined ? text : <code dir="ltr">{value}</code>}
        {value !== undefined && of !== undefined && <CopyButton text={value} what={`${name}: ${of}`} />}
      </dd>
    </div>
  );
}
