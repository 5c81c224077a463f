// Serves the settings of an address where Outlook looks for them: plain XML by POST, which other programs request too, and a JSON document
// that tells its URL. Programs send the password of their user with the request: these routes ignore credentials.
import { coerce, defaulted, optional } from 'superstruct';
import { parseAddress } from '../../../../mail-format/address.js';
import { choice, record, text } from '../../fields.js';
import {
  type AutodiscoverError,
  autodiscoverFault,
  autodiscoverSettings,
  readAutodiscoverRequest,
} from '../../mail-programs/autodiscover.js';
import { mailServers } from '../../mail-programs/mail-servers.js';
import { named } from '../../openapi/json-schema.js';
import { Problem } from '../../problem.js';
import { binary, defineRoute, type Route } from '../../route.js';
import { type MailProgramSources, TAGS } from './autoconfig.js';
import { document, XML } from './document-reply.js';

const PATH = '/autodiscover/autodiscover';
const XML_PATH = `${PATH}.xml`;
const JSON_PATH = `${PATH}.json`;
/** Programs send fewer than a thousand octets. */
const BODY_LIMIT = 16 * 1024;
/** The only protocol of Autodiscover's JSON form that is served: the XML form. */
const PROTOCOL = 'AutodiscoverV1';

const EXAMPLE = `<?xml version="1.0" encoding="utf-8"?>
<Autodiscover xmlns="http://schemas.microsoft.com/exchange/autodiscover/outlook/requestschema/2006">
  <Request>
    <EMailAddress>anna@example.org</EMailAddress>
    <AcceptableResponseSchema>http://schemas.microsoft.com/exchange/autodiscover/outlook/responseschema/2006a</AcceptableResponseSchema>
  </Request>
</Autodiscover>
`;

const location = named(
  'AutodiscoverLocation',
  record({ Protocol: text(), Url: text({ format: 'uri', description: 'Where the settings are, in XML' }) }),
);

/** The value matches in upper and lower case. */
const protocolParameter = () =>
  defaulted(
    coerce(choice(PROTOCOL), text(), (value) => (value.toLowerCase() === PROTOCOL.toLowerCase() ? PROTOCOL : value)),
    PROTOCOL,
  );

export function autodiscoverRoutes(sources: MailProgramSources): readonly Route[] {
  return [xmlRoute(sources), probeRoute(), ...locationRoutes(sources)];
}

function xmlRoute({ connectionInfo, hosts }: MailProgramSources): Route {
  return defineRoute({
    method: 'POST',
    path: XML_PATH,
    anyCase: true,
    summary: 'Settings for Outlook, in XML',
    description:
      'Autodiscover in its plain XML form. A fault is 200 with an `Error`: 500 for an address of a domain that is not hosted here, 600 for an invalid request, 601 for another schema of replies, such as that of ActiveSync, and when programs could not both read and send mail.',
    tags: TAGS,
    access: 'public',
    // The request changes nothing, so it does not count as a write.
    rate: 'plain',
    textBody: { mediaTypes: [XML, 'application/xml'], example: EXAMPLE },
    bodyLimit: BODY_LIMIT,
    replies: { 200: binary(XML) },
    problems: [503],
    handler: async ({ text: body }) => {
      const request = readAutodiscoverRequest(body);
      if (typeof request === 'string') return fault(request);
      if (!(await hosts(request.domain))) return fault('noSuchAddress');
      const servers = mailServers(connectionInfo());
      if (servers === undefined) return fault('noProvider');
      return document(200, XML, autodiscoverSettings(request.email, servers));
    },
  });
}

/** Answers programs and connection testers that check whether the service exists; Exchange replies in the same way. */
function probeRoute(): Route {
  return defineRoute({
    method: 'GET',
    path: XML_PATH,
    anyCase: true,
    summary: 'Whether the server has Autodiscover',
    description: 'The answer is always the `Error` 600: programs get settings by POST.',
    tags: TAGS,
    access: 'public',
    replies: { 200: binary(XML) },
    handler: async () => fault('invalidRequest'),
  });
}

function locationRoutes({ apiUrl, hosts }: MailProgramSources): readonly Route[] {
  async function locate(email: string, host: string | undefined) {
    const domain = parseAddress(email.trim())?.domain;
    const base = apiUrl() ?? httpsUrl(host);
    if (domain === undefined || base === undefined || !(await hosts(domain)))
      return new Problem(404, { detail: 'No mail of that domain is here.' });
    return { status: 200, json: { Protocol: PROTOCOL, Url: base.replace(/\/$/, '') + XML_PATH } } as const;
  }
  const spec = {
    method: 'GET',
    anyCase: true,
    summary: 'Where the settings for Outlook are',
    description:
      'Autodiscover in its JSON form leads to the XML form; no other protocol is served. 404 for a domain that is not hosted here.',
    tags: TAGS,
    access: 'public',
    replies: { 200: location },
    problems: [404, 503],
  } as const;
  return [
    defineRoute({
      ...spec,
      path: JSON_PATH,
      query: { Email: optional(text()), Protocol: protocolParameter() },
      handler: async ({ query, host }) => locate(query.Email ?? '', host),
    }),
    defineRoute({
      ...spec,
      path: `${JSON_PATH}/v1.0/{email}`,
      params: { email: text() },
      query: { Protocol: protocolParameter() },
      handler: async ({ params, host }) => locate(params.email, host),
    }),
  ];
}

/** Outlook uses https, through a proxy that ends TLS and forwards the host name. */
function httpsUrl(host: string | undefined): string | undefined {
  return host !== undefined && /^(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i.test(host)
    ? `https://${host}`
    : undefined;
}

function fault(error: AutodiscoverError) {
  return document(200, XML, autodiscoverFault(error, Date.now()));
}
