import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { freePort, preferPort } from '../../../src/dev/free-port.js';
import { assertPortFree, isPortInUse } from '../../../src/dev/port-in-use.js';

describe.each(['127.0.0.1', '0.0.0.0'])('a port that is taken on %s', (host) => {
  let port: number;
  const server = createServer();
  beforeEach(async () => {
    port = await freePort();
    await new Promise<void>((resolve) => server.listen(port, host, resolve));
  });
  afterEach(async () => {
    await new Promise((resolve) => server.close(resolve));
  });

  it('is named, with the command that helps', async () => {
    await expect(assertPortFree(port)).rejects.toThrow(new RegExp(`Port ${port} .*PORT=3000 npm start`));
  });

  it('is free when its last program lets go of it, a moment later', async () => {
    const free = assertPortFree(port);
    // The first look finds it taken: this one was made before, and is slower.
    expect(await isPortInUse(port)).toBe(true);
    server.close();
    await free;
  });

  it('is not preferred', async () => {
    expect(await preferPort(port)).not.toBe(port);
    expect(await isPortInUse(port)).toBe(true);
  });
});

it('free ports are different ones, and below those that connections get', async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, freePort));
  expect(new Set(ports).size).toBe(20);
  expect(Math.max(...ports)).toBeLessThan(32_768);
});
