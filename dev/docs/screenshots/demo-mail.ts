// The mail of the screenshots: what an inbox of a zoo could have. Times are counted back from the run, so that lists show times and days.

export interface DemoMail {
  readonly from: string;
  readonly subject: string;
  readonly minutesAgo: number;
  readonly text: string;
  readonly html?: string;
  readonly label?: string;
  readonly isRead?: boolean;
  readonly isFlagged?: boolean;
  readonly file?: { readonly filename: string; readonly content: string };
}

export const ME = 'Zoë Ünal <zoe@example.test>';

export const LABELS = [
  { name: 'Zoo', color: '#268540' },
  { name: 'Invoices', color: '#c05a10' },
  { name: 'Family', color: '#7d66d9' },
] as const;

const HOUR = 60;
const DAY = 24 * HOUR;

const OPENING = `<body style="margin:0;font:15px/1.5 sans-serif;color:#26332b;background:#ffffff">
<table width="100%" cellpadding="0" cellspacing="0"><tr><td style="background:#1f6f4a;color:#ffffff;padding:28px 32px">
<div style="font-size:13px;letter-spacing:1px">KÖHLER ZOO · NEWS</div>
<h1 style="margin:6px 0 0;font-size:26px">The new otter bank opens on Sunday</h1></td></tr>
<tr><td style="padding:24px 32px"><p>Dear friends of the zoo,</p>
<p>after two years of work the otters move to their new bank: 340 metres of river, three caves, and a bridge from which one sees them
hunt. The feeding at <b>11:00</b> and <b>15:30</b> is shown from the water.</p>
<p><a href="https://koehler.test/otters" style="background:#1f6f4a;color:#ffffff;padding:10px 18px;border-radius:6px;text-decoration:none">Plan your visit</a></p>
<table cellpadding="8" style="border-collapse:collapse"><tr style="background:#eef5f0"><th align="left">Day</th><th align="left">Open</th>
<th align="left">Feeding</th></tr><tr><td>Saturday</td><td>09:00 – 18:00</td><td>11:00, 15:30</td></tr>
<tr style="background:#f6faf7"><td>Sunday</td><td>09:00 – 20:00</td><td>11:00, 13:00, 15:30</td></tr></table>
<p style="color:#5c6b62">With warm wishes<br>Mirjam Köhler and the team of the river house</p></td></tr></table></body>`;

export const INBOX: readonly DemoMail[] = [
  {
    from: 'Mirjam Köhler <mirjam@koehler.test>',
    subject: 'The new otter bank opens on Sunday',
    minutesAgo: 4,
    text: 'After two years of work the otters move to their new bank: 340 metres of river, three caves, and a bridge.',
    html: OPENING,
    label: 'Zoo',
  },
  {
    from: 'Jonas Berg <jonas@berg.test>',
    subject: 'Re: Feeding plan for December',
    minutesAgo: 18,
    text: 'The new plan is fine for the penguins. Could we move the seals to 14:00? The school classes come then.',
    label: 'Zoo',
  },
  {
    from: 'Ferrovia <tickets@ferrovia.test>',
    subject: 'Your ticket to Zürich HB, coach 12',
    minutesAgo: 52,
    text: 'Departure 07:32 from platform 9, seat 61 at the window. The ticket is attached.',
    file: { filename: 'ticket-zuerich.pdf', content: 'A ticket.' },
    isRead: true,
  },
  {
    from: 'Amal Haddad <amal@haddad.test>',
    subject: 'صور من الحديقة',
    minutesAgo: 2 * HOUR,
    text: 'مرحباً زوي، هذه صور الأمس من بيت الطيور. أخبريني أيها تعجبك أكثر.',
    label: 'Family',
    isFlagged: true,
    isRead: true,
  },
  {
    from: 'Steiner & Söhne <rechnung@steiner.test>',
    subject: 'Invoice 2026-1184: river stones, 12 t',
    minutesAgo: 4 * HOUR,
    text: 'Please find our invoice over 3,410.00 EUR attached. It is due within 30 days.',
    label: 'Invoices',
    file: { filename: 'invoice-2026-1184.pdf', content: 'An invoice.' },
  },
  {
    from: 'Priya Nair <priya@nair.test>',
    subject: 'Night walk: who comes along?',
    minutesAgo: 6 * HOUR,
    text: 'We meet at the north gate at 19:45. Bring a lamp with red light, the owls do not mind it.',
    isRead: true,
  },
  {
    from: 'Library of the old town <library@oldtown.test>',
    subject: 'Two books are waiting for you',
    minutesAgo: DAY,
    text: 'The Secret Life of Otters, and Rivers of the North. They are kept for seven days.',
    isRead: true,
  },
  {
    from: 'Tomáš Dvořák <tomas@dvorak.test>',
    subject: 'Drawings of the bridge, third version',
    minutesAgo: DAY + 3 * HOUR,
    text: 'The railing is 20 cm higher now, and the glass begins at 60 cm, so that children see the water.',
    label: 'Zoo',
    file: { filename: 'bridge-v3.pdf', content: 'A drawing.' },
    isFlagged: true,
    isRead: true,
  },
  {
    from: 'Grandma <edith@family.test>',
    subject: 'Sunday lunch',
    minutesAgo: 2 * DAY,
    text: 'There will be plum cake. Come at noon, and bring the little one.',
    label: 'Family',
    isRead: true,
  },
  {
    from: 'City of Lindau <parks@lindau.test>',
    subject: 'Permit for the river works: granted',
    minutesAgo: 3 * DAY,
    text: 'The permit of 12 October is granted under the conditions of the enclosed notice.',
    isRead: true,
  },
  {
    from: 'Kofi Mensah <kofi@mensah.test>',
    subject: 'Veterinary report, week 47',
    minutesAgo: 4 * DAY,
    text: 'All animals of the river house are well. Otter Nelly has gained 300 g, as she should.',
    label: 'Zoo',
    isRead: true,
  },
];
