import { createServer } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { DetachedProcess, ExitStatus } from '../../../src/dev/detached-process.js';
import { freePort } from '../../../src/dev/free-port.js';
import { becomesReady } from '../../../src/dev/service.js';

const neverExits: DetachedProcess = {
  identity: { pid: 1, mark: 'a service' },
  exited: new Promise<ExitStatus>(() => undefined),
  exitStatus: undefined,
  stop: () => new Promise<ExitStatus>(() => undefined),
};

describe('a service that was started', () => {
  let port: number;
  let asked: string[];
  let says: () => number;
  const server = createServer(({ url }, response) => {
    asked.push(url ?? '');
    response.writeHead(says()).end('{}');
  });
  const listen = (): Promise<void> => new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));

  beforeEach(async () => {
    port = await freePort();
    asked = [];
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const becomes = (service = neverExits) => becomesReady(service, `http://127.0.0.1:${port}`);

  it('is not ready as long as it answers that it is not', async () => {
    const answers = [503, 404, 500, 200];
    says = () => answers[asked.length - 1] ?? 200;
    await listen();
    expect(await becomes()).toBe(true);
    expect(asked).toEqual(answers.map(() => '/health/ready'));
  });

  it('is waited for while it does not listen yet', async () => {
    says = () => 200;
    const ready = becomes();
    await listen();
    expect(await ready).toBe(true);
  });

  it('is not ready, and not waited for, when it has ended', async () => {
    let looks = 0;
    says = () => (asked.length > 3 ? 200 : 503);
    await listen();
    const endsSoon: DetachedProcess = {
      ...neverExits,
      get exitStatus() {
        return looks++ < 2 ? undefined : { code: 78, signal: null };
      },
    };
    expect(await becomes(endsSoon)).toBe(false);
    expect(asked).toHaveLength(2);
  });
});
