import { describe, expect, it } from '@jest/globals';
import { parseTime } from '../../../src/kernel/time.js';

describe('a time', () => {
  it.each([
    ['2030-01-01T00:00:00Z', '2030-01-01T00:00:00.000Z'],
    ['2030-01-01T00:30:59.123456+01:00', '2029-12-31T23:30:59.123Z'],
    ['2028-02-29T23:59:59-23:59', '2028-03-01T23:58:59.000Z'],
    ['2030-01-01', '2030-01-01T00:00:00.000Z'],
  ])('%s is %s, in every zone of a machine', (text, time) => {
    expect(parseTime(text)).toEqual(new Date(time));
  });

  it.each([
    ['without a zone', '2030-01-01T00:00:00'],
    ['without seconds', '2030-01-01T00:00Z'],
    ['with a date that is none', '2030-02-30T00:00:00Z'],
    ['with a month that is none', '2030-13-01T00:00:00Z'],
    ['with an hour that is none', '2030-01-01T24:00:00Z'],
    ['with a sign before the year', '-2000-01-01'],
    ['with a year of six digits', '+002030-01-01T00:00:00Z'],
    ['with another sign between date and time', '2030-01-01 00:00:00Z'],
    ['with something behind it', '2030-01-01T00:00:00Z\n'],
    ['in other words', 'tomorrow'],
  ])('%s is none', (_words, text) => {
    expect(() => parseTime(text)).toThrow(expect.objectContaining({ code: 'invalid_time' }));
  });
});
