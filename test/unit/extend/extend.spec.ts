import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { configFrom, ConfigInvalid } from '../../../src/config/index.js';
import { CUSTODY_TYPES } from '../../../src/custody/custody-types.js';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import type { SignableKind } from '../../../src/kernel/signing.js';
import { FeedSink } from '../../../src/modules/broker/application/feed-sink.js';
import { classifyNodeError, errorPattern } from '../../../src/modules/chain/domain/node-error-table.js';
import { searchOf } from '../../../src/modules/chain/domain/node-errors/row.js';
import { EventReader } from '../../../src/modules/events/index.js';
import { CheckedCustody } from '../../../src/modules/signers/infrastructure/checked-custody.js';
import { SINK_TYPES } from '../../../src/sinks/sink-types.js';
import { aHash } from '../../support/builders.js';
import { custodyTools } from '../../support/dev-custody.js';
import { EmptyDatabase, startEmpty } from '../../support/empty-application.js';
import { aPublicEvent } from '../../support/public-events.js';
import { FeedLab } from '../broker/feed-lab.js';
import { ToyCustody } from './toy-custody.js';
import { CountEvents, ToyModule } from './toy-module.js';
import { ToyBroker } from './toy-sink.js';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const SECTIONS = new Map(
  read('docs/extend.md')
    .split(/^## /m)
    .slice(1)
    .map((text) => [text.slice(0, text.indexOf('\n')), text]),
);
const FILES = ['src', 'migrations']
  .flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
      path.posix.join(folder, file),
    ),
  )
  .filter((file) => /\.(ts|sql|txt)$/.test(file));

