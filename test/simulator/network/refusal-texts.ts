import { readFileSync } from 'node:fs';
import type { NodeErrorClass } from '../../../src/kernel/node-error-class.js';
import { classifyNodeError } from '../../../src/modules/chain/domain/node-error-table.js';
import type { Random } from '../random.js';

const SEND = 'eth_sendRawTransaction';

/** What a node really says. */
export interface NodeWords {
  readonly class: NodeErrorClass;
  readonly message: string;
  readonly code: number;
}

const WORDS = wordsByClass();

/** What some node says that means this. */
export function wordsOf(errorClass: NodeErrorClass, random: Random): NodeWords {
  return random.pick(
    WORDS.get(errorClass) ?? [{ class: errorClass, message: errorClass.replaceAll('_', ' '), code: -32000 }],
  );
}

/** Of what the product takes a text for: whether it does so rightly is for the tests of the table to say. */
export function classOfSend(message: string, code: number): NodeErrorClass {
  return classifyNodeError({ method: SEND, message, code });
}

function wordsByClass(): ReadonlyMap<NodeErrorClass, NodeWords[]> {
  const rows = JSON.parse(readFileSync(new URL('../../data/node-errors.json', import.meta.url), 'utf8')) as readonly {
    readonly message: string;
    readonly class: NodeErrorClass;
    readonly code?: number;
  }[];
  const found = new Map<NodeErrorClass, NodeWords[]>();
  for (const { message, class: errorClass, code = -32000 } of rows) {
    if (classOfSend(message, code) !== errorClass) continue;
    found.set(errorClass, [...(found.get(errorClass) ?? []), { class: errorClass, message, code }]);
  }
  return found;
}
