import { createSocket, type Socket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { byServers, DnsResolver } from '../../../src/modules/webhooks/infrastructure/guard/name-resolver.js';

const A = 1;
const AAAA = 28;
const NOT_FOUND = 3;

/** What the name server says to a type of question: the bytes of an address, the code of an error, or nothing at all. */
type Says = readonly number[] | number | null;

let server: Socket;
let resolver: Resolver;
let says: Readonly<Record<number, Says>>;

beforeEach(async () => {
  server = createSocket('udp4').bind(0, '127.0.0.1');
  await once(server, 'listening');
  server.on('message', (query, { port, address }) => {
    const answer = answerTo(query);
    if (answer !== null) server.send(answer, port, address);
  });
  resolver = new Resolver({ timeout: 1_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${server.address().port}`]);
});

afterEach(() => void server.close());

/** A DNS message (RFC 1035) that repeats the question and has at most one address. */
function answerTo(query: Buffer): Buffer | null {
  const endOfName = query.indexOf(0, 12) + 1;
  const said = says[query.readUInt16BE(endOfName)];
  if (said === null || said === undefined) return null;
  const question = query.subarray(12, endOfName + 4);
  const address = typeof said === 'number' ? [] : said;
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(0x8180 | (typeof said === 'number' ? said : 0), 2);
  header.writeUInt16BE(address.length === 0 ? 0 : 1, 6);
  header.writeUInt32BE(0, 8);
  if (address.length === 0) return Buffer.concat([header, question]);
  const type = address.length === 4 ? A : AAAA;
  const record = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, address.length, ...address]);
  return Buffer.concat([header, question, record]);
}

const IPV6 = [0x26, 0x06, ...Array<number>(13).fill(0), 1];

describe('a name', () => {
  it('has the addresses of both families, IPv6 first', async () => {
    says = { [A]: [8, 8, 8, 8], [AAAA]: IPV6 };
    expect(await byServers('hooks.example', resolver)).toEqual(['2606::1', '8.8.8.8']);
  });

  it.each<[string, Says]>([
    ['has no address of the other', []],
    ['does not know the name for the other', NOT_FOUND],
    ['says nothing about the other', null],
  ])('has the addresses of one family when the name server %s', async (_what, other) => {
    says = { [A]: [8, 8, 8, 8], [AAAA]: other };
    expect(await byServers('hooks.example', resolver)).toEqual(['8.8.8.8']);
    says = { [A]: other, [AAAA]: IPV6 };
    expect(await byServers('hooks.example', resolver)).toEqual(['2606::1']);
  });

  it.each<[Says, string]>([
    [[], 'hooks.example has no address'],
    [NOT_FOUND, 'hooks.example has no address'],
    [2, 'hooks.example could not be looked up (ESERVFAIL)'],
    [null, 'hooks.example could not be looked up (ETIMEOUT)'],
  ])('of which the name server says %j gives an error', async (both, words) => {
    says = { [A]: both, [AAAA]: both };
    await expect(byServers('hooks.example', resolver)).rejects.toThrow(words);
  });
});

describe('a name of webhooks.allow', () => {
  it('is looked up as the system does it', async () => {
    expect(await new DnsResolver().addressesOf('localhost', true)).toContain('127.0.0.1');
  });

  it('that is longer than names can be has no address', async () => {
    await expect(new DnsResolver().addressesOf('x'.repeat(300), true)).rejects.toThrow(/^x{300} /);
  });
});
