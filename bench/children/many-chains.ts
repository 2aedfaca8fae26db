import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Any number of chains, at /chains/ID, with a block every `BLOCK_MS` and nothing in them; counts the calls. */
const BLOCK_MS = 2_000;

interface RpcCall {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

let calls = 0;

const server = createServer((request, response) => {
  if (request.url === '/calls') {
    response.end(String(calls));
    return;
  }
  const chainId = Number(request.url?.split('/').at(-1));
  void bodyOf(request).then((text) => {
    const asked = JSON.parse(text) as RpcCall | readonly RpcCall[];
    const answers = [asked].flat().map((call) => ({ jsonrpc: '2.0', id: call.id, ...answer(chainId, call) }));
    calls += answers.length;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(Array.isArray(asked) ? answers : answers[0]));
  });
});

server.listen(0, '127.0.0.1', () => process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));

function answer(chainId: number, { method, params }: RpcCall): object {
  const head = Math.floor(Date.now() / BLOCK_MS);
  switch (method) {
    case 'eth_chainId':
      return { result: hex(chainId) };
    case 'eth_blockNumber':
      return { result: hex(head) };
    case 'eth_syncing':
      return { result: false };
    case 'eth_getBlockByNumber': {
      const number = params[0] === 'latest' ? head : Number(params[0]);
      return { result: number > head ? null : block(chainId, number) };
    }
    default:
      return { error: { code: -32_601, message: `the method ${method} does not exist/is not available` } };
  }
}

function block(chainId: number, number: number): object {
  const hash = (of: number): string => `0x${createHash('sha256').update(`${chainId}/${of}`).digest('hex')}`;
  return {
    number: hex(number),
    hash: hash(number),
    parentHash: hash(number - 1),
    timestamp: hex(Math.floor((number * BLOCK_MS) / 1000)),
    receiptsRoot: hash(-1),
    baseFeePerGas: hex(1_000_000_000),
    gasLimit: hex(30_000_000),
    gasUsed: hex(0),
    transactions: [],
  };
}

function hex(value: number): string {
  return `0x${value.toString(16)}`;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
