// Tests the DMARC reports that are written: Python's parser finds the elements of RFC 7489 in their order, and the own reader reads them back.
import { execFileSync } from 'node:child_process';
import { writeDmarcXml } from '../../../../src/message-checks/feedback/own/dmarc-xml.js';
import { readDmarcXml } from '../../../../src/message-checks/feedback/reading/dmarc-xml.js';
import type { DmarcCount } from '../../../../src/store/feedback/own-reports.js';
import test from '../../../support/test.js';

const HEAD = {
  organization: 'example.test',
  email: 'postmaster@example.test',
  reportId: '5bd8',
  begin: 1_795_824_000,
  end: 1_795_910_399,
  policy: { domain: 'peer.test', adkim: 'r', aspf: 's', p: 'reject', sp: 'none' },
} as const;

const COUNTS: readonly DmarcCount[] = [
  {
    domain: 'peer.test',
    day: '2026-11-28',
    messages: 3,
    result: {
      source: '192.0.2.1',
      disposition: 'none',
      dkim: true,
      spf: false,
      author: 'sub.peer.test',
      results: [
        { method: 'dkim', domain: 'peer.test', selector: 'a&b<c>]]>\u0000', result: 'pass' },
        { method: 'spf', domain: 'list.test', result: 'softfail' },
      ],
    },
  },
  {
    domain: 'peer.test',
    day: '2026-11-28',
    messages: 1,
    result: {
      source: '2001:db8::1',
      disposition: 'reject',
      dkim: false,
      spf: false,
      author: 'peer.test',
      results: [{ method: 'spf', domain: 'helo.test', result: 'none', isHelo: true }],
    },
  },
];

/** Prints the tree as nested lists of names and texts. */
const TREE = `import sys, json, xml.etree.ElementTree as E
def tree(e): return [e.tag, [tree(c) for c in e] if len(e) else (e.text or '')]
print(json.dumps(tree(E.fromstring(sys.stdin.buffer.read()))))`;

test('the elements are those of RFC 7489 appendix C, in their order', (t) => {
  const xml = writeDmarcXml(HEAD, COUNTS);
  const tree = JSON.parse(execFileSync('python3', ['-c', TREE], { input: xml, encoding: 'utf8' }));
  const row = (source: string, count: string, disposition: string, dkim: string) => [
    'row',
    [
      ['source_ip', source],
      ['count', count],
      [
        'policy_evaluated',
        [
          ['disposition', disposition],
          ['dkim', dkim],
          ['spf', 'fail'],
        ],
      ],
    ],
  ];
  const identifiers = (from: string, author: string) => [
    'identifiers',
    [
      ['envelope_from', from],
      ['header_from', author],
    ],
  ];
  const dkim = [
    'dkim',
    [
      ['domain', 'peer.test'],
      ['selector', 'a&b<c>]]>?'],
      ['result', 'pass'],
    ],
  ];
  const spf = (domain: string, scope: string, result: string) => [
    'spf',
    [
      ['domain', domain],
      ['scope', scope],
      ['result', result],
    ],
  ];
  t.deepEqual(tree, [
    'feedback',
    [
      ['version', '1.0'],
      [
        'report_metadata',
        [
          ['org_name', 'example.test'],
          ['email', 'postmaster@example.test'],
          ['report_id', '5bd8'],
          [
            'date_range',
            [
              ['begin', '1795824000'],
              ['end', '1795910399'],
            ],
          ],
        ],
      ],
      [
        'policy_published',
        [
          ['domain', 'peer.test'],
          ['adkim', 'r'],
          ['aspf', 's'],
          ['p', 'reject'],
          ['sp', 'none'],
          ['pct', '100'],
          ['fo', '0'],
        ],
      ],
      [
        'record',
        [
          row('192.0.2.1', '3', 'none', 'pass'),
          identifiers('list.test', 'sub.peer.test'),
          ['auth_results', [dkim, spf('list.test', 'mfrom', 'softfail')]],
        ],
      ],
      [
        'record',
        [
          row('2001:db8::1', '1', 'reject', 'fail'),
          identifiers('', 'peer.test'),
          ['auth_results', [spf('helo.test', 'helo', 'none')]],
        ],
      ],
    ],
  ]);
});

test('the own reader reads the report back', async (t) => {
  t.deepEqual(await readDmarcXml(Buffer.from(writeDmarcXml(HEAD, COUNTS))), {
    kind: 'dmarc',
    domain: 'peer.test',
    organization: 'example.test',
    reportId: '5bd8',
    begin: 1_795_824_000_000,
    sums: [
      { source: '192.0.2.1', dkim: true, spf: false, disposition: 'none', messages: 3 },
      { source: '2001:db8::1', dkim: false, spf: false, disposition: 'reject', messages: 1 },
    ],
  });
});
