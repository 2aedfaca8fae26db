import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { RpcLab } from './rpc-lab.js';
import { RpcProxy } from './rpc-proxy.js';

interface RunningNode {
  readonly url: string;
  stop(): Promise<void>;
}

/** What one test has. */
export interface ProxiedStage {
  readonly chain: RunningNode;
  readonly proxy: RpcProxy;
  readonly lab: RpcLab;
  /** Of its first transaction: those of different tests never look alike. */
  readonly tag: number;
}

/** For a describe: one real node behind a proxy for all its tests, and a lab for each of them, told before it begins. */
export function onProxiedNode(start: () => Promise<RunningNode>, tell: (stage: ProxiedStage) => void): void {
  let node: RunningNode;
  let proxy: RpcProxy;
  let lab: RpcLab;
  let tag = 0;

  beforeAll(async () => {
    node = await start();
    proxy = await RpcProxy.listen(node.url);
  });

  beforeEach(async () => {
    tag += 100;
    lab = await RpcLab.open({
      chainUrl: node.url,
      rpcUrls: [proxy.url],
      // These clients do not show a whole pool, and no test waits for the clock.
      setConstants: ({ nonce }) => Object.assign(nonce, { poolQuietTime: 1 }),
    });
    tell({ chain: node, proxy, lab, tag });
  });

  afterEach(() => lab.close());

  afterAll(async () => {
    await proxy.stop();
    await node.stop();
  });
}
