// Reads an invitation (RFC 5545, RFC 5546) from text/calendar, and writes the answer to one. ical.js parses and knows the zones that the
// text defines; zones that it only names are the browser's. Text of any length and depth gives an invitation or none.
import ICAL from 'ical.js';

export type Answer = 'ACCEPTED' | 'TENTATIVE' | 'DECLINED';

export interface Person {
  readonly address: string;
  readonly name: string;
}

export interface Attendee extends Person {
  /** The PARTSTAT parameter, such as NEEDS-ACTION or ACCEPTED. */
  readonly status: string;
}

/** A whole day has no zone: `at` is its midnight where the reader is. */
interface EventTime {
  readonly at: Date;
  readonly isDay: boolean;
}

export interface Invitation {
  /** Such as REQUEST, CANCEL, REPLY or PUBLISH. */
  readonly method: string;
  readonly uid: string;
  readonly summary: string;
  readonly location: string;
  readonly start: EventTime | undefined;
  /** The end of a day is the last day itself. */
  readonly end: EventTime | undefined;
  readonly organizer: Person | undefined;
  readonly attendees: readonly Attendee[];
  readonly isRecurring: boolean;
}

const MOST_CHARACTERS = 1_000_000;
const MOST_ATTENDEES = 200;
const LONGEST_TEXT = 500;

/** Returns undefined for text that has no event. Never throws. */
export function readInvitation(text: string): Invitation | undefined {
  const calendar = parsedCalendar(text);
  const event = eventOf(calendar);
  if (calendar === undefined || event === undefined) return undefined;
  return {
    method: textOf(calendar, 'method').toUpperCase() || 'PUBLISH',
    uid: textOf(event, 'uid'),
    summary: textOf(event, 'summary'),
    location: textOf(event, 'location'),
    start: startOf(event),
    end: endOf(event),
    organizer: personOf(event.getFirstProperty('organizer')),
    attendees: attendeesOf(event),
    isRecurring: event.hasProperty('rrule') || event.hasProperty('rdate'),
  };
}

/** The answer of one attendee, as text/calendar with the method REPLY; undefined when the text invites nobody. */
export function answerText(text: string, attendee: Person, answer: Answer, now: Date): string | undefined {
  const event = eventOf(parsedCalendar(text));
  const organizer = event?.getFirstProperty('organizer');
  if (event === undefined || organizer == null) return undefined;
  const reply = new ICAL.Component('vcalendar');
  reply.updatePropertyWithValue('prodid', '-//Mansio//Web mail//EN');
  reply.updatePropertyWithValue('version', '2.0');
  reply.updatePropertyWithValue('method', 'REPLY');
  const answered = new ICAL.Component('vevent');
  // RFC 5546 §3.2.3: what names the event, and the attendee who answers.
  for (const name of ['uid', 'recurrence-id', 'sequence', 'organizer', 'summary', 'dtstart', 'dtend', 'duration']) {
    const property = event.getFirstProperty(name);
    if (property !== null) answered.addProperty(ICAL.Property.fromString(property.toICALString()));
  }
  for (const zone of event.parent?.getAllSubcomponents('vtimezone') ?? []) {
    reply.addSubcomponent(ICAL.Component.fromString(zone.toString()));
  }
  answered.updatePropertyWithValue('dtstamp', ICAL.Time.fromJSDate(now, true));
  const who = new ICAL.Property('attendee');
  who.setValue(`mailto:${attendee.address}`);
  if (attendee.name !== '') who.setParameter('cn', attendee.name);
  who.setParameter('partstat', answer);
  answered.addProperty(who);
  reply.addSubcomponent(answered);
  return `${reply.toString()}\r\n`;
}

function parsedCalendar(text: string): ICAL.Component | undefined {
  if (text.length > MOST_CHARACTERS) return undefined;
  try {
    const root: unknown = ICAL.parse(text);
    const calendar = new ICAL.Component(root as ConstructorParameters<typeof ICAL.Component>[0]);
    return calendar.name === 'vcalendar' ? calendar : undefined;
  } catch {
    return undefined;
  }
}

/** The event itself rather than a changed occurrence. */
function eventOf(calendar: ICAL.Component | undefined): ICAL.Component | undefined {
  const events = calendar?.getAllSubcomponents('vevent') ?? [];
  return events.find((event) => !event.hasProperty('recurrence-id')) ?? events[0];
}

function textOf(component: ICAL.Component, name: string): string {
  const value = component.getFirstPropertyValue(name);
  return typeof value === 'string' ? value.slice(0, LONGEST_TEXT).trim() : '';
}

function startOf(event: ICAL.Component): EventTime | undefined {
  return timeOf(event.getFirstProperty('dtstart'));
}

function endOf(event: ICAL.Component): EventTime | undefined {
  const end = timeOf(event.getFirstProperty('dtend'));
  // The end of days is the day after the last one.
  if (end?.isDay) return { ...end, at: new Date(end.at.getFullYear(), end.at.getMonth(), end.at.getDate() - 1) };
  if (end !== undefined) return end;
  const start = startOf(event);
  const duration = event.getFirstPropertyValue('duration');
  if (start === undefined || start.isDay || !(duration instanceof ICAL.Duration)) return undefined;
  return dated(start.at.getTime() + duration.toSeconds() * 1000);
}

function timeOf(property: ICAL.Property | null): EventTime | undefined {
  const time = property?.getFirstValue();
  if (!(time instanceof ICAL.Time)) return undefined;
  const { year, month, day, hour, minute, second } = time;
  if (time.isDate) return dated(new Date(year, month - 1, day).getTime(), true);
  const zone = String(property?.getFirstParameter('tzid') ?? '');
  if (time.zone !== ICAL.Timezone.localTimezone) return dated(time.toUnixTime() * 1000);
  const wall = Date.UTC(year, month - 1, day, hour, minute, second);
  return dated(zoned(wall, zone) ?? new Date(year, month - 1, day, hour, minute, second).getTime());
}

function dated(milliseconds: number, isDay = false): EventTime | undefined {
  const at = new Date(milliseconds);
  return Number.isNaN(at.getTime()) ? undefined : { at, isDay };
}

/** The moment at which the clocks of a named zone show `wall`; undefined for a zone that the browser does not know. */
function zoned(wall: number, zone: string): number | undefined {
  if (zone === '') return undefined;
  try {
    const first = wall - offset(wall, zone);
    return wall - offset(first, zone);
  } catch {
    return undefined;
  }
}

/** How far the clocks of a zone are ahead of UTC. @throws RangeError for an unknown zone */
function offset(at: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000;
}

function personOf(property: ICAL.Property | null): Person | undefined {
  const value = property?.getFirstValue();
  const [, address] = /^mailto:([^\s<>"]+@[^\s<>"]+)$/i.exec(typeof value === 'string' ? value : '') ?? [];
  if (property == null || address === undefined) return undefined;
  return { address, name: String(property.getFirstParameter('cn') ?? '').slice(0, LONGEST_TEXT) };
}

function attendeesOf(event: ICAL.Component): Attendee[] {
  return event
    .getAllProperties('attendee')
    .slice(0, MOST_ATTENDEES)
    .flatMap((property) => {
      const person = personOf(property);
      const status = String(property.getFirstParameter('partstat') ?? 'NEEDS-ACTION').toUpperCase();
      return person === undefined ? [] : [{ ...person, status }];
    });
}
