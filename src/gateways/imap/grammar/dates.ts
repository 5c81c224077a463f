// Dates in the syntax of clients (RFC 9051 §9: `date-time`, `date`).
import type { CommandReader } from '../wire/command-reader.js';

export interface CalendarDay {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const DATE_TIME = /^( \d|\d{1,2})-([A-Za-z]{3})-(\d{4}) (\d\d):(\d\d):(\d\d) ([+-])(\d\d)(\d\d)$/;
const DATE = /^(\d{1,2})-([A-Za-z]{3})-(\d{4})$/;

/** The range that INTERNALDATE can show, in UTC: years of four digits. */
const EARLIEST = startOf({ year: 0, month: 1, day: 1 });
const LATEST = startOf({ year: 10_000, month: 1, day: 1 }) - 1000;

/** `date-time` in ms since the epoch. A time whose zone moves it out of the range becomes the nearest one within. */
export function dateTime(reader: CommandReader): number {
  if (!reader.isNext('"')) throw reader.fault('expected a date and time in quotes');
  const [, dayText, monthText, yearText, hours, minutes, seconds, sign, zoneHours, zoneMinutes] =
    DATE_TIME.exec(reader.string()) ?? [];
  const day = calendarDayOf(yearText, monthText, dayText);
  const [hour, minute, second, zoneHour, zoneMinute] = [hours, minutes, seconds, zoneHours, zoneMinutes].map(Number);
  // A leap second counts as the next second.
  const isTime = hour! < 24 && minute! < 60 && second! <= 60 && zoneHour! < 24 && zoneMinute! < 60;
  if (day === undefined || !isTime) throw reader.fault('expected a date and time such as "17-Jul-1996 02:44:25 -0700"');
  const zone = (zoneHour! * 60 + zoneMinute!) * (sign === '-' ? -1 : 1);
  const time = startOf(day) + ((hour! * 60 + minute! - zone) * 60 + second!) * 1000;
  return Math.min(Math.max(time, EARLIEST), LATEST);
}

/** `date`, with or without quotes. */
export function calendarDay(reader: CommandReader): CalendarDay {
  const text = reader.isNext('"') ? reader.string() : reader.atom();
  const [, dayText, monthText, yearText] = DATE.exec(text) ?? [];
  const day = calendarDayOf(yearText, monthText, dayText);
  if (day === undefined) throw reader.fault('expected a date such as 17-Jul-1996');
  return day;
}

function calendarDayOf(year = '', monthText = '', dayText = ''): CalendarDay | undefined {
  const day = { year: Number(year), month: MONTHS.indexOf(monthText.toUpperCase()) + 1, day: Number(dayText) };
  const date = new Date(startOf(day));
  return date.getUTCMonth() + 1 === day.month && date.getUTCDate() === day.day ? day : undefined;
}

/** The start of the day in UTC, in ms since the epoch. Date.UTC would move years below 100 into the twentieth century. */
export function startOf({ year, month, day }: CalendarDay): number {
  return new Date(0).setUTCFullYear(year, month - 1, day);
}
