import { describe, expect, it } from '@jest/globals';
import { Market, QUIET_FEE, tipOf } from '../../simulator/network/market.js';

function after(market: Market, blocks: number): bigint {
  for (let block = 0; block < blocks; block += 1) market.blockWasMade();
  return market.baseFee;
}

describe('the market of the simulated chain', () => {
  it('rises by an eighth from block to block, for as many blocks as it was told', () => {
    const market = new Market(false);
    market.swing('rises', 2);
    expect(after(market, 1)).toBe((QUIET_FEE * 9n) / 8n);
    expect(market.leastTip).toBeGreaterThan(QUIET_FEE);
    expect(after(market, 9)).toBe((QUIET_FEE * 81n) / 64n);
    expect(market.leastTip).toBe(0n);
  });

  it('is tenfold after four blocks where fees are steep, and falls back to its floor', () => {
    const market = new Market(true);
    market.swing('rises', 4);
    expect(after(market, 4)).toBe(16n * QUIET_FEE);
    market.swing('falls', 9);
    expect(after(market, 9)).toBe(QUIET_FEE);
  });

  it('leaves who makes a block what a price has above the base fee, up to the tip', () => {
    const fees = { maxFeePerGas: 10n, maxPriorityFeePerGas: 3n };
    expect([tipOf(fees, 5n), tipOf(fees, 8n), tipOf(fees, 12n)]).toEqual([3n, 2n, -2n]);
  });
});
