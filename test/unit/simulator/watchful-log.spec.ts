import { describe, expect, it } from '@jest/globals';
import { Excuses, type Faults } from '../../simulator/excuses.js';
import { Gate } from '../../simulator/gate.js';
import { WatchfulLog } from '../../simulator/node-ports.js';
import { Seen } from '../../simulator/seen.js';
import { SimChain } from '../../simulator/sim-chain.js';
import type { Violation } from '../../simulator/violation.js';
import { aHash, aSigner } from '../../support/builders.js';

const { address } = aSigner();

describe('a log line that says that what had ended was mined', () => {
  /** A transaction of ours was sent with nonce 0, and one of somebody else with it was mined. */
  function rivalMined(): SimChain {
    const chain = new SimChain();
    const rival = chain.sendForeign(address, 0n);
    chain.mine();
    chain.sent.push({ ...rival, hash: aHash(1) }, { ...rival, nonce: 1n, hash: aHash(2) });
    return chain;
  }

  /** How many rules are broken when the product logs it of the transaction `n`. */
  function broken(chain: SimChain, n = 1, faults: Faults = { on: true, losesCommits: false }): number {
    const found: Violation[] = [];
    const gate = new Gate(
      () => undefined,
      () => undefined,
    );
    const log = new WatchfulLog(found, new Seen(), new Excuses(gate, faults, chain, found));
    log.error('transaction mined that had ended', { txHash: aHash(n) });
    return found.filter(({ message }) => message.startsWith('I8')).length;
  }

  it('breaks I8 while nothing else with its nonce was final', () => {
    expect(broken(rivalMined())).toBe(1);
  });

  it('is the known exception once another transaction with its nonce was final, also when a reorg took that back', () => {
    const chain = rivalMined();
    chain.mineEmpty(20);
    expect([broken(chain, 1), broken(chain, 2)]).toEqual([0, 1]);
    chain.reorg(21, { drop: true });
    expect([broken(chain, 1), broken(chain, 2)]).toEqual([0, 1]);
  });

  it('breaks nothing when the database lost what it knew', () => {
    expect(broken(rivalMined(), 1, { on: true, losesCommits: true })).toBe(0);
  });
});
