// Tests the compiler of Sieve scripts: what it accepts, and the line and column of each fault.
import { compileSieve, SIEVE_EXTENSIONS } from '../../../src/mail-format/sieve/index.js';
import test from '../../support/test.js';

/** The faults as `line:column message`. */
function faultsOf(text: string): string[] {
  const compiled = compileSieve(text);
  return 'faults' in compiled ? compiled.faults.map(({ line, column, message }) => `${line}:${column} ${message}`) : [];
}

test('a script of each command and test compiles', (t) => {
  const script = `require ${JSON.stringify(SIEVE_EXTENSIONS)};
    # a comment
    if allof (header :contains ["Subject", "X-Topic"] "sieve", not exists "X-Spam", size :over 1M) { /* another */
      fileinto :copy :create :flags ["\\\\Seen", "work"] "Lists/Sieve";
    } elsif anyof (address :user :comparator "i;octet" "to" "me", envelope :detail "to" "tag", true, false) {
      setflag "\\\\Flagged"; addflag "mine" "a b"; removeflag "x"; keep :flags "\\\\Seen";
    } else { discard; stop; }
    if body :content "text" :contains "offer" { redirect :copy "someone@example.org"; }
    if header :index 1 :last :matches "received" "*from *" { set :lower :length "place" "\${2}"; }
    if date :zone "+0100" :value "ge" "date" "date" "2026-01-01" { keep; }
    if currentdate :count "eq" "weekday" "1" { keep; }
    if mailboxexists "Archive" { fileinto :specialuse "\\\\Junk" "Spam"; }
    if specialuse_exists "\\\\Junk" { keep; }
    if duplicate :handle "x" :seconds 60 :last { discard; }
    if string :is "\${place}" "3" { addheader :last "X-Place" "\${place}"; deleteheader :index 1 "X-Old" "*"; }
    if hasflag :contains "work" { vacation :days 3 :addresses ["a@example.org"] :handle "h" text:
I am away.
..
.
; }
    global "shared"; include :personal :once :optional "other"; return;
    if false { reject "no"; ereject "no"; }
  `;
  t.deepEqual(faultsOf(script), []);
});

test('a fault names its line and column', (t) => {
  t.deepEqual(faultsOf('keep'), ['1:5 the script ends where ";" or a block after keep is expected']);
  t.deepEqual(faultsOf('keep;\r\n  if true { keep; '), ['2:19 the script ends where "}" or a command is expected']);
  t.deepEqual(faultsOf('# one\n/* two\nthree */ fileinto "x";'), ['3:10 fileinto needs require "fileinto"']);
  t.deepEqual(faultsOf('keep;\n"text'), ['2:1 the string has no closing quote']);
  t.deepEqual(faultsOf('require "fileinto";\nfileinto "a\nb" nothing;'), ['3:4 fileinto takes no test']);
  t.deepEqual(faultsOf('if size :over 99999999999999999999 { keep; }'), ['1:15 the number is too large']);
  t.deepEqual(faultsOf('require "fileinto";\nfileinto text:\nInbox\n'), [
    '2:10 the text has no closing line with a dot',
  ]);
});

test('a fault of one command does not hide those of the next', (t) => {
  const script =
    'require ["x", "fileinto"];\nkeeps;\nif header :is "Subject" { keep; }\nif true { discard 1; unknown; }\nelse { keep; }';
  t.deepEqual(faultsOf(script), [
    '1:10 the extension "x" is not supported',
    '2:1 there is no command keeps',
    '3:4 header takes 2 arguments behind its tags, not 1',
    '4:19 discard takes 0 arguments behind its tags, not 1',
    '4:22 there is no command unknown',
  ]);
  t.is(faultsOf('unknown;'.repeat(100)).length, 20);
});

test('what extensions add is a fault without their require', (t) => {
  const faulty = [
    'keep :flags "x";',
    'redirect :copy "a@example.org";',
    'if header :value "gt" "subject" "x" { keep; }',
    'if address :user "to" "x" { keep; }',
    'if header :comparator "i;ascii-numeric" "subject" "1" { keep; }',
    'if header :index 1 "subject" "1" { keep; }',
    'set "a" "b";',
    'vacation "x";',
    'reject "x";',
  ];
  for (const script of faulty) t.regex(faultsOf(script).join(), /needs require/, script);
  t.deepEqual(faultsOf('keep; require "copy";'), ['1:7 require stands before all other commands']);
});

test('what a command cannot take is a fault', (t) => {
  const faulty = [
    'if true, false { keep; }',
    'if anyof true { keep; }',
    'if header ["a b"] "x" { keep; }',
    'if address "subject" "x" { keep; }',
    'if header :is :contains "subject" "x" { keep; }',
    'if header :comparator "i;unicode" "subject" "x" { keep; }',
    'require "relational"; if header :value "above" "subject" "x" { keep; }',
    'require "date"; if currentdate "century" "x" { keep; }',
    'require "date"; if currentdate :zone "CET" "year" "x" { keep; }',
    'require "variables"; set "1a" "x";',
    `require "variables"; set "a" "\${other.b}";`,
    `require ["variables", "include"]; include "\${a}";`,
    'redirect "nobody";',
    'require "vacation"; vacation :from "nobody" "x";',
    'require "envelope"; if envelope "helo" "x" { keep; }',
    'require "editheader"; addheader "X Y" "x";',
    'require "editheader"; addheader "X" "a\nb";',
    'require "fileinto"; fileinto ["a", "b"];',
    'else { keep; }',
    'if size 5 { keep; }',
    'keep { stop; }',
    'if true;',
    'true;',
    'keep (true);',
    'if keep { stop; }',
    ':tag;',
    '@',
  ];
  for (const script of faulty) t.is(faultsOf(script).length, 1, script);
});

test('nesting and the number of commands are bounded', (t) => {
  t.regex(faultsOf(`${'if true {'.repeat(10_000)}`).join(), /nested deeper than 32/);
  t.regex(faultsOf(`if ${'not '.repeat(100_000)}true { keep; }`).join(), /nested deeper than 32/);
  t.regex(faultsOf('keep;'.repeat(20_000)).join(), /more than 10000 commands/);
});
