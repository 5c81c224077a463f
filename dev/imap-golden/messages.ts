// Holds messages written by hand, whose structure, envelopes and sections are compared with Dovecot's. One character is one octet.

const crlf = (text: string) => text.replaceAll('\n', '\r\n');

export const GOLDEN_MESSAGES: Readonly<Record<string, string>> = {
  plain: crlf(`From: Ada <ada@example.test>
To: bob@example.test, "Carol, C." <carol@example.test>
Subject: plain
Date: Sat, 21 Nov 2026 13:10:19 +0100
Message-ID: <1@example.test>

one
two
`),

  'plain without an end of the last line': crlf('Subject: x\nContent-Type: text/plain; charset=utf-8\n\none\ntwo'),

  'empty body': crlf('Subject: empty\nFrom: a@b.test\n\n'),

  'header that an empty line does not end': crlf('Subject: only a header\nFrom: a@b.test\n'),

  'every address': crlf(`From: "Ada \\"L\\" Lovelace" <ada@example.test>
Sender: (a comment) secretary@example.test (The Secretary)
Reply-To: J. R. Doe <doe@example.test>
To: A Group: Ed <ed@x.test>, joe@y.test;, z@z.test
Cc: undisclosed-recipients:;
Bcc: <@one.test,@two.test:a@b.test>, "john doe"@b.test, a.b@[192.0.2.1]
Subject: =?utf-8?q?caf=C3=A9?=
	=?utf-8?q?_au_lait?=
In-Reply-To: <1@example.test> <2@example.test>
Message-ID: <3@example.test>
Date: Sat, 21 Nov 2026 13:10:19 +0100 (CET)

text
`),

  'fields that stand twice or are empty': crlf(`From: first@example.test
From: second@example.test
To: one@example.test
To: two@example.test
Subject:
Subject: second
Sender:
Date:  Sat, 21 Nov 2026 13:10:19 +0100${'  '}
Message-ID: <1@x>

text
`),

  'alternative within mixed': crlf(`Subject: nested
Content-Type: multipart/mixed; boundary="out er"
MIME-Version: 1.0

preamble
--out er
Content-Type: multipart/alternative; boundary=inner

--inner
Content-Type: text/plain; charset=utf-8; format=flowed

plain text
second line

--inner
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: quoted-printable

<p>caf=C3=A9</p>=
<p>end</p>
--inner--
after inner
--out er
Content-Type: application/pdf; name="a \\"b\\".pdf"
Content-Transfer-Encoding: base64
Content-Disposition: attachment; filename="a b.pdf"; size=3
Content-ID: <part@example.test>
Content-Description: a document
Content-Language: de, en
Content-Location: http://example.test/a

AAECAwQF
BgcICQ==

--out er--
epilogue
`),

  'message within mixed': crlf(`Subject: outer
From: outer@example.test
Content-Type: multipart/mixed; boundary=b

--b

the text
--b
Content-Type: message/rfc822
Content-Disposition: inline

From: inner@example.test
To: =?utf-8?q?J=C3=B6rg?= <joerg@example.test>
Subject: inner
Content-Type: multipart/mixed; boundary=c

--c
X-Part: yes

deep text
--c
Content-Type: message/rfc822

Subject: deepest

the end
--c--
--b--
`),

  'message that is a message': crlf(`Subject: outer
Content-Type: message/rfc822

Subject: inner
From: a@b.test

text
`),

  digest: crlf(`Subject: digest
Content-Type: multipart/digest; boundary=d

--d

From: one@example.test
Subject: first

first text

--d

From: two@example.test
Subject: second
Content-Type: text/html

<p>second</p>
--d
Content-Type: text/plain

not a message
--d--
`),

  'multipart that is not closed': crlf(`Content-Type: multipart/mixed; boundary=b

--b

one
--b
Content-Type: text/html

two
`),

  'inner multipart that the outer one ends': crlf(`Content-Type: multipart/mixed; boundary=out

--out
Content-Type: multipart/alternative; boundary=in

--in

one
--out

two
--out--
`),

  'empty parts': crlf(`Content-Type: multipart/mixed; boundary=b

--b

--b
Content-Type: text/plain

--b
--b

--b--
`),

  'eight bits': crlf(`From: J\xf6rg <joerg@example.test>
To: caf\xc3\xa9 <cafe@example.test>
Subject: caf\xc3\xa9
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: 8bit

caf\xe9
`),

  binary: crlf(`Content-Type: multipart/mixed; boundary=b

--b
Content-Type: application/octet-stream
Content-Transfer-Encoding: binary

\x01\x02\xff\x80 octets
--b
Content-Type: text/plain; charset=us-ascii
Content-Transfer-Encoding: base64

b25lCnR3bwo=
--b
Content-Type: text/plain
Content-Transfer-Encoding: quoted-printable

one=20
two=3D=
three
--b
Content-Type: application/octet-stream
Content-Transfer-Encoding: base64

AAEA
--b--
`),

  'fields in odd forms': crlf(`FROM : spaced@example.test
to:nospace@example.test
X-Folded: one
	two
 three
subject: Lower
CONTENT-TYPE: TEXT/PLAIN; CHARSET=US-ASCII
To-Be: or not

body
From: not a field
`),

  'delivery report': crlf(`Content-Type: multipart/report; report-type=delivery-status; boundary=r

--r
Content-Type: text/plain; charset=utf-8

It failed.

--r
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.example.test

Final-Recipient: rfc822; a@b.test
Action: failed

--r
Content-Type: text/rfc822-headers

Subject: what failed

--r--
`),

  'boundary that begins like another': crlf(`Content-Type: multipart/mixed; boundary=b

--b
Content-Type: multipart/mixed; boundary=bb

--bb

inner
--bb--

--b

--bx is text
--b--
`),

  'multipart without parts': crlf('Content-Type: multipart/mixed; boundary=b\n\nno parts\n'),
  'multipart without a boundary': crlf('Content-Type: multipart/mixed\n\n--b\n\ntext\n--b--\n'),
  'malformed content type': crlf('Content-Type: text\n\nwords\n'),
  'parameters beyond ASCII': crlf(`Content-Type: application/pdf; name*=utf-8''gr%C3%BC%C3%9Fe.pdf
Content-Disposition: attachment;
 filename*0*=utf-8''gr%C3%BC;
 filename*1=ne.pdf

x
`),
  'lines that end in LF': 'Subject: unix\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\none\ntwo\n--b--\n',
};
