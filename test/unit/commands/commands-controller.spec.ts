import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { SubmitCommand } from '../../../src/modules/commands/application/submit-command.js';
import { CommandStore, type TxCommand } from '../../../src/modules/commands/domain/tx-command.js';
import { CommandScheduler } from '../../../src/modules/commands/infrastructure/command-scheduler.js';
import { AnswerCommand } from '../../../src/modules/commands/infrastructure/http/answer-command.js';
import { CommandsController } from '../../../src/modules/commands/infrastructure/http/commands.controller.js';
import { TxQueries } from '../../../src/modules/ledger/index.js';
import { IntakeRules, ProveBlobs, SignerRate, WaitForState } from '../../../src/modules/requests/index.js';
import { aCommand, aSigner } from '../../support/builders.js';
import { txIdOf } from '../../support/stored-rows.js';
import { type HttpApp, send, startHttpApp } from '../platform/http-app.js';

const COUNT = 1_203;
const TX_ID = txIdOf(1);
const idOf = (n: number): string => txIdOf(10_000 + n);
const all = Array.from({ length: COUNT }, (_, n) => aCommand({ commandId: idOf(n), txId: TX_ID, status: 'DONE' }));
const newest = aCommand({ commandId: idOf(COUNT - 1), txId: TX_ID, status: 'QUEUED' });

let http: HttpApp;

beforeAll(async () => {
  const store = {
    get: async (id: string) => all.find(({ commandId }) => commandId === id) ?? null,
    ofTx: async (_txId: string, after: string | null, limit: number) =>
      all.filter(({ commandId }) => after === null || commandId > after).slice(0, limit),
  };
  const nothing = { execute: async () => undefined, assertAcceptable: () => undefined, wake: () => undefined };
  const providers = [
    AnswerCommand,
    {
      provide: SubmitCommand,
      useValue: { execute: async () => ({ command: newest, isNew: true }), isStored: async () => false },
    },
    { provide: CommandStore, useValue: store },
    {
      provide: TxQueries,
      useValue: {
        find: async (txId: string) => ({ txId, chainId: aSigner().chainId, signer: aSigner().address, payload: {} }),
      },
    },
    { provide: SignerRate, useValue: { take: async () => undefined } },
    ...[CommandScheduler, WaitForState, IntakeRules, ProveBlobs].map((provide) => ({
      provide,
      useValue: nothing,
    })),
  ];
  http = await startHttpApp({ controllers: [CommandsController], providers });
});
afterAll(() => http.app.close());

interface Body {
  readonly items: readonly TxCommand[];
  readonly nextCursor: string | null;
  readonly status: string;
}

async function answerTo(method: 'GET' | 'POST', rest: string): Promise<{ status: number; body: Body }> {
  const payload = method === 'POST' ? { payload: {} } : {};
  const { status, text } = await send(http.port, { method, url: `/api/v1/tx/${TX_ID}/${rest}`, ...payload });
  return { status, body: JSON.parse(text) as Body };
}

it('commands of a transaction come in pages up to the newest, and nothing is left out', async () => {
  const ids: string[] = [];
  for (let rest: string | null = 'commands?limit=200'; rest !== null;) {
    const { body } = await answerTo('GET', rest);
    ids.push(...body.items.map(({ commandId }) => commandId));
    rest = body.nextCursor && `commands?limit=200&cursor=${body.nextCursor}`;
  }
  expect(ids).toEqual(all.map(({ commandId }) => commandId));
  expect(await answerTo('GET', 'commands?cursor=x')).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } });
});

it('after a wait the answer shows what has become of the command, however many there are', async () => {
  expect((await answerTo('POST', 'cancel?waitFor=CANCELLED')).body).toMatchObject({
    commandId: newest.commandId,
    status: 'DONE',
  });
  expect((await answerTo('POST', 'cancel')).body.status).toBe('QUEUED');
});
