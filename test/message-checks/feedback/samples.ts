// Reports in the shapes of large senders, about example.test. The begin of the period is a parameter, because old reports do not count.
import { gzipSync } from 'node:zlib';

/** 2026-11-28T00:00:00Z, in s. */
export const BEGIN = 1_795_824_000;

const record = (source: string, count: number, evaluated: string, results: string) => `
  <record>
    <row>
      <source_ip>${source}</source_ip>
      <count>${count}</count>
      <policy_evaluated>${evaluated}</policy_evaluated>
    </row>
    <identifiers><header_from>example.test</header_from></identifiers>
    <auth_results>${results}</auth_results>
  </record>`;

/** Indented, without a namespace, with `reason`. */
export const google = (begin = BEGIN): string => `<?xml version="1.0" encoding="UTF-8" ?>
<feedback>
  <report_metadata>
    <org_name>google.com</org_name>
    <email>noreply-dmarc-support@google.com</email>
    <extra_contact_info>https://support.google.com/a/answer/2466580</extra_contact_info>
    <report_id>11438256012735019452</report_id>
    <date_range>
      <begin>${begin}</begin>
      <end>${begin + 86_399}</end>
    </date_range>
  </report_metadata>
  <policy_published>
    <domain>example.test</domain>
    <adkim>r</adkim>
    <aspf>r</aspf>
    <p>none</p>
    <sp>none</sp>
    <pct>100</pct>
    <np>none</np>
  </policy_published>${record(
    '192.0.2.10',
    37,
    '<disposition>none</disposition><dkim>pass</dkim><spf>pass</spf>',
    '<dkim><domain>example.test</domain><result>pass</result><selector>r2611</selector></dkim><spf><domain>example.test</domain><result>pass</result></spf>',
  )}${record(
    '2001:DB8::0019',
    2,
    '<disposition>none</disposition><dkim>pass</dkim><spf>fail</spf><reason><type>local_policy</type><comment>arc=pass</comment></reason>',
    '<dkim><domain>example.test</domain><result>pass</result></dkim><spf><domain>list.test</domain><result>pass</result></spf>',
  )}${record(
    '192.0.2.10',
    3,
    '<disposition>none</disposition><dkim>pass</dkim><spf>pass</spf>',
    '<dkim><domain>example.test</domain><result>pass</result></dkim>',
  )}
</feedback>
`;

/** On few lines, with namespaces of XML Schema, a byte order mark, and `envelope_to`. */
export const microsoft = (begin = BEGIN): string =>
  `\ufeff<?xml version="1.0"?>\r\n<feedback xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><version>1.0</version><report_metadata><org_name>Enterprise Outlook</org_name><email>dmarcreport@microsoft.com</email><report_id>6a5a1d2e5a7a4e6c8a1f0f3d1c2b4a59</report_id><date_range><begin>${begin}</begin><end>${begin + 86_400}</end></date_range></report_metadata><policy_published><domain>example.test</domain><adkim>r</adkim><aspf>r</aspf><p>quarantine</p><sp>quarantine</sp><pct>100</pct><fo>0</fo></policy_published><record><row><source_ip>203.0.113.77</source_ip><count>12</count><policy_evaluated><disposition>quarantine</disposition><dkim>fail</dkim><spf>fail</spf></policy_evaluated></row><identifiers><envelope_to>outlook.test</envelope_to><envelope_from>spam.test</envelope_from><header_from>example.test</header_from></identifiers><auth_results><spf><domain>spam.test</domain><scope>mfrom</scope><result>softfail</result></spf></auth_results></record></feedback>`;

/** RFC 9990: a default namespace, \`discovery_method\`, \`pass\` as the disposition, and a name in CDATA. */
export const rfc9990 = (begin = BEGIN): string => `<?xml version="1.0" encoding="UTF-8"?>
<feedback xmlns="urn:ietf:params:xml:ns:dmarc-2.0">
  <version>1.0</version>
  <report_metadata>
    <org_name><![CDATA[Müller & Söhne]]></org_name>
    <email>postmaster@mueller.test</email>
    <report_id>2026-11-28.example.test@mueller.test</report_id>
    <date_range><begin> ${begin} </begin><end>${begin + 86_399}</end></date_range>
  </report_metadata>
  <policy_published>
    <domain>Sub.Example.TEST</domain><p>reject</p><discovery_method>treewalk</discovery_method><testing>n</testing>
  </policy_published>${record('198.51.100.4', 1, '<disposition>pass</disposition><dkim>fail</dkim><spf>pass</spf>', '')}${record(
    '198.51.100.5',
    4,
    '<disposition>reject</disposition><dkim>fail</dkim><spf>fail</spf>',
    '',
  )}
</feedback>`;

/** Google's shape of a TLS report. */
export const googleTls = (begin = BEGIN): string =>
  JSON.stringify({
    'organization-name': 'Google Inc.',
    'date-range': {
      'start-datetime': new Date(begin * 1000).toISOString(),
      'end-datetime': new Date((begin + 86_399) * 1000).toISOString(),
    },
    'contact-info': 'smtp-tls-reporting@google.com',
    'report-id': '2026-11-28T00:00:00Z_example.test',
    policies: [
      {
        policy: {
          'policy-type': 'sts',
          'policy-string': ['version: STSv1', 'mode: testing', 'mx: mx.example.test', 'max_age: 86400'],
          'policy-domain': 'example.test',
          'mx-host': ['mx.example.test'],
        },
        summary: { 'total-successful-session-count': 31, 'total-failure-session-count': 5 },
        'failure-details': [
          {
            'result-type': 'certificate-expired',
            'sending-mta-ip': '2001:db8::1',
            'receiving-ip': '192.0.2.1',
            'receiving-mx-hostname': 'MX.example.test.',
            'failed-session-count': 3,
          },
        ],
      },
    ],
  });

/** Microsoft's shape: numbers are there, details are not. */
export const microsoftTls = (begin = BEGIN): string =>
  JSON.stringify({
    'organization-name': 'Microsoft Corporation',
    'date-range': {
      'start-datetime': new Date(begin * 1000).toISOString(),
      'end-datetime': new Date((begin + 86_399) * 1000).toISOString(),
    },
    'contact-info': 'tlsrpt-noreply@microsoft.com',
    'report-id': '134094208600350843+example.test',
    policies: [
      {
        policy: { 'policy-type': 'no-policy-found', 'policy-domain': 'example.test' },
        summary: { 'total-successful-session-count': 7, 'total-failure-session-count': 0 },
      },
    ],
  });

/** A mail with a report as its attachment. `type`: of the attachment. */
export function reportMail(
  { from, to, subject, type, name }: Readonly<Record<'from' | 'to' | 'subject' | 'type' | 'name', string>>,
  attachment: Uint8Array,
): string {
  const encoded = Buffer.from(attachment).toString('base64').replace(/.{76}/g, '$&\r\n');
  return [
    `From: ${from}`,
    `To: ${to}`,
    `Subject: ${subject}`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary="=_b"',
    '',
    '--=_b',
    'Content-Type: text/plain',
    '',
    'This is an aggregate report.',
    '--=_b',
    `Content-Type: ${type}; name="${name}"`,
    `Content-Disposition: attachment; filename="${name}"`,
    'Content-Transfer-Encoding: base64',
    '',
    encoded,
    '--=_b--',
    '',
  ].join('\r\n');
}

export const gzipped = (text: string): Buffer => gzipSync(text);
