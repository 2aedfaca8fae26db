import { expect, it } from '@jest/globals';
import { signerKey } from '../../src/kernel/signer-id.js';
import { NodeRegistry } from '../../src/modules/signers/index.js';
import { Database } from '../../src/platform/database/database.js';
import { nodeLab } from '../support/node-lab.js';

const lab = nodeLab();
const WINDOW_MS = 60_000;

it('nodes know of each other for whom they can sign, and not of a node whose list was deleted while it was silent', async () => {
  const [a, b, c] = [lab.node, await lab.startNode(), await lab.startNode()];
  const [x, y] = [a.signer(0), a.signer(1)];
  const beat = (node: typeof a, nodeId: string, signers: readonly (typeof x)[]) =>
    node.get(NodeRegistry).heartbeat({ nodeId, advertisedUrl: null, acts: true, serves: true, signers }, WINDOW_MS);
  await beat(a, 'a', [x, y]);
  await beat(b, 'b', [y]);
  await beat(c, 'c', [y, x]);
  const insert = {
    name: 'test_silent',
    text: `INSERT INTO node (node_id, acts, serves, key_set) VALUES ('silent', true, true, 'gone')`,
  };
  await a.get(Database).query(insert, []);

  const { acting: seen } = await beat(b, 'b', [y]);
  expect(seen.map(({ nodeId, signers }) => [nodeId, signers && [...signers].sort()])).toEqual([
    ['a', [x, y].map(signerKey).sort()],
    ['b', [signerKey(y)]],
    ['c', [x, y].map(signerKey).sort()],
    ['silent', null],
  ]);
  const [first, , third] = seen;
  expect(first?.signers).toBe(third?.signers);
});
