import { createHash } from 'node:crypto';
import { ANYONE } from '../../src/kernel/caller.js';
import { parseHash } from '../../src/kernel/hex.js';
import { type CommandKind, CommandStore, type TxCommand } from '../../src/modules/commands/domain/tx-command.js';
import { SubmitCommand } from '../../src/modules/commands/application/submit-command.js';
import type { TxRequest } from '../../src/modules/ledger/index.js';
import type { NodeLab } from './node-lab.js';
import { aRequest } from './builders.js';
import { tagged } from './send-faults.js';
import type { TestNode } from './test-node.js';

/** What clients ask for about txs, in a lab. */
export class RaceLab {
  constructor(private readonly lab: Pick<NodeLab, 'node'>) {}

  /** @param requestId null for a client that sends none */
  cancel(txId: string, requestId: string | null = null, node = this.lab.node): Promise<TxCommand> {
    return this.submit('cancel', txId, requestId, null, node);
  }

  speedUp(txId: string, requestId: string | null = null, node = this.lab.node): Promise<TxCommand> {
    return this.submit('speed_up', txId, requestId, null, node);
  }

  /** With a payload that is told apart by its tag. */
  replace(txId: string, tag: number, overrides: Partial<TxRequest> = {}, node = this.lab.node): Promise<TxCommand> {
    const base = aRequest();
    const request: TxRequest = {
      ...base,
      signer: node.signer(),
      requestId: `request-${tag}`,
      payload: { ...base.payload, data: tagged(tag) },
      ...overrides,
    };
    return this.submit('replace', txId, request.requestId, request, node);
  }

  /** The same. @returns the id of the tx with the new payload */
  async replacement(txId: string, tag: number): Promise<string> {
    const { replacement } = await this.replace(txId, tag);
    if (replacement === null) throw new Error('a replace has no replacement');
    return replacement;
  }

  commandsOf(txId: string): Promise<TxCommand[]> {
    return this.lab.node.get(CommandStore).ofTx(txId, null, 1_000);
  }

  private async submit(
    kind: CommandKind,
    txId: string,
    requestId: string | null,
    request: TxRequest | null,
    node: TestNode,
  ): Promise<TxCommand> {
    const text = `${kind} ${txId} ${request?.payload.data ?? ''}`;
    const requestHash = parseHash(`0x${createHash('sha256').update(text).digest('hex')}`);
    const { command } = await node
      .get(SubmitCommand)
      .execute({ txId, sender: ANYONE, kind, requestId, requestHash, fees: null, request });
    return command;
  }
}