/** The files of a section: those that are new, and those that exist. */
function listOf(title: string): { readonly added: string[]; readonly changed: string[] } {
  const lines = [...(SECTIONS.get(title) ?? '').matchAll(/^- (\*\*new\*\* )?`([^`]+)`/gm)];
  const files = (isNew: boolean): string[] =>
    lines.filter(([, mark]) => (mark !== undefined) === isNew).map(([, , file = '']) => file);
  return { added: files(true), changed: files(false).sort() };
}

/** The files that say something of one that is there already, without its own. */
const saying = (words: RegExp, own: RegExp): string[] =>
  [...FILES, '.dependency-cruiser.cjs', 'lockstep.example.yaml']
    .filter((file) => !own.test(file) && words.test(read(file)))
    .sort();

/** What a file of this folder uses of the product. */
const usedBy = (toy: string): string[] =>
  [...read(`test/unit/extend/${toy}`).matchAll(/from '(?:\.\.\/)+(src\/[^']+)\.js'/g)]
    .map(([, file = '']) => file)
    .sort();

const CHAIN = { id: 1, rpcUrls: ['http://127.0.0.1:1'] };
const configWith = (sections: object) =>
  configFrom({ database: { url: 'postgres://nowhere' }, chains: [CHAIN], ...sections });

beforeAll(() => {
  CUSTODY_TYPES['toy'] = ToyCustody;
  SINK_TYPES['toy'] = ToyBroker;
});
afterAll(() => {
  delete CUSTODY_TYPES['toy'];
  delete SINK_TYPES['toy'];
});

it('every file that docs/extend.md lists exists, or is new in a folder that exists', () => {
  expect([...SECTIONS.keys()].length).toBe(5);
  for (const title of SECTIONS.keys()) {
    const { added, changed } = listOf(title);
    expect(changed.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
    expect(added.filter((file) => !existsSync(path.join(ROOT, file.slice(0, file.indexOf('<')))))).toEqual([]);
    expect(changed.length).toBeGreaterThan(0);
  }
});

describe('a new wording of a node error', () => {
  const message = 'the toy says that the coffers are empty';
  const error = { method: 'eth_sendRawTransaction', message };

  it('has a class by the config of a chain, or by a row', () => {
    expect(classifyNodeError(error)).toBe('unknown');
    const extraPatterns = [errorPattern('coffers are empty', 'insufficient_funds')];
    expect(classifyNodeError({ ...error, extraPatterns })).toBe('insufficient_funds');
    const row = { class: 'insufficient_funds', any: ['coffers are empty'] } as const;
    expect(searchOf([row])(error, message)).toBe('insufficient_funds');
  });

  it('needs no other file of the source, with a new class either', () => {
    const { changed } = listOf('A new wording of a node error');
    const naming = saying(/nonce_max_value/, /node-errors\//);
    expect(changed.filter((file) => /^src\/.*\.ts$/.test(file))).toEqual(naming);
  });
});

describe('a new custody', () => {
  const open = async () => {
    const signers = [{ type: 'toy', seed: 'a toy' }];
    const custody = await CheckedCustody.open(configWith({ chains: [{ ...CHAIN, signers }] }), custodyTools());
    const [only] = custody.signers();
    if (only === undefined) throw new Error('the toy has no key');
    return { custody, signer: only.signer };
  };
  const sign = ({ custody, signer }: { custody: CheckedCustody; signer: SignerId }, kind: SignableKind) =>
    custody.sign(signer, [{ kind, bytes: new Uint8Array(), digest: aHash(1) }]);

  it('signs what it says that it signs', async () => {
    expect(await sign(await open(), 2)).toHaveLength(1);
    await expect(sign(await open(), 4)).rejects.toMatchObject({ code: 'cannot_sign' });
  });

  it('is one file and the lines that the list has', () => {
    expect(saying(/PrivateKeyCustody|type: privateKey/, /custody\/private-key/)).toEqual(
      listOf('A new custody').changed,
    );
    const seams = ['src/config/config-fields', 'src/custody/custody-entry', 'src/kernel/hex'];
    expect(usedBy('toy-custody.ts')).toEqual(seams);
  });
});

describe('a new sink', () => {
  const brokerOf = (section: object) => configWith({ broker: { type: 'toy', ...section } }).broker;

  it('gets the events, and what it does not take is told by the feed', async () => {
    const lab = await new FeedLab().started(1, 1, 1);
    const sink = brokerOf({ topic: 'a', room: 2 })?.createSink(lab.metrics);
    if (sink === undefined) throw new Error('the broker is off');
    await new FeedSink(lab.claim, lab.reader, sink, lab.health).execute();
    expect(ToyBroker.topics.get('a')?.map(({ id }) => id)).toEqual(['7-1-0', '7-2-0']);
    expect(lab.cursor.place?.seq).toBe(2n);
    expect(lab.metrics.counted('broker_failures_total')).toEqual({ broker_refused: 1 });
  });

  it('has its own keys and those of each sink, and no others', () => {
    expect(brokerOf({ topic: 'a', startAt: 'beginning' })).toMatchObject({
      topic: 'a',
      startAt: 'beginning',
      room: 100,
    });
    for (const wrong of [{}, { topic: 'a', stream: 'A' }, { topic: 'a', room: 0 }])
      expect(() => brokerOf(wrong)).toThrow(ConfigInvalid);
  });

  it('that is off may have its keys beside those of another one', () => {
    expect(configWith({ broker: { topic: 'a', stream: 'A' } }).broker).toBeUndefined();
    expect(() => configWith({ broker: { topic: 'a', stream: 'A.1' } })).toThrow(ConfigInvalid);
  });

  it('is one file and the lines that the list has', () => {
    expect(saying(/nats/i, /sinks\/nats\//)).toEqual(listOf('A new sink').changed);
    expect(usedBy('toy-sink.ts')).toEqual(['src/config/config-fields', 'src/sinks/event-sink']);
  });
});

it('a new client command has a use-case and the lines that the list has', () => {
  expect(saying(/speed_?up/i, /speed-up-sent/)).toEqual(listOf('A new client command').changed);
});

describe('a new module beside ours', () => {
  it('starts with the application and reads through the doors of other modules', async () => {
    const app = await startEmpty({}, new EmptyDatabase(), ToyModule);
    try {
      const count = app.get(CountEvents);
      const page = { events: [aPublicEvent(1), aPublicEvent(2)], hasMore: false, isHeldBack: false };
      const next = aPublicEvent(2).position;
      jest.spyOn(app.get(EventReader, { strict: false }), 'page').mockResolvedValueOnce({ ...page, next });
      await count.execute();
      expect([...count.counts]).toEqual([['tx.submitted', 2]]);
    } finally {
      await app.close();
    }
  });

  it('is one folder and the lines that the list has', () => {
    expect(saying(/RetentionModule|^ {2}retention: \[/m, /modules\/retention\//)).toEqual(
      listOf('A new module beside ours').changed,
    );
    const doors = usedBy('toy-module.ts');
    expect(doors.filter((file) => !/^src\/modules\/([\w-]+)\/(index|\1\.module)$/.test(file))).toEqual([]);
    expect(doors.length).toBeGreaterThan(0);
  });
});
